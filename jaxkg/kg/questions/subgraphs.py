"""Questions whose meaning is a gold subgraph: the topics and relation paths that it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jaxkg.words import mention_of

Triple = tuple[str, str, str]

_UNNAMED = re.compile(r"[mg]\.\w+")
_LEAST = 0.6
"""Share of an entity's name that a question must spell out to name it."""


def named_in(text: str, triples: Sequence[Triple], *, but: Iterable[str] = ()) -> tuple[str, ...]:
    """Entities of a subgraph that a question names.

    Args:
        text: of the question.
        triples: its subgraph; ids of Freebase stand for entities without a name.
        but: entities that are no topics: answers, literals.

    >>> named_in("who leads Chad?", [("Chad", "leader", "Ali"), ("Ali", "born", "1952")])
    ('Chad',)
    """
    nodes = dict.fromkeys(node for head, _, tail in triples for node in (head, tail))
    others = set(but)
    found = []
    for node in nodes:
        if node in others or len(node) < 3 or _UNNAMED.fullmatch(node):
            continue
        span = mention_of(text, node)
        if span and span[1] - span[0] >= _LEAST * len(node):
            found.append(node)
    return tuple(found)


def shortest_paths(
    triples: Sequence[Triple], topic: str, answers: Iterable[str], *, most: int = 4
) -> tuple[tuple[str, ...], ...]:
    """The relation paths of the fewest steps from a topic to an answer, walked either way.

    >>> shortest_paths([("Chad", "leader", "Ali"), ("Ali", "born", "1952")], "Chad", ["1952"])
    (('leader', 'born'),)

    Args:
        triples: a subgraph.
        topic: where they start.
        answers: where they may end; none are found where the topic is one.
        most: steps at most.

    Returns:
        Sorted; none where no answer is that near.
    """
    beside: dict[str, set[tuple[str, str]]] = {}
    for head, relation, tail in triples:
        beside.setdefault(head, set()).add((relation, tail))
        beside.setdefault(tail, set()).add((relation, head))
    goals, seen = set(answers), {topic}
    layer: dict[str, set[tuple[str, ...]]] = {topic: {()}}
    if topic in goals:
        return ()
    for _ in range(most):
        after: dict[str, set[tuple[str, ...]]] = {}
        for node, paths in layer.items():
            for relation, end in beside.get(node, ()):
                if end not in seen:
                    after.setdefault(end, set()).update((*path, relation) for path in paths)
        layer = after
        seen |= after.keys()
        if found := {path for end in goals & after.keys() for path in after[end]}:
            return tuple(sorted(found))
    return ()
