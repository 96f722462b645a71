"""Relation paths grown step by step by a model of what a question asks for next. Host.

A step is a relation below R, walked either way. At every step only relations that leave the nodes
reached are on offer, so every path exists; it is as probable as its steps and its end are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from jaxkg.kg.neighbourhood import spread
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL


class StepScorer(Protocol):
    """Scores of the next relation, for B branches of a batch; the last column is the end's."""

    def begin(self) -> tuple[np.ndarray, np.ndarray]:
        """[B, D] states of empty paths and [B, R + 1] float32 logits."""
        ...

    def go_on(
        self, branch: np.ndarray, state: np.ndarray, relation: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `begin`, of P paths after one more relation: of which branch, from which state."""
        ...


@dataclasses.dataclass(frozen=True)
class SteppedPaths:
    """Relation paths of each branch, best first.

    Attributes:
        relations: [B, W, L] int32 below R, NULL past the end of a path and of the list.
        score: [B, W] float32 log-probabilities, -inf where there are fewer than W.
        complete: [B] bool, False where `most_nodes` cut the nodes of a path short.
    """

    relations: np.ndarray
    score: np.ndarray
    complete: np.ndarray


class _HostGraph:
    """Runs of edges by node and relation, either way."""

    def __init__(self, tensors: TensorGraph) -> None:
        graph = tensors.graph
        self.size = graph.num_relations
        self.offsets = np.asarray(graph.run_offsets).astype(np.int64)
        self.codes = np.asarray(graph.run_relation)
        self.begins = np.asarray(graph.run_start).astype(np.int64)
        self.tail = tensors.tail
        counts = np.diff(self.offsets)
        used = int(self.offsets[-1])
        self.keys = np.repeat(np.arange(len(counts)), counts) * 2 * self.size + self.codes[:used]

    def leaving(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Relations that leave nodes: (place among the nodes, relation), end to end."""
        runs, place = ranges(self.offsets[node], self.offsets[node + 1])
        return place, self.codes[runs] % self.size

    def walk(self, node: np.ndarray, relation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the edges of one relation from each node: (place among the nodes, end)."""
        places, ends = [], []
        for code in (relation, relation + self.size):
            key = node * 2 * self.size + code
            slot = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            there = self.keys[slot] == key
            edges, place = ranges(
                np.where(there, self.begins[slot], 0), np.where(there, self.begins[slot + 1], 0)
            )
            places.append(place)
            ends.append(self.tail[edges])
        return np.concatenate(places), np.concatenate(ends)


def ranges(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers first[i] ... last[i] - 1 one after the other, and the i of each.

    >>> [part.tolist() for part in ranges(np.array([3, 7]), np.array([5, 8]))]
    [[3, 4, 7], [0, 0, 1]]
    """
    return spread(first, last), np.repeat(np.arange(len(first)), last - first)


def step_paths(
    tensors: TensorGraph,
    branches: Sequence[Sequence[int]],
    scorer: StepScorer,
    *,
    hops: int,
    width: int,
    most_nodes: int = 4000,
) -> SteppedPaths:
    """The most probable relation paths of each branch, by a beam.

    Args:
        tensors: the graph.
        branches: nodes that each of B branches starts from; its paths return to none of them.
        scorer: of these branches.
        hops: L, steps at most.
        width: W, paths kept at every step and in the end.
        most_nodes: nodes of a path that the next step leaves, the first ones.

    Reference: Zhang et al., "Subgraph retrieval enhanced model for multi-hop knowledge base
    question answering", 2022, Eq. 4-5, for whole batches.
    """
    graph, count = _HostGraph(tensors), len(branches)
    size, nodes = graph.size, len(graph.offsets)
    barred = np.array(
        sorted(row * nodes + node for row, branch in enumerate(branches) for node in set(branch)),
        np.int64,
    )
    state, logits = scorer.begin()
    state, logits = state[:count], logits[:count]
    branch, score = np.arange(count), np.zeros(count, np.float32)
    paths = np.zeros((count, 0), np.int32)
    path, node = barred // nodes, barred % nodes
    complete, ended = np.ones(count, bool), []
    for hop in range(hops + 1):
        offered = np.zeros((len(branch), size + 1), bool)
        offered[:, size] = hop > 0
        if hop < hops:
            place, relation = graph.leaving(node)
            offered[path[place], relation] = True
        gain = _log_shares(logits, offered)
        if hop:
            rest = np.full((len(paths), hops - hop), NULL, np.int32)
            ended.append((branch, score + gain[:, size], np.c_[paths, rest]))
        if hop == hops:
            break
        parent, relation = np.nonzero(offered[:, :size])
        total = score[parent] + gain[parent, relation]
        best = _best(branch[parent], total, width)
        parent, relation, total = parent[best], relation[best], total[best]
        # Nodes of each new path, each once; a path that reaches nothing new is none.
        first = np.searchsorted(path, np.arange(len(branch) + 1))
        copied, new = ranges(first[parent], first[parent + 1])
        source, ends = graph.walk(node[copied], relation[new])
        of, ends = np.unique(np.stack([new[source], ends.astype(np.int64)]), axis=1)
        inside = ~np.isin(branch[parent[of]] * nodes + ends, barred)
        of, ends = of[inside], ends[inside]
        few = np.arange(len(of)) - np.searchsorted(of, of) < most_nodes
        complete[branch[parent[of[~few]]]] = False
        alive, path = np.unique(of[few], return_inverse=True)
        node, parent = ends[few], parent[alive]
        if len(alive) == 0:
            break
        branch, score = branch[parent], total[alive]
        paths = np.c_[paths[parent], relation[alive]].astype(np.int32)
        state, logits = scorer.go_on(branch, state[parent], paths[:, -1])
    branch, score, paths = (
        np.concatenate(column)
        for column in zip(
            (np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros((0, hops), np.int32)), *ended
        )
    )
    best = _best(branch, score, width)
    place = np.arange(len(best)) - np.searchsorted(branch[best], branch[best])
    relations = np.full((count, width, hops), NULL, np.int32)
    scores = np.full((count, width), -np.inf, np.float32)
    relations[branch[best], place], scores[branch[best], place] = paths[best], score[best]
    return SteppedPaths(relations, scores, complete)


def _log_shares(logits: np.ndarray, offered: np.ndarray) -> np.ndarray:
    """[P, R + 1] log-probabilities among what is offered, -inf elsewhere."""
    masked = np.where(offered, logits, -np.inf)
    most = np.max(masked, axis=1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    total = np.sum(np.exp(masked - most), axis=1, keepdims=True)
    return (masked - most - np.log(np.maximum(total, 1e-30))).astype(np.float32)


def _best(group: np.ndarray, score: np.ndarray, most: int) -> np.ndarray:
    """The rows with the highest scores of each group, best first, groups in ascending order."""
    order = np.lexsort((-score, group))
    place = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    return order[place < most]
