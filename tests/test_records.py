import dataclasses
import json
import math

import pytest
from cited_answers import answer_along
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.kg.builtin import demo_graph
from jaxkg.records import (
    Citation,
    Link,
    PlanCandidate,
    RankedEntity,
    SupportingPath,
    Usage,
)

WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBERS = st.floats(allow_nan=False)
COUNTS = st.integers(0, 2**40)


def tuples(item):
    return st.lists(item, max_size=3).map(tuple)


LINKS = st.builds(Link, WORDS, WORDS, COUNTS, COUNTS, NUMBERS, WORDS, st.booleans())
CITATIONS = st.builds(
    Citation, COUNTS, WORDS, WORDS, WORDS, WORDS, WORDS, st.booleans(), st.none() | WORDS
)
PATHS = st.builds(SupportingPath, WORDS, tuples(CITATIONS), tuples(WORDS), NUMBERS, WORDS)
ENTITIES = st.builds(RankedEntity, WORDS, WORDS, NUMBERS, tuples(WORDS))
PLANS = st.builds(PlanCandidate, tuples(WORDS), NUMBERS, st.none() | COUNTS, st.booleans())
USAGES = st.builds(
    Usage, COUNTS, COUNTS, COUNTS, NUMBERS, NUMBERS, st.dictionaries(WORDS, NUMBERS, max_size=3)
)
ANSWERS = st.builds(
    Answer,
    question=WORDS,
    question_id=WORDS,
    topics=tuples(LINKS),
    entities=tuples(ENTITIES),
    paths=tuples(PATHS),
    plan=tuples(PLANS),
    usage=USAGES,
    abstained=st.none() | WORDS,
    notes=tuples(WORDS),
    system=WORDS,
    rationale=st.none() | WORDS,
    dropped=tuples(WORDS),
    refused=tuples(WORDS),
    error=st.none() | WORDS,
)


@pytest.fixture(scope="module")
def answer():
    return answer_along(demo_graph(), ["Alien"], ("directed_by", "^directed_by", "starred"))


@given(ANSWERS, st.none() | st.just(2))
def test_any_answer_comes_back_from_json(answer, indent):
    assert Answer.from_json(answer.to_json(indent=indent)) == answer


def test_half_of_a_surrogate_pair_becomes_a_mark():
    written = Answer("who \udcff?").to_json()
    assert Answer.from_json(written).question == "who \ufffd?"
    assert Answer.from_json(r'{"x": "\ud800", ' + written[1:]).question == "who \ufffd?"
    assert written.encode()


def test_what_is_not_a_number_survives_too():
    odd = Answer("?", entities=(RankedEntity("a", "a", math.nan, ()),), usage=Usage(price=math.inf))
    back = Answer.from_json(odd.to_json())
    assert math.isnan(back.entities[0].score)
    assert back.usage.price == math.inf


def test_json_is_plain_and_keeps_every_script(answer):
    raw = json.loads(dataclasses.replace(answer, question="誰が Amélie を?").to_json())
    assert raw["question"] == "誰が Amélie を?"
    assert raw["paths"][0]["citations"][0]["triple"] == 56
    assert raw["usage"]["stages"] == {"plan": 0.25, "execute": 0.25}
    assert "Amélie" in Answer("Amélie").to_json()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"words"', "{}"])
def test_what_is_no_answer_is_refused_in_one_line(text):
    with pytest.raises(JaxkgError, match="not the JSON of a jaxkg Answer") as caught:
        Answer.from_json(text)
    assert "\n" not in str(caught.value)


LATER = ("columns",)
"""Fields that answers of before do not have."""


@pytest.mark.parametrize(
    "field", [f.name for f in dataclasses.fields(Answer) if f.compare and f.name not in LATER]
)
def test_an_answer_with_a_field_missing_is_refused_by_its_name(answer, field):
    raw = answer.to_dict()
    del raw[field]
    with pytest.raises(JaxkgError, match=repr(field)):
        Answer.from_json(json.dumps(raw))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("topics", 3),
        ("topics", [{"entity": "a"}]),
        ("entities", ["a"]),
        ("entities", [{"entity": "a", "name": "a", "score": 1.0}]),
        ("paths", [{"id": "p1"}]),
        ("paths", [{"id": "p1", "citations": [[1]], "relation_path": [], "score": 1}]),
        ("plan", [{"relations": ["r"], "probability": 1.0, "sure": True}]),
        ("usage", {"dollars": 3}),
        ("usage", None),
        ("notes", None),
    ],
)
def test_a_field_of_another_shape_is_refused(answer, where, value):
    with pytest.raises(JaxkgError, match="not the JSON of a jaxkg Answer"):
        Answer.from_json(json.dumps(answer.to_dict() | {where: value}))


def test_records_cannot_be_changed_in_place(answer):
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.abstained = "no"
