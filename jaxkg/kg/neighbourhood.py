"""What lies around a set of entities, on the host: nothing of the rest of the graph is touched."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxkg.deadline import check
from jaxkg.kg.graph import KnowledgeGraph


class Neighbourhood:
    """Edges of a graph by node, in both directions.

    A code in [0, R) walks a triple forwards, one in [R, 2R) backwards.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("Heat", "by", "Mann"), ("Ali", "by", "Mann")])
        >>> around = Neighbourhood(kg)
        >>> around.relations(2)
        {1: 2}
        >>> around.triples(2, 1).tolist(), around.ends(np.array([2]))[1].tolist()
        ([0, 1], [0, 1])
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        triples = np.asarray(kg.triples)
        nodes = np.arange(kg.num_entities + 1)
        self._first = np.searchsorted(triples[:, 0], nodes)
        # By tail, then relation, as the rows themselves are by head, then relation.
        key = triples[:, 2].astype(np.int64) * kg.num_relations + triples[:, 1]
        self._back = np.argsort(key, kind="stable")
        self._behind = key[self._back]
        self._back_first = np.searchsorted(self._behind, nodes * np.int64(kg.num_relations))

    @functools.cached_property
    def _ahead(self) -> np.ndarray:
        triples = self.kg.triples
        return triples[:, 0].astype(np.int64) * self.kg.num_relations + triples[:, 1]

    def walks(
        self, nodes: np.ndarray, codes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every edge of these relation codes out of these nodes.

        Args:
            nodes: [n] entity indices.
            codes: [c] relation codes.

        Returns:
            Of each edge its end [e] int32, its step [e] int64, 2 * row of the triple, plus 1 where
            it is walked backwards, and the place of its source in `nodes` [e].
        """
        back, relation = np.divmod(codes.astype(np.int64), self.kg.num_relations)
        parts = []
        for at in (0, 1):
            some = relation[back == at]
            if not len(some) and (parts or not at):
                continue  # most walk one way alone
            key = (nodes.astype(np.int64)[:, None] * self.kg.num_relations + some).ravel()
            keys = self._behind if at else self._ahead
            low, high = np.searchsorted(keys, key), np.searchsorted(keys, key, "right")
            rows = spread(low, high)
            rows = self._back[rows] if at else rows
            place = np.repeat(np.arange(len(key)) // max(len(some), 1), high - low)
            parts.append((self.kg.triples[rows, 0 if at else 2], 2 * rows + at, place))
        ends, steps, places = map(np.concatenate, zip(*parts)) if parts[1:] else parts[0]
        return ends.astype(np.int32), steps, places

    def degree(self, nodes: npt.ArrayLike) -> int:
        """Edges that leave a node, or several, in both directions."""
        return int(np.sum(self.degrees(np.asarray(nodes))))

    def degrees(self, nodes: np.ndarray) -> np.ndarray:
        """Edges that leave each node, in both directions, shaped as `nodes`."""
        ahead = self._first[nodes + 1] - self._first[nodes]
        return ahead + self._back_first[nodes + 1] - self._back_first[nodes]

    def relations(self, node: int) -> dict[int, int]:
        """How many edges of each relation code leave a node."""
        ahead, behind = self._rows(node)
        codes = np.concatenate(
            [self.kg.triples[ahead, 1], self.kg.triples[behind, 1] + self.kg.num_relations]
        )
        found, counts = np.unique(codes, return_counts=True)
        return dict(zip(found.tolist(), counts.tolist()))

    def triples(self, node: int, code: int) -> np.ndarray:
        """Rows of the triples that one relation code walks from a node."""
        inverse, relation = divmod(code, self.kg.num_relations)
        rows = self._rows(node)[inverse]
        low, high = np.searchsorted(self.kg.triples[rows, 1], [relation, relation + 1])
        return rows[low:high]

    def edges(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Edges that leave these nodes.

        Args:
            nodes: [n] entity indices.

        Returns:
            Of each edge its source, relation code, end and row of its triple; [e] integers.
        """
        check()
        ahead = spread(self._first[nodes], self._first[nodes + 1])
        behind = self._back[spread(self._back_first[nodes], self._back_first[nodes + 1])]
        forth, back = self.kg.triples[ahead], self.kg.triples[behind]
        return (
            np.concatenate([forth[:, 0], back[:, 2]]),
            np.concatenate([forth[:, 1], back[:, 1] + self.kg.num_relations]),
            np.concatenate([forth[:, 2], back[:, 0]]),
            np.concatenate([ahead, behind]),
        )

    def ends(self, nodes: np.ndarray, same: np.ndarray | None = None) -> dict[int, np.ndarray]:
        """Where each relation code leads to from any of these nodes; ends ascending, unique.

        Args:
            nodes: [n] entity indices.
            same: see `ends_of_each`.
        """
        _, codes, starts, ends = self.ends_of_each([nodes], same)
        return dict(zip(codes.tolist(), np.split(ends, starts[1:])))

    def ends_of_each(
        self, groups: Sequence[np.ndarray], same: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where each relation code leads to from any node of each group, all groups at once.

        Args:
            groups: G groups of entity indices.
            same: [2 R] the relation code that each counts as; None takes all as they are.

        Returns:
            Of each group and code [S] the place of the group, ascending, the code, ascending in a
            group, and where its ends start in [E], which are ascending and unique.
        """
        nodes = np.concatenate([np.zeros(0, np.int64), *groups])
        of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        # As `edges` has them, those ahead first.
        firsts = (self._first, self._back_first)
        group = np.concatenate([np.repeat(of, at[nodes + 1] - at[nodes]) for at in firsts])
        _, codes, ends, _ = self.edges(nodes)
        codes = codes if same is None else same[codes]
        keys = group * (2 * self.kg.num_relations) + codes
        keys = distinct(keys * self.kg.num_entities + ends)
        keys, ends = np.divmod(keys, max(self.kg.num_entities, 1))
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        group, codes = np.divmod(keys[starts], max(2 * self.kg.num_relations, 1))
        return group, codes, starts, ends

    def pairs(self, nodes: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
        """(source, end) of each edge of one relation code."""
        source, codes, ends, _ = self.edges(nodes)
        kept = codes == code
        return source[kept], ends[kept]

    def _rows(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        ahead = np.arange(self._first[node], self._first[node + 1])
        return ahead, self._back[self._back_first[node] : self._back_first[node + 1]]


def distinct(values: np.ndarray) -> np.ndarray:
    """Integers ascending, each once: as `np.unique`, and faster where they are many.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values, axis=None)
    return (
        ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    )


def spread(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """All integers of the ranges [first, last), end to end.

    >>> spread(np.array([3, 7]), np.array([5, 8])).tolist()
    [3, 4, 7]
    """
    count = last - first
    before = np.cumsum(count) - count
    return np.repeat(first - before, count) + np.arange(count.sum())
