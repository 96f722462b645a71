"""Whether what was left out of the surroundings of topics could change an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.kg.queries.sets import QuerySets, sides
from jaxkg.kg.stores.around import TopicGraph
from jaxkg.kg.stores.store import Runs
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
    graph: TopicGraph, sets: QuerySets, queries: Sequence[Query], cuts: Runs, names: Sequence[str]
) -> Runs:
    """The cuts that executing these query graphs would have run into.

    Args:
        graph: what was fetched.
        sets: executes query graphs over it.
        queries: what an answer rests on.
        cuts: what was left out.
        names: of the relations that `cuts` has rows of.
    """
    assert graph.node_of is not None
    row = {name: at for at, name in enumerate(names)}
    met = np.zeros(len(cuts.node), bool)
    for query in queries:
        for side in sides(query):
            for nodes, relation in _steps(sets, side):
                inverse = relation.startswith("^")
                there = (cuts.relation == row[relation[inverse:]]) & (cuts.inverse == inverse)
                met |= there & np.isin(cuts.node, graph.node_of[nodes])
    return cuts.take(np.flatnonzero(met))


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
