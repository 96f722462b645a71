"""One more relation after each of many paths, as arrays: a path is made only where it is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np


@dataclasses.dataclass(frozen=True)
class Further:
    """What S paths come to that are one relation longer than P others.

    Attributes:
        path: [S] int64, places of the paths that they go on from; ascending.
        code: [S] int64, relation codes; ascending where they go on from the same path.
        start, size: [S] int64, where in `ends` theirs begin and how many they are, 1 at least.
        ends: [E] int64, those of each ascending.
        home: [S] bool, whether they end where they started.
    """

    path: np.ndarray
    code: np.ndarray
    start: np.ndarray
    size: np.ndarray
    ends: np.ndarray
    home: np.ndarray

    def __len__(self) -> int:
        return len(self.code)

    @property
    def first(self) -> np.ndarray:
        """[S] the first of each one's ends."""
        return self.ends[self.start]

    def ends_of(self, place: int) -> np.ndarray:
        """The ends of one of them."""
        return self.ends[self.start[place] : self.start[place] + self.size[place]]

    def some(self, kept: np.ndarray) -> Further:
        """Those of a mask [S] bool, with the ends of all."""
        path, code, start, size, home = (
            each[kept] for each in (self.path, self.code, self.start, self.size, self.home)
        )
        return Further(path, code, start, size, self.ends, home)

    def but(self, ends: np.ndarray) -> Further:
        """Without these ends; those that come to nothing else come home, with all of theirs.

        Of all that their ends are of, see `some`.
        """
        left = self.ends != ends[0] if len(ends) == 1 else ~np.isin(self.ends, ends)
        if left.all():
            return self
        home = ~np.logical_or.reduceat(left, self.start)
        left |= np.repeat(home, self.size)
        size = np.add.reduceat(left, self.start, dtype=np.int64)
        return Further(self.path, self.code, np.cumsum(size) - size, size, self.ends[left], home)


def joined(parts: Sequence[Further]) -> Further:
    """Several, end to end; one at least."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.ends) for part in parts)])
    return Further(
        np.concatenate([part.path for part in parts]),
        np.concatenate([part.code for part in parts]),
        np.concatenate([part.start + offset for part, offset in zip(parts, before)]),
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.home for part in parts]),
    )
