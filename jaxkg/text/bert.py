"""BERT: what a sentence encoder runs on the device."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from jaxkg.errors import JaxkgError
from jaxkg.ops import LowRank, low_rank_sum
from jaxkg.text.encoder import Change

_UNREAD = {"pooler", "embeddings.position_ids"}
"""Tensors of a checkpoint that mean-pooled sentence vectors do not use."""

KERNELS = ("qkv", "attended", "inner", "outer")
"""The matrices of a layer."""

ALPHA = 32.0
"""How much low-rank changes count, see `jaxkg.ops.low_rank_sum`."""


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """Sizes of a BERT, by the names its `config.json` gives them."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> BertConfig:
        """Read a `config.json`.

        Raises:
            JaxkgError: it is not of a BERT as this module runs it.
        """
        fixed = {
            "model_type": "bert",
            "hidden_act": "gelu",
            "position_embedding_type": "absolute",
        }
        for key, wanted in fixed.items():
            if raw.get(key, wanted) != wanted:
                raise JaxkgError(f"{key} is {raw[key]!r}; this encoder runs {wanted!r} only")
        try:
            return cls(**{f.name: raw[f.name] for f in dataclasses.fields(cls) if f.name in raw})
        except TypeError as error:
            raise JaxkgError(f"sizes of the model are missing: {error}") from error


# The fields of these stand in the order of their names: saved models hold a layer's arrays so.


class Dense(NamedTuple):
    """A matrix, whose product is summed in float32, and a bias."""

    bias: jax.Array  # [outputs] float32
    kernel: jax.Array  # [inputs, outputs], products are taken in its dtype


class Norm(NamedTuple):
    """What a normalised state is scaled and moved by."""

    bias: jax.Array  # [D] float32
    scale: jax.Array  # [D] float32


class Layer(NamedTuple):
    """Self-attention and a feed-forward network, each followed by a normalised sum."""

    after_attention: Norm
    after_outer: Norm
    attended: Dense
    inner: Dense
    outer: Dense
    qkv: Dense  # queries, keys and values in one product: a third of the calls


class Bert(NamedTuple):
    """Weights of a BERT encoder.

    Reference: Devlin, Chang, Lee and Toutanova, "BERT: pre-training of deep bidirectional
    transformers for language understanding", 2019.
    """

    words: jax.Array  # [V, D] float32
    positions: jax.Array  # [P, D] float32
    types: jax.Array  # [S, D] float32
    norm: Norm
    layers: tuple[Layer, ...]


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


def _along(vector: jax.Array, states: jax.Array) -> jax.Array:
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


def changed(weights: Bert, change: Change, *, alpha: float = ALPHA) -> Bert:
    """The weights with a low-rank change of the last layers' kernels added; alpha / r times."""
    layers = list(weights.layers)
    for name, (first, second) in change.items():
        for place in range(len(first)):
            at = len(layers) - len(first) + place
            one, dense = LowRank(first[place], second[place]), getattr(layers[at], name)
            dense = dense._replace(kernel=low_rank_sum(dense.kernel, one, alpha=alpha))
            layers[at] = layers[at]._replace(**{name: dense})
    return weights._replace(layers=tuple(layers))


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


def load_bert(
    config: BertConfig, tensors: Mapping[str, np.ndarray], *, dtype: DTypeLike = jnp.float32
) -> Bert:
    """A BERT with the weights of a checkpoint, by the names of the Hugging Face layout.

    Args:
        config: sizes.
        tensors: arrays of the checkpoint; dense kernels are stored transposed.
        dtype: of the matrix products.

    Raises:
        JaxkgError: a tensor is missing, left over or of another shape.
    """
    left = {name.removeprefix("bert."): array for name, array in tensors.items()}
    width, inner = config.hidden_size, config.intermediate_size

    put = jax.device_put  # `jnp.asarray` compiles a program for every shape

    def take(name: str, *shape: int) -> np.ndarray:
        if name not in left:
            raise JaxkgError(f"the checkpoint has no tensor {name!r}")
        array = np.asarray(left.pop(name), np.float32)
        if array.shape != shape:
            raise JaxkgError(
                f"tensor {name!r} has shape {array.shape}; the configuration says {shape}"
            )
        return array

    def dense(inputs: int, outputs: int, *names: str) -> Dense:
        kernels = [take(f"{name}.weight", outputs, inputs).T for name in names]
        biases = [take(f"{name}.bias", outputs) for name in names]
        kernel = put(np.concatenate(kernels, axis=1).astype(dtype, order="C", copy=False))
        return Dense(bias=put(np.concatenate(biases)), kernel=kernel)

    def norm(name: str) -> Norm:
        bias, scale = (put(take(f"{name}.{part}", width)) for part in ("bias", "weight"))
        return Norm(bias=bias, scale=scale)

    def table(kind: str, rows: int) -> jax.Array:
        return put(take(f"embeddings.{kind}_embeddings.weight", rows, width))

    def layer(at: str) -> Layer:
        parts = (f"{at}.attention.self.{part}" for part in ("query", "key", "value"))
        return Layer(
            after_attention=norm(f"{at}.attention.output.LayerNorm"),
            after_outer=norm(f"{at}.output.LayerNorm"),
            attended=dense(width, width, f"{at}.attention.output.dense"),
            inner=dense(width, inner, f"{at}.intermediate.dense"),
            outer=dense(inner, width, f"{at}.output.dense"),
            qkv=dense(width, width, *parts),
        )

    bert = Bert(
        words=table("word", config.vocab_size),
        positions=table("position", config.max_position_embeddings),
        types=table("token_type", config.type_vocab_size),
        norm=norm("embeddings.LayerNorm"),
        layers=tuple(layer(f"encoder.layer.{at}") for at in range(config.num_hidden_layers)),
    )
    extra = sorted(name for name in left if not name.startswith(tuple(_UNREAD)))
    if extra:
        raise JaxkgError(f"the checkpoint has {len(extra)} tensors no BERT has, e.g. {extra[0]!r}")
    return bert
