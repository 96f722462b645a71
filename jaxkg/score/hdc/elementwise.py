"""Element-wise binding: signs, real numbers, and a binary/bipolar mix. All commute."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra
from jaxkg.score.hdc.layout import storage_dtype

_Map = Callable[[jax.Array], jax.Array]


def bipolar(dimension: int = 4096, *, dtype: Any = jnp.float32) -> Algebra:
    """Random signs bound by their product; XOR in the binary code (PathHD, App. J.1 (1)).

    Every symbol is its own inverse, so a relation walked twice cancels: r * r is the identity.

    Args:
        dimension: d, real entries.
        dtype: storage, float32 or bfloat16 (both exact here, until something is bundled).

    Raises:
        JaxkgError: dimension below 1 or an unknown dtype.
    """
    return _signs(_checked("bipolar", dimension), "bipolar", storage_dtype(dtype))


def mix(dimension: int = 4096, *, dtype: Any = jnp.float32) -> Algebra:
    """The "commutative mix of binary/bipolar" (PathHD, Sec. 3.4 (iii)).

    The paper names it without a definition. Here the first half of the entries is binary, {0, 1}
    bound by XOR (written x + y - 2xy, so that it stays bilinear for bundles), the second half
    bipolar, bound by the product; similarity reads a bit b as the sign 1 - 2b. In that reading it
    *is* the bipolar algebra, so any gap between the two (the paper reports 0.8 points) is not due
    to the algebra as named.

    Args:
        dimension: d, real entries.
        dtype: storage, float32 or bfloat16.

    Raises:
        JaxkgError: dimension below 1 or an unknown dtype.
    """
    return _signs(_checked("mix", dimension), "mix", storage_dtype(dtype))


@functools.cache
def _signs(d: int, name: str, dtype: Any) -> Algebra:
    bits = d // 2 if name == "mix" else 0

    def signs(x: jax.Array) -> jax.Array:
        x = x.astype(jnp.float32)
        return jnp.concatenate([1 - 2 * x[..., :bits], x[..., bits:]], axis=-1)

    def code(s: jax.Array) -> jax.Array:
        x = jnp.concatenate([(1 - s[..., :bits]) / 2, s[..., bits:]], axis=-1)
        return x.astype(dtype)

    def bind(x: jax.Array, y: jax.Array) -> jax.Array:
        return code(signs(x) * signs(y))

    return Algebra(
        name=name,
        random=lambda shape=(), *, key: code(
            jax.random.rademacher(key, (*shape, d), dtype=jnp.float32)
        ),
        identity=lambda: code(jnp.ones(d)),
        bind=bind,
        inverse=lambda x: x,
        unbind_left=bind,
        smooth=lambda g, *, key: code(jnp.where(_cosine(g, key) < 0, -1.0, 1.0)),
        isometric=True,
        **_flat(d, dtype, signs, code),
    )


def real(dimension: int = 4096, *, epsilon: float = 1e-6, dtype: Any = jnp.float32) -> Algebra:
    """Standard normal vectors bound entry by entry (PathHD, App. J.1 (2)).

    Products do not keep their norm, and their tails get heavier with each hop. The cosine of two
    paths without a common relation has variance 1/d, but with s relations in common it is 3^s / d,
    since the large entries of the common factors decide it: near misses are the noisiest.

    Args:
        dimension: d, real entries.
        epsilon: keeps the division of unbinding finite. The paper adds it to the divisor, which is
            then wrong for small negative ones; here it is added to the divisor's magnitude.
        dtype: storage, float32 or bfloat16.

    Raises:
        JaxkgError: dimension below 1, epsilon below 0, or an unknown dtype.
    """
    if epsilon < 0:
        raise JaxkgError(f"real needs epsilon >= 0, got {epsilon}")
    return _real(_checked("real", dimension), float(epsilon), storage_dtype(dtype))


@functools.cache
def _real(d: int, epsilon: float, dtype: Any) -> Algebra:
    def load(x: jax.Array) -> jax.Array:
        return x.astype(jnp.float32)

    def store(x: jax.Array) -> jax.Array:
        return x.astype(dtype)

    def bind(x: jax.Array, y: jax.Array) -> jax.Array:
        return store(load(x) * load(y))

    def reciprocal(x: jax.Array) -> jax.Array:
        x = load(x)
        return 1 / (x + jnp.where(x < 0, -epsilon, epsilon))

    def unbind_left(x: jax.Array, z: jax.Array) -> jax.Array:
        return store(load(z) * reciprocal(x))

    return Algebra(
        name="real",
        random=lambda shape=(), *, key: store(jax.random.normal(key, (*shape, d))),
        identity=lambda: jnp.ones(d, dtype),
        bind=bind,
        inverse=lambda x: store(reciprocal(x)),
        unbind_left=unbind_left,
        smooth=lambda g, *, key: store(jnp.sqrt(2.0) * _cosine(g, key)),
        isometric=False,
        **_flat(d, dtype, load, store),
    )


def _flat(d: int, dtype: Any, load: _Map, store: _Map) -> dict[str, Any]:
    """The fields that all element-wise algebras share."""
    return {
        "dimension": d,
        "floats": d,
        "shape": (d,),
        "dtype": dtype,
        "energy": float(d),
        "commutative": True,
        "coordinates": d,
        "blocks": lambda x: load(x)[..., None],
        "from_blocks": lambda c: store(c[..., 0]),
    }


def _cosine(g: jax.Array, key: jax.Array) -> jax.Array:
    """Random Fourier features (Rahimi and Recht 2007); signs of them: Raginsky, Lazebnik 2009."""
    return jnp.cos(g + jax.random.uniform(key, g.shape, maxval=2 * jnp.pi))


def _checked(name: str, dimension: int) -> int:
    if dimension < 1:
        raise JaxkgError(f"{name} needs dimension >= 1, got {dimension}")
    return dimension
