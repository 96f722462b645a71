"""The SELECTs that a model may write over a graph's tables, as one regular expression.

Of a column of texts only what a question names, or the few values that there are, may be compared
by =, so that what is written can be read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from jaxkg.kg.relational import Column, Table

Values = Callable[[Table, Column], Sequence[str] | None]
"""What may stand beside a column of texts; None for anything."""

_TEXT = "'([^'\"\\\\]|''){1,60}'"
_NUMBER = r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,4})?"
_DATE = "'([12][0-9]{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]))?)?|([01][0-9]|2[0-3]):[0-5][0-9])'"
_FROM_1 = "[1-9][0-9]?"
_SPECIAL = re.compile(r"[.\[\]()|{}*+?^$]")
_ASTRAY = re.compile(r'["\\\x00-\x1f]')
_SIGN = "(=|!=|<|<=|>|>=)"


def select_pattern(
    tables: Sequence[Table],
    values: Values = lambda table, column: None,
    *,
    truth: bool | None = None,
) -> str:
    """The SELECTs over these tables, or nothing, as a regular expression of the plainest kind.

    Args:
        tables: with the columns that are shown.
        values: what a column of texts may be compared with.
        truth: whether the answer is a yes or no; None where it may be one.

    >>> from jaxkg import query as q
    >>> kinds = {"name": Column("name", (), "text", (), False)}
    >>> table = Table("person", q.Domain(("age",)), 1, kinds)
    >>> pattern = select_pattern([table], lambda table, column: ["Ann"])
    >>> [re.fullmatch(pattern, text) is not None for text in (
    ...     "SELECT name FROM person WHERE name = 'Ann'", "SELECT age FROM person", "",
    ...     "SELECT name FROM person WHERE name = 'Bo'")]
    [True, False, True, False]
    """
    if not tables:
        return "^()$"
    patterns = [
        _Pattern(table, values, truth)
        for table in tables
        if any(not column.closure for column in table.columns.values())
    ]
    selects = [pattern.single for pattern in patterns]
    for kind, calculated in (("count", "-/"), ("number", "-/"), ("date", "-")):
        signs = {True: "[=<>]", False: f"[{calculated}]", None: f"[{calculated}=<>]"}[truth]
        if each := [pattern.value(kind) for pattern in patterns if pattern.has_value(kind)]:
            selects.append(f"SELECT \\({_either(each)}\\) {signs} \\({_either(each)}\\)")
    return f"^({'|'.join(selects)}|)$"


class _Pattern:
    """What may be written over one table."""

    def __init__(self, table: Table, values: Values, truth: bool | None) -> None:
        self.truth = truth
        plain = [column for column in table.columns.values() if not column.closure]
        self.name = _literal(table.name)
        self.column = _any(column.name for column in plain)
        self.of = {
            kind: [column.name for column in plain if column.kind == kind]
            for kind in ("number", "date", "text")
        }
        self.groups = [column.name for column in plain if column.path]
        texts = [column for column in plain if column.kind == "text"]
        self.above = [column for column in table.columns.values() if column.closure]
        self.named = _beside(table, texts, values)
        self.high = _beside(table, self.above, values)

    def has_value(self, kind: str) -> bool:
        """Whether something is named that has such values, or can be counted."""
        return bool(self.named) and (kind == "count" or bool(self.of[kind]))

    def value(self, kind: str) -> str:
        """SELECTs of one value, or one count, of what is called so."""
        item = r"COUNT\(\*\)" if kind == "count" else _any(self.of[kind])
        condition = _either([f"{columns} = {beside}" for columns, beside in self.named])
        return f"SELECT {item} FROM {self.name} WHERE {condition}( AND {condition})?"

    @property
    def single(self) -> str:
        """SELECTs of one table."""
        condition = self._condition
        rows = f"FROM {self.name}( WHERE {condition}( (AND|OR) {condition}){{0,3}})?"
        if self.truth:
            return rf"SELECT COUNT\(\*\) > 0 {rows}"
        totals = _either(self._totals)
        first = f"(DISTINCT )?{self.column}(, ({self.column}|{totals})){{0,2}}"
        select = f"SELECT ({first}|{totals}) {rows}{self._end}"
        if self.above:
            select += f"|SELECT {_any(column.name for column in self.above)} {rows}"
        return select if self.truth is False else rf"{select}|SELECT COUNT\(\*\) > 0 {rows}"

    @property
    def _end(self) -> str:
        """Groups, the order of them or of rows, and how many."""
        last = f"( ASC| DESC)?( LIMIT {_FROM_1})?"
        ordered = [rf"COUNT\({_any(self.groups)}\)"] if self.groups else []
        if values := self.of["number"] + self.of["date"]:
            ordered.append(_any(values))
        ends = [f"ORDER BY {_either(ordered)}{last}"] if ordered else []
        if self.groups:
            having = rf"( HAVING COUNT\(\*\) (>|>=|=|<) {_FROM_1})?"
            order = f"( ORDER BY {_either(self._totals)}{last})?"
            ends.append(f"GROUP BY {_any(self.groups)}{having}{order}")
        return f"( {_either(ends)})?" if ends else ""

    @property
    def _totals(self) -> list[str]:
        totals = [r"COUNT\(\*\)", rf"COUNT\(DISTINCT {self.column}\)"]
        if self.of["number"]:
            totals.append(rf"(SUM|AVG)\({_any(self.of['number'])}\)")
        if ordered := self.of["number"] + self.of["date"]:
            totals.append(rf"(MIN|MAX)\({_any(ordered)}\)")
        return totals

    @property
    def _condition(self) -> str:
        conditions = [f"{self.column} IS (NOT )?NULL"]
        if words := self.of["text"] + self.of["date"]:
            conditions.append(f"{_any(words)} LIKE {_TEXT}")
        for kind, written in (("number", _NUMBER), ("date", _DATE)):
            if self.of[kind]:
                columns = _any(self.of[kind])
                conditions.append(f"{columns} {_SIGN} ({written}|{columns})")
        conditions += [f"{columns} !?= {beside}" for columns, beside in self.named]
        conditions += [f"{columns} = {beside}" for columns, beside in self.high]
        return _either(conditions)


def _beside(table: Table, columns: Iterable[Column], values: Values) -> list[tuple[str, str]]:
    """Columns with what may stand beside them; those with the same values together."""
    groups: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        allowed = values(table, column)
        if allowed is None:
            groups[_TEXT].append(column.name)
        elif written := [_written(text) for text in allowed if _plain(text)]:
            groups[f"'({'|'.join(written)})'"].append(column.name)
    return [(_any(names), beside) for beside, names in groups.items()]


def _plain(text: str) -> bool:
    """Whether a text stands in JSON as it is."""
    return bool(text) and not _ASTRAY.search(text)


def _written(text: str) -> str:
    """A text between quotes, its words with or without capitals: names are found by either.

    >>> _written("new York's")
    "[nN]ew York''[sS]"
    """
    parts = re.split(r"(?<![^\W_])([a-z])", text.replace("'", "''"))
    return "".join(
        f"[{part}{part.upper()}]" if place % 2 else _literal(part)
        for place, part in enumerate(parts)
    )


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _any(names: Iterable[str]) -> str:
    return f"({'|'.join(map(_literal, names))})"


def _either(parts: Sequence[str]) -> str:
    return f"({'|'.join(parts)})"
