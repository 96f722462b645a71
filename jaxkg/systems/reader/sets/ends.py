"""What relations lead to, by the names there: "maroon" and "yellow" tell that `col` is a colour.

A label may be clipped, or say nothing of what stands behind it, and where no class does either the
names do: how alike they are to what is asked for, and to names of people, of places and of firms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.systems.reader.language.vocabulary import Vocabulary

_LOOKED_AT = 5
"""Names of a relation's ends that are looked at."""
_SORTS = {
    "person": ("Anna Weber", "John Smith", "Maria Lopez", "Aisha Khan", "Pierre Dubois"),
    "place": ("Springfield", "Lake Constance", "Baker Street", "Northern Province", "Vienna"),
    "firm": ("Smith & Sons", "Northern Foods Ltd", "Acme Trading", "Weber GmbH", "City Council"),
}
"""Names that are plainly of one sort."""


class EndNames:
    """Names behind the relations of a graph, as vectors; each relation is looked at once.

    Args:
        vocabulary: of the graph.
        vectors: of texts, [T, D] float32.
    """

    def __init__(
        self, vocabulary: Vocabulary, vectors: Callable[[Sequence[str]], np.ndarray]
    ) -> None:
        self._vocabulary, self._vectors = vocabulary, vectors
        self._known: dict[int, np.ndarray] = {}
        self._sorts = np.zeros((0, 0), np.float32)

    def prepare(self, codes: Sequence[int]) -> None:
        """Encode the names behind these relation codes in one batch."""
        fresh = {code: self._names(code) for code in set(codes) if code not in self._known}
        if not self._sorts.size:
            self._vectors([name for names in _SORTS.values() for name in names])
            self._sorts = np.stack([_middle(self._vectors(names)) for names in _SORTS.values()])
        self._vectors([name for names in fresh.values() for name in names])
        for code, names in fresh.items():
            self._known[code] = _middle(self._vectors(names)) if names else self._sorts[0] * 0

    def of(self, codes: Sequence[int]) -> np.ndarray:
        """[C, D] float32: the middle of the names behind each code, 0 where they are values."""
        self.prepare(codes)
        return np.stack([self._known[code] for code in codes])

    def sorts(self, codes: Sequence[int]) -> np.ndarray:
        """[C, 3] float32: how much more the names are like people's, places', firms' than others.

        0 where they are values.
        """
        near = self.of(codes) @ self._sorts.T
        others = [np.delete(near, at, axis=1).max(axis=1) for at in range(len(_SORTS))]
        return near - np.stack(others, axis=1)

    def _names(self, code: int) -> list[str]:
        vocabulary = self._vocabulary
        if code >= 2 * vocabulary.kg.num_relations or vocabulary.ends_kind(code) != "thing":
            return []
        ends = vocabulary.domain(vocabulary.inverse(code))
        some = ends[:: max(1, len(ends) // _LOOKED_AT)][:_LOOKED_AT]
        return [vocabulary.kg.name(end) for end in some.tolist()]


def _middle(vectors: np.ndarray) -> np.ndarray:
    """[D] mean, of length 1; zeros of none."""
    mean = vectors.sum(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)
