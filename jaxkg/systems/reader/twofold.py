"""Two questions in one: "who teaches Databases, and what is their email?"

The first is read by itself. The second is asked of what answers the first, or of the topic of the
first, whichever it is surer of; both together are a table, a row for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Column, Count, Entities, Node, Query, Rows, Step, inverse
from jaxkg.systems.reader.language.asides import INTERROGATIVES, LINKS
from jaxkg.systems.reader.sets.candidate import Candidate

_ASKS = rf"(?:(?:{LINKS})\s+)?(?:{INTERROGATIVES})\b"
_AND = re.compile(
    rf"\s*(?P<first>{_ASKS}.*?\S)\s*,?\s+and\s+(?P<second>{_ASKS}.*\S)\s*", re.I | re.S
)
_OTHERS = 2
"""Entities that answer the first question, of which the second is tried."""
_SURER = 0.1
"""How much surer the second question is of the topic of the first, where it is asked of that."""


def two_questions(text: str) -> tuple[str, str] | None:
    """The two questions that a text joins by "and"; None of others.

    >>> two_questions("Which club is the oldest and what ground do they play at?")
    ('Which club is the oldest', 'what ground do they play at?')
    >>> two_questions("Which clubs are old and large?")
    """
    match = _AND.fullmatch(text)
    return (text[: match.end("first")], match["second"]) if match else None


def asked_of(sets: QuerySets, first: Candidate) -> Iterator[tuple[int, Node, tuple[str, ...]]]:
    """Whom a second question may be asked of: an entity, the set that it stands for, and the path
    from that set to what answers the first question."""
    if first.result or isinstance(first.query, Rows):
        return
    for end in first.ends[:_OTHERS].tolist():
        yield end, first.node, ()
    path = path_from(first.query)
    rows = () if path is None else sets.execute(path[0]).rows.tolist()
    if path is not None and len(rows) == 1:
        yield rows[0], path[0], path[1].path


def path_from(query: Query) -> tuple[Node, Column] | None:
    """Where a walk starts, and what it leads to, or how many, as a column; None of no walk.

    >>> query = Count(Step(Step(Entities(("Ann",)), ("owns",)), ("^of",)))
    >>> path_from(query)
    (Entities(ids=('Ann',)), Column(path=('owns', '^of'), by='count'))
    """
    by, node = ("count", query.source) if isinstance(query, Count) else ("value", query)
    path: list[str] = []
    while isinstance(node, Step) and len(node.relations) == 1 and not (node.closure or node.during):
        path.insert(0, node.relations[0])
        node = node.source
    if not path or isinstance(node, Step):
        return None
    return node, Column(tuple(path), by)  # pyright: ignore[reportArgumentType, reportReturnType]


def _goes_back(first: Candidate, path: tuple[str, ...]) -> bool:
    """Whether a path goes on from where the first question came from: the room of its course is
    not a lecturer's."""
    before = path_from(first.query)
    return before is not None and len(path) > 1 and path[0] == inverse(before[1].path[-1])


def together(
    sets: QuerySets,
    first: Candidate,
    second: str,
    best: Callable[[str, str], tuple[Candidate, float] | None],
) -> tuple[Candidate, float] | None:
    """A table of what answers both questions, and how sure the second is; None where there is none.

    Args:
        sets: over the graph.
        first: how the first question is read.
        second: the second question.
        best: the surest reading of a question about an entity, by its id, and its confidence.
    """
    kg, surest = sets.kg, None
    for entity, node, path in asked_of(sets, first):
        read = best(f"{kg.name(entity)}: {second}", kg.entity_ids[entity])
        end = path_from(read[0].query) if read else None
        if read is None or end is None or end[0] != Entities((kg.entity_ids[entity],)):
            continue
        own = (Column(path),) if path else ()
        if not path and _goes_back(first, end[1].path):
            continue
        least = surest[1] + _SURER * bool(path) if surest is not None else 0.0
        if end[1] in own or read[1] <= least:
            continue
        table = Rows(node, (*own, end[1]))
        ends = read[0].ends if path else first.ends
        relations = (*first.relations, *read[0].relations)
        fields = {"query": table, "ends": ends, "relations": relations, "result": ""}
        surest = first._replace(**fields), read[1]
    return surest
