"""The steps of PathMind over arrays: prioritise entities, find walks to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Revisit, visits
from jaxkg.candidates.subgraph import Subgraphs
from jaxkg.kg import Topics
from jaxkg.learn.priority.subgraphs import prioritise
from jaxkg.ops import edges_to, top_in_group
from jaxkg.score.priority import Question, read_questions
from jaxkg.score.priority_params import PriorityParams
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL, Graph

Strategy: TypeAlias = Literal["important", "shortest", "random"]
"""Which walks are shown to a reasoner: the heaviest walks to the entities of highest priority, the
shortest walks to the same entities (as GNN-RAG has it), or random walks from the topics."""


class Prioritised(NamedTuple):
    """Entities of the subgraphs of a batch, one slot each; K slots."""

    row: jax.Array  # [K] int32 question
    node: jax.Array  # [K] int32
    logit: jax.Array  # [K] float32
    heaviest: jax.Array  # [K, L] int32 edges of the heaviest walk, NULL past its end
    shortest: jax.Array  # [K, L] int32 edges of a shortest walk
    valid: jax.Array  # [K] bool
    needed: jax.Array  # [2L] int32
    overflow: jax.Array  # [] bool
    walked: jax.Array  # [B] int32 edges of each subgraph, counted once a hop


@dataclasses.dataclass(frozen=True)
class Ranked:
    """Entities of all questions, by question and then by priority.

    Attributes:
        row: [K] int32 question.
        node: [K] int32.
        priority: [K] float32 in [0, 1].
        heaviest, shortest: [K, L] int32 edges of a walk to each, NULL past its end.
        offsets: [Q + 1] int64, first entry of each question.
        complete: [Q] bool, False where the subgraph outgrew the largest bucket.
        walked: [Q] integers, edges of each subgraph, counted once a hop; None where nobody counted.
    """

    row: np.ndarray
    node: np.ndarray
    priority: np.ndarray
    heaviest: np.ndarray
    shortest: np.ndarray
    offsets: np.ndarray
    complete: np.ndarray
    walked: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Ranking:
    """What `PathMind.rank` finds of some questions.

    Attributes:
        topics: of each question.
        masked: each question, its topics masked.
        ranked: the entities around the topics.
        whole: the same with nodes that have no name of their own.
        seconds: that linking and ranking took.
    """

    topics: list[Topics]
    masked: list[str]
    ranked: Ranked
    whole: Ranked
    seconds: tuple[float, float]


def heaviest_walks(
    sub: Subgraphs, question: Question, relation: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The heaviest and a shortest walk to every entity, out of back-pointers.

    The weight of a walk is the product of its relations' weights and that of its length. At every
    hop each node remembers the edge by which its heaviest walk came (Viterbi).

    Args:
        sub: subgraphs of B questions.
        question: from `read_questions`.
        relation: [E] int32 relation code of each edge of the graph.

    Returns:
        Two [sum of F, L] int32 edges, to be read where `sub.is_entity`; NULL past a walk's end.
    """
    best = jnp.where(sub.place[0] == NULL, -jnp.inf, 0.0)
    trail, ends = [sub.trail[0]], []
    for hop, (level, place) in enumerate(zip(sub.trail[1:], sub.place[1:])):
        size = place.shape[0]
        code = jnp.where(level.valid, relation[level.edge], 0)
        score = best[level.parent] + jnp.log(question.weight[level.row, hop, code] + 1e-30)
        valid = level.valid & jnp.isfinite(score)
        group = jnp.maximum(place, 0)
        entered = top_in_group(group, score, valid, num_groups=size, k=1)[:, 0]
        by = jnp.maximum(entered, 0)
        best = jnp.where(entered == NULL, -jnp.inf, score[by])
        trail.append(level._replace(edge=level.edge[by], parent=level.parent[by]))
        length = jnp.log(question.length[level.row, hop] + 1e-30)
        ends.append(best + jnp.where(jnp.isfinite(best), length, 0.0))
    score = jnp.concatenate(ends)
    hop = jnp.concatenate(
        [jnp.full(level.row.shape, n, jnp.int32) for n, level in enumerate(trail) if n]
    )
    slot = jnp.concatenate([jnp.arange(level.row.shape[0], dtype=jnp.int32) for level in trail[1:]])
    known = (sub.entity != NULL) & jnp.isfinite(score)
    chosen = top_in_group(jnp.maximum(sub.entity, 0), score, known, num_groups=score.shape[0], k=1)[
        :, 0
    ]
    index = jnp.maximum(chosen, 0)
    heaviest = edges_to(trail, hop[index], jnp.where(chosen == NULL, NULL, slot[index]))
    # An entity's own slot lies in the first layer that has it.
    return heaviest, edges_to(sub.trail, hop, slot)


