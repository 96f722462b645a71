"""Triples as columns, each number in the room it needs, so that they may stay on disk."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError

PART = 1 << 22
"""Triples that a pass over all of them takes at a time."""


def relation_width(relations: int) -> type[np.integer[Any]]:
    """The type that codes of so many relations are kept in.

    >>> relation_width(65_536).__name__, relation_width(65_537).__name__
    ('uint16', 'int32')
    """
    return np.uint16 if relations <= 1 << 16 else np.int32


def offset_width(triples: int) -> type[np.integer[Any]]:
    """The type that rows of so many triples are kept in.

    >>> offset_width(2**32 - 1).__name__, offset_width(2**32).__name__
    ('uint32', 'int64')
    """
    return np.uint32 if triples < 1 << 32 else np.int64


def offsets(column: np.ndarray, size: int) -> np.ndarray:
    """[size + 1], where each number's rows begin once the column is sorted.

    Args:
        column: [T] integers in [0, size), mapped perhaps.
        size: of the numbers.
    """
    first = np.zeros(size + 1, np.int64)
    for start in range(0, len(column), PART << 2):
        first[1:] += np.bincount(column[start : start + (PART << 2)], minlength=size)
    return np.cumsum(first, out=first).astype(offset_width(len(column)))


class PackedTriples:
    """[T, 3] int32 triples as columns; parts of it are read as an array's are, `np.asarray` all.

    Heads are not kept, but where each one's triples begin: 6 bytes a triple and 4 an entity where
    relations and triples are few enough.

    Example:
        >>> packed = PackedTriples.of(np.array([[0, 0, 1], [0, 2, 2], [2, 1, 0]]), 3, 3)
        >>> packed[1:].tolist(), packed[[2, 0], 0].tolist(), packed.relation.dtype.name
        ([[0, 2, 2], [2, 1, 0]], [2, 0], 'uint16')

    Attributes:
        first: [N + 1] uint32 or int64, first triple of each head.
        relation: [T] uint16 or int32.
        tail: [T] int32.
    """

    dtype = np.dtype(np.int32)

    def __init__(self, first: np.ndarray, relation: np.ndarray, tail: np.ndarray) -> None:
        """Take the columns.

        Raises:
            JaxkgError: they are not of one graph.
        """
        if not len(first) or len(relation) != len(tail) or first[0] or first[-1] != len(tail):
            raise JaxkgError("columns of triples are of different graphs")
        self.first, self.relation, self.tail = first, relation, tail

    @classmethod
    def of(cls, triples: Any, entities: int, relations: int) -> PackedTriples:
        """Pack triples that are sorted by head; packed ones are given back.

        Args:
            triples: [T, 3] integers.
            entities, relations: of the graph.
        """
        if isinstance(triples, PackedTriples):
            return triples
        return cls(
            offsets(triples[:, 0], entities),
            triples[:, 1].astype(relation_width(relations)),
            triples[:, 2].astype(np.int32),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(T, 3)."""
        return len(self.tail), 3

    @property
    def widths(self) -> dict[str, str]:
        """The types of the columns whose type depends on the graph."""
        return {"offsets": self.first.dtype.name, "relations": self.relation.dtype.name}

    def __len__(self) -> int:
        return len(self.tail)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)

    def __getitem__(self, at: Any) -> np.ndarray:
        rows, column = at if isinstance(at, tuple) else (at, None)
        if column is None:
            return np.stack([self[rows, column] for column in range(3)], axis=-1)
        if column:
            return np.asarray((self.relation if column == 1 else self.tail)[rows], np.int32)
        return self._heads(rows)

    def _heads(self, rows: Any) -> np.ndarray:
        # Numbers are sought in the type of `first`: in another, NumPy would convert all of it.
        first, kind = self.first, self.first.dtype.type
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                low = int(np.searchsorted(first, kind(start), "right")) - 1
                high = int(np.searchsorted(first, kind(stop), "left"))
                bounds = np.clip(first[low : high + 1].astype(np.int64), start, stop)
                return np.repeat(np.arange(low, high, dtype=np.int32), np.diff(bounds))
            rows = np.arange(start, stop, step)
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return (np.searchsorted(first, rows.astype(kind), "right") - 1).astype(np.int32)

    def setflags(self, *, write: bool) -> None:
        """As an array's, of the columns."""
        for column in (self.first, self.relation, self.tail):
            column.setflags(write=write)
