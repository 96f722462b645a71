"""Query graphs taken apart into the operators of a batch, and these into rounds. Host."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.kg.queries.rules import ends_at, topics_of, where_window
from jaxkg.kg.queries.sets import sides, start_of
from jaxkg.kg.queries.values import KINDS, Values
from jaxkg.query import (
    Difference,
    Domain,
    Entities,
    Extreme,
    Intersection,
    Node,
    Query,
    Step,
    Union,
    Where,
)
from jaxkg.types import NULL


class Operator(NamedTuple):
    """One operator, or one chain of steps; `parts` are the operators it reads from."""

    query: Node
    parts: tuple[int, ...]
    level: int
    chain: tuple[tuple[int, ...], ...] = ()
    revisit: Revisit = "any"


@dataclasses.dataclass(frozen=True, eq=False)
class Chains:
    """Chains of a round by what they may return to: operators, sources, relations [P, L, W]."""

    groups: tuple[tuple[Revisit, list[int], list[int], np.ndarray], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions, or orders, of a round.

    Attributes:
        places, sources: C operators, and those they read from.
        relations: [C, L, W] int32 paths; hops: [C] int32, their lengths.
        kind: [C] int32, place in `KINDS`; NULL for a count.
        window: [C, 4] int32; negate: [C] bool, of an order whether the largest come first.
        most: [C] int32, of an order how many.
    """

    places: list[int]
    sources: list[int]
    relations: np.ndarray
    hops: np.ndarray
    kind: np.ndarray
    window: np.ndarray
    negate: np.ndarray
    most: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
    """What can run once the rounds before it have: (operator, parts, least, most) to combine."""

    chains: Chains | None
    combinations: list[tuple[int, tuple[int, ...], int, int]]
    wheres: Conditions | None
    extremes: Conditions | None


@dataclasses.dataclass(frozen=True, eq=False)
class QueryBatch:
    """A batch of query graphs of mixed shapes.

    Attributes:
        queries: as given.
        operators: all operators, each after those it reads from; equal ones once.
        roots: of each query graph, one operator, or the two sides of a comparison.
        starts: [S] int32 nodes of all `Entities` and `Domain`, end to end.
        entities: [n, 3] int64, (operator, first, end) of their stretches.
        rounds: in order.
    """

    queries: tuple[Query, ...]
    operators: tuple[Operator, ...]
    roots: tuple[tuple[int, ...], ...]
    starts: np.ndarray
    entities: np.ndarray
    rounds: tuple[Round, ...]


def query_batch(values: Values, queries: Sequence[Query]) -> QueryBatch:
    """Take sound query graphs apart."""
    taken = _Taken(values)
    roots = tuple(tuple(map(taken.place, sides(query))) for query in queries)
    operators = taken.operators
    starts: list[int] = []
    entities = []
    for place, operator in enumerate(operators):
        if operator.level:
            continue
        low = len(starts)
        if isinstance(operator.query, Entities):
            starts += sorted({values.row(entity) for entity in operator.query.ids})
        elif isinstance(operator.query, Domain):
            starts += start_of(values, operator.query).nodes.tolist()
        entities.append((place, low, len(starts)))
    by_level: dict[int, list[int]] = {}
    for place, operator in enumerate(operators):
        if operator.level:
            by_level.setdefault(operator.level, []).append(place)
    paths = [o.chain or _path(values, o.query) for o in operators]
    distinct = set(paths)
    shape = (
        max(map(len, distinct), default=0),
        max((len(hop) for path in distinct for hop in path), default=1),
    )
    rounds = tuple(
        _round(values, operators, paths, shape, by_level[level]) for level in sorted(by_level)
    )
    return QueryBatch(
        tuple(queries),
        tuple(operators),
        roots,
        np.array(starts, np.int32),
        np.array(entities, np.int64).reshape(-1, 3),
        rounds,
    )


