"""Whatever a model writes is read or refused, in no more than a moment and never with a crash."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from jaxkg.adjudicate import Message, Prompted, Scripted, adjudicate, ask
from jaxkg.adjudicate.calls.one_shot import Adjudication
from jaxkg.adjudicate.calls.proh import EntityWeights, FinalAnswer, Plan
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.adjudicate.reading.parse import Unparsed, parse
from jaxkg.answer import Answer
from jaxkg.evaluate import prediction_line
from jaxkg.evaluate.runs.lines import dump_line, parse_line
from jaxkg.records import Citation, Question, SupportingPath

BIG = "9" * 5000


class Chosen(BaseModel):
    indices: list[int]
    note: str = ""


def outcome(text, schema=Chosen):
    [found] = ask(Scripted([text]), [Prompted((Message("user", "?"),), schema)], repair=False)
    return found


@pytest.mark.parametrize(
    "text",
    [
        f'{{"indices": [{BIG}]}}',
        f"{{'indices': [{BIG}]}}",
        f'{{"indices": "{BIG}"}}',
        f'{{"indices": "1-{BIG}"}}',
        f"indices: {BIG}",
        BIG,
        f"1, {BIG}",
        "[" * 200_000,
        '{"a":' * 200_000,
        "{" * 200_000 + "}" * 200_000,
        "'" * 100_000,
        "{'indices': '" + "\\" * 100_000,
        " " * 300_000,
        "x" * 1_000_000,
    ],
)
def test_a_reply_without_sense_is_one_that_cannot_be_read(text):
    found = outcome(text)
    assert found.error is None or found.error == "unparsed"
    assert found.value is None or len(str(found.value)) < 100
    assert len(found.detail) < 500


def test_numbers_beyond_sense_cost_the_others_nothing():
    assert outcome(f'{{"indices": "1, {BIG}, 3"}}').value == Chosen(indices=[1, 3])
    assert outcome("indices: 2, 4").value == Chosen(indices=[2, 4])
    assert outcome("1-3, 7").value == Chosen(indices=[1, 2, 3, 7])


@pytest.mark.parametrize(
    "text", [r'{"indices": [1], "note": "a\ud800"}', "{'indices': [1], 'note': 'a\ud800'}"]
)
def test_half_of_a_surrogate_pair_becomes_a_mark(text):
    assert outcome(text).value == Chosen(indices=[1], note="a\ufffd")


@pytest.mark.parametrize(
    "text",
    [
        " " * 100_000,
        ", and " * 20_000,
        "a and " * 20_000,
        ";" * 50_000,
        "x" * 100_000,
        "a, " * 30_000,
    ],
)
def test_lists_of_names_without_end_are_read_in_a_moment(text):
    candidates = Candidates([(str(n), f"Name Number {n}") for n in range(500)])
    found, _ = candidates.find_all(text + "Name Number 7")
    assert found in ((), ("7",))
    assert candidates.find_all("Name Number 7, Name Number 8 and Nobody") == (
        ("7", "8"),
        ("Nobody",),
    )


PATHS = tuple(
    SupportingPath(
        f"p{n}", (Citation(n, "a", "r", f"b{n}", "A", name),), ("r",), 1.0, f"A → r → {name}"
    )
    for n, name in enumerate(["Bob", "Ann, Eve", "Bob"])
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.sampled_from(["Bob", "Bob [b0]", "Ann, Eve; Bob", "none", "1-3", "path 2", "9" * 4400])
)
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=6)
_KEYS = st.sampled_from(
    ["answers", "answer", "supporting_paths", "paths", "rationale", "steps", "weights", "number"]
)
_OBJECTS = st.dictionaries(_KEYS, _VALUES | st.dictionaries(_KEYS, _VALUES, max_size=2), max_size=4)
_DRESSED = st.builds(
    lambda value, before, after, ascii: before + json.dumps(value, ensure_ascii=ascii) + after,
    _OBJECTS,
    st.sampled_from(["", "Sure: ", "```json\n", "<think>{</think>", "[", "{"]),
    st.sampled_from(["", "\n```", "}", ", ...", "\x1b[2J"]),
    st.booleans(),
)
_REPLIES = _DRESSED | _DRESSED.map(lambda text: text[: len(text) // 2]) | st.text(max_size=40)


@settings(max_examples=150)
@given(_REPLIES)
def test_any_reply_ends_in_an_answer_that_can_be_written(text):
    answer = Answer("who?", "q", paths=PATHS)
    [decided] = adjudicate(Scripted([text]), [answer])
    assert {entity.entity for entity in decided.entities} <= {"b0", "b1", "b2"}
    assert bool(decided.entities) != bool(decided.abstained)
    assert Answer.from_json(decided.to_json()).entities == decided.entities
    line = prediction_line(Question("q", "who?"), decided)
    assert parse_line(dump_line(line), "here")["answers"] == line["answers"]


@settings(max_examples=50)
@given(_REPLIES, st.sampled_from([Adjudication, EntityWeights, FinalAnswer, Plan]))
def test_any_reply_fits_a_schema_or_says_why_not(text, schema):
    try:
        value = parse(text, schema)
    except Unparsed:
        return
    assert isinstance(value, schema)
