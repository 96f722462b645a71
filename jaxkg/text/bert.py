"""BERT in Flax: what a sentence encoder runs on the device."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
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


class Dense(nnx.Module):
    """A matrix product in the kernel's dtype, summed in float32, and a bias.

    `nnx.Linear` rounds the sum as well, which costs accuracy and, on CPUs with matrix units, two
    thirds of the speed.
    """

    def __init__(self, inputs: int, outputs: int, *, dtype: DTypeLike, rngs: nnx.Rngs) -> None:
        kernel = jax.random.normal(rngs.params(), (inputs, outputs)) * inputs**-0.5
        self.kernel = nnx.Param(kernel.astype(dtype))
        self.bias = nnx.Param(jnp.zeros(outputs))

    def __call__(self, states: jax.Array) -> jax.Array:
        """[..., inputs] float32 to [..., outputs] float32."""
        kernel = self.kernel[...]
        product = jnp.einsum(
            "...d,de->...e", states.astype(kernel.dtype), kernel, preferred_element_type=jnp.float32
        )
        return product + self.bias[...].reshape((1,) * (product.ndim - 1) + (-1,))


class Layer(nnx.Module):
    """Self-attention and a feed-forward network, each followed by a normalised sum."""

    def __init__(self, config: BertConfig, *, dtype: DTypeLike, rngs: nnx.Rngs) -> None:
        width, inner = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        dense = functools.partial(Dense, dtype=dtype, rngs=rngs)
        # Queries, keys and values in one product: a third of the calls.
        self.qkv = dense(width, 3 * width)
        self.attended = dense(width, width)
        self.after_attention = nnx.LayerNorm(width, epsilon=config.layer_norm_eps, rngs=rngs)
        self.inner = dense(width, inner)
        self.outer = dense(inner, width)
        self.after_outer = nnx.LayerNorm(width, epsilon=config.layer_norm_eps, rngs=rngs)

    def __call__(self, states: jax.Array, bias: jax.Array) -> jax.Array:
        """[B, T, D] float32 states and [B, 1, 1, T] float32 attention bias to [B, T, D]."""
        batch, tokens, width = states.shape
        shape = (batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = jnp.unstack(self.qkv(states).reshape(shape), axis=2)
        scale = float(shape[-1]) ** -0.5
        logits = jnp.einsum("bthd,bshd->bhts", query * scale, key)
        weights = jax.nn.softmax(logits + bias, axis=-1)
        mixed = jnp.einsum("bhts,bshd->bthd", weights, value).reshape(states.shape)
        states = self.after_attention(states + self.attended(mixed))
        inner = jax.nn.gelu(self.inner(states), approximate=False)
        return self.after_outer(states + self.outer(inner))


class Bert(nnx.Module):
    """A BERT encoder. Matrix products run in `dtype`, norms and sums in float32.

    Reference: Devlin, Chang, Lee and Toutanova, "BERT: pre-training of deep bidirectional
    transformers for language understanding", 2019.
    """

    def __init__(
        self, config: BertConfig, *, dtype: DTypeLike = jnp.float32, rngs: nnx.Rngs
    ) -> None:
        width = config.hidden_size
        self.words = nnx.Embed(config.vocab_size, width, rngs=rngs)
        self.positions = nnx.Embed(config.max_position_embeddings, width, rngs=rngs)
        self.types = nnx.Embed(config.type_vocab_size, width, rngs=rngs)
        self.norm = nnx.LayerNorm(width, epsilon=config.layer_norm_eps, rngs=rngs)
        self.layers = nnx.List(
            Layer(config, dtype=dtype, rngs=rngs) for _ in range(config.num_hidden_layers)
        )

    def __call__(self, ids: jax.Array, lengths: jax.Array) -> jax.Array:
        """Contextual vectors of every token.

        Args:
            ids: [B, T] int32 word pieces.
            lengths: [B] int32, tokens of each row; what stands behind them takes no part.

        Returns:
            [B, T, D] float32; rows past a length are meaningless.
        """
        chex.assert_rank([ids, lengths], [2, 1])
        return self.through(self.embed(ids), lengths)

    def embed(self, ids: jax.Array) -> jax.Array:
        """[B, T] int32 word pieces to [B, T, D] float32, what the first layer is given."""
        places = jnp.arange(ids.shape[1], dtype=jnp.int32)
        added = self.positions(places) + self.types(jnp.zeros(1, jnp.int32))
        return self.norm(self.words(ids) + added[None])

    def through(
        self, states: jax.Array, lengths: jax.Array, *, first: int = 0, last: int | None = None
    ) -> jax.Array:
        """[B, T, D] float32 states, through layers `first` to `last` alone."""
        places = jnp.arange(states.shape[1], dtype=jnp.int32)
        there = places[None, :] < lengths[:, None]
        bias = jnp.where(there, 0.0, -jnp.inf)[:, None, None, :]
        for layer in list(self.layers)[first:last]:
            states = layer(states, bias)
        return states


def init_change(weights: nnx.State, *, layers: int, rank: int, key: jax.Array) -> Change:
    """A change of the last layers' kernels that changes nothing yet.

    Args:
        weights: of a `Bert`, from `nnx.split`.
        layers: how many of the last.
        rank: of the change of each kernel.
        key: of the first factors; the second are 0.
    """
    flat = dict(nnx.to_flat_state(weights))
    change = {}
    for name, part in zip(KERNELS, jax.random.split(key, len(KERNELS))):
        inputs, outputs = flat["layers", 0, name, "kernel"].shape
        first = jax.random.normal(part, (layers, inputs, rank)) * inputs**-0.5
        change[name] = LowRank(first, jnp.zeros((layers, rank, outputs)))
    return change


def changed(weights: nnx.State, change: Change, *, alpha: float = ALPHA) -> nnx.State:
    """The weights with a low-rank change of the last layers' kernels added; alpha / r times."""
    flat = dict(nnx.to_flat_state(weights))
    count = len({path[1] for path in flat if path[0] == "layers"})
    for name, (first, second) in change.items():
        for place in range(len(first)):
            path = ("layers", count - len(first) + place, name, "kernel")
            one = LowRank(first[place], second[place])
            flat[path] = flat[path].copy(low_rank_sum(flat[path][...], one, alpha=alpha))
    return nnx.from_flat_state(flat)


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
    model = nnx.eval_shape(lambda: Bert(config, dtype=dtype, rngs=nnx.Rngs(0)))

    def put(param: Any, array: np.ndarray, name: str) -> None:
        if array.shape != param.shape:
            raise JaxkgError(
                f"tensor {name!r} has shape {array.shape}; the configuration says {param.shape}"
            )
        param.set_value(jnp.asarray(array, param.dtype))

    def take(name: str) -> np.ndarray:
        if name not in left:
            raise JaxkgError(f"the checkpoint has no tensor {name!r}")
        return np.asarray(left.pop(name), np.float32)

    def dense(module: Dense, *names: str) -> None:
        kernels = [take(f"{name}.weight").T for name in names]
        put(module.kernel, np.concatenate(kernels, axis=1), names[0])
        put(module.bias, np.concatenate([take(f"{name}.bias") for name in names]), names[0])

    def norm(module: nnx.LayerNorm, name: str) -> None:
        put(module.scale, take(f"{name}.weight"), name)
        put(module.bias, take(f"{name}.bias"), name)

    for kind, table in (
        ("word", model.words),
        ("position", model.positions),
        ("token_type", model.types),
    ):
        name = f"embeddings.{kind}_embeddings.weight"
        put(table.embedding, take(name), name)
    norm(model.norm, "embeddings.LayerNorm")
    for place, layer in enumerate(model.layers):
        at = f"encoder.layer.{place}"
        dense(layer.qkv, *(f"{at}.attention.self.{part}" for part in ("query", "key", "value")))
        dense(layer.attended, f"{at}.attention.output.dense")
        norm(layer.after_attention, f"{at}.attention.output.LayerNorm")
        dense(layer.inner, f"{at}.intermediate.dense")
        dense(layer.outer, f"{at}.output.dense")
        norm(layer.after_outer, f"{at}.output.LayerNorm")
    extra = sorted(name for name in left if not name.startswith(tuple(_UNREAD)))
    if extra:
        raise JaxkgError(f"the checkpoint has {len(extra)} tensors no BERT has, e.g. {extra[0]!r}")
    return model