@partial(jax.jit, static_argnames=("capacities", "revisit", "walk_weights", "mass"))
def prioritise_batch(
    graph: Graph,
    params: PriorityParams,
    states: jax.Array,
    labels: tuple[jax.Array, jax.Array],
    topics: tuple[jax.Array, jax.Array],
    asked: tuple[jax.Array, jax.Array],
    *,
    walk_weights: bool = True,
    **options: Any,
) -> Prioritised:
    """Subgraphs, priorities and walks of one padded batch.

    Args:
        graph, params, states: see `prioritise`.
        labels: n-grams and text vectors of the relations' labels.
        topics: row and node of each topic.
        asked: n-grams and text vectors of the questions.
        walk_weights: see `read_questions`.
        options: those of `prioritise`.
    """
    question = read_questions(params, *asked, *labels, walk_weights=walk_weights)
    sub, logit = prioritise(graph, params, states, question, *topics, fan_out=None, **options)
    heaviest, shortest = heaviest_walks(sub, question, graph.relation)
    # Unlike elsewhere a slot is valid for every edge, see `Subgraphs`.
    walked = sum(visits(level, num_rows=len(asked[1]))[:, 0] for level in sub.trail[1:])
    return Prioritised(
        sub.row,
        sub.node,
        logit,
        heaviest,
        shortest,
        sub.is_entity,
        sub.needed,
        sub.overflow,
        jnp.asarray(walked),
    )


def grown_walks(
    whole: Ranked,
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    *,
    keep: int,
    iterations: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walks that grow by one triple an iteration, as published.

    Every iteration takes the K entities of highest priority among the neighbours of those taken in
    the one before, no entity twice; each brings the walk that led to it and one triple more. On the
    way are entities that the published loss teaches the model to call wrong.

    Args:
        whole: every entity that has a priority.
        tensors: the graph.
        topics: topic nodes of each question.
        keep, iterations: K, T; at most K T walks a question.

    Returns:
        [P] int32 question of each walk, ascending; [P, T] int32 edges; [P] float32 score, the
        priority of the entity it ends in.

    Reference: PathMind, "Learning".
    """
    offsets = np.asarray(tensors.graph.offsets)
    row: list[int] = []
    walks: list[list[int]] = []
    score: list[float] = []
    for question, nodes in enumerate(topics):
        mine = slice(int(whole.offsets[question]), int(whole.offsets[question + 1]))
        priority = dict(zip(whole.node[mine].tolist(), whole.priority[mine].tolist()))
        led: dict[int, list[int]] = {node: [] for node in nodes}
        front = list(led)
        for _ in range(iterations):
            reached: dict[int, list[int]] = {}
            for node in front:
                for edge in range(int(offsets[node]), int(offsets[node + 1])):
                    tail = int(tensors.tail[edge])
                    if tail in priority and tail not in led:
                        reached.setdefault(tail, [*led[node], edge])
            front = sorted(reached, key=lambda node: (-priority[node], node))[:keep]
            led |= {node: reached[node] for node in front}
            row += [question] * len(front)
            walks += [led[node] for node in front]
            score += [priority[node] for node in front]
    table = np.full((len(walks), iterations), NULL, np.int32)
    for place, walk in enumerate(walks):
        table[place, : len(walk)] = walk
    return np.array(row, np.int32), table, np.array(score, np.float32)


def random_walks(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    *,
    hops: int,
    count: int,
    revisit: Revisit = "topic",
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walks of 1 to L edges, each edge drawn evenly among those of the node.

    Returns [P] int32 question of each walk, [P, L] int32 edges, and [P] float32 score, which is 1 /
    the place of a walk. Equal walks of a question come once; a walk that has nowhere to go ends
    there, and one may return to a topic where `revisit` is "any".
    """
    rng = np.random.default_rng(seed)
    offsets = np.asarray(tensors.graph.offsets)
    asked = [row for row, nodes in enumerate(topics) if len(nodes)]
    row = np.repeat(np.array(asked, np.int32), count)
    node = np.array([rng.choice(topics[r], count) for r in asked], np.int64).ravel()
    length = rng.integers(1, hops + 1, len(row))
    barred = (
        {(r, n) for r, nodes in enumerate(topics) for n in nodes} if revisit != "any" else set()
    )
    edges = np.full((len(row), hops), NULL, np.int32)
    open_ = np.ones(len(row), bool)
    for hop in range(hops):
        degree = offsets[node + 1] - offsets[node]
        open_ &= (hop < length) & (degree > 0)
        edge = offsets[node] + rng.integers(0, np.maximum(degree, 1))
        tail = tensors.tail[np.where(open_, edge, 0)]
        open_ &= np.array([pair not in barred for pair in zip(row.tolist(), tail.tolist())], bool)
        edges[open_, hop] = edge[open_]
        node = np.where(open_, tail, node)
    walked = np.flatnonzero(edges[:, 0] != NULL)
    _, first = np.unique(np.c_[row[walked], edges[walked]], axis=0, return_index=True)
    walks = walked[np.sort(first)]
    place = np.arange(len(walks)) - np.searchsorted(row[walks], row[walks])
    return row[walks], edges[walks], (1 / (1 + place)).astype(np.float32)
