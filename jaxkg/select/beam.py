"""The beam's rule: the best continuations of each question's partial paths."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp


class Choice(NamedTuple):
    """The continuations that live on, best first."""

    parent: jax.Array  # [B, W] int32, which of the question's paths is continued
    action: jax.Array  # [B, W] int32, how
    score: jax.Array  # [B, W] float32, -inf where there are fewer than W
    valid: jax.Array  # [B, W] bool


def choose(scores: jax.Array, *, width: int, margin: float | jax.Array = float("inf")) -> Choice:
    """Keep the best continuations of every question.

    Args:
        scores: [B, W', A] float32, the score of continuing path w by action a; -inf where that
            cannot be.
        width: W, continuations kept; static.
        margin: those that score this much less than the question's best are dropped.

    Returns:
        W continuations a question. Ties go to the earlier path, then to the smaller action. A
        question without any finite score keeps nothing.

    >>> best = choose(jnp.asarray([[[-1.0, -3.0], [-2.0, -jnp.inf]]]), width=2)
    >>> best.parent.tolist(), best.action.tolist(), best.score.tolist()
    ([[0, 1]], [[0, 0]], [[-1.0, -2.0]])
    """
    chex.assert_rank(scores, 3)
    batch, paths, actions = scores.shape
    flat = scores.reshape(batch, paths * actions)
    if width > flat.shape[1]:
        flat = jnp.pad(flat, ((0, 0), (0, width - flat.shape[1])), constant_values=-jnp.inf)
    score, place = jax.lax.top_k(flat, width)
    # Not a slice of `score`: XLA would sort the whole row for it instead of selecting, 40 times
    # slower where there are thousands of relations.
    best = jnp.max(score, axis=1, keepdims=True)
    valid = jnp.isfinite(score) & (score >= best - margin)
    place = jnp.where(valid, place, 0).astype(jnp.int32)
    return Choice(
        parent=place // actions,
        action=place % actions,
        score=jnp.where(valid, score, -jnp.inf),
        valid=valid,
    )
