import json

import jax
import pytest
from planners import SMALL_TSV

import jaxkg as package
from jaxkg.answer import Answer
from jaxkg.cite import check
from jaxkg.cli import main
from jaxkg.errors import JaxkgError
from jaxkg.kg import demo_graph, demo_questions, demo_training_questions
from jaxkg.learn.planner.model import Planner

PEOPLE = [("id", "name", "department"), ("E1", "Anna Berg", "D1"), ("E2", "Bob Stone", "D2")]
DEPARTMENTS = [("id", "name", "head"), ("D1", "Research", "E1"), ("D2", "Sales", "E2")]
FILMS = """{"@context": {"@vocab": "https://schema.org/"}, "@graph": [
{"@id": "#heat", "@type": "Movie", "name": "Heat", "director": {"@id": "#mann"}},
{"@id": "#mann", "@type": "Person", "name": "Michael Mann", "birthPlace": {"name": "Chicago"}}]}"""
JOBS = """@prefix : <http://x.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:anna rdfs:label "Anna" ; :worksAt :acme {| :since 2019 |} .
:bob rdfs:label "Bob" ; :worksAt :acme {| :since 2021 |} . :acme rdfs:label "Acme" .
"""

ASKED = "who directed Alien?"
PLANNED = (ASKED, "--system", "planner")


def test_an_answer_shows_all_that_it_rests_on(jaxkg):
    code, out, err = jaxkg("ask", ASKED, "--system", "planner")
    kg = demo_graph()
    [row] = [
        row
        for row, triple in enumerate(kg.triples.tolist())
        if triple
        == [kg.entity("Alien"), kg.relation_code("directed_by"), kg.entity("Ridley Scott")]
    ]
    assert (code, err) == (0, "")
    for part in (
        "1. Ridley Scott",
        "Alien, directed by: Ridley Scott",
        f"triples {row} (demo/facts.tsv:",
        "Alien  exact",
        "1 reached, used",
        "(link ",
        ", plan ",
        ", follow ",
        ", cite ",
    ):
        assert part in out


def test_json_is_the_whole_answer_and_nothing_else(jaxkg):
    out = jaxkg.done("ask", "--json", "who is the director of [Alien]?")
    answer = Answer.from_json(out)
    assert json.loads(out) == json.loads(answer.to_json())
    assert [entity.entity for entity in answer.entities] == ["Ridley Scott"]
    assert (answer.system, answer.topics[0].method) == ("reader", "given")
    assert check(demo_graph(), answer) == ()


def test_a_trace_is_kept_and_told_again(jaxkg, tmp_path):
    file = tmp_path / "trace.json"
    assert jaxkg("ask", ASKED, "--system", "planner", "--trace", file)[0] == 0
    out = jaxkg.done("explain", file, "--most", 2)
    told = [line for line in out.splitlines() if "directed_by  0." in line]
    assert told[0].endswith("kept")
    assert "… and 5 more" in out
    assert "stop here" in out
    assert "1. Ridley Scott" in out
    file.write_text('{"format": "jaxkg-trace", "question": "?"}')
    for wrong, why in (
        (file, "damaged"),
        (tmp_path / "absent.json", "no trace at"),
        (tmp_path, "directory"),
    ):
        assert why in jaxkg.refused("explain", wrong)


def test_a_drawing_is_saved(jaxkg, tmp_path):
    file = tmp_path / "answer.svg"
    assert jaxkg("ask", ASKED, "--svg", file)[0] == 0
    drawn = file.read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "Ridley Scott" in drawn


@pytest.mark.parametrize(("name", "first"), [("a.dot", "digraph answer {"), ("a.tsv", "head\t")])
def test_the_triples_behind_an_answer_are_saved(jaxkg, tmp_path, name, first):
    assert jaxkg("ask", ASKED, "--triples", tmp_path / name)[0] == 0
    saved = (tmp_path / name).read_text(encoding="utf-8")
    assert saved.startswith(first)
    assert "Ridley Scott" in saved


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("who directed Zzyzx Qwerty?", "no entity of the graph is recognised"),
        ("who directed [Aliens 7]?", "nearest: 'Alien'"),
        ("who is the spouse of Alien?", "below the threshold"),
        ("hwo drected teh movei Alien?", "below the threshold"),
    ],
)
def test_without_evidence_the_answer_is_withheld(jaxkg, question, reason):
    code, out, err = jaxkg("ask", question, "--system", "planner", "--threshold", 0.4)
    assert (code, err) == (1, "")
    assert out.splitlines()[1].startswith("No answer: ")
    assert reason in out.splitlines()[1]
    assert "Answers" not in out


def test_a_misspelt_topic_is_found_and_its_score_told(jaxkg):
    out = jaxkg.done("ask", "who directed Allien?")
    assert "1. Ridley Scott" in out
    assert "Alien  fuzzy" in out


