"""Rows that are called by a number, and the columns that refer to them by it.

Row 3 of staff, row 3 of orders and a quantity of 3 are three things. A row that a number calls is
`order 3` in the graph, shown as its number alone where that means nothing else, and so is a cell
of a column that means orders: one called as the table is (`order_id`, `billing_order`), or by a
part that people play (`manager_id`, `reports_to`) where a table of people has all of its numbers,
or one table alone has. Other numbers stay what they are. A row without a name that refers to
several others, as one of sales, is a blank node, also where a code calls it: questions mean what
it joins rather than itself.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.exports import Edges
from jaxkg.kg.names import NameCollector
from jaxkg.kg.queries.columns import is_nothing
from jaxkg.words import relation_words, singular

_NUMBER = re.compile(r"(\d+)(?:\.0+)?", re.ASCII)
_CODE = re.compile(r"[^\W\d_]{1,5}[_-]?\d+")
_SIGN = re.compile(r"(?=[^a-z]*[A-Z])[A-Z0-9-]{2,8}")
"""Codes as signs are, of capitals and digits: of airports, of planes."""
_LIST = re.compile(r"\s*[;,|]\s*")
NAMES = ("name", "label", "title")
"""Columns of what things are called, the surest first."""
_KEY_WORDS = "id ids no nr num number key code uid fk ref identifier index"
KEY = frozenset(_KEY_WORDS.split())
"""Words of a header that say that a number is a key."""
IDS = (
    "id", "@id", "_id", "pk", "uid", "uuid", "guid", "key", "identifier", "iri", "uri", "doi",
    "bom-ref", "spdxid", "ref", "pmid", "@odata.id", "orcid-identifier",
)  # fmt: skip
"""Keys by which others refer to an object, in small letters, the surest first."""
_TIME_WORDS = "year date season day month time hour week century decade"
_TIME = frozenset(_TIME_WORDS.split())
"""What a number may be by itself, so that `year 1987` is no row's name."""
_PARTS_WORDS = (
    "manager boss supervisor superior lead leader head chief owner author editor writer director "
    "driver teacher tutor coach captain mentor organiser organizer assignee reporter reviewer "
    "approver representative rep handler creator host chair secretary treasurer spouse partner "
    "mother father successor predecessor"
)
_PARTS = frozenset(_PARTS_WORDS.split())
"""What people are to something: the last word of a column that refers to people."""
_BY = frozenset(("by", "to", "under"))
"""What parts that people play end with in words: "reports to", "referred by"."""
_PEOPLE_WORDS = (
    "person people staff employee member user player student teacher worker volunteer colleague "
    "contact"
)
_PEOPLE = frozenset(_PEOPLE_WORDS.split())
_FOLK = ("person", "people", "man", "men", "woman", "women")
"""What a word for people may end with: "craftspeople"."""
_SAME = frozenset(("parent", "previous", "next", "original", "reply to", "duplicate of"))
"""What a row is to another of its table."""


@dataclasses.dataclass
class TakenTable:
    """A table as it was taken.

    Attributes:
        one: what a row is called before its number; "" where no number calls rows.
        named: whether its rows have names, too.
        others: names by which a column may mean it.
        first, last: its facts among those of the encoder.
        rows: what its first column calls them.
        title: its name.
        refers: names of tables that columns are declared to refer to.
        lists: columns of whole numbers that are listed, or beside texts: rather keys than values.
        other_names: keys of another table's rows, each with a name, and perhaps its kind.
    """

    one: str
    named: bool
    others: frozenset[str]
    first: int
    last: int
    rows: set[str]
    title: str
    refers: Mapping[str, str]
    lists: frozenset[str] = frozenset()
    other_names: Sequence[tuple[str, ...]] = ()


def numbered(header: str, ids: Iterable[str]) -> bool:
    """Whether ids are numbers that mean nothing by themselves, as years would.

    >>> numbered("id", ["1", "2"]), numbered("room", ["12"]), numbered("year", ["1987"])
    (True, True, False)
    >>> numbered("id", ["1", "A2"]), numbered("champion of", ["1987", "1988"])
    (False, False)
    """
    words = set(relation_words(header).lower().split())
    numbers = list(ids)
    if not numbers or words & _TIME or not all(map(_whole, numbers)):
        return False
    return not words.isdisjoint(KEY) or not all(
        len(n) == 4 and "1000" <= n < "2100" for n in numbers
    )


