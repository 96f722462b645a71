"""Host lists to padded index arrays."""

from collections.abc import Callable, Sequence
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


def batch_starts(
    nodes: Sequence[Sequence[int]], batch_size: int
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """`starts_table` for the batches of a run, all padded alike: they share a program.

    Args:
        nodes: of every row of the run.
        batch_size: rows of a batch at most.

    Returns:
        From the [n] rows of a batch to its columns, of `bucket(batch_size)` rows.

    >>> row, node = batch_starts([[4], [1, 2], [3]], 2)(np.array([2]))
    >>> row.tolist(), node.tolist()
    ([0, 7, 7, 7, 7, 7, 7, 7], [3, -1, -1, -1, -1, -1, -1, -1])
    """
    sizes = np.fromiter(map(len, nodes), np.int64, len(nodes))
    most = np.add.reduceat(sizes, range(0, len(nodes), batch_size)).max() if len(nodes) else 0
    return lambda rows: starts_table(
        [nodes[row] for row in rows.tolist()], num_rows=bucket(batch_size), slots=int(most)
    )
