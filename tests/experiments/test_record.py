"""Records of scripts: lines of JSON, shown in a page that is made from them alone."""

import json
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from lib.record import Record, arguments, command, commit, page, records, store
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
    told = records(folder)["table_things"]
    assert told == json.loads((folder / "own.json").read_text())
    assert told["seed"] == 3
    assert told["versions"].keys() >= {"python", "jax", "numpy"}
    assert "CPU cores" in told["device"]
    assert told["command"].startswith("python scripts/")
    assert told["tables"][0]["rows"] == [
        ["one of two", {"value": 0.5, "low": 0.25, "high": None, "n": 4}, 1234.5]
    ]
    text = page(folder)
    assert "Things counted, none of them real." in text
    assert "0.5000 (0.2500–nan)" in text
    assert "- nothing else" in text
    assert told["commit"] in text


def test_a_second_run_replaces_its_own_section_and_leaves_the_rest(folder):
    (folder / "README.md").write_text(
        "# Mine\n\n<!-- table_things -->\n<!-- end -->\n\nA remark.\n"
    )
    run(folder, "--record")
    run(folder, "--record", part="other", value=0.75)
    text = page(folder)
    assert text.startswith("# Mine\n")
    assert "A remark." in text
    assert text.index("0.5000") < text.index("A remark.") < text.index("0.7500")
    run(folder, "--record", value=0.625)
    text = page(folder)
    assert "0.5000" not in text
    assert text.count("0.6250") == 1
    assert text.count("0.7500") == 1


def test_a_table_by_hand_has_its_place_and_no_command(folder):
    table = {"title": "A method", "columns": ["paper", "here"], "rows": [["one", "two"]]}
    told = {"name": "deviations", "about": "Where it is not as printed.", "tables": [table]}
    told["notes"] = ["A note."]
    store(folder, [told])
    run(folder, "--record")
    text = page(folder)
    section, _, rest = text.partition("<!-- end -->")
    assert "## deviations\n\nWhere it is not as printed.\n\nA method" in section
    assert "| one | two |" in section
    assert section.rstrip().endswith("- A note.")
    assert "table_things" in rest


def test_a_broken_record_is_named_by_its_line(folder):
    run(folder, "--record")
    with (folder / "results" / "table_things.jsonl").open("a") as file:
        file.write("{\n")
    with pytest.raises(JaxkgError, match=r"table_things\.jsonl:2"):
        page(folder)


def test_commands_keep_no_place_of_the_machine():
    words = [
        "/a/tables/table_x.py",
        "--planner",
        "../runs/mine",
        "--data=/big",
        "--json",
        "/x",
        "-k",
    ]
    assert command(words) == "python scripts/tables/table_x.py --planner mine -k"
    words[2] = "/big/runs/mine"
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
    (tmp_path / "results" / "x.jsonl").write_text("1")
    subprocess.run([*git, "add", "-A"], check=True)
    assert commit(tmp_path) == clean, "a run writes its results as it goes"
    (tmp_path / "a").write_text("2")
    assert commit(tmp_path) == f"{clean}-dirty"


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


SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_the_page_of_the_project_has_every_record_once():
    told = page(SCRIPTS)
    assert {told.count(f"<!-- {name} -->\n## {name}\n") for name in records(SCRIPTS)} == {1}
    files = {path.stem for path in (SCRIPTS / "results").iterdir() if path.suffix == ".jsonl"}
    assert files == {name.partition("-")[0] for name in records(SCRIPTS)}
    assert [path.name for path in (SCRIPTS / "results").glob("*.json")] == []


def numbers_in(value):
    """Every number of a record, those in its texts too."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [number for part in parts for number in numbers_in(part)]
    found = re.findall(r"\d+(?:\.\d+)?", str(value).replace(",", ""))
    return [float(number) for number in found]


def test_a_measured_effect_is_of_the_record_beside_it():
    known = records(SCRIPTS)
    told = known.pop("deviations")
    name = re.compile("|".join(sorted(map(re.escape, known), key=len, reverse=True)))
    cells = [str(row[3]) for table in told["tables"] for row in table["rows"]]
    cells = [cell for cell in cells if name.search(cell)]
    assert len(cells) > 10
    for cell in cells:
        there = np.array([n for each in name.findall(cell) for n in numbers_in(known[each])])
        for number in re.findall(r"\d+\.\d+", name.sub("", cell)):
            half = 0.5001 * 10.0 ** -len(number.partition(".")[2])
            assert (np.abs(there - float(number)) <= half).any(), (number, cell)


GGUF = "table_gguf-qwen2.5-coder-0.5b-instruct-q4_k_m-float32"
"""Measured before its commit was moved onto others; to be run again."""


def any_begins(texts, start):
    return bool(start) and any(text.startswith(start) for text in texts)


def test_a_record_can_be_checked_out():
    found = records(SCRIPTS)
    commits = {name: record.get("commit", "") for name, record in found.items()}
    assert not {name for name, commit in commits.items() if commit.endswith("-dirty")}
    assert "unknown" not in commits.values()
    dates = {name: str(record.get("date", "")) for name, record in found.items()}
    assert not {name for name, date in dates.items() if date.startswith("first round")}
    git = ["git", "-C", str(SCRIPTS), "rev-list", "HEAD"]
    history = subprocess.run(git, capture_output=True, text=True).stdout.split()
    if len(history) > 100:  # CI's check-out has no history
        lost = {name for name, commit in commits.items() if not any_begins(history, commit)}
        assert lost <= {"deviations", GGUF}
