"""Copies of a system that share questions; what every method does so is in `test_contract.py`."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.records import Question
from jaxkg.systems.answering import QuestionAnswering
from jaxkg.systems.replicated import ReplicatedQA, even_parts

WITHIN = 60.0
"""Seconds that a copy waits for the others."""


class Copy(QuestionAnswering):
    """Tells which device it answered on and was built on."""

    single_paths = 3

    def __init__(self, place, meet=None):
        self.place, self.meet, self.said = place, meet, []
        self.weights = jnp.zeros(3)

    def answer(self, questions, *, use_given=True, on_progress=None):
        if self.meet is not None:
            self.meet.wait(WITHIN)
        if any(question.text == f"not {self.place}" for question in questions):
            raise JaxkgError(f"not on {self.place}")
        if on_progress is not None:
            on_progress("answer", len(questions), len(questions))
        [device] = jnp.ones(1).devices()
        return [
            Answer(question.text, question_id=question.id, system=f"{device.id} {use_given}")
            for question in questions
        ]

    def correct(self, question, number):
        [device] = jnp.ones(1).devices()
        self.said.append((question, number, device.id))


def replicated(count, **options) -> Any:
    return ReplicatedQA(Copy, jax.devices()[:count], **options)


def questions(count):
    return [Question(str(number), f"number {number}") for number in range(count)]


def asked_on(answers):
    return [int(answer.system.split()[0]) for answer in answers]


@pytest.mark.parametrize("count", [0, 1, 3, 8, 9])
@pytest.mark.parametrize("parts", [1, 3, 8])
def test_parts_are_even_and_hold_every_question_once(count, parts):
    cut = even_parts(count, parts)
    assert [place for part in cut for place in range(count)[part]] == list(range(count))
    sizes = [len(range(count)[part]) for part in cut]
    assert len(sizes) == parts
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] - sizes[-1] <= 1


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("count", "places"),
    [(0, []), (1, [0]), (2, [0, 1]), (4, [0, 0, 1, 2]), (8, [0, 0, 0, 1, 1, 1, 2, 2])],
)
def test_answers_come_in_order_each_from_its_device(count, places, at_once):
    many = replicated(3, at_once=at_once)
    found = many.answer(questions(count), use_given=False)
    assert [answer.question_id for answer in found] == list(map(str, range(count)))
    assert asked_on(found) == places
    assert all(answer.system.endswith("False") for answer in found)


def test_every_copy_is_built_on_its_device():
    many = replicated(4)
    assert [copy.place for copy in many.copies] == [0, 1, 2, 3]
    assert [copy.weights.devices() for copy in many.copies] == [{d} for d in jax.devices()[:4]]


def test_the_first_is_built_before_the_others_and_those_together():
    built, meet = [], threading.Barrier(2)

    def build(place):
        if place:
            assert built == [0]
            meet.wait(WITHIN)
        built.append(place)
        return Copy(place)

    ReplicatedQA(build, jax.devices()[:3])
    assert sorted(built) == [0, 1, 2]


def test_what_a_copy_raises_is_raised_as_it_is():
    many = replicated(2)
    with pytest.raises(JaxkgError, match=r"^not on 1$"):
        many.answer([Question("a", "fine"), Question("b", "not 1")])
    assert asked_on(many.answer(questions(2))) == [0, 1]

    def build(place):
        if place == 1:
            raise JaxkgError("no room")
        return Copy(place)

    with pytest.raises(JaxkgError, match=r"^no room$"):
        ReplicatedQA(build, jax.devices()[:2])


def test_progress_is_told_of_all_together():
    told = []
    replicated(3).answer(questions(8), on_progress=lambda *step: told.append(step))
    assert len(told) == 3
    assert told[-1] == ("answer", 8, 8)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_everything_else_is_the_first_ones_and_corrections_reach_all():
    many = replicated(3)
    assert many.single_paths == 3
    assert many.ask("who?").system.startswith("0 ")
    assert many.traced(Question("a", "who?"))[0].system.startswith("0 ")
    assert not hasattr(many, "check")
    many.correct("who?", 1)
    said = [copy.said for copy in many.copies]
    assert said == [[("who?", 1, place)] for place in range(3)]
