"""What the sorts of a graph are like, where no class says it: "city" is like Basel and Zurich.

A sort is compared with the noun of a question by what it may be called, by the labels of the
relations that its members have, and by some of their names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jaxkg.systems.reader.language.vocabulary import Vocabulary

_SORTS = 60
"""Sorts up to which a graph's are looked at so."""


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
