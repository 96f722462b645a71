"""Query graphs: what a question means, as a small tree over a graph's own names.

Every node but the last three denotes a set of entities; literals are entities too. A relation path
is `Step(Step(Entities(topic), r1), r2)`. Host records only: `jaxkg.search.query_graphs` executes
them, `jaxkg.cite` proves what came out.

    >>> alien = Entities(("Alien",))
    >>> Count(Step(alien, ("starred_actors",)))
    Count(source=Step(source=Entities(ids=('Alien',)), relations=('starred_actors',)))
"""

from __future__ import annotations

import dataclasses
from typing import Literal, TypeAlias

Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "in"]
"""`in` is for dates: a value within a year, a month or a day."""


@dataclasses.dataclass(frozen=True)
class Value:
    """A typed value to compare with.

    Attributes:
        kind: what it is compared as.
        text: canonical form: "12.5", "1990", "1990-05", "1990-05-02", "true", or the text itself.
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
class Step:
    """What any of these relations leads to from the source; an inverse relation is `^name`."""

    source: Node
    relations: tuple[str, ...]


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

    An entity id as `value` keeps those whose path reaches that entity: a type, a country. An empty
    path compares the entity itself.
    """

    source: Node
    path: tuple[str, ...]
    comparison: Comparison
    value: Value | str


@dataclasses.dataclass(frozen=True)
class Extreme:
    """The first `n` entities of the source, ordered by a value or a count at the end of a path.

    Ties with the n-th are kept. An entity without a value does not take part; by "count", it has 0.
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
class Exists:
    """Whether the source has any entity: yes or no. A root only."""

    source: Node


@dataclasses.dataclass(frozen=True)
class Compared:
    """Whether a value of the left compares as wanted with one of the right. A root only."""

    left: Node
    comparison: Comparison
    right: Node


Node: TypeAlias = "Entities | Step | Intersection | Union | Difference | Where | Extreme"
Query: TypeAlias = "Node | Count | Exists | Compared"
"""What a question may mean as a whole."""


def path_query(topics: tuple[str, ...], relations: tuple[str, ...]) -> Node:
    """A relation path as a query graph.

    >>> path_query(("Alien",), ("directed_by",))
    Step(source=Entities(ids=('Alien',)), relations=('directed_by',))
    """
    node: Node = Entities(topics)
    for relation in relations:
        node = Step(node, (relation,))
    return node
