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

from jaxkg.candidates import Revisit, available, start
from jaxkg.score.hdc import Algebra
from jaxkg.score.hdc.similarity import Packed, inner, pack
from jaxkg.search.relation_beam import Beam, Scored, search_layers
from jaxkg.select import choose
from jaxkg.types import NULL, Graph


class Encoded(NamedTuple):
    """B questions as rows whose dot product with an encoded path is its similarity."""

    whole: jax.Array  # [B, L, F] float32, for paths of 1, 2, ... hops
    prefix: jax.Array  # [B, L - 1 or 0, F] float32, for the first 1, 2, ... hops of longer ones


class Nearest(NamedTuple):
    """The candidate paths of each question most similar to its query, best first."""

    relations: jax.Array  # [B, K, L] int32 codes, NULL past the end of a path and of the list
    similarity: jax.Array  # [B, K] float32, -inf where there are fewer than K
    needed: jax.Array  # [C] int32, slots wanted
    overflow: jax.Array  # [] bool
    visited: jax.Array  # [B, 2] int32 nodes and edges


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

    def block(_: None, schema_block: tuple[jax.Array, Packed]) -> tuple[None, jax.Array]:
        paths, rows = schema_block
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
    nearest = schemas.reshape(-1, schemas.shape[2])[place]
    relations = jnp.where(jnp.isneginf(score)[:, :, None], NULL, nearest)
    nothing = jnp.zeros((num_rows, 2), jnp.int32)  # relations are looked at, no edge is walked
    return Nearest(relations, score, needed[None], overflow, nothing)


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
    symbols = pack(jax.vmap(algebra.flatten)(table))
    guides = jnp.concatenate([query.prefix, query.whole[:, -1:]], axis=1)

    def continued(rows: jax.Array, paths: jax.Array) -> jax.Array:
        """[B, W, 2R] similarity of [B, F] queries to paths with every relation after them."""
        places = paths.shape[:2]
        rest = jnp.broadcast_to(rows[:, None], (*places, rows.shape[1]))
        rest = algebra.flatten(algebra.unbind_left(paths, algebra.unflatten(rest)))
        return inner(pack(rest.reshape(-1, rows.shape[1])), symbols).reshape(*places, -1)

    def score(beam: Beam, options: jax.Array) -> Scored:
        """The memo is the path, encoded; what a prefix is like takes the place of a sum."""
        if beam.memo is None:
            paths = jnp.broadcast_to(algebra.identity(), (*beam.score.shape, *algebra.shape))
        else:
            last = jnp.take(beam.relations, beam.hop - 1, axis=2)
            paths = algebra.bind(beam.memo, table[jnp.maximum(last, 0)])
        guide = continued(jnp.take(guides, beam.hop, axis=1), paths)
        nowhere = jnp.full((*beam.score.shape, 1), -jnp.inf)
        logits = jnp.concatenate([guide - beam.score[:, :, None], nowhere], axis=2)
        return Scored(logits, paths)

    layers, beam = search_layers(
        graph,
        start(row, node),
        score,
        num_questions=num_rows,
        width=width,
        hops=hops,
        capacities=(*capacities, 0, 0),  # what the last hop leads to is not looked at
        revisit=revisit,
        ends=False,
    )
    scores, paths = [], []
    for hop, layer in enumerate(layers):
        whole = continued(query.whole[:, hop], layer.scored.memo) * length_weight[hop]
        best = choose(jnp.where(layer.options, whole, -jnp.inf), width=keep)
        path = jnp.take_along_axis(layer.beam.relations, best.parent[:, :, None], axis=1)
        path = path.at[:, :, hop].set(best.action)
        scores.append(best.score)
        paths.append(jnp.where(best.valid[:, :, None], path, NULL))
    similarity, place = jax.lax.top_k(jnp.concatenate(scores, axis=1), keep)
    relations = jnp.take_along_axis(jnp.concatenate(paths, axis=1), place[:, :, None], axis=1)
    return Nearest(relations, similarity, beam.needed[:-2], beam.overflow, beam.visited)
