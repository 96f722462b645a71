"""SQLite databases: every table, joined by the foreign keys that it declares."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import Row, Rows, batched, header_columns
from jaxkg.kg.files.protocol import Format, Head, Intake, Sniff, named
from jaxkg.kg.files.tables.cells import cell_text
from jaxkg.kg.files.tables.table import Declared, take_table
from jaxkg.kg.files.textfile import PACKED


def read_sqlite(path: Path, intake: Intake) -> None:
    """Read every table of a database, as `read_table` reads a file; how is told in words.

    A primary key of one column is what rows are called, without one a row has no name; nulls and
    binary values say nothing. The file is opened to be read alone.

    Raises:
        JaxkgError: no database, a damaged or locked one.
    """
    intake.has_cells = True
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as base:
            found = base.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
            ).fetchall()
            for (title,) in found:
                columns, key = _columns(base, title)
                if len(columns) < 2:
                    intake.tell(f"left out: {title!r} has but one column")
                    continue
                place = path.with_name(f"{path.name}:{title}")
                rows = _rows(base, title, columns)
                if header_columns(columns) and not key:
                    Rows(place, "csv", ",", intake).take(rows)
                    intake.tell(f"{title!r} taken as triples")
                    continue
                declared = Declared(key, _references(base, title))
                how = take_table(place, title, rows, intake, declared=declared)
                intake.tell(f"{title!r} {how}")
    except sqlite3.Error as error:
        packed = "; unpack it first" if path.name.endswith(PACKED) else ""
        raise JaxkgError(
            f"{path}: not an SQLite database, or a damaged one ({error}){packed}"
        ) from error


def _columns(base: sqlite3.Connection, title: str) -> tuple[list[str], bool]:
    """Columns of a table, its key first, and whether it has a key of one column."""
    told = base.execute("SELECT name, pk FROM pragma_table_info(?)", (title,)).fetchall()
    keys = [name for name, place in told if place]
    first = keys if len(keys) == 1 else []
    return [*first, *(name for name, _ in told if name not in first)], bool(first)


def _references(base: sqlite3.Connection, title: str) -> dict[str, str]:
    """Tables that columns of a table refer to by foreign keys of one column."""
    keys = base.execute(
        'SELECT id, "from", "table" FROM pragma_foreign_key_list(?)', (title,)
    ).fetchall()
    ids = [id for id, _, _ in keys]
    return {column: table for id, column, table in keys if ids.count(id) == 1}


def _rows(base: sqlite3.Connection, title: str, columns: list[str]) -> Iterator[list[Row]]:
    """The header and the rows of a table in batches, with their numbers."""

    def written(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    yield [(0, columns)]
    rows = base.execute(f"SELECT {', '.join(map(written, columns))} FROM {written(title)}")
    yield from batched((number, list(map(cell_text, row))) for number, row in enumerate(rows, 1))


def _sniff(head: Head) -> Sniff:
    if head.data.startswith(b"SQLite format 3\x00"):
        return Sniff(1.0, "it starts as an SQLite database does")
    return named(".sqlite", ".sqlite3", ".db")(head)


FORMATS = (
    Format("sqlite", "the tables of a database, joined by foreign keys", _sniff, read_sqlite),
)
