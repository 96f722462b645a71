"""Relation paths nearest to a query hypervector, a batch of questions at a time.

Two ways to enumerate candidates. `retrieve_listed` compares every path of a small relation-schema
graph, encoded once, in one matrix product. `retrieve_grown` walks the graph itself hop by hop with
a beam, for graphs with too many schemas to list; it never encodes a path: the query is unbound by
what a beam has walked and compared with all relations.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.candidates import Revisit, advance, available, start
from jaxkg.score.hdc import Algebra
from jaxkg.score.hdc.similarity import Packed, inner, pack
from jaxkg.systems.pathhd.queries import Encoded
from jaxkg.types import NULL, Graph


class Nearest(NamedTuple):
    """The candidate paths of each question most similar to its query, best first."""

    relations: jax.Array  # [B, K, L] int32 codes, NULL past the end of a path and of the list
    similarity: jax.Array  # [B, K] float32, -inf where there are fewer than K
    needed: jax.Array  # [C] int32, slots wanted
    overflow: jax.Array  # [] bool


@functools.partial(jax.jit, static_argnames=("num_rows", "keep", "precision", "capacities"))
def retrieve_listed(
    graph: Graph,
    row: jax.Array,
    node: jax.Array,
    query: Encoded,
    length_weight: jax.Array,
    schemas: jax.Array,
    encoded: Packed,
    *,
    num_rows: int,
    keep: int,
    capacities: tuple[int, ...],
    precision: str = "float32",
) -> Nearest:
    """The best of a list of schemas that begin with a relation of the topic.

    A block of schemas that no topic of the batch can begin is passed over.

    Args:
        graph: padded tensors.
        row, node: [S] int32 topics.
        query: B questions.
        length_weight: [L] float32, factor of the similarity of 1, 2, ... hops.
        schemas: [C, N, L] int32 relation paths in C blocks, those of a block of one length; rows
            of NULL are padding.
        encoded: their [C, N] hypervectors, flattened.
        num_rows, keep: B, K <= C N; static.
        capacities: one number, slots for the topics' relations; static.
        precision: of `encoded`; static.

    Returns:
        Paths of the relation-schema graph: each exists somewhere in the graph, not necessarily from
        the topic.
    """
    starts = start(row, node)
    leaves, needed, overflow = available(graph, starts, num_rows=num_rows, capacity=capacities[0])

    def block(_: None, some: tuple[jax.Array, Packed]) -> tuple[None, jax.Array]:
        paths, rows = some
        first = paths[:, 0]
        allowed = leaves[:, jnp.maximum(first, 0)] & (first != NULL)[None]
        hop = jnp.maximum(jnp.sum(paths[0] != NULL) - 1, 0)

        def compared() -> jax.Array:
            score = inner(pack(query.whole[:, hop], precision), rows) * length_weight[hop]
            return jnp.where(allowed, score, -jnp.inf)

        nothing = jnp.full(allowed.shape, -jnp.inf)
        return None, jax.lax.cond(jnp.any(allowed), compared, lambda: nothing)

    _, score = jax.lax.scan(block, None, (schemas, encoded))
    score, place = jax.lax.top_k(jnp.swapaxes(score, 0, 1).reshape(num_rows, -1), keep)
    found = schemas.reshape(-1, schemas.shape[2])[place]
    relations = jnp.where(jnp.isneginf(score)[:, :, None], NULL, found)
    return Nearest(relations, score, needed[None], overflow)


@functools.partial(
    jax.jit,
    static_argnames=(
        "algebra", "num_rows", "width", "keep", "capacities", "revisit",
    ),
)  # fmt: skip
def retrieve_grown(
    graph: Graph,
    row: jax.Array,
    node: jax.Array,
    algebra: Algebra,
    table: jax.Array,
    query: Encoded,
    length_weight: jax.Array,
    *,
    num_rows: int,
    width: int,
    keep: int,
    capacities: tuple[int, ...],
    revisit: Revisit = "topic",
) -> Nearest:
    """The best of the paths that a beam finds in the graph, from the topics on.

    Of each length the `width` paths nearest to what a prefix of that length should be are walked
    on; every continuation of every one of them is a candidate and is scored whole.

    Args:
        graph: padded tensors.
        row, node: [S] int32 topics.
        algebra: isometric; static.
        table: [2R, *shape] symbols.
        query: B questions.
        length_weight: [L] float32, factor of the similarity of 1, 2, ... hops.
        num_rows, width, keep: B, beam width, K; static.
        capacities: 3L - 2 slots, for runs, and between hops for copied nodes and walked edges, in
            that order; static.
        revisit: see `candidates.advance`; static.

    Returns:
        Paths that exist from a topic; the last hop of one may lead but back to it.

    Reference: PathHD, Sec. 2.4, "constrained BFS with beam width B".
    """
    hops = query.whole.shape[1]
    starts = frontier = start(row, node)
    paths = jnp.full((num_rows, 1, hops), NULL, jnp.int32)
    alive = jnp.ones((num_rows, 1), bool)
    best = jnp.full((num_rows, keep), -jnp.inf), jnp.full((num_rows, keep, hops), NULL, jnp.int32)
    needed, full = [], jnp.zeros((), bool)
    slots = list(capacities)

    for hop in range(hops):
        options, wanted, overflow = available(
            graph, frontier, num_rows=alive.size, capacity=slots.pop(0)
        )
        needed, full = [*needed, wanted], full | overflow
        options = options.reshape(*alive.shape, -1) & alive[:, :, None]
        score = (
            _continued(algebra, table, query.whole[:, hop], paths[:, :, :hop]) * length_weight[hop]
        )
        best = _keep(best, jnp.where(options, score, -jnp.inf), paths, hop)
        if hop == hops - 1:
            break
        guide = _continued(algebra, table, query.prefix[:, hop], paths[:, :, :hop])
        value, parent, relation = _best_of(jnp.where(options, guide, -jnp.inf), width)
        alive = jnp.isfinite(value)
        relation = jnp.where(alive, relation, NULL)
        paths = jnp.take_along_axis(paths, parent[:, :, None], axis=1).at[:, :, hop].set(relation)
        question = jnp.arange(num_rows, dtype=jnp.int32)[:, None]
        frontier, walked = advance(
            graph,
            frontier,
            starts,
            (question * options.shape[1] + parent).ravel(),
            relation.ravel(),
            rows_per_question=width,
            capacities=(slots.pop(0), slots.pop(0)),
            revisit=revisit,
        )
        needed, full = [*needed, walked[0], walked[1]], full | frontier.overflow
    return Nearest(best[1], best[0], jnp.stack(needed), full)


def _continued(algebra: Algebra, table: jax.Array, rows: jax.Array, paths: jax.Array) -> jax.Array:
    """[B, W, 2R] similarity of [B, F] queries to [B, W, H] paths with every relation after them."""
    rest = jnp.broadcast_to(rows[:, None], (*paths.shape[:2], rows.shape[1]))
    rest = algebra.unflatten(rest)
    for hop in range(paths.shape[2]):
        rest = algebra.unbind_left(table[jnp.maximum(paths[:, :, hop], 0)], rest)
    unbound = algebra.flatten(rest).reshape(-1, rows.shape[1])
    score = inner(pack(unbound), pack(jax.vmap(algebra.flatten)(table)))
    return score.reshape(*paths.shape[:2], -1)


def _best_of(score: jax.Array, count: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The best of each [W, N] table: value, row and column, [B, count] each."""
    batch, _, columns = score.shape
    flat = score.reshape(batch, -1)
    short = max(0, count - flat.shape[1])
    flat = jnp.pad(flat, ((0, 0), (0, short)), constant_values=-jnp.inf)
    value, place = jax.lax.top_k(flat, count)
    place = jnp.where(jnp.isneginf(value), 0, place)
    return value, place // columns, place % columns


def _keep(
    best: tuple[jax.Array, jax.Array],
    score: jax.Array,
    paths: jax.Array,
    hop: int,
) -> tuple[jax.Array, jax.Array]:
    """Merge the continuations of all paths into the best whole paths so far."""
    keep = best[0].shape[1]
    value, parent, relation = _best_of(score, keep)
    longer = jnp.take_along_axis(paths, parent[:, :, None], axis=1).at[:, :, hop].set(relation)
    longer = jnp.where(jnp.isneginf(value)[:, :, None], NULL, longer)
    value, order = jax.lax.top_k(jnp.concatenate([best[0], value], axis=1), keep)
    relations = jnp.concatenate([best[1], longer], axis=1)
    return value, jnp.take_along_axis(relations, order[:, :, None], axis=1)
