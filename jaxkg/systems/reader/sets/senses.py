"""What the sorts of a graph are like, where no class says it: "city" is like Basel and Zurich.

A sort is compared with the noun of a question by what it may be called, by the labels of the
relations that its members have, and by some of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jaxkg.systems.reader.language.vocabulary import Vocabulary

_SORTS = 60
"""Sorts up to which a graph's are looked at so."""
_LABELS, _NAMES = 16, 5
"""Labels and names of a sort that are."""


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
        self._sorts: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None

    def of(self, noun: str) -> Mapping[int, np.ndarray]:
        """Each sort against a noun.

        Returns:
            for each sort [3] float32: cosine with the labels around it, with names of its members,
            and how far it is behind the likeliest sort, all three and its words together.
        """
        if self._sorts is None:
            self._sorts = self._made()
        vector = self._vectors([noun])[0] if self._sorts and noun else np.zeros(0, np.float32)
        if not len(vector):
            return {}
        seen = {
            kind: (float((words @ vector).max()), float(labels @ vector), float(names @ vector))
            for kind, (words, labels, names) in self._sorts.items()
        }
        whole = {kind: words + labels + names / 2 for kind, (words, labels, names) in seen.items()}
        best = max(whole.values())
        return {kind: np.array([*seen[kind][1:], whole[kind] - best], np.float32) for kind in seen}

    def _made(self) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        known = self._vocabulary
        if not known.sorts or len(known.sorts) > _SORTS:
            return {}
        told = {kind: self._texts(kind) for kind in known.sorts}
        self._vectors([text for parts in told.values() for part in parts for text in part])
        found = {}
        for kind, parts in told.items():
            words, labels, names = map(self._vectors, parts)
            found[kind] = (words, _middle(labels), _middle(names))
        return found

    def _texts(self, kind: int) -> tuple[list[str], list[str], list[str]]:
        known = self._vocabulary
        sort = known.sorts[kind]
        labels = [known.wordings(code)[0] for code in sort.every[:_LABELS]]
        # Of a part of a large graph the names change with every question.
        whole = getattr(known.kg, "sample", None) is None
        some = sort.members[:: max(1, len(sort.members) // _NAMES)][: _NAMES * whole]
        return list(sort.words), labels, [known.kg.name(node) for node in some.tolist()]


def _middle(vectors: np.ndarray) -> np.ndarray:
    """[D] mean, of length 1; zeros of none."""
    mean = vectors.sum(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)
