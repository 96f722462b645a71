"""Amounts: things that are no more than a number with its unit, such as a price of 3.72 EUR."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import distinct, spread
from jaxkg.kg.queries.columns import looks
from jaxkg.kg.triples import offsets
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


def starts_of(kg: KnowledgeGraph) -> np.ndarray:
    """[N + 1] int64, the row where the facts of each entity start; triples are ordered by heads."""
    return offsets(kg.triples[:, 0], kg.num_entities).astype(np.int64)


def amount_of(
    kg: KnowledgeGraph, relation: int, numbers: Collection[int], starts: np.ndarray
) -> Amount | None:
    """What the ends of a relation are amounts by; None where some are anything else.

    They have one number, one unit, which is the same of all, and nothing else that differs; and
    each belongs to one thing.

    Args:
        relation: its code.
        numbers: codes of relations that lead to numbers.
        starts: see `starts_of`.
    """
    rows = kg.rows_of(relation)
    if not len(rows):
        return None
    one = _tail(kg, rows)
    if not 2 <= starts[one + 1] - starts[one] <= _FACTS:
        return None  # most relations; the others are looked at whole
    nodes = distinct(kg.triples[rows, 2])
    first, last = starts[nodes], starts[nodes + 1]
    sizes = last - first
    if sizes.min() < 2 or sizes.max() > _FACTS or len(nodes) < len(rows):
        return None
    facts = kg.triples[spread(first, last)]
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
        headed = starts[end] < starts[end + 1]
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
    starts: np.ndarray | None = None
    for code in range(kg.num_relations):
        rows = kg.rows_of(code)
        if not len(rows) or not _is_unnamed(kg, node := _tail(kg, rows)):
            continue
        starts = starts_of(kg) if starts is None else starts
        own = kg.triples[starts[node] : starts[node + 1]]
        measures = [r for r in own[:_FACTS, 1].tolist() if _measures(kg, r)]
        amount = amount_of(kg, code, measures, starts)
        if amount is None:
            continue
        for one, end in amount.size.tolist():
            if _is_unnamed(kg, one):
                found[kg.entity_ids[one]] = f"{kg.name(end)} {amount.unit}"
    return found


def _tail(kg: KnowledgeGraph, rows: np.ndarray) -> int:
    """The tail of the first of some triples."""
    return int(kg.triples[rows[0], 2])


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
