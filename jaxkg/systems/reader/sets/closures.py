"""Readings that walk a hierarchy on and on, beside those that take one step of it."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Count, Query, Step
from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.views import Seen

_LOOKED_AT = 8
"""Best readings that are looked at for a step of a hierarchy."""
_RARER = np.log(2)
"""By how much a reading with all that is below counts for less than the plain one."""


def goes_on(query: Query) -> bool:
    """Whether the last step of a query graph is walked on and on."""
    node = query.source if isinstance(query, Count) else query
    return isinstance(node, Step) and node.closure == "+"


def with_closures(seen: Seen, sets: QuerySets, hierarchies: frozenset[str]) -> Seen:
    """Readings, and after them what those answer whose last step goes on and on.

    A plain step of a hierarchy is what most questions mean, so that it stays before its closure,
    which is offered where it finds more.

    Args:
        seen: all readings.
        sets: over the graph.
        hierarchies: names of its hierarchies.
    """
    if not hierarchies:
        return seen
    further: list[Candidate] = []
    places: list[int] = []
    for place in np.argsort(-seen.scores, kind="stable")[:_LOOKED_AT].tolist():
        plain = seen.found[place]
        node = plain.query.source if isinstance(plain.query, Count) else plain.query
        if not isinstance(node, Step) or node.closure or node.during or plain.wanting:
            continue
        if {name.removeprefix("^") for name in node.relations} <= hierarchies:
            query = dataclasses.replace(node, closure="+")
            ends = sets.derive(query).nodes
            if len(ends) > len(plain.ends):
                counted = isinstance(plain.query, Count)
                result = str(len(ends)) if counted else plain.result
                further.append(
                    plain._replace(
                        query=Count(query) if counted else query, ends=ends, result=result
                    )
                )
                places.append(place)
    if not further:
        return seen
    return dataclasses.replace(
        seen,
        found=[*seen.found, *further],
        views=np.concatenate([seen.views, seen.views[places]]),
        scores=np.concatenate([seen.scores, seen.scores[places] - _RARER]),
    )
