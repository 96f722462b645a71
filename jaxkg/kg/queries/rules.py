"""What holds of a query graph over a graph: it is sound, what it compares, where it began."""

from __future__ import annotations

from jaxkg import query as q
from jaxkg.errors import JaxkgError
from jaxkg.kg.queries.literals import CLOCK, as_date, as_number
from jaxkg.kg.queries.values import KINDS, Values
from jaxkg.kg.queries.windows import NONE, Window

DEEPEST = 64
"""Operators within each other, at most."""
_KNOWN = frozenset(q.OPERATORS.values())
ROOTS = frozenset((q.Count, q.Total, q.Rows, q.Exists, q.Compared, q.Calculation))
"""Operators that stand at the root alone."""
_KEEPING = q.Where | q.Match | q.Quantifier | q.Extreme | q.Difference
"""Operators that keep some of their source."""


def refuse_unsound(values: Values, query: q.Query) -> None:
    """Refuse a query graph that cannot be executed over a graph.

    Raises:
        JaxkgError: an unknown operator; one that is a root only below another; nothing to start
            from, to step along, to combine, to count, to add up or to order by; an entity or a
            relation that the graph has not; a type that no entity has; a value that cannot be
            compared; n below 1; more than 64 operators within each other, as in a circle.
    """
    _sound(values, query, 0)


def refusal(values: Values, query: q.Query) -> str | None:
    """Why a query graph cannot be executed; None where it can."""
    try:
        refuse_unsound(values, query)
    except JaxkgError as error:
        return str(error)
    return None


def _sound(values: Values, query: q.Query, depth: int) -> None:
    while type(query) is q.Step and depth <= DEEPEST:  # chains, the most of all, without recursion
        refuse_relations(values, query.relations)
        if query.closure or query.during:
            refuse_walk(values, query)
        _refuse_root(query.source)
        query, depth = query.source, depth + 1
    if type(query) not in _KNOWN:
        raise JaxkgError(f"no query graph operator {query!r}; there are {', '.join(q.OPERATORS)}")
    if depth > DEEPEST:
        raise JaxkgError(f"a query graph of more than {DEEPEST} operators within each other")
    if isinstance(query, q.Intersection | q.Union):
        _refuse_untupled(query.parts, type(query).__name__.lower(), "query graphs")
    for child in q.children(query):
        if not (isinstance(child, q.Count) and isinstance(query, q.Compared | q.Calculation)):
            _refuse_root(child)
        _sound(values, child, depth + 1)
    refuse_operator(values, query)


def refuse_operator(values: Values, query: q.Query) -> None:
    """Refuse an operator, but a step, that cannot be executed over others that can.

    Raises:
        JaxkgError: as `refuse_unsound`.
    """
    name = type(query).__name__.lower()
    if isinstance(query, q.Entities):
        _refuse_untupled(query.ids, name, "entities")
        if not query.ids:
            raise JaxkgError("a query graph that starts from no entity")
        for entity in query.ids:
            values.row(entity)
    elif isinstance(query, q.Domain):
        refuse_relations(values, query.relations, name)
    elif isinstance(query, q.Intersection | q.Union):
        if not query.parts:
            raise JaxkgError(f"{name} of nothing")
    elif isinstance(query, q.Where | q.Match | q.Quantifier | q.Extreme | q.Total):
        _refuse_untupled(query.path, name, "relations")
        for relation in query.path:
            values.kg.relation_code(relation)
        if isinstance(query, q.Match):
            _refuse_untupled(query.other, name, "relations")
            match_kind(values, query)
            return
        if isinstance(query, q.Quantifier):
            _refuse_uncounted(query)
            return
        if isinstance(query, q.Total):
            if query.by not in ("sum", "mean"):
                raise JaxkgError(f'total is by "sum" or "mean", not by {query.by!r}')
            _refuse_numberless(values, query.path)
            return
        if query.by not in ("value", "count"):
            raise JaxkgError(f'{name} goes by "value" or "count", not by {query.by!r}')
        if query.by == "count" and not query.path:
            raise JaxkgError(f"{name} counts along a path, but its path is empty")
        if isinstance(query, q.Where):
            where_window(values, query)
            return
        if type(query.n) is not int or query.n < 1:
            raise JaxkgError(
                f"n, the number of first entities, must be at least 1, not {query.n!r}"
            )
        if query.by == "value":
            ends_at(values, query)
    elif isinstance(query, q.Rows):
        refuse_table(values, query)
    elif isinstance(query, q.Compared):
        side_kind(values, query)
    elif isinstance(query, q.Calculation):
        calculation_kind(values, query)


