"""Query hypervectors of a batch of questions: from plans, from their text, or given."""

from __future__ import annotations

import functools
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.score.hdc import Algebra, encode_bundle, symbols_at
from jaxkg.score.hdc.similarity import query_rows
from jaxkg.search.hypervectors import Encoded
from jaxkg.types import NULL

Column: TypeAlias = jax.Array | np.ndarray
"""All questions on the host, a batch of them on the device."""


class PlanQuery(NamedTuple):
    """A weighted bundle of relation paths; one alone is the paper's query (PathHD, Sec. 2.2)."""

    relations: Column  # [B, W, L] int32 codes, NULL past the end of a path and of the list
    weight: Column  # [B, W] float32, 0 where there are fewer than W


class TextQuery(NamedTuple):
    """A question's text in the space of the relation labels.

    The question gets the symbol that a relation with its words for a label would have. How alike a
    path of l hops is to l such symbols bound together is the product of how alike each hop is. With
    a text for every hop of paths of 1, 2, ... L hops, the order of the hops counts too.
    """

    coordinates: Column  # [B, S, G] float32, see `hdc.label_coordinates`; S is 1 or L(L + 1) / 2


class ProjectedQuery(NamedTuple):
    """Any query hypervectors, flattened; PathHD, Eq. 2 among them."""

    rows: Column  # [B, F] float32


Query: TypeAlias = PlanQuery | TextQuery | ProjectedQuery


class Space(NamedTuple):
    """Relation symbols, and what places a text among them."""

    table: jax.Array  # [2R, *shape], inverse codes after the relations
    key: jax.Array  # of the symbols


@functools.partial(jax.jit, static_argnames=("algebra", "hops", "metric", "prefixes"))
def encode_queries(
    algebra: Algebra,
    space: Space,
    query: Query,
    *,
    hops: int,
    metric: str = "block",
    prefixes: bool = True,
) -> Encoded:
    """Query hypervectors (PathHD, Eq. 2 to 4).

    A bundle of plans is one vector, compared with paths of any length; its prefixes are the plans
    cut off. A text is bound with itself as often as the path has hops, or its hops' texts are bound
    in their order. A projection is what it is: nothing is known of its prefixes.

    Args:
        algebra: of the symbols; static.
        space: the symbols.
        query: B questions.
        hops: L, longest path; static.
        metric: see `hdc.similarity_matrix`; static.
        prefixes: False leaves `Encoded.prefix` empty; static.
    """
    steps = range(1, hops) if prefixes else range(0)

    def rows(vectors: jax.Array) -> jax.Array:
        return query_rows(algebra, vectors, metric)

    if isinstance(query, ProjectedQuery):
        every = jnp.repeat(rows(algebra.unflatten(jnp.asarray(query.rows)))[:, None], hops, axis=1)
        return Encoded(every, every[:, : len(steps)])
    if isinstance(query, PlanQuery):
        plans, weight = jnp.asarray(query.relations), jnp.asarray(query.weight)
        whole = rows(_bundle(algebra, space.table, plans, weight))
        cut = [
            rows(_bundle(algebra, space.table, plans[:, :, :length], weight)) for length in steps
        ]
        every = jnp.repeat(whole[:, None], hops, axis=1)
        return Encoded(every, jnp.stack(cut, axis=1) if cut else every[:, :0])
    hop = _text_hops(algebra, space, query)
    is_single = hop.shape[1] == 1

    def bound(length: int, taken: int) -> jax.Array:
        """The first hops of a path of so many."""
        first = 0 if is_single else length * (length - 1) // 2
        first_hops = [hop[:, 0 if is_single else first + place] for place in range(taken)]
        return rows(functools.reduce(algebra.bind, first_hops))

    whole = jnp.stack([bound(length, length) for length in range(1, hops + 1)], axis=1)
    cut = [bound(hops, length) for length in steps]
    return Encoded(whole, jnp.stack(cut, axis=1) if cut else whole[:, :0])


def _bundle(
    algebra: Algebra, table: jax.Array, relations: jax.Array, weight: jax.Array
) -> jax.Array:
    def one(paths: jax.Array, weights: jax.Array) -> jax.Array:
        there = jnp.any(paths != NULL, axis=-1)
        return encode_bundle(algebra, table, paths, jnp.where(there, weights, 0.0))

    return jax.vmap(one)(relations, weight)


def _text_hops(algebra: Algebra, space: Space, query: TextQuery) -> jax.Array:
    """[B, S, *shape]: each text as one hop, walked forward or backward alike."""

    def one(coordinates: jax.Array) -> jax.Array:
        both = symbols_at(
            algebra,
            jnp.broadcast_to(coordinates, (2, *coordinates.shape)),
            groups=jnp.arange(2),
            key=space.key,
        )
        return algebra.bundle(both)

    return jax.vmap(jax.vmap(one))(jnp.asarray(query.coordinates))
