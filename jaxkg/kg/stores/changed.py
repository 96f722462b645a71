"""A store of arrays with what was added and removed since they were saved laid over it."""

from __future__ import annotations

import functools
import hashlib
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.kg.files.changes import Changes, read_changes
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable
from jaxkg.kg.stores.around import empty_graph
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.kg.stores.labels import label_index
from jaxkg.kg.stores.store import Described, Facts, Runs, Store
from jaxkg.words import relation_words


def open_store(folder: str | os.PathLike[str]) -> Store:
    """A saved graph with an index, as it is now; nothing is read but what is asked for.

    Raises:
        JaxkgError: see `ArrayStore.open`; or its changes are damaged.
    """
    base = ArrayStore.open(folder)
    changes = read_changes(Path(folder), base.kg.fingerprint)
    return base if changes is None else ChangedStore(base, changes)


class ChangedStore:
    """Arrays and changes as one store; see `Store`.

    New entities and facts are numbered after those of the arrays.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott")])
        >>> store = ChangedStore(ArrayStore(kg), Changes({("Heat", "by", "Mann"): ""}))
        >>> store.described(np.array(store.search(["heat"])[0])).names
        ['Heat']

    Args:
        base: the arrays.
        changes: since they were saved.
    """

    closed = True
    numbered = True

    def __init__(self, base: ArrayStore, changes: Changes) -> None:
        self.base, self.changes = base, changes
        self.title = base.title
        kg = base.kg
        relations = sorted({*kg.relations, *(relation for _, relation, _ in changes.added)})
        self._code = {name: code for code, name in enumerate(relations)}
        self._of_base = np.array([self._code[name] for name in kg.relations], np.int64)
        self._to_base = np.full(len(relations), -1, np.int64)
        self._to_base[self._of_base] = np.arange(kg.num_relations)
        self._new: list[str] = []
        self._node: dict[str, int] = {}
        self._removed: set[int] = set()
        self._delta: dict[tuple[int, int, bool], int] = defaultdict(int)
        self._facts: dict[tuple[int, int, bool], list[int]] = defaultdict(list)
        self._beside: dict[int, set[tuple[int, bool]]] = defaultdict(set)
        added = [(self._number(h), self._code[r], self._number(t)) for h, r, t in changes.added]
        self._added = np.array(added, np.int64).reshape(-1, 3)
        self._sources = list(changes.added.values())
        for place, (head, code, tail) in enumerate(added):
            for node, inverse in ((head, False), (tail, True)):
                self._delta[node, code, inverse] += 1
                self._facts[node, code, inverse].append(place)
                self._beside[node].add((code, inverse))
        for head, relation, tail in changes.removed:
            ends, code = (self._number(head), self._number(tail)), self._code[relation]
            self._removed.add(kg.row((head, relation, tail)))
            self._delta[ends[0], code, False] -= 1
            self._delta[ends[1], code, True] -= 1
        named = [*changes.names.items()]
        named += [(id, also) for id, aliases in changes.aliases.items() for also in aliases]
        named += [(id, id) for id in self._new if id not in changes.names]
        known = [(node, name) for id, name in named if (node := self._known(id)) is not None]
        self._named = [node for node, _ in known]
        self._surfaces = [name for _, name in known]
        self._labels = label_index(self._surfaces)

    def _known(self, id: str) -> int | None:
        if id in self._node:
            return self._node[id]
        rows = self.base.kg.entity_ids.rows(id)
        return rows[0] if rows else None

    def _number(self, id: str) -> int:
        node = self._known(id)
        if node is None:
            node = self.base.kg.num_entities + len(self._new)
            self._new.append(id)
        self._node[id] = node
        return node

    @property
    def schema(self) -> KnowledgeGraph:
        """See `Store`; a relation that lost all its facts is still there."""
        return self._schema

    @functools.cached_property
    def _schema(self) -> KnowledgeGraph:
        kg, relations = self.base.kg, list(self._code)
        row = {name: place for place, name in enumerate(kg.relations)}
        labels = [kg.relation_labels[row[n]] if n in row else relation_words(n) for n in relations]
        others = {
            place: kg.relation_aliases.get(row[name], ())
            for place, name in enumerate(relations)
            if name in row
        }
        schema = empty_graph(relations, labels, AliasTable.from_mapping(others))
        both = f"{kg.fingerprint} {self.changes.digest}"
        schema.__dict__["fingerprint"] = hashlib.sha256(both.encode()).hexdigest()
        return schema

    def named(self, names: Sequence[str]) -> list[list[int]]:
        return list(map(self._so_named, names, self.base.named(names)))

    def _so_named(self, name: str, there: list[int]) -> list[int]:
        if (node := self._known(name)) is not None:
            return [node]
        mine = [
            self._named[row]
            for row in self._labels.rows(name).tolist()
            if self.changes.names.get(self._id(self._named[row]), name) == name
            and self._surfaces[row] == name
        ]
        return list(dict.fromkeys([*there, *mine]))

    def search(self, texts: Sequence[str]) -> list[list[int]]:
        return [
            list(dict.fromkeys([*nodes, *(self._named[row] for row in self._labels.rows(text))]))
            for text, nodes in zip(texts, self.base.search(texts))
        ]

    def near(self, text: str) -> list[int]:
        mine = [self._named[row] for row in self._labels.near(text, self._surfaces.__getitem__)]
        return list(dict.fromkeys([*self.base.near(text), *mine]))

    def worded(self, text: str) -> list[int]:
        mine = [self._named[row] for row in self._labels.worded(text).tolist()]
        return list(dict.fromkeys([*self.base.worded(text), *mine]))

    def runs(self, nodes: np.ndarray) -> Runs:
        old = self.base.runs(nodes[nodes < self.base.kg.num_entities])
        columns = old._replace(relation=self._of_base[old.relation])
        rows = {tuple(key): size for *key, size in zip(*(column.tolist() for column in columns))}
        for node in nodes.tolist():
            for code, inverse in self._beside.get(node, ()):
                rows.setdefault((node, code, inverse), 0)
        sums = [(*key, size + self._delta.get(key, 0)) for key, size in rows.items()]
        return Runs.of([run for run in sums if run[3]])

    def fetch(self, runs: Runs) -> Facts:
        code = self._to_base[runs.relation]
        old = np.flatnonzero((runs.node < self.base.kg.num_entities) & (code >= 0))
        facts = self.base.fetch(runs._replace(relation=code).take(old))
        remaining = ~np.isin(facts.rows, list(self._removed))
        triples = facts.triples[remaining]
        triples[:, 1] = self._of_base[triples[:, 1]]
        keys = zip(runs.node.tolist(), runs.relation.tolist(), runs.inverse.tolist())
        mine = [place for key in keys for place in self._facts.get(key, ())]
        mine = np.unique(mine).astype(np.int64)
        return Facts(
            np.concatenate([triples, self._added[mine]]),
            np.concatenate([facts.rows[remaining], self.base.kg.num_triples + mine]),
        )

    @property
    def count(self) -> int:
        return self.base.count + len(self._added) - len(self._removed)

    def everything(self) -> Facts:
        first = self.base.count
        old = np.setdiff1d(np.arange(first), list(self._removed))
        triples = np.asarray(self.base.kg.triples[old], np.int64)
        triples[:, 1] = self._of_base[triples[:, 1]]
        new = np.arange(first, first + len(self._added))
        return Facts(np.concatenate([triples, self._added]), np.concatenate([old, new]))

    def some(self, most: int) -> np.ndarray:
        """See `Store`; of the arrays, and what was added first."""
        sample = self.base.some(most)
        sample[:, 1] = self._of_base[sample[:, 1]]
        return np.concatenate([sample, self._added[:most]])

    def _id(self, node: int) -> str:
        old = self.base.kg.num_entities
        return self.base.kg.entity_ids[node] if node < old else self._new[node - old]

    def described(self, nodes: np.ndarray) -> Described:
        old = nodes < self.base.kg.num_entities
        base = self.base.described(np.where(old, nodes, 0)) if old.any() else None
        ids = [self._id(node) for node in nodes.tolist()]
        names, aliases = [], {}
        for place, id in enumerate(ids):
            name, also = id, ()
            if base is not None and old[place]:
                name, also = base.names[place], base.aliases.get(place, ())
            names.append(self.changes.names.get(id, name))
            if also := tuple(dict.fromkeys([*also, *self.changes.aliases.get(id, ())])):
                aliases[place] = also
        return Described(ids, names, aliases)

    def sources(self, rows: np.ndarray) -> list[str] | None:
        old = rows < self.base.kg.num_triples
        base = self.base.sources(rows[old])
        if base is None and not any(self._sources):
            return None
        rest = iter(base or [""] * int(old.sum()))
        first = self.base.kg.num_triples
        return [
            next(rest) if mine else self._sources[row - first]
            for mine, row in zip(old.tolist(), rows.tolist())
        ]

    def holds(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        return [
            fact in self.changes.added or (held and fact not in self.changes.removed)
            for fact, held in zip(triples, self.base.holds(triples))
        ]

    def troubles(self) -> list[str]:
        """See `Store`; arrays have none."""
        return []

    def stats(self) -> dict[str, Any]:
        """See `Store`; degrees and relations are those of the saved graph."""
        added, removed = len(self.changes.added), len(self.changes.removed)
        return {
            **self.base.stats(),
            "entities": self.base.kg.num_entities + len(self._new),
            "relations": len(self._code),
            "triples": self.base.kg.num_triples + added - removed,
            "added": added,
            "removed": removed,
        }