def _refuse_uncounted(node: q.Quantifier) -> None:
    if node.by not in ("inside", "outside", "missing"):
        raise JaxkgError(f'quantifier is by "inside", "outside" or "missing", not by {node.by!r}')
    if not node.path:
        raise JaxkgError("a quantifier counts along a path, but its path is empty")
    if node.comparison not in ("=", "!=", "<", "<=", ">", ">="):
        raise JaxkgError(f"counts do not compare by {node.comparison!r}")
    if type(node.n) is not int or node.n < 0:
        raise JaxkgError(f"a count compares with a whole number from 0, not with {node.n!r}")


def _refuse_root(query: q.Query) -> None:
    if type(query) in ROOTS:
        name = type(query).__name__.lower()
        raise JaxkgError(f"{name} must be the root of a query graph, not a part of it")


def _refuse_untupled(given: object, name: str, what: str) -> None:
    """A text is its letters to a loop, and a list has no place among what is known already."""
    if type(given) is not tuple or (what != "query graphs" and _other_than_texts(given)):
        raise JaxkgError(f"{name} requires a tuple of {what}, not {str(given)[:200]!r}")


def _other_than_texts(given: tuple[object, ...]) -> bool:
    return not all(isinstance(one, str) for one in given)


def refuse_relations(values: Values, relations: tuple[str, ...], name: str = "step") -> None:
    """Refuse a step (or what is named) along nothing, unknown relations, or one twice."""
    _refuse_untupled(relations, name, "relations")
    if relations in values.sound:
        return
    if not relations or len(set(relations)) != len(relations):
        raise JaxkgError(
            f"a {name} requires one relation or several different relations, not {relations}"
        )
    for relation in relations:
        values.kg.relation_code(relation)
    values.sound.add(relations)


def refuse_walk(values: Values, node: q.Step) -> None:
    """Refuse a closure of another kind than there are, or at a time; and what is no time."""
    if node.closure not in ("", "+", "*"):
        raise JaxkgError(f'a closure is "+" (one step or more) or "*", not {node.closure!r}')
    during = node.during
    if during is None:
        return
    if node.closure:
        raise JaxkgError("a closure is walked at no time: what holds then may differ by step")
    if (
        not isinstance(during, q.Value)
        or during.kind != "date"
        or _other_than_texts((during.text, during.unit, during.language))
    ):
        raise JaxkgError(f"facts hold during a date, not during {during!r}")
    if during in values.sound:
        return
    values.window("date", "in", during)
    if (days := as_date(during.text)) and days[0] >= CLOCK:
        raise JaxkgError(f"facts hold on days, not at {during.text!r}")
    values.sound.add(during)


def topics_of(node: q.Query) -> tuple[str, ...]:
    """The entities that an unbroken chain of steps began with.

    >>> topics_of(q.Step(q.Step(q.Entities(("Alien",)), ("by",)), ("^by",)))
    ('Alien',)
    """
    while isinstance(node, q.Step):
        node = node.source
    return node.ids if isinstance(node, q.Entities) else ()


def value_kind(values: Values, node: q.Query) -> str | None:
    """What the entities of a node are as values; None for entities as such."""
    if isinstance(node, q.Step):
        return None if node.closure == "*" else values.kind_along(node.relations)
    if isinstance(node, q.Domain):
        return values.kind_along(node.into)
    if isinstance(node, _KEEPING):
        return value_kind(values, node.source)
    if isinstance(node, q.Entities):
        rows = [values.row(entity) for entity in node.ids]
        kinds = [kind for kind in KINDS[:3] if (values.keys_of(kind)[0][rows] != NONE).all()]
        return kinds[0] if len(kinds) == 1 else None
    if isinstance(node, q.Intersection | q.Union):
        kinds = {value_kind(values, part) for part in node.parts}
        return kinds.pop() if len(kinds) == 1 else None
    return "number" if isinstance(node, q.Count) else None


def ends_at(values: Values, node: q.Extreme) -> str:
    """The kind of value that an order compares.

    Raises:
        JaxkgError: there are none, or they differ in kind or in unit.
    """
    last = last_relations(node)
    kind = values.kind_along(node.path[-1:]) if node.path else value_kind(values, node.source)
    what = f"what {' or '.join(last)} leads to" if last else "the entities"
    if kind is None:
        raise JaxkgError(f"{what} cannot be ordered: neither numbers nor dates")
    units = {unit for name in last for unit in values.units.get(name, ())}
    if kind == "number" and len(units) > 1:
        raise JaxkgError(f"{what} cannot be ordered: numbers in units {sorted(units)}")
    return kind


