"""How complex entries lie in memory: complex64, or pairs of reals in float32 or bfloat16.

Arithmetic is done on (real, imaginary) pairs of float32 arrays whatever the storage: compilers turn
it into plain vector code, while complex multiplication was measured five times slower on a CPU, and
bfloat16 has no complex type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.errors import JaxkgError

Pair = tuple[jax.Array, jax.Array]
"""Real and imaginary part, float32, same shape."""


class Layout(NamedTuple):
    """Storage of complex arrays whose entries have shape `entry`."""

    shape: tuple[int, ...]  # of the stored array
    dtype: Any
    load: Callable[[jax.Array], Pair]  # stored -> float32 pair of shape `entry`
    store: Callable[[jax.Array, jax.Array], jax.Array]  # the way back, rounding


def complex_layout(layout: str, dtype: Any, entry: tuple[int, ...]) -> Layout:
    """Choose the storage.

    Args:
        layout: "complex": one complex64 array of shape `entry`; "pair": a real array of shape
            `[2, *entry]`, real part first.
        dtype: float32 or bfloat16, of each part.
        entry: shape of one complex hypervector.

    Raises:
        JaxkgError: an unknown layout or dtype, or bfloat16 asked of the complex layout.
    """
    dtype = storage_dtype(dtype)
    if layout == "pair":
        axis = -1 - len(entry)

        def load_pair(x: jax.Array) -> Pair:
            real, imag = jnp.split(x, 2, axis=axis)
            return (
                jnp.squeeze(real, axis).astype(jnp.float32),
                jnp.squeeze(imag, axis).astype(jnp.float32),
            )

        def store_pair(real: jax.Array, imag: jax.Array) -> jax.Array:
            return jnp.stack([real, imag], axis=axis).astype(dtype)

        return Layout((2, *entry), dtype, load_pair, store_pair)
    if layout != "complex":
        raise JaxkgError(f"layout {layout!r} is unknown: use 'complex' or 'pair'")
    if dtype != jnp.float32:
        raise JaxkgError(f"there is no complex type of {dtype} parts: use layout='pair'")

    dtype = jnp.dtype(jnp.complex64)
    return Layout(entry, dtype, lambda x: (jnp.real(x), jnp.imag(x)), jax.lax.complex)


def storage_dtype(dtype: Any) -> Any:
    """float32 or bfloat16 as a dtype object.

    Raises:
        JaxkgError: anything else.
    """
    kind = jnp.dtype(dtype)
    if kind not in (jnp.float32, jnp.bfloat16):
        raise JaxkgError(f"storage dtype {kind} is not supported: use float32 or bfloat16")
    return kind


def matmul(x: Pair, y: Pair) -> Pair:
    """Product of the m x m matrices in `[..., m, m, D]`, for every block at once.

    Unrolled over the inner index with the blocks as the last axis, so that it compiles to vector
    code along D; a batched matrix product of tiny matrices is five times slower or more.
    """
    (xr, xi), (yr, yi) = x, y
    size = xr.shape[-2]

    def column(a: jax.Array, k: int) -> jax.Array:
        return a[..., :, k, None, :]

    def row(a: jax.Array, k: int) -> jax.Array:
        return a[..., None, k, :, :]

    def product(a: jax.Array, b: jax.Array) -> jax.Array:
        total = column(a, 0) * row(b, 0)
        for k in range(1, size):
            total = total + column(a, k) * row(b, k)
        return total

    return product(xr, yr) - product(xi, yi), product(xr, yi) + product(xi, yr)


def adjoint(x: Pair) -> Pair:
    """Conjugate transpose of every m x m matrix in `[..., m, m, D]`."""
    real, imag = x
    return jnp.swapaxes(real, -3, -2), -jnp.swapaxes(imag, -3, -2)
