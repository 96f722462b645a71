"""Tables in web pages and in Markdown; what else such a file says is left out, and counted."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import Row, batched
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff
from jaxkg.kg.files.tables.table import take_table
from jaxkg.kg.files.textfile import plain_name, text_chunks

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*")
"""The line below the header of a table in Markdown."""
_BAR = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*\*|__|`")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "caption"))
_SILENT = frozenset(("script", "style", "sup"))
_LIKELY = 0.55
"""Score of a page by itself; beside other files it may be about them, and is not read."""
_SPAN = 30
"""Cells that one may stand for; more are no table for people."""


class _Table(NamedTuple):
    """A table, by the heading above it, with its rows and the lines that they begin in."""

    title: str
    rows: list[Row]


class _Page(HTMLParser):
    """Takes the tables of a web page, those within others by themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[_Table] = []
        self._open: list[_Table] = []
        self._below: list[dict[int, tuple[str, int]]] = []  # cells that go on in the next rows
        self._text: list[str] | None = None
        self._span = (1, 1)
        self._title = ""
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th"):
            self._close_cell()
        if tag in _SILENT:
            self._silent += 1
        elif tag == "table":
            self._open.append(_Table(self._title, []))
            self._below.append({})
            self._text = None
        elif tag == "tr" and self._open:
            self._close_row()
            self._open[-1].rows.append((self.getpos()[0], []))
        elif tag in ("td", "th") and self._open and self._open[-1].rows:
            told = dict(attrs)
            spans = (told.get(name) or "1" for name in ("colspan", "rowspan"))
            wide, high = (min(int(s), _SPAN) if s.isdecimal() else 1 for s in spans)
            self._span, self._text = (max(wide, 1), max(high, 1)), []
        elif tag in _HEADINGS:
            self._text = []
        elif tag == "br" and self._text is not None:
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(self._silent - 1, 0)
        elif tag == "table" and self._open:
            self._close_row()
            self._below.pop()
            self.tables.append(self._open.pop())
        elif tag in _HEADINGS and self._text is not None:
            self._title, self._text = self._said(), None
            if tag == "caption" and self._open:
                self._open[-1] = self._open[-1]._replace(title=self._title)
        elif tag in ("td", "th"):
            self._close_cell()
        elif tag == "tr":
            self._close_row()

    def handle_data(self, data: str) -> None:
        if self._text is not None and not self._silent:
            self._text.append(data)

    def _said(self) -> str:
        return " ".join("".join(self._text or ()).split())

    def _close_cell(self) -> None:
        """Take the cell that is open; the end of one need not be written."""
        if self._text is None or not (self._open and self._open[-1].rows):
            return
        text, self._text = self._said(), None
        cells, (wide, high) = self._open[-1].rows[-1][1], self._span
        self._filled(cells)
        for _ in range(wide):
            if high > 1:
                self._below[-1][len(cells)] = text, high - 1
            cells.append(text)

    def _close_row(self) -> None:
        self._close_cell()
        if self._open and self._open[-1].rows:
            self._filled(self._open[-1].rows[-1][1])

    def _filled(self, cells: list[str]) -> None:
        """Fill in the cells of rows above that go on here."""
        below = self._below[-1]
        while len(cells) in below:
            text, rows = below.pop(len(cells))
            if rows > 1:
                below[len(cells)] = text, rows - 1
            cells.append(text)


def _in_markdown(text: str) -> Iterator[_Table]:
    title, table = "", _Table("", [])
    lines = [*text.split("\n"), ""]  # which ends the last table
    for number, line in enumerate(lines, start=1):
        if table.rows and "|" in line:
            if not _RULE.fullmatch(line):
                table.rows.append((number, _cells(line)))
            continue
        if table.rows:
            yield table
            table = _Table("", [])
        if line.startswith("#"):
            title = line.lstrip("#").strip()
        elif "|" in line and number < len(lines) and _RULE.fullmatch(lines[number]):
            table = _Table(title, [(number, _cells(line))])


def _cells(line: str) -> list[str]:
    """The cells of a line, without marks.

    >>> _cells("| **Ann** | [Oslo](https://oslo.example) |")
    ['Ann', 'Oslo']
    """
    parts = _BAR.split(line.strip().removeprefix("|").removesuffix("|"))
    plain = (_MARKS.sub("", _LINK.sub(r"\1", part)) for part in parts)
    return [part.replace("\\|", "|").strip() for part in plain]


def read_page(path: Path, intake: Intake) -> None:
    """Take the tables of a page that have a header and a row below it.

    Raises:
        JaxkgError: it has none.
    """
    text = "".join(
        text_chunks(path, on_progress=intake.options.on_progress, encoding=intake.options.encoding)
    )
    page = _Page()
    if intake.format == "html":
        page.feed(text)
        page.close()
    else:
        page.tables += _in_markdown(text)
    full = []
    for table in page.tables:
        rows = [(number, cells) for number, cells in table.rows if any(cells)]
        header = rows[0][1] if rows else []
        if len(rows) > 1 and len(header) > 1 and all(header[1:]) and len(set(header)) > 1:
            full.append(_Table(table.title, rows))
        else:
            intake.leave_out("tables without a header or rows")
    if not full:
        raise JaxkgError(f"{path}: no table in it that has a header and rows")
    intake.leave_out("texts around tables")
    for number, table in enumerate(full, start=1):
        title = table.title or plain_name(path) + (f" {number}" if len(full) > 1 else "")
        place = path.with_name(f"{path.name}:{number}") if len(full) > 1 else path
        intake.tell(f"{title!r} {take_table(place, title, batched(table.rows), intake)}")


def _is_web_page(head: Head) -> Sniff:
    start = head.text.lstrip()[:200].lower()
    if not start.startswith(("<!doctype html", "<html", "<table")):
        return NO
    found = "<table" in head.text.lower() and "application/ld+json" not in head.text.lower()
    return Sniff(_LIKELY, "a web page with a table") if found else NO


def _has_table(head: Head) -> Sniff:
    lines = head.text.split("\n")
    pairs = itertools.pairwise(lines)
    ruled = any("|" in line and _RULE.fullmatch(below) for line, below in pairs)
    known = head.end in (".md", ".markdown", ".txt", "")
    return Sniff(_LIKELY, "a table in Markdown") if ruled and known and head.entries is None else NO


FORMATS = (
    Format("html", "tables of a web page, each with a header", _is_web_page, read_page),
    Format("markdown", "tables in Markdown, each with a header", _has_table, read_page),
)