def test_all_good_plans_can_answer(jaxkg):
    lenient = ("--system", "planner", "--threshold", "0", "frobnicate Alien")
    _, out, _ = jaxkg("ask", "--json", *lenient, "--mode", "union")
    union = Answer.from_json(out)
    _, out, _ = jaxkg("ask", "--json", *lenient)
    best = Answer.from_json(out)
    assert sum(plan.used for plan in best.plan) == 1
    for answer in union, best:
        top = answer.plan[0].probability
        share = 0.5 if answer is union else 1.0
        assert [p.used for p in answer.plan] == [p.probability >= share * top for p in answer.plan]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["ask", "  "], "the question is empty; try: jaxkg ask"),
        (["ask", ASKED, "--kg", "{tmp}/absent.tsv"], "absent.tsv: no such file"),
        (["ask", *PLANNED, "--set", "width=0"], "--set width=0: width is a whole number of"),
        (["ask", *PLANNED, "--set", "batch_size=-1"], "--set batch_size=-1: batch_size is a whole"),
        (["ask", *PLANNED, "--set", "margin=nan"], "--set margin=nan: margin is a finite number"),
        (
            ["ask", ASKED, "--system", "pathhd", "--set", "block=0"],
            "--set block=0: block is a whole number of at least 1, not 0",
        ),
        (["ask", ASKED, "--planner", "{tmp}"], "no planner in"),
        (["kg", "build", "{tmp}/bad.tsv", "-o", "{tmp}/graph"], "bad.tsv:2"),
        (["eval", "--questions", "{tmp}/absent.txt", "-o", "{tmp}/run"], "absent.txt"),
        (["train", "planner", "--questions", "{tmp}/empty.txt", "-o", "{tmp}/p"], "no questions"),
        (["train", "planner", "--kg", "{tmp}/bad.tsv", "-o", "{tmp}/p"], "--questions FILE"),
    ],
)
def test_bad_input_is_one_line_and_code_2(jaxkg, tmp_path, arguments, why):
    (tmp_path / "bad.tsv").write_text("a\tr\tb\nc\tr\n")
    (tmp_path / "empty.txt").write_text("")
    arguments = [argument.format(tmp=tmp_path) for argument in arguments]
    assert why in jaxkg.refused(*arguments)
    with pytest.raises((JaxkgError, OSError)):
        main([*arguments, "--debug"])
    assert not (tmp_path / "graph").exists()


def test_the_traceback_can_be_asked_for_through_the_environment(monkeypatch):
    monkeypatch.setenv("JAXKG_DEBUG", "1")
    with pytest.raises(JaxkgError, match="empty"):
        main(["ask", ""])


