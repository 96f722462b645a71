"""Dumps of SQL databases, read and never executed: SQLite's, MySQL's, PostgreSQL's.

The rows of INSERT and COPY are tables as a database has them: CREATE TABLE and ALTER TABLE say
their columns, keys and references. What else a dump says is passed over; a value that is worked
out is left out.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import Row, batched
from jaxkg.kg.files.foreign.lines import Token, numbered_lines, scan, statements
from jaxkg.kg.files.protocol import Format, Intake, begins, named, surest
from jaxkg.kg.files.tables.table import Declared, take_table

_TOKEN = re.compile(
    r"(?P<blank>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>(?P<kind>[xXbBnN]?)'(?P<in>(?:[^']|'')*)')"
    r"|(?P<escaped>[eE]?'(?:[^'\\]|\\.|'')*')|(?P<quoted>\"(?:[^\"]|\"\")*\"|`[^`]*`|\[\w[^\]\n]*\])"
    r"|(?P<name>[^\W\d][\w$]*)|(?P<number>[+-]?(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+))"
    r"|(?P<mark>.)",
    re.DOTALL,
)
_ESCAPING = re.compile(_TOKEN.pattern.replace("(?:[^']|'')*", r"(?:[^'\\]|\\.|'')*"), re.DOTALL)
"""MySQL's: a backslash in a text escapes what is behind it."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONSTRAINT_WORDS = (
    "PRIMARY FOREIGN UNIQUE KEY INDEX CONSTRAINT CHECK FULLTEXT SPATIAL EXCLUDE LIKE"
)
_CONSTRAINTS = frozenset(_CONSTRAINT_WORDS.split())
_OF_TEXTS = ("TO_DATE", "TO_TIMESTAMP", "DATE", "TIMESTAMP", "CAST", "CONVERT")
"""What makes a date or the like of a text."""
_BLANKS = {"n": " ", "r": " ", "t": " ", "0": ""}


@dataclasses.dataclass
class _Table:
    """What a dump says of a table; a row has the names of its columns, if it says them."""

    columns: list[str] = dataclasses.field(default_factory=list)
    keys: list[str] = dataclasses.field(default_factory=list)
    refers: dict[str, str] = dataclasses.field(default_factory=dict)
    rows: list[tuple[int, list[str], list[str]]] = dataclasses.field(default_factory=list)


def read_sql(path: Path, intake: Intake) -> None:
    """Take the tables of a dump.

    Raises:
        JaxkgError: it has no rows, or a text in it is not closed.
    """
    tables: dict[str, _Table] = {}
    for number, tokens in _statements(path, intake, tables):
        if tokens[0].says("INSERT", "REPLACE"):
            _insert(number, tokens, tables, intake)
        elif tokens[0].says("CREATE") and any(token.says("TABLE") for token in tokens[1:4]):
            _create(tokens, tables)
        elif tokens[0].says("ALTER"):
            name, at = _name(tokens, 2)
            _constraint(tokens[at:], tables.setdefault(name, _Table()))
    full = {title: table for title, table in tables.items() if table.rows}
    if not full:
        raise JaxkgError(f"{path}: no rows in it: no INSERT INTO of plain values and no COPY")
    for title, table in full.items():
        known = table.columns or [f"column {at + 1}" for at in range(len(table.rows[0][2]))]
        if len(known) < 2:
            intake.leave_out("tables of one column")
            continue
        keyed = len(table.keys) == 1 and table.keys[0] in known
        columns = [*table.keys[:keyed], *(name for name in known if name not in table.keys[:keyed])]
        place = path.with_name(f"{path.name}:{title}")
        rows = batched(_rows(columns, known, table, intake))
        declared = Declared(keyed, table.refers)
        intake.tell(f"{title!r} {take_table(place, title, rows, intake, declared=declared)}")


def _rows(columns: list[str], known: list[str], table: _Table, intake: Intake) -> Iterator[Row]:
    """The header and the rows of a table, their cells in the order of the header."""
    yield 0, columns
    for count, (number, titles, values) in enumerate(table.rows, 1):
        own = titles or known
        if len(own) != len(values):
            intake.leave_out("rows with another number of values than columns")
            continue
        cells = dict(zip(own, values))
        if table.keys[:1] == columns[:1]:
            cells.setdefault(columns[0], str(count))  # as a key that numbers itself
        yield number, [cells.get(column, "") for column in columns]


def _statements(
    path: Path, intake: Intake, tables: dict[str, _Table]
) -> Iterator[tuple[int, list[Token]]]:
    """Statements as tokens; the lines of a COPY go to its table as they come."""
    numbered, pattern = numbered_lines(path, intake), _TOKEN

    def lines() -> Iterator[tuple[int, str]]:
        nonlocal pattern
        for number, line in numbered:
            if "`" in line or "MySQL" in line or "MariaDB" in line:
                pattern = _ESCAPING
            yield number, ";" if line.strip().upper() == "GO" else line

    remarks = ("--", "#", ".", "\\")
    found = statements(path, lines(), remarks, lambda text: scan(text, pattern, _meaning), intake)
    for first, statement in found:
        yield first, statement
        if not (statement[0].says("COPY") and any(token.says("STDIN") for token in statement)):
            continue
        name, at = _name(statement, 1)
        table = tables.setdefault(name, _Table())
        table.columns = _listed(statement, at) or table.columns
        for number, line in numbered:
            if line == "\\.":
                break
            cells = ["" if cell == "\\N" else _unescaped(cell) for cell in line.split("\t")]
            table.rows.append((number, [], cells))
        else:
            intake.tell("it breaks off within the rows of a COPY")


