"""Readings that walk a hierarchy on and on, beside those that take one step of it."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.kg.hierarchies import is_inclusion
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Count, Exists, Intersection, Query, Step
from jaxkg.systems.reader.language.lexicon.cue_words import KINDS, NEXT
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
    which is offered where it finds more; of "kinds" all are meant, and a kind of a kind is one.

    Args:
        seen: all readings.
        sets: over the graph.
        hierarchies: names of its hierarchies.
    """
    if not hierarchies:
        return seen
    words = set(seen.asked.cues.words.folded)
    deep = bool(words & KINDS) and not words & NEXT
    further: list[Candidate] = []
    places: list[int] = []
    scores: list[float] = []
    for place in np.argsort(-seen.scores, kind="stable")[:_LOOKED_AT].tolist():
        plain = seen.found[place]
        if plain.result == "no" and (deep := _held_deeper(plain, sets, hierarchies)) is not None:
            further.append(deep[0])
            places.append(place)
            scores.append(seen.scores[place] + _RARER * deep[1])
            continue
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
                names = {name.removeprefix("^") for name in node.relations}
                kinds = deep and all(is_inclusion(sets.kg, name) for name in names)
                scores.append(seen.scores[place] + (_RARER if kinds else -_RARER))
    if not further:
        return seen
    return dataclasses.replace(
        seen,
        found=[*seen.found, *further],
        views=np.concatenate([seen.views, seen.views[places]]),
        scores=np.concatenate([seen.scores, np.array(scores, seen.scores.dtype)]),
    )


def _held_deeper(
    plain: Candidate, sets: QuerySets, hierarchies: frozenset[str]
) -> tuple[Candidate, bool] | None:
    """What a "no" becomes where a hierarchy leads there after all, and whether that is of kinds:
    a kind is of every wider one, so that the plain step's "no" is wrong."""
    query = plain.query
    if not isinstance(query, Exists) or not isinstance(query.source, Intersection):
        return None
    first, *others = query.source.parts
    if not isinstance(first, Step) or first.closure or first.during:
        return None
    names = {name.removeprefix("^") for name in first.relations}
    if not names <= hierarchies:
        return None
    deep = Exists(Intersection((dataclasses.replace(first, closure="+"), *others)))
    ends = sets.derive(deep.source).nodes
    if not len(ends):
        return None
    kinds = all(is_inclusion(sets.kg, name) for name in names)
    return plain._replace(query=deep, ends=ends, result="yes"), kinds
