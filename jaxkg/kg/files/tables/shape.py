"""Whether rows are triples or a table with a row an entity, told by a header and what is below."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Sequence, Set
from pathlib import Path

from jaxkg.kg.files.delimited import (
    HEADER,
    csv_dialect,
    header_columns,
    is_edge_list,
    row_blocks,
    separator_of,
)
from jaxkg.kg.files.exports import plain_header
from jaxkg.kg.files.tables.headers import full_name
from jaxkg.kg.files.tables.keys import KEY, is_code
from jaxkg.kg.files.tables.layout import YEAR
from jaxkg.kg.queries.columns import all_values, is_value, looks
from jaxkg.words import relation_words

SAMPLE = 500
"""Rows that are looked at."""

MAYBE_TABLE = "; the first row as one of them: where it names columns, the format is 'table'"
"""Told of triples that may be a table."""

_KEYS = {"id", "_id", "uid", "key", "identifier", "uri", "iri", "code", "name", "title", "entity"}
_LONGEST = 80
_NEARLY_ALL, _MANY = 0.95, 0.8
_ENOUGH, _FEW, _AGAIN = 20, 8, 4
"""Rows of three texts whose middle ones differ, from which they are a table; where the middle ones
are not written as relations mostly are (`directed_by`), fewer do, and again fewer where the first
ones come again, as relations of one thing would."""


def first_rows(path: Path, format: str, encoding: str) -> list[list[str]]:
    """The cells of the first rows of a "csv" or "tsv" file that are not blank."""
    separator = separator_of(path, format, encoding)
    for _, block in row_blocks(path, encoding=encoding):
        lines = [line.rstrip("\r") for line in block if line.strip()][:SAMPLE]
        if not lines:
            continue
        rows: list[list[str]] = []
        split = (line.split(separator) for line in lines)
        if format == "csv":
            split = csv.reader((f"{line}\n" for line in lines), **csv_dialect(lines, separator))
        with contextlib.suppress(csv.Error):  # whoever reads the file tells it
            for row in split:
                rows.append([cell.strip().strip('"') for cell in row])
        return [plain_header(rows[0]), *rows[1:]] if rows else rows
    return []


def kept_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns of a table that say something: not blank ones, nor an index that has no heading.

    >>> kept_columns([["", "name", "age", ""], ["0", "Ann", "31", ""], ["1", "Bo", "29", ""]])
    [1, 2]
    >>> kept_columns([["name", ""], ["Ann", "0"], ["Bo", "1"]])
    [0, 1]
    """
    names, below = rows[0], rows[1:]
    kept = []
    for at, name in enumerate(names):
        cells = [row[at] for row in below if at < len(row)]
        counted = (list(map(str, range(start, start + len(cells)))) for start in (0, 1))
        if name or (any(cells) and not (at == 0 and cells in counted)):
            kept.append(at)
    return kept


def is_header(words: Sequence[str]) -> bool:
    """Whether words name columns, the first of them an id, or two a full name; no header of triples
    does.

    >>> is_header(["id", "name"]), is_header(["staff_no", "full name", "floor"])
    (True, True)
    >>> is_header(["entity", "relation", "value"]), is_header(["staff_no", "means", "floor"])
    (False, False)
    """
    names = [word.casefold() for word in words]
    if not _names_columns(names):
        return False
    triples = names[0] in HEADER[0] and header_columns(names) is not None
    keyed = not KEY.isdisjoint(relation_words(names[0]).split())
    keyed &= any(relation_words(name).endswith("name") for name in names[1:])
    return (names[0] in _KEYS or keyed or full_name(words) is not None) and not triples


_FEWEST = 3
"""Columns of other files that rows tell of, at least."""


def heads_rows(rows: Sequence[Sequence[str]], others: Set[str]) -> bool:
    """Whether the first of some rows names columns as those of other files are named, or the others
    tell of such columns.

    Args:
        others: names of their columns, without case.

    >>> heads_rows([["Play", "Role"], ["Lear", "Cordelia"]], {"play", "venue"})
    True
    >>> heads_rows([["Key", "Unit"], ["TMK", "C"], ["RSK", "mm"], ["NM", ""]], {"tmk", "rsk", "nm"})
    True
    >>> heads_rows([["Lear", "has part"], ["Lear", "is by"]], {"lear"})
    False
    """
    names = [word.casefold() for word in rows[0]] if rows else []
    if not _names_columns(names) or header_columns(names) is not None:
        return False
    below = [{row[at].casefold() for row in rows[1:] if at < len(row)} for at in range(len(names))]
    describes = len(below[0] & others) >= _FEWEST and not any(map(_is_number, below[0] & others))
    return describes or any(
        name in others and name not in cells and not _is_number(name)
        for name, cells in zip(names, below)
    )


