"""Answers as replies: the fast writer and the plain one say the same."""

import json

import pytest

from jaxkg.answer import Answer
from jaxkg.kg import demo_graph
from jaxkg.records import Question
from jaxkg.serve.replies import answer_json
from jaxkg.systems.reader.system import Reader
from jaxkg.text import HashingEncoder


@pytest.fixture(scope="module")
def answer() -> Answer:
    reader = Reader.build(demo_graph(), HashingEncoder())
    [found] = reader.answer([Question("q1", "Who directed Alien?")])
    assert found.entities
    assert found.retrieved is not None
    return found


def test_an_answer_is_written_fast_and_as_its_json_says(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = answer.to_json()
    monkeypatch.setattr(Answer, "to_json", None)  # the slow way is for what the fast one refuses
    written = answer_json(answer)
    assert json.loads(written) == json.loads(plain)
    assert "retrieved" not in json.loads(written)


def test_half_a_surrogate_pair_is_written_the_slow_way() -> None:
    assert json.loads(answer_json(Answer("Caf\ud800?")))["question"] == "Caf\ufffd?"
