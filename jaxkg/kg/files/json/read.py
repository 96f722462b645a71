"""JSON lines and JSON documents of any depth: triples, things, relations."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.files.delimited import batched, header_columns
from jaxkg.kg.files.exports import Edges
from jaxkg.kg.files.json.relations import Ends, is_relation, links, relation_name, rest_of
from jaxkg.kg.files.json.shape import (
    LISTS,
    Listed,
    ids_in,
    is_page,
    lists_in,
    named,
    plain,
    raised,
)
from jaxkg.kg.files.json.stream import pieces
from jaxkg.kg.files.json.wrapping import cube_rows
from jaxkg.kg.files.others import how_to_bring
from jaxkg.kg.files.protocol import NO, Format, Intake, Options, begins, surest
from jaxkg.kg.files.protocol import named as name_ends
from jaxkg.kg.files.tables.headers import SORT
from jaxkg.kg.files.tables.record_names import CALLED, Malformed, is_name, shown_name, text_of
from jaxkg.kg.files.tables.records import Named, Records, Triple, said_of, statement
from jaxkg.kg.files.textfile import line_blocks, text_chunks

_EXPECTED = (
    '{{"{}": ..., "{}": ..., "{}": ...}}, each a string or, for the ends, '
    '{{"id": ..., "name": ..., "aliases": [...]}}'
)
_OF_TRIPLES = {"head", "relation", "tail", "subject", "predicate", "object"}


def read_jsonl(path: Path, intake: Intake, document: Any = None) -> None:
    """Read JSON lines, or one JSON document, and tell how; see `jaxkg.kg.read_graph`.

    Keys of triples are those of a header line. Where the first record has none of them, each is an
    entity or a relation. An entity is called by its id, name or label, else by its first key; see
    `jaxkg.kg.files.tables.records` for objects within it, `jaxkg.kg.files.json.relations` for what
    relates two, and `jaxkg.kg.files.json.shape` for where lists of objects lie.

    Args:
        document: what the file holds, where it is no JSON and was read before.
    """
    options = intake.options
    keys = tuple(map(str, options.columns)) if options.columns else None
    for column in (options.provenance, *(options.columns or ())):
        if isinstance(column, int) and not isinstance(column, bool):
            raise JaxkgError(f"{path}: JSON lines have no column {column}; give the key's name")
    title = path.name.lstrip(".").split(".")[0]
    readings: list[str] = []
    known, beside = _Known(), list[str]()
    if document is None:
        parts = _parts(path, title, options, known, beside)
    else:
        parts = _ordered(path, lists_in(document, title, beside), known)
    for name, part, sorted_by_title in parts:
        lone, start = name == title, len(intake.encoder)
        reader = _Part(path, name, intake, keys, known, sorted_by_title, not lone)
        for numbered_records in batched(part):
            reader.take(numbered_records)
        last = len(intake.encoder)
        if reader.records is not None:
            table, how = reader.records.taken(last)
            intake.tables.append(table)
            readings.append(how if lone else f"{name!r} {how}")
        elif reader.relations:
            readings.append("" if lone else f"{name!r} taken as relations")
        else:
            intake.edges.append(Edges(start, last))
    intake.tell("; ".join(dict.fromkeys(filter(None, readings))))
    some = ", ".join(list(dict.fromkeys(beside))[:8])
    intake.leave_out(f"keys beside lists of objects ({some})", len(beside))


class _Known:
    """The things of a file, for those that relations refer to.

    Attributes:
        nodes: ids in the graph by what records call themselves, where these are others.
        ids: what records call themselves; is_numbered: whether a number calls one.
        places: ids in the graph of the records of a list of nodes, in order.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}
        self.ids: set[str] = set()
        self.is_numbered = False
        self.places: list[str] = []

    def node(self, value: Any) -> str | None:
        """The node that the end of a relation means by its id, or by its place among nodes that
        no number calls; None where it is not known."""
        text = text_of(value, "id")
        if text in self.nodes or type(value) is not int or self.is_numbered:
            return self.nodes.get(text)
        return self.places[value] if 0 <= value < len(self.places) else None


_Numbered = tuple[int, Any]
"""The number of a line or element, and a record, or the text of one."""


