"""SELECT over one of a graph's tables, read as a query graph. Nothing is executed as SQL.

What is read: columns, COUNT, SUM, AVG, MIN and MAX, DISTINCT, COUNT(*) > 0 for yes or no; WHERE
with AND, OR, NOT, brackets, comparisons with values, with other columns and with an inner SELECT,
IN, BETWEEN, LIKE, IS NULL; GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET; SELECTs with UNION, INTERSECT
or EXCEPT between them, and `SELECT (SELECT ...) - (SELECT ...)`, also with / or a comparison. Joins
are refused: columns already follow relations, see `jaxkg.kg.relational`. An inner SELECT is read by
itself, so it cannot name columns of the outer one.
"""

from __future__ import annotations

import itertools
from typing import Any

from jaxkg import query as q
from jaxkg.errors import JaxkgError
from jaxkg.kg.queries.select_parts import (
    SIGNS,
    NothingCalled,
    NothingLike,
    depths_of,
    tokens_of,
    words_of,
)
from jaxkg.kg.queries.select_reading import Reading
from jaxkg.kg.relational import Relational

_MOST = 30
"""SELECTs in one."""
_COMBINED: dict[str, Any] = {
    "union": lambda a, b: q.Union((a, b)),
    "intersect": lambda a, b: q.Intersection((a, b)),
    "except": q.Difference,
}
_COUNTED = ["select", "count", "(", "*", ")", "from", "(", "select"]
_NO_NODES = (q.Count, q.Total, q.Rows, q.Exists, q.Compared, q.Calculation)


class SelectReader:
    """Reads SELECTs over the tables of a graph.

    Example:
        >>> from jaxkg.kg import KnowledgeGraph
        >>> from jaxkg.kg.queries.sets import QuerySets
        >>> kg = KnowledgeGraph.from_triples([
        ...     ("Ann", "is a", "person"), ("Bo", "is a", "person"), ("Ann", "age", "41"),
        ...     ("Bo", "age", "52")])
        >>> sets = QuerySets(kg)
        >>> read = SelectReader(Relational(sets)).read
        >>> sets.execute(read("SELECT COUNT(*) FROM person WHERE age > 45")).number
        1
    """

    def __init__(self, relational: Relational) -> None:
        """Take the tables."""
        self.relational, self.kg = relational, relational.kg
        self.tables = {table.name: table for table in relational.tables}

    def read(self, text: str) -> q.Query:
        """The query graph of a SELECT.

        Raises:
            NothingLike: nothing in a column is LIKE what it says.
            JaxkgError: it is none, names a table, a column or a value that is not there, or asks
                for what is not read; says which.
        """
        tokens = tokens_of(text)
        if words_of(tokens).count("select") > _MOST:
            raise JaxkgError(f"more than {_MOST} SELECTs in one are not read")
        return self.of_tokens(tokens)

    def of_tokens(self, tokens: list[tuple[str, str]]) -> q.Query:
        """The query graph of a SELECT that is cut into tokens; raises as `read` does."""
        words = words_of(tokens)
        depths = depths_of(words)
        if words[:3] == ["select", "(", "select"]:
            return self._calculated(tokens)
        is_set = "distinct" in words or ("union" in words and "all" not in words)
        if words[: len(_COUNTED)] == _COUNTED and is_set:
            return self._counted(tokens[len(_COUNTED) - 2 :])
        starts = [
            i
            for i, word in enumerate(words)
            if word in _COMBINED and not depths[i] and words[i + 1 : i + 2] in (["select"], ["all"])
        ]
        if len({words[start] for start in starts}) > 1:
            raise JaxkgError("UNION, INTERSECT and EXCEPT are read one at a time")
        if not starts:
            return self._single(tokens)[0]
        query, lack = self._part(tokens[: starts[0]])
        for start, end in itertools.pairwise([*starts, len(tokens)]):
            word, first = words[start], start + 1 + (words[start + 1 : start + 2] == ["all"])
            if {"order", "limit"} & set(words[first:end]):
                raise JaxkgError(f"ORDER BY and LIMIT behind {word.upper()} are not read")
            other, lacks = self._part(tokens[first:end])
            lack = lacks or lack
            if isinstance(query, _NO_NODES) or isinstance(other, _NO_NODES):
                raise JaxkgError(f"{word.upper()} stands between SELECTs of one column")
            if query is not None and other is not None:
                query = _COMBINED[word](query, other)
            elif word == "union":
                query = other if query is None else query
            elif word == "intersect":
                query = None
        if query is None:
            assert lack is not None  # a part finds nothing
            raise lack
        return query

    def _part(self, tokens: list[tuple[str, str]]) -> tuple[Any, JaxkgError | None]:
        """The query graph of one of several SELECTs; None, and why, where it finds nothing."""
        try:
            return self._single(tokens)[0], None
        except (NothingLike, NothingCalled) as error:
            return None, error

    def _counted(self, tokens: list[tuple[str, str]]) -> q.Query:
        """SELECT COUNT(*) FROM (SELECT ...), behind FROM."""
        depths = depths_of(words_of(tokens))
        end = depths.index(0) if 0 in depths else len(tokens)
        alias = [word for word in words_of(tokens[end + 1 :]) if word != "as"]
        if end == len(tokens) or len(alias) > 1:
            raise JaxkgError("behind FROM stands a table, or of COUNT(*) one SELECT in brackets")
        inner = self.of_tokens(tokens[1:end])
        if isinstance(inner, _NO_NODES):
            raise JaxkgError("COUNT(*) of an inner SELECT is of names or values, not of numbers")
        return q.Count(inner)

    def _single(self, tokens: list[tuple[str, str]]) -> tuple[Any, Reading]:
        """The query graph of one SELECT, and how it was read."""
        reading = Reading(self.relational, self.tables, tokens, self.of_tokens)
        return reading.query(), reading

    def _calculated(self, tokens: list[tuple[str, str]]) -> q.Query:
        """SELECT (SELECT ...) - (SELECT ...), or with +, /, = and the like between them."""
        depth = depths_of(words_of(tokens)[1:])
        middle = depth.index(0) + 2 if 0 in depth else len(tokens)
        others = tokens[middle + 1 : middle + 2] == [("sign", "(")]
        if not others or tokens[-1] != ("sign", ")") or depth.count(0) != 3:
            raise JaxkgError("of two SELECTs in brackets, and nothing else, one takes +, -, / or =")
        left, reading = self._single(tokens[2 : middle - 1])
        right, other = self._single(tokens[middle + 2 : -1])
        values = (q.Total, q.Rows, q.Exists)
        if isinstance(left, values) or isinstance(right, values):
            raise JaxkgError("only values and counts are calculated with")
        sign: Any = {"<>": "!="}.get(tokens[middle][1], tokens[middle][1])
        if sign in SIGNS:
            return q.Compared(left, sign, right)
        if sign not in ("+", "-", "/"):
            raise JaxkgError(f"two SELECTs with {sign!r} between them; there are +, -, /, = and <")
        if sign != "-":
            return q.Calculation(left, "sum" if sign == "+" else "ratio", right)
        columns = [(some.items[0].column, some.table) for some in (reading, other)]
        dates = [(column, table) for column, table in columns if column and column.kind == "date"]
        if isinstance(left, q.Count) or len(dates) < 2:
            return q.Calculation(left, "difference", right)
        years = all(self.relational.cells.in_years(column, table) for column, table in dates)
        return q.Calculation(left, "years" if years else "days", right)