class _Taken:
    """Operators taken from query graphs so far."""

    def __init__(self, values: Values):
        self.values = values
        self.operators: list[Operator] = []
        self._places: dict[tuple[Hashable, ...], int] = {}

    def place(self, node: Node) -> int:
        """Where a node's operator stands, after those it reads from; equal nodes have one."""
        # Told apart by where their parts stand: the hash of a node would go down to its leaves.
        kind = type(node)
        if isinstance(node, Step):
            return self._chain(node)
        if isinstance(node, Entities):
            return self._kept((kind, node.ids), node, ())
        if isinstance(node, Domain):
            return self._kept((kind, node.relations), node, ())
        if isinstance(node, Intersection | Union):
            parts = tuple(map(self.place, node.parts))
            return self._kept((kind, parts), node, parts)
        if isinstance(node, Difference):
            parts = self.place(node.source), self.place(node.without)
            return self._kept((kind, parts), node, parts)
        part = self.place(node.source)
        if isinstance(node, Where):
            key = kind, part, node.path, node.comparison, node.value
        else:
            key = kind, part, node.path, node.largest, node.n, node.by
        return self._kept(key, node, (part,))

    def _kept(
        self,
        key: tuple[Hashable, ...],
        node: Node,
        parts: tuple[int, ...],
        *,
        chain: tuple[tuple[int, ...], ...] = (),
        revisit: Revisit = "any",
    ) -> int:
        if (place := self._places.get(key)) is None:
            place = self._places[key] = len(self.operators)
            level = 1 + max(self.operators[part].level for part in parts) if parts else 0
            self.operators.append(Operator(node, parts, level, chain, revisit))
        return place

    def _chain(self, node: Step) -> int:
        """The longest chain of steps above `node` that is walked under one rule.

        Steps that must not return bar the entities that the chain began with at every hop, so they
        are one chain only down to these; above other steps, such a step is walked alone.
        """
        names, source = [node.relations], node.source
        while isinstance(source, Step) and source.returns == node.returns:
            names.append(source.relations)
            source = source.source
        bars = not node.returns and bool(topics_of(node))
        if bars and not isinstance(source, Entities):
            return self._step_after_others(node)
        part = self.place(source)
        key = Step, part, bars, tuple(names)
        if (place := self._places.get(key)) is not None:
            return place
        chain = tuple(map(self.values.codes, reversed(names)))
        return self._kept(key, node, (part,), chain=chain, revisit="topic" if bars else "any")

    def _step_after_others(self, node: Step) -> int:
        """A step that must not return, above one that might: walk freely, then leave out."""
        free = Step(node.source, node.relations)
        parts = self.place(free), self.place(Entities(topics_of(node)))
        return self._kept((Step, parts), node, parts)


def _path(values: Values, query: Node) -> tuple[tuple[int, ...], ...]:
    if not isinstance(query, Where | Extreme):
        return ()
    return tuple((values.kg.relation_code(name),) for name in query.path)


def _table(paths: Sequence[tuple[tuple[int, ...], ...]], shape: tuple[int, int]) -> np.ndarray:
    rows = {path: row for row, path in enumerate(dict.fromkeys(paths))}
    table = np.full((len(rows), *shape), NULL, np.int32)
    for path, row in rows.items():
        for hop, codes in enumerate(path):
            table[row, hop, : len(codes)] = codes
    return table[[rows[path] for path in paths]]


def _round(
    values: Values,
    operators: Sequence[Operator],
    paths: Sequence[tuple[tuple[int, ...], ...]],
    shape: tuple[int, int],
    places: Sequence[int],
) -> Round:
    groups: dict[Revisit, list[int]] = {}
    combinations, wheres, extremes = [], [], []
    for place in places:
        operator = operators[place]
        query, parts = operator.query, operator.parts
        if operator.chain:
            groups.setdefault(operator.revisit, []).append(place)
        elif isinstance(query, Where):
            wheres.append(place)
        elif isinstance(query, Extreme):
            extremes.append(place)
        elif isinstance(query, Intersection):
            # The same part twice is one slot twice: distinct parts count.
            distinct = tuple(dict.fromkeys(parts))
            combinations.append((place, distinct, len(distinct), len(distinct) + 1))
        elif isinstance(query, Union):
            combinations.append((place, tuple(dict.fromkeys(parts)), 1, len(parts) + 1))
        else:
            combinations.append((place, parts, 1, 1))
    chains = Chains(
        tuple(
            (
                revisit,
                some,
                [operators[place].parts[0] for place in some],
                _table([paths[place] for place in some], shape),
            )
            for revisit, some in groups.items()
        )
    )
    return Round(
        chains if groups else None,
        combinations,
        _conditions(values, operators, paths, shape, wheres),
        _conditions(values, operators, paths, shape, extremes),
    )


def _conditions(
    values: Values,
    operators: Sequence[Operator],
    paths: Sequence[tuple[tuple[int, ...], ...]],
    shape: tuple[int, int],
    places: list[int],
) -> Conditions | None:
    if not places:
        return None
    kinds, windows, flags, most = [], [], [], []
    for place in places:
        query = operators[place].query
        if isinstance(query, Where):
            kind, window = where_window(values, query)
            kinds.append(KINDS.index(kind))
            windows.append((*window.first, *window.second))
            flags.append(window.negate)
            most.append(1)
        else:
            assert isinstance(query, Extreme)
            by_value = query.by == "value"
            kinds.append(KINDS.index(ends_at(values, query)) if by_value else NULL)
            windows.append((0, 0, 0, 0))
            flags.append(query.largest)
            most.append(min(query.n, 2**31 - 1))
    return Conditions(
        places,
        [operators[place].parts[0] for place in places],
        _table([paths[place] for place in places], shape),
        np.array([len(paths[place]) for place in places], np.int32),
        np.array(kinds, np.int32),
        np.array(windows, np.int32),
        np.array(flags, bool),
        np.array(most, np.int32),
    )
