"""Query graphs executed exactly on the host, over sorted arrays: simple, and without a device.

`jaxkg.cite` checks answers by it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Literal

import numpy as np

from jaxkg import query as q
from jaxkg.deadline import check
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import Neighbourhood, distinct, spread
from jaxkg.kg.queries.calculations import added, calculated, told_total
from jaxkg.kg.queries.rules import (
    ROOTS,
    ends_at,
    match_kind,
    refuse_unsound,
    side_kind,
    topics_of,
    where_window,
)
from jaxkg.kg.queries.tables import NONE_KEY, Row, order_keys, table_rows
from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE, compares


@dataclasses.dataclass(frozen=True, eq=False)
class Derived:
    """A set of entities and how each came about.

    Attributes:
        query: the query graph that denotes them.
        nodes: [K] int32 entities, ascending.
        steps: [K, L] int64, of each a walk: 2 * row of the triple, plus 1 where it is walked from
            tail to head; -1 past its end. A step's walk comes from an entity of the source; of a
            closure it is the last edge of a shortest walk, which comes from the source or from
            another of these entities, and -1 of an entity of the source itself. Those of a
            domain, a condition and an order lead from the entity to what it has or what was
            compared; of a match there are two, end to end. None for others.
        ends: [K] int32, the entity that was compared; of conditions and orders by value alone.
        keys: [K] int64 by which an order put them; where they were counted, how many; of a
            quantifier how many ends are in the set.
        parts: of the query graphs below; of a chain of steps that was walked in one go, of the
            source of its first.
    """

    query: q.Node
    nodes: np.ndarray
    steps: np.ndarray | None = None
    ends: np.ndarray | None = None
    keys: np.ndarray | None = None
    parts: tuple[Derived, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """What a query graph executes to.

    Attributes:
        kind: which of the next holds.
        rows: [K] int32 entities, ascending; of a count what was counted, of a total what has a
            number, of a calculation both sides, of a yes or no what was found, of a comparison
            nothing; of a table what its rows are of, in their order.
        table: rows of a table.
        number: of a count; of a total, exact, or None where there is nothing to add; of a
            calculation.
        unit: text of the unit of a number.
        note: of a calculation, why there is no number, or what was taken for it.
        truth: of a yes or no.
        derive: see `derived`.
    """

    kind: Literal["entities", "number", "boolean", "table"]
    rows: np.ndarray
    table: tuple[Row, ...] = ()
    number: int | Decimal | None = None
    unit: str = ""
    note: str = ""
    truth: bool | None = None
    derive: Callable[[], tuple[Derived, ...]] = tuple

    @functools.cached_property
    def derived(self) -> tuple[Derived, ...]:
        """How each entity came about; of a comparison, of both sides."""
        return self.derive()

    @property
    def words(self) -> str:
        """A count or a total in digits, "yes" or "no"; "" of entities and of a total of nothing."""
        if self.kind == "boolean":
            return ("no", "yes")[bool(self.truth)]
        return told_total(self.number, self.unit)

    @property
    def empty(self) -> bool:
        """No entity, a count of 0, or no."""
        return not (len(self.rows) or self.number or self.truth)


class QuerySets:
    """Executes query graphs over one graph.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott"), ("Legend", "by", "Scott")])
        >>> QuerySets(kg).execute(q.Count(q.Step(q.Entities(("Scott",)), ("^by",)))).number
        2
    """

    def __init__(
        self, kg: KnowledgeGraph, values: Values | None = None, around: Neighbourhood | None = None
    ):
        """Over a graph.

        Args:
            values, around: of the graph, where they are there already.
        """
        self.kg = kg
        self.values = values or Values(kg)
        if around is not None:
            self.around = around

    @functools.cached_property
    def around(self) -> Neighbourhood:
        """Edges by node."""
        return Neighbourhood(self.kg)

    def execute(self, query: q.Query) -> Result:
        """Execute one query graph.

        Raises:
            JaxkgError: it is not sound, see `refuse_unsound`.
        """
        refuse_unsound(self.values, query)
        derived = tuple(map(self.derive, sides(query)))
        return root_result(query, [part.nodes for part in derived], lambda: derived, self)

    def derive(self, node: q.Node) -> Derived:
        """The entities a node denotes."""
        check()
        if isinstance(node, q.Entities | q.Domain):
            return start_of(self.values, node)
        if isinstance(node, q.Step):
            source = self.derive(node.source)
            if node.closure:
                return self._closed(node, source)
            ends, steps, _ = self.step(source.nodes, node.relations)
            if node.during:
                held = self.values.times.holds(steps >> 1, node.during.text)
                ends, steps = ends[held], steps[held]
            if not node.returns:
                barred = [self.values.row(entity) for entity in topics_of(node)]
                keep = ~np.isin(ends, barred)
                ends, steps = ends[keep], steps[keep]
            nodes, first = np.unique(ends, return_index=True)
            return Derived(node, nodes, steps[first, None], parts=(source,))
        if isinstance(node, q.Where | q.Extreme):
            return self._conditioned(node)
        if isinstance(node, q.Match):
            return self._matched(node)
        if isinstance(node, q.Quantifier):
            return self._quantified(node)
        below = node.parts if not isinstance(node, q.Difference) else (node.source, node.without)
        parts = tuple(map(self.derive, below))
        every = np.concatenate([part.nodes for part in parts])
        nodes, count = np.unique(every, return_counts=True)
        if isinstance(node, q.Intersection):
            nodes = nodes[count == len(parts)]
        elif isinstance(node, q.Difference):
            nodes = np.setdiff1d(parts[0].nodes, parts[1].nodes)
        return Derived(node, nodes, parts=parts)

    def _closed(self, node: q.Step, source: Derived) -> Derived:
        """A closure, breadth first: one shortest walk to everything."""
        closed = closure(self.around, source.nodes, node.relations)
        if node.closure == "*":
            # The source is there without a step.
            nodes = np.concatenate([source.nodes, closed[0]])
            steps = np.concatenate([np.full(len(source.nodes), -1, np.int64), closed[1]])
            nodes, first = np.unique(nodes, return_index=True)
            closed = nodes, steps[first]
        derived = Derived(node, closed[0], closed[1][:, None], parts=(source,))
        if node.returns or not (topics := topics_of(node)):
            return derived
        # What is left out of the answers may stand on the way to them.
        barred = np.array([self.values.row(entity) for entity in topics])
        return Derived(node, np.setdiff1d(derived.nodes, barred), parts=(derived,))

    def step(
        self, nodes: np.ndarray, relations: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every edge of these relations out of `nodes`: ends, steps, place of each in `nodes`."""
        codes = np.array([self.kg.relation_code(name) for name in relations], np.int64)
        return self.around.walks(nodes, codes)

    def reached(
        self, nodes: np.ndarray, path: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every end of a relation path from each of [K] nodes: [P] places in `nodes`, ascending,
        [P] ends, and [P, L] steps of one walk to each, as `Derived`."""
        pair, ends = np.arange(len(nodes)), nodes
        steps = np.full((len(ends), 0), -1, np.int64)
        for relation in path:
            found, step, place = self.step(ends, (relation,))
            pair, steps = pair[place], np.column_stack([steps[place], step])
            # One walk for every end of every entity.
            key = pair.astype(np.int64) * self.kg.num_entities + found
            _, first = np.unique(key, return_index=True)
            pair, ends, steps = pair[first], found[first], steps[first]
        return pair, ends, steps

    def walks_along(self, node: int, path: Sequence[str]) -> list[tuple[int, ...]]:
        """A walk from an entity to everything that a relation path leads to; steps as `Derived`."""
        walks: dict[int, tuple[int, ...]] = {node: ()}
        for relation in path:
            further: dict[int, tuple[int, ...]] = {}
            for at, walk in walks.items():
                ends, steps, _ = self.step(np.array([at]), (relation,))
                for end, step in zip(ends.tolist(), steps.tolist()):
                    further.setdefault(end, (*walk, step))
            walks = further
        return [walk for walk in walks.values() if walk]

    def _matched(self, node: q.Match) -> Derived:
        """Pairs of ends of one entity; a walk to each end of the first that compares as wanted."""
        source = self.derive(node.source)
        pair, ends, steps = self.reached(source.nodes, node.path)
        own, others, further = self.reached(source.nodes, node.other)
        low, high = np.searchsorted(own, pair), np.searchsorted(own, pair, "right")
        left, right = np.repeat(np.arange(len(pair)), high - low), spread(low, high)
        keys = self.values.keys_of(match_kind(self.values, node)).astype(np.int64)
        one, other = keys[:, ends[left]], keys[:, others[right]]
        held = compares(node.comparison, one, other) & (one[0] != NONE) & (other[0] != NONE)
        left, right = left[held], right[held]
        kept, first = np.unique(pair[left], return_index=True)
        walks = np.column_stack([steps[left[first]], further[right[first]]])
        return Derived(node, source.nodes[kept], walks, parts=(source,))

    def _quantified(self, node: q.Quantifier) -> Derived:
        source, within = self.derive(node.source), self.derive(node.within)
        pair, ends, _ = self.reached(source.nodes, node.path)
        every = np.bincount(pair, minlength=len(source.nodes))
        hits = pair[np.isin(ends, within.nodes)]
        inside = np.bincount(hits, minlength=len(source.nodes)).astype(np.int64)
        if node.by == "inside":
            number, there = inside, True
        elif node.by == "outside":
            number, there = every - inside, every > 0
        else:
            number, there = len(within.nodes) - inside, len(within.nodes) > 0
        held = compares(node.comparison, (number, number), (node.n, node.n)) & there
        none = np.full((int(held.sum()), 0), -1, np.int64)
        return Derived(node, source.nodes[held], none, keys=inside[held], parts=(source, within))

    def _conditioned(self, node: q.Where | q.Extreme) -> Derived:
        source = self.derive(node.source)
        pair, ends, steps = self.reached(source.nodes, node.path)
        if node.by == "count":
            keys = np.bincount(pair, minlength=len(source.nodes)).astype(np.int64)
            if isinstance(node, q.Where):
                place = np.flatnonzero(where_window(self.values, node)[1].holds(keys, keys))
            else:
                place = foremost(keys, node)
            none = np.full((len(place), 0), -1, np.int64)
            return Derived(node, source.nodes[place], none, keys=keys[place], parts=(source,))
        if isinstance(node, q.Where):
            kind, window = where_window(self.values, node)
            first, second = self.values.keys_of(kind)
            hits = np.flatnonzero(window.holds(first[ends], second[ends]))
            kept, at = np.unique(pair[hits], return_index=True)
            hit = hits[at]
            return Derived(node, source.nodes[kept], steps[hit], ends[hit], parts=(source,))
        key = order_keys(self.values, ends_at(self.values, node))[ends]
        there = np.flatnonzero(key > NONE_KEY)
        order = there[np.lexsort((-key[there] if node.largest else key[there], pair[there]))]
        who, first = np.unique(pair[order], return_index=True)
        best = order[first]
        place = foremost(key[best], node)
        kept = best[place]
        return Derived(
            node, source.nodes[who[place]], steps[kept], ends[kept], key[kept], (source,)
        )


def closure(
    around: Neighbourhood, source: np.ndarray, relations: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """What one or more steps lead to, breadth first.

    Args:
        around: edges of the graph.
        source: [S] entities, each once.
        relations: of every step, any of them.

    Returns:
        [K] int32 entities, ascending; [K] int64, the last step of a shortest walk to each.
    """
    codes = np.array([around.kg.relation_code(name) for name in relations], np.int64)
    reached = np.zeros(around.kg.num_entities, np.uint8)  # 1 of the source, 2 of what was found
    reached[source] = 1
    nodes, steps = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    while len(source):
        ends, step, _ = around.walks(source, codes)
        new = reached[ends] < 2
        ends, step = ends[new], step[new]
        if len(ends) > 1:
            ends, first = np.unique(ends, return_index=True)
            step = step[first]
        nodes.append(ends)
        steps.append(step)
        source = ends[reached[ends] == 0]  # from the source all has been walked
        reached[ends] = 2
    every = np.concatenate(nodes)
    order = np.argsort(every, kind="stable")
    return every[order], np.concatenate(steps)[order]


def start_of(values: Values, node: q.Entities | q.Domain) -> Derived:
    """What a query graph starts from."""
    if isinstance(node, q.Entities):
        return Derived(
            node, np.array(sorted({values.row(entity) for entity in node.ids}), np.int32)
        )
    starts, steps = [], []
    for name in node.relations:
        back, code = divmod(values.kg.relation_code(name), values.kg.num_relations)
        rows = np.flatnonzero(values.kg.triples[:, 1] == code)
        starts.append(values.kg.triples[rows, 2 if back else 0])
        steps.append(2 * rows.astype(np.int64) + back)
    every = np.concatenate(starts)
    order = np.argsort(every, kind="stable")
    nodes = distinct(every)
    first = order[np.searchsorted(every[order], nodes)]
    return Derived(node, nodes.astype(np.int32), np.concatenate(steps)[first, None])


def foremost(keys: np.ndarray, node: q.Extreme) -> np.ndarray:
    """Places of the n foremost of [K] keys, ascending; ties with the n-th are kept."""
    if not len(keys):
        return np.zeros(0, np.int64)
    order = np.sort(-keys if node.largest else keys)
    last = order[min(node.n, len(order)) - 1]
    return np.flatnonzero((-keys if node.largest else keys) <= last)


def sides(query: q.Query) -> tuple[q.Node, ...]:
    """The sets right below the root of a query graph: one, or the two that are compared."""
    if isinstance(query, q.Compared | q.Calculation):
        both = (query.left, query.right)
        return tuple(side.source if isinstance(side, q.Count) else side for side in both)
    return (query.source,) if isinstance(query, q.Count | q.Total | q.Rows | q.Exists) else (query,)


def root_result(
    query: q.Query,
    found: Sequence[np.ndarray],
    derive: Callable[[], tuple[Derived, ...]],
    sets: QuerySets,
) -> Result:
    """The result of a query graph.

    Args:
        query: the query graph.
        found: [K] int32 each, ascending: what its `sides` denote.
        derive: how that came about.
    """
    if type(query) not in ROOTS:  # most of all
        return Result("entities", found[0], derive=derive)
    told = functools.partial(Result, derive=derive)
    if isinstance(query, q.Compared):
        truth = compared(query, found[0], found[1], sets.values)
        return told("boolean", np.zeros(0, np.int32), truth=truth)
    if isinstance(query, q.Calculation):
        number, unit, why = calculated(sets.values, query, found)
        rows = np.union1d(*found) if number is not None else found[0][:0]
        return told("number", rows, number=number, unit=unit, note=why)
    rows = found[0]
    if isinstance(query, q.Rows):
        table = table_rows(
            sets.values, query, rows, lambda nodes, path: sets.reached(nodes, path)[:2]
        )
        return told("table", np.array([row.key for row in table], np.int32), table=table)
    if isinstance(query, q.Total):
        place, ends, _ = sets.reached(rows, query.path)
        number, unit, numbers = added(sets.values, ends, query.by)
        return told("number", rows[np.unique(place[numbers])], number=number, unit=unit)
    if isinstance(query, q.Count):
        return told("number", rows, number=len(rows))
    return told("boolean", rows, truth=len(rows) > 0)


def compared(query: q.Compared, left: np.ndarray, right: np.ndarray, values: Values) -> bool:
    """Whether some value of the left entities compares as wanted with one of the right."""
    if isinstance(query.left, q.Count):
        return bool(
            _pairs(query.comparison, *(np.full((2, 1), len(side)) for side in (left, right)))
        )
    keys = values.keys_of(side_kind(values, query)).astype(np.int64)
    sides = [keys[:, side] for side in (left, right)]
    sides = [side[:, side[0] != NONE] for side in sides]
    if not all(side.shape[1] for side in sides):
        return False
    return _pairs(query.comparison, *sides)


def _pairs(comparison: q.Comparison, left: np.ndarray, right: np.ndarray) -> bool:
    """Of [2, K] keys; the bounds that a value is most easily met by decide."""
    (a, b), (c, d) = left, right
    if comparison == "=":
        return bool(np.isin(a * (1 << 32) + b, c * (1 << 32) + d).any())
    if comparison == "in":
        return any(bool(((a >= low) & (b <= high)).any()) for low, high in set(zip(c, d)))
    return {
        "<": b.min() < c.max(),
        "<=": b.min() <= d.max(),
        ">": a.max() > d.min(),
        ">=": a.max() >= c.min(),
        "!=": b.min() < c.max() or a.max() > d.min(),
    }[comparison].item()
