"""What a language model is trained to make small."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxkg.lm.model import Llama, causal_mask
from jaxkg.lm.packing import Packed
from jaxkg.types import NULL


def label_log_probabilities(model: Llama, batch: Packed) -> jax.Array:
    """Log-probability of every learnt token, given what stands before it in its example.

    Only the states that predict a learnt token meet the output layer.

    Args:
        model: weights.
        batch: N rows.

    Returns:
        [N, A] float32, 0 where there is nothing to learn.
    """
    segment = jnp.asarray(batch.segment)
    states, _ = model(jnp.asarray(batch.tokens), jnp.asarray(batch.position), causal_mask(segment))
    place = jnp.asarray(batch.place)
    chosen = jnp.take_along_axis(states, jnp.maximum(place, 0)[:, :, None], axis=1)
    scores = jax.nn.log_softmax(model.logits(chosen), axis=-1)
    found = jnp.take_along_axis(scores, jnp.asarray(batch.label)[:, :, None], axis=2)[:, :, 0]
    return jnp.where(place != NULL, found, 0.0)


def answer_loss(model: Llama, batch: Packed) -> jax.Array:
    """Mean negative log-likelihood of the answers' tokens; prompts are not learnt.

    Returns:
        [] float32.

    Reference: PathMind, Eq. 7.
    """
    count = jnp.sum(jnp.asarray(batch.place) != NULL, dtype=jnp.float32)
    return -jnp.sum(label_log_probabilities(model, batch)) / jnp.maximum(count, 1.0)


def example_log_probabilities(model: Llama, batch: Packed) -> jax.Array:
    """[N] float32: log-probability of each row's answers, for rows of one example."""
    return jnp.sum(label_log_probabilities(model, batch), axis=1)


def dpo_loss(
    preferred: jax.Array,
    other: jax.Array,
    reference_preferred: jax.Array,
    reference_other: jax.Array,
    *,
    beta: float = 0.1,
) -> jax.Array:
    """Direct preference optimisation of pairs of completions.

    Args:
        preferred, other: [N] float32 log-probabilities of the completions under the model.
        reference_preferred, reference_other: the same under the frozen reference.
        beta: how much leaving the reference costs.

    Returns:
        [] float32, mean over the pairs.

    Reference: Rafailov et al., "Direct preference optimization", 2023, Eq. 7; PathMind, Eq. 8.
    """
    margin = (preferred - reference_preferred) - (other - reference_other)
    return -jnp.mean(jax.nn.log_sigmoid(beta * margin))