@dataclasses.dataclass
class _Part:
    """Reads triples, or the records of one table with the relations among them.

    Attributes:
        keys: those of triples that were asked for.
        sorted_by_title: whether the title may say of what sort records are.
        is_key: whether the title is the key of the list.
        records: the table; None where nothing is a thing.
        of_triples: whether records are triples; None before the first.
    """

    path: Path
    title: str
    intake: Intake
    keys: tuple[str, ...] | None
    known: _Known
    sorted_by_title: bool
    is_key: bool
    records: Records | None = None
    relations: int = 0
    of_triples: bool | None = None

    def take(self, batch: list[_Numbered]) -> None:
        """Take some records with their numbers."""
        options, name, bad = self.intake.options, self.path.name, self.intake.bad
        objects = [(number, *_parsed(item)) for number, item in batch]
        if self.of_triples is None and self.keys is None and _has_notes(objects):
            self.intake.leave_out(f"lines of notes above the records ({str(objects[0][1])[:80]})")
            del objects[0]
        sample = [record for _, record, _ in objects if isinstance(record, dict | list)]
        for number, record, text in objects:
            try:
                if isinstance(record, Malformed):
                    raise record
                triples, source = self._taken(record, sample)
            except Malformed as error:
                if not isinstance(record, Malformed):
                    text = text or json.dumps(record, ensure_ascii=False)
                why, text = str(error), text.rstrip("\r")
                bad.note(self.path, number, text, why, self._expected)
                continue
            source = source or (f"{name}:{number}" if options.by_line else "")
            source = "" if options.provenance is False else source
            for triple in triples:
                for word in triple:
                    self.intake.name(*word)
                (head, *_), (relation, *_), (tail, *_) = triple
                self.intake.fact(head, relation, tail, source)

    @property
    def _expected(self) -> str:
        if self.records is not None:
            return f"an object with {self.records.key!r}"
        return _EXPECTED.format(*(self.keys or ("head", "relation", "tail")))

    def _taken(self, record: Any, sample: list[Any]) -> tuple[list[Triple], str]:
        """The facts of a record, and where it says that it comes from."""
        if self.of_triples is None:
            asked = self.keys is not None
            self.of_triples = asked or (not links(self.title) and _is_triple(record))
        if self.of_triples:
            own = self.intake.options.provenance
            triple, source = _record(record, self.keys, own if isinstance(own, str) else "source")
            return [triple], source
        record = raised(plain(record))
        if (ends := self._relation(record)) is not None:
            self.relations += 1
            return self._related(record, ends), ""
        if not isinstance(record, dict):
            raise Malformed("not a JSON object")
        record, title = _sorted_as(record), self.title
        if self.records is None:
            plains = (raised(plain(item)) for item in sample)
            things = [_sorted_as(item) for item in plains if self._relation(item) is None]
            own = sample[0].get("labels") if isinstance(sample[0], dict) else None
            title = _MIXED if own and _is_sort("labels", own) else title
            listed = self.is_key and title == self.title
            self.records = Records(
                title, things, self.intake, sorted_by_title=self.sorted_by_title, listed=listed
            )
        own = self.intake.options.provenance
        own = own if isinstance(own, str) else None
        thing, triples, source = self.records.facts(record, own)
        for word, text in self.intake.folders.items():
            triples.append((thing, (word, None, []), (text, None, [])))
        self.intake.name(*thing)  # it may have no fact of its own
        if self.title.lower() in _NODES:
            self.known.places.append(thing[0])
        called = record.get(self.records.key)
        if called is not None and str(called) != thing[0]:
            self.known.nodes.setdefault(str(called), thing[0])
        return triples, source

    def _relation(self, record: Any) -> Ends | None:
        if not isinstance(record, dict) or self.keys is not None:
            return None
        return is_relation(record, self.title, self.known.ids)

    def _related(self, record: dict[str, Any], ends: Ends) -> list[Triple]:
        """What a relation object says: a fact, and what is said of it."""
        head, tail = self._end(record[ends.head]), self._end(record[ends.tail])
        relation = relation_name(record, ends)
        rest = rest_of(record, ends)
        triples: list[Triple] = [(head, (relation, None, []), tail)]
        if rest:
            node, parts = statement(self.intake, *triples[0])
            triples += parts + said_of(rest, node)
        return triples

    def _end(self, value: Any) -> Named:
        """The end of a relation: an id, what it is and one, or an object that has one."""
        value = value[1] if isinstance(value, list) else value
        if not isinstance(value, dict):
            return self.known.node(value) or text_of(value, "id"), None, []
        key = next((key for key in ("id", "_id", "@id", "key") if key in value), "name")
        text = text_of(value[key], "id")
        node = self.known.nodes.get(text)
        return (
            (text, shown_name(value, key, frozenset())[0], []) if node is None else (node, None, [])
        )


