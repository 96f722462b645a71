"""What follows from a few walked edges alone: the machine check of a citation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jaxkg import query as q
from jaxkg.kg.queries.calculations import added, calculated, told_total
from jaxkg.kg.queries.rules import match_kind, topics_of, where_window
from jaxkg.kg.queries.sets import QuerySets, sides
from jaxkg.kg.queries.tables import Groups, Row
from jaxkg.kg.queries.windows import NONE, compares

_Ends = dict[tuple[str, str], set[str]]

Edge = tuple[str, str, str]
"""From, relation (`^name` where it was walked backwards), to."""


def proved(
    sets: QuerySets, node: q.Node, edges: Iterable[Edge], *, counted: bool = True
) -> set[str]:
    """Ids of the entities that these edges, and the values of their ends, show a node to denote.

    What no part of a graph can show is asked of the whole graph: what a difference leaves out,
    which entities come first, and that there is no more to count; of an order the edges must show
    that the entity takes part, and everything that was counted.

    Args:
        node: a sound query graph.
        edges: as walked; those of the graph, or nothing is proved.
        counted: whether the edges are to show all that a condition or an order counted; else the
            number is asked of the whole graph.
    """
    return _proved(sets, node, _ends_of(edges), counted)


def proved_words(sets: QuerySets, query: q.Total | q.Calculation, edges: Iterable[Edge]) -> str:
    """What these edges alone show a number to be, as `Result.words`; see `proved`."""
    ends = _ends_of(edges)
    if isinstance(query, q.Calculation):
        shown = (_proved(sets, side, ends, True) for side in sides(query))
        parts = [np.array(sorted(map(sets.kg.entity, names)), np.int64) for names in shown]
        return told_total(*calculated(sets.values, query, parts)[:2])
    source = _proved(sets, query.source, ends, True)
    rows = [sets.kg.entity(end) for begin in source for end in _along(begin, query.path, ends)]
    number, unit, _ = added(sets.values, np.array(rows, np.int64), query.by)
    return told_total(number, unit)


def proved_cells(
    sets: QuerySets, query: q.Rows, row: Row, edges: Iterable[Edge]
) -> tuple[str, ...] | None:
    """What these edges alone show a row of a table to tell; None where they show no such row."""
    ends = _ends_of(edges)
    source = _proved(sets, query.source, ends, True)
    ids = sets.kg.entity_ids

    def reach(nodes: np.ndarray, path: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        found = [
            (place, sets.kg.entity(end))
            for place, node in enumerate(nodes.tolist())
            for end in _along(ids[node], path, ends)
        ]
        place, end = np.array(sorted(found), np.int64).reshape(-1, 2).T
        return place, end

    nodes = np.array(sorted(map(sets.kg.entity, source)), np.int64)
    groups = Groups(sets.values, query, nodes, reach)
    own = groups.key == row.key
    if query.top:
        own &= groups.member[groups.first[:-1]] == row.members[0]
    for group in np.flatnonzero(own).tolist():
        cells = [groups.cells(column, [group])[0] for column in query.columns]
        return tuple(cell.words(sets.values) for cell in cells)
    return None


def _ends_of(edges: Iterable[Edge]) -> _Ends:
    ends: _Ends = {}
    for start, relation, end in edges:
        ends.setdefault((start, relation), set()).add(end)
        ends.setdefault((end, q.inverse(relation)), set()).add(start)
    return ends


def _proved(sets: QuerySets, node: q.Node, ends: _Ends, counted: bool) -> set[str]:
    if isinstance(node, q.Entities):
        return set(node.ids)
    if isinstance(node, q.Domain):
        return {start for start, name in ends if name in node.relations}
    if isinstance(node, q.Step):
        source = _proved(sets, node.source, ends, counted)
        if node.during:
            return _during(sets, node, source, ends)
        found = _stepped(source, node.relations, ends)
        if node.closure:
            further = found
            while further := _stepped(further, node.relations, ends) - found:
                found = found | further
        if node.closure == "*":
            found = found | source
        return found if node.returns else found - set(topics_of(node))
    if isinstance(node, q.Intersection):
        return set.intersection(*(_proved(sets, part, ends, counted) for part in node.parts))
    if isinstance(node, q.Union):
        return set.union(*(_proved(sets, part, ends, counted) for part in node.parts))
    found = _proved(sets, node.source, ends, counted)
    if isinstance(node, q.Difference):
        without = sets.derive(node.without).nodes
        return {e for e in found if not np.isin(sets.kg.entity(e), without)}
    if isinstance(node, q.Match):
        return {e for e in found if _matched(sets, node, e, ends)}
    if isinstance(node, q.Quantifier):
        return _quantified(sets, node, found, ends, counted)
    reached = {entity: _along(entity, node.path, ends) for entity in found}
    assert isinstance(node, q.Where | q.Extreme)
    if node.by == "count" or isinstance(node, q.Extreme):
        whole = sets.derive(node)
        assert whole.keys is not None
        kept = {sets.kg.entity_ids[n]: key for n, key in zip(whole.nodes, whole.keys.tolist())}
        if node.by == "value":
            return {e for e in found & kept.keys() if reached[e]}
        return {e for e in found & kept.keys() if not counted or len(reached[e]) == kept[e]}
    kind, window = where_window(sets.values, node)
    keys = sets.values.keys_of(kind)
    rows = {e: [sets.kg.entity(end) for end in reached[e]] for e in found}
    return {e for e in found if window.holds(keys[0][rows[e]], keys[1][rows[e]]).any()}


def _quantified(
    sets: QuerySets, node: q.Quantifier, entities: set[str], ends: _Ends, counted: bool
) -> set[str]:
    """Those of which all ends in the set are shown; by others, these too."""
    whole, ids = sets.derive(node), sets.kg.entity_ids
    assert whole.keys is not None
    keys = {ids[row]: key for row, key in zip(whole.nodes, whole.keys.tolist())}
    if not counted:
        return entities & keys.keys()
    inside, proven = _proved(sets, node.within, ends, counted), set[str]()
    for entity in entities & keys.keys():
        reached = _along(entity, node.path, ends)
        others = node.by == "outside"
        every = sets.walks_along(sets.kg.entity(entity), node.path) if others else reached
        if len(reached & inside) == keys[entity] and len(reached) == len(every):
            proven.add(entity)
    return proven


def _matched(sets: QuerySets, node: q.Match, entity: str, ends: _Ends) -> bool:
    keys = sets.values.keys_of(match_kind(sets.values, node)).astype(np.int64)
    rows = [
        np.array([sets.kg.entity(end) for end in _along(entity, path, ends)], np.int64)
        for path in (node.path, node.other)
    ]
    left, other = (keys[:, row[keys[0, row] != NONE]] for row in rows)
    return bool(compares(node.comparison, left[:, :, None], other[:, None]).any())


def _during(sets: QuerySets, node: q.Step, source: Iterable[str], ends: _Ends) -> set[str]:
    """What a step leads to along the facts that hold then."""
    assert node.during is not None
    reached: set[str] = set()
    for begin in source:
        for name in node.relations:
            for end in _stepped([begin], (name,), ends):
                of, to = map(sets.kg.entity, (begin, end))
                row = sets.kg.find(of, sets.kg.relation_code(name), to)
                if sets.values.times.holds(row.reshape(1), node.during.text)[0]:
                    reached.add(end)
    return reached if node.returns else reached - set(topics_of(node))


def _stepped(entities: Iterable[str], relations: tuple[str, ...], ends: _Ends) -> set[str]:
    return {end for one in entities for name in relations for end in ends.get((one, name), ())}


def _along(entity: str, path: tuple[str, ...], ends: _Ends) -> set[str]:
    found = {entity}
    for relation in path:
        found = {end for one in found for end in ends.get((one, relation), ())}
    return found
