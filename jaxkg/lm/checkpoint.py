"""A language model as a folder in the Hugging Face layout: config, tokenizer, safetensors."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import DTypeLike

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.lm.config import LMConfig
from jaxkg.lm.gguf_files import GGUFFile
from jaxkg.lm.model import Llama
from jaxkg.lm.tokenizer import LMTokenizer
from jaxkg.storage import write_json, write_tensors
from jaxkg.text.weights import read_json

_ABOUT = "jaxkg.json"
_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_KERNELS = {
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "output": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
"""Stored transposed, [outputs, inputs]."""
_VECTORS = {
    "attention_norm": "input_layernorm.weight",
    "mlp_norm": "post_attention_layernorm.weight",
    "query_bias": "self_attn.q_proj.bias",
    "key_bias": "self_attn.k_proj.bias",
    "value_bias": "self_attn.v_proj.bias",
    "query_norm": "self_attn.q_norm.weight",
    "key_norm": "self_attn.k_norm.weight",
}


@dataclasses.dataclass(frozen=True, eq=False)
class LanguageModel:
    """Weights, sizes and tokenizer of one model.

    Attributes:
        about: what `jaxkg.json` says of it: how it was trained, and `prompts`, "compact" for a
            model taught on this package's short prompts, "chat" for one that follows instructions.
        name: for caches and meters.
        digest: of the weights, where that of their file stands for it; "" where they are hashed.
    """

    model: Llama
    tokenizer: LMTokenizer
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    name: str = "local"
    digest: str = ""

    def __post_init__(self) -> None:
        if self.tokenizer.size > self.config.vocab_size:
            raise JaxkgError(
                f"the tokenizer has {self.tokenizer.size} tokens, the model's vocab_size is "
                f"{self.config.vocab_size}"
            )

    @property
    def config(self) -> LMConfig:
        """Sizes."""
        return self.model.config

    @classmethod
    def create(
        cls, tokenizer: LMTokenizer, config: LMConfig, *, seed: int = 0, about: Mapping = {}
    ) -> LanguageModel:
        """A model with random weights, to be trained."""
        return cls(Llama(config, rngs=nnx.Rngs(seed)), tokenizer, dict(about))

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], *, dtype: DTypeLike | None = None
    ) -> LanguageModel:
        """Read a folder with `config.json`, `tokenizer.json` and safetensors files, or a GGUF file.

        Args:
            folder: a checkpoint of Llama, Qwen2 or Qwen3 as Hugging Face lays it out, what `save`
                left, or a GGUF file of one of them.
            dtype: of the weights; None takes them as they are stored, those of a GGUF file in
                float32.

        Raises:
            JaxkgError: a file is missing or damaged, a tensor is missing, left over or of another
                shape, or it is not a model of that family.
        """
        source = Path(folder)
        if source.is_file():
            file = GGUFFile(source)
            kind = jnp.dtype(dtype or jnp.float32)
            model = load_llama(file.config, file, dtype=kind)
            return cls(model, file.tokenizer(), name=source.stem, digest=file.digest(kind.name))
        if not source.is_dir():
            raise JaxkgError(
                f"{source}: no such file or folder; a local model is a GGUF file, or a folder with "
                "config.json, tokenizer.json and model.safetensors"
            )
        config = LMConfig.from_dict(read_json(source / "config.json"))
        tokenizer = LMTokenizer.open(source)
        about = read_json(source / _ABOUT) if (source / _ABOUT).exists() else {}
        model = load_llama(config, _Tensors(source), dtype=dtype)
        return cls(model, tokenizer, about, source.resolve().name)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the folder; any program that reads the Hugging Face layout can open it."""
        target = Path(folder)
        self.tokenizer.save(target)
        write_tensors(target / _WEIGHTS, dict(named_tensors(self.model)), {"format": "pt"})
        write_json(target / "config.json", self.config.to_dict())
        write_json(target / _ABOUT, dict(self.about))


