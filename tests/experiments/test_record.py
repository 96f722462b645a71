"""Results of scripts: kept as JSON, shown in a page that is made from the JSON alone."""

import json
import math
import subprocess
from pathlib import Path

import pytest
from lib.record import Record, arguments, command, commit, page, write_page
from lib.rows import Table, shown
from lib.seconds import best_seconds, fastest
from lib.sets import sets

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import Estimate

SCRIPT = '''"""Things counted, none of them real.

Takes no time.
"""
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "table_things.py").write_text(SCRIPT)
    return tmp_path


def run(folder, *words, part="", value=0.5):
    options = arguments("about").parse_args(["--seed", "3", *words])
    record = Record(str(folder / "tables" / "table_things.py"), options, part=part)
    table = record.table("thing", "share", "a second", title="All of them")
    table.add("one of two", Estimate(value, 0.25, math.nan, 4), 1234.5)
    record.note("nothing else")
    record.save()


def test_a_run_is_kept_only_where_it_is_asked_for(folder, capsys):
    run(folder)
    assert [path.name for path in folder.iterdir()] == ["tables"]
    out = capsys.readouterr().out
    assert "| one of two | 0.5000 (0.2500–nan) | 1,234 |" in out
    assert "All of them" in out


def test_a_record_says_how_it_was_made(folder):
    run(folder, "--record", "--json", str(folder / "own.json"))
    told = json.loads((folder / "results" / "table_things.json").read_text())
    assert told == json.loads((folder / "own.json").read_text())
    assert told["seed"] == 3
    assert told["versions"].keys() >= {"python", "jax", "numpy"}
    assert "CPU cores" in told["device"]
    assert told["command"].startswith("python scripts/")
    assert told["tables"][0]["rows"] == [
        ["one of two", {"value": 0.5, "low": 0.25, "high": None, "n": 4}, 1234.5]
    ]
    text = (folder / "README.md").read_text()
    assert "Things counted, none of them real." in text
    assert "0.5000 (0.2500–nan)" in text
    assert "- nothing else" in text
    assert told["commit"] in text


def test_a_second_run_replaces_its_own_section_and_leaves_the_rest(folder):
    (folder / "README.md").write_text(
        "# Mine\n\n<!-- table_things -->\nold\n<!-- end -->\n\nA remark.\n"
    )
    run(folder, "--record")
    run(folder, "--record", part="other", value=0.75)
    text = (folder / "README.md").read_text()
    assert "old" not in text
    assert text.startswith("# Mine\n")
    assert "A remark." in text
    assert text.index("0.5000") < text.index("A remark.") < text.index("0.7500")
    run(folder, "--record", value=0.625)
    text = (folder / "README.md").read_text()
    assert "0.5000" not in text
    assert text.count("0.6250") == 1
    assert text.count("0.7500") == 1


def test_a_new_section_goes_in_by_its_name(folder):
    for part in ("b", "c", "a"):
        run(folder, "--record", part=part)
    text = (folder / "README.md").read_text()
    places = [text.index(f"<!-- table_things-{part} -->") for part in ("a", "b", "c")]
    assert places == sorted(places)


def test_a_table_by_hand_has_its_place_and_no_command(folder):
    table = {"title": "A method", "columns": ["paper", "here"], "rows": [["one", "two"]]}
    told = {"name": "deviations", "about": "Where it is not as printed.", "tables": [table]}
    told["notes"] = ["A note."]
    (folder / "results").mkdir(exist_ok=True)
    (folder / "results" / "deviations.json").write_text(json.dumps(told))
    run(folder, "--record")
    text = (folder / "README.md").read_text()
    section, _, rest = text.partition("<!-- end -->")
    assert "## deviations\n\nWhere it is not as printed.\n\nA method" in section
    assert "| one | two |" in section
    assert section.rstrip().endswith("- A note.")
    assert "table_things" in rest


def test_a_page_is_the_same_when_written_twice(folder):
    run(folder, "--record")
    before = (folder / "README.md").read_text()
    write_page(folder)
    assert (folder / "README.md").read_text() == before
    results = [json.loads((folder / "results" / "table_things.json").read_text())]
    assert page(before, results, folder) == before


def test_a_broken_result_is_told(folder):
    (folder / "results").mkdir()
    (folder / "results" / "x.json").write_text("{")
    with pytest.raises(JaxkgError, match=r"x\.json"):
        write_page(folder)


def test_commands_keep_no_place_of_the_machine():
    words = [
        "/a/tables/table_x.py",
        "--planner",
        "/big/runs/mine",
        "--data=/big",
        "--json",
        "/x",
        "-k",
    ]
    assert command(words) == "python scripts/tables/table_x.py --planner mine -k"


def test_a_commit_is_known_in_a_check_out_only(tmp_path):
    assert commit(tmp_path) == "unknown"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@y"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "a").write_text("1")
    subprocess.run([*git, "add", "a"], check=True)
    subprocess.run([*git, "commit", "-qm", "a"], check=True)
    clean = commit(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "x.json").write_text("1")
    (tmp_path / "README.md").write_text("1")
    subprocess.run([*git, "add", "-A"], check=True)
    assert commit(tmp_path) == clean, "a run writes its results as it goes"
    (tmp_path / "a").write_text("2")
    assert commit(tmp_path) == f"{clean}-dirty"


def test_cells_are_the_same_from_json():
    table = Table("a", "b", "c", "d")
    cells = ["x", Estimate(0.1, 0.0, 0.2, 3), None, math.nan]
    table.add(*cells)
    told = json.loads(json.dumps(table.to_dict()))
    assert Table.text(told).splitlines()[-1] == f"| {' | '.join(map(shown, cells))} |"


def test_the_fastest_call_counts_and_the_first_is_not_timed():
    calls = []

    def call():
        calls.append(len(calls))
        return calls[-1]

    found = fastest(call, repeats=4)
    assert len(calls) == 5
    assert found.result == 4
    assert found.seconds >= 0
    calls.clear()
    best_seconds(call, repeats=2, warm=False)
    assert len(calls) == 2


def test_sets_are_told_by_name_and_place(tmp_path):
    with pytest.raises(JaxkgError, match=r"kb\.txt.*--data"):
        sets("metaqa", tmp_path)
    with pytest.raises(JaxkgError, match="webqsp"):
        sets("nothing", tmp_path)
    (tmp_path / "metaqa" / "1-hop").mkdir(parents=True)
    (tmp_path / "metaqa" / "kb.txt").write_text("A|by|B\n")
    (tmp_path / "metaqa" / "1-hop" / "qa_dev.txt").write_text("who made [A]\tB\nwho [A]\tB\n")
    world = sets("metaqa", tmp_path)
    assert world.kg.num_triples == 1
    assert [q.topics for q in world.questions("metaqa-1", "dev", limit=1)] == [("A",)]
    with pytest.raises(JaxkgError, match="metaqa-3"):
        world.questions("cwq")
    with pytest.raises(JaxkgError, match="2-hop"):
        world.every("dev")


def test_every_question_of_a_split_is_in_one_part(tmp_path):
    folder = tmp_path / "pathquestion"
    folder.mkdir()
    people = [f"p{i}" for i in range(40)]
    (folder / "2H-kb.txt").write_text("".join(f"{p}\tmet\t{p}x\n" for p in people))
    (folder / "PQ-2H.txt").write_text(
        "".join(f"whom met {p} ?\t{p}x({p}x/)\t{p}#met#{p}x#<end>#{p}x\n" for p in people)
    )
    world = sets("pq-2h", tmp_path)
    parts = [world.questions("pq-2h", part, seed=1) for part in ("train", "validation", "test")]
    assert sorted(q.text for part in parts for q in part) == sorted(
        f"whom met {p} ?" for p in people
    )
    assert [len(part) for part in parts] == [32, 4, 4]
    assert world.questions("pq-2h", "test", seed=1) == parts[2]


def test_the_page_of_the_project_is_made_from_its_results():
    scripts = Path(__file__).parents[2] / "scripts"
    results = [json.loads(path.read_text()) for path in (scripts / "results").glob("*.json")]
    text = (scripts / "README.md").read_text("utf-8")
    assert page(text, results, scripts) == text


AGAIN = {
    "bench_follow",
    "study_value_conditions",
    "table_oracle-musique",
    "table_oracle-pq-2h",
    "table_pathhd_ablations",
    "table_pathmind-pathquestion",
    "table_pathmind-pq-3h",
    "table_steps",
}
"""Records whose files differed from their commit, to be run again; no other may."""


def test_a_record_can_be_checked_out():
    results = (Path(__file__).parents[2] / "scripts" / "results").glob("*.json")
    commits = {path.stem: json.loads(path.read_text()).get("commit", "") for path in results}
    assert {name for name, commit in commits.items() if commit.endswith("-dirty")} == AGAIN
    assert "unknown" not in commits.values()
