"""Objects that are no things but say how two things are related: edges, links, relationships."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from jaxkg.kg.files.exports import DIRECTIONS, LINKED
from jaxkg.kg.files.tables.record_names import is_list
from jaxkg.kg.queries.columns import is_value
from jaxkg.words import relation_words

_ENDS = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("start", "end"), ("head", "tail"),
    ("subject", "object"), ("subj", "obj"), ("origin", "destination"), ("", "related"),
    ("entity1", "entity2"), ("node1", "node2"), ("u", "v"), ("active", "passive"),
)  # fmt: skip
"""What the two ends of a relation are called, in words that `_BESIDE` is not among."""
_BESIDE_WORDS = (
    "id ids ref refs node element spdx uri iri url uuid guid key entity vertex identifier"
)
_BESIDE = frozenset(_BESIDE_WORDS.split())
_SAID = (
    "relationship type", "relation type", "rel type", "edge type", "predicate", "relation",
    "relationship", "rel", "property", "type", "label", "labels", "kind", "interaction", "name",
)  # fmt: skip
"""Keys that say what a relation is, the surest first."""
RELATION_KEYS = ("relationshipType", "relation_type", "type", "label", "relation", "predicate")
"""Keys of what relates one of a list of relations to the thing that they lie in."""
_KIND_WORDS = "relationship relation rel edge edges link links relationships relations rels"
_KIND = frozenset(_KIND_WORDS.split())
"""What a list of relations is called, and what says that an object is one and not which."""
_CALLS = ("id", "_id", "@id", "key")


class Ends(NamedTuple):
    """The keys of a relation object.

    Attributes:
        head, tail: those of its ends.
        said: those that may say what it is.
        rest: those of everything else that is said of it.
    """

    head: str
    tail: str
    said: tuple[str, ...]
    rest: tuple[str, ...]


@functools.lru_cache(4096)
def ends_of(keys: tuple[str, ...]) -> Ends | None:
    """The ends that keys of an object name, None where they name none.

    >>> ends_of(("type", "id", "source_ref", "relationship_type", "target_ref", "since"))
    Ends(head='source_ref', tail='target_ref', said=('relationship_type', 'type'), rest=('since',))
    >>> ends_of(("spdxElementId", "relatedSpdxElement", "relationshipType"))[:2]
    ('spdxElementId', 'relatedSpdxElement')
    >>> ends_of(("id", "name", "from"))
    """
    words = {key: relation_words(key).lower() for key in keys}
    bare = {
        " ".join(word for word in said.split() if word not in _BESIDE): key
        for key, said in reversed(words.items())
        if key not in _CALLS
    }
    for head, tail in _ENDS:
        if head in bare and tail in bare:
            ends = bare[head], bare[tail]
            named = {said: key for key, said in reversed(words.items()) if key not in ends}
            said = tuple(named[word] for word in _SAID if word in named)
            rest = tuple(key for key in keys if key not in (*ends, *said, *_CALLS))
            return Ends(*ends, said, rest)
    return None


def is_relation(record: Mapping[str, Any], title: str, known: Collection[str]) -> Ends | None:
    """How an object relates two things; None where it is a thing itself.

    Args:
        title: of the list that it is in.
        known: ids of things.

    >>> edge = {"source": "Ann", "target": "Gull", "label": "sails"}
    >>> is_relation(edge, "links", ()) is not None, is_relation(edge, "kb", ()) is not None
    (True, True)
    >>> trip = {"name": "Tour", "from": "2020-01-01", "to": "2020-02-01"}
    >>> is_relation(trip, "trips", ())
    """
    ends = ends_of(tuple(record))
    if ends is None:
        return None
    pair = record[ends.head], record[ends.tail]
    if not all(map(_is_end, pair)):
        return None
    last = (end[1] if isinstance(end, list) else end for end in pair)
    texts = [str(end) for end in last if not isinstance(end, dict)]
    inside = all(text in known for text in texts)
    if not inside and any(map(is_list, record.values())):
        return None  # a route from a town to another has members
    if links(title) or any(_kind(record.get(key)) for key in ends.said):
        return ends
    if not said_by(record, ends):
        return None
    # A journey from a town to another has a name or much else to say, and is a thing.
    return ends if inside or (not any(map(is_value, texts)) and len(record) <= 4) else None


def links(title: str) -> bool:
    """Whether a list is called as one of relations is.

    >>> links("edges"), links("family links"), links("films")
    (True, True, False)
    """
    return (relation_words(title).lower().split() or [""])[-1] in _KIND


def _is_end(value: Any) -> bool:
    if isinstance(value, dict):
        return any(isinstance(value.get(key), str | int) for key in (*_CALLS, "name"))
    if isinstance(value, list) and len(value) == 2:  # ["Gene", 7157]
        return all(map(_is_end, value))
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() != ""


def _kind(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in _KIND


def said_by(record: Mapping[str, Any], ends: Ends) -> str:
    """The key that says what a relation is, "" where none does.

    >>> edge = {"source": 1, "target": 2, "type": "relationship", "label": "KNOWS"}
    >>> said_by(edge, ends_of(tuple(edge)))
    'label'
    """
    for key in ends.said:
        said = record.get(key)
        if isinstance(said, str) and said.strip() and not _kind(said) and said not in DIRECTIONS:
            return key
    return ""


def rest_of(record: Mapping[str, Any], ends: Ends) -> dict[str, Any]:
    """What a relation object says beside its ends and what it is.

    >>> edge = {"source": 1, "target": 2, "type": "Flow", "name": "orders", "note": ""}
    >>> rest_of(edge, ends_of(tuple(edge)))
    {'name': 'orders'}
    """
    used = said_by(record, ends)
    others = (key for key in ends.said if key != used and not _kind(record[key]))
    keys = (*ends.rest, *(key for key in others if record[key] not in DIRECTIONS))
    return {key: record[key] for key in keys if record[key] not in (None, "", [], {})}


def relation_name(record: Mapping[str, Any], ends: Ends) -> str:
    """What a relation is called; `linked to` where nothing says it."""
    key = said_by(record, ends)
    return record[key].strip() if key else LINKED
