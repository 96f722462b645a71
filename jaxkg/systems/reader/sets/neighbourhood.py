"""What lies around a set of entities, on the host: nothing of the rest of the graph is touched."""

from __future__ import annotations

import numpy as np

from jaxkg.kg import KnowledgeGraph


class Neighbourhood:
    """Edges of a graph by node, in both directions.

    A code in [0, R) walks a triple forwards, one in [R, 2R) backwards.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("Heat", "by", "Mann"), ("Ali", "by", "Mann")])
        >>> around = Neighbourhood(kg)
        >>> {code: ends.tolist() for code, ends in around.ends(np.array([2])).items()}
        {1: [0, 1]}
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        triples = np.asarray(kg.triples)
        nodes = np.arange(kg.num_entities + 1)
        self._first = np.searchsorted(triples[:, 0], nodes)
        self._back = np.argsort(triples[:, 2], kind="stable")
        self._back_first = np.searchsorted(triples[self._back, 2], nodes)

    def degree(self, nodes: np.ndarray) -> int:
        """Edges that leave these nodes, both directions."""
        out = self._first[nodes + 1] - self._first[nodes]
        back = self._back_first[nodes + 1] - self._back_first[nodes]
        return int(out.sum() + back.sum())

    def edges(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges that leave these nodes.

        Args:
            nodes: [n] entity indices.

        Returns:
            source, code and end of each, [e] integers.
        """
        triples, relations = self.kg.triples, self.kg.num_relations
        ahead = triples[_spread(self._first[nodes], self._first[nodes + 1])]
        behind = triples[self._back[_spread(self._back_first[nodes], self._back_first[nodes + 1])]]
        return (
            np.concatenate([ahead[:, 0], behind[:, 2]]),
            np.concatenate([ahead[:, 1], behind[:, 1] + relations]),
            np.concatenate([ahead[:, 2], behind[:, 0]]),
        )

    def ends(self, nodes: np.ndarray) -> dict[int, np.ndarray]:
        """Where each relation code leads to from any of these nodes; ends ascending, unique."""
        _, codes, ends = self.edges(nodes)
        if not len(codes):
            return {}
        keys = np.unique(codes.astype(np.int64) * self.kg.num_entities + ends)
        codes, ends = np.divmod(keys, self.kg.num_entities)
        cuts = np.flatnonzero(np.diff(codes)) + 1
        return {
            int(code): some
            for code, some in zip(codes[np.r_[0, cuts]], np.split(ends, cuts), strict=True)
        }

    def step(self, nodes: np.ndarray, code: int) -> np.ndarray:
        """Where one relation code leads to; ascending, unique."""
        _, codes, ends = self.edges(nodes)
        return np.unique(ends[codes == code])

    def pairs(self, nodes: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
        """(source, end) of each edge of one relation code."""
        source, codes, ends = self.edges(nodes)
        kept = codes == code
        return source[kept], ends[kept]


def _spread(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """All integers of the ranges [first, last), end to end."""
    count = last - first
    before = np.cumsum(count) - count
    return np.repeat(first - before, count) + np.arange(count.sum())
