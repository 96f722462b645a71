"""Query graphs: what a question means, as a small tree over a graph's own names.

Every node but the last six denotes a set of entities; literals are entities too. A relation path
is `Step(Step(Entities(topic), r1), r2)`. Host records only: `jaxkg.kg.queries.sets` executes
them, `jaxkg.cite` proves what came out.

    >>> alien = Entities(("Alien",))
    >>> Count(Step(alien, ("starred_actors",))).source.relations
    ('starred_actors',)
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from jaxkg.errors import JaxkgError

Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "in"]
"""`in` is for dates: a value within a year, a month or a day."""

Closure: TypeAlias = Literal["", "+", "*"]
"""How often a step is walked: once; once or more; also not at all. As SPARQL's paths write it."""


@dataclasses.dataclass(frozen=True)
class Value:
    """A typed value to compare with.

    Attributes:
        kind: what it is compared as.
        text: canonical form: "12.5", "1990", "1990-05", "1990-05-02", "16:30", "true", or the text
            itself.
        unit: text of a number's unit ("km"), where it has one.
        language: of a text, where it is known.
    """

    kind: Literal["number", "date", "boolean", "text"]
    text: str
    unit: str = ""
    language: str = ""


@dataclasses.dataclass(frozen=True)
class Entities:
    """These entities, by id."""

    ids: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Domain:
    """Everything that has any of these relations; by an inverse, all that the relation leads to.

    >>> Domain(("directed_by", "^written_by")).into
    ('^directed_by', 'written_by')
    """

    relations: tuple[str, ...]

    @property
    def into(self) -> tuple[str, ...]:
        """The same relations, walked the other way: what leads to its entities."""
        return tuple(map(inverse, self.relations))


@dataclasses.dataclass(frozen=True)
class Step:
    """What any of these relations leads to from the source; an inverse relation is `^name`.

    Where it must not return, it leaves out the entities that its chain of steps began with: of an
    unbroken chain of steps from `Entities`, those entities. Otherwise it leaves out nothing.

    A closure walks any number of such steps one after another: by "+" one or more, by "*" also
    none, so that the source is a part of it. A circle is walked once.

    `during` a date, a year or a month, facts count that hold on one of its days, by what is said
    of them (`jaxkg.kg.queries.times`); a fact of which no time is told counts.
    """

    source: Node
    relations: tuple[str, ...]
    returns: bool = True
    closure: Closure = ""
    during: Value | None = None


@dataclasses.dataclass(frozen=True)
class Intersection:
    """Entities in all parts."""

    parts: tuple[Node, ...]


@dataclasses.dataclass(frozen=True)
class Union:
    """Entities in any part."""

    parts: tuple[Node, ...]


@dataclasses.dataclass(frozen=True)
class Difference:
    """Entities of the source that are not in the other."""

    source: Node
    without: Node


@dataclasses.dataclass(frozen=True)
class Where:
    """Entities of the source for which some end of a relation path compares as wanted.

    An entity id as `value` keeps those whose path reaches that entity: a type, a country (`=`), or
    some other than it (`!=`). An empty path compares the entity itself. How values compare:
    `jaxkg.kg.queries.values`. By "count" it is how many entities the path leads to, possibly 0,
    that compares with a whole number.
    """

    source: Node
    path: tuple[str, ...]
    comparison: Comparison
    value: Value | str
    by: Literal["value", "count"] = "value"


@dataclasses.dataclass(frozen=True)
class Match:
    """Entities of the source for which some end of a path compares with some end of another.

    Who lives where they work; films that earned more than they cost. Values compare as values of
    one kind, other ends by = and != alone. An empty path compares the entity itself.
    """

    source: Node
    path: tuple[str, ...]
    comparison: Comparison
    other: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Quantifier:
    """Entities of the source of whose path's ends as many as wanted are in a set.

    By "inside" the ends that are in the set are counted: none of them (`= 0`), exactly two. By
    "outside" the other ends are: with `= 0`, all ends are in the set; what has no end takes no
    part. By "missing" it is those of the set that are no end: with `= 0`, all of the set are ends;
    nothing takes part where the set is empty.
    """

    source: Node
    path: tuple[str, ...]
    within: Node
    comparison: Comparison = "="
    n: int = 0
    by: Literal["inside", "outside", "missing"] = "inside"


@dataclasses.dataclass(frozen=True)
class Extreme:
    """The first `n` entities of the source, ordered by a value or a count at the end of a path.

    Ties with the n-th are kept. Of several values of one entity the foremost counts. An entity
    without a value does not take part; by "count" of what the path leads to, it has 0. An empty
    path orders the entities by themselves.
    """

    source: Node
    path: tuple[str, ...]
    largest: bool
    n: int = 1
    by: Literal["value", "count"] = "value"


