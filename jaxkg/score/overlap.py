"""PRoH's scores: entities weighed against a question, summed up over overlaps and over paths."""

from typing import Literal, TypeAlias

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL

_ALL_PAIRS = 32
"""So many pairs of one product take no longer than a pair whose two rows are gathered."""

Aggregate: TypeAlias = Literal["sum", "mean", "max"]


def gathered_similarity(
    questions: jax.Array, vectors: jax.Array, row: jax.Array, index: jax.Array
) -> jax.Array:
    """Cosine of a question and a text, pair by pair: SE(v|q) = cos(z(v), z(q)).

    Args:
        questions: [B, D] float32 of length 1.
        vectors: [N, D] float32 of length 1, or 0 for a text that says nothing.
        row: [S] int32 question of each pair; index: [S] int32 text of each pair. Both in range.

    Returns:
        [S] float32.

    Reference: PRoH, Eq. 2.
    """
    chex.assert_equal_shape([row, index])
    if questions.shape[0] * vectors.shape[0] <= _ALL_PAIRS * row.shape[0]:
        highest = jax.lax.Precision.HIGHEST
        return jnp.matmul(questions, vectors.T, precision=highest)[row, index]
    return jnp.sum(questions[row] * vectors[index], axis=-1)


def entity_weight(similarity: jax.Array, weight: jax.Array, *, threshold: float) -> jax.Array:
    """EW(v|q): a finer weight for entities that are similar enough, 0 for the others.

    Args:
        similarity: [S] float32, SE(v|q).
        weight: [S] float32, what a language model, or SE itself (PRoH-L), gives each entity.
        threshold: the least similarity that counts.

    Returns:
        [S] float32.

    Reference: PRoH, Eq. 4.
    """
    chex.assert_equal_shape([similarity, weight])
    return jnp.where(similarity >= threshold, weight, 0.0)


def aggregate_groups(
    value: jax.Array, group: jax.Array, *, num_groups: int, how: Aggregate
) -> jax.Array:
    """Sum, mean or maximum of the values of each group.

    With the weights of the entities that two hyperedges share as values this is EWO (or SH, with
    the plain similarities); with those along a path it is the path's score.

    Args:
        value: [C] float32.
        group: [C] int32 in [0, num_groups), NULL for a slot of no group, whose value is not read.
        num_groups: G; static.
        how: static.

    Returns:
        [G] float32, 0 for an empty group.

    Reference: PRoH, Eq. 3, 5 and 6.

    >>> value, group = jnp.asarray([1.0, 3.0, 5.0]), jnp.asarray([0, 0, -1])
    >>> aggregate_groups(value, group, num_groups=2, how="mean").tolist()
    [2.0, 0.0]
    """
    chex.assert_equal_shape([value, group])
    if how not in ("sum", "mean", "max"):
        raise ValueError(f'aggregate is "sum", "mean" or "max", not {how!r}')
    counts = group != NULL
    place = jnp.where(counts, group, num_groups)
    value = jnp.where(counts, value, 0.0)
    size = jax.ops.segment_sum(counts.astype(jnp.float32), place, num_groups + 1)
    if how == "max":
        best = jax.ops.segment_max(value, place, num_groups + 1)
        return jnp.where(size > 0, best, 0.0)[:num_groups]
    total = jax.ops.segment_sum(value, place, num_groups + 1)
    if how == "mean":
        total = total / jnp.maximum(size, 1.0)
    return total[:num_groups]