def is_key(header: str, others: frozenset[str]) -> bool:
    """Whether a column holds the keys of the rows of its own table, called one of some names.

    >>> is_key("roofId", frozenset({"roof"})), is_key("panelId", frozenset({"roof"}))
    (True, False)
    """
    words = relation_words(header).lower().split()
    told = [word for word in words if word not in KEY]
    return len(told) < len(words) and " ".join(told) in others


def is_code(value: object) -> bool:
    """Whether a cell says nothing but which of several a row is.

    >>> is_code("LOT-014"), is_code("Lear"), is_code("2014"), is_code("42 km")
    (True, False, False, False)
    """
    return isinstance(value, str) and _CODE.fullmatch(value) is not None


def is_sign(text: str) -> bool:
    """Whether a text is a code, of capitals and digits: "SFO", "N102UW", "P1".

    >>> [text for text in ("SFO", "p1", "Rome", "2024") if is_sign(text)]
    ['SFO', 'p1']
    """
    return is_code(text) or _SIGN.fullmatch(text) is not None


def calls_codes(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first column is called as its codes are: the plate of cars; where these are but
    numbers, beside names of what they call: the ISBN of books.

    >>> rows = [["1119", "Roots", "2"], ["1120", "Salt", "4"]]
    >>> calls_codes(["isbn", "title", "shelf"], rows), calls_codes(["book_id", "title"], rows)
    (True, False)
    >>> calls_codes(["plate", "make"], [["KX-204", "Fiat"]]), calls_codes(["iata"], [["LHR"]])
    (True, True)
    """
    words = [relation_words(column).lower() for column in columns]
    named = not set(NAMES).isdisjoint(words[1:])
    codes = [row[0].strip() for row in rows if row]
    coded = bool(codes) and all(is_sign(code) or (named and code.isdecimal()) for code in codes)
    return coded and words[0] not in NAMES and KEY.isdisjoint(words[0].split())


def row_id(one: str, written: str) -> str:
    """The id of a row by what its table calls it: what it is and that, where that is a number.

    >>> row_id("order", "17"), row_id("order", "A17"), row_id("", "17")
    ('order 17', 'A17', '17')
    """
    return f"{one} {written}" if one and _whole(written) else written


def one_of(several: str) -> str:
    """One of several things: "old project" of "old projects"."""
    before, blank, last = several.rpartition(" ")
    return f"{before}{blank}{singular(last)}"


def row_names(sort: str, title: str) -> tuple[str, frozenset[str]]:
    """What a row is called before its number, and what else a column may call it.

    >>> row_names("staff id", "Old-Orders")[0], row_names("", "data")[0], row_names("", "2023")[0]
    ('staff id', 'data', 'row')
    """
    titled = " ".join(re.findall(r"[^\W\d_]+", relation_words(title).lower()))
    titled = titled.removeprefix("all ")  # an export of all contacts
    one = one_of(sort or titled) or "row"
    return one, frozenset(filter(None, (one, one_of(titled), one_of(titled.rpartition(" ")[2]))))


def join_by_number(
    encoder: TripleEncoder, names: NameCollector, tables: Sequence[TakenTable]
) -> str:
    """Take numbers in columns that mean rows of a table for these rows.

    Returns:
        Which columns were taken so, and which could not be, in words; "" where there is none.
    """
    keyed = [table for table in tables if table.one]
    called = set(names.display.values()).union(*(t.rows for t in tables if not t.one))
    told: dict[str, None] = {}
    joining: list[TakenTable] = []
    known: dict[str, list[TakenTable]] = {}
    for table in reversed(tables):  # backwards: facts before keep their places
        coded = not table.named and bool(table.rows) and all(map(is_code, table.rows))
        if not keyed and not coded:
            continue
        parts: dict[tuple[str, str], list[str]] = {}
        references = 0
        for relation, cells in encoder.tails(table.first, table.last):
            references += 2 * len(called.intersection(cells)) > len(cells)
            listed = {cell: _listed(cell) for cell in cells if not is_nothing(cell)}
            numbers = {number for some in listed.values() for number in some}
            if not numbers or not all(listed.values()):
                continue
            meant = _meant(relation, numbers, table, keyed)
            if not meant and relation in table.lists:
                meant = known.get(relation) or [one for one in keyed if numbers <= one.rows]
            if len(meant) == 1:
                known[relation] = meant
                references += 1
                parts |= {
                    (relation, cell): [row_id(meant[0].one, number) for number in some]
                    for cell, some in listed.items()
                }
                told[f"{relation} means rows called {meant[0].one} and a number"] = None
            elif meant:
                rows = " or ".join(table.one for table in meant)
                told[f"{relation} left as numbers: may mean rows called {rows} and a number"] = None
        if parts:
            encoder.split(parts, table.first, table.last)
        if (table.one or coded) and references > 1:
            joining.append(table)
    told |= dict.fromkeys(_name_by_others(names, tables))
    _name_rows(encoder, names, [table for table in tables if not table.named], joining)
    return "; ".join(reversed(told))


def _refers(encoder: TripleEncoder, table: TakenTable, other: TakenTable) -> bool:
    """Whether a column of a table refers to rows of another one."""
    rows = {row_id(other.one, row) for row in other.rows}
    return any(rows.issuperset(cells) for _, cells in encoder.tails(table.first, table.last))


def join_same(encoder: TripleEncoder, tables: Sequence[TakenTable]) -> str:
    """Take rows of a table without names for those of the one with names that has their numbers.

    Starships are vehicles of the same number, as frameworks keep kinds of things. Numbers that
    count rows, from 1 without a gap, tell nothing.

    Returns:
        What was taken so, in words; "" where nothing was.
    """
    told: dict[str, None] = {}
    same: dict[str, str] = {}
    for table in tables:
        counted = table.rows == {str(number) for number in range(1, len(table.rows) + 1)}
        if table.named or not table.one or counted or len(table.rows) < 2:
            continue
        having = [one for one in tables if one.named and one.one and table.rows <= one.rows]
        if len(having) == 1 and having[0] is not table and not _refers(encoder, table, having[0]):
            same |= {row_id(table.one, row): row_id(having[0].one, row) for row in table.rows}
            told[f"{table.title} are {having[0].title} of the same number"] = None
    if same:
        encoder.merge(same)
    return "; ".join(told)


def join_ends(
    encoder: TripleEncoder,
    edges: Sequence[Edges],
    tables: Sequence[TakenTable],
    say_of: Callable[[Edges, Mapping[str, str]], None],
) -> str:
    """Take the numbers at the ends of edges for the rows of tables that they call.

    Args:
        say_of: takes what is said of edges, with what their ends are called now.

    Returns:
        What was taken so, or could not be, in words; "" where no table's rows are numbers.
    """
    told: dict[str, None] = {}
    keyed = [table for table in tables if table.one]
    for some in edges:
        meant = dict[str, str]()
        ends = encoder.ends(some.first, some.last) if keyed else []
        rows = {end: [table for table in keyed if end in table.rows] for end in ends}
        if ends and all(map(_whole, ends)):
            if all(len(having) == 1 for having in rows.values()):
                meant = {end: row_id(having[0].one, end) for end, having in rows.items()}
                encoder.rename_ends(meant, some.first, some.last)
                of = sorted({having[0].one for having in rows.values()})
                told[f"ends of edges mean rows called {' or '.join(of)} and a number"] = None
            elif any(rows.values()):
                told["ends of edges left as numbers: not each is a row of one table"] = None
        say_of(some, meant)
    return "; ".join(told)


def _name_by_others(names: NameCollector, tables: Sequence[TakenTable]) -> Iterator[str]:
    """Name the rows of a table by another other that says what each is called, of several names by
    those of the kind that each has once; which, in words."""
    for table in tables:
        keys = {key for key, *_ in table.other_names}
        having = [other for other in tables if keys and not other.named and keys <= other.rows]
        if len(having) != 1:
            continue
        kinds = {said[2:] for said in table.other_names}
        of = {kind: [said[0] for said in table.other_names if said[2:] == kind] for kind in kinds}
        once = {kind for kind, keyed in of.items() if sorted(keyed) == sorted(keys)}
        ordered = sorted(table.other_names, key=lambda said: said[2:] not in once)
        for key, name, *_ in ordered:
            if name:
                names.label(row_id(having[0].one, key), name)
        for key in keys if having[0].one else ():
            names.alias(row_id(having[0].one, key), key)
        having[0].named = True
        yield f"{table.title} are what rows of {having[0].title} are called"


def _name_rows(
    encoder: TripleEncoder,
    names: NameCollector,
    tables: Sequence[TakenTable],
    joining: Sequence[TakenTable],
) -> None:
    """Let a number alone call a row, where it is no value; what but joins others is blank.

    Where numbers are no count of the rows and mean these rows alone, they are the names: 10347.
    """
    entities = set(encoder.entities)
    having = Counter(number for table in tables if table.one for number in table.rows)
    blank: dict[str, str] = {}
    for table in tables:
        for row in table.rows if table in joining and not table.one else ():
            blank[row] = f"_:{row}"
            names.label(blank[row], row)
        numbers = list(filter(_whole, table.rows if table.one else ()))
        bare = all(
            int(number) > len(table.rows) and having[number] == 1 and number not in entities
            for number in numbers
        )
        for number in numbers:
            row = name = row_id(table.one, number)
            if table in joining:
                row = blank[name] = f"_:{name.replace(' ', '_')}"
            if bare or row != name:
                names.label(row, number if bare else name)
            if number not in entities:
                names.alias(row, name if bare else number)
    if blank:
        encoder.merge(blank)


def _listed(cell: str) -> list[str]:
    """The numbers that a cell lists; none where it holds anything else."""
    found = [_NUMBER.fullmatch(part) for part in _LIST.split(cell)]
    return [match[1] for match in found if match] if all(found) else []


def _whole(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _meant(
    relation: str, numbers: set[str], table: TakenTable, keyed: Sequence[TakenTable]
) -> list[TakenTable]:
    """The tables whose rows a column of numbers may mean."""
    if relation in table.refers:
        wanted = table.refers[relation].casefold()
        return [one for one in keyed if one.title.casefold() == wanted]
    words = [word.strip("()[]") for word in relation_words(relation).lower().split()]
    told = [word for word in words if word not in KEY]
    name, key = " ".join(told), len(told) < len(words)
    having = [one for one in keyed if numbers <= one.rows]
    named = [
        (len(other), place)
        for place, one in enumerate(keyed if key else having)
        for other in one.others
        if f" {name}".endswith(f" {other}") or f" {one_of(name)}".endswith(f" {other}")
    ]
    if named:
        return [(keyed if key else having)[max(named)[1]]]
    if name in _SAME:
        return [table] if table in having else []
    people = [one for one in having if any(o in _PEOPLE or o.endswith(_FOLK) for o in one.others)]
    people = [table] if table in people else people
    if len(told) > 1 and told[-1] in _BY:
        return people or having
    if not told or told[-1] not in _PARTS or not having:
        return []
    return people or ([table] if table in having and len(keyed) == 1 else having)


def other_names_in(columns: Sequence[str]) -> tuple[int, ...]:
    """The columns of keys, of names and of kinds of names, where each row says what another is
    called; nothing of another table.

    >>> other_names_in(["tax_id", "name_txt", "name class"]), other_names_in(["id", "born"])
    ((0, 1, 2), ())
    """
    words = [relation_words(column).lower().split() for column in columns]
    names = [
        place
        for place, said in enumerate(words)
        if place and not {*NAMES, "names"}.isdisjoint(said)
    ]
    kinds = [
        place for place in range(1, len(words)) if words[place][-1] in ("class", "type", "kind")
    ]
    named = [place for place in names if place not in kinds]
    keyed = bool(words[0]) and words[0][-1] in KEY and named and len(columns) < 9
    return (0, named[0], *kinds[:1]) if keyed else ()
