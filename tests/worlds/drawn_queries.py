"""Random query graphs over any graph: of every operator, mostly with something to find."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxkg import query as q
from jaxkg.kg.queries.rules import refusal, value_kind
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.values import KINDS
from jaxkg.kg.queries.windows import NONE

_ORDERED: tuple[q.Comparison, ...] = ("=", "!=", "<", "<=", ">", ">=")


class RandomQueries:
    """Draws query graphs.

    Relations are drawn among those that leave what was found so far, so that most query graphs are
    not empty; values are drawn among those of the graph. Every query graph drawn is sound.

    Args:
        sets: over the graph.
        rng: where the numbers come from.
        most: a set of more entities is not stepped on from: random walks end in hubs of hubs.
    """

    def __init__(self, sets: QuerySets, rng: np.random.Generator, *, most: int = 3000):
        self.most = most
        self.sets, self.values, self.kg, self.rng = sets, sets.values, sets.kg, rng
        columns = self.values.keys[:, 0]
        self._valued = [np.flatnonzero(column != NONE) for column in columns]

    def draw(self) -> q.Query:
        """One sound query graph."""
        while True:
            query = self._root()
            if refusal(self.values, query) is None:
                return query

    def _root(self) -> q.Query:
        shape = self.rng.integers(14)
        if shape < 6:
            return self._node(3)
        if shape == 6:
            return q.Count(self._node(2))
        if shape == 7:
            return q.Exists(self._node(2))
        if shape == 13:
            return self._calculation()
        if shape > 10:
            return self._rows(self._node(2))
        if shape == 10:
            return self._total(self._node(2))
        left, right = self._node(1), self._node(1)
        if shape == 8:
            return q.Compared(q.Count(left), self._pick(_ORDERED), q.Count(right))
        kind = value_kind(self.values, left)
        comparison = self._pick(_ORDERED if kind else ("=", "!="))
        if kind == "date" and self.rng.random() < 0.2:
            comparison = "in"
        return q.Compared(left, comparison, right)

    def _calculation(self) -> q.Query:
        """Of two values of things, often of one thing; of two counts; or of anything."""
        if self.rng.random() < 0.2:
            left, right = q.Count(self._node(1)), q.Count(self._node(1))
            return q.Calculation(left, self._pick(("sum", "difference", "ratio")), right)
        kind = self._pick(("number", "date"))
        rows = self._valued[KINDS.index(kind)]
        rows = rows[np.isin(rows, self.kg.triples[:, 2])]
        if not len(rows) or self.rng.random() < 0.1:
            left, right = self._node(1), self._node(1)
        else:
            left, right = (self._leading_to(int(self._pick(rows))) for _ in range(2))
        ways = ("sum", "difference", "ratio") if kind == "number" else ("days", "years")
        return q.Calculation(left, self._pick(ways), right)

    def _leading_to(self, row: int) -> q.Node:
        """What one fact leads to, and all like it of the same thing."""
        head, relation, _ = self.kg.triples[
            self._pick(np.flatnonzero(self.kg.triples[:, 2] == row))
        ]
        return q.Step(q.Entities((self.kg.entity_ids[head],)), (self.kg.relations[relation],))

    def _rows(self, source: q.Node) -> q.Query:
        """A table of a column or two, often of groups, often ordered."""
        found = self.sets.derive(source).nodes
        leaving = self._leaving(found) if 0 < len(found) <= self.most else []
        if not leaving:
            return q.Count(source)
        per = (self._pick(leaving),) if self.rng.random() < 0.5 else ()
        kinds = {name: self.values.relation_kinds.get(name) for name in leaving}
        columns = []
        for _ in range(self.rng.integers(1, 3)):
            path = (self._pick(leaving),) if self.rng.random() < 0.85 else ()
            kind = kinds[path[0]] if path else None
            ways = ["value", "count"] + ["min", "max"] * (kind in ("number", "date"))
            columns.append(q.Column(path, self._pick(ways + ["sum", "mean"] * (kind == "number"))))
        query = q.Rows(source, tuple(columns), per)
        by = [
            n
            for n, c in enumerate(columns, start=1)
            if c.by != "value" or kinds.get("".join(c.path))
        ]
        if by and self.rng.random() < 0.3:
            number, value = self._pick(by), q.Value("number", str(self._small()))
            if kinds.get("".join(columns[number - 1].path)) == "date":
                dates = self._valued[KINDS.index("date")]
                value = self.value_at("date", int(self._pick(dates)))
            query = dataclasses.replace(
                query, having=(q.Having(number, self._pick(_ORDERED), value),)
            )
        if by and self.rng.random() < 0.6:
            first, top = self._small(), self._small() if per and self.rng.random() < 0.3 else 0
            last = self._pick((0, first + self._small() - 1))
            places = {"first": 1, "top": top} if top else {"first": first, "last": last}
            largest = bool(self.rng.random() < 0.5)
            query = dataclasses.replace(query, order=self._pick(by), largest=largest, **places)
        return query if refusal(self.values, query) is None else q.Rows(source, (q.Column(()),))

    def _total(self, source: q.Node) -> q.Query:
        """Of numbers that a path of a step or two leads to; a count where there are none."""
        path, ends = (), self.sets.derive(source).nodes
        for _ in range(2):
            relations = self._leaving(ends) if 0 < len(ends) <= self.most else []
            numbers = [one for one in relations if self.values.relation_kinds.get(one) == "number"]
            if numbers:
                return q.Total(source, (*path, self._pick(numbers)), self._pick(("sum", "mean")))
            if not relations:
                break
            path = (*path, self._pick(relations))
            ends = np.unique(self.sets.step(ends, path[-1:])[0])
        return q.Count(source)

    def _node(self, depth: int) -> q.Node:
        shape = int(self.rng.integers(4 if depth else 2))
        if depth == 0 or shape == 0:
            return self._chain(self._start())
        if shape == 1:
            return self._chain(self._node(depth - 1))
        if shape == 2:
            first = self._node(depth - 1)
            second = self._node(depth - 1) if self.rng.random() < 0.5 else self._beside(first)
            kind = int(self.rng.integers(3))
            if kind == 2:
                return q.Difference(first, second)
            return q.Union((first, second)) if kind else q.Intersection((first, second))
        source = self._node(depth - 1)
        made = self._conditioned(source)
        return source if refusal(self.values, made) else made

    def _start(self) -> q.Node:
        """An entity, or everything that shares a relation with one."""
        entity = self._entity()
        if self.rng.random() < 0.15:
            relations = self._leaving(np.array([self.kg.entity(entity)]))
            every = q.Domain((self._pick(relations),)) if relations else q.Entities((entity,))
            if len(self.sets.derive(every).nodes) <= self.most:
                return every
        return q.Entities((entity,))

    def _chain(self, node: q.Node) -> q.Node:
        returns = bool(self.rng.random() < 0.7)
        for _ in range(self.rng.integers(1, 3)):
            rows = self.sets.derive(node).nodes
            if not len(rows) or len(rows) > self.most:
                return node
            relations = self._leaving(rows)
            if not relations:
                return node
            size = min(len(relations), 1 + int(self.rng.random() < 0.2))
            some = self.rng.choice(len(relations), size, replace=False)
            closure: q.Closure = self._pick(("+", "*")) if self.rng.random() < 0.15 else ""
            during = None
            if not closure and len(self.values.times.fact) and self.rng.random() < 0.4:
                dates = self._valued[KINDS.index("date")]
                during = self.value_at("date", int(self._pick(dates)))
            names = tuple(relations[at] for at in some.tolist())
            node = q.Step(node, names, returns, closure, during)
        return node

    def _beside(self, node: q.Node) -> q.Node:
        """A set that shares an entity with a node, where that has any."""
        rows = self.sets.derive(node).nodes
        if not len(rows):
            return node
        relations = self._leaving(rows[:1])
        if not relations:
            return node
        relation = self._pick(relations)
        ends, _, _ = self.sets.step(rows[:1], (relation,))
        return q.Step(q.Entities((self.kg.entity_ids[int(ends[0])],)), (q.inverse(relation),))

    def _conditioned(self, source: q.Node) -> q.Node:
        rows = self.sets.derive(source).nodes
        path: tuple[str, ...] = ()
        ends = rows
        for _ in range(self.rng.integers(0, 3)):
            relations = self._leaving(ends) if 0 < len(ends) <= self.most else []
            if not relations:
                break
            columns = [name for name in relations if name in self.values.relation_kinds]
            some = columns if columns and self.rng.random() < 0.6 else relations
            path = (*path, self._pick(some))
            ends = np.unique(self.sets.step(ends, path[-1:])[0])
        if self.rng.random() < 0.4:
            by = "count" if path and self.rng.random() < 0.5 else "value"
            return q.Extreme(source, path, bool(self.rng.random() < 0.5), self._small(), by)
        if path and self.rng.random() < 0.2:
            others = self._leaving(rows) if len(rows) else []
            other = (self._pick(others),) if others and self.rng.random() < 0.9 else ()
            kind = self.values.kind_along(path[-1:])
            return q.Match(source, path, self._pick(_ORDERED if kind else ("=", "!=")), other)
        if path and self.rng.random() < 0.3:
            return self._counted(source, rows, path)
        if path and self.rng.random() < 0.25:
            return self._quantified(source, rows, path)
        row = int(self._pick(ends)) if len(ends) else 0
        kinds = [kind for kind, rows in zip(KINDS, self._valued) if len(rows) and row in rows]
        if not kinds or self.rng.random() < 0.2:
            if self.rng.random() < 0.2:
                text, language = self.values.text(row)
                return q.Where(
                    source, path, self._pick(("=", "!=")), q.Value("text", text, "", language)
                )
            return q.Where(source, path, self._pick(("=", "!=")), self.kg.entity_ids[row])
        kind = kinds[0]
        if self.rng.random() < 0.5:
            row = int(self._pick(self._valued[KINDS.index(kind)]))
        return q.Where(source, path, self._comparison(kind), self.value_at(kind, row))

    def _counted(self, source: q.Node, rows: np.ndarray, path: tuple[str, ...]) -> q.Where:
        """A condition on how many a path leads to: about as many as for one of the entities."""
        ends = self.rng.permutation(rows)[:1]
        for relation in path:
            ends = np.unique(self.sets.step(ends, (relation,))[0])
        number = len(ends) + int(self.rng.integers(-1, 2))
        return q.Where(source, path, self._pick(_ORDERED), q.Value("number", str(number)), "count")

    def _quantified(self, source: q.Node, rows: np.ndarray, path: tuple[str, ...]) -> q.Quantifier:
        """How many ends are in a set, often one that holds all of one of the entities."""
        ends = self.rng.permutation(rows)[:1]
        for relation in path:
            ends = np.unique(self.sets.step(ends, (relation,))[0])
        within: q.Node = q.Entities(tuple(self.kg.entity_ids[end] for end in ends[:4].tolist()))
        if not len(ends) or self.rng.random() < 0.4:
            within = self._beside(within) if len(ends) else self._start()
        by = self._pick(("inside", "outside", "missing"))
        n = 0 if self.rng.random() < 0.5 else self._small() - 1
        return q.Quantifier(source, path, within, self._pick(("=", *_ORDERED)), n, by)

    def value_at(self, kind: str, row: int) -> q.Value:
        """An entity's value as one to compare with."""
        text = self.kg.name(row).strip()
        if kind == "date":
            return q.Value("date", text[: self._pick((4, 7, 10))] if text[:4].isdigit() else text)
        return q.Value(kind, text, self.values.unit(row) if kind == "number" else "")  # pyright: ignore

    def _comparison(self, kind: str) -> q.Comparison:
        if kind == "date" and self.rng.random() < 0.3:
            return "in"
        return self._pick(_ORDERED)

    def _small(self) -> int:
        return int(self.rng.integers(1, 4))

    def _entity(self) -> str:
        return self.kg.entity_ids[int(self.rng.integers(self.kg.num_entities))]

    def _leaving(self, rows: np.ndarray) -> list[str]:
        """Relations that leave some of a few of these entities, with inverses."""
        some = self.rng.permutation(rows)[:5]
        triples = self.kg.triples
        low = np.searchsorted(triples[:, 0], some)
        high = np.searchsorted(triples[:, 0], some, "right")
        found = {int(code) for a, b in zip(low, high) for code in triples[a:b, 1]}
        into = triples[np.isin(triples[:, 2], some), 1]
        found |= {int(code) + self.kg.num_relations for code in into}
        return [self.kg.relation_name(code) for code in sorted(found)]

    def _pick(self, items) -> Any:
        return items[int(self.rng.integers(len(items)))]
