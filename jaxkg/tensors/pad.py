"""Host lists to padded index arrays."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from jaxkg.tensors.buckets import bucket
from jaxkg.types import NULL


def pad(column: np.ndarray, size: int) -> np.ndarray:
    """A column lengthened with NULL (for integers) or 0 (for floats) to `size`."""
    fill = NULL if np.issubdtype(column.dtype, np.integer) else 0
    padded = np.full((size, *column.shape[1:]), fill, column.dtype)
    padded[: len(column)] = column
    return padded


def starts_table(
    nodes: Sequence[Sequence[int]], *, num_rows: int, slots: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Flat (row, node) columns from the nodes of each row.

    Args:
        nodes: at most `num_rows` lists of node ids.
        num_rows: rows of the batch; also the least number of slots.
        slots: least number of slots before bucketing, so that batches share a program.

    Returns:
        row, node: [S] int32 sorted by (row, node), S a bucket; padding has node NULL and the last
        row, so that rows stay in ascending order.
    """
    lengths = np.fromiter(map(len, nodes), np.int64, len(nodes))
    row = np.repeat(np.arange(len(nodes), dtype=np.int32), lengths)
    node = np.fromiter(chain.from_iterable(nodes), np.int32, len(row))
    if lengths.max(initial=0) > 1:
        node = node[np.lexsort((node, row))]
    size = bucket(max(num_rows, slots, len(row)))
    padded = pad(row, size)
    padded[len(row) :] = num_rows - 1
    return padded, pad(node, size)
