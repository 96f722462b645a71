"""Whether what was left out of the surroundings of topics could change an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.kg.queries.sets import QuerySets, sides
from jaxkg.kg.stores.around import Cut, TopicGraph
from jaxkg.query import (
    Count,
    Difference,
    Entities,
    Extreme,
    Intersection,
    Query,
    Step,
    Union,
    Where,
)


def cuts_met(
    graph: TopicGraph, sets: QuerySets, queries: Sequence[Query], cuts: Sequence[Cut]
) -> list[Cut]:
    """The cuts that executing these query graphs would have run into.

    Args:
        graph: what was fetched.
        sets: executes query graphs over it.
        queries: what an answer rests on.
        cuts: what was left out; `relation` is a row of the graph's own relations.
    """
    assert graph.node_of is not None
    by_step: dict[str, dict[int, Cut]] = defaultdict(dict)
    for cut in cuts:
        by_step["^" * cut.inverse + graph.relations[cut.relation]][cut.node] = cut
    met: dict[Cut, None] = {}
    for query in queries:
        for side in sides(query):
            for nodes, relation in _steps(sets, side):
                if there := by_step.get(relation):
                    reached = graph.node_of[nodes]
                    inside = reached[np.isin(reached, list(there))].tolist()
                    met |= dict.fromkeys(there[node] for node in inside)
    return list(met)


def _steps(sets: QuerySets, node: Query) -> Iterator[tuple[np.ndarray, str]]:
    """(entities, relation) of every step that a query graph takes."""
    if isinstance(node, Entities):
        return
    if isinstance(node, Intersection | Union):
        for part in node.parts:
            yield from _steps(sets, part)
        return
    if isinstance(node, Difference):
        yield from _steps(sets, node.source)
        yield from _steps(sets, node.without)
        return
    assert isinstance(node, Step | Where | Extreme | Count)
    yield from _steps(sets, node.source)
    if isinstance(node, Count):
        return
    nodes = sets.derive(node.source).nodes
    if isinstance(node, Step):
        for relation in node.relations:
            yield nodes, relation
        return
    for relation in node.path:
        yield nodes, relation
        nodes = np.unique(sets.step(nodes, (relation,))[0])
