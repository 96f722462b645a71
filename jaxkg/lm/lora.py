"""LoRA: a low-rank change of every kernel, trained in place of the kernels.

The change is added to the kernels wherever the model runs (`merge`), so model code knows nothing of
it; merged again with minus alpha, the kernels are back up to rounding.

Reference: Hu et al., "LoRA: low-rank adaptation of large language models", 2022, Eq. 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import jax
import jax.numpy as jnp
from flax import nnx

from jaxkg.errors import JaxkgError
from jaxkg.ops import LowRank, low_rank_sum

KERNELS = ("query", "key", "value", "output", "gate", "up", "down")


Lora: TypeAlias = Mapping[str, LowRank]
"""By the kernel's name: [L, inputs, r] and [L, r, outputs], one change a layer."""


def init_lora(weights: nnx.State, *, rank: int = 16, key: jax.Array) -> dict[str, LowRank]:
    """A change that changes nothing yet.

    Args:
        weights: of a `Llama`, from `nnx.split`.
        rank: r.
        key: of the first factors; the second are 0.

    Raises:
        JaxkgError: rank below 1.
    """
    if rank < 1:
        raise JaxkgError(f"rank is at least 1, not {rank}")
    lora = {}
    for name, part in zip(KERNELS, jax.random.split(key, len(KERNELS))):
        layers, inputs, outputs = weights["layers"][name].shape
        first = jax.random.normal(part, (layers, inputs, rank)) * inputs**-0.5
        lora[name] = LowRank(first, jnp.zeros((layers, rank, outputs)))
    return lora


def merge(weights: nnx.State, lora: Lora, *, alpha: float = 32.0) -> nnx.State:
    """The weights with the change added; the scale is alpha / r."""
    flat = dict(nnx.to_flat_state(weights))
    for name, change in lora.items():
        kernel = flat["layers", name]
        flat["layers", name] = kernel.copy(low_rank_sum(kernel[...], change, alpha=alpha))
    return nnx.from_flat_state(flat)
