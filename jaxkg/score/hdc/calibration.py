"""The calibrated score of PathHD, Eq. 6 and 7, and its grid search.

Two things the formula does that the text does not say:

- beta * decay^|z| is subtracted, and decay < 1, so it penalises *short* paths most.
- The IDF is not on the scale of a cosine. A schema never seen in training gets log(1 + N): 8.0 for
  WebQSP's 3,098 questions, times the published alpha = 0.2 a bonus of 1.6, more than the whole
  distance between a perfect match (1) and an unrelated path (0). A path that matches the query
  exactly and whose schema half of the training questions share (IDF 1.1) loses to any unseen one:
  1.22 against 1.60. `idf(..., scaled=True)` divides by log(1 + N), which bounds the bonus by alpha.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

ALPHAS = tuple(round(0.1 * i, 1) for i in range(6))
BETAS = ALPHAS
DECAYS = (0.6, 0.7, 0.8, 0.9)
"""The grid of PathHD, App. I.4."""


class GridSearch(NamedTuple):
    """Hits@1 of every triple, and the best triple (the first in grid order where tied)."""

    hits: jax.Array  # [A, B, C] float32
    alpha: jax.Array  # [] float32
    beta: jax.Array  # [] float32
    decay: jax.Array  # [] float32


def idf(frequency: jax.Array, num_train: int, *, scaled: bool = False) -> jax.Array:
    """log(1 + N / (1 + freq)) (PathHD, Eq. 7), natural logarithm.

    Args:
        frequency: any shape, number of training questions with that schema.
        num_train: N.
        scaled: divide by its largest value log(1 + N), so that it lies in (0, 1].

    Returns:
        The shape of `frequency`, float32.
    """
    value = jnp.log1p(num_train / (1.0 + frequency))
    return value / np.log1p(max(num_train, 1)) if scaled else value


def calibrate(
    similarity: jax.Array,
    inverse_frequency: jax.Array,
    length: jax.Array,
    *,
    alpha: float | jax.Array = 0.2,
    beta: float | jax.Array = 0.1,
    decay: float | jax.Array = 0.8,
) -> jax.Array:
    """s(z) = sim + alpha * IDF(z) - beta * decay^|z| (PathHD, Eq. 6).

    Args:
        similarity: `[..., N]`.
        inverse_frequency: `[..., N]`, from `idf`.
        length: `[..., N]` hops of each path.
        alpha, beta, decay: the paper's for WebQSP by default.

    Returns:
        `[..., N]` float32.
    """
    return similarity + alpha * inverse_frequency - beta * decay ** length.astype(jnp.float32)


def grid_search(
    similarity: jax.Array,
    inverse_frequency: jax.Array,
    length: jax.Array,
    correct: jax.Array,
    valid: jax.Array,
    *,
    alphas: tuple[float, ...] = ALPHAS,
    betas: tuple[float, ...] = BETAS,
    decays: tuple[float, ...] = DECAYS,
) -> GridSearch:
    """Hits@1 on validation questions for every triple (PathHD, App. I.4).

    Args:
        similarity, inverse_frequency, length: `[Q, N]` of the candidates of each question.
        correct: `[Q, N]` float32 or bool, how much of a hit the candidate is: the share of right
            answers among the entities it reaches is the Hits@1 to expect of it.
        valid: `[Q, N]` bool.
        alphas, betas, decays: the grid.

    Returns:
        GridSearch. Tied top candidates count by their share of hits, so a constant score gains
        nothing; a question without candidates is a miss.
    """
    hit = correct.astype(jnp.float32)

    def hits(triple: jax.Array) -> jax.Array:
        score = calibrate(
            similarity, inverse_frequency, length, alpha=triple[0], beta=triple[1], decay=triple[2]
        )
        score = jnp.where(valid, score, -jnp.inf)
        top = valid & (score == jnp.max(score, axis=-1, keepdims=True))
        tied = jnp.maximum(jnp.sum(top, axis=-1), 1).astype(jnp.float32)
        share = jnp.sum(jnp.where(top, hit, 0.0), axis=-1) / tied
        return jnp.mean(share)

    axes = [jnp.asarray(axis, jnp.float32) for axis in (alphas, betas, decays)]
    grid = jnp.stack(jnp.meshgrid(*axes, indexing="ij"), axis=-1)
    table = jax.lax.map(hits, grid.reshape(-1, 3))
    best = grid.reshape(-1, 3)[jnp.argmax(table)]
    return GridSearch(table.reshape(grid.shape[:3]), best[0], best[1], best[2])
