"""What rows of a table are, and which columns call them, by its header and its cells."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from jaxkg.kg.files.tables.keys import KEY, NAMES, is_code, is_key, is_sign, one_of, row_names
from jaxkg.kg.files.tables.layout import are_names, are_places
from jaxkg.kg.queries.columns import all_days
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
    >>> row_sort("Item no.", "Stock"), row_sort("id", "groundStations")
    ('item', 'ground stations')
    >>> row_sort("", "orders_export_1")
    'orders'
    >>> row_sort("id", "team"), row_sort("Name", "data.2023"), row_sort("hostname", "Boss")
    ('', '', '')
    """
    words = relation_words(header).lower().split()
    words = [word.removesuffix(".") if word[:-1] in ANY else word for word in words]  # "Item no."
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


def full_names(columns: Sequence[str]) -> list[tuple[str, int, int]]:
    """Columns of first and of last names of others than the rows, and what these are to them.

    >>> full_names(["Seat", "Member first name", "Member surname"]), full_names(["First name"])
    ([('member', 1, 2)], [])
    """
    labels = [relation_words(column).lower().split() for column in columns]
    places = {"".join(words): place for place, words in enumerate(labels)}
    pairs = []
    for place, words in enumerate(labels):
        for cut in range(1, len(words)):
            lasts = (f"{''.join(words[:cut])}{last}" for last in _LAST)
            last = next((places[word] for word in lasts if word in places), -1)
            if "".join(words[cut:]) in _FIRST and last >= 0:
                pairs.append((" ".join(words[:cut]), place, last))
    return pairs


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


_OPAQUE = re.compile(r"[A-Z]{2,3}|(?=\S*\d)[A-Z\d]{8,}")
_FILED = re.compile(r"[^\W\d_]{0,4}[_-]?\d+([./-]\d+)+")
"""Ids of things that are filed, under a year most often: 1931.4, R23/013."""
_ROWS_WITH_NAMES, _ROWS_WITH_CODES, ROWS_APART = 8, 3, 12
"""From which on a column that no word calls a name may be taken for one; one of buyers, too, where
each is another."""
_LONGEST = 60
"""Mean length of names, in characters."""
WORD = re.compile(r"[^\W\d_A-Z]{3}")
"""A part of a word, which no plate or serial number has."""
_PLACES_WORDS = "# № no nr num number rank ranking pos position place placing standing"
_PLACES = frozenset(_PLACES_WORDS.split())
"""What a column is called that counts the rows."""
_COMMON = "common"
_SAYS_NAME = ("name", "description")
"""Ends of the second header by which it tells what the codes in the first column are called."""
_PRIMARY = re.compile(r"(?:primary|preferred) (?:name|label|title)")


def name_column(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    called: Set[str],
    *,
    numbers: bool,
) -> int:
    """The column of names beside keys, -1 without one: the one that is called as the rows are, or
    the next to numbers or codes where there are many of them.

    Args:
        called: what the table calls a row.
        numbers: whether numbers call the rows.

    >>> rows = [[f"21-{n}", f"Solvent {'ABCDEFGHIJKL'[n]}", "5"] for n in range(12)]
    >>> name_column(["SKU", "Item", "Stock"], rows, {"sku"}, numbers=False)
    1
    """
    ids, cells = [row[0] for row in rows], [*map(list, zip(*rows))]
    labels = [relation_words(column).lower() for column in columns]
    keyed = not KEY.isdisjoint(word.strip(".") for word in labels[0].split())
    coded = bool(ids) and (all(map(is_code, ids)) or (keyed and all(map(_FILED.fullmatch, ids))))
    opaque = bool(ids) and (all(map(_OPAQUE.fullmatch, ids)) or all(map(is_sign, ids)))
    opaque |= len(ids) >= ROWS_APART and all(map(_FILED.fullmatch, ids)) and not all_days(ids)
    if not (keyed or numbers or coded or opaque):
        return -1
    places = [place for place in range(1, len(columns)) if are_names(cells[place])]
    words = [label.split() for label in labels]
    surest = [place for place in places if labels[place] in called]
    surest += [at for at, label in enumerate(labels) if at and coded and _PRIMARY.fullmatch(label)]
    # A species is called so rather than in Latin.
    surest += [place for place in places if {"name", _COMMON} <= {*words[place]}]
    own = [place for place in places if len(words[place]) > 2 and words[place][-1] == NAMES[0]]
    own = [place for place in own if words[place][0] in called]
    surest += sorted(own, key=lambda place: -sum(map(len, cells[place])))  # the long ones first
    # The first name that tells all rows apart: a seat's, before its county's.
    telling = [place for place in places if len({*cells[place]}) == len(rows) >= _ROWS_WITH_NAMES]
    telling = [place for place in telling if len(words[place]) > 1 and words[place][-1] == NAMES[0]]
    surest += [
        place for place in telling if not labels[place].replace(" ", "").endswith(_FIRST + _LAST)
    ]
    if surest:
        return surest[0]
    said = len(columns) > 2 and columns[1].lower().endswith(_SAYS_NAME)
    names = cells[1]
    many = numbers and len(rows) >= _ROWS_WITH_NAMES and len(set(ids)) == len(rows)
    wordy = 2 * sum(" " in name.strip() for name in names) >= len(rows) >= _ROWS_WITH_CODES
    differ = wordy and len(set(names)) == len(rows)
    apart = len(set(names)) == len(rows) >= ROWS_APART
    coded |= opaque and (differ or apart)
    listed = all(map(is_sign, ids)) and len(columns) == 2 and len({*ids}) == len(rows)
    if listed and len({*names}) == len(rows) >= _ROWS_WITH_CODES and all(map(WORD.search, names)):
        return 1  # a list of codes and what they mean
    if (coded and (wordy or len(rows) >= _ROWS_WITH_NAMES)) or (numbers and not many and differ):
        # No order is called by its buyer, who comes again among many.
        many = not any(map(is_code, names)) and (apart or not any(map(all_days, cells)))
    signs = sum(any(map(str.isdigit, n)) and not WORD.search(n) for n in names)  # plates
    return 1 if (said or (many and 2 * signs < len(rows))) and are_names(names) else -1


