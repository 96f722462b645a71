"""What an edge scorer learns from: the search states along right relation paths.

Right paths are mined from answers. Several paths often give the same answers by accident; which one
a question means is told by the questions worded alike: the accident differs among them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
import scipy.sparse as sp

from jaxkg.candidates import Revisit, fit, follow, start
from jaxkg.learn.mine import MinedPaths
from jaxkg.tensors import Capacities, TensorGraph, batch_starts, bucket, pad, stream
from jaxkg.types import NULL, Fit, Frontier, inverse_code

_WORDINGS, _TEMPERATURE = 16, 0.05
"""Distinct wordings that vote; a vote loses exp((cosine - 1) / temperature)."""
_SLACK = 0.05
"""Paths whose F1 is this close to the question's best are candidates."""
_BLOCK = 1024


@dataclasses.dataclass(frozen=True)
class EdgeStates:
    """Search states along right paths: where the search is and which relation is right next.

    Attributes:
        question: [S] int32.
        hop: [S] int32, hops taken.
        relation: [S] int32 code that is right.
        offsets: [S + 1] int64, first node of each state.
        nodes: [K] int32.
        targets: [G, 3] int64 ascending (question, hop, node), targets from which the rest of the
            path leads to an answer: the only right ones. None calls every target of the right
            relation right.
    """

    question: np.ndarray
    hop: np.ndarray
    relation: np.ndarray
    offsets: np.ndarray
    nodes: np.ndarray
    targets: np.ndarray | None = None


class EdgeBatch(NamedTuple):
    """S states of a training step, and F edges that leave from them."""

    question: np.ndarray  # [S] int32
    hop: np.ndarray  # [S] int32
    node: np.ndarray  # [S] int32, the one its edges leave from
    state: np.ndarray  # [F] int32
    relation: np.ndarray  # [F] int32 code
    target: np.ndarray  # [F] int32
    right: np.ndarray  # [F] bool
    valid: np.ndarray  # [F] bool


def agreed_paths(mined: MinedPaths, texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """The mined path of each question that questions worded alike agree on.

    Args:
        mined: paths of Q questions.
        texts: their masked texts.
        vectors: [Q, D] float32 of length 1, of those texts.

    Returns:
        [Q, L] int32 codes, NULL where a question has no path.
    """
    count, keep, hops = mined.relations.shape
    best = mined.f1.max(axis=1, initial=0.0)
    good = (mined.f1 > 0) & (mined.f1 >= best[:, None] - _SLACK)
    flat, place = np.unique(mined.relations.reshape(-1, hops), axis=0, return_inverse=True)
    place = place.reshape(count, keep)
    wordings, first, wording = np.unique(list(texts), return_index=True, return_inverse=True)
    who, which = np.nonzero(good)
    shape = (len(wordings), len(flat))
    votes = sp.csr_matrix(
        (mined.f1[who, which], (wording[who], place[who, which])), shape=shape, dtype=np.float64
    )
    asked = np.bincount(wording[best > 0], minlength=len(wordings))
    votes = sp.diags(1 / np.maximum(asked, 1)) @ votes
    kernel = _kernel(vectors[first])
    # Few questions of a wording say little, so they weigh less than many.
    weight = sp.diags(np.sqrt(asked))
    agreed = sp.csr_matrix(kernel @ weight @ votes)
    support = np.zeros((count, keep))
    support[who, which] = np.asarray(agreed[wording[who], place[who, which]]).ravel()
    chosen = np.take_along_axis(mined.relations, support.argmax(axis=1)[:, None, None], axis=1)
    return np.where((best > 0)[:, None], chosen[:, 0], NULL).astype(np.int32)


def _kernel(vectors: np.ndarray) -> sp.csr_matrix:
    """[V, V] weights of each wording's nearest ones, itself among them."""
    size = len(vectors)
    keep = min(_WORDINGS, size)
    rows, columns, weights = [], [], []
    for begin in range(0, size, _BLOCK):
        cosine = vectors[begin : begin + _BLOCK] @ vectors.T
        near = np.argpartition(-cosine, keep - 1, axis=1)[:, :keep]
        rows.append(np.repeat(np.arange(begin, begin + len(cosine)), keep))
        columns.append(near.ravel())
        close = np.take_along_axis(cosine, near, axis=1).ravel()
        weights.append(np.exp((np.minimum(close, 1) - 1) / _TEMPERATURE))
    parts = (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns)))
    return sp.csr_matrix(parts, shape=(size, size))


@functools.partial(jax.jit, static_argnames=("capacities", "revisit"))
def _follow(graph, row, node, relations, *, capacities, revisit) -> Fit[tuple[Frontier, ...]]:
    trail = follow(graph, start(row, node), relations, capacities=capacities, revisit=revisit)
    return fit(trail, trail)


