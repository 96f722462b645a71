"""What is looked up in a store: fetched as it is asked for, counted before, and told where cut."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxkg.kg.link.folding import key_words
from jaxkg.kg.stores.around import (
    Reach,
    Surroundings,
    TopicGraph,
    runs_between,
    surroundings,
    topic_graph,
)
from jaxkg.kg.stores.sparql import SparqlStore
from jaxkg.kg.stores.store import Store
from jaxkg.serve.facts import UNSTATED, WORDED, Facts, Lookups

_FACTS = 20_000
"""Facts around what is looked up, at most; relations of few facts come first."""


class StoredFacts(Lookups):
    """As `Facts`, of a graph that is not held whole.

    Example:
        >>> from jaxkg.kg import demo_graph
        >>> from jaxkg.kg.stores.arrays import ArrayStore
        >>> facts = StoredFacts(ArrayStore(demo_graph()))
        >>> facts.check("Alien", "directed_by", "Ridley Scott")["supported"]
        True

    Args:
        store: the graph; of an endpoint nothing is shared but the connection.
    """

    def __init__(self, store: Store) -> None:
        if isinstance(store, SparqlStore):
            labels = store.labels
            store = SparqlStore(store.endpoint, store.patterns)
            store.labels = labels
        self.store = store
        self._alone = threading.RLock()

    def entities(self, name: str, *, limit: int = 20) -> dict[str, Any]:
        """See `Lookups`; words are found whole alone, and none that thousands of names have."""
        with self._alone:
            return super().entities(name, limit=limit)

    def entity(self, name: str, *, limit: int = 20) -> dict[str, Any]:
        """See `Lookups.entity`; of a relation of very many facts they are counted alone."""
        with self._alone:
            row = self._one(name)
            graph, around = self._around([row], 1)
            [id] = self.store.described(np.array([row])).ids
            reply = self._numbered(graph, Facts.of(graph).entity(id, limit=limit))
            reply["degree"] = self._degrees([row])[0]
            schema = self.store.schema
            for relation, inverse, size in zip(*(c.tolist() for c in around.cuts[1:])):
                label = {
                    "relation": "^" * inverse + schema.relations[relation],
                    "label": schema.relation_labels[relation],
                }
                reply["relations"].append({**label, "count": size, "facts": [], "left_out": size})
        return _with_troubles(reply, around)

    def paths(self, start: str, end: str, *, hops: int = 3, limit: int = 10) -> dict[str, Any]:
        """See `Lookups.paths`; facts halfway from both ends are looked at."""
        with self._alone:
            ends = self._ends(start, end, hops)
            graph, around = self._around(ends, (hops + 1) // 2)
            ids = self.store.described(np.array(ends)).ids
            walks = Facts.of(graph).paths(*ids, hops=hops, limit=limit)
            reply = self._numbered(graph, walks)
        reply["complete"] &= not (len(around.cuts.node) or around.troubles)
        return _with_troubles(reply, around)

    def check(self, head: str, relation: str, tail: str) -> dict[str, Any]:
        """See `Lookups.check`."""
        with self._alone:
            codes = Facts.of(self.store.schema).codes(relation)
            ends = self._rows(head), self._rows(tail)
            facts, missed = runs_between(self.store, *ends, codes, _FACTS)
            troubles = tuple(dict.fromkeys(self.store.troubles()))
            around = Surroundings((*ends[0], *ends[1]), facts, missed, False, troubles)
            graph = topic_graph(self.store, around, whole_schema=False)
            ids = [self.store.described(np.array(rows)).ids for rows in ends]
            triples, instead = [], []
            schema = self.store.schema
            names = {schema.relations[code % schema.num_relations] for code in codes}
            if names & set(graph.relations):
                asked = Facts.of(graph)
                for one, two in itertools.product(*ids):
                    part = self._numbered(graph, asked.check(one, relation, two))
                    triples += part["triples"]
                    instead += part["instead"]
            reply = {
                "supported": bool(triples),
                "triples": triples,
                "instead": [] if triples else instead[:10],
                "assumption": UNSTATED,
            }
        return _with_troubles(reply, around)

    def schema(self, *, limit: int = 200) -> dict[str, Any]:
        """See `Lookups.schema`; without examples."""
        with self._alone:
            stats, schema = self.store.stats(), self.store.schema
        counts = list(stats["relation_counts"].items())
        label = dict(zip(schema.relations, schema.relation_labels))
        return {
            "entities": stats.get("entities"),
            "triples": stats["triples"],
            "relations": [
                {"relation": name, "label": label[name], "count": count, "example": None}
                for name, count in counts[:limit]
            ],
            "left_out": max(0, len(counts) - limit),
        }

    def _around(self, rows: Sequence[int], hops: int) -> tuple[TopicGraph, Surroundings]:
        nearby = surroundings(self.store, rows, Reach(hops=hops, facts=_FACTS))
        return topic_graph(self.store, nearby, whole_schema=False), nearby

    def _degrees(self, rows: Sequence[int]) -> list[int]:
        runs = self.store.runs(np.unique(np.array(rows, np.int64)))
        return [int(runs.size[runs.node == row].sum()) for row in rows]

    def _names(self, rows: Sequence[int]) -> list[str]:
        return list(self.store.described(np.array(rows, np.int64)).names)

    def _known(self, name: str) -> list[int]:
        return list(self.store.named([name])[0])

    def _found(self, name: str) -> dict[int, float]:
        from rapidfuzz import fuzz

        scores = dict.fromkeys(self._known(name), 1.0)
        for row in self.store.search([name])[0]:
            scores.setdefault(row, 0.97)
        worded = [row for row in self.store.worded(name) if row not in scores]
        lengths = [len(key_words(each)) for each in self._names(worded)]
        rank = dict(zip(worded, zip(lengths, self._degrees(worded))))
        for row in sorted(worded, key=lambda row: (rank[row][0], -rank[row][1], row)):
            scores[row] = WORDED
        if scores:
            return scores
        rows = self.store.near(name)
        scores = (fuzz.ratio(name.lower(), near.lower()) / 100 for near in self._names(rows))
        return dict(zip(rows, scores))

    def _nearest(self, name: str) -> list[str]:
        return self._names([*self.store.search([name])[0], *self.store.near(name)][:3])

    def _told(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        entities = self.store.described(np.array(rows, np.int64))
        columns = zip(entities.ids, entities.names, self._degrees(rows))
        return [{"id": id, "name": name, "degree": degree} for id, name, degree in columns]

    def _numbered(self, graph: TopicGraph, reply: dict[str, Any]) -> dict[str, Any]:
        """With the store's own numbers of facts."""
        rows = graph.rows
        if not self.store.numbered or rows is None:
            return reply

        def told(value: Any) -> Any:
            if isinstance(value, dict):
                row = {"triple": int(rows[value["triple"]])} if "triple" in value else {}
                return {name: told(each) for name, each in value.items()} | row
            return list(map(told, value)) if isinstance(value, list | tuple) else value

        return told(reply)


def _with_troubles(reply: dict[str, Any], around: Surroundings) -> dict[str, Any]:
    return {**reply, "incomplete": list(around.troubles)} if around.troubles else reply


def lookups(store: Store | None, whole: TopicGraph | None, of: Callable[[], Facts]) -> Lookups:
    """Over a graph that is read, a small one that was fetched, or a store.

    Args:
        store: None for a graph that is read.
        whole: the store's graph, where that was fetched whole.
        of: over a graph that is read.
    """
    if store is None:
        return of()
    return StoredFacts(store) if whole is None else Facts.of(whole)
