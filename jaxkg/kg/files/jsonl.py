"""Triples as JSON lines."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.files.delimited import Columns, header_columns
from jaxkg.kg.files.exports import nodes_and_edges
from jaxkg.kg.files.protocol import Format, Intake, named
from jaxkg.kg.files.tables.records import (
    CALLED,
    Malformed,
    Named,
    Records,
    Triple,
    tables_in,
    text_of,
)
from jaxkg.kg.files.textfile import line_blocks

_EXPECTED = (
    '{{"{}": ..., "{}": ..., "{}": ...}}, each a string or, for the ends, '
    '{{"id": ..., "name": ..., "aliases": [...]}}'
)
_OF_TRIPLES = {"head", "relation", "tail", "subject", "predicate", "object"}


def read_jsonl(path: Path, intake: Intake, document: Any = None) -> None:
    """Read JSON lines, or one JSON array, and tell how; see `jaxkg.kg.read_graph`.

    Keys that are not told are those of a header line, as "subject", "predicate", "object" or
    "source", "relation", "target". Numbers and true or false are taken as they are written. Where
    the first record has none of these keys, each is an entity: called by its id, name or label,
    else by its first key, and every other key is a relation; what they are the file's name may say,
    and what a number calls is `order 17`, as in `jaxkg.kg.files.tables`. An object within a record
    is an entity, too. A file that is one object of lists of records holds a table a key; of nodes
    and links, see `jaxkg.kg.files.exports`, the links are triples.

    Args:
        document: what the file holds, where it is no JSON and was read before.
    """
    options = intake.options
    keys, provenance = _keys(path, options.columns), _no_position(path, options.provenance)
    encoder, tables, edges = intake.encoder, intake.tables, intake.edges
    title = path.name.split(".")[0]
    told: list[str] = []
    if document is None:
        blocks = line_blocks(path, encoding=options.encoding, on_progress=options.on_progress)
        parts = _parts(path, title, blocks)
    else:
        parts = _elements(_tables_in(document) or {})
    for name, part in parts:
        lone, start = name == title, len(encoder)
        records = _read_part(path, name, part, intake, keys, provenance)
        if records is not None:
            table, how = records.taken(len(encoder))
            tables.append(table)
            told.append(how if lone else f"{name!r} {how}")
        else:
            edges.append((start, len(encoder)))
    intake.tell("; ".join(told))


def _read_part(
    path: Path,
    title: str,
    blocks: Iterable[tuple[int, list[str]]],
    intake: Intake,
    keys: tuple[str, str, str] | None,
    provenance: bool | str | None,
) -> Records | None:
    """Read triples, or the records of one table, which are returned."""
    encoder, names, bad, lines = intake.encoder, intake.names, intake.bad, intake.options.lines
    start = len(encoder)
    records: Records | None = None
    triples_alone = keys is not None
    expected = _EXPECTED.format(*(keys or ("head", "relation", "tail")))
    source_key = provenance if isinstance(provenance, str) else "source"
    for first, some in blocks:
        columns: tuple[list[str], ...] = ([], [], [])
        sources: list[str] = []
        for number, line in enumerate(some, start=first):
            if not line.strip():
                continue
            try:
                record = _read(line)
                if records is None and not triples_alone:
                    triples_alone = _is_triple(record)
                    if not triples_alone:
                        records = Records(title, record, start)
                        expected = f"an object with {records.key!r}"
                if records is not None:
                    own = provenance if isinstance(provenance, str) else None
                    (name, label, _), triples, source = records.facts(record, own)
                    if label is not None:
                        names.label(name, label)  # it may have no fact of its own
                else:
                    triple, source = _record(record, keys, source_key)
                    triples = [triple]
            except Malformed as error:
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
    return records


def _read(line: str) -> Any:
    try:
        return read_json(line)
    except JaxkgError as error:
        raise Malformed(str(error)) from error


def _is_triple(record: Any) -> bool:
    """Whether a record is, or is meant as, a triple."""
    if not isinstance(record, dict):
        raise Malformed("not a JSON object")
    if not record or header_columns(list(record)):
        return True
    # A ticket has a "subject" and a department a "head", beside a name or much else.
    ends = len(record.keys() & _OF_TRIPLES)
    return ends > 1 or (ends == 1 and len(record) <= 4 and record.keys().isdisjoint(CALLED))


def _parts(
    path: Path, title: str, blocks: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[str, Iterable[tuple[int, list[str]]]]]:
    """Lines of one table or more, each with its title: of a file that is one JSON array, or an
    object of lists of records, the elements are lines of their own."""
    first = next(blocks, (1, []))
    lines = [line.strip() for line in first[1] if line.strip()]
    if not lines or not (lines[0].startswith("[") or _goes_on(lines)):
        yield title, itertools.chain([first], blocks)
        return
    whole = "\n".join(line for _, some in (first, *blocks) for line in some)
    document = read_json(whole, str(path))
    if not lines[0].startswith("["):
        tables = _tables_in(document) or {title: [document]}
    elif isinstance(document, list):
        tables = {title: document}
    else:
        raise JaxkgError(f"{path}: starts like a JSON array and is none")
    yield from _elements(tables)


def _elements(
    tables: Mapping[str, list[Any]],
) -> Iterator[tuple[str, Iterable[tuple[int, list[str]]]]]:
    for name, elements in tables.items():
        # An element is called by its number, for a line may hold several.
        yield name, [(1, [json.dumps(element, ensure_ascii=False) for element in elements])]


def _tables_in(document: Any) -> dict[str, list[Any]] | None:
    """The tables of a document, nodes and edges among them; None of a record."""
    return nodes_and_edges(document) or tables_in(document)


def _goes_on(lines: list[str]) -> bool:
    """Whether the first line is but a part of an object, or the only one and one of several
    tables."""
    if not lines[0].startswith("{"):
        return False
    if len(lines) > 1:
        return not lines[0].endswith("}")
    try:
        return _tables_in(read_json(lines[0])) is not None
    except JaxkgError:
        return False  # whoever takes the line tells it


def _record(record: Any, asked: tuple[str, str, str] | None, source_key: str) -> tuple[Triple, str]:
    if not isinstance(record, dict):
        raise Malformed("not a JSON object")
    keys = asked or _keys_of(record)
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


def _keys_of(record: Mapping[str, Any]) -> tuple[str, str, str]:
    names = list(record)
    found = header_columns(names)
    if found is None:
        return "head", "relation", "tail"
    head, relation, tail = (names[at] for at in found)
    return head, relation, tail


def _keys(path: Path, columns: Columns | None) -> tuple[str, str, str] | None:
    if columns is None:
        return None
    head, relation, tail = (_no_position(path, column) for column in columns)
    return str(head), str(relation), str(tail)


def _no_position(path: Path, column: bool | int | str | None) -> bool | str | None:
    if isinstance(column, int) and not isinstance(column, bool):
        raise JaxkgError(f"{path}: JSON lines have no column {column}; give the key's name")
    return column


FORMATS = (
    Format(
        "jsonl",
        "JSON lines, or one JSON document: triples, or objects that are entities",
        named(".json", ".jsonl", ".ndjson"),
        read_jsonl,
        takes_columns=True,
    ),
)
