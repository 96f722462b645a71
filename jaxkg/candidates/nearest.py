"""The texts nearest to a text, and all pairs of near texts, by blocked cosines."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import running_sum
from jaxkg.types import NULL

_EXACT = jax.lax.Precision.HIGHEST
"""Which texts are near is the same on every device: GPUs and TPUs round factors else."""

_STRIP = 64
"""Rows that are looked at together: one maximum a column tells whether any of them is near."""


def nearest(
    queries: jax.Array, vectors: jax.Array, *, k: int, block: int = 1 << 16
) -> tuple[jax.Array, jax.Array]:
    """The k most similar rows of a table for every query.

    Args:
        queries: [Q, D] float32 of length 1.
        vectors: [N, D] float32 of length 1, or 0 for a row that is never nearest.
        k: static.
        block: rows of the table that are compared at a time; static.

    Returns:
        row [Q, k] int32, NULL where there are fewer; cosine [Q, k] float32, -inf there. Ties go to
        the smaller row.

    Reference: PRoH, Section 4.2, topic entity identification and target hyperedge matching.
    """
    chex.assert_equal(queries.shape[1], vectors.shape[1])
    count, dim = vectors.shape
    block = min(block, count)
    blocks = -(-count // block)
    padded = jnp.pad(vectors, ((0, blocks * block - count), (0, 0))).reshape(blocks, block, dim)

    def look(best, part):
        rows, table = part
        cosine = jnp.matmul(queries, table.T, precision=_EXACT)
        real = jnp.any(table != 0, axis=1)
        cosine = jnp.where(real[None, :], cosine, -jnp.inf)
        score, place = jax.lax.top_k(cosine, min(k, block))
        score = jnp.concatenate([best[1], score], axis=1)
        row = jnp.concatenate([best[0], rows + place.astype(jnp.int32)], axis=1)
        score, place = jax.lax.top_k(score, k)
        return (jnp.take_along_axis(row, place, axis=1), score), None

    nothing = (
        jnp.full((queries.shape[0], k), NULL, jnp.int32),
        jnp.full((queries.shape[0], k), -jnp.inf),
    )
    starts = jnp.arange(blocks, dtype=jnp.int32) * block
    (row, score), _ = jax.lax.scan(look, nothing, (starts, padded))
    return jnp.where(jnp.isfinite(score), row, NULL), score


class Pairs(NamedTuple):
    """Pairs of rows that are near."""

    first: jax.Array  # [C] int32 row of the first block, NULL where there is none
    second: jax.Array  # [C] int32 row of the second block
    cosine: jax.Array  # [C] float32
    needed: jax.Array  # [2] int32, places and pairs; see `near_pairs`
    overflow: jax.Array  # [] bool


def near_pairs(
    first: jax.Array,
    second: jax.Array,
    *,
    threshold: float | jax.Array,
    capacities: tuple[int, int],
) -> Pairs:
    """All pairs of rows of two blocks with cosine >= threshold.

    The product is written once and read once: the maxima over strips of `_STRIP` rows tell where to
    look, and only there is anything compared again. (Maxima over rows, not over columns: those are
    what a CPU's vector units can do.)

    Args:
        first: [P, D] float32, P a multiple of `_STRIP`; second: [R, D] float32.
        threshold: tau.
        capacities: (strip, column) places with a near pair, and pairs; static.

    Returns:
        Pairs in order of (strip, row of `second`, row of `first`).

    Reference: PRoH, Eq. 1 and "synonym hyperedge augmentation".
    """
    chex.assert_is_divisible(first.shape[0], _STRIP)
    strips, most = capacities
    columns = second.shape[0]
    cosine = jnp.matmul(first, second.T, precision=_EXACT).reshape(-1, _STRIP, columns)
    hot = jnp.max(cosine, axis=1) >= threshold
    where, wanted = _places(hot.reshape(-1), strips)
    strip, column = jnp.maximum(where, 0) // columns, jnp.maximum(where, 0) % columns
    values = cosine[strip, :, column]
    near = (where != NULL)[:, None] & (values >= threshold)
    place, num_pairs = _places(near.reshape(-1), most)
    strip_row, row = jnp.maximum(place, 0) // _STRIP, jnp.maximum(place, 0) % _STRIP
    return Pairs(
        first=jnp.where(place == NULL, NULL, strip[strip_row] * _STRIP + row),
        second=column[strip_row],
        cosine=values[strip_row, row],
        needed=jnp.stack([wanted, num_pairs]),
        overflow=(wanted > strips) | (num_pairs > most),
    )


def _places(mask: jax.Array, capacity: int) -> tuple[jax.Array, jax.Array]:
    """Where a mask is True: [capacity] int32 places, NULL past the last; how many there are."""
    rank = running_sum(mask.astype(jnp.int32))
    slots = jnp.arange(mask.shape[0], dtype=jnp.int32)
    target = jnp.where(mask, rank - 1, capacity)
    places = jnp.full(capacity, NULL, jnp.int32).at[target].set(slots, mode="drop")
    return places, rank[-1]
