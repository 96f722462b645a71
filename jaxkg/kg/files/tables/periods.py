"""Columns that are called by years or months: a cell is of its row and of its column's period."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jaxkg.kg.queries.literals import as_date
from jaxkg.words import relation_words

_FEWEST = 2
"""Columns of periods from which on they are read as such."""
YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_MONTH = re.compile(r"(?:1[5-9]|20)\d\d-\d\d")


def period_columns(columns: Sequence[str]) -> tuple[int, ...]:
    """The columns that are called by years, or by months; () where fewer than two are.

    >>> period_columns(["City", "2000", "2010"]), period_columns(["City", "2000", "Mayor"])
    ((1, 2), ())
    """
    for form in (YEAR, _MONTH):
        places = [
            place for place, word in enumerate(columns) if place and form.fullmatch(word.strip())
        ]
        if len(places) >= _FEWEST and all(as_date(columns[place].strip()) for place in places):
            return tuple(places)
    return ()


def of_periods(
    columns: Sequence[str],
    periods: Sequence[int],
    title: str,
    node: str,
    row: str,
    cells: Sequence[Sequence[str]],
) -> Iterator[tuple[str, str, str]]:
    """What the cells of periods say: of whom, when and how much.

    Args:
        columns: what each column is called.
        periods: those of `period_columns`.
        title: of the table, which says what is measured.
        node: what the heads begin with, an id of its own for each row.
        row: the thing that the cells are of; the same as `node` of a row without a name.
        cells: texts of each of its cells.

    Yields:
        (head, relation, tail), three and more for each cell that is not empty.

    >>> [*of_periods(["City", "2000"], [1], "population", "_:2", "Oslo", [["Oslo"], ["9"]])][1:]
    [('_:2_2000', 'year', '2000'), ('_:2_2000', 'population', '9')]
    """
    measure = relation_words(title).lower() or "value"
    of = [(columns[0], row)]
    if row == node:
        rest = (place for place in range(len(columns)) if place not in periods)
        of = [(columns[place], text) for place in rest for text in cells[place]]
    for place in periods:
        period = columns[place].strip()
        head = f"{node}_{period}"
        if cells[place]:
            yield from ((head, relation, tail) for relation, tail in of)
            yield head, "month" if "-" in period else "year", period
        yield from ((head, measure, text) for text in cells[place])