_MIXED = "nodes"
"""What a list of things of several sorts is taken to be of."""
_NODES = frozenset(("nodes", "vertices"))
"""Lists to whose places relations may refer."""
_RECORDS = frozenset(("node", "vertex", "feature"))
_SORTED_BY = ("labels", "model", "kind", "@type")
"""Keys that say what a record is, where none is called type."""
_FIXTURE = re.compile(r"[a-z_]\w*\.[^\W\d]\w*")
"""How fixtures write a model: of an app."""


def _sorted_as(record: Any) -> Any:
    """A record whose sort is under "type", without one that says no more than that it is a record.

    >>> _sorted_as({"type": "node", "labels": ["Movie"]}), _sorted_as({"type": "Feature", "id": 1})
    ({'type': ['Movie']}, {'id': 1})
    >>> _sorted_as({"model": "zoo.keeper"}), _sorted_as({"model": "Civic", "labels": ["used"]})
    ({'type': 'keeper'}, {'model': 'Civic', 'labels': ['used']})
    """
    if not isinstance(record, dict):
        return record
    said = record.get("type")
    if isinstance(said, str) and said.lower() in _RECORDS:
        record = {key: value for key, value in record.items() if key != "type"}
    if any(key in record for key in SORT):
        return record
    key = next((key for key in _SORTED_BY if _is_sort(key, record.get(key))), "")
    if not key:
        return record
    said = record[key].rpartition(".")[2] if key == "model" else record[key]
    return {name: value for name, value in record.items() if name != key} | {"type": said}


def _is_sort(key: str, said: Any) -> bool:
    """Whether what a record says under a key may be its sort, as that is written there."""
    if key == "model":  # of a fixture; that of a car is none
        return isinstance(said, str) and _FIXTURE.fullmatch(said) is not None
    if isinstance(said, list):
        texts = all(isinstance(item, str) for item in said)
        return texts and (key != "labels" or all(item[:1].isupper() for item in said))
    return isinstance(said, str) and key != "labels"


def _parsed(item: Any) -> tuple[Any, str]:
    """A record, or why it is none, and its text where it was one."""
    if not isinstance(item, str):
        return item, ""
    try:
        return read_json(item), item
    except JaxkgError as error:
        return Malformed(str(error)), item


def _has_notes(objects: list[tuple[int, Any, str]]) -> bool:
    """Whether the first of several lines has no key of the next ones, which are alike."""
    keys = [set(item) if isinstance(item, dict) else set[str]() for _, item, _ in objects[:4]]
    alike = len(keys) > 2 and all(keys[1] & other for other in keys[1:])
    return alike and bool(objects[0][2]) and bool(keys[0]) and not keys[0] & set.union(*keys[1:])


def _is_triple(record: Any) -> bool:
    """Whether a record is, or is meant as, a triple."""
    if not isinstance(record, dict):
        raise Malformed("not a JSON object")
    if not record or header_columns(list(record)):
        return True
    # A ticket has a "subject" and a department a "head", beside a name or much else.
    ends = len(record.keys() & _OF_TRIPLES)
    return ends > 1 or (ends == 1 and len(record) <= 4 and record.keys().isdisjoint(CALLED))


_Listing = tuple[str, Iterable[_Numbered], bool]
"""A title, records, and whether the title may say of what sort they are."""


def _parts(
    path: Path, title: str, options: Options, known: _Known, beside: list[str]
) -> Iterator[_Listing]:
    """The lists of a file: its lines, or those of the one document that it is.

    Args:
        beside: takes the keys of what is said beside lists, once for each value.
    """
    how = {"encoding": options.encoding, "on_progress": options.on_progress}
    if not _is_document(path, options.encoding):
        numbered = (
            (number, line)
            for start, some in line_blocks(path, **how)
            for number, line in enumerate(some, start=start)
            if line.strip()
        )
        first = next(numbered, None)
        numbered = itertools.chain([first] if first else [], numbered)
        if first is None or not is_page(_parsed(first[1])[0]):
            yield title, numbered, True
            return
        pages = (_parsed(line)[0] for _, line in numbered)
        lists = (
            (listed.title, record)
            for page in pages
            if isinstance(page, dict | list)
            for listed in lists_in(page, title, beside)
            for record in listed.records
        )
        yield from _grouped(lists)
        return
    if path.stat().st_size > _WHOLE:
        found = pieces(path, title, beside, **how)
        yield from _grouped((title if name.lower() in LISTS else name, one) for name, one in found)
        return
    whole = "".join(text_chunks(path, **how))
    try:
        document = read_json(whole, str(path))
    except JaxkgError as error:
        if "Extra data" not in str(error):
            raise
        document = [piece for _, piece in pieces(path, title, beside, **how)]  # one after another
    yield from _ordered(path, lists_in(cube_rows(document, str(path)), title, beside), known)


