"""JSON records that are entities: keys are relations, what lies within is an entity of its own.

But one that nothing calls, alone under its key, says of the record around it what it says: an
`"orbit": {"height": 512}` is an `orbit height`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jaxkg.kg.files.json.relations import RELATION_KEYS, Ends, links, said_by
from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.tables.headers import SORT, full_name, labels_of, list_sort, row_sort
from jaxkg.kg.files.tables.keys import (
    KEY,
    TakenTable,
    is_key,
    numbered,
    row_id,
    row_names,
)
from jaxkg.kg.files.tables.record_names import (
    CODED,
    RECORD_IDS,
    SHOWN,
    VERSION,
    Malformed,
    apart,
    called_by,
    folded,
    id_key,
    in_latin,
    is_coded,
    is_name,
    item_of,
    key_within,
    last_parts,
    listed_too,
    name_beside,
    referred_code,
    shown_name,
    tells_when,
    text_of,
    texts_under,
    title_key,
    titled,
    titled_by_part,
)
from jaxkg.kg.files.tables.table import DIFFERENT, come_again, happenings
from jaxkg.kg.qualifiers import OBJECT, PREDICATE, SUBJECT
from jaxkg.kg.queries.columns import is_value
from jaxkg.words import relation_words

_BACK = frozenset(("backward", "inward", "in", "incoming", "reverse"))
"""Directions of relations that lead to what tells them."""
_ALIASES = frozenset(("aliases", "alias", "synonyms", "altlabels", "altlabel"))
_PLACES = frozenset(("coordinates", "bbox", "center", "centroid", "position"))
_ENTITY = frozenset(("node", "entity", "item", "target", "object", "resource", "value", "record"))
"""Keys of an entity within that do not say how it is related."""
_NAMES = ("displayname", "realname", "name", "fullname")
"""Keys of names, in small letters, that others may be known by."""
_SAMPLED = 2000
_CODES, _FEW_OF = 8, 4
"""Keys from which on those of objects may be codes; how many times as many as one object has."""

Named = tuple[str, str | None, list[str]]
"""An id, its display name, its other names."""
Triple = tuple[Named, Named, Named]


class Records:
    """Takes the records of one table, of which the first ones tell what they are.

    Args:
        sample: its first records, or all.
        intake: takes what is said of relations.
        sorted_by_title: whether the title may say of what sort they are.
        listed: whether it is the key of a list, and says so in the singular, too.

    Attributes:
        key: what records are called by.

    Raises:
        Malformed: the first record is none.
    """

    def __init__(
        self,
        title: str,
        sample: Sequence[Any],
        intake: Intake,
        *,
        sorted_by_title: bool = True,
        listed: bool = False,
    ) -> None:
        first = sample[0]
        if not isinstance(first, dict):
            raise Malformed("not a JSON object")
        objects = [item for item in sample if isinstance(item, dict)][:_SAMPLED]
        self._part = titled_by_part(objects)
        first, *_ = objects = [titled(item, self._part) for item in objects]
        _, self._called = row_names("", title)
        measures = {k for item in objects for k, v in item.items() if isinstance(v, float)}
        # A measure calls nothing where there is something else.
        calls = {k: v for k, v in first.items() if k not in measures} or first
        self.key = id_key(objects, self._called) or called_by(calls, self._called)
        words = relation_words(self.key).lower()
        known = (
            self.key.lower() in RECORD_IDS or folded(self.key) in SHOWN or words.endswith(" name")
        )
        lacking = len(texts_under(objects, self.key)) < len(objects)
        again = not known and words.split()[-1:] not in [[word] for word in CODED]
        if lacking or (again and not apart(objects, self.key)):
            self.key = next((key for key in first if is_coded(objects, key)), self.key)
            known |= apart(objects, self.key)
            titled_by = title_key(first)
            if not known and titled_by and apart(objects, titled_by):
                self.key, known = titled_by, True
            words = relation_words(self.key).lower()
        self._called_so = ""
        if folded(self.key) in SHOWN and (code := referred_code(objects)):
            self._called_so, self.key = self.key, code
        again = [str(item.get(self.key)) for item in objects]
        if not self._called_so and not shown_name(first, self.key, self._called)[0]:
            self._called_so = name_beside(objects, self.key)
        # What comes again and again, and is no name, calls no record: who did something, and when.
        several = len(again) > 2 and come_again(again)
        plain = [key for key in first if key != self.key and isinstance(first[key], str | int)]
        rows = [[str(item.get(key) or "") for key in (self.key, *plain)] for item in objects]
        happened = (several and "://" not in again[0]) or happenings(rows)
        rows_of = self.key.lower() in RECORD_IDS and _told_of(objects, self.key)
        happened = happened and (not known or rows_of)
        self._nameless = happened or tells_when(first, self.key)
        *of, last = words.split() or [""]
        refers = bool(of) and last in KEY and not is_key(self.key, self._called)
        self._why = "comes again and again" if several else "tells when"
        if not self._nameless and not any(folded(name) in SHOWN for name in first):
            # What a rule found is no more of the rule; a record with a name may be it.
            others = (t.rows for t in intake.tables if words in t.others - self._called)
            self._nameless = refers and all(id in intake.names.display for id in again)
            self._nameless |= any(rows.issuperset(again) for rows in others)
            self._why = "calls other records" if self._nameless else self._why
        titles = texts_under(objects, title_key(first)) if self._nameless else []
        self._titled = title_key(first) if len(set(titles)) > DIFFERENT * len(objects) else ""
        plain = self.key.lower() in RECORD_IDS or self._nameless or last in CODED - KEY
        sort = row_sort("" if plain else self.key, title)
        sort = sort or (list_sort(title) if listed else "")
        self._sort = "" if _tells_sort(first) or not sorted_by_title else sort
        if _tells_sort(first) and sorted_by_title and SORT[0] not in first:
            self._sort = "" if plain else row_sort(self.key, "")  # breeds are of a type, and breeds
            if listed and any(isinstance(item.get(SORT[1]), str) for item in objects):
                self._sort = self._sort or row_sort("", title)  # so are servers
        self._one, self._others = row_names(sort, title)
        self._keyed = numbered(self.key, [str(first.get(self.key))])
        self._named = bool(self._called_so or shown_name(first, self.key, self._called)[0])
        self._title, self._start, self._rows = title, len(intake.encoder), set[str]()
        self._listed, self._lacking = dict[str, str](), 0
        self._chains = dict[str, tuple[str, ...]]()
        self._intake = intake
        of = f"{self._one} " if self._keyed else ""
        self._known = {of + str(item.get(self.key)) for item in sample if isinstance(item, dict)}
        having = [item for item in objects if self.key in item]
        shown = [shown_name(item, self.key, self._called)[0] for item in having]
        self._titles = {name for item, name in zip(having, shown) if _tells_sort(item)}
        self._known |= {name for name in shown if name is not None}
        names = [str(item[self.key]) for item in objects if "version" in item and self.key in item]
        self._again = {name for name, count in Counter(names).items() if count > 1}
        # Addresses such as "aws_vpc.main" tell records apart that have one name.
        text = json.dumps(objects, ensure_ascii=False) if len(set(again)) < len(again) else ""
        texts = set(re.findall(r'"([^"\\]+\.[^"\\]+)"', text))
        pairs = (
            (sort, f"{item.get(sort)}.{item.get(self.key)}") for item in objects for sort in item
        )
        self._of_sort = next((sort for sort, address in pairs if address in texts), "")
        self._varied, self._no_names, self._local = _varying(objects)
        self._maps = _maps_of_codes(objects)
        lists = [(k, v) for item in objects for k, v in item.items() if isinstance(v, list)]
        self._alone = {k for k, v in lists if v} - {k for k, v in lists if len(v) > 1}
        self._lists = _lists_of_numbers(objects, self.key)
        inside = {relation for record in objects for relation, _, _ in _objects_in(record)}
        lasts = Counter(relation_words(relation).lower().rpartition(" ")[2] for relation in inside)
        self._kinds = {last for last, count in lasts.items() if count > 1}
        self._kinds |= {self._one} if self._keyed else set[str]()
        columns = list(first)
        self._labels = {columns[at]: columns[of] for of, at in labels_of(columns)}
        self._triples = list[Triple]()  # of the record that is being read

    def facts(
        self, record: dict[str, Any], source_key: str | None
    ) -> tuple[Named, list[Triple], str]:
        """A record's entity, its facts, and where it says that it comes from.

        Args:
            source_key: the key that says so.

        Raises:
            Malformed: it is called nothing.
        """
        self._triples = []
        record = titled(record, self._part)
        # Records of several sorts in one file need not be called by one key.
        for label, of in self._labels.items():
            pair = record.get(of), record.get(label)
            if all(map(is_name, pair)):
                self._intake.name(record[of], record[label])
        if self._labels:
            record = {key: said for key, said in record.items() if key not in self._labels}
        key = self.key if self.key in record else called_by(record, self._called, by_first=False)
        lacks = not key or (key == self.key and record[key] in (None, "", []))
        self._lacking += lacks
        if self._nameless or lacks:
            title = record.get(self._titled)
            node: Named = _plain(self._intake.blank(self._one))
            if is_name(title):  # of two films that are called alike
                node = f"{self._one} {self._intake.count(self._one)}", title.strip(), []
                record = {key: said for key, said in record.items() if key != self._titled}
            told = record.get(source_key) if source_key else None
            source = "" if told is None else text_of(told, str(source_key))
            if self._sort:
                self._say(node, SORT[0], self._sort)
            self._of(record, node)
            return node, self._triples, source
        called = text_of(record[key], key)
        label, named = shown_name(record, key, self._called)
        if self._called_so and key == self.key and is_name(record.get(self._called_so)):
            label, named = record[self._called_so], {self._called_so}
        if label is not None and key in (full_name(list(record)) or ()):
            called = label  # a first name alone calls several
        if self._of_sort and key == self.key:
            label, called = label or called, f"{record.get(self._of_sort)}.{called}"
        if called in self._again and isinstance(record.get("version"), str):
            called = f"{called} {record['version']}"  # two versions are two packages
        self._rows.add(called)
        keyed = self._keyed and key == self.key
        head = row_id(self._one if keyed else "", called), label, self._aliases(record, key, named)
        told = record.get(source_key) if source_key else None
        source = "" if told is None else text_of(told, str(source_key))
        if self._sort:
            self._say(head, SORT[0], self._sort)
        skipped = {key, source_key} | named
        self._of({k: v for k, v in record.items() if k not in skipped}, head)
        return head, self._triples, source

    def _say(self, head: Named, relation: str, text: str) -> None:
        self._triples.append((head, _plain(relation), _plain(text)))

    def taken(self, last: int) -> tuple[TakenTable, str]:
        """What was read up to the fact `last`, and how, in words; what one section alone says is
        called without it, too: the temperature of "main"."""
        known, inside = {*self._intake.encoder.relations}, Counter(self._listed.values())
        for relation, word in last_parts(self._chains, known):
            self._intake.names.relations.setdefault(relation, [word, relation])
        for relation, inner in self._listed.items():
            word = relation_words(inner)
            if relation in known and inside[inner] == 1 and known.isdisjoint((inner, word)):
                self._intake.names.relations.setdefault(relation, [relation, word])
        item = self._one if self._keyed else ""
        own = self._named, self._others, self._start, last, self._rows, self._title
        table = TakenTable(item, *own, {}, self._lists)
        if self._nameless:
            how = f"read as a table: {self.key} {self._why}, so a record has no name; "
            return table, f"{how}its keys are relations"
        lacking = f" ({self._lacking:,} have none)" if self._lacking else ""
        how = f"read as a table: each record is a thing, {self.key} is its id{lacking}, "
        how += "the other keys are relations"
        how += f", its class is {self._sort!r}" if self._sort else ""
        return table, how + (f", called {item} and its number" if item else "")

    def _aliases(self, record: dict[str, Any], key: str, named: set[str]) -> list[str]:
        """Other names of a record, which are facts no more."""
        found = []
        for name, said in record.items():
            words = relation_words(name).lower().split() or [""]
            if words[-1] in _ALIASES and isinstance(said, list) and key.lower() in RECORD_IDS:
                found += [item.strip() for item in said if isinstance(item, str) and item.strip()]
                named.add(name)
            elif folded(name) in _NAMES and name != key and name not in named and is_name(said):
                found.append(said.strip())  # shown as "Okafor, Ann", and called Ann Okafor
        return found

    def _of(self, record: dict[str, Any], head: Named) -> None:
        """Take what keys say of an entity, and of what lies within."""
        lists = any(isinstance(value, list) for value in record.values())
        for relation, value in record.items():
            if lists and (key := listed_too(record, relation)):
                self._intake.leave_out(f"{relation}, which is among {key}")
                continue
            if isinstance(value, list) and _is_place(relation, value):
                if any(isinstance(item, list) for item in value):
                    self._intake.leave_out("shapes of many coordinates")
                    continue
                value = " ".join(map(text_of_any, value))
            several = isinstance(value, list)
            for item in value if several else [value]:
                if isinstance(item, list):
                    if not item or not all(isinstance(inner, int | float) for inner in item):
                        self._intake.leave_out("lists within lists")
                        continue
                    item = " ".join(map(text_of_any, item))
                if isinstance(item, dict) and _is_index(item):
                    self._intake.leave_out("indexes of words")
                elif isinstance(item, dict) and relation in self._maps:
                    self._intake.leave_out(f"keys of {relation}", len(item))
                    for text in filter(is_name, item.values()):
                        self._say(head, relation, text)
                elif isinstance(item, dict) and item:
                    self._object(relation, item, head, several=several)
                elif item not in (None, {}) and (not isinstance(item, str) or item.strip()):
                    self._say(head, relation.strip(), text_of(item, relation))

    def _object(self, relation: str, item: dict[str, Any], head: Named, *, several: bool) -> None:
        """Take an object within another: an entity of its own, a statement, or values."""
        if _names_things(item):
            # "dependencies": {"accepts": "~1.3.8"}: keys are things, and values are said of each.
            for name, said in item.items():
                said = said if isinstance(said, dict) else {"value": said}
                self._qualified(head, relation, _plain(name), said)
            return
        item = in_latin(item)
        key = key_within(relation, item, several=several)
        key = "" if (relation, key) in self._no_names else key
        if not key and several and (link := _link(item, item_of(relation, ""))):
            rest = {name: said for name, said in item.items() if name != link}
            tail, more = self._inner(link, item[link], key_within(link, item[link], several=False))
            told = relation if relation_words(link) in _ENTITY else link
            self._linked(relation, head, told, tail, rest)
            return self._of(more, tail)
        own = key and not several and key.lower() not in RECORD_IDS and str(item[key])
        if own and own in (head[0], head[1]):  # the profile of Ann is no other Ann
            rest = {name: said for name, said in item.items() if name != key}
            return self._section(relation, rest, head)
        several = several and bool(key or relation not in self._alone)
        if not key and not several:
            return self._section(relation, item, head)
        tail, rest = self._inner(relation, item, key)
        another = tail[0] in self._titles and not rest.keys() <= {SORT[1]}
        if tail[0] == head[0] or relation in self._local or another:
            # A container is called as what it is in, and tenders are counted anew in each release.
            tail = f"{head[0]} {relation_words(relation)} {tail[0]}", tail[1] or tail[0], tail[2]
            self._intake.within.add(tail[0])
        if several and key and links(relation):
            return self._linked(relation, head, relation, tail, rest)
        varied = self._varied.get(relation, set()) if key else set()
        said = {name: value for name, value in rest.items() if name in varied}
        self._qualified(head, relation, tail, said)
        listed = self._listed.get(relation, relation)
        own = item_of(listed, key)
        sort = list_sort(listed) if own == item_of(listed, "") else own
        known = tail[0] in self._known or any(tail[0] in t.rows for t in self._intake.tables)
        if several and sort and not _tells_sort(item) and not known:
            self._say(tail, SORT[0], sort)
        self._of({name: value for name, value in rest.items() if name not in varied}, tail)

    def _linked(
        self, listed: str, head: Named, relation: str, tail: Named, said: dict[str, Any]
    ) -> None:
        """Take the relation that one of a list is, which may say what it is and where it leads."""
        if links(listed) and (key := said_by(said, Ends("", "", RELATION_KEYS, ()))):
            relation = str(said[key])
            back = str(said.get("direction")).lower() in _BACK
            head, tail = (tail, head) if back else (head, tail)
            said = {k: v for k, v in said.items() if k not in (key, "direction")}
        self._qualified(head, relation, tail, said)

    def _qualified(self, head: Named, relation: str, tail: Named, said: dict[str, Any]) -> None:
        """Take a fact, and what is said of it."""
        fact = head, _plain(relation.strip()), tail
        self._triples.append(fact)
        if any(value not in (None, "", [], {}) for value in said.values()):
            node, parts = statement(self._intake, *fact)
            self._triples += parts
            self._of(said, node)

    def _section(self, relation: str, record: dict[str, Any], head: Named) -> None:
        """Take what an object within another, that nothing calls, says of the other."""
        opened = _opened(relation, record)
        self._listed |= dict(zip(opened, record))
        chain = self._chains.get(relation, (relation,))
        self._chains |= {word: (*chain, key) for word, key in zip(opened, record)}
        self._of(opened, head)

    def _inner(
        self, relation: str, record: dict[str, Any], key: str
    ) -> tuple[Named, dict[str, Any]]:
        """A record within another as an entity, called by a key, "" for none, and what is left to
        say of it."""
        item = item_of(relation, key)
        # Home team and away team are teams, and the issue that another blocks is an issue.
        kinds = (kind for kind in self._kinds if f" {item}".endswith(f" {kind}"))
        item = max(kinds, key=len, default=item)
        if not key and isinstance(record.get("title"), str):
            # Copies of one book are several records.
            tail = f"{item} {self._intake.count(item)}", text_of(record["title"], "title"), []
            return tail, {name: v for name, v in record.items() if name != "title"}
        if not key:
            return _plain(self._intake.blank(item)), record
        label, named = shown_name(record, key, frozenset((item,)))
        parts = full_name(list(record)) or ()
        several = record[key] if isinstance(record[key], list) else [record[key]]
        called = label if label is not None and key in parts else text_of(several[0], key)
        sort = record.get("type")
        if isinstance(sort, str) and sort.isalpha() and key.lower() in RECORD_IDS:
            item = sort.lower()  # the assignee and the author of an issue are users
        others = [text_of(other, key) for other in several[1:]] if key not in parts else []
        tail = row_id(item if numbered(key, [called]) else "", called), label, others
        return tail, {name: v for name, v in record.items() if name not in {key, *named}}


def _link(record: dict[str, Any], sort: str) -> str:
    """The one key of a record under which an entity lies, where the others say nothing but how it
    is related: an author, and which in order; "" where there is none. A `portid` is of a port."""
    last = sort.rpartition(" ")[2]
    if any(key != last and key.lower().startswith(last) for key in record):
        return ""
    inside = [
        k for k, v in record.items() if isinstance(v, dict) and key_within(k, v, several=False)
    ]
    return inside[0] if len(inside) == 1 and len(record) > 1 else ""


def _names_things(record: dict[str, Any]) -> bool:
    """Whether keys of a record are things rather than words for what is said: several, not like
    words, each with a short text."""
    told = (v.get("version") if isinstance(v, dict) else v for v in record.values())
    texts = [said for said in told if isinstance(said, str)]
    if len(texts) < len(record):
        return False
    odd = [key for key in record if not key.replace("_", "").replace(" ", "").isalnum()]
    versions = [said for said in texts if VERSION.fullmatch(said)]
    plain = all(map(is_value, versions)) and not odd
    return bool(versions) and len(versions) == len(record) and not plain


def _maps_of_codes(records: Sequence[dict[str, Any]]) -> set[str]:
    """Keys of objects that say texts by codes, few of many each: `{"fra": "French"}`."""
    maps: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        for key, held in record.items():
            if isinstance(held, dict) and held:
                maps.setdefault(key, []).append(held)
    found = set[str]()
    for key, held in maps.items():
        words = set[str]().union(*held)
        few = _FEW_OF * sum(map(len, held)) <= len(words) * len(held)
        texts = [text for each in held for text in each.values()]
        if len(words) < _CODES or not few or not all(map(is_name, texts)):
            continue
        if not all(map(_names_things, held)):  # packages, and in which versions each is needed
            found.add(key)
    return found


def _is_index(record: dict[str, Any]) -> bool:
    """Whether an object tells the places of words in a text: `{"we": [0], "study": [1]}`."""
    lists = [said for said in record.values() if isinstance(said, list) and said]
    whole = len(lists) == len(record) and all(type(at) is int for some in lists for at in some)
    places = sorted(at for some in lists for at in some) if whole else []
    return len(places) > 1 and len(set(places)) == len(places) and places[0] == 0


def _varying(
    records: Iterable[dict[str, Any]],
) -> tuple[dict[str, set[str]], set[tuple[str, str]], set[str]]:
    """What differs between objects within records that are called alike: by the key that they lie
    under, keys of what is said of the relation to them rather than of them; (that, key) of what
    looks like a name and calls several; and what ids of a record's own are under."""
    said: dict[tuple[str, str, str], dict[str, Any]] = {}
    varied: dict[str, set[str]] = {}
    astray: set[tuple[str, str]] = set()
    local: set[str] = set()
    for record in records:
        for relation, item, key in _objects_in(record):
            if isinstance(item[key], dict | list):
                continue
            parts = full_name(list(item)) or ()
            called = " ".join(str(item[part]) for part in parts) if key in parts else item[key]
            known = said.setdefault((relation, key, str(called)), {})
            nameless = not any(folded(name) in SHOWN for name in item)
            for name, told in item.items():
                if isinstance(told, list) or (isinstance(told, dict) and not nameless):
                    continue
                if known.setdefault(name, told) != told:
                    if key.lower() in RECORD_IDS and (
                        isinstance(told, dict) or folded(name) in SHOWN[1:5]
                    ):
                        local.add(relation)
                    elif key.lower() in RECORD_IDS or folded(key) in SHOWN or key in parts:
                        varied.setdefault(relation, set()).add(name)
                    else:
                        astray.add((relation, key))
    return varied, astray, local


