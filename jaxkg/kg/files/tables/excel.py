"""Excel workbooks: sheets of entities and sheets of triples (extra `excel`)."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import struct
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import Row, Rows, batched, header_columns
from jaxkg.kg.files.protocol import Format, Intake, named
from jaxkg.kg.files.tables.cells import cell_text
from jaxkg.kg.files.tables.keys import row_id
from jaxkg.kg.files.tables.layout import header_place, joined_headers
from jaxkg.kg.files.tables.shape import (
    MAYBE_TABLE,
    SAMPLE,
    is_header,
    kept_columns,
    rows_are_entities,
)
from jaxkg.kg.files.tables.table import take_table
from jaxkg.kg.files.textfile import BadLines, extra, open_bytes

EXCEL_ENDS = (".xlsx", ".xlsm", ".xls")

_ROWS, _LAST_ROW = 1 << 11, 1 << 20
_CHUNK, _REST = 1 << 20, 1 << 20  # bytes of a sheet at a time, and what is kept of its end
_OLE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_NO_VALUE = re.compile(rb"(?:</f>|<f[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
# What openpyxl ends in where a part of the file is not as it has to be.
_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, SyntaxError, LookupError, ValueError),
    *(TypeError, AttributeError, EOFError, OSError, RuntimeError, ArithmeticError),
)
_TABLE = (
    "its first column is called id, key, name or the like); the format 'table' takes every sheet "
    "as one"
)
_T = TypeVar("_T")


def read_excel(path: Path, intake: Intake) -> None:
    """Read every sheet of a workbook, and tell how; see `jaxkg.kg.read_graph`.

    A sheet whose first row is a table's header, or whose rows look like a table's, is read as
    `read_table` reads a file, any other as triples in columns, where its header names them or it
    has three columns. Rows of one cell above
    that are a title. Formulas count by the values that were kept with them, dates as ISO 8601
    writes them; blank cells and errors such as `#N/A` say nothing. A row is called by the file,
    the sheet, and its number there.

    As the format "table" every sheet is one, whatever its first column is called.

    Raises:
        JaxkgError: no workbook, an encrypted or damaged one, or no sheet that can be read.
    """
    options, bad, tables = intake.options, intake.bad, intake.tables
    every, guess, plain = intake.format == "table", options.guess, options.is_plain
    columns = options.columns
    intake.has_cells = True
    with open_bytes(path, options.on_progress) as file:
        data = file.read()
    book, codes = _opened(path, data)
    errors = Counter[str]()
    read: dict[str, list[str]] = {}
    refused: list[str] = []
    known, shared, begun = set[str](), set[str](), []
    sheets = book.worksheets
    merged, lost = _guarded(path, lambda: _looked_through(path, data, sheets))
    for sheet, some in zip(sheets, merged):
        begun.append((sheet, *_first(_rows(path, sheet, some, codes, errors))))
    firsts = (first[1] if first else () for _, _, first, _ in begun)
    headers = [[" ".join(cell.split()) for cell in first] for first in firsts]
    for number, (sheet, titles, first, rows) in enumerate(begun):
        place = path.with_name(f"{path.name}:{sheet.title.replace('/', ' ')}")
        if first is None:
            refused += [f"{sheet.title!r} has but one column"] if titles else []
            continue
        header = headers[number]
        some = list(itertools.islice(rows, SAMPLE)) if plain and guess else []
        kept = [at for at, cell in enumerate(header) if cell or columns is not None]
        if some and 0 not in kept and 0 in kept_columns([header, *(cells for _, cells in some)]):
            kept = [0, *kept]  # names below a blank heading
        words = [header[at] for at in kept]
        looks = _looks_like_table(words, some, kept)
        if guess and len(words) == 2 and not header_columns(words):
            # What another sheet has a column of: "supplier, country", beside products with one.
            others = itertools.chain(*headers[:number], *headers[number + 1 :])
            looks = looks or words[0].casefold() in map(str.casefold, others)
        rows = itertools.chain(some, rows)
        ids, otherwise = set[str](), ""
        numbered_rows = _cut(place, (first[0], words), rows, kept, bad, ids)
        if every or (plain and (is_header(words) or looks)):
            how = take_table(place, sheet.title, batched(numbered_rows), intake)
            if not every and not is_header(words):
                otherwise = "; if each row is a triple, the format 'excel' takes three columns so"
            rows_called = {row_id(tables[-1].one, id) for id in ids}
            shared |= known & rows_called
            known |= rows_called
        elif not plain or header_columns(words) or len(words) == 3:
            reading = Rows(place, "csv", ",", intake).take(batched(numbered_rows))
            how = f"taken as triples{reading and f' ({reading})'}"
            otherwise = MAYBE_TABLE if looks is None else ""
        else:
            refused.append(
                f"{sheet.title!r} starts with {', '.join(words)!r}, which is no header of triples, "
                f"nor of a table ({_TABLE}"
            )
            continue
        above = f", below {' '.join(titles)[:80]!r}" if titles else ""
        read.setdefault(how + above + otherwise, []).append(repr(sheet.title))
    if refused and not read:
        raise JaxkgError(f"{path}: {refused[0]}")
    said = [f"{', '.join(titles)} {how}" for how, titles in read.items()]
    said += [f"left out: {why}" for why in refused]
    if shared:
        some = ", ".join(sorted(shared)[:3])
        said.append(f"{len(shared)} ids are on several sheets ({some}): each taken as one thing")
    if errors:
        some = ", ".join(sorted(errors))
        said.append(f"{errors.total()} cells of errors ({some}) left out")
    if lost:
        said.append(
            f"{lost} formulas without a value left out: a spreadsheet program that opens and saves "
            "the file writes them"
        )
    intake.tell("; ".join(said))


def _opened(path: Path, data: bytes) -> tuple[Any, Collection[str]]:
    """A workbook, and what cells hold that are errors."""
    if data.startswith(_OLE):
        # An old workbook and an encrypted new one are containers of the same kind.
        if _ENCRYPTED in data:
            raise JaxkgError(f"{path}: an encrypted workbook; save it without a password")
        raise JaxkgError(f"{path}: a workbook of the old .xls format; save it as .xlsx")
    with extra(path, "reading Excel needs openpyxl", "excel"):
        from openpyxl import load_workbook
        from openpyxl.cell.cell import ERROR_CODES
    book = _guarded(path, lambda: load_workbook(io.BytesIO(data), read_only=True, data_only=True))
    return book, ERROR_CODES


def _guarded(path: Path, step: Callable[[], _T]) -> _T:
    try:
        # It warns, and prints, of styles, validations and the like, which are nothing to a graph.
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return step()
    except JaxkgError:
        raise
    except _FAULTS as error:
        raise JaxkgError(f"{path}: not an Excel workbook, or a damaged one ({error})") from error


def _rows(
    path: Path, sheet: Any, merged: Sequence[_Merged], codes: Collection[str], errors: Counter[str]
) -> Iterator[Row]:
    """The rows of a sheet with their numbers, as text; blank ones are passed over, and cells that
    are merged down a column say what the first of them does. `errors` counts cells of `codes`."""
    begun: dict[int, list[tuple[int, int]]] = {}
    for first, last, column in merged:
        begun.setdefault(first, []).append((column, last))
    held: dict[int, tuple[int, str]] = {}
    sheet.reset_dimensions()  # some programs note wrong ones
    rows = enumerate(sheet.iter_rows(max_row=_LAST_ROW, values_only=True), start=1)
    while batch := _guarded(path, lambda: list(itertools.islice(rows, _ROWS))):
        for number, row in batch:
            texts = list(map(cell_text, row))
            errors.update(filter(codes.__contains__, texts))
            texts = ["" if text in codes else text for text in texts]
            filled = any(texts)
            for column, last in begun.get(number, ()):
                held[column] = last, texts[column] if column < len(texts) else ""
            held = {column: end for column, end in held.items() if number <= end[0]}
            if filled:
                for column, (_, text) in held.items():
                    texts += [""] * (column + 1 - len(texts))
                    texts[column] = text
                yield number, texts


_Merged = tuple[int, int, int]
"""First and last row, counted from 1, and the column, counted from 0, of cells that are merged."""
_MERGED = re.compile(rb'<mergeCell ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_MOST_MERGED = 10_000


def _looked_through(
    path: Path, data: bytes, sheets: Sequence[Any]
) -> tuple[list[list[_Merged]], int]:
    """Of each sheet the cells that are merged down one column; and how many formulas come without a
    value, which no spreadsheet program has reckoned.

    Raises:
        JaxkgError: there are more merged cells than are read.
    """
    from openpyxl.utils import column_index_from_string

    merged, lost = list[list[_Merged]](), 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for sheet in sheets:
            name, rest = str(getattr(sheet, "_worksheet_path", "")).lstrip("/"), b""
            with archive.open(name) as part:
                while chunk := part.read(_CHUNK):
                    cells, end, rest = (rest + chunk).rpartition(b"</c>")
                    lost += len(_NO_VALUE.findall(cells + end))
                    rest = rest[-_REST:]
            found = [match.groups() for match in _MERGED.finditer(rest)]
            if len(found) > _MOST_MERGED:
                raise JaxkgError(f"{path}: more than {_MOST_MERGED:,} merged cells; save it as CSV")
            merged.append([
                (int(first), int(last), column_index_from_string(column.decode()) - 1)
                for column, first, other, last in found
                if column == other
            ])  # fmt: skip
    return merged, lost


def _first(rows: Iterator[Row]) -> tuple[list[str], Row | None, Iterator[Row]]:
    """What stands above the header, the header, and the rows below it."""
    block = list(itertools.islice(rows, SAMPLE))
    place = header_place([cells for _, cells in block])
    titles = [cell for _, cells in block[:place] for cell in cells if cell]
    if place == len(block):
        titles += [cell for _, cells in rows for cell in cells if cell]
        return titles, None, rows
    first, *below = block[place:]
    if joined := joined_headers([cells for _, cells in block[place:]]):
        return titles, (below[0][0], joined), itertools.chain(below[1:], rows)
    return titles, first, itertools.chain(below, rows)


def _looks_like_table(words: list[str], rows: list[Row], kept: list[int]) -> bool | None:
    """See `rows_are_entities`; no table has cells outside its columns."""
    known = set(kept)
    if any(cell for _, cells in rows for at, cell in enumerate(cells) if at not in known):
        return False
    below = [[cells[at] if at < len(cells) else "" for at in kept] for _, cells in rows]
    return rows_are_entities([words, *below])


def _cut(
    path: Path, first: Row, rows: Iterator[Row], kept: list[int], bad: BadLines, ids: set[str]
) -> Iterator[Row]:
    """Rows cut to the columns that have a heading; `ids` takes what is in the first."""
    known = set(kept)
    yield first
    for number, cells in rows:
        if astray := [cell for at, cell in enumerate(cells) if cell and at not in known]:
            why = f"a cell outside the columns of row {first[0]}"
            bad.note(path, number, ",".join(astray), why, "cells under " + ", ".join(first[1]))
            continue
        cells += [""] * (kept[-1] + 1 - len(cells))
        row = [cells[at] for at in kept]
        if row[0]:
            ids.add(row[0])
        yield number, row


FORMATS = (
    Format("excel", "the sheets of a workbook, each a table or triples", named(*EXCEL_ENDS),
           read_excel, "excel", takes_columns=True),
)  # fmt: skip
