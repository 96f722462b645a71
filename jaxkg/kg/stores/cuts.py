"""Whether what was left out of the surroundings of topics could change an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg import query as q
from jaxkg.kg.queries.sets import QuerySets, closure, sides
from jaxkg.kg.stores.around import Surroundings, TopicGraph
from jaxkg.kg.stores.store import Runs


def counted_rows(graph: TopicGraph, around: Surroundings) -> np.ndarray:
    """[N] bool: entities of a part whose facts were counted.

    Args:
        graph: the part.
        around: what it was made of.
    """
    assert graph.node_of is not None
    return np.isin(graph.node_of, around.counted)


def cuts_met(
    graph: TopicGraph,
    sets: QuerySets,
    queries: Sequence[q.Query],
    cuts: Runs,
    counted: np.ndarray,
    names: Sequence[str],
) -> tuple[Runs, tuple[str, ...]]:
    """What executing these query graphs would have run into that was not fetched.

    Args:
        graph: what was fetched.
        queries: what an answer rests on.
        cuts: what was counted and not fetched.
        counted: see `counted_rows`.
        names: of the relations that `cuts` has rows of.

    Returns:
        Facts of entities, of size -1 where they were not even counted; and relations of which all
        that have them are asked for.
    """
    assert graph.node_of is not None
    row = {name: place for place, name in enumerate(names)}
    met = np.zeros(len(cuts.node), bool)
    beyond: list[Runs] = []
    everywhere: dict[str, None] = {}
    for query in queries:
        for side in (query,) if isinstance(query, q.Total) else sides(query):
            for nodes, relation in _steps(sets, side):
                if nodes is None:
                    everywhere[relation] = None
                    continue
                inverse = relation.startswith("^")
                code, there = row[relation[inverse:]], graph.node_of[nodes]
                mine = (cuts.relation == code) & (cuts.inverse == inverse)
                if mine.any():
                    met |= mine & np.isin(cuts.node, there)
                far = there[~counted[nodes]].astype(np.int64)
                size = np.ones(len(far), np.int64)
                beyond.append(Runs(far, code * size, np.full(len(far), inverse), -size))
    parts = [cuts.take(np.flatnonzero(met)), *beyond]
    return Runs.joined(parts), tuple(everywhere)


def _steps(sets: QuerySets, node: q.Query) -> Iterator[tuple[np.ndarray | None, str]]:
    """(entities, relation) of every step that a query graph takes; None for all there are."""
    below = q.children(node)
    # What a set is compared with comes first.
    for part in below[::-1] if isinstance(node, q.Difference | q.Quantifier) else below:
        yield from _steps(sets, part)
    if isinstance(node, q.Domain):
        for relation in node.relations:
            yield None, relation
    elif isinstance(node, q.Step):
        nodes = sets.derive(node.source).nodes
        if node.closure:
            nodes = np.union1d(nodes, closure(sets.around, nodes, node.relations)[0])
        for relation in node.relations:
            yield nodes, relation
    elif isinstance(node, q.Where | q.Match | q.Quantifier | q.Extreme | q.Total):
        nodes = sets.derive(node.source).nodes
        for path in (node.path, node.other) if isinstance(node, q.Match) else (node.path,):
            ends = nodes
            for relation in path:
                yield ends, relation
                ends = np.unique(sets.step(ends, (relation,))[0])
