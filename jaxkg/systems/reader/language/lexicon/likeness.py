"""How alike the words of a question and those of very many labels are, all of them at once."""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.limits import LIMITS
from jaxkg.systems.reader.language.lexicon.stems import (
    BEGINS,
    BEGINS_FROM,
    NEAR,
    NEAR_FROM,
    NEAR_LESS,
    SYNONYM,
    WITHIN,
    WITHIN_FROM,
    groups_of,
    stem,
)


class Spelt:
    """Very many words, held to be compared with a few at a time.

    Args:
        words: N folded words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._stems = _Stems([stem(word) for word in words])
        self._long = [place for place, word in enumerate(words) if len(word) >= NEAR_FROM]
        self._texts = [words[place] for place in self._long]
        self._by_group: dict[int, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            for group in groups_of(word):
                self._by_group[group].append(place)

    def __len__(self) -> int:
        return len(self.words)

    def likenesses(self, words: Sequence[str]) -> np.ndarray:
        """What `meant` says of each pair, looked up instead of compared pair by pair.

        Args:
            words: W folded words.

        Returns:
            [W, N] float32 in [0, 1].

        >>> Spelt(["written", "price", "height"]).likenesses(["writes", "cost"]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.75, 0.0]]
        """
        found = np.zeros((len(words), len(self.words)), np.float32)
        for row, word in zip(found, words):
            # What `alike` looks at first is written last.
            if len(word) >= NEAR_FROM and self._long:
                for place, close in _close(word, self._texts):
                    row[self._long[place]] = close - NEAR_LESS
            own = stem(word)
            row[list(self._stems.within(own))] = WITHIN
            row[list(self._stems.beginning(own))] = BEGINS
            row[self._stems.same(own)] = 1.0
            meaning = [p for group in groups_of(word) for p in self._by_group.get(group, ())]
            row[meaning] = np.maximum(row[meaning], SYNONYM)
        return found


class _Stems:
    """Stems to look up by what they share with another one."""

    def __init__(self, stems: list[str]) -> None:
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(stems):
            self._places[one].append(place)
        self._longest = min(LIMITS.word, max(map(len, stems), default=0))
        self._all = "\n" + "\n".join(stems) + "\n"
        self._starts = list(itertools.accumulate((len(one) + 1 for one in stems), initial=1))

    def same(self, own: str) -> list[int]:
        return self._places.get(own, [])

    def beginning(self, own: str) -> Iterator[int]:
        """Those that begin with it, and those that it begins with."""
        if len(own) >= BEGINS_FROM:
            yield from (self._place(at + 1) for at in self._found("\n" + own))
        for end in range(BEGINS_FROM, min(len(own), self._longest + 1)):
            yield from self.same(own[:end])

    def within(self, own: str) -> Iterator[int]:
        """Those that it is within, and those within it."""
        if len(own) >= WITHIN_FROM:
            yield from map(self._place, self._found(own))
        for first in range(len(own)):
            for end in range(first + WITHIN_FROM, min(len(own), first + self._longest) + 1):
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
