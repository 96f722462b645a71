"""What follows from a few walked edges alone: the machine check of a citation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jaxkg.kg.queries.rules import topics_of, where_window
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import (
    Difference,
    Domain,
    Entities,
    Extreme,
    Intersection,
    Node,
    Step,
    Union,
    Where,
    inverse,
)

Edge = tuple[str, str, str]
"""From, relation (`^name` where it was walked backwards), to."""


def proved(sets: QuerySets, node: Node, edges: Iterable[Edge]) -> set[str]:
    """Ids of the entities that these edges, and the values of their ends, show a node to denote.

    What no part of a graph can show is asked of the whole graph: what a difference leaves out, and
    which entities come first; of an order the edges must show that the entity takes part.

    Args:
        sets: over the graph.
        node: a sound query graph.
        edges: as walked; those of the graph, or nothing is proved.
    """
    ends: dict[tuple[str, str], set[str]] = {}
    for start, relation, end in edges:
        ends.setdefault((start, relation), set()).add(end)
        ends.setdefault((end, inverse(relation)), set()).add(start)
    return _proved(sets, node, ends)


def _proved(sets: QuerySets, node: Node, ends: dict[tuple[str, str], set[str]]) -> set[str]:
    if isinstance(node, Entities):
        return set(node.ids)
    if isinstance(node, Domain):
        return {start for start, name in ends if name in node.relations}
    if isinstance(node, Step):
        source = _proved(sets, node.source, ends)
        found = {e for s in source for name in node.relations for e in ends.get((s, name), ())}
        return found if node.returns else found - set(topics_of(node))
    if isinstance(node, Intersection):
        return set.intersection(*(_proved(sets, part, ends) for part in node.parts))
    if isinstance(node, Union):
        return set.union(*(_proved(sets, part, ends) for part in node.parts))
    found = _proved(sets, node.source, ends)
    if isinstance(node, Difference):
        without = sets.derive(node.without).nodes
        return {e for e in found if not np.isin(sets.kg.entity(e), without)}
    reached = {entity: _along(entity, node.path, ends) for entity in found}
    if isinstance(node, Extreme):
        first = {sets.kg.entity_ids[row] for row in sets.derive(node).nodes.tolist()}
        return {e for e in found & first if reached[e] or node.by == "count"}
    assert isinstance(node, Where)
    kind, window = where_window(sets.values, node)
    keys = sets.values.keys_of(kind)
    rows = {e: [sets.kg.entity(end) for end in reached[e]] for e in found}
    return {e for e in found if window.holds(keys[0][rows[e]], keys[1][rows[e]]).any()}


def _along(entity: str, path: tuple[str, ...], ends: dict[tuple[str, str], set[str]]) -> set[str]:
    found = {entity}
    for relation in path:
        found = {end for one in found for end in ends.get((one, relation), ())}
    return found
