"""Tables whose columns are known by a standard: GTFS feeds, and `.dat` files without a header.

A row is called by what it is and its key ("stop S1"), so that keys of two tables are never one; a
column that refers to another table's rows leads to them. Sources: https://gtfs.org/schedule/reference/,
https://openflights.org/data.php, the README of MovieLens 1M.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff
from jaxkg.kg.files.tables.shape import is_header


class _Table(NamedTuple):
    """What is known of a table.

    Attributes:
        sort: what a row is.
        key: the column of its key; "" where rows have none.
        names: columns that name a row, the first that is not blank first.
        refers: what a column's keys call, by the column.
        columns: where the file has no header.
        dropped: columns that say again what others say.
    """

    sort: str
    key: str = ""
    names: tuple[str, ...] = ()
    refers: Mapping[str, str] = {}
    columns: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


_GTFS = {
    "agency": _Table("agency", "agency_id", ("agency_name",)),
    "stops": _Table(
        "stop", "stop_id", ("stop_name",), {"parent_station": "stop", "zone_id": "zone"}),
    "routes": _Table("route", "route_id", ("route_short_name", "route_long_name")),
    "trips": _Table("trip", "trip_id", ("trip_short_name", "trip_headsign")),
    "stop_times": _Table("stop time"),
    "calendar": _Table("service", "service_id"),
    "calendar_dates": _Table("service exception"),
    "fare_attributes": _Table("fare", "fare_id"),
    "fare_rules": _Table("fare rule", refers={"origin_id": "zone", "destination_id": "zone"}),
    "frequencies": _Table("frequency"),
    "transfers": _Table("transfer", refers={"from_stop_id": "stop", "to_stop_id": "stop"}),
    "levels": _Table("level", "level_id", ("level_name",)),
}  # fmt: skip
_GTFS_KEYS = {one.key: one.sort for one in _GTFS.values() if one.key}
_KINDS = {
    "route_type": {
        "0": "tram", "1": "underground", "2": "rail", "3": "bus", "4": "ferry", "5": "cable tram",
        "6": "aerial lift", "7": "funicular", "11": "trolleybus", "12": "monorail",
    },
    "location_type": {
        "0": "stop or platform", "1": "station", "2": "entrance", "3": "node", "4": "boarding area",
    },
}  # fmt: skip
_HEADERLESS = {
    ("airports", 14): _Table(
        "airport", "id", ("name",), columns=(
            "id", "name", "city", "country", "IATA code", "ICAO code", "latitude", "longitude",
            "altitude", "UTC offset", "daylight saving", "time zone", "type", "source")),
    ("airlines", 8): _Table(
        "airline", "id", ("name",), columns=(
            "id", "name", "alias", "IATA code", "ICAO code", "call sign", "country", "active")),
    ("routes", 9): _Table(
        "route", "", (), {"airline": "airline", "from": "airport", "to": "airport"}, columns=(
            "airline code", "airline", "from code", "from", "to code", "to", "codeshare", "stops",
            "equipment"), dropped=("airline code", "from code", "to code")),
    ("planes", 3): _Table("plane", "", (), columns=("name", "IATA code", "ICAO code")),
    ("countries", 3): _Table("country", "", (), columns=("name", "ISO code", "DAFIF code")),
    ("movies", 3): _Table("movie", "id", ("title",), columns=("id", "title", "genres")),
    ("users", 5): _Table(
        "user", "id", (), columns=("id", "gender", "age", "occupation", "zip code")),
    ("ratings", 4): _Table(
        "rating", "", (), {"user": "user", "movie": "movie"},
        columns=("user", "movie", "rating", "timestamp")),
}  # fmt: skip
"""By the file's name and its number of columns: OpenFlights', and MovieLens' with `::` between."""
_NOTHING = {"", "\\N", "NULL"}
_LARGEST = 1 << 31
"""Bytes that a file within a zip may unpack to."""


def _sniff_gtfs(head: Head) -> Sniff:
    names = set(head.entries or ())
    if head.data.startswith(b"PK\x03\x04"):
        names = {
            one for one in ("stops.txt", "routes.txt", "agency.txt") if one.encode() in head.data
        }
        return Sniff(0.95, "a zip with a file of GTFS") if names else NO
    if {"stops.txt", "routes.txt"} <= names or {"stops.txt", "trips.txt"} <= names:
        return Sniff(1.0, "it has stops.txt and routes.txt")
    return NO


def read_gtfs(path: Path, intake: Intake) -> None:
    """Take the tables of a feed, a folder or a zip of `.txt` files.

    Raises:
        JaxkgError: no feed; a damaged zip, or one whose files unpack to more than 2 GiB.
    """
    try:
        tables = [_table(path, name, lines, intake) for name, lines in _members(path, intake)]
    except UnicodeDecodeError as error:
        raise JaxkgError(f"{path}: holds a file that is not UTF-8 text; unpack it") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise JaxkgError(f"{path}: no zip that can be read ({error})") from error
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
    _take(path / name, table._replace(refers=refers), header, enumerate(rows, 2), intake)
    return True


