"""JSON records that are entities: keys are relations, what lies within is an entity of its own.

But one that nothing calls, alone under its key, says of the record around it what it says: an
`"orbit": {"height": 512}` is an `orbit height`.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from jaxkg.kg.files.tables.keys import (
    TakenTable,
    is_code,
    is_key,
    numbered,
    one_of,
    row_id,
    row_names,
)
from jaxkg.kg.files.tables.table import SORT, full_name, row_sort
from jaxkg.words import relation_words

CALLED = ("id", "name", "label")
"""Keys by which a record that is an entity is called; beside an id the next is its name."""
_TITLES = ("title", "full name", "code", "number")
"""Keys by which a record is called that has none of these."""

Named = tuple[str, str | None, list[str]]
"""An id, its display name, its other names."""
Triple = tuple[Named, Named, Named]


class Malformed(Exception):
    """A record that is JSON but neither a triple nor an entity."""


class Records:
    """Takes the records of one table, of which the first tells what they are.

    Args:
        title: of the table.
        first: its first record.
        start: facts taken before.

    Attributes:
        key: what records are called by.

    Raises:
        Malformed: the first record is none.
    """

    def __init__(self, title: str, first: Any, start: int) -> None:
        if not isinstance(first, dict):
            raise Malformed("not a JSON object")
        _, self._called = row_names("", title)
        self.key = _called_by(first, self._called)
        sort = row_sort(self.key, title)
        self._sort = "" if _tells_sort(first) else sort
        self._one, self._others = row_names(sort, title)
        self._keyed = numbered(self.key, [str(first.get(self.key))])
        self._named = _shown(first, self.key, self._called)[0] is not None
        self._title, self._start, self._rows = title, start, set[str]()
        self._within = itertools.count(1)

    def facts(self, record: Any, source_key: str | None) -> tuple[Named, list[Triple], str]:
        """A record's entity, its facts, and where it says that it comes from.

        Args:
            source_key: the key that says so.

        Raises:
            Malformed: it is no object, is called nothing, or holds a list within a list.
        """
        if not isinstance(record, dict):
            raise Malformed("not a JSON object")
        # Records of several sorts in one file need not be called by one key.
        key = self.key if self.key in record else _called_by(record, self._called, by_first=False)
        if not key:
            raise Malformed(f"no {self.key!r}")
        called = text_of(record[key], key)
        label, named = _shown(record, key, self._called)
        if label is not None and key in (full_name(list(record)) or ()):
            called = label  # a first name alone calls several
        self._rows.add(called)
        keyed = self._keyed and key == self.key
        head = row_id(self._one if keyed else "", called), label, []
        told = record.get(source_key) if source_key else None
        source = "" if told is None else text_of(told, str(source_key))
        triples: list[Triple] = []
        if self._sort:
            triples.append((head, _plain(SORT[0]), _plain(self._sort)))
        skipped = {key, source_key} | named
        triples += self._of({k: v for k, v in record.items() if k not in skipped}, head)
        return head, triples, source

    def taken(self, last: int) -> tuple[TakenTable, str]:
        """What was read up to the fact `last`, and how, in words."""
        one = self._one if self._keyed else ""
        table = TakenTable(
            one, self._named, self._others, self._start, last, self._rows, self._title, {}
        )
        how = f"taken as a table: a record an entity, {self.key} its id, other keys relations"
        how += f", its sort {self._sort!r}" if self._sort else ""
        return table, how + (f", called {one} and its number" if one else "")

    def _of(self, record: dict[str, Any], head: Named) -> list[Triple]:
        """What keys say of an entity, and of what lies within."""
        triples: list[Triple] = []
        for relation, value in record.items():
            several = isinstance(value, list)
            sort = row_sort("", relation) if several else ""
            for one in value if several else [value]:
                if isinstance(one, list):
                    raise Malformed(
                        f"{relation!r} holds a list within a list; write what is in it as records"
                    )
                if isinstance(one, dict):
                    key = _key_within(relation, one, several=several)
                    if not key and not several:
                        triples += self._of(_opened(relation, one), head)
                        continue
                    tail, rest = self._inner(relation, one, key)
                    triples.append((head, _plain(relation.strip()), tail))
                    if sort and not _tells_sort(one):
                        triples.append((tail, _plain(SORT[0]), _plain(sort)))
                    triples += self._of(rest, tail)
                elif one is not None and one != "":
                    end = _plain(text_of(one, relation))
                    triples.append((head, _plain(relation.strip()), end))
        return triples

    def _inner(
        self, relation: str, record: dict[str, Any], key: str
    ) -> tuple[Named, dict[str, Any]]:
        """A record within another as an entity, called by a key, "" for none, and what is left to
        say of it."""
        one = one_of(relation_words(relation).lower())
        if not key and isinstance(record.get("title"), str):
            # Copies of one book are several records.
            tail = f"{one} {next(self._within)}", text_of(record["title"], "title"), []
            return tail, {name: v for name, v in record.items() if name != "title"}
        if not key:
            return _plain(f"_:{one.replace(' ', '_')}_{next(self._within)}"), record
        label, named = _shown(record, key, frozenset((one,)))
        parts = full_name(list(record)) or ()
        called = label if label is not None and key in parts else text_of(record[key], key)
        tail = row_id(one if numbered(key, [called]) else "", called), label, []
        return tail, {name: v for name, v in record.items() if name not in {key, *named}}


def _key_within(relation: str, record: dict[str, Any], *, several: bool) -> str:
    """The key by which a record within another is called; "" where there is none.

    Args:
        several: whether it is one of a list: what stands first in it may be its code.
    """
    called_so = (k for k in record if relation_words(k).lower().endswith(" name"))
    one = one_of(relation_words(relation).lower())
    own = [key for key in record if is_key(key, frozenset((one,)))]
    own += [key for key in record if relation_words(key).lower() == one]
    codes = (key for key in list(record)[: int(several)] if is_code(record[key]))
    parts = full_name(list(record)) or ()
    keys = (*CALLED[:1], *own, *CALLED, *parts, *called_so, *codes)
    return next((key for key in keys if key in record), "")


def _opened(relation: str, record: dict[str, Any]) -> dict[str, Any]:
    """What a record within another, that nothing calls, says of the other: its orbit's height."""
    of = relation_words(relation)
    told = {key: relation_words(key) for key in record}
    if not all(told.values()):
        raise Malformed("a key is blank")
    return {
        words if f"{words} ".startswith(f"{of} ") else f"{of} {words}": record[key]
        for key, words in told.items()
    }


