"""Windows of keys: which values compare with one as wanted.

How numbers, dates and truth values become keys is told in `jaxkg.kg.queries.values`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from jaxkg.kg.queries.literals import CLOCK
from jaxkg.query import Comparison

NONE = np.iinfo(np.int32).min
"""The key of an entity without a value of that kind."""


def compares(comparison: Comparison, one: Iterable[Any], other: Iterable[Any]) -> Any:
    """Whether keys compare as wanted, elementwise; see `jaxkg.kg.queries.values`.

    Args:
        comparison: as wanted.
        one, other: first and second keys, integers or arrays that broadcast.
    """
    (a, b), (c, d) = one, other
    if comparison in ("=", "!="):
        same = (a == c) & (b == d)
        return same if comparison == "=" else (b < c) | (a > d)
    if comparison == "in":
        return (a >= c) & (b <= d)
    return {"<": b < c, "<=": b <= d, ">": a > d, ">=": a >= c}[comparison]


LAST = np.iinfo(np.int32).max
"""The largest key."""


class Window(NamedTuple):
    """The pairs of keys that compare as wanted: both within bounds (ends included), or not."""

    first: tuple[int, int]
    second: tuple[int, int]
    negate: bool = False

    def holds(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """[...] bool of two int32 keys; an entity without a value compares with nothing."""
        inside = (first >= self.first[0]) & (first <= self.first[1])
        inside &= (second >= self.second[0]) & (second <= self.second[1])
        return (inside != self.negate) & (first != NONE)


def interval(comparison: Comparison, first: int, last: int) -> Window:
    """The window of a comparison with the interval from `first` to `last`."""
    low, high = (CLOCK, int(LAST)) if first >= CLOCK else (int(NONE) + 1, CLOCK - 1)
    bounds = {
        "=": ((first, first), (last, last)),
        "<": ((low, high), (low, first - 1)),
        "<=": ((low, high), (low, last)),
        ">": ((last + 1, high), (low, high)),
        ">=": ((first, high), (low, high)),
        "in": ((first, high), (low, last)),
        "!=": ((low, last), (first, high)),  # negated: no day in common
    }[comparison]
    return Window(*bounds, comparison == "!=")
