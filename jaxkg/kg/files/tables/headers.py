"""What the header of a table says of its rows: their sort, their full names, labels, two others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxkg.kg.files.tables.keys import one_of
from jaxkg.words import relation_words

_FIRST = ("firstname", "givenname", "givennames", "given", "forename", "vorname", "namefirst")
_LAST = ("lastname", "surname", "familyname", "familynames", "family", "nachname", "namelast")
_ANY_WORDS = (
    "id ids no nr num number key code uid uuid guid ref identifier uri iri url index row line "
    "record entry entity subject object head node vertex source from thing name names label title "
    "text first last given family forename surname vorname nachname full common display official "
    "preferred short original"
)
ANY = frozenset(_ANY_WORDS.split())
"""Words of a first column's header that do not say what its rows are."""
SORT = ("is a", "type")
"""Relations by which a row is told to be of a sort, the first that no column is called."""
_SEVERAL = re.compile(
    r"(?!(facts|rows|entries|lines|sheets|exports|triples|details|nodes|entities|vertices)$)"
    r"(people|staff|[^\W\d]*[^\W\daius]s)"
)
"""The last word of a title that says what several rows are."""


def row_sort(header: str, title: str) -> str:
    """What each row of a table is, as its first column is called; else as the table is.

    Args:
        header: of the first column.
        title: of the table, a file's or a sheet's name: it says so in the plural alone.

    Returns:
        "" where neither says it.

    >>> row_sort("Park", "2023"), row_sort("employee_id", "team"), row_sort("id", "old_projects")
    ('park', 'employee', 'old projects')
    >>> row_sort("id", "groundStations"), row_sort("", "orders_export_1")
    ('ground stations', 'orders')
    >>> row_sort("id", "team"), row_sort("Name", "data.2023"), row_sort("hostname", "Boss")
    ('', '', '')
    """
    words = relation_words(header).lower().split()
    calls = words[-1:] != ["name"] and header.lower().endswith("name")  # a `hostname`
    words = [] if calls else words
    if all(word.isalpha() for word in words) and (sort := [w for w in words if w not in ANY]):
        return " ".join(sort)
    words = relation_words(title).replace("_", " ").lower().removeprefix("all ").split()
    while words and not any(map(_SEVERAL.fullmatch, (words[-1], f"{words[-1]}s"))):
        words.pop()  # the first export of orders is of orders
    return " ".join(words) if words and _SEVERAL.fullmatch(words[-1]) else ""


def list_sort(key: str) -> str:
    """What each of a list of records is, as the key of the list says, in the singular, too.

    >>> list_sort("testcase"), list_sort("old-orders"), list_sort("node")
    ('testcase', 'old orders', '')
    """
    told = row_sort("", key) or row_sort("", f"{key}s")
    return relation_words(key).lower() if told else ""


def full_name(columns: Sequence[str]) -> tuple[str, str] | None:
    """The columns of first and of last names, where there are both.

    >>> full_name(["id", "First name", "surname"]), full_name(["name"])
    (('First name', 'surname'), None)
    """
    words = {relation_words(column).lower().replace(" ", ""): column for column in columns}
    first, last = (next((words[w] for w in some if w in words), "") for some in (_FIRST, _LAST))
    return (first, last) if first and last else None


def labels_of(columns: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Columns of things with those of their labels, as queries for SPARQL's endpoints have them.

    >>> labels_of(["film", "filmLabel", "year"])
    ((0, 1),)
    """
    words = [relation_words(column).lower() for column in columns]
    places = {word: place for place, word in reversed(list(enumerate(words)))}
    parts = [(word.removesuffix(" label"), word) for word in words]
    labels = ((of, place) for place, (of, word) in enumerate(parts) if of != word)
    return tuple((places[of], place) for of, place in labels if of in places)


def joins(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> bool:
    """Whether rows are what two others have to do with one another: they begin with two ids, the
    second comes again, and are called as neither.

    >>> joins(["user id", "movie id", "tag"], [["1", "7", "old"], ["2", "7", "odd"]], "tags")
    True
    """
    words = [relation_words(column).lower().split() for column in columns[:2]]
    keys = all(len(some) > 1 and some[-1] == "id" for some in words)
    sort = one_of(row_sort("", title)).split() if keys else []
    again = len({row[1] for row in rows}) < len(rows)
    return again and bool(sort) and not any(sort[-1] in some for some in words)
