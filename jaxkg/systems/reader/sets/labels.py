"""The labels of a graph, held so that one question after the other is compared with all of them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxkg.kg.link.folding import split_words
from jaxkg.kg.neighbourhood import spread
from jaxkg.limits import looked_at
from jaxkg.systems.reader.language.lexicon.cue_words import LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.stems import Spelt
from jaxkg.systems.reader.vectors import TextVectors

SAID = 0.8
"""Likeness of letters, and share of a label's words, from which on a question says it."""
_LIGHT = 0.25
"""What a light word of a label counts."""
_WORDS = 20_000
"""Words of questions whose likeness to those of labels is kept."""
_NO_ROW = np.zeros(0, np.float32)


@functools.lru_cache(100_000)
def folded_words(label: str) -> tuple[str, ...]:
    """The words of a label, which many questions are compared with.

    >>> folded_words("Directed by")
    ('directed', 'by')
    """
    return tuple(split_words(looked_at(label)).folded)


@functools.lru_cache(100_000)
def _telling(label: str) -> tuple[str, ...]:
    """Those that say something, or all of them."""
    words = folded_words(label)
    return tuple(word for word in words if word not in STOP) or words


class Letters(NamedTuple):
    """How alike words of a question are to G elements by letters.

    Attributes:
        lex: [G, W] float32.
        share: [G] float64, of an element's own words that the question has.
        at: [G] float64, their place; -1 for none.
    """

    lex: np.ndarray
    share: np.ndarray
    at: np.ndarray