def _tells_sort(record: dict[str, Any]) -> bool:
    """Whether a record itself says of what sort it is."""
    return any(relation_words(key).lower() in SORT for key in record)


def _called_by(record: dict[str, Any], others: frozenset[str], *, by_first: bool = True) -> str:
    """The key by which a record is called; "" where there is none.

    Args:
        others: what its table calls a record.
        by_first: where no key is a name's, the first one that does not say what the record is.
    """
    own = next(iter(record), "")
    called = own if is_key(own, others) and CALLED[0] not in record else ""
    if called := called or next((key for key in CALLED if key in record), ""):
        return called
    own = [key for key in record if relation_words(key).lower() not in SORT]
    named = next((key for key in own if relation_words(key).lower() in _TITLES), "")
    if by_first:
        first = next(iter(record), "")
        return first if first in own else named or next(iter(own), first)
    return named or next((key for key in own if relation_words(key).lower().endswith(" name")), "")


def _shown(record: dict[str, Any], key: str, others: frozenset[str]) -> tuple[str | None, set[str]]:
    """The display name of a record that a key calls, and the keys that say nothing else."""
    called = key == CALLED[0] or is_key(key, others)
    if called and (name := next((name for name in CALLED[1:] if name in record), "")):
        return text_of(record[name], name), {name}
    told = [record[part] for part in full_name(list(record)) or ()]
    whole = bool(told) and all(isinstance(part, str) and part.strip() for part in told)
    if called and not whole and isinstance(record.get("title"), str):
        return text_of(record["title"], "title"), {"title"}
    return (" ".join(told) if whole else None), set()


def text_of(value: Any, key: str) -> str:
    """A string, a number or a truth value as text.

    Raises:
        Malformed: it is none, or blank.
    """
    if isinstance(value, bool | int | float):
        value = json.dumps(value)
    if not isinstance(value, str) or not value.strip():
        raise Malformed(f"{key!r} is not a non-blank string")
    return value.strip()


def tables_in(document: Any) -> dict[str, list[Any]] | None:
    """The tables of a document that is an object of lists of records, by their titles; what else it
    says, beside two of them or more, is a record of its own.

    >>> tables_in({"people": [{"name": "Ann"}], "cities": []}), tables_in({"name": "Ann"})
    ({'people': [{'name': 'Ann'}], 'cities': []}, None)
    """
    if not isinstance(document, dict) or not document:
        return None
    tables = {title: v for title, v in document.items() if isinstance(v, list) and _records(v)}
    rest = {key: value for key, value in document.items() if key not in tables}
    if any(isinstance(value, list | dict) and value for value in rest.values()):
        return None
    told = {key: value for key, value in rest.items() if not isinstance(value, list | dict)}
    if told and len(tables) < 2:
        return None  # a thing and its parts
    tables |= {key: value for key, value in rest.items() if isinstance(value, list)}
    return (tables | ({next(iter(told)): [told]} if told else {})) if any(tables.values()) else None


def _records(several: list[Any]) -> bool:
    return bool(several) and all(isinstance(one, dict) for one in several)


def _plain(text: str) -> Named:
    if not text:
        raise Malformed("a key is blank")
    return text, None, []
