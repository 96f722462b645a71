"""A decoder-only language model of the Llama family, in Flax."""

from __future__ import annotations

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
from flax import nnx
from jax.typing import ArrayLike, DTypeLike

from jaxkg.lm.config import LMConfig

_NEVER = -1e30
"""Attention logit of a slot that is not attended; finite, so that a row of padding, which attends
to nothing, stays a number."""


class Cache(NamedTuple):
    """Keys and values of the S slots of every layer."""

    key: jax.Array  # [L, B, S, K, H]
    value: jax.Array  # [L, B, S, K, H]


class Layers(nnx.Module):
    """Weights of all layers; the leading axis of each runs over them, so one program serves all."""

    def __init__(self, config: LMConfig, *, dtype: DTypeLike, rngs: nnx.Rngs) -> None:
        count, width, inner = (
            config.num_hidden_layers, config.hidden_size, config.intermediate_size,
        )  # fmt: skip
        queries = config.num_attention_heads * config.head_dim
        keys = config.num_key_value_heads * config.head_dim

        def kernel(inputs: int, outputs: int, scale: float = 1.0) -> nnx.Param[jax.Array]:
            drawn = jax.random.normal(rngs.params(), (count, inputs, outputs))
            return nnx.Param((drawn * (scale * inputs**-0.5)).astype(dtype))

        # What every layer adds to the states is scaled so that their sum does not grow with depth.
        added = (2 * count) ** -0.5
        self.attention_norm = nnx.Param(jnp.ones((count, width), dtype))
        self.query = kernel(width, queries)
        self.key = kernel(width, keys)
        self.value = kernel(width, keys)
        self.output = kernel(queries, width, added)
        self.mlp_norm = nnx.Param(jnp.ones((count, width), dtype))
        self.gate = kernel(width, inner)
        self.up = kernel(width, inner)
        self.down = kernel(inner, width, added)
        if config.attention_bias:
            self.query_bias = nnx.Param(jnp.zeros((count, queries), dtype))
            self.key_bias = nnx.Param(jnp.zeros((count, keys), dtype))
            self.value_bias = nnx.Param(jnp.zeros((count, keys), dtype))
        if config.head_norm:
            self.query_norm = nnx.Param(jnp.ones((count, config.head_dim), dtype))
            self.key_norm = nnx.Param(jnp.ones((count, config.head_dim), dtype))

    def arrays(self) -> dict[str, jax.Array]:
        """The weights by name, each [L, ...]."""
        return {
            name: param[...] for name, param in vars(self).items() if isinstance(param, nnx.Param)
        }


class Llama(nnx.Module):
    """Token ids to the states that predict the next token.

    Matrix products run in the weights' dtype and are summed in float32; norms, rotation and softmax
    are float32.

    Reference: Touvron et al., "LLaMA", 2023 (RMSNorm, rotary embedding, SwiGLU); Ainslie et al.,
    "GQA", 2023; biases as in Qwen2, norms of heads as in Qwen3.
    """

    def __init__(self, config: LMConfig, *, dtype: DTypeLike = jnp.float32, rngs: nnx.Rngs) -> None:
        self.config = config
        shape = (config.vocab_size, config.hidden_size)

        def table() -> nnx.Param[jax.Array]:
            drawn = jax.random.normal(rngs.params(), shape) * config.hidden_size**-0.5
            return nnx.Param(drawn.astype(dtype))

        self.embedding = table()
        self.layers = Layers(config, dtype=dtype, rngs=rngs)
        self.norm = nnx.Param(jnp.ones(config.hidden_size, dtype))
        if not config.tie_word_embeddings:
            self.head = table()

    def __call__(
        self,
        tokens: jax.Array,
        positions: jax.Array,
        mask: jax.Array,
        cache: Cache | None = None,
        slot: ArrayLike = 0,
    ) -> tuple[jax.Array, Cache]:
        """States of some tokens.

        Args:
            tokens: [B, T] int32.
            positions: [B, T] int32, places in the text, from 0.
            mask: [B, T, S] bool, slots that a token attends to.
            cache: keys and values of S slots, into which these tokens' are written; None takes the
                tokens themselves as the slots, S = T.
            slot: [] int32, where the first of these tokens is written.

        Returns:
            [B, T, D] float32, and the cache with these tokens in it.
        """
        chex.assert_rank([tokens, positions, mask], [2, 2, 3])
        config = self.config
        turn = rotation(config, positions)
        states = self.embedding[...][tokens].astype(jnp.float32)

        def layer(states: jax.Array, inputs: tuple) -> tuple[jax.Array, Cache]:
            weights, kept = inputs
            x = rms_norm(states, weights["attention_norm"], config.rms_norm_eps)
            query = _heads(config, x, weights, "query")
            new = Cache(
                _rotate(_heads(config, x, weights, "key"), turn),
                _heads(config, x, weights, "value"),
            )
            if kept is not None:
                at = (0, slot, 0, 0)
                new = jax.tree.map(
                    lambda old, some: jax.lax.dynamic_update_slice(old, some.astype(old.dtype), at),
                    kept,
                    new,
                )
            mixed = _attend(_rotate(query, turn), new, mask)
            states = states + dense(mixed, weights["output"])
            x = rms_norm(states, weights["mlp_norm"], config.rms_norm_eps)
            inner = jax.nn.silu(dense(x, weights["gate"])) * dense(x, weights["up"])
            return states + dense(inner, weights["down"]), new

        states, slots = jax.lax.scan(layer, states, (self.layers.arrays(), cache))
        return rms_norm(states, self.norm[...], config.rms_norm_eps), slots

    def logits(self, states: jax.Array) -> jax.Array:
        """[..., D] float32 states to [..., V] float32 scores of the next token."""
        table = (self.embedding if self.config.tie_word_embeddings else self.head)[...]
        return jnp.einsum(
            "...d,vd->...v", states.astype(table.dtype), table, preferred_element_type=jnp.float32
        )


