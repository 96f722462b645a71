"""Low-rank changes of kernels: what is trained in place of the kernels themselves.

Reference: Hu et al., "LoRA: low-rank adaptation of large language models", 2022, Eq. 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import jax


class LowRank(NamedTuple):
    """The change `first @ second · alpha / r` of a kernel, or of one a layer."""

    first: jax.Array  # [..., inputs, r] float32
    second: jax.Array  # [..., r, outputs] float32


def low_rank_sum(kernel: jax.Array, change: LowRank, *, alpha: float) -> jax.Array:
    """A kernel with a change added.

    Args:
        kernel: [..., inputs, outputs] of any float dtype.
        change: of rank r.
        alpha: the change counts alpha / r times.

    Returns:
        [..., inputs, outputs] in the kernel's dtype; added in float32, for in bfloat16 a small
        change would be lost. A NumPy array where all are, for which nothing compiles.

    >>> import jax.numpy as jnp
    >>> change = LowRank(jnp.ones((2, 1)), jnp.ones((1, 3)))
    >>> low_rank_sum(jnp.zeros((2, 3)), change, alpha=0.5).tolist()
    [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    """
    first, second = change
    added = (first @ second) * (alpha / first.shape[-1])
    return (kernel.astype(np.float32) + added).astype(kernel.dtype)