def load_llama(
    config: LMConfig, tensors: Mapping[str, Any], *, dtype: DTypeLike | None = None
) -> Llama:
    """A model with the weights of a checkpoint, by the names of the Hugging Face layout.

    Args:
        config: sizes.
        tensors: arrays by name; read one at a time.
        dtype: of the weights; None takes that of the embedding table.

    Raises:
        JaxkgError: a tensor is missing, left over or of another shape.
    """
    left = set(tensors)

    def take(name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name not in left:
            raise JaxkgError(f"the checkpoint has no tensor {name!r}")
        left.discard(name)
        array = tensors[name]
        if array.shape != shape:
            raise JaxkgError(
                f"tensor {name!r} has shape {array.shape}; the configuration says {shape}"
            )
        return np.asarray(array, kind)

    table = (config.vocab_size, config.hidden_size)
    name = "model.embed_tokens.weight"
    kind = jnp.dtype(dtype) if dtype is not None else jnp.dtype(jnp.float32)
    if dtype is None and name in left:
        kind = tensors[name].dtype
    model = nnx.eval_shape(lambda: Llama(config, dtype=kind, rngs=nnx.Rngs(0)))
    model.embedding.set_value(jax.device_put(take(name, table)))
    model.norm.set_value(jax.device_put(take("model.norm.weight", table[1:])))
    if config.tie_word_embeddings:
        left.discard("lm_head.weight")
    else:
        model.head.set_value(jax.device_put(take("lm_head.weight", table)))
    for own, param in vars(model.layers).items():
        if not isinstance(param, nnx.Param):
            continue
        count, *shape = param.shape
        transposed = own in _KERNELS
        suffix = f"{_KERNELS[own]}.weight" if transposed else _VECTORS[own]
        wanted = tuple(reversed(shape)) if transposed else tuple(shape)
        # On the host: no copy of a layer more, and nothing to compile.
        stacked = np.empty((count, *shape), kind)
        for layer in range(count):
            row = take(f"model.layers.{layer}.{suffix}", wanted)
            stacked[layer] = row.T if transposed else row
        param.set_value(jax.device_put(stacked))
    extra = sorted(name for name in left if not name.endswith("rotary_emb.inv_freq"))
    if extra:
        raise JaxkgError(f"the checkpoint has {len(extra)} tensors too many, e.g. {extra[0]!r}")
    return model


def named_tensors(model: Llama) -> Iterator[tuple[str, np.ndarray]]:
    """The weights as `load_llama` takes them."""
    yield "model.embed_tokens.weight", np.asarray(model.embedding[...])
    yield "model.norm.weight", np.asarray(model.norm[...])
    if not model.config.tie_word_embeddings:
        yield "lm_head.weight", np.asarray(model.head[...])
    for own, array in model.layers.arrays().items():
        for layer, row in enumerate(np.asarray(array)):
            prefix = f"model.layers.{layer}."
            if own in _KERNELS:
                yield f"{prefix}{_KERNELS[own]}.weight", np.ascontiguousarray(row.T)
            else:
                yield prefix + _VECTORS[own], np.ascontiguousarray(row)


class _Tensors(Mapping[str, jax.Array]):
    """The arrays of a folder, in one file or in several with an index, read when asked for."""

    def __init__(self, folder: Path) -> None:
        if (folder / _INDEX).exists():
            where = read_json(folder / _INDEX).get("weight_map")
            if not isinstance(where, dict):
                raise JaxkgError(f"{folder / _INDEX} has no weight_map")
            files = {str(name): str(file) for name, file in where.items()}
            if outside := [file for file in files.values() if Path(file).name != file]:
                raise JaxkgError(f"{folder / _INDEX} names a file of another folder: {outside[0]}")
        elif (folder / _WEIGHTS).exists():
            files = None
        else:
            raise JaxkgError(f"{folder} has neither {_WEIGHTS} nor {_INDEX}")
        self._folder = folder
        self._open = {
            name: _open_tensors(folder / name)
            for name in sorted(set(files.values()) if files else {_WEIGHTS})
        }
        self._where = files or dict.fromkeys(self._open[_WEIGHTS].keys(), _WEIGHTS)
        for name, file in self._where.items():
            if name not in self._open[file].keys():  # noqa: SIM118  not a dictionary
                raise JaxkgError(f"{folder / file} has no tensor {name!r}, which the index names")

    def __getitem__(self, name: str) -> jax.Array:
        return self._open[self._where[name]].get_tensor(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


def _open_tensors(path: Path) -> Any:
    """A file whose arrays are read one at a time: `keys()`, `get_tensor(name)`, `metadata()`.

    Raises:
        JaxkgError: it is absent or damaged, or the library is.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise JaxkgError(
            f"a local language model needs safetensors: {how_to_install('text')}"
        ) from error
    try:
        return safe_open(path, framework="flax")
    except FileNotFoundError as error:
        raise JaxkgError(f"{path}: no such file") from error
    except (OSError, SafetensorError) as error:
        raise JaxkgError(f"{path} is damaged: {error}") from error
