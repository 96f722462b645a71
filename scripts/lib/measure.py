"""Answers to a question set, measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite import grounded
from jaxkg.evaluate import Estimate, Report, evaluate
from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.experiments.measure import CHUNK, lines_of
from jaxkg.kg import KnowledgeGraph
from jaxkg.records import Question


class Answers(Protocol):
    """Whatever answers questions, as every system does."""

    def answer(self, questions: Sequence[Question], *, use_given: bool = True) -> list[Answer]:
        """One answer a question, in order."""
        ...


def measure(
    system: Answers,
    questions: Sequence[Question],
    kg: KnowledgeGraph,
    seed: int = 0,
    *,
    use_given: bool = True,
    directed: bool = True,
) -> Report:
    """Ask a system and report on its answers, every citation read in the graph again.

    Args:
        system: asked `CHUNK` questions at a time.
        questions: with gold answers, and gold paths where they have any.
        kg: the graph that is asked.
        seed: of the bootstrap intervals.
        use_given: False hides the topics that the questions give.
        directed: see `evaluate`.
    """

    def answers() -> Iterator[Answer]:
        for first in range(0, len(questions), CHUNK):
            yield from system.answer(questions[first : first + CHUNK], use_given=use_given)

    return measure_answers(answers(), questions, kg, seed, directed=directed)


def measure_answers(
    answers: Iterable[Answer],
    questions: Sequence[Question],
    kg: KnowledgeGraph,
    seed: int = 0,
    *,
    directed: bool = True,
) -> Report:
    """As `measure`, of answers that are there already, one a question in order."""
    lines = lines_of(questions, answers, kg, lambda answer: grounded(kg, answer))
    return evaluate(lines, directed=directed, seed=seed)


def share(flags: Sequence[float] | np.ndarray, seed: int = 0) -> Estimate:
    """The mean of one number a question, with its bootstrap interval.

    >>> share([1.0, 0.0, 1.0, 0.0]).value
    0.5
    """
    values = np.asarray(flags, float)[:, None]
    return ratio_estimates(values, np.ones_like(values), seed=seed)[0]


def gain(first: np.ndarray, other: np.ndarray, seed: int = 0) -> Estimate:
    """What two systems' means of one number a question differ by, paired by question.

    >>> gain(np.array([1.0, 1.0]), np.array([0.0, 1.0])).value
    0.5
    """
    ones = np.ones((len(first), 1))
    return ratio_estimates(first[:, None], ones, minus=(other[:, None], ones), seed=seed)[0]
