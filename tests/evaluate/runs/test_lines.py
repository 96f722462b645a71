import dataclasses
import json
import math

import pytest

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.evaluate.runs.lines import (
    dump_line,
    parse_line,
    prediction_line,
    read_predictions,
    status,
)
from jaxkg.records import Question, RankedEntity


def test_a_line_holds_what_was_asked_and_answered(question, answer):
    usage = dataclasses.replace(answer.usage, nodes=12, edges=34)
    line = prediction_line(question, dataclasses.replace(answer, usage=usage))
    assert line["id"] == "q1"
    assert line["gold"] == ["m.1", "m.2"]
    assert line["gold_ids"] is None
    assert line["gold_paths"] == [["^starred_actors", "directed_by"]]
    assert line["answers"][0] == {"entity": "Bob", "id": "m.1", "score": 0.9, "paths": ["p1"]}
    assert line["paths"][1]["triples"] == [
        ["m.film", "starred_actors", "m.ann"],
        ["m.film", "written_by", "m.3"],
    ]
    assert [plan["relations"][-1] for plan in line["plan"]] == ["written_by", "directed_by"]
    assert line["usage"] == {
        "calls": 1,
        "prompt_tokens": 200,
        "completion_tokens": 10,
        "price": 0.01,
        "seconds": 0.5,
        "nodes": 12,
        "edges": 34,
    }
    assert status(line) == "answered"


def test_what_answers_cite_is_told_in_words_up_to_a_limit(question, answer):
    uncited = dataclasses.replace(answer.paths[0], id="p3", sentence="never cited")
    told = dataclasses.replace(
        answer, paths=(*answer.paths, uncited), rationale="Because path 1 says so."
    )
    line = prediction_line(question, told)
    assert line["cited"] == ["...", "..."]
    assert line["rationale"] == "Because path 1 says so."
    many = tuple(
        dataclasses.replace(answer.paths[0], id=f"p{n}", sentence=f"fact {n}") for n in range(99)
    )
    ids = tuple(path.id for path in many)
    entity = dataclasses.replace(answer.entities[0], paths=ids)
    line = prediction_line(question, dataclasses.replace(answer, entities=(entity,), paths=many))
    assert line["cited"] == [f"fact {n}" for n in range(30)]


def test_what_was_retrieved_is_held_against_the_gold_answers(question, answer):
    nothing = prediction_line(question, answer)
    assert (nothing["gold_retrieved"], nothing["entities_retrieved"]) == (None, None)
    for ids, held in ((("m.2", "m.9"), True), ((), False)):
        line = prediction_line(question, dataclasses.replace(answer, retrieved=frozenset(ids)))
        assert (line["gold_retrieved"], line["entities_retrieved"]) == (held, len(ids))
    named = dataclasses.replace(question, answers=("Dan",))
    some = dataclasses.replace(answer, retrieved=frozenset({"m.2"}))
    assert not prediction_line(named, some)["gold_retrieved"]
    meant = {"Dan": ["m.7", "m.2"]}
    assert prediction_line(named, some, ids_of=meant.__getitem__)["gold_retrieved"]
    unknown = prediction_line(dataclasses.replace(question, answers=None), some)
    assert unknown["gold_retrieved"] is None


def test_gold_names_and_ids(answer):
    question = Question("q1", "?", answers=("m.1", "Nobody"))
    line = prediction_line(question, answer, name_of={"m.1": "Bob"}.get)
    assert line["gold"] == ["Bob", "Nobody"]
    assert line["gold_ids"] == ["m.1", None]
    unknown = prediction_line(Question("q1", "?"), answer, name_of={"m.1": "Bob"}.get)
    assert unknown["gold"] is None
    assert unknown["gold_ids"] is None


def test_the_citation_check_judges_answers_only(question, answer):
    seen = []

    def check(given):
        seen.append(given)
        return False

    abstained = dataclasses.replace(answer, abstained="too weak")
    empty = dataclasses.replace(answer, entities=())
    assert prediction_line(question, answer)["grounded"] is None
    assert prediction_line(question, answer, check=check)["grounded"] is False
    assert prediction_line(question, abstained, check=check)["grounded"] is None
    assert prediction_line(question, empty, check=check)["grounded"] is None
    assert prediction_line(question, answer, "late", check=check)["grounded"] is None
    assert seen == [answer]
    with pytest.raises(JaxkgError, match=r"True or False, not \[\]"):
        prediction_line(question, answer, check=lambda given: [])  # pyright: ignore


def test_how_a_question_may_end(question, answer):
    abstained = dataclasses.replace(answer, abstained="no path")
    assert status(prediction_line(question, abstained)) == "abstained"
    assert status(prediction_line(question, None, unparsed=True)) == "unparsed"
    assert status(prediction_line(question, abstained, unparsed=True)) == "unparsed"
    assert status(prediction_line(question, answer, "timeout after 60 s")) == "failed"
    line = prediction_line(question, None, TimeoutError("60 s"))
    assert status(line) == "failed"
    assert line["error"] == "TimeoutError: 60 s"
    assert line["usage"] is None
    with pytest.raises(JaxkgError, match="'q1': no answer; say why"):
        prediction_line(question, None)


