import json

import pytest

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
    code, out, _ = jaxkg("score", file, "--gold", gold, "--json")
    [found] = json.loads(out).values()
    assert code == 0
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
    code, out, err = jaxkg("score", *(part.format(tmp=tmp_path) for part in arguments))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert why in err
