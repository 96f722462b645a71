"""Names found in texts, whole words long, the longest of those that overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import ahocorasick_rs

from jaxkg.kg.link.folding import MARK, split_words, word_key
from jaxkg.kg.link.question_words import QUESTION_WORDS
from jaxkg.limits import looked_at


class Mention(NamedTuple):
    """A name in a text."""

    name: int
    """Place in the list of names."""
    start: int
    end: int
    """Characters of the text."""


class NameFinder:
    """Finds names in texts, whatever their case, spacing and punctuation.

    Example:
        >>> finder = NameFinder(["Nintendo", "Mario + Rabbids", "Mario", "the"])
        >>> [finder.names[m.name] for m in finder.find("the makers of Mario + Rabbids: nintendo?")]
        ['Mario + Rabbids', 'Nintendo']

    Attributes:
        names: as given.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Take names; blank ones and those of question words alone ("who", "the") match nothing."""
        self.names: Sequence[str] = tuple(names)
        self._rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.names):
            key = word_key(looked_at(name))
            words = key[1:-1].split(MARK)
            if any(len(word) > 1 and word not in QUESTION_WORDS for word in words):
                self._rows.setdefault(key, []).append(row)
        self._keys = list(self._rows)
        self._automaton = ahocorasick_rs.AhoCorasick(self._keys, store_patterns=False)

    def find(self, text: str) -> list[Mention]:
        """All mentions in order of place; homonyms share one, in the order of the names."""
        words = split_words(text)
        starts = [at for at, char in enumerate(words.key) if char == MARK]
        rank = {at: place for place, at in enumerate(starts)}
        spans = sorted(
            (
                (rank[start], rank[end - 1] - 1, pattern)
                for pattern, start, end in self._automaton.find_matches_as_indexes(
                    words.key, overlapping=True
                )
            ),
            key=lambda span: (span[0], -span[1]),
        )
        found: list[Mention] = []
        covered = -1
        for first, last, pattern in spans:
            if last <= covered:
                continue  # within a longer name
            covered = last
            start, end = words.spans[first][0], words.spans[last][1]
            found += [Mention(row, start, end) for row in self._rows[self._keys[pattern]]]
        return found
