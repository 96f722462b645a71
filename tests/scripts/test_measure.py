"""Measuring a system on the demo graph: a stub that answers the gold, wrongly, or not at all."""

import dataclasses

import pytest
from lib import measure as measuring
from lib.measure import measure, measure_answers, share
from lib.rows import row
from planners import demo_planner

from jaxkg.answer import Answer
from jaxkg.cite import grounded
from jaxkg.experiments.measure import lines_of
from jaxkg.kg import demo_questions
from jaxkg.systems.planned import PlannedQA, PlannedSettings


@pytest.fixture(scope="module")
def demo(cache):
    kg, tensors, planner = demo_planner(cache)
    settings = PlannedSettings(threshold=0.05, batch_size=8)
    return PlannedQA.build(kg, planner, tensors=tensors, settings=settings)


QUESTIONS = demo_questions()


@dataclasses.dataclass
class Told:
    """Answers that are there already; keeps what it was asked."""

    answers: dict[str, Answer]
    asked: list = dataclasses.field(default_factory=list)

    def answer(self, questions, *, use_given=True):
        self.asked.append((len(questions), use_given))
        return [self.answers[question.id] for question in questions]


def silent(question):
    return Answer(question_id=question.id, question=question.text, abstained="nothing known")


def test_hits_are_counted_by_hand_and_by_measure_alike(demo):
    answers = demo.answer(QUESTIONS)
    right = [
        bool(answer.entities) and answer.entities[0].name in question.answers
        for question, answer in zip(QUESTIONS, answers)
    ]
    report = measure(demo, QUESTIONS, demo.kg)
    assert report.metrics["hits_at_1"].value == pytest.approx(sum(right) / len(right))
    assert 0.5 < sum(right) / len(right) <= 1
    assert report.metrics["grounded"].value == 1
    assert row(report, ["hits_at_1", "no such metric"]) == [report.metrics["hits_at_1"], None]


def test_questions_go_in_chunks_and_keep_their_order(demo, monkeypatch):
    monkeypatch.setattr(measuring, "CHUNK", 3)
    answers = demo.answer(QUESTIONS[:7])
    told = Told({answer.question_id: answer for answer in answers})
    whole = measure_answers(answers, QUESTIONS[:7], demo.kg, seed=3)
    chunked = measure(told, QUESTIONS[:7], demo.kg, seed=3, use_given=False)
    assert told.asked == [(3, False), (3, False), (1, False)]
    assert chunked.metrics.keys() == whole.metrics.keys()
    for name, estimate in whole.metrics.items():
        assert dataclasses.astuple(chunked.metrics[name]) == pytest.approx(
            dataclasses.astuple(estimate), nan_ok=True
        )


def test_who_says_nothing_is_never_right(demo):
    told = Told({question.id: silent(question) for question in QUESTIONS})
    report = measure(told, QUESTIONS, demo.kg)
    assert report.metrics["hits_at_1"].value == 0
    assert report.counts["abstained"] == len(QUESTIONS)


def test_an_invented_citation_is_seen(demo):
    [answer] = demo.answer(QUESTIONS[:1])
    path = answer.paths[0]
    forged = dataclasses.replace(path.citations[0], tail="Nobody", tail_name="Nobody")
    broken = dataclasses.replace(
        answer,
        paths=(dataclasses.replace(path, citations=(forged, *path.citations[1:])),)
        + answer.paths[1:],
    )
    assert measure_answers([answer], QUESTIONS[:1], demo.kg).metrics["grounded"].value == 1
    assert measure_answers([broken], QUESTIONS[:1], demo.kg).metrics["grounded"].value == 0


def test_one_answer_a_question(demo):
    answers = demo.answer(QUESTIONS[:2])
    with pytest.raises(ValueError, match="zip"):
        list(lines_of(QUESTIONS[:3], answers, demo.kg, lambda a: grounded(demo.kg, a)))


def test_a_share_has_its_interval():
    found = share([1.0] * 30 + [0.0] * 10, seed=1)
    assert found.value == 0.75
    assert 0.55 < found.low < 0.75 < found.high < 0.95
    assert found.n == 40
