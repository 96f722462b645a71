"""A query graph in words: how a question was read."""

from __future__ import annotations

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.query import (
    Compared,
    Count,
    Difference,
    Domain,
    Entities,
    Exists,
    Extreme,
    Intersection,
    Query,
    Rows,
    Step,
    Total,
    Union,
    Value,
    Where,
)
from jaxkg.words import one_line

_DATES = {
    "=": "exactly",
    "!=": "at another time than",
    "<": "before",
    "<=": "no later than",
    ">": "after",
    ">=": "no earlier than",
    "in": "in",
}
_OTHERS = {
    "=": "",
    "!=": "other than",
    "<": "less than",
    "<=": "at most",
    ">": "more than",
    ">=": "at least",
}
_COLUMNS = {
    "value": "", "count": "number of ", "sum": "sum of ", "mean": "mean of ",
    "min": "smallest or earliest ", "max": "largest or latest ",
}  # fmt: skip
_OFTEN = {"": "", "+": " (once or more often)", "*": " (any number of times, or none)"}


def query_words(kg: KnowledgeGraph, query: Query) -> str:
    """A query graph told with the graph's own labels; the arrows show how relations are walked.

    >>> kg = KnowledgeGraph.from_triples([("Alien", "directed_by", "Ridley Scott")])
    >>> films = Step(Entities(("Ridley Scott",)), ("^directed_by",))
    >>> query_words(kg, Count(films))
    'how many there are of: Ridley Scott ← directed by'
    """
    if isinstance(query, Count):
        return f"how many there are of: {_told(kg, query.source)}"
    if isinstance(query, Total):
        source, path = _bracketed(kg, query.source), _path(kg, query.path)
        return f"the {query.by} of what these lead to by {path}: {source}"
    if isinstance(query, Rows):
        return _table(kg, query)
    if isinstance(query, Exists):
        return f"whether there is any of: {_told(kg, query.source)}"
    if isinstance(query, Compared):
        words = "the same as" if query.comparison == "=" else _comparing(query.comparison, query)
        left, right = (
            f"the number of ({_told(kg, side.source)})"
            if isinstance(side, Count)
            else _told(kg, side)
            for side in (query.left, query.right)
        )
        return f"whether {left} is {words} {right}"
    return _told(kg, query)


def column_words(kg: KnowledgeGraph, query: Rows) -> tuple[str, ...]:
    """What the rows of a table are of, and what each cell of them is.

    >>> kg = KnowledgeGraph.from_triples([("Alien", "directed_by", "Ridley Scott")])
    >>> from jaxkg.query import Column
    >>> films = Column(("^directed_by",), "count")
    >>> column_words(kg, Rows(Domain(("^directed_by",)), (films,)))
    ('of', 'number of ← directed by')
    """
    told = []
    for column in query.columns:
        path = _path(kg, column.path).removeprefix("→ ")
        number = "number" if column.by == "count" and not path else _COLUMNS[column.by]
        told.append(f"{number}{path or ('' if column.by == 'count' else 'which')}")
    shared = _path(kg, query.per).removeprefix("→ ") or "of"
    return ("of", shared, *told) if query.top else (shared, *told)


def _table(kg: KnowledgeGraph, query: Rows) -> str:
    of, columns = _bracketed(kg, query.source), column_words(kg, query)[-len(query.columns) :]
    if query.per:
        of = f"each {_path(kg, query.per)} of {of}"
    words = [f"a row for {of if query.per else f'each of {of}'}, with {', '.join(columns)}"]
    for one in query.having:
        sign = "exactly" if one.comparison == "=" else (_DATES | _OTHERS)[one.comparison]
        if query.columns[one.column - 1].by in ("min", "max") and one.value.kind == "date":
            sign = _DATES[one.comparison]
        words.append(f"where {columns[one.column - 1]} is {sign} {one_line(one.value.text)}")
    if query.order:
        way = "from the largest or latest" if query.largest else "from the smallest or earliest"
        words.append(f"ordered by {columns[query.order - 1]}, {way}")
    if query.top:
        words.append(f"the first {query.top} of each")
    elif query.last or query.first > 1:
        words.append(f"rows {query.first} to {query.last or 'the end'}")
    return "; ".join(words)


