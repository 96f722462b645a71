"""Sizes of a language model, by the names a `config.json` gives them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from jaxkg.errors import JaxkgError

FAMILIES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}
"""Shapes that run here, and what a checkpoint calls them."""


@dataclasses.dataclass(frozen=True)
class Llama3Rope:
    """How Llama 3.1 stretches its rotary embedding to longer texts."""

    factor: float = 8.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: int = 8192

    def stretched(self, frequency: Any) -> Any:
        """[H/2] frequencies: fast ones stay, slow ones are divided by the factor."""
        turns = self.original_max_position_embeddings * frequency / (2 * math.pi)
        low, high = self.low_freq_factor, self.high_freq_factor
        share = ((turns - low) / (high - low)).clip(0.0, 1.0)
        return frequency * (share + (1 - share) / self.factor)


@dataclasses.dataclass(frozen=True)
class LMConfig:
    """Sizes of a decoder-only model of the Llama family.

    Attributes:
        head_dim: width of one attention head.
        rope_scaling: None for the plain rotary embedding.
        tie_word_embeddings: the output layer is the embedding table.
        attention_bias: queries, keys and values have biases, as in Qwen2.
        head_norm: queries and keys are normed head by head, as in Qwen3.
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int = 2048
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    rope_scaling: Llama3Rope | None = None
    tie_word_embeddings: bool = False
    attention_bias: bool = False
    head_norm: bool = False

    def __post_init__(self) -> None:
        if self.num_attention_heads % self.num_key_value_heads:
            raise JaxkgError(
                f"num_attention_heads ({self.num_attention_heads}) is no multiple of "
                f"num_key_value_heads ({self.num_key_value_heads})"
            )
        if self.attention_bias and self.head_norm:
            raise JaxkgError("a model has biases, as Qwen2, or norms of heads, as Qwen3, not both")
        if self.head_dim % 2:
            raise JaxkgError(f"head_dim is even, for rotary embeddings, not {self.head_dim}")

    @classmethod
    def small(cls, vocab_size: int, *, width: int = 128, layers: int = 4) -> LMConfig:
        """A model that two CPU cores can train: heads of 32, half as many for keys and values."""
        heads = max(2, width // 32)
        return cls(
            vocab_size=vocab_size,
            hidden_size=width,
            intermediate_size=3 * width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads // 2,
            head_dim=32,
            tie_word_embeddings=True,
        )

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> LMConfig:
        """Read a `config.json`.

        Raises:
            JaxkgError: sizes are missing, or it is not of a model as this package runs it.
        """
        family = raw.get("model_type")
        if family not in FAMILIES:
            raise JaxkgError(f"model_type is {family!r}; this model runs {', '.join(FAMILIES)}")
        fixed = {"hidden_act": "silu", "mlp_bias": False, "use_sliding_window": False}
        if family != "qwen2":
            fixed["attention_bias"] = False  # it would have one on the output as well
        for key, wanted in fixed.items():
            if raw.get(key, wanted) != wanted:
                raise JaxkgError(f"{key} is {raw[key]!r}; this model runs {wanted!r} only")
        names = {field.name for field in dataclasses.fields(cls)}
        values = {key: value for key, value in raw.items() if key in names and value is not None}
        rope = dict(values.pop("rope_scaling", None) or raw.get("rope_parameters") or {})
        if "rope_theta" in rope:
            values["rope_theta"] = rope.pop("rope_theta")
        values["rope_scaling"] = _scaling(rope)
        values["attention_bias"] = family == "qwen2"
        values["head_norm"] = family == "qwen3"
        try:
            heads = values["num_attention_heads"]
            values.setdefault("num_key_value_heads", heads)
            values.setdefault("head_dim", values["hidden_size"] // heads)
            return cls(**values)
        except (KeyError, TypeError, ZeroDivisionError) as error:
            raise JaxkgError(f"sizes of the model are missing: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """The `config.json` of the model."""
        raw = dataclasses.asdict(self)
        if self.rope_scaling:
            raw["rope_scaling"]["rope_type"] = "llama3"
        biased, normed = raw.pop("attention_bias"), raw.pop("head_norm")
        family = "qwen2" if biased else "qwen3" if normed else "llama"
        named = {"architectures": [FAMILIES[family]], "model_type": family}
        return {**named, "hidden_act": "silu", **raw}


def _scaling(rope: dict[str, Any]) -> Llama3Rope | None:
    kind = rope.pop("rope_type", rope.pop("type", "default"))
    if kind == "default":
        return None
    if kind != "llama3":
        raise JaxkgError(f"rope_type is {kind!r}; this model runs 'default' and 'llama3'")
    try:
        return Llama3Rope(**{f.name: rope[f.name] for f in dataclasses.fields(Llama3Rope)})
    except KeyError as error:
        raise JaxkgError(f"rope_scaling has no {error}") from error
