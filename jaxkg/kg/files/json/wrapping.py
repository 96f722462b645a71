"""What wraps a value or an object of JSON and says nothing: types, languages, names of names."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.tables.cells import cell_text
from jaxkg.kg.files.tables.keys import one_of
from jaxkg.words import relation_words

_WRAPS = frozenset(("node", "data", "item", "value", "record", "entity", "resource"))
"""The one key of an object that is but another one wrapped."""
_BESIDE = frozenset(("cursor", "links", "meta", "fullUrl", "search", "request", "response"))
"""What may stand beside it, and says how it was found."""
VALUES = ("value", "@value", "#text", "$", "_text", "text")
TYPED = re.compile(
    r"S|N|B|BOOL|NULL|[SN]S|L|M|\$(?:oid|date|number\w+)|(?:string|integer|double|boolean|timestamp|"
    r"reference|null|geoPoint|map|array)Value"
)
"""The one key of a value of DynamoDB, MongoDB and Firestore."""
_OF_VALUES = frozenset(
    (
        *("lang", "language", "@language", "xml:lang", "type", "@type", "datatype", "unit"),
        *("format", "schemeuri"),
    )
)
"""What may stand beside a value that is wrapped."""
ADDRESS = frozenset(("uri", "path", "host"))
_NAMED = ("value", "name", "title", "fullName", "text")
_SHOWN_WORDS = re.compile(r"display|label|official|preferred|primary|usual|main", re.I)


def named_once(record: dict[str, Any], sort: str = "") -> dict[str, Any]:
    """A record of several names as one with the name that is shown, and others; the "hostnames" of
    a record of the sort "host" are its names.

    >>> named_once({"id": 7, "names": [{"value": "EC", "types": ["acronym"]},
    ...                                 {"value": "Ely College", "types": ["display"]}]})
    {'id': 7, 'name': 'Ely College', 'aliases': ['EC']}
    """
    keys = ("names", "titles", "name", *(k for k in record if sort and k.lower() == f"{sort}names"))
    key = next((k for k in keys if isinstance(record.get(k), list)), "")
    if not key or not (record.keys() - {key}).isdisjoint(("name", "title", "aliases")):
        return record
    texts: list[tuple[bool, str]] = []
    for item in record[key]:
        parts = item if isinstance(item, dict) else {"value": item}
        text = next((parts[word] for word in _NAMED if isinstance(parts.get(word), str)), "")
        if not text.strip():
            return record
        rest = (str(said) for word, said in parts.items() if word not in _NAMED)
        texts.append((not any(map(_SHOWN_WORDS.search, rest)), text))
    ordered = [text for _, text in sorted(texts, key=lambda pair: pair[0])]
    rest = {word: said for word, said in record.items() if word != key}
    others = {"aliases": ordered[1:]} if ordered[1:] else {}
    return rest | {"name": ordered[0], **others} if ordered else record


OWN = frozenset(("id", "resourceType", "metadata", "reference", "_links", "kind", "$ref"))
_LINKED = frozenset(("type", "id", "attributes", "relationships", "links", "meta"))


def identified(value: dict[str, Any]) -> dict[str, Any]:
    """An object whose id is the one by which others refer to it, where a standard says which.

    JSON:API refers by type and id, FHIR by `Patient/1`, HAL by the links of an object; Kubernetes
    has one name for things of several kinds.

    >>> patient = {"resourceType": "Patient", "id": "p1"}
    >>> identified({"type": "people", "id": "9"}), identified(patient)["id"]
    ({'type': 'people', 'id': 'people 9'}, 'Patient/p1')
    """
    id, sort = value.get("id"), value.get("type")
    if value.keys() <= _LINKED and isinstance(sort, str) and str(id).isdecimal():
        return value | {"id": f"{sort} {id}"}
    if isinstance(value.get("resourceType"), str) and isinstance(id, str):
        return {"id": f"{value['resourceType']}/{id}", "type": value["resourceType"]} | {
            key: said for key, said in value.items() if key not in ("id", "resourceType")
        }
    if "type" not in value and isinstance(value.get("properties"), dict) and "schema" in value:
        own = {f"own {key}" if key == "type" else key: v for key, v in value["properties"].items()}
        rest = {key: said for key, said in value.items() if key != "schema"}
        return rest | {"type": value["schema"], "properties": own}
    data = value.get("metadata")
    if isinstance(kind := value.get("kind"), str) and isinstance(data, dict) and "name" in data:
        own = {"id": f"{kind}/{data['name']}", "type": kind, **data}
        return own | {key: said for key, said in value.items() if key not in ("kind", "metadata")}
    if isinstance(kind, str) and isinstance(value.get("name"), str) and "apiVersion" in value:
        return {"id": f"{kind}/{value['name']}"}
    if value.keys() == {"$ref"} and str(value["$ref"]).startswith("#/"):
        return {"id": value["$ref"].rpartition("/")[2]}
    if "reference" in value and value.keys() <= {"reference", "display", "type", "identifier"}:
        return {"id": value["reference"]}
    links = value.get("_links")
    if isinstance(links, dict):
        to = {key: item.get("href") for key, item in links.items() if isinstance(item, dict)}
        own = {"id": to["self"]} if to.get("self") and "id" not in value else {}
        rest = {key: said for key, said in value.items() if key != "_links"}
        return own | rest | {k: v for k, v in to.items() if v and k not in {"self", *rest}}
    return value


_MONTHS = *("jan", "feb", "mar", "apr", "may", "jun", "jul"), *("aug", "sep", "oct", "nov", "dec")


def day_of(value: dict[str, Any]) -> str:
    """The day, month or year that an object says in parts; "" where it says more, or less.

    >>> day_of({"Year": "2018", "Month": "Mar"}), day_of({"year": 2018, "month": 3, "day": 7})
    ('2018-03', '2018-03-07')
    """
    words = {key.lower(): str(said).lower() for key, said in value.items()}
    parts = [words.pop(word, "") for word in ("year", "month", "day")]
    parts[1] = str(_MONTHS.index(parts[1][:3]) + 1) if parts[1][:3] in _MONTHS else parts[1]
    while parts and not parts[-1]:
        parts.pop()
    whole = not words and all(map(str.isdecimal, parts)) and len("".join(parts[:1])) == 4
    return "-".join(part.zfill(2) for part in parts) if whole else ""


def unwrapped(value: dict[str, Any]) -> Any:
    """What an object holds that is but a wrapping; else the object."""
    if len(value) == 1:
        ((key, held),) = value.items()
        if TYPED.fullmatch(key) and (plain := _untyped(key, held)) is not None:
            return plain
    for key in VALUES:
        if key in value and not isinstance(value[key], dict | list):
            beside = {name.lower().replace("-", "").replace("_", "") for name in value} - {key}
            if beside <= _OF_VALUES:
                return value[key]
    if "date-parts" in value and isinstance(value["date-parts"], list):
        parts = value["date-parts"]
        parts = parts[0] if parts and isinstance(parts[0], list) else parts
        if day := day_of(dict(zip(("year", "month", "day"), parts))):
            return day
    if "data" in value and value.keys() <= {"data", "links", "meta"} and "links" in value:
        return value["data"]
    lone = [key for key in value if key in _WRAPS and isinstance(value[key], dict)]
    if len(lone) == 1 and value.keys() <= {lone[0], *_BESIDE}:
        held, address = value[lone[0]], str(value.get("fullUrl"))
        # A bundle whose entries have addresses refers to them by these.
        kind = held.get("resourceType") if address.startswith("urn:") else None
        rest = {key: said for key, said in held.items() if key not in ("id", "resourceType")}
        return held if kind is None else {"id": address, "type": kind, **rest}
    if value.keys() == ADDRESS:
        return value["path"]
    return value


PAIRS = (("k", "v"), ("name", "value"), ("key", "value"))
"""Keys of a pair of a key and what it says."""


def paired(objects: list[Any]) -> Any:
    """What pairs of a key and a value, perhaps with its unit, say, as an object; other objects as
    they are.

    >>> paired([{"Key": "Name", "Value": "web"}, {"Key": "Team", "Value": "sea"}])
    {'Name': 'web', 'Team': 'sea'}
    >>> paired([{"sizeType": "height", "sizeUnit": "cm", "sizeValue": 7.5}])
    {'height': '7.5 cm'}
    """
    if any(not isinstance(item, dict) or len(item) not in (2, 3) for item in objects):
        return objects
    pairs = [measure(item) or {key.lower(): v for key, v in item.items()} for item in objects]
    key, value = next((pair for pair in PAIRS if pairs[0].keys() == set(pair)), ("", ""))
    said = {row[key]: row[value] for row in pairs if isinstance(row.get(key), str) and value in row}
    plain = all(name and not isinstance(item, dict | list) for name, item in said.items())
    return said if plain and len(said) == len(objects) else objects


def measure(value: dict[str, Any]) -> dict[str, str]:
    """A measure of a type, a unit and a value as a key and what it says; nothing of others."""
    if len(value) != 3:
        return {}
    parts = {(relation_words(key).lower().split() or [""])[-1]: v for key, v in value.items()}
    unit, size = parts.pop("unit", None), parts.pop("value", None)
    (kind, name), *more = parts.items() or [("", None)]
    texts = isinstance(unit, str) and isinstance(name, str) and isinstance(size, str | int | float)
    whole = texts and kind in _KINDS and not more
    return {"key": str(name), "value": f"{size} {unit}"} if whole else {}


_KINDS = ("system", "type", "kind", "label", "rel")
"""Keys that say what a value in a list of them is."""
_OF_KINDS = frozenset((*_KINDS, "value", "use", "primary", "preferred", "rank", "period"))
_KIND = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?")


def of_kinds(key: str, objects: list[Any]) -> Any:
    """What a list of values of several kinds says, as an object; other objects as they are.

    >>> of_kinds("telecom", [{"system": "phone", "value": "7"}, {"system": "fax", "value": "8"}])
    {'phone': '7', 'fax': '8'}
    >>> of_kinds("phones", [{"type": "home", "value": "555", "primary": True}])
    {'home phone': '555'}
    """
    told: dict[str, Any] = {}
    for item in objects:
        plain = isinstance(item, dict) and item.keys() <= _OF_KINDS
        word = next((word for word in _KINDS if word in item), "") if plain else ""
        kind, value = (item[word], item.get("value")) if word else (None, None)
        if not isinstance(kind, str) or not _KIND.fullmatch(kind) or not isinstance(value, str):
            return objects
        called = kind if word == "system" else f"{kind} {one_of(relation_words(key).lower())}"
        told.setdefault(called, []).append(value)
    return {kind: values if values[1:] else values[0] for kind, values in told.items()}


def _untyped(key: str, held: Any) -> Any:
    """The value under a key that tells its type; None where it tells something else.

    >>> _untyped("SS", ["a"]), _untyped("$date", {"$numberLong": "0"}), _untyped("L", "Ely")
    (['a'], '1970-01-01', None)
    """
    lists = key in ("L", "SS", "NS", "arrayValue")
    if key in ("NULL", "nullValue"):
        return ""
    if key.endswith("Value") and isinstance(held, dict):
        return held.get("values", []) if lists else held.get("fields", held)
    if key == "M" and isinstance(held, dict) and all(map(_is_typed, held.values())):
        return held
    if lists and isinstance(held, list) and (key != "L" or all(map(_is_typed, held))):
        return held
    if key == "$date":
        held = held.get("$numberLong") if isinstance(held, dict) else held
        if str(held).lstrip("-").isdecimal():
            day = _EPOCH + datetime.timedelta(milliseconds=int(held)) if len(str(held)) < 15 else ""
            return cell_text(day)
    plain = isinstance(held, str | bool | int) and not lists and key != "M"
    return held if plain else None


_EPOCH = datetime.datetime(1970, 1, 1)


def _is_typed(value: Any) -> bool:
    lone = isinstance(value, dict) and len(value) == 1
    return lone and TYPED.fullmatch(next(iter(value))) is not None


def cube_rows(document: Any, where: str) -> Any:
    """A document, or the observations of the cube that it is: a row for what its dimensions say
    together, a key for what is measured; without a dimension of measures that is the cube's label.
    Source: JSON-stat, https://json-stat.org/full/.

    Raises:
        JaxkgError: the cube's parts do not fit together.

    >>> sex = {"category": {"index": ["F", "M"], "label": {"F": "women"}}}
    >>> cube_rows({"label": "pay", "id": ["sex"], "size": [2], "value": [7, 9],
    ...            "dimension": {"sex": sex}}, "")
    {'observations': [{'sex': 'women', 'pay': 7}, {'sex': 'M', 'pay': 9}]}
    """
    cube = document.get("dataset", document) if isinstance(document, dict) else None
    about = cube.get("dimension") if isinstance(cube, dict) and "value" in cube else None
    if not isinstance(about, dict) or not isinstance(cube, dict):
        return document
    sized = cube if "size" in cube else about
    try:
        measures = (sized.get("role") or {}).get("metric", ())
        said = [
            (id in measures, about[id].get("label") or id, _labels(about[id]["category"]))
            for id in sized["id"]
        ]
        sizes = [len(labels) for *_, labels in said]
        values, flags = (_by_place(cube.get(key)) for key in ("value", "status"))
        if sizes != sized["size"] or any(not 0 <= place < math.prod(sizes) for place in values):
            raise ValueError("values beside its dimensions")
        rows = dict[tuple[int, ...], dict[str, Any]]()
        for place, value in values.items():
            rest, of, measured, key = place, dict[str, Any](), "", tuple[int, ...]()
            for is_measure, word, labels in reversed(said):
                rest, own = divmod(rest, len(labels))
                if is_measure:
                    measured = labels[own]
                else:
                    of, key = {word: labels[own], **of}, (*key, own)
            word = measured or cube.get("label") or "value"
            status = {f"status of {word}": flags[place]} if flags.get(place) else {}
            if value is not None:
                rows.setdefault(key, of).update({word: value, **status})
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise JaxkgError(f"{where}: a cube whose parts do not fit together ({error!r})") from error
    return {"observations": [*rows.values()]}


def _labels(category: dict[str, Any]) -> list[str]:
    labels = category.get("label") or {}
    codes = category.get("index") or labels
    if codes is not labels and isinstance(codes, dict):
        codes = [code for code, _ in sorted(codes.items(), key=lambda pair: pair[1])]
    return [str(labels.get(code, code)) for code in codes]


def _by_place(values: Any) -> dict[int, Any]:
    pairs = values.items() if isinstance(values, dict) else enumerate(values or ())
    return {int(place): value for place, value in pairs}
