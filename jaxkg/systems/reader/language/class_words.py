"""Which relations lead to classes, to wider classes and to other names, by their labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from jaxkg.readings.labels import TYPE_LABELS

_TYPE_IF_ALL = {
    "kind", "kind of thing", "sort", "category", "entity type", "node type", "record type", "typ",
    "art", "klasse", "ist",
}  # fmt: skip
"""Labels that lead to classes where most heads of a graph have one, and a class has nothing."""
_WHAT = frozenset(["what", "is", "kind", "type", "sort", "class"])
_ABOUT = frozenset(["it", "this", "of", "thing", "entity", "item", "record", "a", "an"])
"""Words of which labels such as "what is it" are made; they lead to classes on that condition."""
_ALIAS = {
    "also known as", "also called", "alias", "aka", "alternative name", "alt label", "nickname",
    "abbreviation", "short name", "other name", "alternate name", "auch genannt", "synonym",
    "abbreviated as", "known as", "called", "acronym", "initials", "stage name", "pen name",
    "pseudonym", "former name", "common name", "popular name", "abgekürzt", "genannt", "spitzname",
    "kurzname", "auch bekannt als", "bekannt als", "abkürzung", "goes by", "also goes by",
    "also known by", "trades as", "better known as", "stands for",
}  # fmt: skip
_NAMED = re.compile(
    r"^also (?:\w+ )?(?:as|called)|\b(?:other|former|short|common|popular|local|old|original|stage|"
    r"pen|trade|brand|alternative) (?:name|title)s?$"
)
_BELOW = {
    "subclass of", "sub class of", "subtype of", "kind of", "a kind of", "sort of", "type of",
    "subcategory of", "broader", "unterklasse von", "unterart von", "unterkategorie von",
}  # fmt: skip
"""Labels that lead from a class to the wider one."""
_KINDS = {"is a", "isa", "ist ein", "ist eine"}
"""Labels by which a class is of a wider one as a thing is of a class; not so by "type"."""
_TOLD = 3
"""Relations of what a type relation leads to from which on it is more than a class."""
_COPULA = re.compile(r"^(?:is|are|was|were|has|have|had|ist|wird|hat) (?!ein)")


def role_of(
    wordings: Sequence[str], triples: np.ndarray, rows: np.ndarray, *, known: bool = False
) -> str:
    """ "type" or "alias" for a relation to classes or to other names, else "".

    Args:
        wordings: labels of the relation.
        triples: [T, 3] of the graph.
        rows: [K] places of those of the relation.
        known: whether a standard says that it leads to classes.

    >>> role_of(("is also known as",), np.zeros((0, 3), int), np.zeros(0, int))
    'alias'
    """
    plain = {wording.lower() for wording in wordings}
    plain |= {_COPULA.sub("", wording) for wording in plain}
    if known or (plain & TYPE_LABELS and not _described(triples, rows)):
        return "type"
    asked = (set(wording.split()) for wording in plain - _BELOW)
    asks = any(words <= _WHAT | _ABOUT and words & _WHAT for words in asked)
    if (plain & _TYPE_IF_ALL or asks) and _sorts_all(triples, triples[rows]):
        return "type"
    names = plain & _ALIAS or any(map(_NAMED.search, plain))
    # What some of them share is no name: the "stage name" of a sale.
    return "alias" if names and 10 * len(np.unique(triples[rows, 2])) >= 9 * len(rows) else ""


def _sorts_all(triples: np.ndarray, own: np.ndarray) -> bool:
    """Whether most heads of a graph are heads of a relation whose tails lead to nothing."""
    heads, sorts = np.unique(triples[:, 0]), np.unique(own[:, 2])
    few = 2 * len(sorts) <= len(own) and not np.isin(sorts, heads).any()
    return few and 2 * len(np.unique(own[:, 0])) > len(heads)


def _described(triples: np.ndarray, rows: np.ndarray) -> bool:
    """Whether most of what a relation leads to is told so much of that it is a thing: a species."""
    sorts = np.unique(triples[rows, 2])
    told = np.unique(triples[np.isin(triples[:, 0], sorts)][:, :2], axis=0)
    times = np.unique(told[:, 0], return_counts=True)[1]
    return 2 * int((times >= _TOLD).sum()) > len(sorts)


def says_kind(wordings: Sequence[str]) -> bool:
    """Whether a relation is called "is a".

    >>> says_kind(("is a",)), says_kind(("type",))
    (True, False)
    """
    return not _KINDS.isdisjoint(map(str.lower, wordings))


def wider_codes(wordings: Sequence[Sequence[str]], types: Iterable[int]) -> tuple[int, ...]:
    """Codes of the relations that lead from a class to a wider one: "subclass of"; and of those
    that lead to classes, on and on: "is a".

    Args:
        wordings: labels of each relation.
        types: codes of hierarchies that lead to classes.
    """
    below = {
        code
        for code, labels in enumerate(wordings)
        if {_COPULA.sub("", label.lower()) for label in labels} & _BELOW
    }
    kinds = {code for code in types if says_kind(wordings[code])}
    return tuple(sorted(below | kinds))


def classes_below(
    triples: np.ndarray, codes: Sequence[int], direct: set[int]
) -> tuple[dict[int, tuple[int, ...]], dict[int, list[int]]]:
    """The classes below each class that has any, itself among them; and all above each.

    Args:
        triples: [T, 3] of the graph.
        codes: see `wider_codes`.
        direct: classes that something is of.

    >>> below, above = classes_below(np.array([[1, 0, 2], [2, 0, 3]]), (0,), {1})
    >>> below, above
    ({2: (1, 2), 3: (1, 3)}, {1: [2, 3]})
    """
    wider: dict[int, set[int]] = defaultdict(set)
    for child, _, parent in triples[np.isin(triples[:, 1], codes)].tolist():
        wider[child].add(parent)
    below: dict[int, set[int]] = defaultdict(set)
    above: dict[int, list[int]] = {}
    for kind in direct:
        found, front = set[int](), {kind}
        while front := {w for k in front for w in wider.get(k, ())} - found:
            found |= front
        above[kind] = sorted(found - {kind})
        for other in above[kind]:
            below[other] |= {kind, other}
    return {kind: tuple(sorted(some)) for kind, some in below.items()}, above
