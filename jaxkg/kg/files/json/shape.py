"""Where a JSON document keeps its objects, and what an object says once its wrapping is off.

Web replies, exports and fixtures wrap the same few things in ever other ways: a list of objects
lies under `results`, `data.items` or `message.items`; an object is `{"node": {...}}` or has its
values under `properties`, `fields` or `attributes`; a value is `{"value": ...}`. None of this is
told by a format's name: what is the same in shape is read the same.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jaxkg.kg.files.json.api import with_operations
from jaxkg.kg.files.json.relations import ends_of, links
from jaxkg.kg.files.json.wrapping import (
    ADDRESS,
    OWN,
    TYPED,
    VALUES,
    day_of,
    identified,
    measure,
    named_once,
    of_kinds,
    paired,
    unwrapped,
)
from jaxkg.kg.files.tables.headers import full_name, row_sort
from jaxkg.kg.files.tables.keys import IDS, KEY, one_of
from jaxkg.kg.files.tables.record_names import VERSION, is_list
from jaxkg.kg.queries.columns import is_value
from jaxkg.words import relation_words

_BAGS = ("properties", "fields", "attributes", "data", "props", "relationships", "_source", "tags",
         "extendeddata")  # fmt: skip
"""Keys under which an object keeps what it says of itself."""
_VALUE_KEYS = frozenset(VALUES)
_PAGES = frozenset(("edges", "nodes", "pageinfo", "totalcount", "cursor", "count", "next"))
"""Keys of a page of a list."""
_LISTS_WORDS = (
    "items results result data objects records rows elements list docs hits "
    "content entries response value values features body message payload graph resources "
    "bundle"
)
LISTS = frozenset(_LISTS_WORDS.split())
"""Keys of a list that do not say what is in it."""
_ONE_WORDS = frozenset(("row", "record", "item", "entry", "element", "object"))
"""Keys of a list of elements that do not say it, either, where what they lie in does."""
_NAMES = ("name", "title", "label")
_FEW = 3
"""Values of a map from which on its keys are names of what they hold."""
_DEEPEST_LIST = 12
_MANY = 8
"""Objects of a list from which on one object in each of them makes them things."""


class Listed(NamedTuple):
    """Objects that a document holds in one place.

    Attributes:
        title: what the list is called; that of what it lies in where its own key does not say it.
        records: the objects, their wrapping off.
    """

    title: str
    records: list[Any]


def _height(value: dict[str, Any]) -> dict[str, float]:
    """The third number of a point of GeoJSON (RFC 7946) by its name; nothing of anything else."""
    numbers = value.get("coordinates")
    if value.get("type") != "Point" or not isinstance(numbers, list) or len(numbers) != 3:
        return {}
    return {"altitude or depth": numbers[2]} if isinstance(numbers[2], int | float) else {}


def plain(value: Any, key: str = "", maps: frozenset[str] = frozenset()) -> Any:
    """A value without the wrapping that says nothing.

    >>> plain({"node": {"name": {"value": "Ann", "lang": "en"}, "home": {"node": {"id": 1}}}})
    {'name': 'Ann', 'home': {'id': 1}}
    >>> plain({"type": "Feature", "properties": {"name": "Ely"}})
    {'type': 'Feature', 'name': 'Ely'}
    >>> plain({"edges": [{"node": {"id": 1}}], "pageInfo": {}})
    [{'id': 1}]
    >>> plain({"date-parts": [[2020, 3, 1]]}), plain({"licenses": [{"license": {"id": "MIT"}}]})
    ('2020-03-01', {'licenses': [{'id': 'MIT'}]})
    >>> plain({"type": "Point", "coordinates": [5.3, 60.4, 12]})["altitude or depth"]
    12

    Args:
        key: that it lies under.
        maps: keys of maps around it, under which any object is one.
    """
    if isinstance(value, list):
        if key and value and all(isinstance(item, dict) and measure(item) for item in value):
            return paired(value)
        held = [plain(item, key, maps) for item in value]
        held = _flat(key, held) if is_list(held) else held
        if not key or not is_list(held):
            return held
        pairs = paired(held)
        return of_kinds(key, held) if pairs is held else pairs
    if not isinstance(value, dict):
        return value
    if height := _height(value):
        value = value | height
    value = named_once(value if OWN.isdisjoint(value) else identified(value), one_of(key.lower()))
    if one_of(key) != key not in _BAGS and {*map(type, value.values())} == {type(None)}:
        return list(value)  # "children": {"web": null, "db": null}
    if key and len(value) <= _FEW and (day := day_of(value)):
        return day
    if key and (pair := measure(value)):
        return {pair["key"]: pair["value"]}
    if {dict, list}.isdisjoint(map(type, value.values())):
        typed = len(value) == 1 and TYPED.fullmatch(next(iter(value)))
        if not typed and _VALUE_KEYS.isdisjoint(value) and value.keys() != ADDRESS:
            return value
    if len(value) <= _FEW and (held := unwrapped(value)) is not value:
        return plain(held, key, maps)
    if (page := _page(value)) is not None:
        return plain(page, key, maps)
    again = key in maps and all(isinstance(inner, dict) for inner in value.values())
    if key and (again or is_map(value, key)):
        return [plain(item, "", maps | {key}) for item in records_of(value)]
    found: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, dict | list):
            inner = plain(inner, key, maps)
        if key == "ExtendedData" and isinstance(inner, list) and len(inner) == 1:
            [inner] = inner  # of KML, by one schema
        if isinstance(inner, dict) and key.lower() in _BAGS and len(value) > 1:
            for name, said in inner.items():
                if name not in found and name not in value:
                    found[name] = said
                elif name in ("id", "_id") or (
                    isinstance(value.get(name), dict | list) and value[name]
                ):
                    found[f"own {name}"] = said
                else:  # "Feature" of every feature says less than its own type
                    if name == "name" and isinstance(value.get(name), str) and "id" not in value:
                        found["id"] = value[name]
                    found[name] = said
                    if name == "model" and isinstance(value[name], str):
                        found.setdefault("type", value[name].rpartition(".")[2])
        elif key not in found:
            found[key] = inner
    for word, name in found.items():
        if isinstance(name, list) and name and (word == "name" or len(name) == 1):
            name = name[0]
        if not isinstance(name, dict) or word[-4:].lower() != "name":
            continue
        parts = full_name(list(name))
        if parts and (word == "name" or len(name) == len(parts)):
            lists = (name[key] if isinstance(name[key], list) else [name[key]] for key in parts)
            texts = list(itertools.chain(*lists))
            if all(isinstance(part, str) for part in texts):
                found[word] = " ".join(texts)
    return found


def _page(value: dict[str, Any]) -> list[Any] | None:
    """The objects of a page of a list, as GraphQL replies; None where it is none."""
    lists = [value[key] for key in ("edges", "nodes") if key in value]
    if len(lists) != 1 or not isinstance(lists[0], list) or not {*map(str.lower, value)} <= _PAGES:
        return None
    wrapped = all(isinstance(item, dict) and "node" in item for item in lists[0])
    return lists[0] if wrapped or "nodes" in value else None


def _flat(key: str, objects: list[Any]) -> list[Any]:
    """Objects that are but wrapped: each has one key, that of its list in the singular, what it is,
    or a list of others."""
    if any(not isinstance(item, dict) or len(item) != 1 for item in objects):
        return objects
    pairs = [pair for item in objects for pair in item.items()]
    held = [item for _, item in pairs]
    if len({own for own, _ in pairs}) == 1:
        if pairs[0][0] == "ref" and not any(isinstance(item, list | dict) for item in held):
            return held
        last = (relation_words(pairs[0][0]).lower().split() or [""])[-1]
        if all(isinstance(item, list) and item and isinstance(item[0], dict) for item in held):
            return [inner for item in held for inner in item]
        if one_of(relation_words(key).lower()).endswith(last):
            return held if all(isinstance(item, dict) for item in held) else objects
    things = all(isinstance(item, dict) and _calls(item) for item in held)
    return [{"type": own} | item for own, item in pairs] if things else objects


def is_map(value: Any, key: str = "") -> bool:
    """Whether an object is a map of records by their names rather than one record.

    Args:
        key: that it lies under; records that have one of the kind in them are a tree of them.

    >>> ann = {"age": 3, "city": "Ely"}
    >>> is_map({"Q1": ann, "Q2": ann, "Q5": ann}), is_map({"home": ann, "work": {"firm": "Acme"}})
    (True, False)
    """
    if not isinstance(value, dict) or not value:
        return False
    inside = [inner for inner in value.values() if isinstance(inner, dict)]
    if len(inside) < len(value) or any(unwrapped(inner) is not inner for inner in inside):
        return False
    if all("://" in name for name in value):
        return True
    if key and any(isinstance(inner.get(key), dict) for inner in inside):
        return True
    keys = Counter(name for inner in inside for name in inner)
    if not keys or not keys.keys().isdisjoint(value):
        return False
    if one_of(relation_words(key).lower()) != relation_words(key).lower() and key not in _BAGS:
        # "services": {"web": {"depends_on": ["db"]}, "db": {}}; "paths": {"/pets": {}}
        odd = not any(name.replace("_", "").replace("-", "").isalpha() for name in value)
        if odd or not value.keys().isdisjoint(_texts_in(inside)):
            return True
    if len(value) < _FEW or not any(map(_says, inside)):
        return False
    shared = sum(count for count in keys.values() if 2 * count > len(value))
    return 2 * shared > keys.total()


def _beside_others(value: dict[str, Any]) -> dict[str, Any]:
    """An object of parts as the one that no id calls, beside the others, which ids call.

    >>> trial = {"design": {"phase": 3}, "contact": {"id": "c1"}, "sponsor": {"id": "s1"}}
    >>> _beside_others(trial)
    {'phase': 3, 'contact': {'id': 'c1'}, 'sponsor': {'id': 's1'}}
    """
    first = {key: item[0] if is_list(item) else item for key, item in value.items()}
    if not all(isinstance(item, dict) for item in first.values()):
        return value
    own = [key for key, item in first.items() if not _called(item, IDS)]
    if len(own) != 1 or len(value) < _FEW or not isinstance(value[own[0]], dict):
        return value
    others = {key: item for key, item in value.items() if key != own[0]}
    return value[own[0]] | others if value[own[0]].keys().isdisjoint(others) else value


def _texts_in(records: list[dict[str, Any]]) -> Iterator[str]:
    """Texts that records hold, and those of lists and keys of objects in them."""
    for said in (said for record in records for said in record.values()):
        yield from (
            item
            for item in (said if isinstance(said, list | dict) else [said])
            if isinstance(item, str)
        )


def raised(value: Any) -> Any:
    """An object that says nothing but in objects within as what these say.

    >>> raised({"citation": {"id": 7, "status": "new"}, "more": {"status": "old"}})
    {'id': 7, 'status': 'new', 'more status': 'old'}
    """
    depth = 0
    value = _beside_others(value) if isinstance(value, dict) else value
    while isinstance(value, dict) and value and depth < _DEEPEST_LIST:
        sections = [key for key, item in value.items() if isinstance(item, dict)]
        if len(sections) < len(value):
            held = value[sections[0]] if len(sections) == 1 and not _calls(value) else {}
            apart = held.keys().isdisjoint(value) and len(held) > 1
            if not apart or not all(isinstance(item, dict) for item in held.values()):
                break
            # But for a word beside it, it says everything in sections of one object.
            value = {key: item for key, item in value.items() if key not in sections} | held
            break
        found: dict[str, Any] = {}
        for key, item in value.items():
            while len(item) == 1 and isinstance(only := next(iter(item.values())), dict):
                item = only
            for name, said in item.items():
                found[f"{key} {name}" if name in found else name] = said
        value, depth = found, depth + 1
    return value


def records_of(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of a map, each with its key; what all keys begin with is no part of names.

    >>> records_of({"Q1": {"age": 3}, "Q2": {"id": "Q2"}})
    [{'id': 'Q1', 'age': 3}, {'id': 'Q2'}]
    >>> records_of({"modules/net": {"size": 3}, "modules/sea": {"size": 4}})[0]
    {'id': 'modules/net', 'name': 'net', 'size': 3}
    """
    found = []
    texts = [key for key in value if key]
    shared = os.path.commonprefix(texts if len(texts) > 1 else [])  # noqa: RUF071
    shared = shared[: shared.rfind("/") + 1]
    for key, inner in value.items():
        known = any(inner[name] == key for name in inner if name.lower() in (*IDS, "name"))
        ids = [name for name in inner if name.lower() in IDS and not isinstance(inner[name], bool)]
        own = {} if known or not key else {"key" if ids else "id": key}
        if shared.strip("/") and key and "name" not in inner:
            own["name"] = key.rpartition(shared)[2]
        found.append(own | inner)
    return found


