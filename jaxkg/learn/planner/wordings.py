"""The wordings that a planner was trained on, and which a question in other words is nearest to."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxkg.learn.words import QUESTION_WORDS
from jaxkg.ops.alignment import word_alignment
from jaxkg.tensors import bucket
from jaxkg.text import NgramHasher, TextEncoder
from jaxkg.types import NULL
from jaxkg.words import TOPIC_WORD

MOST = 20_000
"""Wordings kept, the most frequent ones."""

_AT_ONCE = 8
"""Questions aligned at once."""

_CELLS = 1 << 20
"""Questions times words of wordings that are aligned at once, at most, but for one question."""

_SENTENCE = 0.5
"""Say of the sentences' likeness beside that of their words."""

_SHARP = 40.0
"""Of the softmax over wordings: one as near as 1/40 more is e times as likely."""


class Nearest(NamedTuple):
    """The K wordings nearest to a question, nearest first."""

    texts: Sequence[str]  # K
    likeness: float  # of the first, in [0, 1]
    share: np.ndarray  # [K], how likely each of them is the one meant; sums to 1


@dataclasses.dataclass(frozen=True)
class Wordings:
    """Masked questions that a model was trained on, each once.

    What a model of hashed words makes of a word that it never read is chance. "Who penned the
    pictures of X" is near "who wrote the films of X": as a sequence of words, matched in order by
    the sentence vectors of each word alone, and as a sentence.

    Attributes:
        texts: T of them.
    """

    texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, masked: Sequence[str]) -> Wordings:
        """Of training questions; of very many the `MOST` frequent."""
        return cls(tuple(text for text, _ in collections.Counter(masked).most_common(MOST)))

    def unread(self, masked: Sequence[str]) -> np.ndarray:
        """[Q] bool: questions with a word that no wording has; none where there are no wordings."""
        known = self._column
        return np.array(
            [bool(known) and any(w not in known for w in _words(text)) for text in masked], bool
        )

    def nearest(self, masked: Sequence[str], encoder: TextEncoder, *, count: int) -> list[Nearest]:
        """The wordings nearest to questions.

        Likeness is 2/3 of `word_alignment` by the vectors of single words and 1/3 of the cosine of
        the whole sentences; the share of a wording is a softmax over the K nearest.

        Args:
            masked: Q texts, topics masked.
            encoder: of words and of sentences.
            count: K at most.

        Returns:
            K of each question, all T where there are fewer.
        """
        words = sorted({word for text in masked for word in _words(text)})
        of_words, of_texts = self._vectors(encoder)
        cosine = np.maximum(_encoded(words, encoder) @ of_words.T, 0.0)
        # A topic is like no other word, whatever stands for it.
        mine = np.array([word == TOPIC_WORD for word in words])
        its = np.array([word == TOPIC_WORD for word in self._column])
        cosine[mine], cosine[:, its] = 0.0, 0.0
        cosine[np.outer(mine, its)] = 1.0
        place = {word: row for row, word in enumerate(words)}
        table = _table([[place[word] for word in _words(text)] for text in masked])
        alike = _aligned(cosine, table, self._table) + _SENTENCE * np.maximum(
            _encoded(masked, encoder) @ of_texts.T, 0.0
        )
        best = np.argsort(-alike, axis=1, kind="stable")[:, :count]
        near = np.take_along_axis(alike, best, axis=1)
        weight = np.exp(_SHARP * (near - near[:, :1]))
        weight /= weight.sum(axis=1, keepdims=True)
        return [
            Nearest([self.texts[t] for t in row], float(first) / (1 + _SENTENCE), share)
            for row, first, share in zip(best.tolist(), near[:, 0], weight)
        ]

    @functools.cached_property
    def _column(self) -> dict[str, int]:
        """The words of all wordings, and their columns."""
        words = sorted({word for text in self.texts for word in _words(text)})
        return {word: column for column, word in enumerate(words)}

    @functools.cached_property
    def _table(self) -> np.ndarray:
        return _table([[self._column[word] for word in _words(text)] for text in self.texts])

    def _vectors(self, encoder: TextEncoder) -> tuple[np.ndarray, np.ndarray]:
        """[V, D] of the words and [T, D] of the wordings, made once for an encoder."""
        made = self.__dict__.setdefault("_made", {})
        key = encoder.name, encoder.revision
        if key not in made:
            made[key] = _encoded(list(self._column), encoder), _encoded(self.texts, encoder)
        return made[key]


def _words(text: str) -> list[str]:
    return NgramHasher().words(text)[:QUESTION_WORDS]


def _encoded(texts: Sequence[str], encoder: TextEncoder) -> np.ndarray:
    """[N, D] unit vectors; a topic is called X."""
    return np.asarray(encoder([text.replace(TOPIC_WORD, "X") for text in texts]))


def _table(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """[N, L] int32, NULL past the end of a row; L is a power of two, 16 for most."""
    longest = max(map(len, rows), default=1)
    table = np.full((len(rows), bucket(longest, floor=16)), NULL, np.int32)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _aligned(cosine: np.ndarray, questions: np.ndarray, texts: np.ndarray) -> np.ndarray:
    """`word_alignment` of all questions, a few at a time: batches of any size run one program."""
    few = int(np.clip(_CELLS // max(texts.size, 1), 1, _AT_ONCE))
    place = np.arange(few * questions.shape[1], dtype=np.int32).reshape(few, -1)
    found = [np.zeros((0, len(texts)), np.float32)]
    for start in range(0, len(questions), few):
        some = np.full_like(place, NULL)
        some[: len(questions) - start] = questions[start : start + few]
        words = np.where(some == NULL, NULL, place)
        found.append(np.asarray(word_alignment(cosine[some.ravel()], words, texts)))
    return np.concatenate(found)[: len(questions)]
