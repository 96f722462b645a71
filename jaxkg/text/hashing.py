"""A text encoder that needs no weights: hashed words and their letter n-grams."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from jaxkg.text.ngrams import label_words
from jaxkg.words import TOPIC_WORD

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
                for at in range(len(ends) - length + 1):
                    seen[f"-{ends[at : at + length]}"] = None
        for feature in seen:
            code = zlib.crc32(feature.encode())
            yield code & (self.buckets - 1), 1.0 if code >> 31 else -1.0
