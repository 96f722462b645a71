"""The relation paths around topics, for graphs whose schema is too large to score whole.

A step may be walked from either end, as question sets over Freebase write their paths, so a step is
a relation's number below R and not one of 2R codes. Host arrays: what is ragged here becomes flat
columns, and only those go to the device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class PathTable:
    """Relation paths of many questions, flat.

    Attributes:
        question: [P] int64 ascending, whose path it is.
        relations: [P, 2] int32 numbers below R, NULL where a path has one step.
        offsets: [Q + 1] int64, first path of each question.
        complete: [Q] bool, False where `most_nodes` cut a hub's second step short.
    """

    question: np.ndarray
    relations: np.ndarray
    offsets: np.ndarray
    complete: np.ndarray

    def of(self, question: int) -> np.ndarray:
        """[P, 2] int32, the paths of one question."""
        return self.relations[self.offsets[question] : self.offsets[question + 1]]


def surrounding_paths(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    *,
    hops: int = 2,
    most_nodes: int = 20_000,
    batch_size: int = 64,
) -> PathTable:
    """All relation paths of one or two steps that leave the topics, either way along each edge.

    Args:
        tensors: the graph.
        topics: topic nodes of each question.
        hops: 1 or 2.
        most_nodes: nodes one step away whose own relations are looked at, per question.
        batch_size: questions a batch.

    Returns:
        Paths in order of question, then of relations, shorter first.
    """
    graph = tensors.graph
    tables = (
        np.asarray(graph.offsets),
        np.asarray(graph.run_offsets),
        np.asarray(graph.run_relation),
    )
    parts, complete = [], np.ones(len(topics), bool)
    for first in range(0, len(topics), batch_size):
        some = topics[first : first + batch_size]
        rows, relations, whole = _of_batch(tensors, tables, some, hops, most_nodes)
        complete[first : first + len(some)] = whole
        parts.append((rows + first, relations))
    question = np.concatenate([rows for rows, _ in parts] or [np.zeros(0, np.int64)])
    relations = np.concatenate([found for _, found in parts] or [np.zeros((0, 2), np.int32)])
    offsets = np.searchsorted(question, np.arange(len(topics) + 1))
    return PathTable(question, relations, offsets, complete)


def _of_batch(
    tensors: TensorGraph,
    tables: tuple[np.ndarray, np.ndarray, np.ndarray],
    topics: Sequence[Sequence[int]],
    hops: int,
    most_nodes: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    offsets, run_offsets, run_relation = tables
    size, nodes = tensors.graph.num_relations, len(offsets)
    lengths = [len(set(some)) for some in topics]
    row = np.repeat(np.arange(len(topics), dtype=np.int64), lengths)
    start = np.array([node for some in topics for node in dict.fromkeys(some)], np.int64)
    edges, source = _ranges(offsets[start], offsets[start + 1])
    step = (row[source] * size + tensors.relation[edges] % size) * nodes + tensors.tail[edges]
    reached = np.unique(step)
    key, node = reached // nodes, reached % nodes
    ones = np.unique(key)
    found = [np.stack([ones // size, ones % size, np.full(len(ones), NULL)], axis=1)]
    whole = np.ones(len(topics), bool)
    if hops > 1:
        # Every node counts once in its path; where there are too many, the first of each path stay.
        count = np.bincount(key // size, minlength=len(topics))
        whole = count <= most_nodes
        if not whole.all():
            place = np.arange(len(key)) - np.searchsorted(key, key)
            paths = np.bincount(ones // size, minlength=len(topics))
            share = np.maximum(1, most_nodes // np.maximum(paths, 1))
            few = whole[key // size] | (place < share[key // size])
            key, node = key[few], node[few]
        runs, source = _ranges(run_offsets[node], run_offsets[node + 1])
        twos = np.unique(key[source] * size + run_relation[runs] % size)
        found.append(np.stack([twos // size**2, twos // size % size, twos % size], axis=1))
    table = np.concatenate(found)
    table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
    return table[:, 0], table[:, 1:].astype(np.int32), whole


def _ranges(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers first[i] … last[i] - 1 one after the other, and the i of each."""
    lengths = (last - first).astype(np.int64)
    source = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum(lengths) - lengths
    return first[source] + np.arange(len(source)) - begins[source], source
