"""Questions over their own graphs: no walk leaves one, and predictions are others' own forms."""

import json

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import score_predictions
from jaxkg.kg.questions.own_graphs import read_own_graphs

LINES = [
    {
        "id": "one",
        "question": "where was Ann born in?",
        "q_entity": ["Ann"],
        "a_entity": ["Bonn"],
        "answer": ["Bonn"],
        "graph": [["Ann", "people.person.born_in", "Bonn"], ["Bonn", "location.twinned", "Oxford"]],
        "choices": [],
    },
    {
        "id": "two",
        "question": "where was Ann born in?",
        "q_entity": ["Ann"],
        "a_entity": ["Rome"],
        "answer": ["Rome"],
        "graph": [["Ann", "people.person.born_in", "Rome"], ["Ann", "x.y", " "]],
    },
    {
        "id": "three",
        "question": "where was Bob born in?",
        "q_entity": ["Bonn"],
        "a_entity": ["Oslo"],
        "answer": ["Oslo"],
        "graph": [["Bob", "people.person.born_in", "Oslo"]],
    },
]


@pytest.fixture(params=["jsonl", "parquet"])
def file(request, tmp_path):
    path = tmp_path / f"rog.{request.param}"
    if request.param == "jsonl":
        path.write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(LINES), path)
    return path


def test_graphs_stand_side_by_side_and_nothing_leads_from_one_to_another(file):
    kg, (one, two, three) = read_own_graphs(file)
    assert kg.num_triples == 4
    assert kg.skipped == ("1 facts with a blank part",)
    assert one.topics == ("one|Ann",)
    assert one.answers == ("one|Bonn",)
    assert two.answers == ("two|Rome",)
    ends = {kg.triple(row)[0].split("|")[0] == kg.triple(row)[2].split("|")[0] for row in range(4)}
    assert ends == {True}
    assert kg.name(kg.entity("two|Rome")) == "Rome"
    # Bonn is in the first question's graph alone: the third has no topic, not another's.
    assert not kg.entity_ids.rows(three.topics[0])
    assert read_own_graphs(file, limit=1)[0].num_triples == 2


def test_each_question_is_answered_from_its_own_graph(file, jaxkg, tmp_path):
    run = tmp_path / "run"
    out = jaxkg.done(
        "eval", "-o", run, "--questions", file, "--own-graphs", "--system", "pathhd",
        "--set", "query=text", "--set", "encoder=hashing", "--set", "dimension=64",
        "--threshold", 0, "--written", "rog,gnn-rag,subgraphrag", "--json",
    )  # fmt: skip
    found = json.loads(out)["metrics"]
    assert found["hits_at_1"]["value"] == pytest.approx(2 / 3)
    assert found["grounded"]["value"] == 1
    for form in ("rog", "subgraphrag"):
        scores = score_predictions(run / f"predictions-{form}.jsonl", None)
        assert scores.layout == form
        for metric in ("rog_hit", "rog_f1") + ("subgraphrag_f1",) * (form == "subgraphrag"):
            told = found[metric]["value"]
            assert scores.all_asked[metric].value == pytest.approx(told), metric
    lines = (run / "predictions-gnn-rag.jsonl").read_text("utf-8").splitlines()
    told = {tuple(line["answers"]): line["cand"] for line in map(json.loads, lines)}
    assert told[("Rome",)][0][0] == "Rome"
    assert told[("Oslo",)] == []


@pytest.mark.parametrize("line", [{"graph": [["a", "b"]]}, {}, {"graph": "a b c"}])
def test_a_line_without_a_graph_is_told(tmp_path, line):
    path = tmp_path / "rog.jsonl"
    given = {"id": "1", "question": "q?", "q_entity": ["a"], "a_entity": ["b"], **line}
    path.write_text(json.dumps(given), "utf-8")
    with pytest.raises(JaxkgError, match=r"rog\.jsonl:1: no 'graph'"):
        read_own_graphs(path)


def test_own_graphs_come_with_nothing_else(jaxkg, tmp_path):
    err = jaxkg.refused("eval", "-o", tmp_path / "run", "--own-graphs", "--dataset", "webqsp")
    assert "--own-graphs requires one file of --questions" in err