def test_what_is_no_answer_to_the_question_is_refused(question, answer):
    with pytest.raises(JaxkgError, match="to question 'q1', not to 'q2'"):
        prediction_line(dataclasses.replace(question, id="q2"), answer)
    nan = Answer("?", entities=(RankedEntity("m.1", "Bob", math.nan, ()),))
    with pytest.raises(JaxkgError, match="a score is nan"):
        prediction_line(question, nan)


def test_a_line_survives_the_file(tmp_path, question, answer):
    strange = dataclasses.replace(question, text="Ångström\u2028\n¿?", answers=("é",))
    line = prediction_line(strange, answer, support=["d1", ("h", "r", "t")], retrieved=["d1"])
    raw = dump_line(line)
    assert raw.count(b"\n") == 1
    (tmp_path / "predictions.jsonl").write_bytes(raw)
    assert list(read_predictions(tmp_path)) == [json.loads(json.dumps(line))]
    assert list(read_predictions(tmp_path / "predictions.jsonl")) == [line]


def test_no_json_no_line():
    with pytest.raises(JaxkgError, match="'q': the line is no JSON"):
        dump_line({"id": "q", "x": math.nan})
    with pytest.raises(JaxkgError, match="'q': the line is no JSON"):
        dump_line({"id": "q", "x": object()})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": 3}, "'id' is 3, not a string"),
        ({"question": None}, "'question' is None"),
        ({"gold": "Paris"}, "'gold' is 'Paris', not a list"),
        ({"gold": [1]}, "not a list of strings or null"),
        ({"gold_ids": ["m.1"]}, "'gold_ids' does not run along"),
        ({"answers": None}, "'answers' is None"),
        ({"answers": ["Paris"]}, "an answer is 'Paris'"),
        ({"paths": [{"score": 1}]}, "'paths' is {'score': 1}, without relation_path, score, tri"),
        ({"plan": [["r"]]}, r"'plan' is \['r'\], without relations"),
        ({"answers": [{"entity": "Paris"}]}, "score of answer 'Paris' is None"),
    ],
)
def test_damaged_lines_are_named(change, problem):
    line = {"id": "q", "question": "?", "gold": ["a", "b"], "answers": []}
    assert parse_line(json.dumps(line), "f:1") == line
    with pytest.raises(JaxkgError, match=f"^f:1: .*{problem}"):
        parse_line(json.dumps(line | change), "f:1")


def test_what_is_no_object_is_named():
    with pytest.raises(JaxkgError, match="f:2: a JSON list"):
        parse_line("[]", "f:2")
    with pytest.raises(JaxkgError, match="f:3: not UTF-8"):
        parse_line(b'{"id": \xff', "f:3")
    with pytest.raises(JaxkgError, match="'gold' is None, not a list"):
        parse_line('{"id": "q", "question": "?", "answers": []}', "f:4")


def test_reading_refuses_repetitions_and_torn_ends(tmp_path, question, answer):
    path = tmp_path / "predictions.jsonl"
    raw = dump_line(prediction_line(question, answer))
    path.write_bytes(raw + raw)
    with pytest.raises(JaxkgError, match=r"jsonl:2: question 'q1' was answered before"):
        list(read_predictions(path))
    path.write_bytes(raw + raw[:40])
    with pytest.raises(JaxkgError, match=r"jsonl:2 \(the last line, perhaps torn"):
        list(read_predictions(path))
    with pytest.raises(JaxkgError, match="no such file"):
        list(read_predictions(tmp_path / "nowhere"))


def test_an_answer_that_failed_counts_as_failed_and_a_failed_step_is_told(question, answer):
    model = dataclasses.replace(
        answer, error="timeout: late", dropped=("Nobody",), refused=("Cid", "Bob")
    )
    line = prediction_line(question, model)
    assert status(line) == "answered", "it was answered all the same"
    assert (line["fault"], line["dropped"]) == ("timeout: late", ["Nobody"])
    assert line["refused"] == ["Cid", "Bob"]
    nothing = dataclasses.replace(model, entities=(), abstained="adjudication failed")
    line = prediction_line(question, nothing)
    assert (status(line), line["error"]) == ("failed", "timeout: late")
    unread = dataclasses.replace(nothing, error="unparsed: it is empty")
    line = prediction_line(question, unread)
    assert (status(line), line["error"]) == ("unparsed", None)
    assert line["fault"] == "unparsed: it is empty"
    assert prediction_line(question, nothing, "crash")["error"] == "crash"
    assert prediction_line(question, answer)["fault"] is None