def rows_are_entities(rows: Sequence[Sequence[str]]) -> bool | None:
    """Whether rows are a table, whatever its first column is called.

    Triples of any width have a header that is known, or none: then the words of their first row
    come again below it, or are values. Two columns are a table where the second holds values, or
    the first row alone is in small letters; else they may be names of ids.

    Args:
        rows: the first ones of a file, with what may be a header.

    Returns:
        None where it may be a table, but is rather triples.
    """
    if not rows:
        return False
    names, width = [word.casefold() for word in rows[0]], len(rows[0])
    if not _names_columns(names) or header_columns(names) is not None or is_edge_list(names):
        return False
    if any(
        "://" in name or name.startswith(("/", "{", "[")) or len(name) > _LONGEST for name in names
    ):
        return False
    below = [row for row in rows[1:] if len(row) == width and row != rows[0]]
    if any(map(_is_number, filter(None, names))):
        return _numbers_name_columns(names, below)
    if not below or 2 * len(below) < len(rows) - 1:
        return False
    columns = list(zip(*below))
    folded = [{cell.casefold() for cell in column} for column in columns]
    again = [name in cells for name, cells in zip(names, folded) if name]
    if any(again) and (width < 4 or 2 * sum(again) > width or _begin_again(names, below)):
        return False
    small = all(name[:1].islower() for name in rows[0])
    written_otherwise = small and not any(cell[:1].islower() for row in below for cell in row)
    if width == 2:
        is_even = len(below) == len(rows) - 1
        return is_even and (all_values(columns[1]) or (written_otherwise and len(below) > 1))
    if width > 3 or _refers_twice(names):
        return True
    if set(names) & set.union(*folded):
        return False
    return _three_columns(*columns, header_differs=written_otherwise)


def _begin_again(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether several rows have the head or the relation of the first one, or most a cell of it."""
    counts = [
        sum(row[place].casefold() == name for row in rows) for place, name in enumerate(names)
    ]
    return max(counts[:2]) > 1 or (len(names) < 6 and 2 * max(counts) > len(rows))


def _numbers_name_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Whether numbers among what may be a header name columns: years, of what was then, or places
    in a row; None where that is rather not so.

    >>> _numbers_name_columns(["tribe", "1880", "1899"], [["Roma", "11", ""], ["All", "7", "9"]])
    True
    >>> _numbers_name_columns(["ann", "1985", "lear"], [["bo", "1987", "hamlet"]])
    False
    """
    numbers = [place for place, name in enumerate(names) if name and _is_number(name)]
    if not rows or len(numbers) < 2 or numbers[0] == 0:
        return False
    words = [names[place] for place in numbers]
    if any(words == [*map(str, range(start, start + len(words)))] for start in (0, 1)):
        return True
    cells = [[row[place] for row in rows if row[place]] for place in numbers]
    kinds = [[*map(_kind, column)] for column in cells]
    alike = sum(2 * kind.count(_kind(word)) > len(kind) > 0 for word, kind in zip(words, kinds))
    if len(names) > 3 or alike:
        return 2 * alike < len(numbers)
    values = [looks("number", cell) or cell == ":" for column in cells for cell in column]
    return bool(values) and (sum(values) >= _MANY * len(values) or None)


def _kind(cell: str) -> str:
    return "year" if YEAR.fullmatch(cell) else "number" if _is_number(cell) else "text"


def _refers_twice(names: Sequence[str]) -> bool:
    """Whether two columns are keys, `student_id` and `course_id`, and none tells relations."""
    words = [relation_words(name).split() for name in names]
    keys = sum(len(some) > 1 and some[-1] in KEY for some in words)
    return keys > 1 and not any(word in HEADER[1] for some in words for word in some)


def _is_number(name: str) -> bool:
    """Whether a word is a value, or an id of digits: no name of a column."""
    return name.isdecimal() or is_value(name)


def _three_columns(
    heads: Sequence[str], relations: Sequence[str], tails: Sequence[str], *, header_differs: bool
) -> bool | None:
    """The same of three columns whose first row holds other words than those below.

    Args:
        header_differs: whether it alone is written in small letters.
    """
    count, different = len(heads), len(set(relations))
    like_relations = all(
        cell[:1].islower() and not any(map(str.isdigit, cell)) for cell in relations
    )
    if count < 2:
        return False if like_relations else None
    if len(set(heads)) < _NEARLY_ALL * count:  # something has several rows
        apart = different >= _NEARLY_ALL * count and count >= _AGAIN and not like_relations
        named = header_differs and different > 1 and not any(map(is_code, relations))
        return apart or named
    if all_values(relations) or all_values(heads) or (header_differs and different > 1):
        return True
    if all_values(tails) and different > 1 and (count >= 5 or not like_relations):
        return True
    if count >= (_ENOUGH if like_relations else _FEW) and different >= _MANY * count:
        return True
    return None if different > 1 and (count > 2 or not like_relations) else False


def _names_columns(names: Sequence[str]) -> bool:
    """Whether words may name columns; several may be called alike. Of more than three some may be
    blank, of three the first, above the names of rows."""
    if any(name.startswith("/") or "://" in name for name in names):
        return False
    if len(names) > 3:
        return 2 * sum(map(bool, names)) > len(names)
    named = len(names) > 1 and all(names[1:]) and (names[0] or len(names) > 2)
    return bool(named) and names[0] not in names[1:]
