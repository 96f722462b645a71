"""The relation-schema graph: which relation can follow which, and the paths it allows. Host."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from jaxkg.kg.neighbourhood import spread

NULL = -1
"""Marks the places past the end of a path, as `jaxkg.types.NULL`, which would load jax."""


def schema_graph(
    run_offsets: np.ndarray, run_relation: np.ndarray, num_relations: int
) -> scipy.sparse.csr_array:
    """Which relation code can follow which anywhere in the graph.

    s follows r where some node is entered by r and left by s. Every walk of the graph is a path of
    this one, not the other way round: whether a path exists from a given node, walking tells.

    Args:
        run_offsets: [N+1] first run of each node, see `Graph`.
        run_relation: [U] relation code of each run.
        num_relations: R.

    Returns:
        [2R, 2R] bool, entry [r, s] True where s can follow r.

    Reference: PathHD, Algorithm 1, line 1.
    """
    runs, codes = int(run_offsets[-1]), 2 * num_relations
    leaves = scipy.sparse.csr_array(
        (np.ones(runs, np.int32), run_relation[:runs], run_offsets),
        shape=(len(run_offsets) - 1, codes),
    )
    # A node is entered by r where the inverse of r leaves it.
    inverse = np.roll(np.arange(codes), num_relations)
    together = (leaves.T @ leaves).tocsr()[inverse].astype(bool)
    together.sort_indices()
    return together


def count_schemas(follows: scipy.sparse.csr_array, hops: int) -> int:
    """How many relation paths of 1 to `hops` hops the relation-schema graph has."""
    ways, total = np.ones(len(follows.indptr) - 1), 0.0
    for _ in range(hops):
        total += ways.sum()
        ways = follows.astype(float) @ ways
    return int(total)


def list_schemas(follows: scipy.sparse.csr_array, hops: int) -> np.ndarray:
    """All relation paths of 1 to `hops` hops of the relation-schema graph.

    Args:
        follows: from `schema_graph`.
        hops: L; `count_schemas` tells beforehand how many there are.

    Returns:
        [S, L] int32 codes, NULL past the end of a path; shorter paths first.

    Example:
        >>> follows = scipy.sparse.csr_array(np.array([[False, True], [False, False]]))
        >>> list_schemas(follows, 2).tolist()
        [[0, -1], [1, -1], [0, 1]]
    """
    offsets, successors = follows.indptr, follows.indices
    paths = np.arange(len(offsets) - 1, dtype=np.int32)[:, None]
    levels = []
    for hop in range(hops):
        padded = np.full((len(paths), hops), NULL, np.int32)
        padded[:, : hop + 1] = paths
        levels.append(padded)
        first, last = offsets[paths[:, -1]], offsets[paths[:, -1] + 1]
        before = np.repeat(paths, last - first, axis=0)
        paths = np.column_stack([before, successors[spread(first, last)]]).astype(np.int32)
    return np.concatenate(levels)
