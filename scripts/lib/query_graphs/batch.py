"""Query graphs taken apart into the operators of a batch, and these into rounds. Host."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg.queries.rules import (
    DEEPEST,
    ROOTS,
    ends_at,
    refusal,
    refuse_operator,
    refuse_relations,
    refuse_unsound,
    refuse_walk,
    topics_of,
    where_window,
)
from jaxkg.kg.queries.sets import Derived, QuerySets, sides, start_of
from jaxkg.kg.queries.values import KINDS, Values
from jaxkg.query import (
    Difference,
    Domain,
    Entities,
    Extreme,
    Intersection,
    Match,
    Node,
    Quantifier,
    Query,
    Step,
    Union,
    Where,
)
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True, eq=False)
class Chains:
    """Chains of a round that share what they may return to.

    Attributes:
        revisit: see `candidates.follow`.
        places, sources: [P] int64 operators, and those they read from.
        relations: [P, L, W] int32 paths.
    """

    revisit: Revisit
    places: np.ndarray
    sources: np.ndarray
    relations: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Closures:
    """Steps of a round that are walked again and again, until nothing new is found.

    Attributes:
        places, sources: [P] int64 operators, and those they read from.
        relations: [P, 1, W] int32.
        whole: [P] bool, whether the source is a part of it.
    """

    places: np.ndarray
    sources: np.ndarray
    relations: np.ndarray
    whole: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Combinations:
    """Intersections, unions and differences of a round.

    Attributes:
        places: [C] int64 operators.
        parts: [S] int64 operators they read from, end to end; equal parts of one stand once.
        row, number: [S] int32, whose part it is, and which of its parts.
        least, most: [C] int32, see `query_rounds.combine`; of a difference both are 1.
    """

    places: np.ndarray
    parts: np.ndarray
    row: np.ndarray
    number: np.ndarray
    least: np.ndarray
    most: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions, or orders, of a round.

    Attributes:
        places, sources: [C] int64 operators, and those they read from.
        relations: [C, L, W] int32 paths; hops: [C] int32, their lengths.
        kind: [C] int32, place in `KINDS`; NULL for a count.
        window: [C, 4] int32; negate: [C] bool, of an order whether the largest come first.
        most: [C] int32, of an order how many.
    """

    places: np.ndarray
    sources: np.ndarray
    relations: np.ndarray
    hops: np.ndarray
    kind: np.ndarray
    window: np.ndarray
    negate: np.ndarray
    most: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
    """What can run once the rounds before it have."""

    chains: tuple[Chains, ...]
    closures: Closures | None
    combinations: Combinations | None
    wheres: Conditions | None
    extremes: Conditions | None


@dataclasses.dataclass(frozen=True, eq=False)
class QueryBatch:
    """A batch of query graphs of mixed shapes.

    Attributes:
        queries: as given.
        operators: all operators, or chains of steps, each after those it reads from; equal ones
            stand once.
        parts: of each operator, those it reads from.
        roots: of each query graph, one operator, or the two sides of a comparison.
        starts: [S] int32 nodes of all `Entities` and `Domain`, end to end.
        entities: [n, 3] int64, (operator, first, end) of their stretches.
        rounds: in order.
        on_host: what was executed on the host already, by its operator: matches, steps at a time.
    """

    queries: tuple[Query, ...]
    operators: tuple[Node, ...]
    parts: tuple[tuple[int, ...], ...]
    roots: tuple[tuple[int, ...], ...]
    starts: np.ndarray
    entities: np.ndarray
    rounds: tuple[Round, ...]
    on_host: Mapping[int, Derived]


