"""Hashed word n-grams: the planner's view of a question, and of a relation's label."""

from __future__ import annotations

import dataclasses
import functools
import re
import zlib
from collections.abc import Sequence

import numpy as np

_WORD = re.compile(r"\x02topic|[^\W_]+(?:'[^\W_]+)?", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@functools.lru_cache(maxsize=1 << 16)
def _crc(text: str) -> int:
    """Of the text's bytes; questions have most of their n-grams in common."""
    return zlib.crc32(text.encode())


@functools.lru_cache(maxsize=1 << 16)
def _codes(words: tuple[str, ...], longest: int) -> tuple[tuple[int, ...], ...]:
    """CRC-32 of a text's n-grams, a row for each n: training reads a text three times."""
    return tuple(
        tuple(_crc(" ".join(words[i : i + n])) for i in range(len(words) - n + 1))
        for n in range(1, longest + 1)
    )


def label_words(relation: str) -> str:
    """A relation's label as words: separators and camel case opened, an inverse mark dropped.

    >>> label_words("^film.actor.performedIn")
    'film actor performed in'
    """
    return " ".join(_WORD.findall(_CAMEL.sub(" ", relation.removeprefix("^")).lower()))


@dataclasses.dataclass(frozen=True)
class NgramHasher:
    """Word 1- to n-grams hashed into buckets (CRC-32, so the same everywhere and for ever).

    Attributes:
        buckets: number of buckets, a power of two.
        longest: n.
    """

    buckets: int = 1 << 15
    longest: int = 3

    def words(self, text: str) -> list[str]:
        """Lower-case words of a text, the topic mark among them."""
        return _WORD.findall(text.lower())

    def word_ids(self, text: str) -> list[int]:
        """Bucket of every word of a text."""
        last = self.buckets - 1
        return [_crc(word) & last for word in self.words(text)]

    def ids(self, text: str) -> list[int]:
        """Bucket of every n-gram of a text, unigrams first."""
        return [bucket for row in self._rows(self.words(text)) for bucket in row]

    def _rows(self, words: Sequence[str]) -> list[list[int]]:
        """Buckets of the n-grams of some words, a row for each n."""
        last = self.buckets - 1
        return [[code & last for code in row] for row in _codes(tuple(words), self.longest)]

    def grid(self, texts: Sequence[str], *, words: int) -> np.ndarray:
        """Buckets of several texts, each n-gram where its first word is.

        Args:
            texts: Q texts.
            words: W, the first words of a text that are read.

        Returns:
            [Q, n W] int32: an n-gram of k words that starts at word i is in column (k - 1) W + i;
            NULL where there is none.
        """
        table = np.full((len(texts), self.longest, words), -1, np.int32)
        for row, text in enumerate(texts):
            for n, buckets in enumerate(self._rows(self.words(text)[:words])):
                table[row, n, : len(buckets)] = buckets
        return table.reshape(len(texts), self.longest * words)

    @classmethod
    def fitting(cls, texts: Sequence[str], *, longest: int = 3) -> NgramHasher:
        """A hasher with at least eight buckets to each distinct n-gram: few share theirs."""
        widest = cls(buckets=1 << 31, longest=longest)
        distinct = len({id for text in texts for id in widest.ids(text)})
        return cls(buckets=1 << max(10, (8 * distinct).bit_length()), longest=longest)

    def table(self, texts: Sequence[str], *, width: int) -> np.ndarray:
        """Buckets of several texts as a rectangle.

        Args:
            texts: Q texts.
            width: columns T; the n-grams of a text past T are dropped, longest n first, which
                only texts of more than T/3 words reach.

        Returns:
            [Q, T] int32, NULL where a text has fewer.
        """
        table = np.full((len(texts), width), -1, np.int32)
        for row, text in enumerate(texts):
            ids = self.ids(text)[:width]
            table[row, : len(ids)] = ids
        return table