def _refuse_numberless(values: Values, path: tuple[str, ...]) -> None:
    """Refuse an empty path, or one to no numbers or to those of several units."""
    last = path[-1:]
    if not last:
        raise JaxkgError("a total adds up along a path, but its path is empty")
    if (kind := values.kind_along(last)) != "number":
        told = f"{kind}s" if kind else "things"
        raise JaxkgError(
            f"the values of {last[0]} cannot be added up: they are {told}, not numbers"
        )
    if len(units := values.units.get(last[0], ())) > 1:
        raise JaxkgError(
            f"the values of {last[0]} cannot be added up: their units are {sorted(units)}"
        )


def refuse_table(values: Values, node: q.Rows) -> None:
    """Refuse a table that cannot be told.

    Raises:
        JaxkgError: no columns; a column, condition or order of another kind than there are, or of
            what has no values for it; a place below 1; the first of each group without a group or
            an order.
    """
    for given, name in ((node.columns, "columns"), (node.having, "conditions")):
        if type(given) is not tuple:
            raise JaxkgError(f"a table requires a tuple of {name}, not {str(given)[:200]!r}")
    _refuse_untupled(node.per, "rows", "relations")
    if not node.columns:
        raise JaxkgError("a table of no columns")
    for column in node.columns:
        _refuse_untupled(column.path, "column", "relations")
    for relation in (*node.per, *(name for column in node.columns for name in column.path)):
        values.kg.relation_code(relation)
    for column in node.columns:
        if column.by in ("sum", "mean"):
            _refuse_numberless(values, column.path)
        elif column.by in ("min", "max"):
            _refuse_unordered(values, node, column)
        elif column.by not in ("value", "count"):
            raise JaxkgError(f"a column is by value, count, sum, mean, min or max: {column.by!r}")
    for one in node.having:
        column = _column(node, one.column)
        if column.by == "value" or not isinstance(one.value, q.Value):
            raise JaxkgError(
                "rows of a table are chosen by a number in a column, or by Where before the table"
            )
        if column.by in ("min", "max"):
            kind = _refuse_unordered(values, node, column)
            along = column.path[-1] if column.path else None
            values.window(kind, one.comparison, one.value, along=along)
        elif one.comparison not in ("=", "!=", "<", "<=", ">", ">="):
            raise JaxkgError(f"numbers do not compare by {one.comparison!r}")
        elif as_number(one.value.text) is None or one.value.kind != "number":
            raise JaxkgError(f"a {column.by} compares with a number, not with {one.value.text!r}")
    wrong = [n for n in (node.first, node.last, node.top, node.order) if type(n) is not int]
    if wrong or node.first < 1 or node.last < 0 or node.top < 0:
        raise JaxkgError("places in a table are whole numbers from 1")
    if node.last and node.last < node.first:
        raise JaxkgError(f"rows {node.first} to {node.last}: the last comes before the first")
    if not node.order and (node.first > 1 or node.last or node.top):
        raise JaxkgError("the first rows of a table require an order")
    if node.top and (not node.per or node.first > 1 or node.last):
        raise JaxkgError("the first entity of each group requires groups, and no other places")
    if node.order and (column := _column(node, node.order)).by == "value":
        _refuse_unordered(values, node, column)


def _column(node: q.Rows, number: int) -> q.Column:
    if type(number) is not int or not 1 <= number <= len(node.columns):
        raise JaxkgError(f"a table of {len(node.columns)} columns has none of number {number!r}")
    return node.columns[number - 1]


def _refuse_unordered(values: Values, node: q.Rows, column: q.Column) -> str:
    """The kind of value that a column of numbers or dates has."""
    if not column.path:
        raise JaxkgError("a column of the things themselves has no order")
    return ends_at(values, q.Extreme(node.source, column.path, True))


def last_relations(node: q.Where | q.Extreme) -> tuple[str, ...]:
    """The relations whose tails a condition or an order looks at."""
    if node.path:
        return node.path[-1:]
    below: q.Query = node.source
    while isinstance(below, _KEEPING):
        below = below.source
    if isinstance(below, q.Domain):
        return below.into
    return below.relations if isinstance(below, q.Step) else ()


