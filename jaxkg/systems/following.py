"""Relation paths of many questions followed from their topics, and what several topics come to."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.search.plans import Keep, execute_paths
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL

Join: TypeAlias = Literal["auto", "union", "intersect"]
"""What several topics of a question come to: all that is reached from any of them, only what is
reached from each, or that where there is any ("auto")."""

KeepRows: TypeAlias = Callable[[np.ndarray, np.ndarray], Keep]


@dataclasses.dataclass(frozen=True)
class Followed:
    """What relation paths reached: a walk for every node of every path, path by path.

    Attributes:
        question, place: [K] integers, ascending: whose path, and which of its W.
        node: [K] int32, where the walk ends.
        edges: [K, L] int32, NULL past its end.
        branch: [K] integers, which topic it left, where they are followed one by one; else 0.
        used: [Q, W] bool, the paths whose walks are here.
        sizes: [Q, W] integers, nodes of each path that the join of the topics keeps, NULL where it
            was not followed.
        complete: [Q] bool, False where following outgrew the largest bucket.
        visited: [Q, 2] integers, see `Plans`.
    """

    question: np.ndarray
    place: np.ndarray
    node: np.ndarray
    edges: np.ndarray
    branch: np.ndarray
    used: np.ndarray
    sizes: np.ndarray
    complete: np.ndarray
    visited: np.ndarray

    def only(self, used: np.ndarray) -> Self:
        """The walks of some of the paths; `sizes` still tells of all.

        Args:
            used: [Q, W] bool.
        """
        kept = used[self.question, self.place]
        return dataclasses.replace(
            self,
            question=self.question[kept],
            place=self.place[kept],
            node=self.node[kept],
            edges=self.edges[kept],
            branch=self.branch[kept],
            used=used,
        )


def follow_paths(
    tensors: TensorGraph,
    branches: Sequence[Sequence[Sequence[int]]],
    relations: np.ndarray,
    used: np.ndarray,
    *,
    join: Join = "union",
    topic: np.ndarray | None = None,
    revisit: Revisit = "topic",
    keep: KeepRows | None = None,
    **options: Any,
) -> Followed:
    """Follow the used relation paths of each question from its topics.

    Args:
        tensors: the graph.
        branches: nodes of each topic of each question.
        relations, used: see `RelationPaths`.
        join: what several topics come to. For a union a path is followed from all of them together,
            else from each by itself.
        topic: [Q, W] int, the one topic that each path leaves; None lets it leave any.
        keep: as of `execute_paths`, from [B] questions and [B] rows of the used paths.
        revisit, options: see `execute_paths`: also batch_size and on_progress.
    """
    topics = [tuple(itertools.chain.from_iterable(some)) for some in branches]
    together = join == "union" and topic is None
    starts = [
        [of_all] if together or len(some) < 2 else list(some)
        for of_all, some in zip(topics, branches)
    ]
    each = np.array([len(some) for some in starts], np.int64)
    of_question, at = np.nonzero(used)
    question, place = np.repeat(of_question, each[of_question]), np.repeat(at, each[of_question])
    ends = np.cumsum(each[of_question])
    branch = np.arange(len(question)) - np.repeat(ends - each[of_question], each[of_question])
    if topic is not None:
        own = branch == topic[question, place]
        question, place, branch = question[own], place[own], branch[own]
    reached = execute_paths(
        tensors,
        [starts[q][b] for q, b in zip(question.tolist(), branch.tolist())],
        relations[question, place],
        revisit=revisit,
        keep=None if keep is None else lambda rows: keep(question[rows], rows),
        **options,
    )
    who, row, node = question[reached.row], reached.row, reached.node
    sizes = np.where(used, 0, NULL).astype(np.int64)
    there = np.ones(len(row), bool)
    several = np.flatnonzero(each[who] > 1)
    apart = len(several) > 0
    if apart and revisit == "topic":  # nor to another topic than its own
        pairs = zip(who[several].tolist(), node[several].tolist())
        there[several] = [node not in topics[q] for q, node in pairs]
        several = several[there[several]]
    if len(several) and join != "union":
        there[several] = _joined(who[several], branch[row[several]], node[several], each, join)
    if apart:
        who, row, node = who[there], row[there], node[there]
        size = len(tensors.tail) + 1
        distinct = np.unique((who * used.shape[1] + place[row]) * size + node) // size
        np.add.at(sizes.reshape(-1), distinct, 1)
    else:
        sizes[question, place] = np.bincount(row, minlength=len(question))
    complete = np.ones(len(used), bool)
    np.logical_and.at(complete, question, reached.complete)
    visited = np.zeros((len(used), 2), np.int64)
    np.add.at(visited, question, reached.visited)
    edges = reached.edges[there]
    return Followed(who, place[row], node, edges, branch[row], used, sizes, complete, visited)


def both_ways(relations: np.ndarray, num_relations: int) -> np.ndarray:
    """[..., L, 2] int32 codes of [..., L] relations below R: each step along an edge or against."""
    back = np.where(relations == NULL, NULL, relations + num_relations)
    return np.stack([relations, back], axis=-1).astype(np.int32)


def _joined(
    question: np.ndarray, branch: np.ndarray, node: np.ndarray, each: np.ndarray, join: Join
) -> np.ndarray:
    """[K] bool, the walks to what a join keeps.

    Args:
        question, branch, node: [K] integers, whose walk, from which of its topics, to where.
        each: [Q] topics that the paths of each question are followed from.
        join: see `Join`.
    """
    _, first, target = np.unique(
        np.stack([question, node]), axis=1, return_index=True, return_inverse=True
    )
    pairs = np.unique(np.stack([target.reshape(-1), branch]), axis=1)[0]
    shared = np.bincount(pairs, minlength=len(first)) == each[question[first]]
    common = shared[target.reshape(-1)]
    if join == "intersect":
        return common
    some = np.zeros(len(each), bool)
    some[question[common]] = True
    return common | ~some[question]