def key_column(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: str,
    *,
    again: bool,
    measured: bool,
) -> int:
    """The column that calls rows and is not the first; 0 without.

    It is that of their codes, which others refer to, or where much of the first column comes again,
    that of the ids of what the table is of, or of their names; where the first is a measure, any
    that is of names.

    Args:
        again: whether much of the first column comes again; measured: whether it is a measure.

    >>> rows = [["R1", "R1-7", "Ely"], ["R1", "R1-9", "Ely"], ["R2", "R2-1", "Ulm"]]
    >>> key_column(["route_id", "trip_id", "to"], rows, "trips", again=True, measured=False)
    1
    """
    cells = [[*map(str.strip, column)] for column in zip(*rows)]
    words = [relation_words(column).lower() for column in columns]
    if again:
        _, titled = row_names("", title)
        for place, column in enumerate(columns):
            apart = all(cells[place]) and len(set(cells[place])) == len(rows)
            if place and apart and is_key(column, titled):  # the `trip_id` of trips
                return place
        places = [words.index(word) for word in NAMES if word in words[1:]]
        places += [place for place, word in enumerate(words) if word.endswith(f" {NAMES[0]}")]
        dated = len(rows) >= ROWS_APART and all_days(cells[0])
        places += range(1, len(columns)) if measured or dated else ()
        named = (place for place in places if all(cells[place]) and are_names(cells[place]))
        return next((place for place in named if place and are_short(cells[place])), 0)
    for place, codes in enumerate(map(set, cells)) if rows and are_names(cells[0]) else ():
        keyed = place and not KEY.isdisjoint(words[place].split()[-1:])
        others = (another for another in cells if another is not cells[place])
        apart = keyed and len(codes) == len(rows) and all(map(is_code, codes))
        if apart and not all(map(codes.isdisjoint, others)):
            return place
    return 0


def ranked_column(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """The column of names of rows that the first one but counts, 0 without.

    >>> rows = [["1", "Anna Lee", "9.1"], ["2", "Bernd Poe", "8.7"], ["", "Cyril Roe", "8.5"]]
    >>> ranked_column(["Rank", "Athlete", "Time"], rows), ranked_column(["id", "name", "age"], rows)
    (1, 0)
    """
    words = {word.strip(".") for word in relation_words(columns[0]).lower().split()}
    if not words <= _PLACES:
        return 0
    cells = [[*map(str.strip, column)] for column in zip(*rows)]
    named = (
        place
        for place, column in enumerate(cells)
        if place and are_names(column) and are_short(column)
        if 2 * sum(map(bool, map(WORD.search, column))) > len(column)
    )
    return next(named, 0) if rows and are_places(cells[0]) else 0


def kind_of_names(header: str) -> str:
    """What rows are by the header of their names, where it says so.

    >>> kind_of_names("Municipality"), kind_of_names("Full name")
    ('municipality', '')
    """
    words = relation_words(header).lower().split()
    plain = bool(words) and all(map(str.isalpha, words)) and ANY.isdisjoint(words)
    return " ".join(words) if plain and not words[-1].endswith("name") else ""


def firm_column(rows: Sequence[Sequence[str]], parts: Sequence[int]) -> int:
    """The column of the names of those that have no first and no last name, of firms among
    persons; else the first column.

    >>> firm_column([["1", "", "Ann", "Lee"], ["2", "Acme", "", ""]], (2, 3))
    1
    """
    others = [row for row in rows if parts and not any(row[place] for place in parts)]
    cells = [*map(list, zip(*others))]
    return next(
        (place for place in range(1, len(cells)) if place not in parts and are_names(cells[place])),
        0,
    )


def are_short(names: Sequence[str]) -> bool:
    """Whether texts are short enough to call something, and no addresses."""
    return sum(map(len, names)) <= _LONGEST * len(names) and not any("://" in n for n in names)