def _objects_in(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Objects within a record, at any depth, that a key calls: what each is to the one around it,
    itself, and its key."""
    for relation, value in record.items():
        several = isinstance(value, list)
        for item in value if several else [value]:
            if not isinstance(item, dict) or not item:
                continue
            if key := key_within(relation, item, several=several):
                yield relation, item, key
            plain = key or several or not all(map(relation_words, item))
            yield from _objects_in(item if plain else _opened(relation, item))


def _is_place(key: str, value: list[Any]) -> bool:
    """Whether a list is numbers that tell where something is, at any depth."""
    if (relation_words(key).lower().split() or [""])[-1] not in _PLACES:
        return False
    return all(
        _is_place(key, item) if isinstance(item, list) else isinstance(item, int | float)
        for item in value
    )


def _lists_of_numbers(records: Sequence[dict[str, Any]], id: str) -> frozenset[str]:
    """Keys of lists of whole numbers; of fixtures, whose other values are texts, of all of them."""
    found = set[str]()
    for record in records:
        for key, value in record.items():
            several = value if isinstance(value, list) else [value] if id == "pk" else []
            if several and key != id and all(str(item).isdecimal() for item in several):
                found.add(key)
    return frozenset(found)


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


def _told_of(records: Sequence[dict[str, Any]], key: str) -> bool:
    """Whether records that one id calls are rows of what is told of a thing, several times: most
    differ in more than one key."""
    firsts: dict[str, dict[str, Any]] = {}
    differ = [
        sum(first.get(name) != said for name, said in record.items() if not isinstance(said, list))
        for record in records
        if key in record and (first := firsts.setdefault(str(record[key]), record)) is not record
    ]
    return 2 * sum(count > 1 for count in differ) > len(differ)


def _tells_sort(record: dict[str, Any]) -> bool:
    """Whether a record itself says of what sort it is."""
    return any(relation_words(key).lower() in SORT for key in record)


def statement(
    intake: Intake, head: Named, relation: Named, tail: Named
) -> tuple[Named, list[Triple]]:
    """A statement about a fact, and what leads from it to the parts of the fact."""
    node = _plain(intake.statement(head[0], relation[0], tail[0]))
    parts = ((SUBJECT, head), (PREDICATE, relation), (OBJECT, tail))
    return node, [(node, _plain(word), end) for word, end in parts]


def said_of(record: dict[str, Any], node: Named, within: str = "") -> list[Triple]:
    """What keys say of a statement: values, and those of objects in them."""
    triples: list[Triple] = []
    for key, value in record.items():
        word = f"{within} {key}".strip()
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                triples += said_of(item, node, word)
            elif item not in (None, []) and (not isinstance(item, str) or item.strip()):
                text = " ".join(map(text_of_any, item)) if isinstance(item, list) else item
                triples.append((node, _plain(word), _plain(text_of(text, key))))
    return triples


def text_of_any(value: Any) -> str:
    """A value in a list of numbers, as of coordinates."""
    return value if isinstance(value, str) else json.dumps(value)


def _plain(text: str) -> Named:
    if not text:
        raise Malformed("a key is blank")
    return text, None, []
