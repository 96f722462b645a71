"""Losses of knowledge-graph embeddings; scores are higher for likelier triples."""

from typing import Literal

import chex
import jax
import jax.numpy as jnp

Loss = Literal["margin", "logistic", "self-adversarial", "one-vs-all"]
LOSSES: tuple[Loss, ...] = ("margin", "logistic", "self-adversarial", "one-vs-all")


def margin_loss(positive: jax.Array, negative: jax.Array, *, margin: float) -> jax.Array:
    """Hinge between a true triple and each of its corruptions (TransE, Eq. 1).

    Args:
        positive: [B] float32 scores.
        negative: [B, M] float32 scores.
        margin: γ.

    Returns:
        [] float32, the mean.
    """
    chex.assert_rank([positive, negative], [1, 2])
    return jnp.mean(jax.nn.relu(margin - positive[:, None] + negative))


def logistic_loss(positive: jax.Array, negative: jax.Array, *, margin: float) -> jax.Array:
    """Cross entropy of true against corrupted, halves weighted alike (ComplEx, Eq. 12).

    Args:
        positive: [B]; negative: [B, M] float32 scores.
        margin: added to every score, so that distances, which are never positive, can say yes; 0
            for products.
    """
    chex.assert_rank([positive, negative], [1, 2])
    right = jax.nn.softplus(-(positive + margin))
    wrong = jnp.mean(jax.nn.softplus(negative + margin), axis=1)
    return jnp.mean(right + wrong) / 2


def self_adversarial_loss(
    positive: jax.Array, negative: jax.Array, *, margin: float, temperature: float
) -> jax.Array:
    """Corruptions weighted by how likely the model finds them (RotatE, Eq. 5 and 6).

    Args:
        positive: [B]; negative: [B, M] float32 scores.
        margin: γ, added to every score.
        temperature: α; 0 weighs all corruptions alike, which is `logistic_loss`.
    """
    chex.assert_rank([positive, negative], [1, 2])
    weight = jax.lax.stop_gradient(jax.nn.softmax(temperature * negative, axis=1))
    right = jax.nn.softplus(-(positive + margin))
    wrong = jnp.sum(weight * jax.nn.softplus(negative + margin), axis=1)
    return jnp.mean(right + wrong) / 2


def one_vs_all_loss(scores: jax.Array, target: jax.Array) -> jax.Array:
    """Cross entropy over all entities, as Lacroix et al. train, see `n3_penalty`.

    Args:
        scores: [B, N] float32.
        target: [B] int32, the true entity.
    """
    chex.assert_rank([scores, target], [2, 1])
    true = jnp.take_along_axis(scores, target[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(scores, axis=1) - true)


def n3_penalty(*vectors: jax.Array, halves: bool) -> jax.Array:
    """Nuclear 3-norm regulariser: the mean over triples of Σ|x|³.

    Reference: Lacroix, Usunier and Obozinski, "Canonical tensor decomposition for knowledge base
    completion", 2018, Eq. 4 and Section 4.

    Args:
        vectors: [B, D] float32, e.g. heads, relations and tails of a batch.
        halves: each vector is complex, real parts first; |x| is the modulus then.
    """
    total = jnp.zeros(())
    for some in vectors:
        if halves:
            real, imaginary = jnp.split(some, 2, axis=-1)
            size = jnp.sqrt(real**2 + imaginary**2 + 1e-12)
        else:
            size = jnp.abs(some)
        total += jnp.mean(jnp.sum(size**3, axis=-1))
    return total