def _sniff_dat(head: Head) -> Sniff:
    if head.end != ".dat" or not head.lines or "\0" in head.text:
        return NO
    separator, width = _shape(Path(head.name), head.text.splitlines())
    return Sniff(0.7, f"lines of {width} columns parted by {separator!r}") if width > 1 else NO


def _shape(path: Path, lines: Sequence[str]) -> tuple[str, int]:
    """What parts the columns, and how many of them all whole lines have; 1 where they differ."""
    some = [line for line in lines if line.strip()][:50]
    for separator in ("::", "\t", "|", ";", ","):
        try:
            rows = _split(path, some[: len(some) - 1 or 1], separator)  # the last may be cut
            widths = {len(row) for row in rows}
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
    if len(separator) > 1:
        yield from (line.rstrip("\n").split(separator) for line in lines)
        return
    rows = csv.reader(lines, delimiter=separator)
    try:
        yield from rows
    except csv.Error as error:
        raise JaxkgError(f"{path}:{rows.line_num}: not CSV ({error})") from error


def read_dat(path: Path, intake: Intake) -> None:
    """Take a table without a header, whose columns are known by its name or its README.

    A README beside it names them in a line "FILE: column, column"; else they are "column 2" and so
    on, which is told.

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
    table = _HEADERLESS.get((title.casefold(), width)) or _described(path, title, width)
    if table is None and is_header(next(_split(path, first, separator))):
        raise JaxkgError(f"{path}:1: names columns, it seems; name the format, 'table' or 'csv'")
    if table is None:
        columns = ("key", *(f"column {at}" for at in range(2, width + 1)))
        table = _Table(title.replace("_", " "), "key", (), columns=columns)
        intake.tell(
            f"{path.name}: it has no header: its columns are called by their position; a line "
            f"'{title}: name, name, ...' in a README beside it names them"
        )
    else:
        intake.tell(f"{path.name}: it has no header: columns taken as {', '.join(table.columns)}")
    lines = (f"{line}\n" for _, line in numbered_lines(path, intake))
    _take(path, table, table.columns, enumerate(_split(path, lines, separator), 1), intake)


def _described(path: Path, title: str, width: int) -> _Table | None:
    """What a README beside the file says of its columns."""
    for readme in sorted(path.parent.glob("README*")) if path.parent.is_dir() else ():
        if not readme.is_file() or readme.stat().st_size > 1 << 20:
            continue
        text = readme.read_text("utf-8", errors="replace")
        for told in re.findall(rf"\b{re.escape(title)}(?:\.\w+)?\s*:([^;:\n()]+)", text, re.I):
            columns = tuple(re.sub(r"[`*.]", "", name).strip() for name in told.split(","))
            if len(columns) == width and all(columns) and len(set(columns)) == width:
                keyed = re.search(r"\bid$|^key$|^code$", columns[0], re.I)
                names = tuple(name for name in columns if name.casefold() in ("name", "title"))
                sort = re.sub(r"s$", "", title.replace("_", " "))
                return _Table(sort, columns[0] if keyed else "", names, columns=columns)
    return None


def _take(
    path: Path,
    table: _Table,
    columns: Sequence[str],
    rows: Iterable[tuple[int, list[str]]],
    intake: Intake,
) -> None:
    """Take the rows of a table."""
    for number, cells in rows:
        cells = [cell.strip() for cell in cells]
        if len(cells) > len(columns):
            why = f"{len(cells)} cells for {len(columns)} columns"
            intake.bad.note(path, number, ",".join(cells), why, ",".join(columns))
        elif any(cells):
            _row(path, number, table, dict(zip(columns, cells)), intake)


def _row(path: Path, number: int, table: _Table, row: dict[str, str], intake: Intake) -> None:
    key = row.get(table.key, "") if table.key else ""
    if table.key and not key and table.key in row:
        key = str(number)
    id = f"{table.sort} {key}" if key else f"_:{table.sort.replace(' ', '_')}_{path.stem}_{number}"
    source = source_of(path, number, intake)
    intake.sort(id, table.sort)
    named = [row[name] for name in table.names if row.get(name, "") not in _NOTHING]
    if named:
        intake.name(id, named[0], named[1:])
    for column, cell in row.items():
        if cell in _NOTHING or column == table.key or column in table.dropped or not column:
            continue
        if column in table.names and cell == named[0]:
            continue
        word = column.removesuffix("_id").removeprefix(f"{table.sort}_").replace("_", " ")
        kind = table.refers.get(column)
        cells = cell.split("|") if "|" in cell and column == "genres" else [cell]
        for one in cells:
            end = f"{kind} {one}" if kind else _KINDS.get(column, {}).get(one, one)
            intake.fact(id, word, end, source)


FORMATS = (
    Format("gtfs", "a GTFS feed, a folder or a zip", _sniff_gtfs, read_gtfs, takes_folders=True),
    Format("dat", "a table without a header, named by its README", _sniff_dat, read_dat),
)
