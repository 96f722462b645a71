"""Answers to a question set, measured: the one place where scripts and commands do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite import grounded
from jaxkg.evaluate import Estimate, Report, evaluate, prediction_line
from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.questions.passages import passage_id
from jaxkg.records import Question

if TYPE_CHECKING:
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph

CHUNK = 2048
"""Questions answered at a time: what a crash can cost at most, and what is held at once."""


class Answers(Protocol):
    """Whatever answers questions, as every system does."""

    def answer(self, questions: Sequence[Question], *, use_given: bool = True) -> list[Answer]:
        """One answer a question, in order."""
        ...


def lines_of(
    questions: Sequence[Question],
    answers: Iterable[Answer],
    graph: KnowledgeGraph | KnowledgeHypergraph,
    check: Callable[[Answer], bool],
) -> Iterator[dict[str, Any]]:
    """What a run remembers of each question; entities are known by the graph's ids and names."""

    def name_of(id: str) -> str | None:
        return graph.entity_names[rows[0]] if (rows := graph.entity_ids.rows(id)) else None

    def ids_of(gold: str) -> Iterator[str]:
        """A gold answer is an id, else a name, which several entities may have."""
        if graph.entity_ids.rows(gold):
            yield gold
        else:
            yield from (graph.entity_ids[row] for row in graph.entity_names.rows(gold))
            yield gold  # a number, yes or no

    for question, answer in zip(questions, answers, strict=True):
        support, retrieved = (), None
        if question.passages is not None:
            texts = question.passages.texts
            support = [passage_id(*texts[place]) for place in question.passages.support]
            retrieved = [passage_id(some.title, some.text) for some in answer.passages]
        yield prediction_line(
            question,
            answer,
            check=check,
            name_of=name_of,
            ids_of=ids_of,
            aliases=question.aliases,
            support=support,
            retrieved=retrieved,
        )


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
