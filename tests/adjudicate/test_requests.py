import dataclasses

import pytest

from jaxkg.adjudicate import Message, Reply, Request

BASE = Request(
    (Message("system", "s"), Message("user", "u")),
    schema={"type": "object"},
    form="three lines",
    temperature=0.0,
    max_tokens=10,
    seed=1,
    question="q1",
    stage="plan",
)


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("system", "s"), Message("user", "v"))},
        {"messages": (Message("user", "s"), Message("user", "u"))},
        {"messages": (Message("system", "s"),)},
        {"schema": {"type": "array"}},
        {"schema": None},
        {"schema_name": "other"},
        {"form": "two lines"},
        {"temperature": 0.7},
        {"temperature": None},
        {"max_tokens": 11},
        {"seed": 2},
        {"alternatives": 5},
        {"extra": {"enable_thinking": False}},
    ],
)
def test_whatever_shapes_the_reply_is_in_the_key(change):
    assert dataclasses.replace(BASE, **change).key("m") != BASE.key("m")


def test_the_model_is_in_the_key_and_the_account_is_not():
    assert BASE.key("m") != BASE.key("n")
    other = dataclasses.replace(BASE, question="q2", stage="search")
    assert other.key("m") == BASE.key("m")


def test_text_cannot_move_between_turns_unnoticed():
    first = Request((Message("user", 'a"],["user","b'),))
    assert first.key("m") != Request((Message("user", "a"), Message("user", "b"))).key("m")


def test_every_field_is_either_keyed_or_an_account():
    """A field added later must be decided on."""
    fields = {field.name for field in dataclasses.fields(Request)}
    assert fields == {
        *("messages", "schema", "schema_name", "form", "temperature", "max_tokens", "seed"),
        *("question", "stage", "reads", "alternatives", "extra"),
    }


def test_a_lone_surrogate_still_has_a_key():
    assert len(Request((Message("user", "\ud800"),)).key("m")) == 64


def test_what_is_held_back_is_no_call():
    assert Reply.held_back("spent").calls == 0
    assert Reply(error="timeout").calls == 1
    assert Reply("x").calls == 1
