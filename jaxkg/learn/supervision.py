"""From questions with answers to what a model learns from: topics, goals, the rule of return."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, Topics, entity_rows, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.mine import MinedPaths, mine_paths
from jaxkg.records import Question
from jaxkg.tensors import TensorGraph

Progress = Callable[[str, int, int], None]


@dataclasses.dataclass(frozen=True)
class Training:
    """How a fit is run, whatever it fits.

    Attributes:
        seed: of everything random: split, weights, order, dropout.
        folder: keeps the training's state; a later call goes on from there. None keeps none.
        linker: finds topics and their mentions; None makes one.
        on_progress: called with (stage, done, total).
        on_epoch: called with (epoch, mean loss, held-out score or NaN); False stops for now.
    """

    seed: int = 0
    folder: str | os.PathLike[str] | None = None
    linker: Linker | None = None
    on_progress: Progress | None = None
    on_epoch: Callable[[int, float, float], bool | None] | None = None

    def tick(self, stage: str, done: int, total: int) -> None:
        """Tell the progress, where somebody asks for it."""
        if self.on_progress:
            self.on_progress(stage, done, total)


def answer_rows(kg: KnowledgeGraph, question: Question) -> tuple[int, ...]:
    """Rows of a question's answers, each once; none of answers that the graph lacks."""
    return _rows(functools.partial(entity_rows, kg), question)


def _rows(rows_of: Callable[[str], tuple[int, ...]], question: Question) -> tuple[int, ...]:
    rows = (row for answer in question.answers or () for row in rows_of(answer))
    return tuple(dict.fromkeys(rows))


def revisit_rule(topics: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> Revisit:
    """The rule that a question set was made with, told from its answers.

    A set whose paths may return to the topic has questions that the topic itself answers ("the
    wife of X's husband"): PathQuestion has many, MetaQA none. A few are taken for mistakes.

    >>> revisit_rule([[1], [2]], [[3], [4]]), revisit_rule([[1], [2]], [[1], [4]])
    ('topic', 'any')
    """
    returns = sum(bool(set(some) & set(goal)) for some, goal in zip(topics, targets))
    return "any" if returns > 0.005 * len(topics) else "topic"


@dataclasses.dataclass(frozen=True)
class Supervision:
    """Q questions with what the graph knows of them.

    Attributes:
        questions: as given.
        topics: of each, given or linked.
        goals: rows of each one's answers.
        masked: their texts with the topics masked.
    """

    questions: tuple[Question, ...]
    topics: tuple[Topics, ...]
    goals: tuple[tuple[int, ...], ...]
    masked: tuple[str, ...]

    @property
    def starts(self) -> list[tuple[int, ...]]:
        """Topic rows of each question."""
        return [some.entities for some in self.topics]

    @property
    def usable(self) -> np.ndarray:
        """[U] int, questions with a topic and an answer."""
        both = (bool(some.entities and goal) for some, goal in zip(self.topics, self.goals))
        return np.flatnonzero(np.fromiter(both, bool, len(self.topics)))

    @property
    def revisit(self) -> Revisit:
        """See `revisit_rule`; of the usable questions."""
        known = self.of(self.usable)
        return revisit_rule(known.starts, known.goals)

    @property
    def without_topic(self) -> int:
        """Questions no topic of which is in the graph."""
        return sum(not some.entities for some in self.topics)

    @property
    def without_answer(self) -> int:
        """Questions no answer of which is in the graph."""
        return sum(not goal for goal in self.goals)

    def of(self, rows: np.ndarray) -> Supervision:
        """Some of the questions, in this order."""
        parts = (getattr(self, field.name) for field in dataclasses.fields(self))
        return Supervision(*(tuple(part[i] for i in rows.tolist()) for part in parts))

    def mine(
        self,
        tensors: TensorGraph,
        *,
        hops: int,
        revisit: Revisit,
        on_progress: Progress | None = None,
    ) -> MinedPaths:
        """Relation paths from topics to answers, see `mine_paths`."""
        return mine_paths(
            tensors,
            self.starts,
            self.goals,
            hops=hops,
            revisit=revisit,
            on_progress=on_progress
            and (lambda done, total: on_progress("mine paths", done, total)),
        )


def supervise(
    kg: KnowledgeGraph,
    questions: Sequence[Question],
    *,
    linker: Linker | None = None,
    on_progress: Progress | None = None,
) -> Supervision:
    """Look up what questions start from and lead to; gold paths are never looked at.

    Args:
        kg: the graph.
        questions: with `answers`; topics given or to be linked.
        linker: finds topics and their mentions; None makes one.
        on_progress: called with (stage, done, total).

    Raises:
        JaxkgError: there are no questions.
    """
    if not questions:
        raise JaxkgError("no questions to train on")
    topics = find_topics(linker or Linker(kg), questions)
    if on_progress:
        on_progress("link", len(questions), len(questions))
    # Questions share their answers.
    rows_of = functools.cache(functools.partial(entity_rows, kg))
    goals = tuple(_rows(rows_of, question) for question in questions)
    masked = tuple(masked_texts(questions, topics))
    return Supervision(tuple(questions), tuple(topics), goals, masked)
