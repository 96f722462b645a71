"""The ranker: a line and a small perceptron over the views of a reading, as it is trained.

A softmax over a question's readings, trained listwise (Cao et al. 2007, "Learning to Rank: From
Pairwise Approach to Listwise Approach", ListNet top-one); several readings may be right.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np


def init_ranker(seed: int, features: int, hidden: int = 24) -> dict[str, jax.Array]:
    """Fresh parameters.

    Args:
        seed: of the perceptron.
        features: F.
        hidden: width of the perceptron.
    """
    key = jax.random.key(seed)
    scale = 1.0 / float(np.sqrt(features))
    return {
        "line": jnp.zeros((features,), jnp.float32),
        "inner": scale * jax.random.normal(key, (features, hidden), jnp.float32),
        "bias": jnp.zeros((hidden,), jnp.float32),
        "outer": jnp.zeros((hidden,), jnp.float32),
    }


def rank(
    params: Mapping[str, jax.Array], views: jax.Array, kept: jax.Array | None = None
) -> jax.Array:
    """Scores of readings, higher is better.

    Args:
        params: see `init_ranker`.
        views: [..., F] float32, standardised.
        kept: [..., H] float32 that hidden units are multiplied by; None keeps all as they are.

    Returns:
        [...] float32.

    >>> rank(init_ranker(0, 3), jnp.ones((2, 3))).tolist()
    [0.0, 0.0]
    """
    hidden = jnp.tanh(
        jnp.einsum("...f,fh->...h", views, params["inner"])
        + params["bias"].reshape((1,) * (views.ndim - 1) + (-1,))
    )
    hidden = hidden if kept is None else hidden * kept
    return jnp.einsum("...f,f->...", views, params["line"]) + jnp.einsum(
        "...h,h->...", hidden, params["outer"]
    )


def listwise_loss(
    params: Mapping[str, jax.Array], views: jax.Array, right: jax.Array, valid: jax.Array
) -> jax.Array:
    """Mean negative log-probability of the right readings.

    Args:
        params: see `init_ranker`.
        views: [Q, C, F] float32.
        right: [Q, C] bool; a question without a right reading does not count.
        valid: [Q, C] bool.
    """
    scores = jnp.where(valid, rank(params, views), -jnp.inf)
    whole = jax.nn.logsumexp(scores, axis=1)
    good = jax.nn.logsumexp(jnp.where(right & valid, scores, -1e9), axis=1)
    counts = jnp.any(right & valid, axis=1)
    total = jnp.sum(jnp.where(counts, whole - good, 0.0))
    return total / jnp.maximum(jnp.sum(counts, dtype=jnp.float32), 1)