def _comparing(comparison: str, query: Query) -> str:
    ordered = isinstance(query, Compared) and not isinstance(query.left, Count)
    if comparison == "!=":
        return "other than"
    return _DATES[comparison] + " or " + _OTHERS[comparison] if ordered else _OTHERS[comparison]


def _told(kg: KnowledgeGraph, node: Query) -> str:
    if isinstance(node, Entities):
        return " or ".join(_named(kg, entity) for entity in node.ids)
    if isinstance(node, Domain):
        return "everything that has " + " or ".join(_hop(kg, name) for name in node.relations)
    if isinstance(node, Step):
        steps: list[Step] = []
        start: Query = node
        while isinstance(start, Step):
            steps.append(start)
            start = start.source
        hops = [_hops(kg, step) for step in reversed(steps)]
        # One step alone comes back only where a triple has the same entity at both ends.
        longer = len(steps) > 1 or steps[0].closure != ""
        other = longer and not all(step.returns for step in steps)
        return " ".join([_bracketed(kg, start), *hops]) + " (the start left out)" * other
    if isinstance(node, Intersection):
        return "both " + " and ".join(f"({_told(kg, part)})" for part in node.parts)
    if isinstance(node, Union):
        return " or ".join(f"({_told(kg, part)})" for part in node.parts)
    if isinstance(node, Difference):
        return f"({_told(kg, node.source)}) but not ({_told(kg, node.without)})"
    if isinstance(node, Where):
        path = _path(kg, node.path)
        if node.by == "count":
            wanted = "exactly " * (node.comparison == "=") + _wanted(kg, node)
            return f"{_bracketed(kg, node.source)}, with {wanted} {path}"
        what = f"whose {path} is" if path else "that is"
        return f"{_bracketed(kg, node.source)}, {what} {_wanted(kg, node)}"
    assert isinstance(node, Extreme)
    source = _bracketed(kg, node.source)
    path = _path(kg, node.path)
    first = "first" if node.n == 1 else f"first {node.n}"
    if node.by == "count":
        return f"of {source} the {first} with the {'most' if node.largest else 'fewest'} {path}"
    by = f" by {path}" if path else ""
    order = "from the largest or latest" if node.largest else "from the smallest or earliest"
    return f"of {source} the {first}{by}, {order}"


def _wanted(kg: KnowledgeGraph, node: Where) -> str:
    if not isinstance(node.value, Value):
        return f"{_OTHERS[node.comparison]} {_named(kg, node.value)}".strip()
    value = one_line(f"{node.value.text} {node.value.unit}".strip())
    if node.value.kind == "date":
        return f"{_DATES[node.comparison]} {value}"
    return f"{_OTHERS[node.comparison]} {value}".strip()


def _hops(kg: KnowledgeGraph, step: Step) -> str:
    hop = " or ".join(_hop(kg, name) for name in step.relations)
    return hop + _OFTEN[step.closure]


def _path(kg: KnowledgeGraph, path: tuple[str, ...]) -> str:
    return " ".join(_hop(kg, name) for name in path)


def _hop(kg: KnowledgeGraph, name: str) -> str:
    arrow = "←" if name.startswith("^") else "→"
    code = kg.relation_code(name) % kg.num_relations
    return f"{arrow} {one_line(kg.relation_labels[code])}"


def _bracketed(kg: KnowledgeGraph, node: Query) -> str:
    told = _told(kg, node)
    plain = isinstance(node, Step) or (isinstance(node, Entities) and len(node.ids) == 1)
    return told if plain else f"({told})"


def _named(kg: KnowledgeGraph, entity: str) -> str:
    """Display name, and the id beside one that others bear too."""
    name = one_line(kg.name(kg.entity(entity)))
    return name if len(kg.entity_names.rows(name)) <= 1 else f"{name} [{one_line(entity)}]"
