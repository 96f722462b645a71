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
    path: int = NULL  # among the paths of the batch
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
    entities: list[tuple[int, int, int]] = []
    levels: dict[int, list[int]] = {}
    for place, operator in enumerate(operators):
        if operator.level:
            levels.setdefault(operator.level, []).append(place)
            continue
        low = len(starts)
        if isinstance(operator.query, Entities):
            rows = [values.row(entity) for entity in operator.query.ids]
            starts += rows if len(rows) == 1 else sorted({*rows})
        elif isinstance(operator.query, Domain):
            starts += start_of(values, operator.query).nodes.tolist()
        entities.append((place, low, len(starts)))
    paths = _table(list(taken.paths))
    rounds = tuple(_round(values, operators, paths, levels[level]) for level in sorted(levels))
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
        self.paths: dict[tuple[tuple[int, ...], ...], int] = {(): 0}  # and their places
        self._places: dict[tuple[Hashable, ...], int] = {}
        self._named: dict[tuple[tuple[str, ...], ...], int] = {}

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
        path = self._path([(name,) for name in node.path])
        if isinstance(node, Where):
            key = kind, part, path, node.comparison, node.value, node.by
        else:
            key = kind, part, path, node.largest, node.n, node.by
        return self._kept(key, node, (part,), path)

    def _path(self, names: Sequence[tuple[str, ...]]) -> int:
        """Place of a relation path among those of the batch; each hop is one relation or more."""
        key = tuple(names)
        if (place := self._named.get(key)) is None:
            codes = tuple(map(self.values.codes, key))
            place = self._named[key] = self.paths.setdefault(codes, len(self.paths))
        return place

    def _kept(
        self,
        key: tuple[Hashable, ...],
        node: Node,
        parts: tuple[int, ...],
        path: int = NULL,
        revisit: Revisit = "any",
    ) -> int:
        if (place := self._places.get(key)) is None:
            operators = self.operators
            place = self._places[key] = len(operators)
            level = 1 + max([operators[part].level for part in parts]) if parts else 0
            operators.append(Operator(node, parts, level, path, revisit))
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
        part, path = self.place(source), self._path(names[::-1])
        return self._kept((part, path, bars), node, (part,), path, "topic" if bars else "any")

    def _step_after_others(self, node: Step) -> int:
        """A step that must not return, above one that might: walk freely, then leave out."""
        free = Step(node.source, node.relations)
        parts = self.place(free), self.place(Entities(topics_of(node)))
        return self._kept((Step, parts), node, parts)


def _table(paths: Sequence[tuple[tuple[int, ...], ...]]) -> tuple[np.ndarray, np.ndarray]:
    """[P, L, W] int32 relations of paths and [P] int32 hops of each."""
    hops = np.array(list(map(len, paths)), np.int32)
    width = max((len(hop) for path in paths for hop in path), default=1)
    table = np.full((len(paths), int(hops.max()), width), NULL, np.int32)
    for row, path in enumerate(paths):
        for hop, codes in enumerate(path):
            table[row, hop, : len(codes)] = codes
    return table, hops


def _round(
    values: Values,
    operators: Sequence[Operator],
    paths: tuple[np.ndarray, np.ndarray],
    places: Sequence[int],
) -> Round:
    groups: dict[Revisit, list[int]] = {}
    combinations, wheres, extremes = [], [], []
    for place in places:
        operator = operators[place]
        query, parts = operator.query, operator.parts
        if isinstance(query, Where):
            wheres.append(place)
        elif isinstance(query, Extreme):
            extremes.append(place)
        elif operator.path != NULL:
            groups.setdefault(operator.revisit, []).append(place)
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
                paths[0][[operators[place].path for place in some]],
            )
            for revisit, some in groups.items()
        )
    )
    return Round(
        chains if groups else None,
        combinations,
        _conditions(values, operators, paths, wheres),
        _conditions(values, operators, paths, extremes),
    )


def _conditions(
    values: Values,
    operators: Sequence[Operator],
    paths: tuple[np.ndarray, np.ndarray],
    places: list[int],
) -> Conditions | None:
    if not places:
        return None
    kinds, windows, flags, most = [], [], [], []
    for place in places:
        query = operators[place].query
        if isinstance(query, Where):
            kind, window = where_window(values, query)
            kinds.append(KINDS.index(kind) if query.by == "value" else NULL)
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
    (table, hops), own = paths, [operators[place].path for place in places]
    return Conditions(
        places,
        [operators[place].parts[0] for place in places],
        table[own],
        hops[own],
        np.array(kinds, np.int32),
        np.array(windows, np.int32),
        np.array(flags, bool),
        np.array(most, np.int32),
    )