def query_batch(values: Values, queries: Sequence[Query]) -> QueryBatch:
    """Take query graphs apart; what stands in many of them is checked once.

    Raises:
        JaxkgError: one is not sound (`jaxkg.kg.queries.rules.refuse_unsound`); says which.
    """
    taken, roots = _Taken(values), []
    for number, query in enumerate(queries, start=1):
        try:
            roots.append(taken.roots(query))
        except (JaxkgError, TypeError) as error:  # of what has no hash, say
            if (why := refusal(values, query)) is None:
                raise
            raise JaxkgError(f"query graph {number}: {why}") from error
    paths = _table(list(taken.paths))
    return QueryBatch(
        tuple(queries),
        tuple(taken.operators),
        tuple(taken.parts),
        tuple(roots),
        np.array(taken.starts, np.int32),
        np.array(taken.entities, np.int64).reshape(-1, 3),
        tuple(_round(taken, paths, taken.waiting[level]) for level in sorted(taken.waiting)),
        taken.on_host,
    )


class _Waiting:
    """Operators of one round as they come, by what they do; the lists of a kind run in step."""

    def __init__(self) -> None:
        self.chains: dict[Revisit, tuple[list[int], list[int], list[int]]] = {
            "any": ([], [], []),
            "topic": ([], [], []),
        }  # operators, sources, paths
        self.closures: list[tuple[int, int, int]] = []  # operator, source, path
        self.combined: tuple[list[int], list[tuple[int, ...]], list[int], list[int]]
        self.combined = [], [], [], []  # operators, distinct parts, least, most
        self.wheres: list[tuple[int, int, int]] = []  # operator, source, path
        self.extremes: list[tuple[int, int, int]] = []


