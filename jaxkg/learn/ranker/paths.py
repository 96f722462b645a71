"""The relation paths around topics, for graphs whose schema is too large to score whole.

Question sets over Freebase write their paths without directions: a step may then be walked from
either end and is a relation's number below R. Elsewhere a step is one of 2R codes. Host arrays:
what is ragged here becomes flat columns, and only those go to the device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.search.path_steps import ranges
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class PathTable:
    """Relation paths of many questions, flat.

    Attributes:
        question: [P] int64 ascending, whose path it is.
        relations: [P, L] int32 numbers below R, or codes below 2R; NULL past the end of a path.
        offsets: [Q + 1] int64, first path of each question.
        complete: [Q] bool, False where `most_nodes` cut the steps from a hub short.
    """

    question: np.ndarray
    relations: np.ndarray
    offsets: np.ndarray
    complete: np.ndarray

    def of(self, question: int) -> np.ndarray:
        """[P, L] int32, the paths of one question."""
        return self.relations[self.offsets[question] : self.offsets[question + 1]]


def surrounding_paths(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    *,
    hops: int = 2,
    directed: bool = False,
    most_nodes: int = 20_000,
    batch_size: int = 64,
) -> PathTable:
    """All relation paths of up to L steps that leave the topics.

    Args:
        tensors: the graph.
        topics: topic nodes of each question.
        hops: L.
        directed: tell the two directions of a relation apart; else edges are walked either way.
        most_nodes: nodes whose relations are looked at, per question and step past the first.
        batch_size: questions a batch.

    Returns:
        Paths in order of question, then of relations, shorter first.
    """
    parts, complete = [], np.ones(len(topics), bool)
    for first in range(0, len(topics), batch_size):
        batch = topics[first : first + batch_size]
        rows, relations, whole = _of_batch(tensors, batch, hops, directed, most_nodes)
        complete[first : first + len(batch)] = whole
        parts.append((rows + first, relations))
    question = np.concatenate([rows for rows, _ in parts] or [np.zeros(0, np.int64)])
    relations = np.concatenate([table for _, table in parts] or [np.zeros((0, hops), np.int32)])
    offsets = np.searchsorted(question, np.arange(len(topics) + 1))
    return PathTable(question, relations, offsets, complete)


def _of_batch(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    hops: int,
    directed: bool,
    most_nodes: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    offsets = np.asarray(tensors.graph.offsets)
    run_offsets = np.asarray(tensors.graph.run_offsets)
    run_relation = np.asarray(tensors.graph.run_relation)
    size, nodes = tensors.graph.num_relations * (1 + directed), len(offsets)
    lengths = [len(set(own)) for own in topics]
    # Paths of this length, and the nodes each ends at: `path` is a row of `question`.
    question = np.arange(len(topics), dtype=np.int64)
    relations = np.zeros((len(topics), 0), np.int64)
    path = np.repeat(question, lengths)
    node = np.array([node for own in topics for node in dict.fromkeys(own)], np.int64)
    whole, tables = np.ones(len(topics), bool), []
    for hop in range(hops):
        if hop:
            few = _few(question, path, len(topics), most_nodes)
            whole &= np.bincount(question[path], minlength=len(topics)) <= most_nodes
            path, node = path[few], node[few]
        if hop + 1 < hops:
            edges, source = ranges(offsets[node], offsets[node + 1])
            step = path[source] * size + tensors.relation[edges] % size
            ends = np.unique(step * nodes + tensors.tail[edges])
            step, path = np.unique(ends // nodes, return_inverse=True)
            node = ends % nodes
        else:
            runs, source = ranges(run_offsets[node], run_offsets[node + 1])
            step = np.unique(path[source] * size + run_relation[runs] % size)
        before, code = step // size, step % size
        question, relations = question[before], np.c_[relations[before], code]
        rest = np.full((len(step), hops - hop - 1), NULL)
        tables.append(np.c_[question, relations, rest])
    table = np.concatenate(tables)
    table = table[np.lexsort(table.T[::-1])]
    return table[:, 0], table[:, 1:].astype(np.int32), whole


def _few(question: np.ndarray, path: np.ndarray, count: int, most: int) -> np.ndarray:
    """[K] bool: of questions with too many nodes, the first nodes of every path."""
    nodes = np.bincount(question[path], minlength=count)
    share = np.maximum(1, most // np.maximum(np.bincount(question, minlength=count), 1))
    place = np.arange(len(path)) - np.searchsorted(path, path)
    return (nodes[question[path]] <= most) | (place < share[question[path]])