def causal_mask(segments: jax.Array) -> jax.Array:
    """Every token attends to itself and to what stands before it in its own text.

    Args:
        segments: [B, T] int32, number of the text a token belongs to; negative for padding.

    Returns:
        [B, T, T] bool.
    """
    place = jnp.arange(segments.shape[1], dtype=jnp.int32)
    same = (segments[:, :, None] == segments[:, None, :]) & (segments >= 0)[:, None, :]
    return same & (place[:, None] >= place[None, :])[None]


def dense(states: jax.Array, kernel: jax.Array) -> jax.Array:
    """A matrix product in the kernel's dtype, summed in float32."""
    return jnp.einsum(
        "...d,de->...e", states.astype(kernel.dtype), kernel, preferred_element_type=jnp.float32
    )


def rms_norm(states: jax.Array, scale: jax.Array, eps: float) -> jax.Array:
    """Root-mean-square norm over the last axis.

    Reference: Zhang and Sennrich, "Root mean square layer normalization", 2019, Eq. 4.
    """
    mean = jnp.mean(states * states, axis=-1, keepdims=True)
    wide = scale.astype(jnp.float32).reshape((1,) * (states.ndim - 1) + (-1,))
    return states * jax.lax.rsqrt(mean + eps) * wide


def rotation(config: LMConfig, positions: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Cosines and sines of the rotary embedding.

    Args:
        config: sizes.
        positions: [B, T] int32.

    Returns:
        Two of [B, T, 1, H/2] float32.

    Reference: Su et al., "RoFormer", 2021, Eq. 34; the stretching is that of Llama 3.1.
    """
    half = config.head_dim // 2
    frequency = config.rope_theta ** (-jnp.arange(half, dtype=jnp.float32) / half)
    if config.rope_scaling is not None:
        frequency = config.rope_scaling.stretched(frequency)
    angle = positions.astype(jnp.float32)[:, :, None, None] * frequency[None, None, None, :]
    return jnp.cos(angle), jnp.sin(angle)


def _rotate(heads: jax.Array, turn: tuple[jax.Array, jax.Array]) -> jax.Array:
    """Turn the two halves of every head, as the Hugging Face layout stores them."""
    first, second = jnp.split(heads, 2, axis=-1)
    cos, sin = turn
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def _heads(config: LMConfig, x: jax.Array, weights: dict[str, jax.Array], name: str) -> jax.Array:
    """[B, T, heads, H] float32."""
    flat = dense(x, weights[name])
    if (bias := weights.get(f"{name}_bias")) is not None:
        flat = flat + bias.astype(jnp.float32)[None, None, :]
    heads = flat.reshape((*flat.shape[:2], -1, config.head_dim))
    scale = weights.get(f"{name}_norm")
    return heads if scale is None else rms_norm(heads, scale, config.rms_norm_eps)


def _attend(query: jax.Array, slots: Cache, mask: jax.Array) -> jax.Array:
    """[B, T, heads, H] queries over [B, S, K, H] slots to [B, T, heads·H] float32."""
    batch, length, heads, size = query.shape
    key, value = slots
    grouped = query.reshape(batch, length, key.shape[2], -1, size).astype(key.dtype)
    logits = jnp.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=jnp.float32)
    logits = jnp.where(mask[:, None, None, :, :], logits * float(size) ** -0.5, _NEVER)
    weights = jax.nn.softmax(logits, axis=-1).astype(value.dtype)
    mixed = jnp.einsum("bkgts,bskh->btkgh", weights, value, preferred_element_type=jnp.float32)
    return mixed.reshape(batch, length, heads * size)
