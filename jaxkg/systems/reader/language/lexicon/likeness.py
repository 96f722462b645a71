"""How alike the words of a question and those of very many labels are, all of them at once."""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.systems.reader.language.lexicon.stems import (
    BEGINS,
    BEGINS_FROM,
    NEAR,
    NEAR_FROM,
    NEAR_LESS,
    WITHIN,
    WITHIN_FROM,
    stem,
)
from jaxkg.systems.reader.language.lexicon.synonyms import SYNONYM, groups_of


def likenesses(words: Sequence[str], others: Sequence[str]) -> np.ndarray:
    """What `meant` says of each pair, looked up instead of compared pair by pair.

    Args:
        words: W folded words.
        others: N folded words, any number of them.

    Returns:
        [W, N] float32 in [0, 1].

    >>> likenesses(["writes", "cost"], ["written", "price", "height"]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.75, 0.0]]
    """
    found = np.zeros((len(words), len(others)), np.float32)
    if not found.size:
        return found
    stems = _Stems([stem(other) for other in others])
    long = [place for place, other in enumerate(others) if len(other) >= NEAR_FROM]
    texts = [others[place] for place in long]
    by_group: dict[int, list[int]] = defaultdict(list)
    for place, other in enumerate(others):
        for group in groups_of(other):
            by_group[group].append(place)
    for row, word in zip(found, words):
        # What `alike` looks at first is written last.
        if len(word) >= NEAR_FROM and long:
            for place, close in _close(word, texts):
                row[long[place]] = close - NEAR_LESS
        own = stem(word)
        row[list(stems.within(own))] = WITHIN
        row[list(stems.beginning(own))] = BEGINS
        row[stems.same(own)] = 1.0
        meaning = [place for group in groups_of(word) for place in by_group.get(group, ())]
        row[meaning] = np.maximum(row[meaning], SYNONYM)
    return found


class _Stems:
    """Stems to look up by what they share with another one."""

    def __init__(self, stems: list[str]) -> None:
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(stems):
            self._places[one].append(place)
        self._all = "\n" + "\n".join(stems) + "\n"
        self._starts = list(itertools.accumulate((len(one) + 1 for one in stems), initial=1))

    def same(self, own: str) -> list[int]:
        return self._places.get(own, [])

    def beginning(self, own: str) -> Iterator[int]:
        """Those that begin with it, and those that it begins with."""
        if len(own) >= BEGINS_FROM:
            yield from (self._place(at + 1) for at in self._found("\n" + own))
        for end in range(BEGINS_FROM, len(own)):
            yield from self.same(own[:end])

    def within(self, own: str) -> Iterator[int]:
        """Those that it is within, and those within it."""
        if len(own) >= WITHIN_FROM:
            yield from map(self._place, self._found(own))
        for first in range(len(own)):
            for end in range(first + WITHIN_FROM, len(own) + 1):
                yield from self.same(own[first:end])

    def _found(self, text: str) -> Iterator[int]:
        at = self._all.find(text)
        while at >= 0:
            yield at
            at = self._all.find(text, at + 1)

    def _place(self, at: int) -> int:
        return bisect.bisect_right(self._starts, at) - 1


def _close(word: str, texts: list[str]) -> list[tuple[int, float]]:
    """Places of the texts whose letters are near those of a word, and how near."""
    from rapidfuzz import fuzz, process

    near = process.extract(word, texts, scorer=fuzz.ratio, score_cutoff=100 * NEAR, limit=None)
    return [(place, close / 100) for _, close, place in near]