def lists_in(document: Any, title: str, beside: list[str] | None = None) -> Iterator[Listed]:
    """The lists of objects of a document, wherever they lie; what an envelope says beside them is a
    record of its own where it has a name.

    Args:
        beside: takes the keys of what else is said beside lists.

    >>> reply = {"meta": {"count": 1}, "message": {"items": [{"DOI": "10.1/x", "title": ["Nets"]}]}}
    >>> list(lists_in(reply, "reply"))
    [Listed(title='reply', records=[{'DOI': '10.1/x', 'title': ['Nets']}])]
    """
    document = with_operations(document)
    whole = plain(records_of(document) if is_map(document) else _apart(document, title))
    if not isinstance(whole, dict | list):
        whole = document  # {"value": "x"} alone wraps nothing
    beside = [] if beside is None else beside
    whole = _dumped(_headed(whole), beside)
    for listed in _lists_in(whole, title, 0, beside):
        yield from _by_sort(listed)


def _apart(value: Any, title: str) -> Any:
    """A document with the records of a map that lie beside other keys as a list, where texts in
    some are the keys of others and they are alike: the jobs of a pipeline.

    >>> jobs = {"web": {"stage": 1, "needs": ["lib"]}, "lib": {"stage": 1}, "doc": {"stage": 2}}
    >>> _apart({"image": "base", "cache": {"path": "x"}, **jobs}, "ci")["ci"][0]
    {'id': 'web', 'stage': 1, 'needs': ['lib']}
    """
    pairs = value.items() if isinstance(value, dict) else ()
    inside = {key: item for key, item in pairs if isinstance(item, dict)}
    shared = Counter(name for item in inside.values() for name in item)
    alike = {name for name, count in shared.items() if 2 * count > len(inside)}
    held = {key: item for key, item in inside.items() if not alike.isdisjoint(item)}
    known = inside.keys() & set(_texts_in(list(inside.values())))
    if (
        not known
        or not known <= held.keys()
        or not _FEW <= len(held) < len(pairs)
        or title in value
    ):
        return value
    return {key: item for key, item in pairs if key not in held} | {title: records_of(held)}


