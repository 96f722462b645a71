"""GGUF files, as llama.cpp runs them: sizes, weights and tokenizer in one file."""

from __future__ import annotations

import functools
import hashlib
import math
import mmap
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.lm.config import FAMILIES, Llama3Rope, LMConfig
from jaxkg.lm.tokenizer import LMTokenizer

_MAGIC = b"GGUF"
_SCALARS = "BbHhIif?\0\0Qqd"
"""Letters of `struct` by the format's numbers of types; texts and lists have none."""
_TEXT, _LIST = 8, 9
_CHUNK = 1 << 16
"""Weights that are unpacked at once: they stay in a core's cache."""
_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_TABLE = "model.embed_tokens.weight"
_ROPE = "rope_freqs.weight"
_NAME = re.compile(r"(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)")
_TURNED = re.compile(r"\.[qk]_proj\.\w+$")


class _Tensor(NamedTuple):
    shape: tuple[int, ...]  # outermost axis first
    kind: Any  # of the library's quantisations
    start: int
    size: int  # bytes


class GGUFFile(Mapping[str, np.ndarray]):
    """A file's metadata, and its weights in float32 by their names in the Hugging Face layout.

    A weight is read and unpacked when it is asked for. Nothing in the file is executed.

    Attributes:
        path: of the file.
        fields: the metadata by key.
    """

    def __init__(self, path: Path) -> None:
        """Read the metadata and where the weights are.

        Raises:
            JaxkgError: it is no GGUF file, it is cut short or damaged, it has weights of a kind
                that cannot be unpacked, or the library is missing.
        """
        self.path = path
        self._library = _library()
        try:
            with path.open("rb") as file:
                if file.read(len(_MAGIC)) != _MAGIC:
                    raise JaxkgError(f"{path} is no GGUF file, nor a folder with config.json, "
                                     "tokenizer.json and model.safetensors")  # fmt: skip
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise JaxkgError(f"{path} cannot be read: {error.strerror}") from error
        self._place = len(_MAGIC)
        try:
            if (version := self._read("I")) not in (2, 3):
                raise JaxkgError(f"{path}: version {version} of GGUF; this reads 2 and 3, "
                                 "little-endian")  # fmt: skip
            tensors, fields = self._read("Q"), self._read("Q")
            self.fields = {self._text(): self._value(self._read("I")) for _ in range(fields)}
            self._tensors = dict(self._tensor() for _ in range(tensors))
        except struct.error:
            raise JaxkgError(f"{path} is cut short, or damaged") from None
        except UnicodeDecodeError as error:
            raise JaxkgError(f"{path} is damaged: a name is no UTF-8") from error
        step = self.number("general.alignment", 32)
        self._data = -(-self._place // step) * step
        end = max((self._data + t.start + t.size for t in self._tensors.values()), default=0)
        if end > len(self._bytes):
            raise JaxkgError(f"{path} is cut short: {len(self._bytes):,} bytes of {end:,}")

    def _read(self, kind: str) -> Any:
        (value,) = struct.unpack_from(f"<{kind}", self._bytes, self._place)
        self._place += struct.calcsize(f"<{kind}")
        return value

    def _text(self) -> str:
        return self._read(f"{self._read('Q')}s").decode()

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _LIST:
            kind, count = self._read("I"), self._read("Q")
            if kind == _TEXT:
                return [self._text() for _ in range(count)]
            form = f"<{count}{self._scalar(kind)}"
            values = struct.unpack_from(form, self._bytes, self._place)
            self._place += struct.calcsize(form)
            return list(values)
        return self._read(self._scalar(kind))

    def _scalar(self, kind: int) -> str:
        if kind >= len(_SCALARS) or _SCALARS[kind] == "\0":
            raise JaxkgError(f"{self.path} is damaged: a value of type {kind}")
        return _SCALARS[kind]

    def _tensor(self) -> tuple[str, _Tensor]:
        name = self._text()
        shape = tuple(self._read("Q") for _ in range(self._read("I")))[::-1]
        number, start = self._read("I"), self._read("Q")
        kinds = self._library.GGMLQuantizationType
        kind = kinds(number) if number in list(kinds) else None
        if kind is None:
            raise self._unknown(name, f"type {number}")
        block, size = self._library.GGML_QUANT_SIZES[kind]
        if not shape or not all(shape) or shape[-1] % block:
            raise JaxkgError(f"{self.path} is damaged: {name!r} has shape {shape}")
        return _renamed(name), _Tensor(shape, kind, start, math.prod(shape) // block * size)

    def _unknown(self, name: str, kind: str) -> JaxkgError:
        return JaxkgError(
            f"{self.path}: {name!r} is stored as {kind}, which gguf cannot unpack; take another "
            "quantisation, such as Q4_K_M or Q8_0"
        )

    def number(self, key: str, usual: Any = None, *, kind: type = int) -> Any:
        """A number of the metadata.

        Raises:
            JaxkgError: there is none and nothing is usual, or it is something else.
        """
        value = self.fields.get(key, usual)
        if type(value) is not kind or not value > 0:
            raise JaxkgError(f"{self.path}: {key} is {value!r}, not a number above 0")
        return value

    def text(self, key: str) -> str:
        """A text of the metadata; empty where there is none."""
        return str(self.fields.get(key, ""))

    @functools.cached_property
    def config(self) -> LMConfig:
        """Sizes.

        Raises:
            JaxkgError: some are missing, or it is not of a model as this package runs it.
        """
        family = self.text("general.architecture")
        if family not in FAMILIES:
            raise JaxkgError(f"{self.path} is of architecture {family!r}; this model runs "
                             f"{', '.join(FAMILIES)}")  # fmt: skip

        def size(name: str, usual: Any = None, *, kind: type = int) -> Any:
            return self.number(f"{family}.{name}", usual, kind=kind)

        width, heads = size("embedding_length"), size("attention.head_count")
        head = size("attention.key_length", width // heads)
        theta = size("rope.freq_base", 1e4, kind=float)
        others = size("rope.dimension_count", head), size("attention.value_length", head)
        stretched = self.text(f"{family}.rope.scaling.type") not in ("", "none")
        if stretched or f"{family}.expert_count" in self.fields or others != (head, head):
            raise JaxkgError(
                f"{self.path}: this model runs no experts, no rotary embedding that is partial or "
                "stretched otherwise than in Llama 3.1, and no values of another width than keys"
            )
        if _TABLE not in self._tensors:
            raise JaxkgError(f"{self.path} has no tensor 'token_embd.weight'")
        return LMConfig(
            vocab_size=self._tensors[_TABLE].shape[0],
            hidden_size=width,
            intermediate_size=size("feed_forward_length"),
            num_hidden_layers=size("block_count"),
            num_attention_heads=heads,
            num_key_value_heads=size("attention.head_count_kv", heads),
            head_dim=head,
            max_position_embeddings=size("context_length"),
            rms_norm_eps=size("attention.layer_norm_rms_epsilon", kind=float),
            rope_theta=theta,
            rope_scaling=self._scaling(head, theta) if _ROPE in self._tensors else None,
            tie_word_embeddings="lm_head.weight" not in self._tensors,
            attention_bias=family == "qwen2",
            head_norm=family == "qwen3",
        )

    def _scaling(self, head: int, theta: float) -> Llama3Rope:
        """How the rotary embedding is stretched, read back from what it is divided by."""
        divisors = self._unpacked(_ROPE)
        scaling = Llama3Rope(factor=float(divisors.max()))
        frequency = theta ** (-np.arange(head // 2) / (head // 2))
        wanted = frequency / scaling.stretched(frequency)
        if divisors.shape != wanted.shape or not np.allclose(divisors, wanted, rtol=1e-3):
            raise JaxkgError(f"{self.path}: {_ROPE} is not that of Llama 3.1 or 3.2")
        return scaling

    def tokenizer(self) -> LMTokenizer:
        """The tokenizer, a byte-level BPE, for chats in ChatML or as Llama 3 writes them.

        Raises:
            JaxkgError: it is of another kind, or damaged.
        """
        if (kind := self.text("tokenizer.ggml.model")) != "gpt2":
            raise JaxkgError(f"{self.path} has a tokenizer of kind {kind!r}; this reads 'gpt2', "
                             "the byte-level BPE of Llama 3, Qwen2 and Qwen3")  # fmt: skip
        names = ("tokens", "token_type", "merges")
        parts: list[Any] = [self.fields.get(f"tokenizer.ggml.{name}") for name in names]
        if not all(isinstance(part, list) for part in parts):
            raise JaxkgError(f"{self.path} lacks one of tokenizer.ggml.{', '.join(names)}")
        try:
            tokenizer = LMTokenizer.of_merges(*parts, words=self.text("tokenizer.ggml.pre"))
        except JaxkgError as error:
            raise JaxkgError(f"{self.path}: {error}") from error
        template = self.text("tokenizer.chat_template")
        if template and tokenizer.mark not in template:
            raise JaxkgError(f"{self.path}: its chat template is neither ChatML nor Llama 3's")
        return tokenizer

    def digest(self, dtype: str) -> str:
        """SHA-256 of the file and of the kind of numbers that its weights become."""
        return hashlib.sha256(hashlib.sha256(self._bytes).digest() + dtype.encode()).hexdigest()

    def __getitem__(self, name: str) -> np.ndarray:
        array = self._unpacked(name)
        if self.text("general.architecture") == "llama" and _TURNED.search(name):
            # The two of a rotated pair lie side by side here, there half a head apart.
            pairs = array.reshape(-1, self.config.head_dim // 2, 2, *array.shape[1:])
            return pairs.swapaxes(1, 2).reshape(array.shape)
        return array

    def _unpacked(self, name: str) -> np.ndarray:
        shape, kind, start, size = self._tensors[name]
        packed = np.frombuffer(self._bytes, np.uint8, size, self._data + start)
        packed = packed.reshape(*shape[:-1], -1)
        array, step = np.empty(shape, np.float32), max(1, _CHUNK // shape[-1])
        try:
            for row in range(0, shape[0] if len(shape) > 1 else 1, step):
                place = slice(row, row + step) if len(shape) > 1 else ...
                array[place] = self._library.quants.dequantize(packed[place], kind)
        except NotImplementedError:
            raise self._unknown(name, kind.name) from None
        return array

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._tensors if name != _ROPE)

    def __len__(self) -> int:
        return len(self._tensors) - (_ROPE in self._tensors)


def _renamed(name: str) -> str:
    """A weight's name in the Hugging Face layout.

    >>> _renamed("blk.3.attn_q.bias")
    'model.layers.3.self_attn.q_proj.bias'
    """
    match = _NAME.fullmatch(name)
    if match is None or match[2] not in _NAMES:
        return name
    layer = "" if match[1] is None else f"model.layers.{match[1]}."
    return f"{layer}{_NAMES[match[2]]}.{match[3]}"


def _library() -> Any:
    try:
        import gguf
        import gguf.quants
    except ImportError as error:
        raise JaxkgError(f"a GGUF file needs gguf: {how_to_install('gguf')}") from error
    return gguf
