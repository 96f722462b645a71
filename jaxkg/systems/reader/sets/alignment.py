"""Which words of a question speak of which relation or class, by sentence vectors and by letters.

A phrase of the question and a label of the graph are compared as short texts: nothing is encoded
for a query graph as a whole, so thousands of them cost no more than their relations.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.limits import LIMITS, cut
from jaxkg.systems.reader.language.cues import Cues
from jaxkg.systems.reader.language.lexicon.cue_words import STOP
from jaxkg.systems.reader.language.lexicon.opposites import turned
from jaxkg.systems.reader.language.lexicon.stems import stem
from jaxkg.systems.reader.sets.labels import SAID, Labels, Letters, folded_words

_PARTICLE_WORDS = "by to from for in of at on with out up over zu von aus bei"
PARTICLES = frozenset(_PARTICLE_WORDS.split())
_PHRASE = 3
_SPELT = 0.8
"""Likeness of letters from which on a word speaks of a label."""
SPEAKS = 0.5
"""Cover from which on a word speaks of an element."""


@dataclasses.dataclass(frozen=True)
class Aligned:
    """How an element of a query graph agrees with the words of a question.

    Attributes:
        sem: [words] cosine of the best phrase that has the word.
        lex: [words] likeness of the letters.
        cover: [words] in [0, 1]: how well each word is explained by the element.
        best_sem: cosine of the best phrase.
        best_lex: share of the element's own words that the question has.
        whole: cosine with the whole question, names masked.
        at: place of the best phrase's middle, -1 without one.
    """

    sem: np.ndarray
    lex: np.ndarray
    cover: np.ndarray
    best_sem: float
    best_lex: float
    whole: float
    at: float

    @functools.cached_property
    def fit(self) -> float:
        """How well its best phrase or letters agree, in [0, 1]."""
        return max(self.best_lex, min(1.0, max(0.0, (self.best_sem - 0.2) / 0.5)))

    @functools.cached_property
    def likeness(self) -> float:
        """How well its letters, or the question as a whole, agree."""
        return max(self.best_lex, min(1.0, max(0.0, self.whole) * 1.2))


class _Batch(NamedTuple):
    """Elements that were aligned together; as `Aligned`, all of them."""

    sem: np.ndarray
    lex: np.ndarray
    cover: np.ndarray
    best_sem: np.ndarray
    best_lex: np.ndarray
    whole: np.ndarray
    at: np.ndarray

    def one(self, row: int) -> Aligned:
        """One of them."""
        numbers = (self.best_sem, self.best_lex, self.whole, self.at)
        told = (float(each[row]) for each in numbers)
        return Aligned(self.sem[row], self.lex[row], self.cover[row], *told)


class Alignment:
    """One question's words against the labels of a graph.

    Args:
        cues: the question.
        masked: places of words that name topics.
        labels: of the graph, added to as they are met.

    Attributes:
        notes: which of its phrases are not encoded.
    """

    def __init__(self, cues: Cues, masked: set[int], labels: Labels) -> None:
        self.cues = cues
        self._labels, self.vectors = labels, labels.vectors
        folded = cues.words.folded
        self.words = folded
        self.masked = masked
        self.content = np.array(cues.content, np.float32)
        for place in masked | cues.used:
            self.content[place] = 0.0
        self.phrases: list[tuple[int, int]] = []
        for first in range(len(folded)):
            for last in range(first, min(first + _PHRASE, len(folded))):
                if self._is_phrase(first, last):
                    self.phrases.append((first, last))
        self.notes = cut(len(self.phrases), LIMITS.phrases, "phrases")
        self.phrases = self.phrases[: LIMITS.phrases]
        self._compared = 0
        self._batches: list[_Batch] = []
        self._batch_of: dict[tuple[str, ...], tuple[int, int]] = {}

    @functools.cached_property
    def _encoded(self) -> tuple[np.ndarray, np.ndarray]:
        """[P, E] vectors of the phrases and [D] of the whole question."""
        found = self.vectors(self.texts())
        return self.vectors.asked(found[:-1]), found[-1]

    @property
    def noun(self) -> list[str]:
        """Words of what is asked for, names left out."""
        return [self.words[place] for place in self.cues.noun if place not in self.masked]

    @functools.cached_property
    def repeated(self) -> list[tuple[int, ...]]:
        """Places of each word of content that is there more than once, in whatever form."""
        places: dict[str, list[int]] = defaultdict(list)
        for place in np.flatnonzero(self.content >= 1.0).tolist():
            places[stem(self.words[place])].append(place)
        return [tuple(some) for some in places.values() if len(some) > 1]

    @cached_method
    def often(self, wordings: tuple[str, ...]) -> tuple[int, ...]:
        """How often each word is there that is there more than once and speaks of an element."""
        cover = self.of(wordings).cover
        said = (places for places in self.repeated if cover[list(places)].min() >= SPEAKS)
        return tuple(map(len, said))

    @functools.cached_property
    def groups(self) -> int:
        """How many groups of words of content there are, names and operators left out."""
        content = self.content >= 1.0
        return int((content & ~np.concatenate([[False], content[:-1]])).sum())

    def texts(self) -> list[str]:
        """The question's phrases, then the whole of it, see `masked_text`."""
        phrases = [" ".join(self.words[a : b + 1]) for a, b in self.phrases]
        return [*phrases, self.masked_text()]

    def masked_text(self) -> str:
        """The question, as much of it as one sentence may have, without the names of topics."""
        kept: list[str] = []
        for place, word in enumerate(self.words[: LIMITS.sentence]):
            if place not in self.masked:
                kept.append(word)
            elif not kept or kept[-1] != "it":
                kept.append("it")
        return " ".join(kept)

    def _is_phrase(self, first: int, last: int) -> bool:
        places = range(first, last + 1)
        if any(place in self.masked for place in places) or self.cues.content[first] <= 0.0:
            return False
        if first == last and self.cues.content[first] < 1.0:
            return False  # "kind" alone says little, "kind of film" does not
        ends = self.words[last]
        return self.cues.content[last] == 1.0 or (first < last and ends in PARTICLES)

    def prepare(self, groups: Iterable[tuple[str, ...]]) -> None:
        """Align elements by their wordings, all of them at once."""
        new = [group for group in dict.fromkeys(groups) if group not in self._batch_of]
        if new:
            place = len(self._batches)
            self._batches.append(self._align(new))
            self._batch_of.update((group, (place, row)) for row, group in enumerate(new))

    @cached_method
    def of(self, wordings: tuple[str, ...]) -> Aligned:
        """An element of a query graph by its wordings."""
        self.prepare([wordings])
        place, row = self._batch_of[wordings]
        return self._batches[place].one(row)

    def closeness(self, groups: Sequence[tuple[str, ...]]) -> np.ndarray:
        """[G] cosine of the best phrase, or the share of an element's own words that is said."""
        self.prepare(groups)
        starts = np.cumsum([0, *(len(batch.best_lex) for batch in self._batches)])
        rows = [starts[place] + row for place, row in map(self._batch_of.__getitem__, groups)]
        every = [np.maximum(batch.best_sem, batch.best_lex) for batch in self._batches]
        return np.concatenate([np.zeros(0), *every])[rows]

    def _align(self, groups: list[tuple[str, ...]]) -> _Batch:
        rows = self._labels.rows(groups)
        cosines, whole = self._labels.cosines(rows, *self._encoded)
        lex, share, at = self._letters(rows)
        content = self.content > 0
        sem, lex = self._words_told(cosines) * content, lex * content
        cover = np.maximum(lex, np.clip((sem - 0.2) / 0.5, 0, 1))
        if self.phrases:
            middle = np.mean(self.phrases, axis=1)[cosines.argmax(axis=1)]
            at = np.where((share < 0.5) | (at < 0), middle, at)
        return _Batch(sem, lex, cover, cosines.max(axis=1, initial=0.0), share, whole, at)

    def _words_told(self, cosines: np.ndarray) -> np.ndarray:
        """[G, words] of [G, P]: the best phrase that has each word."""
        sem = np.zeros((len(cosines), len(self.words)), np.float32)
        alone = np.zeros_like(sem)
        for column, (first, last) in enumerate(self.phrases):
            if first == last:
                alone[:, first] = cosines[:, column]
        for column, (first, last) in enumerate(self.phrases):
            told = cosines[:, column]
            if first < last:
                # It speaks for its words only where it says more than any of them.
                more = told > alone[:, first : last + 1].max(axis=1) + 0.03
                told = np.where(more, told, 0.0)
            words = sem[:, first : last + 1]
            np.maximum(words, told[:, None], out=words)
        return sem

    def denied(self, wordings: tuple[str, ...]) -> bool:
        """Whether what a relation of true and false says is denied: by a "not" that stands before
        the last word that speaks of it, or by a word that says the contrary."""
        aligned = self.of(wordings)
        said = np.flatnonzero(aligned.lex >= _SPELT)
        at = float(said[-1]) if len(said) else aligned.at
        told = (turned(self.words, folded_words(wording)) for wording in wordings)
        return self.cues.denied(at) != any(told)

    def letters(self, wordings: tuple[str, ...]) -> tuple[np.ndarray, float, float]:
        """How alike words and an element's are by letters, nothing encoded.

        Returns:
            [words] likeness, share of the element's own words that the question has, their place.
        """
        lex, share, at = self._letters(self._labels.rows([wordings]))
        return lex[0], float(share[0]), float(at[0])

    def said(self, wordings: tuple[str, ...]) -> frozenset[int] | None:
        """Places of the words by which nearly all of an element is said; None where it is not."""
        lex, share, _ = self.letters(wordings)
        return frozenset(np.flatnonzero(lex >= SAID).tolist()) if share >= SAID else None

    def _letters(self, rows: np.ndarray) -> Letters:
        """Elements against the question's words; words that say little count only where a wording
        is nothing else."""
        if rows.max() >= self._compared:
            self._compared = len(self._labels)
            self._alone = self._labels.likeness(self.words)
            self._alone[:, list(self.masked)] = 0.0
            self._beside = self._alone * [word not in STOP for word in self.words]
        return self._labels.letters(rows, self._alone, self._beside)