class _Taken:
    """Operators taken from query graphs so far; for many small ones, so by look-ups and appends."""

    def __init__(self, values: Values):
        self.values = values
        self.operators: list[Node] = []
        self.parts: list[tuple[int, ...]] = []
        self.starts: list[int] = []
        self.entities: list[tuple[int, int, int]] = []
        self.waiting: dict[int, _Waiting] = {}
        self.paths: dict[tuple[tuple[int, ...], ...], int] = {(): 0}  # and their places
        self.on_host: dict[int, Derived] = {}
        self._levels: list[int] = []
        self._places: dict[tuple[Hashable, ...], int] = {}
        self._entities: dict[tuple[str, ...], int] = {}
        self._named: dict[tuple[tuple[str, ...], ...], int] = {}
        self._walked: list[dict[int, int]] = []  # of every path, and of it without returning

    def roots(self, query: Query) -> tuple[int, ...]:
        """Of a query graph, the operators below its root, or its root itself."""
        if type(query) not in ROOTS:
            return (self.place(query, 0),)  # pyright: ignore
        places = tuple([self.place(side, 1) for side in sides(query)])
        refuse_operator(self.values, query)
        return places

    def place(self, node: Node, depth: int) -> int:
        """Where a node's operator stands, after those it reads from; equal nodes have one."""
        # Told apart by where their parts stand: the hash of a node would go down to its leaves.
        if isinstance(node, Step) and not (node.closure or node.during):
            return self._chain(node, depth)
        if depth > DEEPEST:
            raise JaxkgError("too many operators within each other")
        if isinstance(node, Entities):
            place = self._entities.get(node.ids)
            return self._start(node) if place is None else place
        if isinstance(node, (Intersection, Union)):
            if not node.parts or type(node.parts) is not tuple:
                raise TypeError("of nothing, or of a list")
            parts = tuple([self.place(part, depth + 1) for part in node.parts])
        elif isinstance(node, (Where, Extreme)):
            return self._conditioned(node, depth)
        elif isinstance(node, Match | Quantifier) or (isinstance(node, Step) and node.during):
            return self._on_host(node)
        elif isinstance(node, Step):
            return self._closure(node, depth)
        elif isinstance(node, Domain):
            place = self._places.get((Domain, node.relations))
            return self._start(node) if place is None else place
        elif isinstance(node, Difference):
            parts = self.place(node.source, depth + 1), self.place(node.without, depth + 1)
        else:
            raise TypeError(f"no operator within others: {node!r}")
        place = self._places.get((type(node), parts))
        return self._combined(node, parts) if place is None else place

    def _add(self, node: Node, parts: tuple[int, ...]) -> tuple[int, _Waiting]:
        """A new operator's place, and what waits for its round."""
        place, levels = len(self.operators), self._levels
        level = 1 + (levels[parts[0]] if len(parts) == 1 else max([levels[p] for p in parts]))
        self.operators.append(node)
        self.parts.append(parts)
        levels.append(level)
        if (waiting := self.waiting.get(level)) is None:
            waiting = self.waiting[level] = _Waiting()
        return place, waiting

    def _start(self, node: Entities | Domain | Match | Quantifier | Step) -> int:
        place, low = len(self.operators), len(self.starts)
        if isinstance(node, Entities):
            if not node.ids or type(node.ids) is not tuple:
                refuse_operator(self.values, node)
            self._entities[node.ids] = place
            rows = [self.values.row(entity) for entity in node.ids]
            self.starts += rows if len(rows) == 1 else sorted({*rows})
        elif isinstance(node, Match | Quantifier | Step):
            self.on_host[place] = QuerySets(self.values.kg, self.values).derive(node)
            self.starts += self.on_host[place].nodes.tolist()
        else:
            refuse_operator(self.values, node)
            self._places[Domain, node.relations] = place
            self.starts += start_of(self.values, node).nodes.tolist()
        self.entities.append((place, low, len(self.starts)))
        self.operators.append(node)
        self.parts.append(())
        self._levels.append(0)
        return place

    def _combined(self, node: Node, parts: tuple[int, ...]) -> int:
        place, waiting = self._add(node, parts)
        self._places[type(node), parts] = place
        # The same part twice is one slot twice: distinct parts count, but where some are left out.
        some, least, most = parts, 1, 1
        if isinstance(node, (Intersection, Union)):
            some = parts if len({*parts}) == len(parts) else tuple(dict.fromkeys(parts))
            least, most = len(some) if isinstance(node, Intersection) else 1, len(some) + 1
        places, distinct, lows, highs = waiting.combined
        places.append(place)
        distinct.append(some)
        lows.append(least)
        highs.append(most)
        return place

    def _conditioned(self, node: Where | Extreme, depth: int) -> int:
        part = self.place(node.source, depth + 1)
        path = self._path(tuple([(name,) for name in node.path]))
        if isinstance(node, Where):
            key = Where, part, path, node.comparison, node.value, node.by
        else:
            key = Extreme, part, path, node.largest, node.n, node.by
        if (place := self._places.get(key)) is None:
            refuse_operator(self.values, node)
            place, waiting = self._add(node, (part,))
            self._places[key] = place
            which = waiting.wheres if isinstance(node, Where) else waiting.extremes
            which.append((place, part, path))
        return place

    def _path(self, names: tuple[tuple[str, ...], ...]) -> int:
        """Place of a relation path among those of the batch; each hop is one relation or more."""
        if (place := self._named.get(names)) is None:
            for relations in names:
                refuse_relations(self.values, relations)
            codes = tuple(map(self.values.codes, names))
            place = self._named[names] = self.paths.setdefault(codes, len(self.paths))
            self._walked += [{} for _ in range(2 * len(self.paths) - len(self._walked))]
        return place

    def _chain(self, node: Step, depth: int) -> int:
        """The longest chain of steps above `node` that is walked under one rule.

        Steps that must not return bar the entities that the chain began with at every hop, so they
        are one chain only down to these; above other steps, such a step is walked alone.
        """
        names, source, returns = [node.relations], node.source, node.returns
        while (
            isinstance(source, Step)
            and not (source.closure or source.during)
            and source.returns == returns
            and depth <= DEEPEST
        ):
            depth += 1
            names.append(source.relations)
            source = source.source
        if depth >= DEEPEST:
            raise JaxkgError("too many operators within each other")
        part = self.place(source, depth + 1)
        if not (returns or isinstance(source, Entities)) and topics_of(source):
            return self._step_after_others(node, depth)
        path, bars = self._path(tuple(names[::-1])), not returns and isinstance(source, Entities)
        known = self._walked[2 * path + bars]
        if (place := known.get(part)) is None:
            place, waiting = self._add(node, (part,))
            known[part] = place
            places, sources, paths = waiting.chains["topic" if bars else "any"]
            places.append(place)
            sources.append(part)
            paths.append(path)
        return place

    def _on_host(self, node: Match | Quantifier | Step) -> int:
        """A match, a quantifier or a step at a time is executed on the host, as what it reads from:
        what it finds is a start of what stands above it."""
        place = self._places.get((type(node), node))
        if place is None:
            refuse_unsound(self.values, node)
            place = self._places[type(node), node] = self._start(node)
        return place

    def _closure(self, node: Step, depth: int) -> int:
        refuse_walk(self.values, node)
        if not node.returns and topics_of(node):
            return self._step_after_others(node, depth)
        part, path = self.place(node.source, depth + 1), self._path((node.relations,))
        key = Step, part, path, node.closure
        if (place := self._places.get(key)) is None:
            place, waiting = self._add(node, (part,))
            self._places[key] = place
            waiting.closures.append((place, part, path))
        return place

    def _step_after_others(self, node: Step, depth: int) -> int:
        """A step that must not return, above one that might: walk freely, then leave out."""
        free = dataclasses.replace(node, returns=True)
        parts = self.place(free, depth), self.place(Entities(topics_of(node)), depth)
        place = self._places.get((Step, parts))
        return self._combined(node, parts) if place is None else place