def _headed(value: Any) -> Any:
    """Records of rows below a header, or beside one; another document as it is.

    >>> _headed([["name", "age"], ["Ann", 3]]), _headed({"columns": ["id"], "data": [[7]]})
    ([{'name': 'Ann', 'age': 3}], [{'id': 7}])
    """
    rows, header = value, None
    if isinstance(value, dict):
        header = next((value[key] for key in ("columns", "header", "fields") if key in value), None)
        rows = next((value[key] for key in ("data", "rows", "values") if key in value), None)
    if isinstance(rows, list) and len(rows) > 1 and header is None:
        header, *rows = rows
    if not isinstance(rows, list) or not isinstance(header, list) or not header:
        return value
    fits = all(isinstance(row, list) and len(row) == len(header) for row in rows)
    texts = all(isinstance(word, str) and word.strip() for word in header)
    unlike = len(set(map(str, header))) == len(header) and fits and rows
    return [dict(zip(header, row)) for row in rows] if texts and unlike else value


def _dumped(value: Any, beside: list[str]) -> Any:
    """The tables of a database by their names, of a list that tells each with its rows; another
    document as it is.

    >>> _dumped([{"type": "db"}, {"type": "table", "name": "assets", "data": [{"id": 1}]}], [])
    {'assets': [{'id': 1}]}

    Args:
        beside: takes the keys of what else the list has.
    """
    others: list[str] = []
    objects = value if isinstance(value, list) and all(isinstance(o, dict) for o in value) else ()
    told: dict[Any, Any] = {}
    for item in objects:
        rows = next((item[word] for word in ("data", "rows", "records") if word in item), None)
        if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
            told[item.get("name")] = [*told.get(item.get("name"), ()), *rows]
        elif any(isinstance(said, dict | list) for said in item.values()):
            return value
        else:
            others += item
    if not any(told.values()) or not all(isinstance(name, str) and name for name in told):
        return value
    beside += others
    return told


