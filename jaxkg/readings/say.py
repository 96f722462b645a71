"""A query graph in one plain English sentence: what is said is what is executed.

No two query graphs of one graph are said alike. A phrase stands in square brackets where it could
be read together with what follows, and a name in quotation marks where it could be taken for words
of the sentence, so that the sentence is read in one way (a grammar in the tests reads it back).

A relation called by a noun is said as "the director of Alien" and "films whose director is Ridley
Scott"; one whose label joins two things as "what Alien is directed by" and "films that are
directed by Ridley Scott". To add an operator, write a function beside the others and name it in
`PHRASES` (what denotes entities) or `_SENTENCES` (what is asked as a whole).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.query import (
    Calculation,
    Column,
    Compared,
    Count,
    Domain,
    Exists,
    Node,
    Query,
    Rows,
    Step,
    Total,
    Where,
)
from jaxkg.readings.labels import GraphWords, graph_words, plural
from jaxkg.readings.phrases import ORDERED, Speaker, all_of, having, noun_of, of_domain


def say(words: KnowledgeGraph | GraphWords, query: Query, *, masked: Collection[str] = ()) -> str:
    """A query graph as a plain English phrase, or as a question where it asks for yes or no.

    Args:
        words: the graph, or what it calls its things.
        query: the query graph.
        masked: ids of entities that are called "it".

    Raises:
        JaxkgError: the graph has no such entity or relation.

    >>> from jaxkg.query import Entities, Extreme, Value, Where
    >>> kg = KnowledgeGraph.from_triples([
    ...     ("Alien", "director", "Ridley Scott"), ("Alien", "year", "1979"),
    ...     ("Alien", "type", "Film")])
    >>> films = Step(Entities(("Ridley Scott",)), ("^director",))
    >>> say(kg, films), say(kg, Step(Entities(("Alien",)), ("director",)))
    ('films whose director is Ridley Scott', 'the director of Alien')
    >>> say(kg, Count(Where(films, ("year",), "<", Value("date", "1990"))))
    'how many films whose director is Ridley Scott and whose year is before 1990'
    >>> say(kg, Extreme(films, ("year",), largest=True))
    'the film whose director is Ridley Scott with the latest year'
    """
    speaker = _speaker(words, masked)
    sentence = _SENTENCES.get(type(query))
    return sentence(speaker, query) if sentence else speaker.phrase(query).text


def _speaker(words: KnowledgeGraph | GraphWords, masked: Collection[str] = ()) -> Speaker:
    return Speaker(graph_words(words) if isinstance(words, KnowledgeGraph) else words, masked)


# What is asked as a whole. Each: (speaker, query) -> str.


def _count(speaker: Speaker, query: Count) -> str:
    return f"how many {_counted(speaker, query.source)}"


def _exists(speaker: Speaker, query: Exists) -> str:
    return f"are there any {_counted(speaker, query.source)}?"


def _counted(speaker: Speaker, node: Node) -> str:
    if isinstance(node, Domain):
        noun = noun_of(speaker, node, "{}")
        return f"{plural(noun)} that {having(speaker, node, ('have', 'are'))}"
    text = speaker.phrase(node).text
    if isinstance(node, Step):
        if all_of(speaker, node):
            return text.removeprefix("all ")
        if text.startswith("the "):
            return text.removeprefix("the ")
    if isinstance(node, Step | Where) and not text.startswith(("[", "what ", "all ", "every")):
        return text
    return f"of {text}"


def _total(speaker: Speaker, query: Total) -> str:
    what = "sum" if query.by == "sum" else "average"
    if not query.path:
        return f"the {what} of [{speaker.phrase(query.source).text}]"
    source = speaker.within(query.source).text
    if of_domain(query.source, query.path):
        source = f"every{noun_of(speaker, query.source, ' {}')}"
    if text := speaker.path(query.path):
        return f"the {what} of the {text} of {source}"
    return f"the {what} of [{speaker.ends(query.path)}] over {source}"


def _compared(speaker: Speaker, query: Compared) -> str:
    along = query.right.relations if isinstance(query.right, Step) else ()
    order = speaker.order(query.comparison, along)
    left, right = (_side(speaker, side) for side in (query.left, query.right))
    return f"is {left} {order} {right}?"


def _calculation(speaker: Speaker, query: Calculation) -> str:
    left, right = (_side(speaker, side) for side in (query.left, query.right))
    if query.by == "sum":
        return f"how much [{left}] and [{right}] are together"
    if query.by == "difference":
        return f"how much more [{left}] is than [{right}]"
    if query.by == "ratio":
        return f"how many times as much [{left}] is as [{right}]"
    return f"how many {query.by} it is from [{right}] to [{left}]"


def _side(speaker: Speaker, side: Node | Count) -> str:
    number = isinstance(side, Count)
    node = side.source if isinstance(side, Count) else side
    return "the number of " * number + speaker.within(node, closed=True).text


def column_words(words: KnowledgeGraph | GraphWords, query: Rows) -> tuple[str, ...]:
    """What the rows of a table are of, and what each cell of them is.

    >>> kg = KnowledgeGraph.from_triples([("Alien", "director", "Ridley Scott")])
    >>> column_words(kg, Rows(Domain(("director",)), (Column(("director",), "count"),)))
    ('of', 'number of director')
    """
    speaker = _speaker(words)
    told = [_column(speaker, column).removeprefix("the ") for column in query.columns]
    shared = _way(speaker, query.per) if query.per else "of"
    return ("of", shared, *told) if query.top else (shared, *told)


def _way(speaker: Speaker, path: tuple[str, ...]) -> str:
    return speaker.path(path, verbs=True) or (speaker.ends(path) if path else "")


def _column(speaker: Speaker, column: Column) -> str:
    what = _way(speaker, column.path)
    if column.by == "value":
        return what or "which"
    if column.by in ("min", "max"):
        return f"the {ORDERED[column.by == 'max', speaker.dated(column.path)]} {what}"
    number = {"count": "number", "sum": "sum", "mean": "average"}[column.by]
    return f"the {number} of {what}" if what else f"the {number}"


def _rows(speaker: Speaker, query: Rows) -> str:
    columns = [_column(speaker, column) for column in query.columns]
    told = [f"a table of {speaker.phrase(query.source).text}"]
    if query.per:
        told.append(f"a row for each {_way(speaker, query.per)}")
    told += (f"with {column}" for column in columns)
    for one in query.having:
        value = speaker.value(one.comparison, one.value)
        told.append(f"where {columns[one.column - 1]} is {value}")
    if query.order:
        order = ORDERED[query.largest, False]
        told.append(f"ordered by {columns[query.order - 1]} from the {order}")
    if query.top:
        told.append(f"the first {query.top} of each")
    if query.first > 1 or query.last:
        told.append(f"rows {query.first} to {query.last or 'the end'}")
    return "; ".join(told)


_SENTENCES: dict[type, Callable[[Speaker, Any], str]] = {
    Count: _count,
    Exists: _exists,
    Total: _total,
    Rows: _rows,
    Compared: _compared,
    Calculation: _calculation,
}
