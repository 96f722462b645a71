"""Tables whose columns are known by a standard: GTFS feeds, and `.dat` files without a header.

A row is called by what it is and its key ("stop S1"), so that keys of two tables are never one; a
column that refers to another table's rows leads to them. Sources: https://gtfs.org/schedule/reference/,
https://openflights.org/data.php, the README of MovieLens 1M.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import batched
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, begins, holds, surest
from jaxkg.kg.files.tables.shape import is_header
from jaxkg.kg.files.tables.table import take_table
from jaxkg.kg.files.textfile import toml_beside


class _Table(NamedTuple):
    """What is known of a table.

    Attributes:
        sort: what a row is.
        key: the column of its key; "" where rows have none.
        names: columns that name a row, the first that is not blank first.
        refers: what a column's keys call, by the column.
    """

    sort: str
    key: str = ""
    names: Sequence[str] = ()
    refers: Mapping[str, str] = {}


_KNOWN = toml_beside(__file__)
_GTFS = {name: _Table(**table) for name, table in _KNOWN["gtfs"].items()}
_GTFS_KEYS = {one.key: one.sort for one in _GTFS.values() if one.key}
_NOTHING = {"", "\\N", "NULL"}
_COLUMN = re.compile(r"\s*(\w[\w -]*?)\s*(?:\(.*\))?\s*(?:(?:--|:)\s.*)?$")
_LARGEST = 1 << 31
"""Bytes that a file within a zip may unpack to."""


_DAMAGED = (
    zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError
)  # fmt: skip
"""What a zip that is cut or changed gives."""


def read_gtfs(path: Path, intake: Intake) -> None:
    """Take the tables of a feed, a folder or a zip of `.txt` files.

    Raises:
        JaxkgError: no feed; a damaged zip, or one whose files unpack to more than 2 GiB.
    """
    try:
        tables = [_table(path, name, lines, intake) for name, lines in _members(path, intake)]
    except UnicodeDecodeError as error:
        raise JaxkgError(f"{path}: holds a file that is not UTF-8 text; unpack it") from error
    except _DAMAGED as error:
        what = "cannot be read" if path.is_dir() else "no zip that can be read"
        raise JaxkgError(f"{path}: {what} ({error})") from error
    if not any(tables):
        raise JaxkgError(f"{path}: no GTFS feed: it has no table such as stops.txt")


def _members(path: Path, intake: Intake) -> Iterator[tuple[str, Iterable[str]]]:
    """The files of a folder or a zip, each with its lines."""
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if file.is_file() and not file.name.startswith("."):
                yield file.name, (f"{line}\n" for _, line in numbered_lines(file, intake))
        return
    with zipfile.ZipFile(path) as packed:
        for one in packed.infolist():
            name = PurePosixPath(one.filename).name
            if one.is_dir() or name.startswith("."):
                continue
            if one.file_size > _LARGEST:
                raise JaxkgError(f"{path}: {name} unpacks to {one.file_size:,} bytes; unpack it")
            with packed.open(one) as raw:
                yield name, io.TextIOWrapper(raw, "utf-8-sig", newline="")


def _table(path: Path, name: str, lines: Iterable[str], intake: Intake) -> bool:
    """Take one table of a feed; False where it is none that is taken."""
    table = _GTFS.get(name.removesuffix(".txt")) if name.endswith(".txt") else None
    if table is None:
        intake.leave_out(f"the table {name[:60]}")
        return False
    rows = _split(path / name, lines, ",")
    header = [cell.strip().removeprefix("\ufeff") for cell in next(rows, [])]
    refers = {c: _GTFS_KEYS[c] for c in header if c in _GTFS_KEYS} | dict(table.refers)
    for number, cells in enumerate(rows, 2):
        if len(cells) > len(header):
            why = f"{len(cells)} cells for {len(header)} columns"
            intake.bad.note(path / name, number, ",".join(cells), why, ",".join(header))
        elif row := {word: cell.strip() for word, cell in zip(header, cells) if cell.strip()}:
            _row(path / name, number, table._replace(refers=refers), row, intake)
    return True


def _sniff_dat(head: Head) -> Sniff:
    if head.entries is not None or not head.lines or "\0" in head.text:
        return NO
    separator, width = _shape(Path(head.name), head.text.splitlines())
    if width > 1 and head.end in (".dat", ".dmp"):
        return Sniff(0.7, f"lines of {width} columns parted by {separator!r}")
    known = width > 2 and head.folder is not None and head.end in ("", ".txt", ".tsv", ".csv")
    named = known and head.folder and _described(head.folder, head.name, width)
    return Sniff(0.8, "a README beside it names its columns") if named else NO


def _shape(path: Path, lines: Sequence[str]) -> tuple[str, int]:
    """What parts the columns, and how many of them all whole lines have; 1 where they differ."""
    some = [line for line in lines if line.strip()][:50]
    for separator in ("::", "\t|\t", "\t", "|", ";", ","):
        try:
            whole = some[: len(some) - 1 or 1]  # the last may be cut
            widths = {*map(len, _split(path, whole, separator))}
        except JaxkgError:
            continue
        if len(widths) == 1 and max(widths) > 1:
            return separator, max(widths)
    return "", 1


def _split(path: Path, lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """The cells of lines.

    Raises:
        JaxkgError: they are no CSV.
    """
    if len(separator) > 1 or separator == "\t":
        end = separator.rstrip("\t")
        yield from (line.rstrip("\n").removesuffix(end).split(separator) for line in lines)
        return
    rows = csv.reader(lines, delimiter=separator)
    try:
        yield from rows
    except csv.Error as error:
        raise JaxkgError(f"{path}:{rows.line_num}: not CSV ({error})") from error


def read_dat(path: Path, intake: Intake) -> None:
    """Read a table without a header, whose columns are known by its name or its README.

    A README beside it names them in a line "FILE: column, column", or a line each, with what they
    are; else they are "column 2" and so on, which is told.

    Raises:
        JaxkgError: its lines are no columns.
    """
    first = [line for _, (_, line) in zip(range(50), numbered_lines(path, intake))]
    separator, width = _shape(path, first)
    if width < 2:
        raise JaxkgError(
            f"{path}: no columns: its lines have different numbers of cells; name the format"
        )
    title = path.name.split(".")[0]
    columns = _KNOWN["headerless"].get(title.casefold(), "").split(", ")
    if len(columns) != width:
        columns = _described(path.parent, path.name, width)
    if not columns and is_header(next(_split(path, first, separator))):
        raise JaxkgError(f"{path}:1: names columns, it seems; name the format, 'table' or 'csv'")
    lines = (f"{line}\n" for _, line in numbered_lines(path, intake))
    rows = enumerate(_split(path, lines, separator), 1)
    how = "has no header: "
    if columns:
        how += f"columns taken as {', '.join(columns)}"
    else:
        how += "its columns are called by their position; a line "
        how += f"'{title}: name, name, ...' in a README beside it names them"
        columns = ("key", *(f"column {at}" for at in range(2, width + 1)))
    batches = batched(itertools.chain([(0, list(columns))], rows))
    intake.tell(f"{how}; {take_table(path, title, batches, intake, separator=separator)}")


def _described(folder: Path, name: str, width: int) -> tuple[str, ...]:
    """What a README in a folder says of the columns of a file; nothing where it does not."""
    title = re.escape(name.split(".")[0])
    known: dict[tuple[str, ...], bool] = {}
    for readme in sorted(folder.iterdir()) if folder.is_dir() else ():
        large = not readme.is_file() or readme.stat().st_size > 1 << 20
        if large or not readme.name.lower().startswith("readme"):
            continue
        text = readme.read_text("utf-8", errors="replace")
        for said in re.findall(rf"\b{title}(?:\.\w+)?\s*:(?:.*columns:)?([^;:\n()]+)", text, re.I):
            known[tuple(re.sub(r"[`*.]", "", name).strip() for name in said.split(","))] = True
        above = list[str]()
        for block in re.split(r"\n(?=\S.*:[ \t]*\n|[-=]{5,}|[ \t]*\n)|:\n", text):
            lines = [line for line in block.splitlines() if line.strip(" \t-=")]
            names = [_COLUMN.match(line) for line in lines]
            columns = tuple(re.sub(r"[\s_]+", " ", match[1]).strip() for match in names if match)
            if len(columns) == len(lines) == width:
                known[columns] = any(re.search(rf"\b{title}\b", line, re.I) for line in above[-3:])
            above += lines
    sized = {names: own for names, own in known.items() if len(names) == width == len(set(names))}
    fit = {names: own for names, own in sized.items() if all(names) and "." not in "".join(names)}
    return next((names for names, own in fit.items() if own or len(fit) == 1), ())


def _row(path: Path, number: int, table: _Table, row: dict[str, str], intake: Intake) -> None:
    key = row.get(table.key, str(number)) if table.key else ""
    id = f"{table.sort} {key}" if key else f"_:{table.sort.replace(' ', '_')}_{path.stem}_{number}"
    source = source_of(path, number, intake)
    intake.sort(id, table.sort)
    named = [row[name] for name in table.names if row.get(name, "") not in _NOTHING]
    if key and not named:
        named = [key]
    if named:
        intake.name(id, named[0], [*named[1:], key, id])
    for column, cell in row.items():
        again = column in table.names and cell == named[0]
        if again or cell in _NOTHING or column == table.key or not column:
            continue
        word = column.removesuffix("_id").removeprefix(f"{table.sort}_").replace("_", " ")
        kind = table.refers.get(column)
        end = f"{kind} {cell}" if kind else _KNOWN["kinds"].get(column, {}).get(cell, cell)
        if kind and kind not in _GTFS_KEYS.values():  # a zone, of which no table tells
            intake.name(end, cell, [end])
        intake.fact(id, word, end, source)


FORMATS = (
    Format("gtfs", "a GTFS feed, a folder or a zip",
           surest(holds("stops.txt", "routes.txt"), holds("stops.txt", "trips.txt"),
                  begins(r"(?s)\APK\x03\x04.*(?:stops|routes|agency)\.txt", 0.95,
                         "a zip with a file of GTFS")), read_gtfs, takes_folders=True),
    Format("dat", "a table without a header, whose columns a README names", _sniff_dat, read_dat),
)  # fmt: skip
