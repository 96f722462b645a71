"""How far entities are from one another, whatever the direction of the triples between them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import spread


class Distances:
    """Breadth-first distances over a graph, its triples walked both ways.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "r", "b"), ("d", "r", "e")])
        >>> far = Distances(kg)
        >>> far.hops([0], [2]), far.hops([0], [0]), far.hops([0], [3])
        (2, 0, None)
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        head, tail = kg.triples[:, 0], kg.triples[:, 2]
        start, end = np.concatenate([head, tail]), np.concatenate([tail, head])
        order = np.argsort(start, kind="stable")
        self._neighbours = end[order]
        self._offsets = np.searchsorted(start[order], np.arange(kg.num_entities + 1))

    def hops(self, sources: Collection[int], targets: Collection[int]) -> int | None:
        """Triples on a shortest walk from a source to a target; None where there is none."""
        wanted = np.zeros(len(self._offsets) - 1, bool)
        wanted[list(targets)] = True
        frontier = np.unique(np.asarray(list(sources), np.int64))
        seen = np.zeros(len(wanted), bool)
        seen[frontier] = True
        hops = 0
        while len(frontier):
            if wanted[frontier].any():
                return hops
            first, last = self._offsets[frontier], self._offsets[frontier + 1]
            reached = self._neighbours[spread(first, last)]
            frontier = np.unique(reached[~seen[reached]]).astype(np.int64)
            seen[frontier] = True
            hops += 1
        return None
