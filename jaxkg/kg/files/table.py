"""Wide tables: a row is an entity, its first column the id, every further one a relation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.delimited import Row, csv_rows, separator_of
from jaxkg.kg.files.textfile import BadLines, Progress, line_blocks
from jaxkg.kg.names import NameCollector
from jaxkg.kg.queries.columns import is_nothing, likely_column
from jaxkg.words import relation_words

_NAMES = ("name", "label", "title")
_WORDS = 6
"""Words up to which a part of a cell is taken for one of several things."""
_ANY_WORDS = (
    "id ids no nr num number key code uid uuid guid ref identifier uri iri url index row line "
    "entity subject object head node vertex source from thing name names label title"
)
_ANY = frozenset(_ANY_WORDS.split())
"""Words of a first column's header that do not say what its rows are."""
_SORT = ("is a", "type")
"""Relations by which a row is told to be of a sort, the first that no column is called."""
_SEVERAL = re.compile(r"people|staff|[^\W\d]*[^\W\daius]s")
"""The last word of a title that says what several rows are."""
_AMOUNT = re.compile(r"[\d.,:/ -]+")


def read_table(
    path: Path,
    encoder: TripleEncoder,
    names: NameCollector,
    bad: BadLines,
    *,
    format: str = "table",
    lines: bool = False,
    encoding: str = "utf-8",
    on_progress: Progress | None = None,
) -> str:
    """Read a CSV or TSV table into `encoder`.

    The header names the relations; what every row is, its first column or the file's name may
    say, see `row_sort`. Where the first column is an id, one called name, label or title gives
    display names instead of facts; empty cells say nothing. Cells that hold the name of one row
    stand for it, see `join_by_name`; for `n/a` and the like see `drop_nothing`.

    Args:
        format: "tsv" or "csv" as its name tells; "table" where the first line has to.

    Returns:
        How it was read, in words.

    Raises:
        JaxkgError: it has no header, or a malformed line beyond what is tolerated.
    """
    separator = separator_of(path, "tsv" if ".tsv" in path.suffixes else format, encoding)
    blocks = line_blocks(path, encoding=encoding, on_progress=on_progress)
    rows = csv_rows(path, blocks, bad, encoding, separator)
    title = path.name.split(".")[0]
    return take_table(path, title, rows, encoder, names, bad, separator=separator, lines=lines)


def row_sort(header: str, title: str) -> str:
    """What each row of a table is, as its first column is called; else as the table is.

    Args:
        header: of the first column.
        title: of the table, a file's or a sheet's name: it says so in the plural alone.

    Returns:
        "" where neither says it.

    >>> row_sort("Park", "2023"), row_sort("employee_id", "team"), row_sort("id", "old_projects")
    ('park', 'employee', 'old projects')
    >>> row_sort("id", "team"), row_sort("Name", "data.2023"), row_sort("#", "Boss")
    ('', '', '')
    """
    words = relation_words(header).lower().split()
    if all(word.isalpha() for word in words) and (sort := [w for w in words if w not in _ANY]):
        return " ".join(sort)
    words = title.replace("_", " ").replace("-", " ").lower().split()
    return " ".join(words) if words and _SEVERAL.fullmatch(words[-1]) else ""


def drop_nothing(encoder: TripleEncoder) -> str:
    """Drop cells that say that nothing is known: `n/a`, `-`; beside values `null`, too.

    Returns:
        How many, in words; "" where there were none.
    """
    empty: dict[tuple[str, str], list[str]] = {}
    for relation, cells in list(encoder.tails()):
        values = likely_column(cells) is not None
        empty |= {(relation, cell): [] for cell in cells if is_nothing(cell, among_values=values)}
    if not empty:
        return ""
    before = len(encoder)
    encoder.split(empty)
    some = ", ".join(sorted({repr(cell) for _, cell in empty})[:3])
    return f"{before - len(encoder):,} cells that say nothing ({some}) left out"


