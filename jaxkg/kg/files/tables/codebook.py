"""Codes of a survey's answers, by the codebook that lies beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.tables.keys import TakenTable
from jaxkg.kg.names import NameCollector
from jaxkg.words import relation_words

_CHOICE = re.compile(r"\s*([\w.-]{1,12})\s*[,=:]\s*([^|;\n]*[^|;\s])\s*")
_PARTS = re.compile(r"[|;\n]")
_FEWEST = 3
"""Columns that a codebook tells of, at least."""
_LABELS = {"label", "question", "text"}
"""Words of the column that asks in words what a column answers."""


def choices(cell: str) -> dict[str, str]:
    """What each code means, of several in a cell; nothing of another text.

    >>> choices("1, Woman | 2, Man"), choices("0=no; 1=yes"), choices("Drama, War")
    ({'1': 'Woman', '2': 'Man'}, {'0': 'no', '1': 'yes'}, {})
    """
    matches = [_CHOICE.fullmatch(part) for part in _PARTS.split(cell.strip("|; "))]
    meanings = {match[1]: match[2] for match in matches if match}
    return meanings if len(meanings) == len(matches) > 1 else {}


def decode(encoder: TripleEncoder, names: NameCollector, tables: Sequence[TakenTable]) -> str:
    """Put what codes mean in their places, in tables whose columns are the rows of a codebook, and
    know the columns by its questions, too.

    Returns:
        Which columns were decoded, in words; "" where none was.
    """
    readings, relations = [], {*encoder.relations}
    for book in tables:
        for table in tables if len(relations & book.rows) >= _FEWEST else ():
            tails = dict(encoder.tails(table.first, table.last)) if table is not book else {}
            columns = {column for column in tails if column in book.rows}
            if len(columns) < _FEWEST or 2 * len(columns) < len(tails):
                continue
            entries = encoder.said(book.first, book.last)
            meanings = _meanings(entries, columns)
            parts = {
                (column, code): [meaning[code]]
                for column, meaning in meanings.items()
                for code in tails[column]
                if code in meaning
            }
            if parts:
                encoder.split(parts, table.first, table.last)
                readings.append(f"codes of {', '.join(meanings)} read by {book.title!r}")
            for label, cells in entries.items():
                if _LABELS.isdisjoint(relation_words(label).lower().split()):
                    continue
                for column in columns & cells.keys():
                    [text, *others] = cells[column]
                    if not others and not choices(text):
                        names.relations.setdefault(column, [column, text])
    return "; ".join(readings)


def _meanings(
    entries: Mapping[str, Mapping[str, Set[str]]], columns: Set[str]
) -> dict[str, dict[str, str]]:
    """What codes of each column mean, by the entries of a codebook."""
    by_column: dict[str, dict[str, str]] = {}
    for cells in entries.values():
        for column in sorted(columns & cells.keys()):
            texts = cells[column]
            if len(texts) == 1 and (meaning := choices(next(iter(texts)))):
                by_column.setdefault(column, meaning)
    return by_column
