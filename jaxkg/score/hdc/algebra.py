"""The one interface behind every binding operator of hyperdimensional computing.

An `Algebra` is a frozen record of pure functions over arrays, made by a constructor (`ghrr`,
`hrr`, `fhrr`, `real`, `bipolar`, `mix`). Nothing is stored in it but sizes and functions, so it can
be a static argument of `jax.jit`, closed over, and passed around like a number.

Every function is written for one hypervector and acts on the trailing axes, `algebra.shape`. Under
`jax.vmap` it is batched the usual way; leading axes of equal rank broadcast as well, which is what
the scorers use.

Reference: "PathHD: efficient LLM reasoning over knowledge graphs via hyperdimensional retrieval",
Sec. 2 and App. J; Yeung, Zou and Imani, "Generalized holographic reduced representations" (2024).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

_TINY = 1e-20
"""Floor under a squared norm: a zero block scores 0 and has a finite gradient."""


@dataclasses.dataclass(frozen=True, eq=False)
class Algebra:
    """Pure functions over hypervectors of one kind.

    Two algebras are equal only if they are the same object; constructors return the same object for
    the same arguments, so compiled functions are found again.

    Attributes:
        name: of the operator, e.g. "ghrr-haar".
        dimension: d, the number of entries of a hypervector *in its own field*: complex entries for
            GHRR and FHRR (PathHD, Eq. 1: v in C^d with d = D m^2), real ones for the others.
        floats: F, the number of real numbers that hold it: 2d for complex entries, else d. Compare
            operators at equal `floats` when memory is what counts.
        shape: array shape of one hypervector.
        dtype: storage type; arithmetic is float32 whatever it is.
        energy: squared norm of a symbol: <x, x> = energy.
        commutative: x * y = y * x for every pair, so order is lost.
        isometric: binding keeps norms and `unbind_left` is its exact adjoint,
            <z, x * y> = <unbind_left(x, z), y>. Growing paths needs it. It holds for products of
            symbols from `random`; it does not hold for bundles used as *symbols*.
        random: `(shape=(), *, key)` -> `[*shape, *algebra.shape]` independent symbols.
        identity: `()` -> e with e * x = x * e = x.
        bind: `(x, y)` -> x * y.
        inverse: `(x)` -> the inverse (for HRR with Gaussian symbols an approximate one).
        unbind_left: `(x, z)` -> y where z = x * y.
        coordinates: G, how many real numbers `smooth` takes.
        smooth: `(g, *, key)` with g `[G]` float32 -> a symbol that moves smoothly with g. For small
            steps 1 - similarity is |g - g'|^2 / (2G), whatever the operator; far apart it is
            noise around 0. The key draws what all symbols of one table share. (`bipolar` and `mix`
            jump from sign to sign, so they have no useful gradient and 1 - similarity starts
            linearly.)
        blocks: `(x)` -> `[W, D]` float32, one *column* per block (D = 1: no block structure).
            Re<x, y> is the plain dot product of two of these.
        from_blocks: its inverse, which rounds to the storage type.
    """

    name: str
    dimension: int
    floats: int
    shape: tuple[int, ...]
    dtype: Any
    energy: float
    commutative: bool
    isometric: bool
    random: Callable[..., jax.Array]
    identity: Callable[[], jax.Array]
    bind: Callable[[jax.Array, jax.Array], jax.Array]
    inverse: Callable[[jax.Array], jax.Array]
    unbind_left: Callable[[jax.Array, jax.Array], jax.Array]
    coordinates: int
    smooth: Callable[..., jax.Array]
    blocks: Callable[[jax.Array], jax.Array]
    from_blocks: Callable[[jax.Array], jax.Array]

    def bundle(self, xs: jax.Array, weights: jax.Array | None = None) -> jax.Array:
        """Superpose hypervectors: the weighted sum, not normalised.

        Args:
            xs: `[N, *shape]`.
            weights: `[N]` real; all ones if None. 0 leaves an entry out, whatever it holds.

        Returns:
            `[*shape]`. Inner products with it are the weighted sums of inner products. Its blocks
            are no longer unitary: good as a query, wrong as a symbol to bind with.
        """
        columns = self.blocks(xs)
        if weights is not None:
            weights = weights.astype(jnp.float32)[:, None, None]
            columns = jnp.where(weights == 0, 0.0, columns) * weights
        return self.from_blocks(jnp.sum(columns, axis=0))

    def normalize(self, x: jax.Array) -> jax.Array:
        """Scale every block to the norm a symbol's block has (PathHD, Eq. 2); zero blocks stay."""
        columns = self.blocks(x)
        norm2 = jnp.sum(columns**2, axis=-2, keepdims=True)
        target = self.energy / columns.shape[-1]
        scale = jnp.where(norm2 > _TINY, jnp.sqrt(target / jnp.maximum(norm2, _TINY)), 0.0)
        return self.from_blocks(columns * scale)

    def similarity(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Blockwise cosine (PathHD, Eq. 5): mean over blocks of Re<x_j, y_j> / (|x_j| |y_j|).

        A zero block counts 0. Algebras without blocks (`blocks` has one column) give the plain
        cosine.

        Returns:
            `[]` float32 in [-1, 1].
        """
        a, b = _unit_columns(self.blocks(x)), _unit_columns(self.blocks(y))
        return jnp.sum(a * b, axis=(-2, -1)) / a.shape[-1]

    def cosine(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Flat cosine over all entries (PathHD, Alg. 1, line 11).

        Equal to `similarity` where all blocks have the same norm, which products of symbols do;
        bundles differ: here a block in which their terms agree weighs more.

        Returns:
            `[]` float32 in [-1, 1].
        """
        a, b = self.flatten(x), self.flatten(y)
        norm2 = jnp.sum(a**2, axis=-1) * jnp.sum(b**2, axis=-1)
        return jnp.sum(a * b, axis=-1) / jnp.sqrt(jnp.maximum(norm2, _TINY))

    def flatten(self, x: jax.Array) -> jax.Array:
        """`[F]` float32 with flatten(x) . flatten(y) = Re<x, y>: one real matmul scores a table."""
        columns = self.blocks(x)
        return columns.reshape(*columns.shape[:-2], self.floats)

    def unflatten(self, flat: jax.Array) -> jax.Array:
        """The inverse of `flatten`: `[F]` to `[*shape]`, rounded to the storage type."""
        columns = jax.eval_shape(self.blocks, jax.ShapeDtypeStruct(self.shape, self.dtype)).shape
        return self.from_blocks(flat.reshape(*flat.shape[:-1], *columns))


def _unit_columns(columns: jax.Array) -> jax.Array:
    norm2 = jnp.sum(columns**2, axis=-2, keepdims=True)
    return columns / jnp.sqrt(jnp.maximum(norm2, _TINY))
