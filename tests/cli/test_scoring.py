"""`jaxkg score`, and `--judge` of `jaxkg eval`."""

import json

import pytest

from jaxkg.evaluate import read_predictions
from jaxkg.kg import write_questions
from jaxkg.records import Question


@pytest.fixture
def rog(tmp_path):
    """Two replies in RoG's layout; a third question was asked and left no line."""
    file = tmp_path / "rog.jsonl"
    rows = [
        {"id": "q1", "question": "who?", "prediction": "Paris Hilton\nLyon", "ground_truth": ["x"]},
        {"id": "q2", "question": "where?", "prediction": "Rome", "ground_truth": ["Rome"]},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    gold = tmp_path / "gold.jsonl"
    asked = [
        Question("q1", "who?", answers=("Paris",)),
        Question("q2", "where?", answers=("Rome",)),
        Question("q3", "when?", answers=("1995",)),
    ]
    write_questions(asked, gold)
    return file, gold


def test_every_definition_and_both_denominators(jaxkg, rog):
    file, gold = rog
    [found] = json.loads(jaxkg.done("score", file, "--gold", gold, "--json")).values()
    assert found["layout"] == "rog"
    assert found["audit"] == {
        "asked": 3,
        "records": 2,
        "unreadable": 0,
        "repeated": 0,
        "missing": 1,
        "not_asked": 0,
        "empty": 0,
        "no_gold": 0,
        "other_gold": 1,
    }
    published = {name: e["value"] for name, e in found["as_published"].items()}
    asked = {name: e["value"] for name, e in found["all_asked"].items()}
    assert (published["rog_hit"], published["hits_at_1"], published["gnnrag_hit1"]) == (1, 0.5, 1)
    assert asked["rog_hit"] == pytest.approx(2 / 3)
    assert asked["hits_at_1"] == pytest.approx(1 / 3)
    assert "pog_em_alias" not in published
    _, told, _ = jaxkg("score", file, "--gold", gold)
    assert "| `rog_hit` | 1.0000 |" in told
    assert "questions asked without a record | 1" in told


def test_aliases_and_the_files_own_gold(jaxkg, rog, tmp_path):
    file, gold = rog
    aliases = tmp_path / "aliases.json"
    aliases.write_text('{"Paris": ["Paris Hilton"]}')
    _, out, _ = jaxkg("score", file, "--gold", gold, "--aliases", aliases, "--json")
    assert "pog_em_alias" in next(iter(json.loads(out).values()))["as_published"]
    _, out, _ = jaxkg("score", file, "--json")
    assert next(iter(json.loads(out).values()))["as_published"]["rog_hit"]["value"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["{tmp}/absent"], "cannot be read"),
        (["{tmp}/rog.jsonl", "--layout", "frob"], "unknown layout 'frob'"),
        (["{tmp}/rog.jsonl", "--gold", "{tmp}/absent"], "no such question file"),
        (["{tmp}/rog.jsonl", "--aliases", "{tmp}/list.json"], "list.json: expected {"),
        (["{tmp}"], "a run folder holds predictions.jsonl"),
    ],
)
def test_bad_input_is_one_line(jaxkg, rog, tmp_path, arguments, why):
    (tmp_path / "list.json").write_text("[1]")
    assert why in jaxkg.refused("score", *(part.format(tmp=tmp_path) for part in arguments))


CHOSEN = json.dumps({"answers": [], "supporting_paths": [1], "rationale": "Path 1 says so."})
SEVEN = (
    *("comprehensiveness", "knowledgeability", "correctness", "relevance", "diversity"),
    *("logical_coherence", "factuality"),
)


@pytest.fixture
def judged(jaxkg, tmp_path, eight):
    """Evaluate what was found without a model, its answers judged by one."""

    def run(server, *more, judge="strict"):
        asked = ("eval", "--system", "planner", "--questions", eight, "--limit", 6, "--json")
        connection = (
            "-o",
            tmp_path / "run",
            "--base-url",
            server.url,
            "--replies",
            tmp_path / "replies.sqlite",
        )
        code, out, err = jaxkg(*asked, "--judge", judge, *connection, *more)
        return code, json.loads(out) if out else None, err

    return run


