"""A given list of relation paths, with every shared prefix bound once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra
from jaxkg.score.hdc.similarity import inner, pack, query_rows
from jaxkg.types import NULL

_PRODUCT_GAIN = 16
"""A score inside a matrix product costs about this much less than one gathered dot product."""


Indices = np.ndarray | jax.Array


class Trie(NamedTuple):
    """Distinct prefixes, level by level; node 0 is the root, then level 1, level 2, ...

    Padding nodes have parent 0 and relation 0 and no path ends in them.
    """

    parent: tuple[Indices, ...]  # per level [T_l] int32, index within the level before
    relation: tuple[Indices, ...]  # per level [T_l] int32
    node: Indices  # [N] int32, where each path ends, counted over all levels


def build_trie(paths: np.ndarray, *, bucket: Callable[[int], int] | None = None) -> Trie:
    """Sort a list of paths into a trie, on the host.

    Args:
        paths: `[N, L]` integers, NULL (-1) past a path's end. Repeated and empty paths are fine.
        bucket: rounds the size of a level up, so that lists of similar size share a compiled
            function; exact sizes if None.

    Returns:
        Trie of numpy arrays.

    Raises:
        JaxkgError: not a two-dimensional integer array, or a relation after a NULL.

    Example:
        >>> trie = build_trie(np.array([[0, 1], [0, 2], [3, -1]]))
        >>> [level.tolist() for level in trie.relation], trie.node.tolist()
        ([[0, 3], [1, 2]], [3, 4, 2])
    """
    paths = np.asarray(paths)
    if paths.ndim != 2 or not np.issubdtype(paths.dtype, np.integer):
        raise JaxkgError(
            f"paths must be a two-dimensional integer array, got {paths.dtype} {paths.shape}"
        )
    present = paths != NULL
    broken = np.flatnonzero((present[:, 1:] & ~present[:, :-1]).any(axis=1))
    if broken.size:
        raise JaxkgError(f"path {broken[0]} has a relation after a NULL: {paths[broken[0]]}")
    parents, relations = [], []
    node = np.zeros(len(paths), np.int32)
    local = np.zeros(len(paths), np.int64)
    start = 1
    for hop in range(paths.shape[1]):
        alive = present[:, hop]
        keys = np.stack([local[alive], paths[alive, hop]], axis=1)
        distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
        local[alive] = inverse.reshape(-1)
        size = len(distinct) if bucket is None else bucket(len(distinct))
        padded = np.zeros((size, 2), np.int32)
        padded[: len(distinct)] = distinct
        parents.append(padded[:, 0])
        relations.append(padded[:, 1])
        node[alive] = start + local[alive]
        start += size
    return Trie(tuple(parents), tuple(relations), node)


def encode_trie(algebra: Algebra, table: jax.Array, trie: Trie) -> jax.Array:
    """Encode every path of the list, each distinct prefix once.

    Independent of the query: do it once for a list that many questions share, then score all of
    them with `similarity_matrix`. Works for every algebra.

    Args:
        algebra: any.
        table: `[R, *shape]`.
        trie: of the paths.

    Returns:
        `[N, *shape]`, equal to `encode_paths`.
    """
    level = algebra.identity()[None]
    nodes = [level]
    for parent, relation in zip(trie.parent, trie.relation):
        level = algebra.bind(level[parent], table[relation])
        nodes.append(level)
    encoded = jnp.concatenate(nodes)[trie.node]
    return encoded if algebra.isometric else jax.vmap(algebra.normalize)(encoded)


@functools.partial(jax.jit, static_argnames=("algebra", "metric", "precision", "batch_size"))
def score_trie(
    algebra: Algebra,
    table: jax.Array,
    queries: jax.Array,
    trie: Trie,
    *,
    metric: str = "block",
    precision: str = "float32",
    batch_size: int = 1,
) -> jax.Array:
    """Score every path of the list: queries are bound with prefixes, last hops share a product.

    Never encodes a path: sim(q, p * r) = <unbind(p, q), r>. For one or a few queries and a dense
    list (most last relations of a prefix are asked for) this is R times less binding than
    `encode_trie`; for hundreds of queries over one list prefer that.

    Args:
        algebra: isometric.
        table: `[R, *shape]`.
        queries: `[B, *shape]`; bundles are fine.
        trie: of the paths.
        metric: "block" (PathHD, Eq. 5) or "flat".
        precision: of the product: "float32", "bfloat16" or "int8".
        batch_size: queries worked on at a time; memory grows with it.

    Returns:
        `[B, N]` float32.

    Raises:
        JaxkgError: the algebra is not isometric.
    """
    if not algebra.isometric:
        raise JaxkgError(
            f"products in {algebra.name} do not keep their norm, so scores do not factor: "
            "use encode_trie and similarity_matrix"
        )
    flat_table = jax.vmap(algebra.flatten)(table)
    packed = pack(flat_table, precision)
    identity = algebra.flatten(algebra.identity())

    def one(query: jax.Array) -> jax.Array:
        bound = algebra.unflatten(query)[None]
        scores = [jnp.sum(query * identity)[None]]
        for hop, (parent, relation) in enumerate(zip(trie.parent, trie.relation)):
            rows = algebra.flatten(bound)
            if rows.shape[0] * table.shape[0] <= _PRODUCT_GAIN * relation.shape[0]:
                scores.append(inner(pack(rows, precision), packed)[parent, relation])
            else:
                scores.append(jnp.sum(rows[parent] * flat_table[relation], axis=-1))
            if hop + 1 < len(trie.parent):
                bound = algebra.unbind_left(table[relation], bound[parent])
        return jnp.concatenate(scores)[trie.node]

    return jax.lax.map(one, query_rows(algebra, queries, metric), batch_size=batch_size)