def split_cells(encoder: TripleEncoder, names: NameCollector) -> str:
    """Take cells that hold several things for each of them: "PC; Switch".

    A semicolon or a bar parts whatever is short; a comma only what mostly stands by itself in
    other cells, too, or is a row.

    Returns:
        Which columns were taken so, in words; "" where none was.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    told = []
    known = {*names.display, *names.display.values()}
    for relation, cells in list(encoder.tails()):
        for separator in (";", "|", ","):
            lists = {cell: _parts(cell, separator) for cell in cells if separator in cell}
            short = all(
                part and len(part.split()) <= _WORDS for some in lists.values() for part in some
            )
            if not lists or not short or (separator == "," and not _alone(lists, cells, known)):
                continue
            parts |= {(relation, cell): some for cell, some in lists.items()}
            told.append(f"{relation}: several in a cell, told apart at {separator!r}")
            break
    if parts:
        encoder.split(parts)
    return "; ".join(told)


def _parts(cell: str, separator: str) -> list[str]:
    """What a cell lists; one separator at its end parts nothing."""
    found = [part.strip() for part in cell.removesuffix(separator).split(separator)]
    return list(dict.fromkeys(found))


def _alone(lists: Mapping[str, Sequence[str]], cells: Iterable[str], known: Set[str]) -> bool:
    """Whether most of what is listed stands alone elsewhere, and is no amount."""
    listed = {part for some in lists.values() for part in some}
    alone = {*cells, *known}
    return not any(map(_AMOUNT.fullmatch, listed)) and 2 * len(listed & alone) > len(listed)


def join_by_name(encoder: TripleEncoder, names: NameCollector) -> str:
    """Take cells that hold a row's name for that row, where one row alone is called so.

    Returns:
        What was taken so, in words; "" where nothing was.
    """
    rows: dict[str, list[str]] = {}
    for row, name in names.display.items():
        if name not in names.display and not _AMOUNT.fullmatch(name):
            rows.setdefault(name, []).append(row)
    cells = {name: rows[name] for name in encoder.entities if name in rows}
    same = {name: found[0] for name, found in cells.items() if len(found) == 1}
    if same:
        encoder.merge(same)
    told = [f"{len(same)} names in cells taken for the rows called so"] if same else []
    if shared := sorted(name for name, found in cells.items() if len(found) > 1):
        told.append(
            f"{', '.join(map(repr, shared[:3]))} left as they are: several rows are called so"
        )
    return "; ".join(told)


def take_table(
    path: Path,
    title: str,
    batches: Iterable[list[Row]],
    encoder: TripleEncoder,
    names: NameCollector,
    bad: BadLines,
    *,
    separator: str = ",",
    lines: bool = False,
) -> str:
    """Take a table's rows, its header the first that is not blank; see `read_table`.

    Args:
        path: what the rows are of, in messages and sources.
        title: of the table.
        separator: between cells that a message shows.
    """
    header: list[str] = []
    shown, sort, told = -1, "", ""
    ids, again = set[str](), 0
    for rows in batches:
        facts: list[tuple[str, str, str]] = []
        sources: list[str] = []
        for number, row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if not header:
                header = cells
                if len(header) < 2:
                    raise JaxkgError(
                        f"{path}:{number}: {header[0]!r} is no header of a table: it has but one "
                        f"column, parted by {separator!r}"
                    )
                if not all(header) or len(set(header)) < len(header):
                    raise JaxkgError(
                        f"{path}:{number}: {', '.join(header)!r} is no header of a table: every "
                        "column needs a name of its own"
                    )
                words = [word.casefold() for word in header]
                shown = next((words.index(name) for name in _NAMES if name in words[1:]), -1)
                told = next((some for some in _SORT if some not in map(relation_words, words)), "")
                sort = row_sort(header[0], title) if told else ""
                continue
            if len(cells) != len(header) or not cells[0]:
                why = f"{len(cells)} cells for {len(header)} columns" if cells[0] else "no id"
                bad.note(path, number, separator.join(row), why, separator.join(header))
                continue
            again += cells[0] in ids
            if sort:
                facts.append((cells[0], told, sort))
                sources.append(f"{path.name}:{number}")
            ids.add(cells[0])
            for at, cell in enumerate(cells[1:], start=1):
                if cell and at == shown:
                    names.label(cells[0], cell)
                elif cell:
                    facts.append((cells[0], header[at], cell))
                    sources.append(f"{path.name}:{number}")
        encoder.add_triples(facts, sources if lines else None)
    if not header:
        return ""  # nothing was read, which the caller tells
    called = f", {header[shown]} its name" if shown > 0 else ""
    how = f"taken as a table: a row an entity, {header[0]} its id{called}, other columns relations"
    how += f", its sort {sort!r}" if sort else ""
    return f"{how}; {again:,} rows are of an id that is above them, too" if again else how