def test_a_judge_grades_the_answers_of_a_system_without_a_model(judged, serve, tmp_path):
    server = serve(lambda body: json.dumps(dict.fromkeys(SEVEN, 5)))
    code, report, err = judged(server)
    lines = list(read_predictions(tmp_path / "run"))
    assert code == 0
    assert len(server.bodies) == report["counts"]["judged"] == len(lines) == 6
    assert report["counts"]["unjudged"] == 0
    assert report["metrics"]["generation"] == {"value": 0.5, "low": 0.5, "high": 0.5, "n": 6}
    assert report["metrics"]["calls"]["value"] == 0, "the judge is no cost of the system"
    assert report["provenance"]["judge"] == "strict"
    assert "strict: 6 calls (6 paid now, 0 from the cache)" in err
    prompts = [body["messages"][-1]["content"] for body in server.bodies]
    first = next(prompt for prompt in prompts if lines[0]["question"] in prompt)
    for part in (*lines[0]["gold"], lines[0]["answers"][0]["entity"], lines[0]["cited"][0]):
        assert part in first
    # Again: no answer is sought anew and no judgement is paid twice.
    _, again, err = judged(server)
    assert again["metrics"]["generation"] == report["metrics"]["generation"]
    assert len(server.bodies) == 6
    assert "strict: 6 calls (0 paid now, 6 from the cache)" in err


def test_what_the_judge_does_not_grade_is_told_and_left_out(judged, serve):
    replies = iter([dict.fromkeys(SEVEN, 8), dict.fromkeys(SEVEN[1:], 8), dict.fromkeys(SEVEN, 99)])
    server = serve(lambda body: json.dumps(next(replies)))
    code, report, err = judged(server, "--budget-calls", 3, "--concurrency", 1)
    assert code == 0
    assert len(server.bodies) == 3
    assert (report["counts"]["judged"], report["counts"]["unjudged"]) == (1, 5)
    assert report["metrics"]["generation"]["value"] == pytest.approx(0.8)
    assert report["metrics"]["generation"]["n"] == 1
    assert report["metrics"]["f1"]["n"] == 6
    assert "5 answers were not judged and are left out; the first: unparsed: " in err
    server.answer = lambda body: json.dumps(dict.fromkeys(SEVEN, 6))
    _, report, _ = judged(server, "--retry")
    assert (report["counts"]["judged"], report["counts"]["unjudged"]) == (6, 0)


def test_withheld_answers_are_0_and_cost_no_call(judged, serve):
    server = serve(lambda body: json.dumps(dict.fromkeys(SEVEN, 10)))
    code, report, _ = judged(server, "--threshold", 1)
    assert code == 0
    assert report["counts"]["abstained"] == 6
    assert (len(server.bodies), report["counts"]["judged"]) == (0, 0)
    assert report["metrics"]["generation"] == {"value": 0.0, "low": 0.0, "high": 0.0, "n": 6}


def test_a_judge_of_no_use_is_no_success(judged, serve):
    code, report, err = judged(serve(lambda body: "fine"))
    assert (code, report["counts"]["unjudged"]) == (2, 6)
    assert "generation" not in report["metrics"]
    assert "none of the 6 answers was judged" in err
    code, report, err = judged(serve(lambda body: CHOSEN, key="right"), judge="other")
    assert (code, report) == (2, None)
    assert "the judge answers no call: authentication: 401" in err


def test_one_model_that_answers_and_judges_has_one_budget(judged, serve):
    server = serve(
        lambda body: json.dumps(dict.fromkeys(SEVEN, 8)) if "Gold answers:" in str(body) else CHOSEN
    )
    code, report, err = judged(
        server, "--llm", "strict", "--budget-calls", 8, "--set", "judge=paths"
    )
    assert code == 0
    assert len(server.bodies) == 8
    assert (report["counts"]["judged"], report["counts"]["unjudged"]) == (2, 4)
    assert err.count("strict: 12 calls") + err.count("strict: 8 calls") == 1
    assert "Path 1 says so." in str([body["messages"] for body in list(server.bodies)[6:]])
    # Another judge has a budget of its own.
    _, report, err = judged(
        server, "--llm", "strict", "--budget-calls", 6, "--set", "judge=paths", judge="kind"
    )
    assert report["counts"]["judged"] == 6
    assert "kind: 6 calls (6 paid now" in err
