"""ReKnoS's choices: the best super-relations of a step, the best super-relation paths.

A path is numbered by the places of its super-relations in the sets of the steps: the digits of the
number in base N, first step first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL


class Kept(NamedTuple):
    """The set of a step, best first."""

    group: jax.Array  # [B, N] int32 super-relations, NULL where there are fewer than N
    weight: jax.Array  # [B, N] float32, normalised scores; 0 where there is none


def keep_best(
    scores: jax.Array, candidates: jax.Array, *, width: int, floor: float | jax.Array = 0.0
) -> Kept:
    """The super-relations with the highest scores, their scores normalised to sum to 1.

    Args:
        scores: [B, S] float32; what stands where there is no candidate, NaN included, counts for
            nothing, and a negative score or NaN of a candidate counts as 0.
        candidates: [B, S] bool.
        width: N; static.
        floor: a candidate that scores less than this share of the best is not kept; 0 keeps N of
            them as the paper does.

    Returns:
        N super-relations a question. Ties go to the smaller number; where all scores are 0 the
        weights are equal.

    Reference: ReKnoS, Eq. 3-5.

    >>> candidates = jnp.asarray([[True, True, False]])
    >>> kept = keep_best(jnp.asarray([[0.2, 0.6, 9.0]]), candidates, width=2)
    >>> kept.group.tolist(), kept.weight.round(2).tolist()
    ([[1, 0]], [[0.75, 0.25]])
    """
    chex.assert_equal_shape([scores, candidates])
    told = jnp.where(scores > 0, scores, 0.0)  # NaN is not above 0
    masked = jnp.where(candidates, told, -1.0)
    short = max(0, width - masked.shape[1])
    score, group = jax.lax.top_k(jnp.pad(masked, ((0, 0), (0, short)), constant_values=-1.0), width)
    best = jnp.max(score, axis=1, keepdims=True)  # not a slice, see `choose`
    valid = (score >= 0) & (score >= floor * best)
    # Shares of the best score, so that useless candidates (best score 0) weigh the same.
    share = jnp.where(valid, jnp.where(best > 0, score / jnp.where(best > 0, best, 1.0), 1.0), 0.0)
    weight = share / jnp.maximum(jnp.sum(share, axis=1, keepdims=True), 1.0)
    # Rounded by a bit, so that no compiler fuses the division with a later sum: the last bit would
    # depend on the program, and a search asked step by step differ from one in a single program.
    weight = jax.lax.reduce_precision(weight, exponent_bits=8, mantissa_bits=22)
    return Kept(jnp.where(valid, group, NULL).astype(jnp.int32), weight)


def add_step(totals: jax.Array, weight: jax.Array) -> jax.Array:
    """Scores of all paths one step longer: the sum of the weights along each.

    Args:
        totals: [B, P] float32, of the paths so far; [B, 1] zeros before the first step.
        weight: [B, N] float32 of the step's set.

    Returns:
        [B, P * N] float32.

    Reference: ReKnoS, Eq. 7.

    >>> add_step(jnp.asarray([[0.5, 0.25]]), jnp.asarray([[1.0, 0.0]])).tolist()
    [[1.5, 0.5, 1.25, 0.25]]
    """
    chex.assert_rank([totals, weight], 2)
    return (totals[:, :, None] + weight[:, None, :]).reshape(totals.shape[0], -1)


def best_paths(totals: jax.Array, exist: jax.Array, *, keep: int) -> tuple[jax.Array, jax.Array]:
    """The super-relation paths with the highest scores.

    Args:
        totals: [B, P] float32.
        exist: [B, P] bool, the paths that reach some entity.
        keep: K; static.

    Returns:
        [B, K] int32 path numbers, NULL where there are fewer; [B, K] float32 scores, 0 there. Ties
        go to the smaller number.

    Reference: ReKnoS, Eq. 8.

    >>> path, score = best_paths(
    ...     jnp.asarray([[0.5, 2.0, 1.0]]), jnp.asarray([[True, False, True]]), keep=3
    ... )
    >>> path.tolist(), score.tolist()
    ([[2, 0, -1]], [[1.0, 0.5, 0.0]])
    """
    chex.assert_equal_shape([totals, exist])
    short = max(0, keep - totals.shape[1])
    masked = jnp.where(exist, totals, -jnp.inf)
    masked = jnp.pad(masked, ((0, 0), (0, short)), constant_values=-jnp.inf)
    score, path = jax.lax.top_k(masked, keep)
    valid = jnp.isfinite(score)
    return jnp.where(valid, path, NULL).astype(jnp.int32), jnp.where(valid, score, 0.0)


def path_groups(path: jax.Array, sets: Sequence[jax.Array]) -> jax.Array:
    """The super-relations of numbered paths.

    Args:
        path: [B, K] int32 path numbers, NULL for none.
        sets: [B, N] int32 for each of the l steps.

    Returns:
        [B, K, l] int32 super-relations, NULL for none.

    Reference: ReKnoS, Eq. 6.
    """
    columns, rest = [], jnp.maximum(path, 0)
    for chosen in reversed(sets):
        width = chosen.shape[1]
        taken = jnp.take_along_axis(chosen, rest % width, axis=1)
        columns.append(jnp.where(path == NULL, NULL, taken))
        rest = rest // width
    return jnp.stack(columns[::-1], axis=-1)
