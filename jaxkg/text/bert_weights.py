"""Weights of a BERT as a checkpoint has them, without JAX: arrays of the host or of a device."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.low_rank import LowRank, low_rank_sum
from jaxkg.text.encoder import Change

if TYPE_CHECKING:
    import jax
    from numpy.typing import DTypeLike

    Array = jax.Array | np.ndarray

_UNREAD = {"pooler", "embeddings.position_ids"}
"""Tensors of a checkpoint that mean-pooled sentence vectors do not use."""

KERNELS = ("qkv", "attended", "inner", "outer")
"""The matrices of a layer."""

ALPHA = 32.0
"""How much low-rank changes count, see `jaxkg.low_rank`."""


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

    bias: Array  # [outputs] float32
    kernel: Array  # [inputs, outputs], products are taken in its dtype


class Norm(NamedTuple):
    """What a normalised state is scaled and moved by."""

    bias: Array  # [D] float32
    scale: Array  # [D] float32


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

    words: Array  # [V, D] float32
    positions: Array  # [P, D] float32
    types: Array  # [S, D] float32
    norm: Norm
    layers: tuple[Layer, ...]


def changed(weights: Bert, change: Change) -> Bert:
    """The weights with a low-rank change of the last layers' kernels added, `ALPHA` / r times."""
    layers = list(weights.layers)
    for name, (first, second) in change.items():
        for place in range(len(first)):
            index = len(layers) - len(first) + place
            low_rank, dense = LowRank(first[place], second[place]), getattr(layers[index], name)
            dense = dense._replace(kernel=low_rank_sum(dense.kernel, low_rank, alpha=ALPHA))
            layers[index] = layers[index]._replace(**{name: dense})
    return weights._replace(layers=tuple(layers))


def load_bert(
    config: BertConfig, tensors: Mapping[str, np.ndarray], *, dtype: DTypeLike = np.float32
) -> Bert:
    """A BERT with the weights of a checkpoint, by the names of the Hugging Face layout.

    Args:
        config: sizes.
        tensors: arrays of the checkpoint; dense kernels are stored transposed.
        dtype: of the matrix products; "bfloat16" is known once `ml_dtypes` is imported.

    Returns:
        Arrays of the host.

    Raises:
        JaxkgError: a tensor is missing, left over or of another shape.
    """
    left = {name.removeprefix("bert."): array for name, array in tensors.items()}
    width, inner = config.hidden_size, config.intermediate_size

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
        kernel = np.concatenate(kernels, axis=1).astype(dtype, order="C", copy=False)
        return Dense(bias=np.concatenate(biases), kernel=kernel)

    def norm(name: str) -> Norm:
        bias, scale = (take(f"{name}.{part}", width) for part in ("bias", "weight"))
        return Norm(bias=bias, scale=scale)

    def table(kind: str, rows: int) -> np.ndarray:
        return take(f"embeddings.{kind}_embeddings.weight", rows, width)

    def layer(prefix: str) -> Layer:
        parts = (f"{prefix}.attention.self.{part}" for part in ("query", "key", "value"))
        return Layer(
            after_attention=norm(f"{prefix}.attention.output.LayerNorm"),
            after_outer=norm(f"{prefix}.output.LayerNorm"),
            attended=dense(width, width, f"{prefix}.attention.output.dense"),
            inner=dense(width, inner, f"{prefix}.intermediate.dense"),
            outer=dense(inner, width, f"{prefix}.output.dense"),
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
        raise JaxkgError(f"the checkpoint has {len(extra)} tensors that no BERT has: {extra[0]!r}")
    return bert
