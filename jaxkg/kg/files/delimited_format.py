"""TSV, CSV and `a|b|c` as formats: rows are triples or entities, which their beginning tells."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import (
    SEPARATORS,
    csv_rows,
    header_columns,
    is_edge_list,
    is_note,
    read_delimited,
    separator_of,
)
from jaxkg.kg.files.json.relations import links
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Options, Sniff, named, surest
from jaxkg.kg.files.tables.ends import end_columns, take_ends
from jaxkg.kg.files.tables.excel import EXCEL_ENDS, read_excel
from jaxkg.kg.files.tables.layout import joined_headers
from jaxkg.kg.files.tables.shape import (
    MAYBE_TABLE,
    first_rows,
    heads_rows,
    is_header,
    kept_columns,
    rows_are_entities,
)
from jaxkg.kg.files.tables.table import read_table
from jaxkg.kg.files.textfile import suffix_of
from jaxkg.kg.queries.columns import is_value

DELIMITED = ("tsv", "csv", "metaqa")
_NOTES = 2
"""Lines below a table that may be notes."""
_ENOUGH = 20
"""Rows from which on no triples are that have no head and no relation twice."""


def first_words(path: Path, format: str, options: Options) -> set[str]:
    """What the first row of a CSV or TSV file that may be a table holds, without case."""
    return {cell.casefold() for row in _start(path, format, options)[:1] for cell in row}


def _start(path: Path, format: str, options: Options) -> list[list[str]]:
    """The first rows of a CSV or TSV file that may be a table; none of others."""
    if format not in DELIMITED or not options.is_plain:
        return []
    return first_rows(path, format, options.encoding)


def read(path: Path, intake: Intake) -> None:
    """Read triples, or rows that are entities; see `jaxkg.kg.read_graph`."""
    options, format, others = intake.options, intake.format, intake.beside
    if format == "table" and suffix_of(path) in EXCEL_ENDS:
        read_excel(path, intake)
        return
    rows = _start(path, format, options)
    if rows and (columns := end_columns(rows[0], rows[1:])):
        separator = separator_of(path, format, options.encoding)
        take_ends(path, csv_rows(path, separator, intake), columns, intake)
        said = rows[0][columns.relation] if columns.relation >= 0 else "a row"
        intake.tell(f"{said} relates two ends that the other columns describe")
        return
    joined = joined_headers(rows)
    rows = [joined, *rows[2:]] if joined else rows
    kept = kept_columns(rows) if rows else []
    some_left_out = bool(rows) and len(kept) < len(rows[0])
    rows = [[row[at] for at in kept if at < len(row)] for row in rows]
    looks = bool(joined) or (options.guess and rows_are_entities(rows))
    if format == "metaqa" and len(rows[0] if rows else ()) == 3:
        looks = False  # its triples are told by their separator alone
    # Relationships may be numbered, and described as things are.
    edges = bool(rows) and is_edge_list(rows[0])
    linking = edges and links(path.name.split(".")[0])
    headed = bool(rows) and not linking and is_header(rows[0])
    # Two columns beside other files are no triples, and rather a table than names.
    beside = others is not None and (all(len(row) == 2 for row in rows) or heads_rows(rows, others))
    beside &= not edges
    if format == "table" or headed or looks or (rows and beside):
        reading = read_table(path, intake, kept=kept if some_left_out else None)
        if looks and not headed and others is None:
            reading += f"; if each row is a triple, name the format {format!r}"
        intake.tell(reading)
        return
    # Ids, names and texts: no head or relation comes again.
    unnamed = len(rows) > _ENOUGH and all(len(row) == 3 for row in rows)
    unnamed = unnamed and header_columns(rows[0]) is None
    alone = unnamed and all(len(set(column)) == len(rows) for column in list(zip(*rows))[:2])
    if options.guess and format != "metaqa" and alone:
        raise JaxkgError(
            f"{path}: three columns without names, the first two others in each row, so that "
            "none is a relation: write their names in the first line"
        )
    reading = read_delimited(path, intake)
    intake.tell(f"taken as triples{MAYBE_TABLE}" if looks is None else reading)


def _lines_with(separator: str, but: str = "") -> Callable[[Head], Sniff]:
    """A sniffer of files whose first line has two separators or more, and not two of another."""

    def sniff(head: Head) -> Sniff:
        lines = [line for line in head.text.split("\n") if line.strip()]
        noted = itertools.takewhile(lambda line: line[0] == "#" and separator not in line, lines)
        start = len(list(noted))
        line, *below = lines[start : start + 4] or [""]
        count = 0 if start and line[:2] == "##" else line.count(separator)
        if "\0" in line or count < 2 or (but and line.count(but) >= 2):
            return NO
        even = len(below) > 2 and all(item.count(separator) == count for item in below[:-1])
        reason = f"its first line has {count} times {separator!r}"
        tabular = even and count > 2 and _names_columns(line.split(separator))
        return Sniff(0.6 if tabular else 0.5, reason)

    return sniff


def _names_columns(cells: list[str]) -> bool:
    """Whether cells are names of columns: each another one, and no value."""
    named = all(map(str.strip, cells)) and not any(map(is_value, cells))
    return named and len(set(cells)) == len(cells)


def _evenly_parted(head: Head) -> Sniff:
    """Whether three lines or more have as many commas, or semicolons, as each other, but for notes
    below."""
    lines = [line for line in head.lines[:20] if not is_note(line)]
    lines = lines if head.is_whole else lines[:-1]
    for separator in ",;":
        rows = list(lines)
        while len(rows) > max(_NOTES, len(lines) - _NOTES) and (
            rows[-1].count(separator) != rows[0].count(separator)
        ):
            rows.pop()
        counts = {line.count(separator) for line in rows}
        if len(rows) > 2 and len(counts) == 1 and min(counts) > 1 and ". " not in rows[0]:
            cells = rows[0].split(separator)
            tabular = _names_columns(cells) and (separator == ";" or len(cells) > 3)
            reason = f"each line has {min(counts)} times {separator!r}"
            return Sniff(0.6 if tabular else 0.4, reason)
    return NO


_TAB = SEPARATORS["tsv"]
FORMATS = (
    Format("metaqa", "`head|relation|tail` lines", _lines_with("|", _TAB), read,
           takes_columns=True),
    Format("tsv", "tab-separated lines; quotes are plain characters",
           surest(named(".tsv"), _lines_with(_TAB)), read, takes_columns=True),
    Format("csv", "comma-separated lines (or by semicolons), with quotes",
           surest(named(".csv"), _evenly_parted), read, takes_columns=True),
    Format("table", "CSV or TSV with a row an entity; of a workbook every sheet is one",
           lambda head: NO, read),
)  # fmt: skip