def _table(paths: Sequence[tuple[tuple[int, ...], ...]]) -> tuple[np.ndarray, np.ndarray]:
    """[P, L, W] int32 relations of paths and [P] int32 hops of each."""
    hops = np.array(list(map(len, paths)), np.int32)
    width = max((len(hop) for path in paths for hop in path), default=1)
    table = np.full((len(paths), int(hops.max()), width), NULL, np.int32)
    for row, path in enumerate(paths):
        for hop, codes in enumerate(path):
            table[row, hop, : len(codes)] = codes
    return table, hops


def _round(taken: _Taken, paths: tuple[np.ndarray, np.ndarray], waiting: _Waiting) -> Round:
    chains = tuple(
        Chains(revisit, np.array(places), np.array(sources), paths[0][own])
        for revisit, (places, sources, own) in waiting.chains.items()
        if places
    )
    closures = None
    if waiting.closures:
        places, sources, own = np.array(waiting.closures).T
        whole = [taken.operators[place].closure == "*" for place in places]  # pyright: ignore
        closures = Closures(places, sources, paths[0][own][:, :1], np.array(whole))
    combinations = None
    if waiting.combined[0]:
        places, parts, least, most = waiting.combined
        lengths = np.array(list(map(len, parts)))
        row = np.repeat(np.arange(len(places), dtype=np.int32), lengths)
        number = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        combinations = Combinations(
            np.array(places),
            np.fromiter(itertools.chain.from_iterable(parts), np.int64, len(row)),
            row,
            number.astype(np.int32),
            np.array(least, np.int32),
            np.array(most, np.int32),
        )
    return Round(
        chains,
        closures,
        combinations,
        _conditions(taken, paths, waiting.wheres),
        _conditions(taken, paths, waiting.extremes),
    )


def _conditions(
    taken: _Taken,
    paths: tuple[np.ndarray, np.ndarray],
    waiting: list[tuple[int, int, int]],
) -> Conditions | None:
    if not waiting:
        return None
    values, kinds, windows, flags, most = taken.values, [], [], [], []
    for place, _, _ in waiting:
        query = taken.operators[place]
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
    (table, hops), (places, sources, own) = paths, np.array(waiting).T
    return Conditions(
        places,
        sources,
        table[own],
        hops[own],
        np.array(kinds, np.int32),
        np.array(windows, np.int32),
        np.array(flags, bool),
        np.array(most, np.int32),
    )
