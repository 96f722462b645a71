"""A given list of relation paths, with every shared prefix bound once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra
from jaxkg.types import NULL

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
