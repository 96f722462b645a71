"""Amounts: things that are no more than a number with its unit, such as a price of 3.72 EUR."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import distinct, spread
from jaxkg.kg.queries.columns import looks
from jaxkg.words import is_blank

_SAMPLE = 200
"""Amounts whose names are looked at."""
_FACTS = 4
"""Facts of an amount, at most."""
_UNIT = re.compile(r"\b(?:units?|currency)\b|unit ?code|currency ?code")
"""What vocabularies call the unit of an amount."""


class Amount(NamedTuple):
    """What the ends of a relation are amounts by, where they are.

    Attributes:
        number: code of the relation on to their numbers.
        unit: text of their unit.
        size: [K, 2] int32, each amount and its number, ascending.
    """

    number: int
    unit: str
    size: np.ndarray


def amount_of(kg: KnowledgeGraph, relation: int, numbers: Collection[int]) -> Amount | None:
    """What the ends of a relation are amounts by; None where some are anything else.

    They have one number, one unit, which is the same of all, and nothing else that differs; and
    each belongs to one thing.

    Args:
        kg: the graph.
        relation: its code.
        numbers: codes of relations that lead to numbers.
    """
    rows = kg.triples[kg.rows_of(relation)]
    nodes = distinct(rows[:, 2])
    heads = np.asarray(kg.triples)[:, 0]
    first, last = np.searchsorted(heads, nodes), np.searchsorted(heads, nodes, "right")
    sizes = last - first
    if not len(nodes) or sizes.min() < 2 or sizes.max() > _FACTS or len(nodes) < len(rows):
        return None
    facts = np.asarray(kg.triples)[spread(first, last)]
    codes, counts = np.unique(facts[:, 1], return_counts=True)
    if not (counts == len(nodes)).all() or not (sizes == len(codes)).all():
        return None
    measures = [code for code in codes.tolist() if code in numbers]
    others = [code for code in codes.tolist() if code not in numbers]
    ends = {code: distinct(facts[facts[:, 1] == code, 2]) for code in others}
    if len(measures) != 1 or any(len(some) > 1 for some in ends.values()):
        return None
    names = [kg.name(node) for node in nodes[:_SAMPLE].tolist() if kg.has_name(node)]
    beside = {_letters(name) for name in names}
    for code, (end,) in ends.items():
        headed = np.searchsorted(heads, end) < np.searchsorted(heads, end, "right")
        called = beside == {kg.name(end)} or _UNIT.search(kg.relation_labels[code].lower())
        if called and not headed:
            size = facts[facts[:, 1] == measures[0]][:, ::2]
            return Amount(measures[0], kg.name(end), size)
    return None


def amount_names(kg: KnowledgeGraph) -> dict[str, str]:
    """What blank nodes that are amounts are called, by their ids: "3.72 EUR".

    Args:
        kg: a graph as it was read.
    """
    found: dict[str, str] = {}
    heads = np.asarray(kg.triples)[:, 0]
    for code in range(kg.num_relations):
        nodes = distinct(kg.triples[kg.rows_of(code), 2])
        some = nodes[:_SAMPLE].tolist()
        if not some or not all(_is_unnamed(kg, node) for node in some):
            continue
        first = np.searchsorted(heads, some[0])
        own = np.asarray(kg.triples)[first : first + _FACTS]
        measures = [r for node, r, _ in own.tolist() if node == some[0] and _measures(kg, r)]
        amount = amount_of(kg, code, measures)
        if amount is None:
            continue
        for node, end in amount.size.tolist():
            if _is_unnamed(kg, node):
                found[kg.entity_ids[node]] = f"{kg.name(end)} {amount.unit}"
    return found


def _is_unnamed(kg: KnowledgeGraph, node: int) -> bool:
    return is_blank(kg.entity_ids[node]) and not kg.has_name(node)


def _measures(kg: KnowledgeGraph, relation: int) -> bool:
    ends = distinct(kg.triples[kg.rows_of(relation), 2]).tolist()
    return all(looks("number", kg.name(end)) for end in ends)


def _letters(text: str) -> str:
    """What is no number of a text.

    >>> _letters("3,72 EUR"), _letters("Room 12")
    ('EUR', 'Room')
    """
    return re.sub(r"[-\d.,]+", "", text).strip()
