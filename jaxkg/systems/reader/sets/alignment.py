"""Which words of a question speak of which relation or class, by sentence vectors and by letters.

A phrase of the question and a label of the graph are compared as short texts: nothing is encoded
for a query graph as a whole, so thousands of them cost no more than their relations.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from jaxkg.kg.link.folding import split_words
from jaxkg.systems.reader.language.cues import Cues
from jaxkg.systems.reader.language.lexicon.cue_words import LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.likeness import likenesses
from jaxkg.systems.reader.language.lexicon.opposites import opposed, turned
from jaxkg.systems.reader.language.lexicon.stems import stem
from jaxkg.systems.reader.vectors import TextVectors

_PARTICLE_WORDS = "by to from for in of at on with out up over zu von aus bei"
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_PHRASE = 3
_SPELT = 0.8
"""Likeness of letters from which on a word speaks of a label."""
_SPOKEN_OF = 0.5
"""Cosine from which on a phrase speaks of a label, whatever else excludes it."""


@functools.lru_cache(100_000)
def folded_words(label: str) -> tuple[str, ...]:
    """The words of a label, which many questions are compared with.

    >>> folded_words("Directed by")
    ('directed', 'by')
    """
    return tuple(split_words(label).folded)


@functools.lru_cache(100_000)
def _telling(label: str) -> tuple[str, ...]:
    """Those that say something, or all of them."""
    words = folded_words(label)
    return tuple(word for word in words if word not in STOP) or words


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


_Spelt = tuple[np.ndarray, float, int]
"""[words] how alike they are to a word, the most, and where that is."""


class Alignment:
    """One question's words against the labels of a graph.

    Args:
        cues: the question.
        masked: places of words that name topics.
        vectors: of texts.

    Attributes:
        relations, classes: those of a graph that were aligned already, see `sets.quick`.
    """

    def __init__(self, cues: Cues, masked: set[int], vectors: TextVectors) -> None:
        self.cues = cues
        self.vectors = vectors
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
        found = vectors(self.texts())
        self._phrase_vectors, self._whole = vectors.asked(found[:-1]), found[-1]
        self.relations: dict[int, Aligned] = {}
        self.classes: dict[int, Aligned] = {}
        self._aligned: dict[tuple[str, ...], Aligned] = {}
        self._ruled_out: dict[tuple[str, ...], bool] = {}
        self._by_letters: dict[str, tuple[_Spelt, _Spelt]] = {}

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

    @functools.cached_property
    def groups(self) -> int:
        """How many groups of words of content there are, names and operators left out."""
        content = self.content >= 1.0
        return int((content & ~np.concatenate([[False], content[:-1]])).sum())

    def texts(self) -> list[str]:
        """The question's phrases, then the whole of it, names masked."""
        phrases = [" ".join(self.words[a : b + 1]) for a, b in self.phrases]
        return [*phrases, self.masked_text()]

    def masked_text(self) -> str:
        """The question without the names of topics."""
        kept: list[str] = []
        for place, word in enumerate(self.words):
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
        return self.cues.content[last] == 1.0 or (first < last and ends in _PARTICLES)

    def prepare(self, groups: Iterable[tuple[str, ...]]) -> None:
        """Align elements by their wordings, all of them at once."""
        new = [group for group in dict.fromkeys(groups) if group not in self._aligned]
        if new:
            self._aligned.update(zip(new, self._align(new)))

    def of(self, wordings: tuple[str, ...]) -> Aligned:
        """An element of a query graph by its wordings."""
        if wordings not in self._aligned:
            self.prepare([wordings])
        return self._aligned[wordings]

    def _align(self, groups: list[tuple[str, ...]]) -> list[Aligned]:
        cosines, whole = self._cosines(groups)
        self._spell(groups)
        letters = [self._letters(group) for group in groups]
        content = self.content > 0
        sem = self._words_told(cosines) * content
        lex = np.stack([found for found, _, _ in letters]) * content
        cover = np.maximum(lex, np.clip((sem - 0.2) / 0.5, 0, 1))
        best_sem = cosines.max(axis=1, initial=0.0).tolist()
        middle = [-1.0] * len(groups)
        if self.phrases:
            middle = np.mean(self.phrases, axis=1)[cosines.argmax(axis=1)].tolist()
        found = []
        for row, (_, share, at) in enumerate(letters):
            if self.phrases and (share < 0.5 or at < 0):
                at = middle[row]
            found.append(
                Aligned(sem[row], lex[row], cover[row], best_sem[row], share, whole[row], at)
            )
        return found

    def _cosines(self, groups: list[tuple[str, ...]]) -> tuple[np.ndarray, list[float]]:
        """[G, P] of the phrases, and of the whole question, with the nearest wording of each."""
        texts = [wording for group in groups for wording in group]
        labels = self.vectors(texts)
        if not labels.shape[1]:
            return np.zeros((len(groups), len(self.phrases)), np.float32), [0.0] * len(groups)
        counts = np.array([len(group) for group in groups])
        starts = np.cumsum(counts) - counts
        whole = np.maximum.reduceat(labels @ self._whole, starts).tolist()
        if not self.phrases:
            return np.zeros((len(groups), 0), np.float32), whole
        each = self.vectors.told(texts) @ self._phrase_vectors.T
        return np.maximum.reduceat(each, starts, axis=0), whole

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

    def rules_out(self, wordings: tuple[str, ...]) -> bool:
        """Whether the question's words exclude an element: no e-mail where a phone is asked for.

        Not where others of them speak of it: "directors of what she acted in".
        """
        if wordings not in self._ruled_out:
            labels = [folded_words(wording) for wording in wordings]
            told = tuple(w for place, w in enumerate(self.words) if place not in self.masked)
            excluded = all(opposed(told, label) for label in labels)
            self._ruled_out[wordings] = excluded and not self._else_spoken_of(wordings, labels)
        return self._ruled_out[wordings]

    def _else_spoken_of(self, wordings: tuple[str, ...], labels: list[tuple[str, ...]]) -> bool:
        """Whether words that do not exclude an element speak of it."""
        against = {word for word in self.words for label in labels if opposed((word,), label)}
        others = [
            place
            for place, (first, last) in enumerate(self.phrases)
            if against.isdisjoint(self.words[first : last + 1])
        ]
        told = self.vectors.told(wordings)
        if not others or not told.shape[1]:
            return False
        return float((self._phrase_vectors[others] @ told.T).max()) >= _SPOKEN_OF

    def letters(self, wordings: tuple[str, ...]) -> tuple[np.ndarray, float, float]:
        """How alike words and an element's are by letters, nothing encoded.

        Returns:
            [words] likeness, share of the element's own words that the question has, their place.
        """
        self._spell([wordings])
        return self._letters(wordings)

    def _letters(self, wordings: tuple[str, ...]) -> tuple[np.ndarray, float, float]:
        """`letters` of an element that is spelt."""
        lex = np.zeros(len(self.words), np.float32)
        best_lex, at_lex = 0.0, -1.0
        for wording in wordings if self.words else ():
            parts = _telling(wording)
            weight = value = 0.0
            places = []
            for part in parts:
                scores, best, at = self._by_letters[part][len(parts) == 1]
                light = 0.25 if part in LIGHT else 1.0
                weight += light
                if best > 0:
                    np.maximum(lex, scores, out=lex)
                    value += light * best
                    places.append(at)
            if places and value / weight > best_lex:
                best_lex, at_lex = value / weight, sum(places) / len(places)
        return lex, best_lex, at_lex

    def _spell(self, groups: Iterable[tuple[str, ...]]) -> None:
        """Compare the words of elements with the question's by letters; words that say little
        count only where an element's wording is nothing else."""
        told = dict.fromkeys(part for group in groups for text in group for part in _telling(text))
        new = [part for part in told if part not in self._by_letters]
        if not new or not self.words:
            return
        alone = likenesses(self.words, new).T
        alone[:, list(self.masked)] = 0.0
        beside = alone * [word not in STOP for word in self.words]
        both = [
            list(zip(some, some.max(axis=1).tolist(), some.argmax(axis=1).tolist()))
            for some in (beside, alone)
        ]
        self._by_letters.update(zip(new, zip(*both)))
