"""Branches: a question seen from one of its topics, with the relation paths that leave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxkg.kg import Topics
from jaxkg.learn.supervision import Supervision
from jaxkg.records import Question
from jaxkg.search.path_steps import ranges
from jaxkg.tensors import TensorGraph
from jaxkg.text.states import TokenStates
from jaxkg.types import NULL
from jaxkg.words import mention_of

OWN, OTHER = 1, 2
"""Marks of a token: of the branch's topic, of another topic; else 0."""


class Branch(NamedTuple):
    """A question seen from one of its topics."""

    question: int
    starts: tuple[int, ...]  # nodes of the topic; none where the graph lacks it
    marks: tuple[tuple[int, int], ...]  # (token, mark)
    paths: np.ndarray  # [P, L] int32 right relation paths, none where they are not known


def branches_of(
    tokens: TokenStates, questions: Sequence[Question], topics: Sequence[Topics], *, hops: int
) -> list[Branch]:
    """A branch for each topic of each question, in order."""
    nothing = np.zeros((0, hops), np.int32)
    branches = []
    for row, (question, topic) in enumerate(zip(questions, topics)):
        nodes = [*topic.branches, *(() for _ in topic.missing)]
        names = [*dict.fromkeys(link.name for link in topic.links if link.chosen), *topic.missing]
        mentions = [_tokens(tokens, row, question, topic, name) for name in names]
        for place, starts in enumerate(nodes):
            others = set().union(*mentions[:place], *mentions[place + 1 :]) - mentions[place]
            marks = [(token, OWN) for token in mentions[place]]
            marks += [(token, OTHER) for token in others]
            branches.append(Branch(row, starts, tuple(sorted(marks)), nothing))
    return branches


def _tokens(
    tokens: TokenStates, row: int, question: Question, topics: Topics, name: str
) -> set[int]:
    """Where a question mentions a topic; its own word for it, else the linker's, else the name."""
    span = question.mention if len(topics.branches) + len(topics.missing) == 1 else None
    linked = (link for link in topics.links if link.name == name and link.method != "given")
    span = span or next(((link.start, link.end) for link in linked), None)
    span = span or mention_of(question.text, name)
    return set() if span is None else set(tokens.within(row, span))


def training_branches(
    tensors: TensorGraph,
    supervision: Supervision,
    right: Sequence[np.ndarray],
    tokens: TokenStates,
    *,
    hops: int,
) -> list[Branch]:
    """Branches with the right paths of their question that lead from them to an answer.

    Where no path of a question does, the graph lacks what its paths are about: they are taken on
    trust, of each branch.

    Args:
        tensors: the graph.
        supervision: of Q questions.
        right: [P, L] int32 right paths of each question, relations below R.
        tokens: of the questions.
        hops: L.
    """
    walker = _Walker(tensors)
    every = branches_of(tokens, supervision.questions, supervision.topics, hops=hops)
    by_question: dict[int, list[Branch]] = {}
    for branch in every:
        by_question.setdefault(branch.question, []).append(branch)
    branches = []
    for row, paths in enumerate(right):
        sides = by_question.get(row) or [Branch(row, (), (), paths[:0])]
        goals = set(supervision.goals[row])
        led = [
            [bool(goals & walker.ends(branch.starts, path)) for path in paths] for branch in sides
        ]
        trusted = not np.any(led)
        for branch, leads in zip(sides, led):
            own = paths if trusted else paths[np.array(leads, bool)]
            if len(own):
                branches.append(branch._replace(paths=own))
    return branches


class _Walker:
    """Relation paths walked from a few nodes, either way, on the host."""

    def __init__(self, tensors: TensorGraph) -> None:
        self.offsets = np.asarray(tensors.graph.offsets).astype(np.int64)
        self.relation = tensors.relation % tensors.graph.num_relations
        self.tail = tensors.tail

    def ends(self, starts: Sequence[int], path: np.ndarray) -> set[int]:
        """Nodes that a relation path leads to."""
        node = np.array(starts, np.int64)
        for relation in path[path != NULL].tolist():
            edges, _ = ranges(self.offsets[node], self.offsets[node + 1])
            node = np.unique(self.tail[edges[self.relation[edges] == relation]]).astype(np.int64)
        return set(node.tolist())