class Labels:
    """Wordings of relations and classes, added as they are met.

    An element of a graph is a group of wordings. Questions may be read side by side.

    Args:
        vectors: of texts.
    """

    def __init__(self, vectors: TextVectors) -> None:
        self.vectors = vectors
        self._rows: dict[tuple[str, ...], int] = {}
        self._wordings = _Ranges()
        """Of each element, of wordings."""
        self._words = _Ranges()
        """Of each wording, of words."""
        self._places = _Grown(np.zeros(0, np.int64))
        """The word at each place of a wording, among all different ones."""
        self._vectors, self._told = _Grown(vectors([])), _Grown(vectors.told([]))
        self._spelt: list[Spelt] = []
        self._known: dict[str, int] = {}
        self._light = _Grown(np.zeros(0))
        self._alike: dict[str, tuple[int, np.ndarray, np.ndarray]] = {}
        self._alone = threading.Lock()

    def __len__(self) -> int:
        """Elements that were met."""
        return len(self._rows)

    def rows(self, groups: Sequence[tuple[str, ...]]) -> np.ndarray:
        """[G] places of elements, those that are new added."""
        with self._alone:
            if new := [group for group in dict.fromkeys(groups) if group not in self._rows]:
                self._add(new)
            return np.array([self._rows[group] for group in groups], np.int64)

    def _add(self, groups: list[tuple[str, ...]]) -> None:
        texts = [looked_at(text) for group in groups for text in group]
        self._vectors.add(self.vectors(texts))
        self._told.add(self.vectors.told(texts))
        words = [_telling(text) or ("",) for text in texts]
        new = [w for w in dict.fromkeys(w for some in words for w in some) if w not in self._known]
        for word in new:
            self._known[word] = len(self._known)
        self._light.add(np.array([_LIGHT if word in LIGHT else 1.0 for word in new]))
        self._places.add(np.array([self._known[w] for some in words for w in some], np.int64))
        self._words.add([len(some) for some in words])
        self._wordings.add([len(group) for group in groups])
        if new:
            self._spelt.append(Spelt(new))
        # Parts about as long as one another become one: a word is looked up in few.
        while len(self._spelt) > 1 and 2 * len(self._spelt[-1]) > len(self._spelt[-2]):
            last = self._spelt.pop()
            self._spelt[-1] = Spelt([*self._spelt[-1].words, *last.words])
        for group in groups:
            self._rows[group] = len(self._rows)

    def cosines(
        self, rows: np.ndarray, phrases: np.ndarray, whole: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """[G, P] of phrases and [G] of a whole question, with the nearest wording of each element.

        Args:
            rows: [G] places of elements.
            phrases: [P, E] vectors, see `TextVectors.asked`.
            whole: [D] vector.
        """
        texts, starts = self._wordings.of(rows)
        vectors = self._vectors.rows[texts]
        if not vectors.shape[1]:
            return np.zeros((len(rows), len(phrases)), np.float32), np.zeros(len(rows), np.float32)
        told = self._told.rows[texts] @ phrases.T
        return (
            np.maximum.reduceat(told, starts, axis=0),
            np.maximum.reduceat(vectors @ whole, starts),
        )

    def likeness(self, words: Sequence[str]) -> np.ndarray:
        """[V, W] float32: the V words of all labels against those of a question, by letters."""
        with self._alone:
            if len(self._alike) > _WORDS:
                self._alike.clear()
            told = [self._looked_up(word) for word in words]
            found = np.zeros((len(self._known), len(words)), np.float32)
        for column, (places, close) in enumerate(told):
            found[places, column] = close
        return found

    def _looked_up(self, word: str) -> tuple[np.ndarray, np.ndarray]:
        """Places of the words that it is like, and how much; those added since are looked at."""
        seen, places, close = self._alike.get(word, (0, np.zeros(0, np.int64), _NO_ROW))
        if seen < len(self._known):
            sizes = [len(spelt) for spelt in self._spelt]
            starts = np.cumsum(sizes) - sizes
            new = [(s, spelt) for s, spelt in zip(starts, self._spelt) if s + len(spelt) > seen]
            rows = np.concatenate([spelt.likenesses([word])[0] for _, spelt in new])
            old, at = places < new[0][0], np.flatnonzero(rows)
            places = np.concatenate([places[old], at + new[0][0]])
            close = np.concatenate([close[old], rows[at]])
            self._alike[word] = len(self._known), places, close
        return places, close

    def letters(self, rows: np.ndarray, alone: np.ndarray, beside: np.ndarray) -> Letters:
        """Elements against the words of a question.

        Args:
            rows: [G] places of elements.
            alone: [V, W] as `likeness` has it, for wordings of one word.
            beside: [V, W], for wordings of several.
        """
        texts, groups = self._wordings.of(rows)
        flat, starts = self._words.of(texts)
        words = self._places.rows[flat]
        counts = np.diff(starts, append=len(flat))
        single = np.repeat(counts == 1, counts)
        close = np.where(single[:, None], alone[words], beside[words])
        lex = np.maximum.reduceat(close, starts[groups])
        if not close.shape[1]:
            return Letters(lex, np.zeros(len(rows)), np.full(len(rows), -1.0))
        best, light = close.max(axis=1).astype(np.float64), self._light.rows[words]
        said = best > 0
        share = np.add.reduceat(light * best, starts) / np.add.reduceat(light, starts)
        at = np.add.reduceat(close.argmax(axis=1) * said, starts)
        at = at / np.maximum(np.add.reduceat(said, starts, dtype=np.int64), 1)
        # The first of an element's wordings that the question has most of.
        most = np.maximum.reduceat(share, groups)
        order = np.arange(len(texts))
        counts = np.diff(groups, append=len(texts))
        first = np.minimum.reduceat(
            np.where(share == np.repeat(most, counts), order, len(texts)), groups
        )
        return Letters(lex, most, np.where(most > 0, at[first], -1.0))


class _Ranges:
    """Ranges of consecutive places, of different lengths, that further ones are added to."""

    def __init__(self) -> None:
        self._ends = _Grown(np.zeros(1, np.int64))

    def add(self, counts: Sequence[int]) -> None:
        self._ends.add(self._ends.rows[-1] + np.cumsum(counts))

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All places of some ranges, end to end, and where among these each range starts."""
        low, high = self._ends.rows[rows], self._ends.rows[rows + 1]
        counts = high - low
        return spread(low, high), np.cumsum(counts) - counts


class _Grown:
    """Rows that further ones are added to, most often without copying those that are there."""

    def __init__(self, rows: np.ndarray) -> None:
        self._held, self._count = rows, len(rows)

    @property
    def rows(self) -> np.ndarray:
        return self._held[: self._count]

    def add(self, rows: np.ndarray) -> None:
        total = self._count + len(rows)
        if total > len(self._held):
            room = np.empty((max(total, 2 * self._count), *self._held.shape[1:]), self._held.dtype)
            room[: self._count] = self.rows
            self._held = room
        self._held[self._count : total] = rows
        self._count = total