def states_along(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    paths: np.ndarray,
    *,
    revisit: Revisit = "topic",
    most_nodes: int = 64,
) -> EdgeStates:
    """The states that lead along one right path of each question.

    Args:
        tensors: the graph.
        topics: topic nodes of each question.
        paths: [Q, L] int32 codes, NULL past the end; a question without a path has no state.
        revisit: which nodes a path may return to.
        most_nodes: nodes kept of a state.
    """
    count, hops = paths.shape
    batch_size = min(_BLOCK, bucket(count))
    starts = batch_starts(topics, batch_size)

    def run(indices: np.ndarray, slots: tuple[int, ...]):
        rows = bucket(batch_size)
        row, node = starts(indices)
        table = pad(paths[indices], rows)[:, :, None]
        return _follow(tensors.graph, row, node, table, capacities=slots, revisit=revisit)

    capacities = Capacities(slots=tuple(bucket(batch_size << (hop + 1)) for hop in range(hops)))
    question, hop, nodes = [], [], []
    for indices, batch, _ in stream(count, batch_size, run, capacities):
        for taken, frontier in enumerate(batch.value[:hops]):
            there = np.flatnonzero(frontier.valid)
            there = there[np.argsort(frontier.row[there], kind="stable")]
            rows = frontier.row[there]
            rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
            there, rows = there[rank < most_nodes], indices[rows[rank < most_nodes]]
            on = paths[rows, taken] != NULL
            question.append(rows[on])
            hop.append(np.full(int(on.sum()), taken))
            nodes.append(frontier.node[there[on]])
    questions = np.concatenate(question or [np.zeros(0, int)])
    taken = np.concatenate(hop or [np.zeros(0, int)])
    key = questions.astype(np.int64) * hops + taken
    order = np.argsort(key, kind="stable")
    distinct, first = np.unique(key[order], return_index=True)
    whose, hop = (distinct // hops).astype(np.int32), (distinct % hops).astype(np.int32)
    return EdgeStates(
        question=whose,
        hop=hop,
        relation=paths[whose, hop],
        offsets=np.append(first, len(key)),
        nodes=np.concatenate(nodes or [np.zeros(0, np.int32)])[order].astype(np.int32),
    )


def right_targets(
    tensors: TensorGraph, answers: Sequence[Sequence[int]], paths: np.ndarray
) -> np.ndarray:
    """The nodes on right paths, hop by hop: those from which what is left leads to an answer.

    They are found by following the path back from the answers.

    Args:
        tensors: the graph.
        answers: nodes of each question.
        paths: [Q, L] int32 codes, NULL past the end.

    Returns:
        [G, 3] int64 (question, hops taken before the edge, target), ascending.

    Reference: Shrestha and Kim, Sec. III-B.2.
    """
    length = np.sum(paths != NULL, axis=1)
    place = length[:, None] - 1 - np.arange(paths.shape[1])
    back = np.take_along_axis(paths, np.maximum(place, 0), axis=1)
    back = np.where(place >= 0, inverse_code(back, tensors.graph.num_relations), NULL)
    back = back.astype(np.int32)
    states = states_along(tensors, answers, back, revisit="any", most_nodes=1 << 20)
    state = np.repeat(np.arange(len(states.question)), np.diff(states.offsets))
    question = states.question[state].astype(np.int64)
    hop = length[question] - 1 - states.hop[state]
    return np.unique(np.stack([question, hop, states.nodes], axis=1), axis=0)


def draw_edges(
    tensors: TensorGraph, states: EdgeStates, size: int, draw: np.random.Generator
) -> EdgeBatch:
    """Edges for a training step: one of every relation at a random node of random states.

    The search compares means per relation, so every relation of a node weighs the same, however
    many edges it has.

    Args:
        tensors: the graph.
        states: to draw from.
        size: F, edges of F / 4 states (rounded up); more are cut off, fewer padded.
        draw: of states, nodes and edges.
    """
    run_offsets = np.asarray(tensors.graph.run_offsets)
    run_start = np.asarray(tensors.graph.run_start)
    drawn = draw.integers(0, len(states.question), -(-size // 4))
    lengths = np.diff(states.offsets)[drawn]
    node = states.nodes[
        states.offsets[drawn] + (draw.random(len(drawn)) * lengths).astype(np.int64)
    ]
    count = run_offsets[node + 1] - run_offsets[node]
    state = np.repeat(np.arange(len(drawn), dtype=np.int32), count)[:size]
    begins = np.cumsum(count) - count
    run = (run_offsets[node] - begins)[state] + np.arange(len(state))
    edges = run_start[run + 1] - run_start[run]
    edge = run_start[run] + (draw.random(len(run)) * edges).astype(np.int64)
    relation, target = tensors.relation[edge], tensors.tail[edge]
    right = relation == states.relation[drawn[state]]
    if states.targets is not None:
        of = np.stack([states.question[drawn[state]], states.hop[drawn[state]], target], axis=1)
        right &= _among(of, states.targets)
    columns = (state, relation, target, right, np.ones(len(state), bool))
    padded = (pad(column, size) for column in columns)
    return EdgeBatch(states.question[drawn], states.hop[drawn], node, *padded)


def _among(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """[F] bool: which of [F, 3] rows are among [G, 3]."""
    both = np.concatenate([table, rows.astype(np.int64)])
    _, place = np.unique(both, axis=0, return_inverse=True)
    place = place.ravel()
    return np.isin(place[len(table) :], place[: len(table)])
