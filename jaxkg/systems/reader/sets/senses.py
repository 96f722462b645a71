"""What words of a question say of a graph by themselves: its sorts, and relations by their labels.

A sort, where no class says it, is compared with the noun of a question by what it may be called, by
the labels of the relations that its members have, and by some of their names: "city" is like Basel
and Zurich. A word that a relation bears in its label asks for that relation, whether or not what
the question names has it: a reading that leaves the word aside is hardly meant.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from jaxkg.systems.reader.language.lexicon.cue_words import LIGHT, STOP
from jaxkg.systems.reader.language.lexicon.stems import meanings
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.sets.alignment import Alignment
from jaxkg.systems.reader.sets.labels import folded_words

_SORTS = 60
"""Sorts up to which a graph's are looked at so."""
_LOOKED_AT = 60
"""Labels that are compared with a question, those first that share the most words with it."""


class Senses:
    """The sorts of a graph as vectors, made once.

    Args:
        vocabulary: of the graph.
        vectors: of texts, [T, D] float32.
    """

    def __init__(
        self, vocabulary: Vocabulary, vectors: Callable[[Sequence[str]], np.ndarray]
    ) -> None:
        self._vocabulary, self._vectors = vocabulary, vectors

    def of(self, noun: str) -> Mapping[int, np.ndarray]:
        """Each sort against a noun.

        Returns:
            for each sort [3] float32: cosine with the labels around it, with names of its members,
            and how far it is behind the likeliest sort, all three and its words together.
        """
        vector = self._vectors([noun])[0] if self._made and noun else np.zeros(0, np.float32)
        if not len(vector):
            return {}
        seen = {
            names: (float((words @ vector).max()), float(labels @ vector), float(told @ vector))
            for names, (words, labels, told) in self._made.items()
        }
        whole = {one: words + labels + told / 2 for one, (words, labels, told) in seen.items()}
        best = max(whole.values())
        return {
            kind: np.array([*seen[sort.names][1:], whole[sort.names] - best], np.float32)
            for kind, sort in self._vocabulary.sorts.items()
        }

    @functools.cached_property
    def _made(self) -> dict[tuple[str, ...], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Words, labels and names of each sort, also of those that a part of a graph lacks."""
        sorts = self._vocabulary.every_sort
        if len(sorts) > _SORTS:
            return {}
        self._vectors([t for sort in sorts for t in (*sort.words, *sort.labels, *sort.names)])
        return {
            sort.names: (
                self._vectors(sort.words),
                _middle(self._vectors(sort.labels)),
                _middle(self._vectors(sort.names)),
            )
            for sort in sorts
        }


def _middle(vectors: np.ndarray) -> np.ndarray:
    """[D] mean, of length 1; zeros of none."""
    mean = vectors.sum(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)


class LabelIndex:
    """Labels of relations by the words in them and by what these mean.

    Args:
        labels: wordings of each relation.
    """

    def __init__(self, labels: Iterable[tuple[str, ...]]) -> None:
        self._by_meaning: dict[str | int, set[tuple[str, ...]]] = defaultdict(set)
        self._place: dict[tuple[str, ...], int] = {}
        for wordings in labels:
            self._place.setdefault(wordings, len(self._place))
            for word in {w for text in wordings for w in folded_words(text)}:
                if word not in STOP and word not in LIGHT:
                    for meaning in meanings(word):
                        self._by_meaning[meaning].add(wordings)

    def named(self, alignment: Alignment) -> np.ndarray:
        """[words] in [0, 1]: how surely a word belongs to the label of a relation.

        The likeness of the word, times the share of the label's words that the question has.
        """
        sharing: Counter[tuple[str, ...]] = Counter()
        for place in np.flatnonzero(alignment.content >= 1.0).tolist():
            told = (self._by_meaning.get(m, set()) for m in meanings(alignment.words[place]))
            sharing.update(set().union(*told))
        found = np.zeros(len(alignment.words), np.float32)
        # Of labels that share as many the first, whichever order a set happens to have.
        order = sorted(sharing, key=lambda label: (-sharing[label], self._place[label]))
        for wordings in order[:_LOOKED_AT]:
            lex, share, _ = alignment.letters(wordings)
            found = np.maximum(found, lex * np.float32(share))
        return np.where(alignment.content > 0, found, np.float32(0))