def _by_sort(listed: Listed) -> Iterator[Listed]:
    """A list, or one for each sort of things, where things of different sorts have one number."""
    records = [record for record in listed.records if isinstance(record, dict)]
    ids = [(record.get("type") or record.get("model"), record.get("pk")) for record in records]
    if (
        not all("pk" in record for record in records)
        or len({pk for _, pk in ids}) == len(ids)
        or len(set(ids)) < len(ids)
    ):
        yield listed
        return
    kinds: dict[str, list[Any]] = {}
    for record, (sort, _) in zip(records, ids):
        kinds.setdefault(str(sort).rpartition(".")[2], []).append(record)
    yield from itertools.starmap(Listed, kinds.items())


def _lists_in(value: Any, title: str, depth: int, beside: list[str]) -> Iterator[Listed]:
    if isinstance(value, list):
        records = [item for item in value if isinstance(item, dict)]
        inside = any(is_list(inner) for item in records for inner in item.values())
        inside = inside and depth < _DEEPEST_LIST and not any(map(_says, records))
        if inside and not _have_section(records):
            for item in records:  # each but holds others; the results of runs are no runs
                yield from _lists_in(item, "" if depth else title, depth + 1, beside)
        elif held := [item for item in value if is_list(item)]:
            for item in held:  # a page's number stands above its records
                yield from _lists_in(item, title, depth + 1, beside)
            beside += [key for item in records for key in item]
        elif records or not depth:  # of no records, whoever takes them tells that
            yield Listed(title, value)
        return
    inside = {key: inner for key, inner in value.items() if _holds_records(inner, _DEEPEST_LIST)}
    if not _calls(value, title):
        inside |= _maps_in(value)
    if not inside and not depth and value and all(isinstance(v, dict) for v in value.values()):
        yield Listed(title, records_of(value))
        return
    if not inside or not _is_envelope(value, inside, title):
        if not depth or _calls(value, title):
            yield Listed(title, [value if depth else _called_as(value, title)])
            return
        inside = {key: inner for key, inner in value.items() if isinstance(inner, dict)}
    lone = (key for key, inner in value.items() if key not in inside and isinstance(inner, dict))
    if not _calls(value):
        inside |= {key: [value[key]] for key in lone if _called(value[key], (*IDS, *_NAMES))}
    for key, inner in inside.items():
        says = key.lower() in LISTS or (key.lower() in _ONE_WORDS and row_sort("", title))
        yield from _lists_in(inner, title if title and says else key, depth + 1, beside)
    rest = {key: inner for key, inner in value.items() if key not in inside}
    told = {key: inner for key, inner in rest.items() if not isinstance(inner, dict | list)}
    lists = sum(isinstance(value[key], list) for key in inside)
    texts = any(isinstance(inner, str) for inner in told.values())
    if texts and (lists > 1 or _called(value, _NAMES)):
        first = next(iter(told))
        first = title if first.lower() in IDS else first
        yield Listed(first, [{key: inner for key, inner in rest.items() if inner not in ([], {})}])
    else:
        beside += [key for key, inner in rest.items() if inner not in ([], {}, None, "")]


