"""Classes that all of what a path comes to have."""

from __future__ import annotations

import functools
import threading

import numpy as np

from jaxkg.kg.neighbourhood import distinct, spread
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.sets.paths.further import Further

_TELLING = 20
"""Ends that tell which classes all have."""
_KEPT = 10_000
"""Sets of nodes whose classes are kept: questions of one graph meet the same ones."""


class SharedClasses:
    """Classes that all of some ends have, as far as the first of them tell.

    Questions may be read side by side.

    Args:
        vocabulary: of the graph.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._of_all = functools.lru_cache(_KEPT)(self._in_common)
        self._met: list[tuple[int, ...]] = []
        self._places: dict[tuple[int, ...], int] = {}
        self._alone = threading.Lock()

    def of(self, ends: np.ndarray) -> tuple[int, ...]:
        """Of ends [n]; none where there are no ends."""
        if not self._vocabulary.classes or not len(ends):
            return ()
        return self._of_all(tuple(ends[:_TELLING].tolist()))

    def of_each(self, further: Further) -> tuple[list[tuple[int, ...]], np.ndarray]:
        """Of what each of S paths comes to: the different ones, and [S] which of them."""
        if not self._vocabulary.classes:
            return [()], np.zeros(len(further), np.int64)
        told = np.minimum(further.size, _TELLING)
        some = further.ends[spread(further.start, further.start + told)]
        for node in distinct(some[self._of_node[some] < 0]).tolist():
            self._of_node[node] = self._place(self._in_common((node,)))
        rows, starts = self._of_node[some], np.cumsum(told) - told
        at = np.minimum.reduceat(rows, starts)
        for place in np.flatnonzero(at < np.maximum.reduceat(rows, starts)).tolist():
            at[place] = self._place(self.of(further.ends_of(place)))
        used, at = np.unique(at, return_inverse=True)
        return [self._met[place] for place in used.tolist()], at

    @functools.cached_property
    def _of_node(self) -> np.ndarray:
        """[N] int32: place among the classes that were met, -1 for what was not looked at."""
        return np.full(self._vocabulary.kg.num_entities, -1, np.int32)

    def _place(self, kinds: tuple[int, ...]) -> int:
        with self._alone:
            if kinds not in self._places:
                self._met.append(kinds)
                self._places[kinds] = len(self._met) - 1
            return self._places[kinds]

    def _in_common(self, ends: tuple[int, ...]) -> tuple[int, ...]:
        of = [set(self._vocabulary.kinds_of(end)) for end in ends]
        return tuple(set.intersection(*of))