@dataclasses.dataclass(frozen=True)
class Count:
    """How many entities the source has. A root only."""

    source: Node


@dataclasses.dataclass(frozen=True)
class Total:
    """The sum or the mean of the numbers at the end of a path from the source. A root only.

    Every entity adds each of its numbers, also where others have the same; one without a number
    adds none. A mean is of numbers, not of entities.
    """

    source: Node
    path: tuple[str, ...]
    by: Literal["sum", "mean"] = "sum"


@dataclasses.dataclass(frozen=True)
class Column:
    """What a table tells of the entities of each row: all ends of a path, or a number of them.

    Attributes:
        path: from the entities; an empty one leads to themselves.
        by: "value" lists the ends; "count" tells how many different ones there are; "sum" and
            "mean" are of numbers, see `Total`; "min" and "max" of numbers or dates.
    """

    path: tuple[str, ...]
    by: Literal["value", "count", "sum", "mean", "min", "max"] = "value"


@dataclasses.dataclass(frozen=True)
class Having:
    """Those rows of a table whose number, or date, in a column (from 1) compares as wanted."""

    column: int
    comparison: Comparison
    value: Value


@dataclasses.dataclass(frozen=True)
class Rows:
    """A table: a row for every entity of the source, or for every group of them. A root only.

    Attributes:
        source: what it is of.
        columns: what each row tells.
        per: a path from the entities; all that lead to the same end are one group, told by it.
            Empty: each is its own.
        having: which rows are kept.
        order: number of the column, from 1, that orders the rows; 0 for none.
        largest: whether its largest or latest come first.
        first, last: places of the first and the last row that is told, from 1, 0 for the end.
            Rows that are equal share their places. A row without a value takes no part in these.
        top: how many entities, in that order, are told of each group, a row each; 0 for all of
            them in one row.
    """

    source: Node
    columns: tuple[Column, ...]
    per: tuple[str, ...] = ()
    having: tuple[Having, ...] = ()
    order: int = 0
    largest: bool = True
    first: int = 1
    last: int = 0
    top: int = 0


@dataclasses.dataclass(frozen=True)
class Exists:
    """Whether the source has any entity: yes or no. A root only."""

    source: Node


@dataclasses.dataclass(frozen=True)
class Compared:
    """Whether a value of the left compares as wanted with one of the right. A root only.

    Entities without values are equal where they are the same. Two counts compare as numbers.
    """

    left: Node | Count
    comparison: Comparison
    right: Node | Count


@dataclasses.dataclass(frozen=True)
class Calculation:
    """The sum, the difference, the ratio or the duration of two values. A root only.

    Each side leads to one value, or counts; otherwise there is no number. By "sum" it is both
    together, by "difference" left minus right, in their unit; by "ratio" left divided by right, of
    6 digits or more. Of dates it is the "days", or the whole "years", from right to left, between
    their first days.
    """

    left: Node | Count
    by: Literal["sum", "difference", "ratio", "days", "years"]
    right: Node | Count


Kept: TypeAlias = "Difference | Where | Match | Quantifier | Extreme"
"""Some of the entities of a source."""
Node: TypeAlias = "Entities | Domain | Step | Intersection | Union | Kept"
Query: TypeAlias = "Node | Count | Total | Rows | Exists | Compared | Calculation"
"""What a question may mean as a whole."""


def inverse(relation: str) -> str:
    """A relation walked the other way.

    >>> inverse("directed_by"), inverse("^directed_by")
    ('^directed_by', 'directed_by')
    """
    return relation[1:] if relation.startswith("^") else f"^{relation}"


def path_query(topics: tuple[str, ...], relations: Sequence[str], *, returns: bool = True) -> Node:
    """A relation path as a query graph; relations that share a hop stand with | between.

    >>> path_query(("Alien",), ("directed_by",)) == Step(Entities(("Alien",)), ("directed_by",))
    True
    """
    node: Node = Entities(topics)
    for hop in relations:
        node = Step(node, tuple(hop.split("|")), returns)
    return node


OPERATORS: dict[str, type] = {
    made.__name__.lower(): made
    for made in (
        Entities,
        Domain,
        Step,
        Intersection,
        Union,
        Difference,
        Where,
        Match,
        Quantifier,
        Extreme,
        Count,
        Total,
        Rows,
        Exists,
        Compared,
        Calculation,
    )
}
"""Every operator by its name in JSON."""