def _have_section(records: list[dict[str, Any]]) -> bool:
    """Whether many objects have one and the same object within them that says something: each is
    a thing, told in parts; the runs of a tool are few."""
    shared = set(records[0]).intersection(*records[1:]) if len(records) >= _MANY else set[str]()
    return any(
        all(isinstance(record[key], dict) and _says(record[key]) for record in records)
        for key in shared
    )


def _maps_in(value: dict[str, Any]) -> dict[str, list[Any]]:
    """The records of maps of records that an object holds, where there are several.

    >>> _maps_in({"agent": {"ann": {"age": 3}}, "used": {"u1": {"by": "ann"}}, "more": {"a": 1}})
    {'agent': [{'id': 'ann', 'age': 3}], 'used': [{'id': 'u1', 'by': 'ann'}]}
    """
    held = {
        key: inner
        for key, inner in value.items()
        if isinstance(inner, dict) and inner and all(isinstance(v, dict) for v in inner.values())
    }
    keys = [name for inner in held.values() for name in inner]
    if len(held) < 2 or len(set(keys)) < len(keys):
        return {}
    return {key: records_of(inner) for key, inner in held.items()}


def _called_as(value: dict[str, Any], title: str) -> dict[str, Any]:
    """The one object of a document, which is called as the file is where it is called nothing.

    >>> _called_as({"version": "3.8", "services": []}, "shop"), _called_as({"city": "Ely"}, "shop")
    ({'name': 'shop', 'version': '3.8', 'services': []}, {'city': 'Ely'})
    """
    key = _called(value, (*IDS, *_NAMES, one_of(relation_words(title).lower())))
    called = value[key] if key else next(iter(value.values()), None)
    named = isinstance(called, str | int) and not VERSION.fullmatch(str(called))
    named = named and (key or not is_value(str(called)))
    return value if named else {"name": title} | value


