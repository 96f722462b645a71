"""Triples as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.delimited import header_columns
from jaxkg.kg.files.textfile import BadLines, Progress, line_blocks
from jaxkg.kg.names import NameCollector

_EXPECTED = (
    '{{"{}": ..., "{}": ..., "{}": ...}}, each a string or, for the ends, '
    '{{"id": ..., "name": ..., "aliases": [...]}}'
)


def read_jsonl(
    path: Path,
    encoder: TripleEncoder,
    names: NameCollector,
    bad: BadLines,
    *,
    keys: tuple[str, str, str] | None = None,
    provenance: bool | str | None = None,
    lines: bool = False,
    encoding: str = "utf-8",
    on_progress: Progress | None = None,
) -> None:
    """Read JSON lines, or one JSON array, into `encoder`; see `jaxkg.kg.read_graph`.

    Keys that are not told are those of a header line, as "subject", "predicate", "object" or
    "source", "relation", "target". Numbers and true or false are taken as they are written.
    """
    asked = keys
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
                triple, source = _record(_read(line), asked, source_key)
            except _Malformed as error:
                bad.note(path, number, line.rstrip("\r"), str(error), expected)
                continue
            for column, (name, label, aliases) in zip(columns, triple):
                column.append(name)
                if label is not None:
                    names.label(name, label)
                for alias in aliases:
                    names.alias(name, alias)
            sources.append(
                source or (f"{path.name}:{number}" if provenance is True or lines else "")
            )
        told = sources if provenance is not False and any(sources) else None
        encoder.add(*columns, sources=told)


class _Malformed(Exception):
    """A record that is JSON but no triple."""


_Named = tuple[str, str | None, list[str]]


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
) -> tuple[tuple[_Named, _Named, _Named], str]:
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
