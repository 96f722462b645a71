"""Which relations of a graph are hierarchies: what is below is so at any depth."""

from __future__ import annotations

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.words import relation_words

_INCLUSIONS = frozenset(
    ("sub class of", "subclass of", "sub property of", "broader", "broader transitive", "is a",
     "kind of", "subtype of", "subset of")
)  # fmt: skip
"""Hierarchies of kinds: what is of a kind is of every wider one."""
_KNOWN = _INCLUSIONS | frozenset(
    ("narrower", "part of", "has part", "is part of", "parent", "child of", "reports to",
     "belongs to", "located in", "contained in", "depends on")
)  # fmt: skip
"""What vocabularies call hierarchies; a circle among their facts is a mistake in these."""
_DEEPEST = 100
"""Steps of a hierarchy, at most: what goes on for longer is a sequence."""


def hierarchies(kg: KnowledgeGraph) -> tuple[str, ...]:
    """Relations that lead from thing to thing on and on, without a circle, or are called so.

    Where it is declared whether a relation is one, that counts; see `KnowledgeGraph.meanings`.

    Returns:
        Names, in the graph's order; of those whose facts follow one another, twice or more often.

    >>> kg = KnowledgeGraph.from_triples([
    ...     ("cat", "is_a", "pet"), ("pet", "is_a", "animal"), ("Tom", "owner", "Ann"),
    ...     ("Ann", "knows", "Bo"), ("Bo", "knows", "Ann")])
    >>> hierarchies(kg)
    ('is_a',)
    """
    found = []
    for code, name in enumerate(kg.relations):
        declared = kg.meanings.get(name, {}).get("hierarchy")
        heads, _, tails = kg.triples[kg.rows_of(code)].T
        is_circular, depth = _depth(heads, tails, kg.num_entities)
        looks = depth > 1 and (not is_circular or is_called_hierarchy(kg, code))
        if looks if declared is None else declared:
            found.append(name)
    return tuple(found)


def is_inclusion(kg: KnowledgeGraph, name: str) -> bool:
    """Whether a relation leads from a kind to a wider one, by what it is called.

    >>> is_inclusion(KnowledgeGraph.from_triples([("cat", "is_a", "pet")]), "is_a")
    True
    """
    return not _INCLUSIONS.isdisjoint(_called(kg, kg.relation_code(name)))


def is_called_hierarchy(kg: KnowledgeGraph, code: int) -> bool:
    """Whether a relation is called as vocabularies call hierarchies."""
    return not _KNOWN.isdisjoint(_called(kg, code))


def _called(kg: KnowledgeGraph, code: int) -> tuple[str, str]:
    """A relation's name and its label, in small letters."""
    return relation_words(kg.relations[code]).lower(), kg.relation_labels[code].lower()


def _depth(heads: np.ndarray, tails: np.ndarray, size: int) -> tuple[bool, int]:
    """Whether edges run in circles (or on for too long), and how many follow one another."""
    for depth in range(_DEEPEST + 1):
        if not len(heads):
            return False, depth
        goes_on = np.zeros(size, bool)
        goes_on[heads] = True
        kept = goes_on[tails]
        if kept.all():
            return True, depth + 2
        heads, tails = heads[kept], tails[kept]
    return True, _DEEPEST
