"""Triples as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.delimited import header_columns
from jaxkg.kg.files.tables.keys import (
    TakenTable,
    numbered,
    row_id,
    row_names,
)
from jaxkg.kg.files.tables.table import SORT, row_sort
from jaxkg.kg.files.textfile import BadLines, Progress, line_blocks
from jaxkg.kg.names import NameCollector
from jaxkg.words import relation_words

_EXPECTED = (
    '{{"{}": ..., "{}": ..., "{}": ...}}, each a string or, for the ends, '
    '{{"id": ..., "name": ..., "aliases": [...]}}'
)
_OF_TRIPLES = {"head", "relation", "tail", "subject", "predicate", "object"}
_CALLED = ("id", "name", "label")
"""Keys by which a record that is an entity is called; beside an id the next is its name."""


def read_jsonl(
    path: Path,
    encoder: TripleEncoder,
    names: NameCollector,
    bad: BadLines,
    tables: list[TakenTable],
    *,
    keys: tuple[str, str, str] | None = None,
    provenance: bool | str | None = None,
    lines: bool = False,
    encoding: str = "utf-8",
    on_progress: Progress | None = None,
) -> str:
    """Read JSON lines, or one JSON array, into `encoder`; see `jaxkg.kg.read_graph`.

    Keys that are not told are those of a header line, as "subject", "predicate", "object" or
    "source", "relation", "target". Numbers and true or false are taken as they are written. Where
    the first record has none of these keys, each is an entity: called by its id, name or label,
    else by its first key, and every other key is a relation; what they are the file's name may say,
    and what a number calls is `order 17`, as in `jaxkg.kg.files.tables`.

    Args:
        tables: takes what was read of entities.

    Returns:
        How records that are no triples were taken, in words; else "".
    """
    asked, start, rows = keys, len(encoder), set[str]()
    kind: _Kind | None = None  # told by the first record
    expected = _EXPECTED.format(*(keys or ("head", "relation", "tail")))
    source_key = provenance if isinstance(provenance, str) else "source"
    blocks = line_blocks(path, encoding=encoding, on_progress=on_progress)
    for first, some in _unpacked(path, blocks):
        columns: tuple[list[str], ...] = ([], [], [])
        sources: list[str] = []
        for number, line in enumerate(some, start=first):
            if not line.strip():
                continue
            try:
                record = _read(line)
                if kind is None:
                    kind = _kind(record, path.name.split(".")[0], triples=asked is not None)
                    expected = f"an object with {kind.key!r}" if kind.key else expected
                if kind.key:
                    triples, source = _entity(record, kind, provenance)
                    rows.add(str(record[kind.key]).strip())
                else:
                    triple, source = _record(record, asked, source_key)
                    triples = [triple]
            except _Malformed as error:
                bad.note(path, number, line.rstrip("\r"), str(error), expected)
                continue
            source = source or (f"{path.name}:{number}" if provenance is True or lines else "")
            for triple in triples:
                for column, (name, label, aliases) in zip(columns, triple):
                    column.append(name)
                    if label is not None:
                        names.label(name, label)
                    for alias in aliases:
                        names.alias(name, alias)
                sources.append(source)
        told = sources if provenance is not False and any(sources) else None
        encoder.add(*columns, sources=told)
    if kind is None or not kind.key:
        return ""
    tables.append(TakenTable(kind.one, kind.named, kind.others, start, len(encoder), rows))
    how = f"taken as a table: a record an entity, {kind.key} its id, other keys relations"
    how += f", its sort {kind.sort!r}" if kind.sort else ""
    return how + (f", called {kind.one} and its number" if kind.one else "")


class _Malformed(Exception):
    """A record that is JSON but no triple."""


_Named = tuple[str, str | None, list[str]]
_Triple = tuple[_Named, _Named, _Named]


def _read(line: str) -> Any:
    try:
        return read_json(line)
    except JaxkgError as error:
        raise _Malformed(str(error)) from error


def _unpacked(
    path: Path, blocks: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """The blocks; of a file that is one JSON array, its elements as lines of their own."""
    first = next(blocks, (1, []))
    start = next((line.strip() for line in first[1] if line.strip()), "")
    if not start.startswith("["):
        yield first
        yield from blocks
        return
    whole = "\n".join(line for _, some in (first, *blocks) for line in some)
    if not isinstance(elements := read_json(whole, str(path)), list):
        raise JaxkgError(f"{path}: starts like a JSON array and is none")
    # An element is called by its number, for a line may hold several.
    yield 1, [json.dumps(element, ensure_ascii=False) for element in elements]


def _record(
    record: Any, asked: tuple[str, str, str] | None, source_key: str
) -> tuple[_Triple, str]:
    if not isinstance(record, dict):
        raise _Malformed("not a JSON object")
    keys = asked or _keys_of(record)
    for key in keys:
        if key not in record:
            raise _Malformed(f"no {key!r}")
    head, relation, tail = (record[key] for key in keys)
    source = "" if source_key in keys else record.get(source_key, "")
    if not isinstance(source, str):
        raise _Malformed(f"{source_key!r} is not a string")
    named = _end(head, keys[0]), (_text(relation, keys[1]), None, []), _end(tail, keys[2])
    return named, source.strip()


class _Kind(NamedTuple):
    """What records are.

    Attributes:
        key: what they are called by; "" of triples.
        sort: what every entity is; "" where nothing says it.
        one, named, others: see `TakenTable`.
    """

    key: str
    sort: str = ""
    one: str = ""
    named: bool = False
    others: frozenset[str] = frozenset()


def _kind(record: Any, title: str, *, triples: bool) -> _Kind:
    if triples:
        return _Kind("")
    if not isinstance(record, dict):
        raise _Malformed("not a JSON object")
    if not record or header_columns(list(record)) or record.keys() & _OF_TRIPLES:
        return _Kind("")  # it is, or is meant as, a triple
    key = next((key for key in _CALLED if key in record), next(iter(record)))
    sort = row_sort(key, title)
    one, others = row_names(sort, title)
    told = any(relation_words(name).lower() in SORT for name in record)
    keyed = numbered(key, [str(record[key])])
    named = key == "id" and any(name in record for name in _CALLED[1:])
    return _Kind(key, "" if told else sort, one if keyed else "", named, others)


def _entity(record: Any, kind: _Kind, provenance: bool | str | None) -> tuple[list[_Triple], str]:
    """The facts of a record that is an entity."""
    if not isinstance(record, dict):
        raise _Malformed("not a JSON object")
    key = kind.key
    if key not in record:
        raise _Malformed(f"no {key!r}")
    shown = next((name for name in _CALLED if name in record and name != key), None)
    label = _text(record[shown], str(shown)) if shown and key == "id" else None
    number = _text(record[key], key)
    head = row_id(kind.one, number), label, []
    triples: list[_Triple] = []
    if kind.sort:
        triples.append((head, (SORT[0], None, []), (kind.sort, None, [])))
    source = ""
    for relation, value in record.items():
        if relation == key or (relation == shown and label is not None):
            continue
        if relation == provenance:
            source = _text(value, relation)
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict | list):
                raise _Malformed(
                    f"{relation!r} holds {'an object' if isinstance(one, dict) else 'a list'} of "
                    "its own; write that as a record and its id here"
                )
            if one is not None and one != "":
                triples.append(
                    (head, (relation.strip(), None, []), (_text(one, relation), None, []))
                )
    return triples, source


def _end(value: Any, key: str) -> _Named:
    if not isinstance(value, dict):
        return _text(value, key), None, []
    if unknown := value.keys() - {"id", "name", "aliases"}:
        raise _Malformed(f"{key!r} has an unknown field {min(unknown)!r}")
    aliases = value.get("aliases", [])
    if not isinstance(aliases, list):
        raise _Malformed(f"the aliases of {key!r} are not a list")
    name = value.get("name")
    return (
        _text(value.get("id"), f"{key}.id"),
        None if name is None else _text(name, f"{key}.name"),
        [_text(alias, f"{key}.aliases") for alias in aliases],
    )


def _keys_of(record: Mapping[str, Any]) -> tuple[str, str, str]:
    names = list(record)
    found = header_columns(names)
    if found is None:
        return "head", "relation", "tail"
    head, relation, tail = (names[at] for at in found)
    return head, relation, tail


def _text(value: Any, key: str) -> str:
    if isinstance(value, bool | int | float):
        value = json.dumps(value)
    if not isinstance(value, str) or not value.strip():
        raise _Malformed(f"{key!r} is not a non-blank string")
    return value.strip()
