"""From relation sequences to hypervectors."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxkg.score.hdc.algebra import Algebra
from jaxkg.types import NULL


def encode(algebra: Algebra, symbols: jax.Array, valid: jax.Array | None = None) -> jax.Array:
    """Bind a sequence left to right (PathHD, Eq. 3 and 4).

    The paper normalises the result blockwise; for an isometric algebra that changes nothing, so it
    is done for the others only.

    Args:
        algebra: any.
        symbols: `[L, *shape]`, in order.
        valid: `[L]` bool, False leaves a position out; all True if None.

    Returns:
        `[*shape]`; the identity where nothing is valid.
    """
    if valid is not None:
        mask = valid.reshape(-1, *(1 for _ in algebra.shape))
        symbols = jnp.where(mask, symbols, algebra.identity()[None])
    if symbols.shape[0] == 0:
        return algebra.identity()
    bound = symbols[0]
    for position in range(1, symbols.shape[0]):
        bound = algebra.bind(bound, symbols[position])
    return bound if algebra.isometric else algebra.normalize(bound)


def encode_paths(algebra: Algebra, table: jax.Array, paths: jax.Array) -> jax.Array:
    """Encode relation paths given as rows of indices.

    Args:
        algebra: any.
        table: `[R, *shape]` symbols of the relations.
        paths: `[N, L]` int32, NULL past a path's end.

    Returns:
        `[N, *shape]`; an empty path is the identity.
    """

    def one(path: jax.Array) -> jax.Array:
        return encode(algebra, table[jnp.maximum(path, 0)], path != NULL)

    return jax.vmap(one)(paths)


def encode_bundle(
    algebra: Algebra, table: jax.Array, paths: jax.Array, weights: jax.Array
) -> jax.Array:
    """A query over several plans: the weighted bundle of their encodings.

    One plan with weight 1 is the paper's plan-based query (PathHD, Sec. 2.2 (i)). The inner product
    of the bundle with a path is the weighted sum of the plans' similarities to it.

    Args:
        algebra: any.
        table: `[R, *shape]`.
        paths: `[P, L]` int32, NULL past a path's end.
        weights: `[P]` float; 0 for padding.

    Returns:
        `[*shape]`, not normalised.
    """
    return algebra.bundle(encode_paths(algebra, table, paths), weights)
