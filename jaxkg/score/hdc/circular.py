"""HRR (circular convolution) and FHRR (phasors): the same algebra in two bases. Both commute."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc import layout as lay
from jaxkg.score.hdc.algebra import Algebra


def hrr(dimension: int = 4096, *, unitary: bool = False, dtype: Any = jnp.float32) -> Algebra:
    """Holographic reduced representations: binding is circular convolution (PathHD, App. J.1 (3)).

    Unbinding is circular correlation, as printed. With Gaussian symbols that is only approximate
    (cosine about 0.7 after one step), and products do not keep their norm. With `unitary`
    symbols, every Fourier coefficient has modulus 1 and both are exact (Plate 1995).

    Args:
        dimension: d, real entries.
        unitary: draw symbols with a flat spectrum; the default is the paper's N(0, 1/d).
        dtype: storage, float32 or bfloat16; the transforms run in float32.

    Raises:
        JaxkgError: dimension below 1 or an unknown dtype.
    """
    if dimension < 1:
        raise JaxkgError(f"hrr needs dimension >= 1, got {dimension}")
    return _hrr(dimension, unitary, lay.storage_dtype(dtype))


@functools.cache
def _hrr(d: int, unitary: bool, dtype: Any) -> Algebra:
    frequency = np.arange(d // 2 + 1)
    free = (frequency > 0) & (2 * frequency < d)

    def random(shape: tuple[int, ...] = (), *, key: jax.Array) -> jax.Array:
        x = jax.random.normal(key, (*shape, d)) / jnp.sqrt(float(d))
        if unitary:
            spectrum = jnp.fft.rfft(x)
            x = jnp.fft.irfft(spectrum / jnp.abs(spectrum).astype(jnp.complex64), n=d)
        return x.astype(dtype)

    def identity() -> jax.Array:
        return jnp.zeros(d, dtype).at[0].set(1)

    def bind(x: jax.Array, y: jax.Array) -> jax.Array:
        spectrum = _spectrum(x) * _spectrum(y)
        return jnp.fft.irfft(spectrum, n=d).astype(dtype)

    def inverse(x: jax.Array) -> jax.Array:
        return jnp.roll(x[..., ::-1], 1, axis=-1)

    def unbind_left(x: jax.Array, z: jax.Array) -> jax.Array:
        spectrum = jnp.conj(_spectrum(x)) * _spectrum(z)
        return jnp.fft.irfft(spectrum, n=d).astype(dtype)

    def smooth(g: jax.Array, *, key: jax.Array) -> jax.Array:
        # Frequencies 0 and d/2 of a real vector have no phase of their own.
        phase = jnp.where(free, g + jax.random.uniform(key, g.shape, maxval=2 * jnp.pi), 0.0)
        return jnp.fft.irfft(jax.lax.complex(jnp.cos(phase), jnp.sin(phase)), n=d).astype(dtype)

    return Algebra(
        name="hrr-unitary" if unitary else "hrr",
        dimension=d,
        floats=d,
        shape=(d,),
        dtype=dtype,
        energy=1.0,
        commutative=True,
        isometric=unitary,
        random=random,
        identity=identity,
        bind=bind,
        inverse=inverse,
        unbind_left=unbind_left,
        coordinates=d // 2 + 1,
        smooth=smooth,
        blocks=lambda x: x.astype(jnp.float32)[..., None],
        from_blocks=lambda c: c[..., 0].astype(dtype),
    )


def fhrr(dimension: int = 4096, *, layout: str = "complex", dtype: Any = jnp.float32) -> Algebra:
    """Fourier HRR: unit phasors, bound by their product (PathHD, App. J.1 (4)).

    Eq. 5 is applied with blocks of one phasor; for products of symbols that is the plain cosine.

    Args:
        dimension: d, complex entries (2d floats).
        layout: "complex" (complex64, `[d]`) or "pair" (`[2, d]`, real part first).
        dtype: storage of the parts, float32 or bfloat16 (pairs only).

    Raises:
        JaxkgError: dimension below 1, or an unknown layout or dtype.
    """
    if dimension < 1:
        raise JaxkgError(f"fhrr needs dimension >= 1, got {dimension}")
    return _fhrr(dimension, layout, jnp.dtype(dtype))


@functools.cache
def _fhrr(d: int, layout: str, dtype: Any) -> Algebra:
    storage = lay.complex_layout(layout, dtype, (d,))
    load, store = storage.load, storage.store

    def random(shape: tuple[int, ...] = (), *, key: jax.Array) -> jax.Array:
        phase = jax.random.uniform(key, (*shape, d), maxval=2 * jnp.pi)
        return store(jnp.cos(phase), jnp.sin(phase))

    def identity() -> jax.Array:
        return store(jnp.ones(d), jnp.zeros(d))

    def bind(x: jax.Array, y: jax.Array) -> jax.Array:
        (xr, xi), (yr, yi) = load(x), load(y)
        return store(xr * yr - xi * yi, xr * yi + xi * yr)

    def inverse(x: jax.Array) -> jax.Array:
        real, imag = load(x)
        return store(real, -imag)

    def unbind_left(x: jax.Array, z: jax.Array) -> jax.Array:
        return bind(inverse(x), z)

    def smooth(g: jax.Array, *, key: jax.Array) -> jax.Array:
        phase = g + jax.random.uniform(key, g.shape, maxval=2 * jnp.pi)
        return store(jnp.cos(phase), jnp.sin(phase))

    def from_columns(c: jax.Array) -> jax.Array:
        return store(c[..., 0, :], c[..., 1, :])

    return Algebra(
        name="fhrr",
        dimension=d,
        floats=2 * d,
        shape=storage.shape,
        dtype=storage.dtype,
        energy=float(d),
        commutative=True,
        isometric=True,
        random=random,
        identity=identity,
        bind=bind,
        inverse=inverse,
        unbind_left=unbind_left,
        coordinates=d,
        smooth=smooth,
        blocks=lambda x: jnp.stack(load(x), axis=-2),
        from_blocks=from_columns,
    )


def _spectrum(x: jax.Array) -> jax.Array:
    return jnp.fft.rfft(x.astype(jnp.float32))
