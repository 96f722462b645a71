"""Query graphs taken apart into the operators of a batch, and these into rounds. Host."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

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


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
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
    starts = [np.zeros(0, np.int32)]
    entities, low = [], 0
    for place, operator in enumerate(operators):
        if isinstance(operator.query, Entities | Domain):
            starts.append(start_of(values, operator.query).nodes)
            entities.append((place, low, low + len(starts[-1])))
            low += len(starts[-1])
    by_level: dict[int, list[int]] = {}
    for place, operator in enumerate(operators):
        if operator.level:
            by_level.setdefault(operator.level, []).append(place)
    paths = [o.chain or _path(values, o.query) for o in operators]
    shape = (
        max(map(len, paths), default=0),
        max((len(hop) for path in paths for hop in path), default=1),
    )
    rounds = tuple(
        _round(values, operators, paths, shape, by_level[level]) for level in sorted(by_level)
    )
    return QueryBatch(
        tuple(queries),
        tuple(operators),
        roots,
        np.concatenate(starts),
        np.array(entities, np.int64).reshape(-1, 3),
        rounds,
    )


class _Taken:
    """Operators taken from query graphs so far."""

    def __init__(self, values: Values):
        self.kg = values.kg
        self.operators: list[Operator] = []
        self._places: dict[Node, int] = {}

    def place(self, node: Node) -> int:
        """Where a node's operator stands, after those it reads from."""
        if node not in self._places:
            operator = self._operator(node)
            self._places[node] = len(self.operators)
            self.operators.append(operator)
        return self._places[node]

    def _operator(self, node: Node) -> Operator:
        if isinstance(node, Entities | Domain):
            return Operator(node, (), 0)
        if isinstance(node, Step):
            return self._chain(node)
        if isinstance(node, Where | Extreme):
            below: tuple[Node, ...] = (node.source,)
        else:
            below = node.parts if not isinstance(node, Difference) else (node.source, node.without)
        parts = tuple(map(self.place, below))
        return Operator(node, parts, 1 + max(self.operators[part].level for part in parts))

    def _chain(self, node: Step) -> Operator:
        """The longest chain of steps above `node` that is walked under one rule.

        Steps that must not return bar the entities that the chain began with at every hop, so they
        are one chain only down to these; above other steps, such a step is walked alone.
        """
        steps = [node]
        while isinstance(steps[-1].source, Step) and steps[-1].source.returns == node.returns:
            steps.append(steps[-1].source)
        bars = not node.returns and bool(topics_of(node))
        if bars and not isinstance(steps[-1].source, Entities):
            steps = steps[:1]
            return self._step_after_others(node)
        chain = tuple(
            tuple(self.kg.relation_code(name) for name in step.relations)
            for step in reversed(steps)
        )
        part = self.place(steps[-1].source)
        level = 1 + self.operators[part].level
        return Operator(node, (part,), level, chain, "topic" if bars else "any")

    def _step_after_others(self, node: Step) -> Operator:
        """A step that must not return, above one that might: walk freely, then leave out."""
        free = Step(node.source, node.relations)
        parts = (self.place(free), self.place(Entities(topics_of(node))))
        return Operator(node, parts, 1 + self.operators[parts[0]].level)


def _path(values: Values, query: Node) -> tuple[tuple[int, ...], ...]:
    if not isinstance(query, Where | Extreme):
        return ()
    return tuple((values.kg.relation_code(name),) for name in query.path)


def _table(paths: Sequence[tuple[tuple[int, ...], ...]], shape: tuple[int, int]) -> np.ndarray:
    table = np.full((len(paths), *shape), NULL, np.int32)
    for row, path in enumerate(paths):
        for hop, codes in enumerate(path):
            table[row, hop, : len(codes)] = codes
    return table


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
