"""Similarity of many queries and many candidates as one real matrix product.

Re<x, y> of complex blocks is the dot product of their real and imaginary parts, so a table of
hypervectors is a real matrix `[N, F]`. Where every candidate block has the same norm (any product
of an isometric algebra's symbols) Eq. 5 and the flat cosine are linear in the candidate, and the
norms are paid once per query. Where candidates are bundles, or products of Gaussian vectors, they
are not linear: `prepare` such candidates with `normalize` first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra

PRECISIONS = ("float32", "bfloat16", "int8")
METRICS = ("block", "flat")


class Packed(NamedTuple):
    """Rows of a table in the precision they are multiplied in."""

    values: jax.Array  # [N, F] float32, bfloat16 or int8
    scale: jax.Array | None  # [N] float32, int8 only: a row is values * scale


def pack(rows: jax.Array, precision: str = "float32") -> Packed:
    """Round a table.

    Args:
        rows: `[N, F]` float32.
        precision: "float32", "bfloat16", or "int8" (symmetric).

    Raises:
        JaxkgError: an unknown precision.
    """
    if precision == "int8":
        limit = jnp.max(jnp.abs(rows), axis=-1)
        scale = jnp.where(limit > 0, limit, 1.0) / 127
        whole = jnp.clip(jnp.round(rows * (1 / scale)[:, None]), -127, 127)
        return Packed(whole.astype(jnp.int8), scale)
    if precision not in PRECISIONS:
        raise JaxkgError(f"precision {precision!r} is unknown: use one of {', '.join(PRECISIONS)}")
    return Packed(rows.astype(precision), None)


def inner(a: Packed, b: Packed) -> jax.Array:
    """All dot products, `[A, B]` float32, accumulated in float32 (int8: exactly, in int32)."""
    contract = (((1,), (1,)), ((), ()))
    if a.scale is not None and b.scale is not None:
        whole = jax.lax.dot_general(a.values, b.values, contract, preferred_element_type=jnp.int32)
        return whole.astype(jnp.float32) * a.scale[:, None] * b.scale[None, :]
    precision: Any = jax.lax.Precision.HIGHEST if a.values.dtype == jnp.float32 else None
    return jax.lax.dot_general(
        a.values, b.values, contract, precision=precision, preferred_element_type=jnp.float32
    )


def query_rows(algebra: Algebra, queries: jax.Array, metric: str = "block") -> jax.Array:
    """`[B, F]` float32 rows whose dot product with a flattened candidate is the similarity.

    Args:
        queries: `[B, *shape]`; bundles are fine.
        metric: "block" (PathHD, Eq. 5) or "flat" (its Alg. 1).

    Raises:
        JaxkgError: an unknown metric.
    """
    if metric == "block":
        columns = jax.vmap(algebra.blocks)(queries)
        norm = jnp.sqrt(jnp.maximum(jnp.sum(columns**2, axis=-2, keepdims=True), 1e-20))
        # A candidate block has norm sqrt(energy / D); Eq. 5 divides by it and by D.
        columns = columns / (norm * jnp.sqrt(algebra.energy * columns.shape[-1]))
        return columns.reshape(queries.shape[0], algebra.floats)
    if metric != "flat":
        raise JaxkgError(f"metric {metric!r} is unknown: use one of {', '.join(METRICS)}")
    rows = jax.vmap(algebra.flatten)(queries)
    norm = jnp.sqrt(jnp.maximum(jnp.sum(rows**2, axis=-1, keepdims=True), 1e-20))
    return rows / (norm * jnp.sqrt(algebra.energy))


def similarity_matrix(
    algebra: Algebra,
    queries: jax.Array,
    candidates: jax.Array,
    *,
    metric: str = "block",
    precision: str = "float32",
) -> jax.Array:
    """Similarity of every query to every candidate.

    Args:
        queries: `[B, *shape]`.
        candidates: `[N, *shape]`, encoded paths (`encode_paths`, `encode_trie`): blocks of the norm
            a symbol's have. Bundles must go through `algebra.normalize` for "block".
        metric: "block" (Eq. 5) or "flat".
        precision: in which the tables are multiplied: "float32", "bfloat16" or "int8".

    Returns:
        `[B, N]` float32.
    """
    rows = jax.vmap(algebra.flatten)(candidates)
    packed = pack(query_rows(algebra, queries, metric), precision)
    return inner(packed, pack(rows, precision))
