"""When facts hold: what is said of them by a beginning, an end, or a point in time."""

from __future__ import annotations

import functools
from collections.abc import Container
from typing import Literal

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.qualifiers import Statements
from jaxkg.kg.queries.literals import as_date
from jaxkg.kg.queries.windows import NONE
from jaxkg.words import relation_words

_NAMES: dict[str, Literal["from", "to", "at"]] = {
    **dict.fromkeys(
        ("from", "since", "start", "start time", "start date", "start year", "begin", "begin date",
         "valid from", "date from", "from date", "from year"), "from"),
    **dict.fromkeys(
        ("to", "until", "till", "end", "end time", "end date", "end year", "valid to",
         "valid until", "date to", "to date", "to year", "through"), "to"),
    **dict.fromkeys(("point in time", "date", "year", "time", "on"), "at"),
}  # fmt: skip
"""What the vocabularies of statements call a beginning, an end and a point in time."""


_DATES = 8
"""Dates for which it is kept which facts hold, a byte a fact."""


class Times:
    """The times at which the facts of a graph hold, where a statement tells them.

    A statement without a beginning, or without an end, is open on that side. A fact holds when one
    of its statements does, and one without any such statement always.

    Attributes:
        relations: those that tell times, by "from", "to" and "at".
        fact: [M] int64 rows of triples, ascending, once for each statement that has a time.
        first, last: [M] int64 days in between which it holds, see `jaxkg.kg.queries.literals`.
    """

    def __init__(
        self, kg: KnowledgeGraph, statements: Statements, keys: np.ndarray, dated: Container[str]
    ) -> None:
        """Read the times.

        Args:
            statements: of the graph.
            keys: [2, N] int32, first and last day of every date.
            dated: relations that lead to dates.
        """
        self._kg = kg
        self.statements = statements
        self.relations: dict[str, list[str]] = {"from": [], "to": [], "at": []}
        self.fact = np.zeros(0, np.int64)
        self.first = self.last = np.zeros(0, np.int64)
        self._held = functools.lru_cache(maxsize=_DATES)(self._holding)
        if not len(self.statements.node):
            return
        first = np.full(kg.num_entities, np.iinfo(np.int32).min, np.int64)
        last = np.full(kg.num_entities, np.iinfo(np.int32).max, np.int64)
        timed = np.zeros(kg.num_entities, bool)
        for code, name in enumerate(kg.relations):
            label = kg.relation_labels[code].lower()
            what = _NAMES.get(label) or _NAMES.get(relation_words(name).lower())
            if what is None or name not in dated:
                continue
            self.relations[what].append(name)
            heads, _, tails = kg.triples[kg.triples[:, 1] == code].T
            there = keys[0, tails] != NONE
            heads, days = heads[there], keys[:, tails[there]].astype(np.int64)
            timed[heads] = True
            if what != "to":
                np.maximum.at(first, heads, days[0])
            if what != "from":
                np.minimum.at(last, heads, days[1])
        node, fact = self.statements.node, self.statements.fact
        told = np.flatnonzero(timed[node] & (fact >= 0))
        told = told[np.argsort(fact[told], kind="stable")]
        self.fact, self.first, self.last = fact[told], first[node[told]], last[node[told]]

    def holds(self, rows: np.ndarray, date: str) -> np.ndarray:
        """[E] bool: which facts hold on one of a date's days; rows [E] of triples."""
        return self._held(date)[rows]

    def citations(self, row: int) -> list[int]:
        """Rows of the triples that tell when a fact holds."""
        kg, nodes = self._kg, self.statements.node[self.statements.fact == row]
        names = [name for names in self.relations.values() for name in names]
        low, high = (np.searchsorted(kg.triples[:, 0], nodes, side) for side in ("left", "right"))
        rows = [place for a, b in zip(low.tolist(), high.tolist()) for place in range(a, b)]
        return [place for place in rows if kg.relations[kg.triples[place, 1]] in names]

    def _holding(self, date: str) -> np.ndarray:
        """[T] bool, which facts hold."""
        days, holds = as_date(date), np.ones(self._kg.num_triples, bool)
        assert days is not None  # refused before
        holds[self.fact] = False
        holds[self.fact[(self.first <= days[1]) & (self.last >= days[0])]] = True
        return holds
