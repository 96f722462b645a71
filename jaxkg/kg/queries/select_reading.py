"""One SELECT over one table, from its first word to its last, read as a query graph."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxkg import query as q
from jaxkg.errors import JaxkgError
from jaxkg.kg.names import nearest
from jaxkg.kg.queries.select_parts import (
    Cursor,
    Item,
    NothingCalled,
    NothingLike,
    Order,
    depths_of,
    words_of,
)
from jaxkg.kg.relational import NAME, Column, Relational, Table

_AGGREGATES: dict[str, Any] = {
    "count": "count", "sum": "sum", "avg": "mean", "min": "min", "max": "max",
}  # fmt: skip
_SWAPPED: dict[str, Any] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DEEPEST = 50
"""Brackets and NOTs within one another."""
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")
_FOLDS = ("lower", "upper", "trim")
_TRUE, _FALSE = ("1", "true", "yes", "y"), ("0", "false", "no", "n")
_JOINS = frozenset((",", "join", "inner", "left", "right", "full", "natural", "cross"))
_CLAUSES = _JOINS | {"where", "group", "having", "order", "limit", "union", "intersect", "except"}


class Reading:
    """One SELECT, from its first token to its last.

    Args:
        relational, tables: of the graph.
        tokens: the SELECT.
        read_inner: reads those within it.
    """

    def __init__(
        self,
        relational: Relational,
        tables: Mapping[str, Table],
        tokens: list[tuple[str, str]],
        read_inner: Callable[[list[tuple[str, str]]], q.Query],
    ) -> None:
        self.relational, self.tables, self.read_inner = relational, tables, read_inner
        self.kg = relational.kg
        self.on = Cursor(tokens)
        self._behind = 1
        self.table: Table = self._from(words_of(tokens))
        self.lack = ""
        self.unknown: NothingCalled | None = None
        self.items: list[Item] = []

    def query(self) -> q.Query:
        """The query graph.

        Raises:
            NothingLike: nothing in a column is LIKE what it says.
            JaxkgError: it asks for what is not read, or for what is not there.
        """
        node, items = self.rows(), self.items
        group = None
        if self.on.take("group"):
            self.on.need("by")
            group = self._column()
            if self.on.take(","):
                raise JaxkgError("GROUP BY several columns is not read")
        having = self._having() if self.on.take("having") else None
        orders = self._orders()
        n = offset = 0
        if self.on.take("limit"):
            n = self.on.whole("LIMIT", 1)
            offset = self.on.whole("OFFSET", 0) if self.on.take("offset") else 0
            if len(orders) > 1 and (n > 1 or offset or group is not None):
                raise JaxkgError("ORDER BY several columns is read with LIMIT 1 alone")
        if n and not orders:
            self._check_all(node, items, n)
        self.on.take(";")
        if rest := self.on.rest:
            raise JaxkgError(f"what stands at {rest[0][1]!r} is not read")
        if group is not None:
            return self._grouped(node, items, group, having, Order(orders, n, offset))
        return self._plain(node, items, Order(orders, n, offset))

    def rows(self) -> q.Node:
        """The rows that are selected from, up to the end of WHERE; raises as `query` does."""
        self.on.need("select")
        self.on.take("distinct")  # answers are sets
        self.items = [self._item()]
        while self.on.take(","):
            self.items.append(self._item())
        self.on.need("from")
        self.on.skip(self._behind)
        if self.on.take("as") or (self.on.kind() == "word" and self.on.word() not in _CLAUSES):
            self.on.skip()
        if self.on.word() in _JOINS:
            raise JaxkgError("a join: its columns already follow the relations of one table")
        node = self.table.source
        if self.on.take("where"):
            if (rows := self._either(node)) is None:
                raise self.unknown or NothingLike(self.lack)
            node = rows
        return node

    def _orders(self) -> list[tuple[Item, bool]]:
        """What ORDER BY names, and whether the largest comes first."""
        orders: list[tuple[Item, bool]] = []
        if self.on.take("order"):
            self.on.need("by")
            while not orders or self.on.take(","):
                item = self._item(is_selected=False)
                orders.append((item, self.on.take("desc")))
                self.on.take("asc")
        return orders

    def _check_all(self, node: q.Node, items: Sequence[Item], n: int) -> None:
        """See that LIMIT without ORDER BY leaves out nothing.

        Raises:
            JaxkgError: it would leave it open which rows are meant.
        """
        column = items[0].column if len(items) == 1 and items[0].by == "value" else None
        ends = node if column is None else column.ends(node)
        if len(self.relational.sets.execute(ends).rows) > n:
            raise JaxkgError("LIMIT without ORDER BY would leave it open which rows are meant")

    def _plain(self, node: q.Node, items: Sequence[Item], ordered: Order) -> q.Query:
        """What a SELECT without groups means."""
        for order, largest in ordered.orders if ordered.n else ():
            if order.by == "count" and (order.column is None or not order.column.path):
                return self._by_group(node, items, ordered)
            if order.column is None or order.by not in ("value", "count"):
                raise JaxkgError(f"ORDER BY {order.by} of a column without GROUP BY")
            if order.column.kind == "text" and order.by == "value":
                raise JaxkgError(f"{order.column.name} holds texts, which have no order")
            by: Any = order.by
            first = q.Extreme(node, _path(order.column), largest, ordered.n + ordered.offset, by)
            before = dataclasses.replace(first, n=ordered.offset)
            node = q.Difference(first, before) if ordered.offset else first
        if len(items) > 1 and all(item.by != "value" for item in items):
            raise JaxkgError("several totals of all rows are not read; select one, or GROUP BY")
        if len(items) > 1:
            return q.Rows(node, tuple(self._cell(item) for item in items))
        [item] = items
        if item.by == "exists":
            return q.Exists(node)
        if item.by == "value":
            return node if item.column is None else item.column.ends(node)
        if item.by == "count":
            if item.column is None or not item.column.path:
                return q.Count(node)
            if item.distinct:
                return q.Count(item.column.ends(node))
            return q.Count(q.Intersection((node, self._having_any(item.column))))
        assert item.column is not None
        if item.by in ("min", "max"):
            best = q.Extreme(node, _path(item.column), item.by == "max")
            return item.column.ends(best)
        by = item.by
        return q.Total(node, _path(item.column), by)

    def _by_group(self, node: q.Node, items: Sequence[Item], ordered: Order) -> q.Query:
        """What a SELECT in the order of a number of rows means: groups by the column it tells."""
        columns = [item.column for item in items if item.by == "value" and item.column is not None]
        if len(columns) != 1 or not columns[0].path:
            raise JaxkgError("ORDER BY a number of rows without GROUP BY; name a column to count")
        return self._grouped(node, items, columns[0], None, ordered)

    def _grouped(
        self,
        node: q.Node,
        items: Sequence[Item],
        group: Column,
        having: tuple[Item, q.Comparison, str] | None,
        ordered: Order,
    ) -> q.Query:
        """A row for each group, told by what the rows have in one column."""
        per = _path(group)
        order, largest = ordered.orders[0] if ordered.orders else (None, False)
        if not per and having is not None:
            item, comparison, number = having
            if item.column is None or not item.column.path:
                raise JaxkgError(f"GROUP BY {group.name}: HAVING is of what a row has in a column")
            if item.by == "count":
                value = q.Value("number", number)
                node = q.Where(node, _path(item.column), comparison, value, by="count")
                having = None
        if not per and having is None:
            return self._plain(node, items, ordered)
        own = [item for item in items if item.column is None or item.column.name != group.name]
        own = own or ([order] if order and order.by != "value" else [])
        if having is None and not ordered.n and (firsts := self._first_of(node, own, per)):
            return firsts
        columns = [self._cell(item, grouped=bool(per)) for item in own]

        def place(item: Item) -> int:
            cell = self._cell(item, grouped=bool(per))
            if cell not in columns:
                columns.append(cell)
            return columns.index(cell) + 1

        by = place(order) if order and order.column != group else 0
        bounds = ()
        if having is not None:
            item, comparison, number = having
            bounds = (q.Having(place(item), comparison, q.Value("number", number)),)
        if not columns:  # which groups there are
            return group.ends(node)
        first = ordered.offset + 1 if by else 1
        last = ordered.offset + ordered.n if by and ordered.n else 0
        return q.Rows(node, tuple(columns), per, bounds, by, largest or not by, first, last)

    def _first_of(self, node: q.Node, items: Sequence[Item], per: tuple[str, ...]) -> q.Rows | None:
        """What has the MIN or the MAX of each group, where columns stand beside it; else None."""
        ends = [place for place, item in enumerate(items) if item.by in ("min", "max")]
        values = [item for item in items if item.by == "value"]
        if not per or len(ends) != 1 or not values or len(values) + 1 != len(items):
            return None
        [end] = ends
        columns = tuple(self._cell(dataclasses.replace(item, by="value")) for item in items)
        return q.Rows(node, columns, per, (), end + 1, items[end].by == "max", top=1)

    def _cell(self, item: Item, grouped: bool = False) -> q.Column:
        if item.by == "exists":
            raise JaxkgError("a yes or no stands alone")
        if item.by == "count" and grouped and not item.distinct and not self._several(item.column):
            return q.Column((), "count")
        by: Any = item.by
        return q.Column(() if item.column is None else _path(item.column), by)

    def _several(self, column: Column | None) -> bool:
        """Whether rows have several values in a column, of which a number of rows says nothing."""
        if column is None or len(column.path) != 1:
            return False
        relation = column.path[0]
        code = self.kg.relation_code(relation.removeprefix("^"))
        facts = self.kg.triples[self.kg.rows_of(code)]
        heads = facts[:, 2 if relation.startswith("^") else 0]
        return len(np.unique(heads)) < len(heads)

    def _having(self) -> tuple[Item, q.Comparison, str]:
        item, sign = self._item(is_selected=False), self.on.sign()
        if self.on.word() == "(":
            return item, sign, self._one(self._inner()[0])[1]
        return item, sign, self.on.value("number")

    def _either(self, node: q.Node, depth: int = 0) -> q.Node | None:
        """What of some rows is as a condition says; None where nothing can be."""
        parts = [self._both(node, depth)]
        while self.on.take("or"):
            parts.append(self._both(node, depth))
        nodes = [part for part in parts if part is not None]
        return nodes[0] if len(nodes) == 1 else q.Union(tuple(nodes)) if nodes else None

    def _both(self, node: q.Node, depth: int) -> q.Node | None:
        nodes = [self._condition(node, depth)]
        while self.on.take("and"):
            nodes.append(self._condition(node if nodes[-1] is None else nodes[-1], depth))
        return None if None in nodes else nodes[-1]

    def _condition(self, node: q.Node, depth: int = 0) -> q.Node | None:
        if depth > _DEEPEST:
            raise JaxkgError(f"more than {_DEEPEST} conditions within one another are not read")
        if self.on.take("not"):
            before, rows = self.unknown, self._condition(node, depth + 1)
            if rows is None and self.unknown is not None and self.unknown is not before:
                raise self.unknown
            return node if rows is None else q.Difference(node, rows)
        if self.on.take("("):
            inside = self._either(node, depth + 1)
            self.on.need(")")
            return inside
        if self.on.kind() in ("text", "number"):  # a value before its column
            value = self.on.next()
            sign = self.on.sign()
            column = self._column()
            return self._compared(node, column, _SWAPPED.get(sign, sign), value)
        column = self._column()
        denied = False
        if self.on.take("is"):
            denied = self.on.take("not")
            self.on.need("null")
            having = self._having_any(column)
            return q.Intersection((node, having)) if denied else q.Difference(node, having)
        denied = self.on.take("not")
        if self.on.take("in"):
            if self.on.word(1) == "select":
                inner, _ = self._inner()
                return self._within(node, column, inner, denied)
            self.on.need("(")
            ids = self._ids(column, self.on.value("text", "number"))
            while self.on.take(","):
                ids += self._ids(column, self.on.value("text", "number"))
            self.on.need(")")
            return self._among(node, column, ids, denied)
        if self.on.take("like"):
            text = self.on.value("text")
            if column.kind == "date" and _DATE.fullmatch(
                start := text.removesuffix("%").rstrip("-")
            ):
                return self._on(node, column, start, denied)
            rows = self.relational.cells.like(column, self.table, text)
            if not rows:
                self.lack = f"nothing of {column.name} is like {text!r}"
                return self._any(node, column) if denied else None
            return self._among(node, column, [self.kg.entity_ids[row] for row in rows], denied)
        if self.on.take("between"):
            low = self.on.next()
            self.on.need("and")
            within = self._compared(node, column, ">=", low)
            assert within is not None  # texts are refused
            within = self._compared(within, column, "<=", self.on.next())
            assert within is not None
            return q.Difference(node, within) if denied else within
        sign = self.on.sign()
        if self.on.kind() == "word" and self.on.word() not in ("true", "false"):
            other = self._column()
            if other == column and sign == "=":  # what has any
                return self._any(node, column)
            return q.Match(node, _path(column), sign, _path(other))
        if self.on.word() == "(":
            inner, reckons = self._inner()
            if sign in ("=", "!=") and not reckons:
                return self._within(node, column, inner, sign == "!=")
            return self._compared(node, column, sign, self._one(inner))
        return self._compared(node, column, sign, self.on.next())

    def _inner(self) -> tuple[q.Node | q.Count | q.Total | q.Rows, bool]:
        """The SELECT in the brackets that follow, and whether it reckons a number, of groups that
        of each."""
        words = words_of(self.on.rest)
        depths = depths_of(words)
        if self.on.word(1) != "select" or 0 not in depths:
            raise JaxkgError("in brackets behind a comparison stands one SELECT")
        end = depths.index(0)
        query = self.read_inner(self.on.rest[1:end])
        self.on.skip(end + 1)
        several = isinstance(query, q.Rows) and not (query.per and len(query.columns) == 1)
        if several or isinstance(query, (q.Exists, q.Compared, q.Calculation)):
            raise JaxkgError("an inner SELECT is of one column")
        return query, words[2] in ("count", "sum", "avg")

    def _within(
        self, node: q.Node, column: Column, inner: q.Node | q.Count | q.Total | q.Rows, denied: bool
    ) -> q.Node | None:
        """What has in a column something that an inner SELECT finds: the same, or called so."""
        if isinstance(inner, (q.Count, q.Total)):
            raise JaxkgError("IN stands before a SELECT of names, not of a number")
        ends = self.relational.cells.ends(column, self.table)
        rows = self.relational.sets.execute(inner).rows.tolist()
        if isinstance(inner, q.Rows):  # which groups these are, without how much of each
            inner = q.Entities(tuple(self.kg.entity_ids[row] for row in rows))
        if ends.isdisjoint(rows):
            named = (
                self.relational.cells.matches(column, self.table, self.kg.name(row), whole=True)
                for row in rows
            )
            ids = dict.fromkeys(self.kg.entity_ids[end] for end in itertools.chain(*named))
            if not ids:
                self.lack = f"nothing of {column.name} is in what the inner SELECT finds"
                return self._any(node, column) if denied else None
            inner = q.Entities(tuple(ids))
        return self._beside(node, column, inner, denied)

    def _one(self, inner: q.Node | q.Count | q.Total | q.Rows) -> tuple[str, str]:
        """The one number or date that an inner SELECT finds, as a token."""
        sets = self.relational.sets
        result = sets.execute(inner)
        numbers = {row.cells[0].number for row in result.table} or {result.number}
        if len(numbers) == 1 and (number := numbers.pop()) is not None:
            return "number", f"{number:.12g}"
        if len(result.rows) > 1:
            raise JaxkgError(f"an inner SELECT finds {len(result.rows)} values; one compares")
        if not len(result.rows):
            raise NothingLike("the inner SELECT finds no value to compare with")
        row = int(result.rows[0])
        if (value := sets.values.number(row)) is not None:
            return "number", str(value[1])
        return "text", self.relational.cells.date_of(row)

    def _compared(
        self, node: q.Node, column: Column, sign: q.Comparison, value: tuple[str, str]
    ) -> q.Node | None:
        kind, text = value
        if column.kind == "number" and (kind == "number" or re.fullmatch(r"-?[\d.]+", text)):
            return q.Where(node, column.path, sign, q.Value("number", text))
        if column.kind == "date":
            date = self.relational.cells.date(column, self.table, text)
            if sign in ("=", "!="):
                return self._on(node, column, date, sign == "!=")
            return q.Where(node, column.path, sign, q.Value("date", date))
        if sign not in ("=", "!="):
            raise JaxkgError(f"{column.name} holds texts, which compare by = and != alone")
        if not self.relational.cells.matches(column, self.table, text):
            # Names are put beside the wrong column more often than they are wrong. In a column that
            # is selected one would only be said again.
            other = self.relational.cells.holder(self.table, text)
            if other is not None and all(item.column != other for item in self.items):
                column = other
        try:
            ids = self._ids(column, text)
        except NothingCalled as error:
            if sign == "!=":
                raise
            self.unknown = error  # another condition may hold
            return None
        return self._among(node, column, ids, sign == "!=")

    def _on(self, node: q.Node, column: Column, date: str, denied: bool) -> q.Node:
        """What has a date within this one; where denied, another date."""
        same = q.Where(node, column.path, "in", q.Value("date", date))
        if not denied:
            return same
        return q.Difference(self._any(node, column), same)

    def _ids(self, column: Column, text: str) -> list[str]:
        """What of a column is called as a query writes it."""
        rows = self.relational.cells.matches(column, self.table, text)
        if not rows and column.listed and text.lower() in (*_TRUE, *_FALSE):
            same = _TRUE if text.lower() in _TRUE else _FALSE
            rows = tuple(
                row
                for word in same
                for row in self.relational.cells.matches(column, self.table, word)
            )
        if not rows:
            names = [*map(self.kg.name, self.relational.cells.ends(column, self.table))]
            why = f"nothing of {column.name} is called {text!r}{nearest(text, names)}"
            raise NothingCalled(why)
        return [self.kg.entity_ids[row] for row in rows]

    def _among(self, node: q.Node, column: Column, ids: Sequence[str], denied: bool) -> q.Node:
        if not column.path and not denied and node == self.table.source:
            return q.Entities(tuple(dict.fromkeys(ids)))
        if len(ids) == 1 and not denied and not column.closure:
            return q.Where(node, column.path, "=", ids[0])
        return self._beside(node, column, q.Entities(tuple(dict.fromkeys(ids))), denied)

    def _beside(self, node: q.Node, column: Column, ends: q.Node, denied: bool) -> q.Node:
        """Those rows that have some ends in a column; where denied, others than these."""
        inside = column.rows(ends)
        if denied:  # an empty cell is not told from others
            return q.Difference(self._any(node, column), inside)
        return q.Intersection((node, inside))

    def _any(self, node: q.Node, column: Column) -> q.Node:
        """Those rows that have anything in a column."""
        return q.Intersection((node, self._having_any(column))) if column.path else node

    def _having_any(self, column: Column) -> q.Node:
        """What has anything in a column."""
        if not column.path:
            return self.table.source
        *before, last = column.path
        return dataclasses.replace(column, path=tuple(before), closure=False).rows(
            q.Domain((last,))
        )

    def _item(self, *, is_selected: bool = True) -> Item:
        if self.on.take("*"):
            return Item(None)
        by = _AGGREGATES.get(self.on.word())
        if by is not None and self.on.word(1) == "(":
            self.on.skip(2)
            distinct = self.on.take("distinct")
            column = None if self.on.take("*") else self._column()
            self.on.need(")")
            if is_selected and self.on.take(">"):
                if by != "count" or self.on.value("number") != "0":
                    raise JaxkgError("only COUNT(*) > 0 is selected, a yes or no")
                by = "exists"
            self._alias()
            if column is None and by not in ("count", "exists"):
                raise JaxkgError(f"{by} of nothing")
            return Item(column, by, distinct)
        column = self._column()
        self._alias()
        return Item(column)

    def _alias(self) -> None:
        if self.on.take("as"):
            self.on.skip()

    def _column(self) -> Column:
        if self.on.word() in _FOLDS and self.on.word(1) == "(":  # texts compare in any case
            self.on.skip(2)
            column = self._column()
            self.on.need(")")
            return column
        kind, name = self.on.next()
        if self.on.word() == ".":
            self.on.skip()
            kind, name = self.on.next()
        column = self.table.columns.get(name) or self.table.columns.get(name.lower())
        if column is None and name.lower() == NAME:
            return Column(NAME, (), "text", (), False)
        if kind != "word" or column is None:
            like = nearest(name, [*self.table.columns])
            raise JaxkgError(f"{self.table.name} has no column {name!r}{like}")
        return column

    def _from(self, words: list[str]) -> Table:
        if not words or words[0] != "select" or "from" not in words[:-1]:
            raise JaxkgError("no SELECT ... FROM a table")
        # A column may be called so, too.
        outer = ["" if depth else word for word, depth in zip(words, depths_of(words))]
        places = [place for place, word in enumerate(outer[:-1], 1) if word == "from"]
        if not places:
            raise JaxkgError("no SELECT ... FROM a table")
        if words[places[0]] == "(":
            return self._derived(self.on.tokens[places[0] :])
        names = [words[place] for place in places]
        for name in names:
            if name in self.tables:
                return self.tables[name]
        raise JaxkgError(f"no table {names[0]!r}; there are {', '.join(self.tables)}")

    def _derived(self, tokens: list[tuple[str, str]]) -> Table:
        """The rows of SELECTs in brackets behind FROM, with UNION between them, as one table."""
        words = words_of(tokens)
        depths = depths_of(words)
        if 0 not in depths:
            raise JaxkgError("a bracket behind FROM is not closed")
        end = depths.index(0)
        cuts = [i for i in range(end) if depths[i] == 1 and words[i] == "union"]
        nodes: list[q.Node] = []
        columns: list[Column] = []
        for first, last in itertools.pairwise([0, *cuts, end]):
            first += 1 + (words[first + 1] == "all")
            part = Reading(self.relational, self.tables, tokens[first:last], self.read_inner)
            try:
                node = part.rows()
            except (NothingLike, NothingCalled):
                continue
            own = [item.column for item in part.items if item.column is not None]
            if part.on.rest or any(item.by != "value" for item in part.items):
                raise JaxkgError("a SELECT behind FROM has columns of rows, WHERE and UNION alone")
            own = own or [*part.table.columns.values()]
            columns = columns or own
            if [column.path for column in own] != [column.path for column in columns]:
                raise JaxkgError("columns of SELECTs behind FROM, with UNION between, are the same")
            nodes.append(node)
        if not nodes:
            raise NothingLike("the SELECT behind FROM finds nothing")
        self._behind = end + 1
        source = nodes[0] if len(nodes) == 1 else q.Union(tuple(nodes))
        name = " ".join(said for _, said in tokens[: end + 1])
        return Table(name, source, 0, {column.name: column for column in columns})


def _path(column: Column) -> tuple[str, ...]:
    """The path of a column that is followed as often as it is long."""
    if column.closure:
        raise JaxkgError(f"{column.name} is of any depth: it is compared by =, or stands alone")
    return column.path