def _says(value: dict[str, Any]) -> bool:
    """Whether an object says something itself, not in objects within alone."""
    return any(not isinstance(item, dict) and not is_list(item) for item in value.values())


def _holds_records(value: Any, depth: int) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) for item in value)
    if not isinstance(value, dict) or not depth:
        return False
    return any(_holds_records(inner, depth - 1) for inner in value.values())


def _is_envelope(value: dict[str, Any], inside: dict[str, Any], title: str) -> bool:
    """Whether an object is but what holds lists, no thing with its parts."""
    if any(key.lower() in LISTS for key in inside):
        return True
    if not _calls(value, title):  # settings hold lists deep within, and say much beside
        return len(value) - len(inside) < _FEW or any(map(is_list, inside.values()))
    # Parts that others refer to by numbers, or that are related, are things of lists of their own.
    lists = {key: inner for key, inner in inside.items() if isinstance(inner, list)}
    if any(links(key) and ends_of(tuple(inner[0])) for key, inner in lists.items()):
        return True
    numbered = (str(item.get(_called(item, IDS))) for inner in lists.values() for item in inner[:1])
    many = len(lists) > 1 and any(map(str.isdecimal, numbered))
    return many and (not _called(value, IDS) or _refer(list(lists.values())))


def _refer(lists: list[list[dict[str, Any]]]) -> bool:
    """Whether records of a list call those of another by numbers.

    >>> _refer([[{"id": 1}], [{"id": 7, "ownerId": 1}]]), _refer([[{"id": 1}], [{"id": 1}]])
    (True, False)
    """
    ids = [ids_in(records) for records in lists]
    for own, records in zip(ids, lists):
        for key in records[0]:
            refers = {str(record.get(key)) for record in records} - {"None"}
            is_key = not KEY.isdisjoint(relation_words(key).lower().split()[1:])
            others = (others for others in ids if others is not own)
            if is_key and refers and any(refers <= known for known in others):
                return True
    return False


def _calls(value: Mapping[str, Any], title: str = "") -> bool:
    return bool(_called(value, (*IDS, *_NAMES, one_of(relation_words(title).lower()))))


def _called(value: Mapping[str, Any], words: tuple[str, ...]) -> str:
    """The first key of an object that is one of some words, "" without one."""
    keys = {key.lower(): key for key, said in value.items() if isinstance(said, str | int)}
    return next((keys[word] for word in words if word in keys), "")


def is_page(value: Any) -> bool:
    """Whether an object is a page of a list rather than a record."""
    held = value.items() if isinstance(value, dict) else ()
    return any(key.lower() in LISTS and is_list(inner) for key, inner in held) and not _calls(value)


def ids_in(records: list[Any]) -> set[str]:
    """What records call themselves.

    >>> sorted(ids_in([{"id": 1}, {"bom-ref": "a@1"}, {"city": "Ely"}]))
    ['1', 'a@1']
    """
    found = set[str]()
    for record in records:
        if isinstance(record, dict) and (key := _called(record, IDS)):
            found.add(str(record[key]))
    return found


def named(records: list[Any]) -> bool:
    """Whether the first of some records has a name, perhaps in parts."""
    first = records[0] if records and isinstance(records[0], dict) else {}
    return bool(_called(first, _NAMES)) or full_name(list(first)) is not None