_CHILDREN = {"source", "without", "within", "left", "right"}
_LISTS = {"parts", "ids", "relations", "path", "other", "per", "columns", "having"}
_RECORDS: dict[str, type] = {"columns": Column, "having": Having}
_PLAIN = {"returns": bool, "largest": bool}
_PLAIN |= dict.fromkeys(("n", "column", "order", "first", "last", "top"), int)
_LATER = {"closure", "during"}
_DEEPEST = 64


def children(query: Query) -> tuple[Node | Count, ...]:
    """The query graphs right below this one.

    >>> children(Count(Entities(("Alien",))))
    (Entities(ids=('Alien',)),)
    """
    if isinstance(query, (Intersection, Union)):
        return query.parts
    fields = (field.name for field in dataclasses.fields(query))
    return tuple(getattr(query, name) for name in fields if name in _CHILDREN)


def query_to_dict(query: Query) -> dict[str, Any]:
    """Plain dictionaries and lists, ready for JSON; `query_from_dict` is its inverse.

    >>> query_to_dict(Count(Entities(("Alien",))))
    {'operator': 'count', 'source': {'operator': 'entities', 'ids': ['Alien']}}
    """
    raw: dict[str, Any] = {"operator": type(query).__name__.lower()}
    for field in dataclasses.fields(query):
        value = getattr(query, field.name)
        if field.name in _CHILDREN:
            raw[field.name] = query_to_dict(value)
        elif field.name == "parts":
            raw[field.name] = [query_to_dict(part) for part in value]
        elif field.name in _RECORDS:
            raw[field.name] = [json.loads(json.dumps(dataclasses.asdict(part))) for part in value]
        elif isinstance(value, Value):
            raw[field.name] = dataclasses.asdict(value)
        elif field.name not in _LATER or value != field.default:
            raw[field.name] = list(value) if isinstance(value, tuple) else value
    return raw


def query_from_dict(raw: Any, *, depth: int = 0) -> Query:
    """A query graph from what `query_to_dict` made, or from JSON written elsewhere.

    Raises:
        JaxkgError: an unknown operator or field, a field that is missing or of another type, or
            more than 64 operators within each other.

    >>> query_from_dict({"operator": "entities", "ids": ["Alien"]})
    Entities(ids=('Alien',))
    """
    if depth > _DEEPEST:
        raise JaxkgError(f"a query graph of more than {_DEEPEST} operators within each other")
    name = raw.get("operator") if isinstance(raw, Mapping) else raw
    if not isinstance(raw, Mapping) or not isinstance(name, str) or name not in OPERATORS:
        raise JaxkgError(
            f"no query graph operator {str(name)[:80]!r}; there are {', '.join(OPERATORS)}"
        )
    made = OPERATORS[name]
    return made(**_fields_from(name, made, raw, depth))


def _fields_from(name: str, made: type, raw: Mapping[str, Any], depth: int) -> dict[str, Any]:
    fields = {field.name: field for field in dataclasses.fields(made)}
    if unknown := raw.keys() - fields.keys() - {"operator"}:
        raise JaxkgError(f"{name} has no field {min(map(str, unknown))!r}; it has {list(fields)}")
    given: dict[str, Any] = {}
    for field in fields.values():
        if field.name in raw:
            given[field.name] = _field_from(name, field.name, raw[field.name], depth)
        elif field.default is dataclasses.MISSING:
            raise JaxkgError(f"{name} lacks its field {field.name!r}")
    return given


def _field_from(operator: str, name: str, value: Any, depth: int) -> Any:
    if name in _CHILDREN:
        return query_from_dict(value, depth=depth + 1)
    if name == "parts" and isinstance(value, list):
        return tuple(query_from_dict(part, depth=depth + 1) for part in value)
    if name in _RECORDS and isinstance(value, list) and all(isinstance(v, Mapping) for v in value):
        made = _RECORDS[name]
        return tuple(made(**_fields_from(made.__name__.lower(), made, v, depth)) for v in value)
    if name in _LISTS and name not in _RECORDS and isinstance(value, list | tuple):
        if all(isinstance(part, str) for part in value):
            return tuple(value)
    elif name in ("value", "during") and isinstance(value, Mapping):
        texts = all(isinstance(part, str) for part in value.values())
        if texts and {"kind", "text"} <= value.keys() <= {"kind", "text", "unit", "language"}:
            return Value(**value)
    elif name not in _LISTS and type(value) is _PLAIN.get(name, str):
        return value
    raise JaxkgError(f"{operator}: its {name} cannot be {str(value)[:80]!r}")