def where_window(values: Values, node: q.Where) -> tuple[str, Window]:
    """The kind that a condition compares, or "count", and the keys that satisfy it.

    Raises:
        JaxkgError: the value cannot be compared with what the path leads to, or is a type (or
            other entity) that no entity has.
    """
    if node.by == "count":
        return "count", values.window("count", node.comparison, node.value)
    last = last_relations(node)
    along = last[0] if len(last) == 1 else None
    if isinstance(node.value, str):
        window = values.window("entity", node.comparison, node.value)
        sought = node.path[-1] if node.comparison == "=" and node.path else None
        if sought and values.row(node.value) not in values.ends_of(sought):
            raise JaxkgError(f"no entity has {node.value!r} at the end of {sought}")
        return "entity", window
    if not isinstance(node.value, q.Value) or node.value.kind not in KINDS[:4]:
        raise JaxkgError(f"a condition compares with a Value or an entity id, not {node.value!r}")
    if _other_than_texts((node.value.text, node.value.unit, node.value.language)):
        raise JaxkgError(
            f"a value is written as a text, as in Value('number', '12.5'): {node.value}"
        )
    kind = node.value.kind
    known = values.kind_along(last) if last else None
    if kind != "text" and last and known != kind:
        keys = values.keys_of(kind)[0]
        if not any((keys[values.ends_of(name)] != NONE).any() for name in last):
            raise JaxkgError(
                f"{node.value.text!r} is a {kind}; what {' or '.join(last)} leads to is "
                f"{'a ' + known if known else 'no ' + kind}: they cannot be compared"
            )
    return kind, values.window(kind, node.comparison, node.value, along=along)


def match_kind(values: Values, node: q.Match) -> str:
    """What the ends of the two paths of a `Match` are compared as.

    Raises:
        JaxkgError: no path, an unknown relation, or see `side_kind`.
    """
    if not (node.path or node.other):
        raise JaxkgError("a match of an entity with itself: both paths are empty")
    for relation in (*node.path, *node.other):
        values.kg.relation_code(relation)
    sides = (
        q.Step(node.source, path[-1:]) if path else node.source for path in (node.path, node.other)
    )
    return side_kind(values, q.Compared(next(sides), node.comparison, next(sides)))


def side_kind(values: Values, query: q.Compared) -> str:
    """What the two sides of a comparison are compared as.

    Raises:
        JaxkgError: they are of different kinds or units, or entities that are ordered.
    """
    counts = [isinstance(side, q.Count) for side in (query.left, query.right)]
    if counts[0] != counts[1]:
        raise JaxkgError("a count can be compared with another count only")
    kinds = [value_kind(values, side) for side in (query.left, query.right)]
    if kinds[0] != kinds[1]:
        told = [kind or "an entity" for kind in kinds]
        raise JaxkgError(f"{told[0]} cannot be compared with {told[1]}")
    kind = kinds[0] or "entity"
    if query.comparison not in ("=", "!=", "<", "<=", ">", ">=", "in"):
        raise JaxkgError(f"no comparison {query.comparison!r}")
    if query.comparison == "in" and kind != "date":
        raise JaxkgError(f"{kind} values are not `in` each other, as dates are")
    if kind == "entity" and query.comparison not in ("=", "!="):
        raise JaxkgError("entities compare by = and != alone; they have no values to order")
    if kind == "number" and not counts[0]:
        sides = [_unit(values, side) for side in (query.left, query.right)]
        if sides[0] != sides[1] or len(sides[0]) > 1:
            raise JaxkgError(f"numbers in units {sides[0]} and {sides[1]} cannot be compared")
    return kind


def calculation_kind(values: Values, query: q.Calculation) -> str:
    """What the two sides of a calculation are: "number" or "date".

    Raises:
        JaxkgError: they cannot be compared, or what is wanted of them is for another kind.
    """
    kind = side_kind(values, q.Compared(query.left, "=", query.right))
    wanted = dict.fromkeys(("sum", "difference", "ratio"), "number")
    wanted |= dict.fromkeys(("days", "years"), "date")
    if query.by not in wanted:
        raise JaxkgError(f"a calculation is by {', '.join(wanted)}, not by {query.by!r}")
    if wanted[query.by] != kind:
        raise JaxkgError(f"{query.by} is of two {wanted[query.by]}s, not of two of kind {kind}")
    return kind


def _unit(values: Values, node: q.Query) -> tuple[str, ...]:
    while isinstance(node, _KEEPING):
        node = node.source
    if isinstance(node, q.Step | q.Domain):
        into = node.relations if isinstance(node, q.Step) else node.into
        return tuple(sorted({unit for name in into for unit in values.units[name]}))
    if isinstance(node, q.Entities):
        return tuple(sorted({values.unit(values.row(entity)) for entity in node.ids}))
    if isinstance(node, q.Intersection | q.Union):
        return _unit(values, node.parts[0])
    return ()
