"""Columns that several tables of the same rows have, with other cells: marks of two terms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.tables.headers import SORT
from jaxkg.kg.files.tables.keys import TakenTable
from jaxkg.words import relation_words

_ROWS = 3
"""Rows of two tables from which on their cells tell whether columns are the same."""


def call_apart(encoder: TripleEncoder, tables: Sequence[TakenTable]) -> str:
    """Call columns by their table, too, where another table says something else of most of the
    same rows under the same header, and titles tell the tables apart.

    Returns:
        Which columns were called so, in words; "" where none was.
    """
    readings: list[str] = []
    words = [relation_words(table.title).lower().split() for table in tables]
    names: list[dict[str, str]] = [{} for _ in tables]
    for a, b in itertools.permutations(range(len(tables)), 2):
        own = " ".join(word for word in words[a] if word not in words[b])
        rows = tables[a].rows & tables[b].rows
        if not own or len(rows) < _ROWS or 2 * len(rows) < len(tables[b].rows):
            continue
        ours, theirs = (encoder.said(table.first, table.last) for table in (tables[a], tables[b]))
        for relation in ours.keys() & theirs.keys() - {*SORT}:
            both = ours[relation].keys() & theirs[relation].keys()
            differ = sum(ours[relation][row].isdisjoint(theirs[relation][row]) for row in both)
            if len(both) >= _ROWS and 2 * differ > len(both):
                names[a][relation] = f"{own} {relation}"
    for table, apart in zip(tables, names):
        if apart:
            encoder.rename_within(apart, table.first, table.last)
            readings.append(f"{', '.join(sorted(apart))} called as in {table.title!r}")
    return "; ".join(readings)