def _grouped(lists: Iterable[tuple[str, Any]]) -> Iterator[_Listing]:
    for name, pairs in itertools.groupby(lists, key=lambda pair: pair[0]):
        yield name, enumerate((record for _, record in pairs), start=1), True


_WHOLE = 1 << 26
"""Bytes of a file up to which a document is read whole, so that its lists tell of one another."""


def _is_document(path: Path, encoding: str) -> bool:
    """Whether a file is one JSON document rather than one a line."""
    chunks = text_chunks(path, encoding=encoding)
    start = next(chunks, "").lstrip()
    if not start.startswith("{"):
        return start.startswith("[")
    line, end, rest = start.partition("\n")
    if not end:  # one line, or one that is longer than a chunk
        rest = next(chunks, "")
        return bool(rest) or not isinstance(_parsed(line)[0], Malformed)
    if not rest.strip():
        return not isinstance(_parsed(line.strip())[0], Malformed)
    return not line.rstrip().endswith("}")


def _ordered(path: Path, lists: Iterable[Listed], known: _Known) -> Iterator[_Listing]:
    """Lists of a document, those of relations last: what they join is known, then.

    Raises:
        JaxkgError: one is of texts alone.
    """
    found = list(lists)
    for listed in found:
        if listed.records and all(map(is_name, listed.records)):
            raise JaxkgError(
                f"{path}: a list of texts, {str(listed.records[0])[:40]!r} first, says nothing of "
                "anything: expected a list of objects"
            )
    ids = [ids_in(listed.records) for listed in found]
    known.ids.update(*ids)
    known.is_numbered = any(map(str.isdecimal, known.ids))
    sizes = Counter(id for some in ids for id in some)
    firsts = ((next(iter(listed.records), None), listed.title) for listed in found)
    relations = [
        isinstance(first, dict) and is_relation(first, title, known.ids) is not None
        for first, title in firsts
    ]
    for last in (False, True):
        for listed, own, is_last in zip(found, ids, relations):
            if is_last == last:
                # What is said of the things of other lists is no sort of things.
                again = bool(own) and all(sizes[id] > 1 for id in own) and not named(listed.records)
                yield listed.title, enumerate(listed.records, start=1), not again


def _record(record: Any, asked: tuple[str, ...] | None, source_key: str) -> tuple[Triple, str]:
    if not isinstance(record, dict):
        raise Malformed("not a JSON object")
    names = list(record)
    at = header_columns(names)
    keys = asked or (("head", "relation", "tail") if at is None else [names[one] for one in at])
    for key in keys:
        if key not in record:
            raise Malformed(f"no {key!r}")
    head, relation, tail = (record[key] for key in keys)
    source = "" if source_key in keys else record.get(source_key, "")
    if not isinstance(source, str):
        raise Malformed(f"{source_key!r} is not a string")
    named = _end(head, keys[0]), (text_of(relation, keys[1]), None, []), _end(tail, keys[2])
    return named, source.strip()


def _end(value: Any, key: str) -> Named:
    if not isinstance(value, dict):
        return text_of(value, key), None, []
    if unknown := value.keys() - {"id", "name", "aliases"}:
        raise Malformed(f"{key!r} has an unknown field {min(unknown)!r}")
    aliases = value.get("aliases", [])
    if not isinstance(aliases, list):
        raise Malformed(f"the aliases of {key!r} are not a list")
    name = value.get("name")
    return (
        text_of(value.get("id"), f"{key}.id"),
        None if name is None else text_of(name, f"{key}.name"),
        [text_of(alias, f"{key}.aliases") for alias in aliases],
    )


_LIKELY = surest(
    name_ends(".json", ".jsonl", ".ndjson"),
    begins(r'\A\s*(?:\{\s*"|\[\s*\{\s*")', 0.6, "it begins as JSON", ends=".jsonld"),
)
FORMATS = (
    Format("jsonl", "JSON lines, or one JSON document: triples, or objects that are entities",
           lambda head: NO if how_to_bring(head) else _LIKELY(head), read_jsonl,
           takes_columns=True),
)  # fmt: skip