def test_stopped_by_hand(jaxkg, monkeypatch):
    def stop(self, questions, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("jaxkg.systems.reader.system.Reader.answer", stop)
    code, _, err = jaxkg("ask", ASKED)
    assert (code, err) == (130, "jaxkg: stopped\n"), "nobody knows here whether anything is kept"


def test_an_ungrounded_answer_is_never_printed(jaxkg, monkeypatch):
    monkeypatch.setattr("jaxkg.cite.check", lambda kg, answer: ("path 'p1' is made up",))
    assert "made up" in jaxkg.refused("ask", ASKED)


def test_version_and_help(jaxkg):
    assert jaxkg("--version") == (0, f"{package.__version__}\n", "")
    assert jaxkg("--debug", "--version")[1] == f"{package.__version__}\n"
    out = jaxkg.done("--help")
    assert all(
        name in out
        for name in ("ask", "explain", "eval", "compare", "score", "distill", "kg", "train", "llm")
    )
    assert jaxkg("ask")[0] == 2
    assert jaxkg("frobnicate")[0] == 2


@pytest.mark.usefixtures("standard_promotion")
def test_a_graph_of_ones_own_is_built_described_and_asked(jaxkg, tmp_path):
    source, folder, names = tmp_path / "films.tsv", tmp_path / "graph", tmp_path / "names.tsv"
    source.write_text(SMALL_TSV + "Heat\tdirected by\tMichael Mann\nbroken line\n")
    names.write_text("Heat\tHeat (1995)\n")
    build = ["kg", "build", source, "-o", folder, "--names", names, "--provenance"]
    code, out, err = jaxkg(*build, "--skip-bad", 1)
    assert code == 0
    assert "10 entities, 3 relations, 9 triples" in out
    assert "1 repeated triples merged" in out
    assert "skipped: " in err
    assert "films.tsv:11" in err

    out = jaxkg.done("kg", "stats", folder, "--json")
    assert json.loads(out)["relation_counts"] == {"born in": 3, "directed by": 3, "starring": 3}
    assert "relation counts\n  born in" in jaxkg("kg", "stats", folder)[1]

    out = jaxkg.done("ask", "--kg", folder, "--json", "who directed Heat (1995)?")
    answer = Answer.from_json(out)
    assert [entity.entity for entity in answer.entities] == ["Michael Mann"]
    assert answer.paths[0].citations[0].source == "films.tsv:1; films.tsv:10"
    assert answer.system == "reader"

    code, out, _ = jaxkg("ask", "--kg", folder, "--csv", "who directed Heat (1995)?")
    assert (code, out) == (0, "answer\nMichael Mann\n")
    err = jaxkg.refused("ask", "--kg", folder, "--csv", "--json", "who directed Heat (1995)?")
    assert "--csv does not go with --json" in err

    out = jaxkg.done("ask", "--kg", folder, "--sparql", "who directed Heat (1995)?")
    assert out.startswith("SELECT DISTINCT ?answer WHERE {")
    assert "<urn:jaxkg:relation:directed%20by>" in out


@pytest.fixture
def files(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("pyoxigraph")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in {"People": PEOPLE, "Departments": DEPARTMENTS}.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    (tmp_path / "films.json").write_text(FILMS)
    (tmp_path / "jobs.ttl").write_text(JOBS)
    return tmp_path


def test_a_workbook_is_described(jaxkg, files):
    code, out, err = jaxkg("kg", "stats", "--json", files / "book.xlsx")
    assert code == 0
    assert json.loads(out)["relation_counts"] == {"department": 2, "head": 2, "is a": 4}
    assert "'Departments' read as a table" in err


@pytest.mark.parametrize(
    ("name", "question", "answer", "source"),
    [
        ("book.xlsx", "Who is the head of Research?", "Anna Berg", "book.xlsx:Departments:2"),
        ("films.json", "Who is the director of Heat?", "Michael Mann", None),
        ("jobs.ttl", "Since when does Bob work at Acme?", "2021", None),
    ],
)
def test_what_a_file_says_is_answered(jaxkg, files, name, question, answer, source):
    told = Answer.from_json(jaxkg.done("ask", question, "--kg", files / name, "--json"))
    assert [entity.name for entity in told.entities] == [answer]
    assert told.paths[0].citations[0].source == source


@pytest.mark.slow
def test_a_trained_planner_answers_its_graph_and_no_other(jaxkg, tmp_path):
    folder, other = tmp_path / "planner", tmp_path / "other.tsv"
    with jax.numpy_dtype_promotion("standard"):
        code, out, _ = jaxkg("train", "planner", "-o", folder, "--epochs", 3)
    assert code == 0
    assert f"trained on {len(demo_training_questions()):,} questions, revisit rule 'topic'" in out
    assert "mean F1 of the best mined path 1.0000" in out
    assert Planner.open(folder).about["seed"] == 0
    assert "1. Ridley Scott" in jaxkg.done("ask", "--planner", folder, ASKED)

    other.write_text("Alien\tdirected_by\tRidley Scott\n")
    err = jaxkg.refused("ask", "--kg", other, "--planner", folder, ASKED)
    assert "trained for another graph (17 relations against 1; the graph lacks" in err


def test_a_run_is_kept_reported_and_resumed(jaxkg, eight, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    arguments = ("eval", "--system", "planner", "--questions", eight, "-o", folder, "--json")
    assert json.loads(jaxkg.done(*arguments, "--limit", 5))["counts"]["asked"] == 5
    report = json.loads(jaxkg.done(*arguments))
    assert report == json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["counts"]["asked"] == 8
    assert not report["counts"].get("not_asked")
    assert report["metrics"]["grounded"]["value"] == 1.0
    assert report["metrics"]["exact_set"]["value"] >= 0.5
    assert report["provenance"]["data"].keys() == {str(eight)}
    assert report["provenance"]["command"][0] == "jaxkg"
    assert (folder / "report.md").read_text(encoding="utf-8").startswith("# Report")
    predictions = (folder / "predictions.jsonl").read_text(encoding="utf-8")
    ids = [json.loads(line)["id"] for line in predictions.splitlines()]
    assert ids == [question.id for question in demo_questions()[:8]]

    monkeypatch.setattr(
        "jaxkg.systems.planned.PlannedQA.answer",
        lambda self, asked, **_: pytest.fail(f"{len(asked)} asked twice") if asked else [],
    )
    assert jaxkg(*arguments)[0] == 0
    assert (folder / "predictions.jsonl").read_text(encoding="utf-8") == predictions


def test_a_run_of_other_settings_is_refused_and_can_start_anew(jaxkg, eight, tmp_path):
    folder = tmp_path / "run"
    arguments = ("eval", "--questions", eight, "-o", folder)
    assert jaxkg(*arguments)[0] == 0
    assert "has settings" in jaxkg.refused(*arguments, "--link")
    assert json.loads(jaxkg.done(*arguments, "--link", "--fresh", "--json"))["counts"]["asked"] == 8
    assert (folder / "predictions.jsonl.1").exists()


def test_linking_hides_the_given_topics(jaxkg, eight, tmp_path, monkeypatch):
    from jaxkg.systems.planned import PlannedQA

    seen, answer = [], PlannedQA.answer

    def spied(self, asked, **options):
        seen.append(options["use_given"])
        return answer(self, asked, **options)

    monkeypatch.setattr(PlannedQA, "answer", spied)
    for flags in ([], ["--link"]):
        run = ("eval", "--system", "planner", "--questions", eight)
        jaxkg(*run, "-o", tmp_path / f"run{len(flags)}", *flags)
    assert seen == [True, False]
