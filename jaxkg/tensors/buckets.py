"""Sizes. Every static shape in the package comes from `bucket`, so that few programs compile."""

import dataclasses
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from jaxkg.types import NULL


def bucket(size: int, *, floor: int = 8, steps: int = 1) -> int:
    """The smallest bucket that holds `size`, at least `floor`.

    Buckets are the powers of two; with `steps` there are that many of them to an octave, for arrays
    whose padding costs more than a further program.

    >>> [bucket(n) for n in (0, 8, 9, 1000)]
    [8, 8, 16, 1024]
    >>> [bucket(n, steps=4) for n in (1000, 1025, 1300, 1600, 2000)]
    [1024, 1280, 1536, 1792, 2048]
    """
    power = 1 << max(0, int(size) - 1).bit_length()
    unit = max(1, power // (2 * steps))
    return max(floor, -(-int(size) // unit) * unit)


_CLOSE = 4
"""Buckets to an octave of capacities that fit closely."""
_APART = 1 << 16
"""Capacities up to this many slots are powers of four."""


@dataclasses.dataclass
class Capacities:
    """Slots per step of a fixed-capacity program; they grow when a run reports overflow.

    They grow to few sizes, far apart, the same for all questions and graphs: every mix of sizes is
    a program of its own, and compiling one takes as long as hundreds of batches.

    Attributes:
        slots: current capacity of each step.
        limit: largest capacity of a step; a batch that needs more must be split.
        close: grow to little more than what is needed, for a program that runs so often that empty
            slots cost more than further programs.
        rounds: parts of the slots that stay alike, for a program that loops over them.
    """

    slots: tuple[int, ...]
    limit: int = 1 << 22
    close: bool = False
    rounds: int = 1

    def fit(self, needed: Sequence[int]) -> tuple[int, ...] | None:
        """Capacities that hold what a run asked for.

        What is kept for later runs grows at most fourfold at a time: one batch with a hub must not
        make all batches after it pay for the hub.

        Args:
            needed: slots each step wanted; exact up to and including the first that overflowed.

        Returns:
            Capacities for a rerun; None where a step wants more than `limit`.

        >>> Capacities((8, 4096)).fit([9, 5000]), Capacities((8, 4096), close=True).fit([9, 5000])
        ((16, 16384), (10, 5120))
        >>> Capacities((8, 8) * 2, rounds=2).fit([9, 1, 3, 99])
        (16, 256, 16, 256)
        """
        pairs = list(zip(self.slots, needed, strict=True))
        if max(needed) > self.limit:
            return None
        fits = tuple(now if want <= now else self._room_for(want) for now, want in pairs)
        steps = len(fits) // self.rounds
        fits = tuple(max(fits[step::steps]) for step in range(steps)) * self.rounds
        self.slots = tuple(min(4 * now, fit) for now, fit in zip(self.slots, fits))
        return fits

    def _room_for(self, want: int) -> int:
        if self.close:
            return bucket(want, steps=_CLOSE)
        size = bucket(want)
        # An odd power of two is no power of four.
        return 2 * size if size < _APART and size.bit_length() % 2 == 0 else size


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
