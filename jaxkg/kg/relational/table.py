"""A table of a graph, and its columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jaxkg import query as q
from jaxkg.words import one_line

NAME = "name"
"""The column of what rows are called."""


@dataclasses.dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: as SQL writes it.
        path: relations from a row to what stands in the column; none to the row itself.
        kind: "number", "date", or "text" of names, texts and truth values.
        values: names of some of what stands there, or of all of it; none where a relation is
            followed to it.
        listed: whether these are all.
        closure: whether the path, one relation, is followed on and on.
    """

    name: str
    path: tuple[str, ...]
    kind: str
    values: tuple[str, ...]
    listed: bool
    closure: bool = False

    def ends(self, rows: q.Node) -> q.Node:
        """What stands in the column beside some rows."""
        return q.Step(rows, self.path, closure="+") if self.closure else steps(rows, self.path)

    def rows(self, ends: q.Node) -> q.Node:
        """What some ends stand beside."""
        back = [q.inverse(relation) for relation in reversed(self.path)]
        return q.Step(ends, tuple(back), closure="+") if self.closure else steps(ends, back)

    @property
    def line(self) -> str:
        """The column with its kind and values, as a table's definition has it.

        >>> Column("born", ("born",), "number", ("1970", "1984"), False).line
        'born REAL -- 1970, 1984, ...'
        """
        sort = {"number": "REAL", "date": "DATE"}.get(self.kind, "TEXT")
        if self.closure:
            return f"{self.name} {sort} -- at any depth"
        if not self.values:
            return f"{self.name} {sort}"
        values = map(one_line, self.values)
        values = values if sort == "REAL" else [_quoted(value) for value in values]
        more = [] if self.listed else ["..."]
        return f"{self.name} {sort} -- {', '.join([*values, *more])}"


@dataclasses.dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: as SQL writes it.
        source: the query graph of its rows.
        size: how many there are.
        columns: by name, the most frequent first.
    """

    name: str
    source: q.Node
    size: int
    columns: dict[str, Column]

    def definition(self, columns: Sequence[Column] | None = None) -> str:
        """What SQL would make the table by, with the values of its columns."""
        columns = tuple(self.columns.values()) if columns is None else columns
        lines = "\n".join(f"  {column.line}" for column in columns)
        return f"CREATE TABLE {self.name} ( -- {self.size} rows\n{lines}\n)"


def steps(node: q.Node, path: Sequence[str]) -> q.Node:
    """What a path of relations leads to from a source, one after another."""
    for relation in path:
        node = q.Step(node, (relation,))
    return node


def _quoted(text: str) -> str:
    """A text as SQL writes it.

    >>> print(_quoted("O'Brien"))
    'O''Brien'
    """
    return "'" + text.replace("'", "''") + "'"
