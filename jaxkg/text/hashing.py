"""Hashed texts, without weights: an encoder of words and letters, the planner's word n-grams."""

from __future__ import annotations

import dataclasses
import functools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from jaxkg.words import TOPIC_WORD

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


Encoder: TypeAlias = Callable[[Sequence[str]], np.ndarray]
"""Texts to [Q, D] float32 vectors of length 1 (or 0 for a text that says nothing)."""


@dataclasses.dataclass(frozen=True)
class HashingEncoder:
    """Bags of words and of their letter n-grams, hashed (CRC-32, the same everywhere).

    Letter n-grams let `languages_spoken` and "spoke" meet. A topic's mask is no word.

    Attributes:
        buckets: D, a power of two.
        letters: lengths of the letter n-grams, taken within a word and its two ends.
        weights: [D] float32, how much each bucket tells; None takes them all alike.

    Example:
        >>> encode = HashingEncoder()
        >>> spoken, genre, asked = encode(["languages_spoken", "has_genre", "what do they speak"])
        >>> bool(asked @ spoken > asked @ genre)
        True
    """

    buckets: int = 1 << 13
    letters: tuple[int, ...] = (3,)
    weights: np.ndarray | None = dataclasses.field(default=None, repr=False)

    @property
    def name(self) -> str:
        """Name of the model."""
        return "hashing"

    @property
    def revision(self) -> str:
        """What decides the vectors: features, buckets and weights."""
        letters = ",".join(map(str, self.letters))
        weights = 0 if self.weights is None else zlib.crc32(self.weights.tobytes())
        return f"1-{self.buckets}-{letters}-{weights:08x}"

    @property
    def dimension(self) -> int:
        """D."""
        return self.buckets

    def fitted(self, texts: Sequence[str]) -> HashingEncoder:
        """The encoder that weighs a bucket by its inverse document frequency in these texts.

        A bucket that none of them uses can match none of them and weighs nothing.
        """
        count = np.zeros(self.buckets)
        for text in texts:
            count[np.unique([bucket for bucket, _ in self._features(text)]).astype(int)] += 1
        weights = np.where(count > 0, np.log((1 + len(texts)) / np.maximum(count, 1)), 0.0)
        return dataclasses.replace(self, weights=weights.astype(np.float32))

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts.

        Returns:
            [Q, D] float32 of length 1; zero for a text without a known feature.
        """
        table = np.zeros((len(texts), self.buckets), np.float32)
        for row, text in enumerate(texts):
            for bucket, sign in self._features(text):
                table[row, bucket] += sign
        if self.weights is not None:
            table *= self.weights
        length = np.linalg.norm(table, axis=1, keepdims=True)
        return table / np.where(length > 0, length, 1)

    def _features(self, text: str) -> Iterator[tuple[int, float]]:
        """(bucket, sign) of each distinct feature; signs make collisions cancel on average."""
        words = dict.fromkeys(label_words(text.replace(TOPIC_WORD, " ")).split())
        seen: dict[str, None] = {}
        for word in words:
            seen[word] = None
            ends = f"<{word}>"
            for length in self.letters:
                for begin in range(len(ends) - length + 1):
                    seen[f"-{ends[begin : begin + length]}"] = None
        for feature in seen:
            code = zlib.crc32(feature.encode())
            yield code & (self.buckets - 1), 1.0 if code >> 31 else -1.0