def _meaning(match: re.Match[str]) -> tuple[str, str]:
    kind, token = str(match.lastgroup), match[0]
    if kind == "text":
        token = "" if match["kind"] in ("x", "X", "b", "B") else match["in"]
        token = (_unescaped(token) if match.re is _ESCAPING else token).replace("''", "'")
    elif kind == "escaped":
        kind, token = "text", _unescaped(token.lstrip("eE")[1:-1]).replace("''", "'")
    return kind, token[1:-1].replace('""', '"') if kind == "quoted" else token


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _BLANKS.get(found[1], found[1]), text)


def _name(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The name of a table without its schema's, and the place after it."""
    while at < len(tokens) and tokens[at].says("ONLY", "IF", "NOT", "EXISTS", "TABLE"):
        at += 1
    name = ""
    while at < len(tokens) and tokens[at].kind in ("name", "quoted"):
        name, at = tokens[at].text, at + 1
        if at == len(tokens) or not tokens[at].says("."):
            break
        at += 1
    return name, at


def _listed(tokens: Sequence[Token], at: int) -> list[str]:
    """The names in the brackets that open at a place; none where none do."""
    if at >= len(tokens) or not tokens[at].says("("):
        return []
    end = _place(tokens, ")", at)
    return [token.text for token in tokens[at:end] if token.kind in ("name", "quoted")]


def _place(tokens: Sequence[Token], word: str, start: int = 0) -> int:
    """Where a word or mark comes first; -1 where it does not."""
    return next((at for at in range(start, len(tokens)) if tokens[at].says(word)), -1)


def _insert(number: int, tokens: list[Token], tables: dict[str, _Table], intake: Intake) -> None:
    name, at = _name(tokens, _place(tokens, "INTO") + 1)
    values = _place(tokens, "VALUES", at)
    if not name or values < 0:
        return intake.leave_out("INSERTs without plain values")
    named, rows = _listed(tokens, at), tables.setdefault(name, _Table()).rows
    row, cell = list[str](), list[Token]()
    for token in tokens[values + 1 :]:
        if token.depth == 0 and not token.says("(", ")", ","):
            break  # the end, or ON CONFLICT
        ends = token.depth == 0 and token.says(")")
        if ends or (token.depth == 1 and token.says(",")):
            row.append(_cell(cell, intake))
            cell = []
        elif token.depth:
            cell.append(token)
        if ends:
            rows.append((number, named, row))
            row = []


def _cell(tokens: Sequence[Token], intake: Intake) -> str:
    """What a cell says: a text, a number, the text that a date is made of; else nothing."""
    plain = [token for token in tokens if not token.text.startswith("_")]  # _binary 'text'
    values = [token.text for token in plain if token.kind in ("text", "number")]
    if len(plain) == 1 and plain[0].says("TRUE", "FALSE"):
        return plain[0].text.lower()
    if values and (len(plain) == 1 or plain[0].says(*_OF_TEXTS) or plain[1].says(":")):
        return " ".join(values[0].split())
    if len(plain) != 1 or not plain[0].says("NULL", "DEFAULT"):
        intake.leave_out("values that are worked out")
    return ""


def _create(tokens: list[Token], tables: dict[str, _Table]) -> None:
    name, at = _name(tokens, _place(tokens, "TABLE"))
    if not name or at >= len(tokens) or not tokens[at].says("("):
        return
    table, parts = tables.setdefault(name, _Table()), list[list[Token]]([[]])
    for token in tokens[at + 1 :]:
        if token.depth == 0:
            break
        if token.depth == 1 and token.says(","):
            parts.append([])
        else:
            parts[-1].append(token)
    for part in filter(None, parts):
        column = part[0].text
        if part[0].says(*_CONSTRAINTS):
            _constraint(part, table)
        elif part[0].kind in ("name", "quoted"):
            table.columns.append(column)
            table.keys += [column] if _place(part, "PRIMARY") > 0 else []
            if (refers := _place(part, "REFERENCES")) > 0:
                table.refers[column] = _name(part, refers + 1)[0]


def _constraint(part: Sequence[Token], table: _Table) -> None:
    """Take a key, or a reference of one column."""
    if (at := _place(part, "PRIMARY")) >= 0:
        table.keys = _listed(part, _place(part, "(", at))
    at, refers = _place(part, "FOREIGN"), _place(part, "REFERENCES")
    if 0 <= at < refers and len(own := _listed(part, _place(part, "(", at))) == 1:
        table.refers[own[0]] = _name(part, refers + 1)[0]


_MAKES = r"(?i)^\s*(INSERT\s+INTO|CREATE\s+TABLE|COPY\s+\S+\s*\()"
FORMATS = (
    Format("sql", "a dump of an SQL database",
           surest(named(".sql"),
                  begins(_MAKES, 0.8, "it has a line with INSERT INTO or CREATE TABLE",
                         ends=".sql", both=0.9)), read_sql),
)  # fmt: skip
