"""BERT: what a sentence encoder runs on the device."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.low_rank import LowRank
from jaxkg.text.bert_weights import KERNELS, Bert, BertConfig, Dense, Layer, Norm
from jaxkg.text.encoder import Change


def states_of(bert: Bert, ids: jax.Array, lengths: jax.Array, *, config: BertConfig) -> jax.Array:
    """Contextual vectors of every token; pure.

    Args:
        bert: weights. Matrix products run in their kernels' dtype, norms and sums in float32.
        ids: [B, T] int32 word pieces.
        lengths: [B] int32, tokens of each row; what stands behind them takes no part.
        config: of the weights; static.

    Returns:
        [B, T, D] float32; rows past a length are meaningless.
    """
    chex.assert_rank([ids, lengths], [2, 1])
    return through(bert.layers, embed(bert, ids, config=config), lengths, config=config)


def embed(bert: Bert, ids: jax.Array, *, config: BertConfig) -> jax.Array:
    """[B, T] int32 word pieces to [B, T, D] float32, what the first layer is given."""
    added = bert.positions[: ids.shape[1]] + bert.types[:1]
    return _normed(bert.norm, jnp.take(bert.words, ids, axis=0) + added[None], config)


def through(
    layers: Sequence[Layer], states: jax.Array, lengths: jax.Array, *, config: BertConfig
) -> jax.Array:
    """[B, T, D] float32 states of [B] int32 lengths, through layers one after another."""
    there = jnp.arange(states.shape[1], dtype=jnp.int32)[None, :] < lengths[:, None]
    bias = jnp.where(there, 0.0, -jnp.inf)[:, None, None, :]
    for layer in layers:
        states = _layer(layer, states, bias, config)
    return states


def _layer(layer: Layer, states: jax.Array, bias: jax.Array, config: BertConfig) -> jax.Array:
    batch, tokens, width = states.shape
    heads = config.num_attention_heads
    shape = (batch, tokens, 3, heads, width // heads)
    query, key, value = jnp.unstack(_product(layer.qkv, states).reshape(shape), axis=2)
    logits = jnp.einsum("bthd,bshd->bhts", query * float(shape[-1]) ** -0.5, key)
    weights = jax.nn.softmax(logits + bias, axis=-1)
    mixed = jnp.einsum("bhts,bshd->bthd", weights, value).reshape(states.shape)
    added = states + _product(layer.attended, mixed)
    states = _normed(layer.after_attention, added, config)
    inner = jax.nn.gelu(_product(layer.inner, states), approximate=False)
    return _normed(layer.after_outer, states + _product(layer.outer, inner), config)


def _product(dense: Dense, states: jax.Array) -> jax.Array:
    """[..., inputs] float32 to [..., outputs] float32."""
    states = states.astype(dense.kernel.dtype)
    product = jnp.einsum("...d,de->...e", states, dense.kernel, preferred_element_type=jnp.float32)
    return product + _along(dense.bias, product)


def _normed(norm: Norm, states: jax.Array, config: BertConfig) -> jax.Array:
    mean = jnp.mean(states, axis=-1, keepdims=True)
    # One pass over the states: their square's mean less the mean's square.
    variance = jnp.mean(jnp.square(states), axis=-1, keepdims=True) - jnp.square(mean)
    scale = jax.lax.rsqrt(jnp.maximum(variance, 0.0) + config.layer_norm_eps)
    return (states - mean) * (scale * _along(norm.scale, states)) + _along(norm.bias, states)


def _along(vector: jax.Array | np.ndarray, states: jax.Array) -> jax.Array | np.ndarray:
    """[D] as the last axis of states, the others 1."""
    return vector.reshape((1,) * (states.ndim - 1) + (-1,))


def init_change(weights: Bert, *, layers: int, rank: int, key: jax.Array) -> Change:
    """A change of the last layers' kernels that changes nothing yet.

    Args:
        weights: to be changed.
        layers: how many of the last.
        rank: of the change of each kernel.
        key: of the first factors; the second are 0.
    """
    change = {}
    for name, part in zip(KERNELS, jax.random.split(key, len(KERNELS))):
        inputs, outputs = getattr(weights.layers[0], name).kernel.shape
        first = jax.random.normal(part, (layers, inputs, rank)) * inputs**-0.5
        change[name] = LowRank(first, jnp.zeros((layers, rank, outputs)))
    return change


def mean_pool(states: jax.Array, lengths: jax.Array) -> jax.Array:
    """Mean of the tokens' vectors, scaled to length 1.

    Args:
        states: [B, T, D] float32.
        lengths: [B] int32, at least 1.

    Returns:
        [B, D] float32.

    Reference: Reimers and Gurevych, "Sentence-BERT", 2019.
    """
    there = jnp.arange(states.shape[1], dtype=jnp.int32)[None, :] < lengths[:, None]
    total = jnp.sum(jnp.where(there[:, :, None], states, 0.0), axis=1)
    # The length of the sum is the mean's up to a factor, which normalising removes.
    size = jnp.sqrt(jnp.sum(total * total, axis=1, keepdims=True))
    return total / jnp.maximum(size, 1e-12)


@functools.partial(jax.jit, static_argnames="config")
def sentence_vectors(
    bert: Bert, ids: jax.Array, lengths: jax.Array, *, config: BertConfig
) -> jax.Array:
    """[B, T] int32 word pieces of [B] int32 lengths to [B, D] float32, `mean_pool` of `states_of`;
    one compiled program a shape."""
    return mean_pool(states_of(bert, ids, lengths, config=config), lengths)


token_states = jax.jit(states_of, static_argnames="config")
"""`states_of`, compiled; one program a shape."""
