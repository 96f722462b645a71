"""Triples as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jaxkg.kg.encode import TripleEncoder
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
    keys: tuple[str, str, str] = ("head", "relation", "tail"),
    provenance: bool | str | None = None,
    encoding: str = "utf-8",
    on_progress: Progress | None = None,
) -> None:
    """Read JSON lines into `encoder`, names into `names`; see `jaxkg.kg.read_graph`."""
    expected = _EXPECTED.format(*keys)
    source_key = provenance if isinstance(provenance, str) else "source"
    for first, lines in line_blocks(path, encoding=encoding, on_progress=on_progress):
        columns: tuple[list[str], ...] = ([], [], [])
        sources: list[str] = []
        for number, line in enumerate(lines, start=first):
            if not line.strip():
                continue
            try:
                triple, source = _record(json.loads(line), keys, source_key)
            except (json.JSONDecodeError, RecursionError) as error:
                bad.note(path, number, line.rstrip("\r"), f"not JSON ({error})", expected)
                continue
            except _Malformed as error:
                bad.note(path, number, line.rstrip("\r"), str(error), expected)
                continue
            for column, (name, label, aliases) in zip(columns, triple):
                column.append(name)
                if label is not None:
                    names.label(name, label)
                for alias in aliases:
                    names.alias(name, alias)
            sources.append(source or (f"{path.name}:{number}" if provenance is True else ""))
        told = sources if provenance is not False and any(sources) else None
        encoder.add(*columns, sources=told)


class _Malformed(Exception):
    """A record that is JSON but no triple."""


_Named = tuple[str, str | None, list[str]]


def _record(
    record: Any, keys: tuple[str, str, str], source_key: str
) -> tuple[tuple[_Named, _Named, _Named], str]:
    if not isinstance(record, dict):
        raise _Malformed("not a JSON object")
    for key in keys:
        if key not in record:
            raise _Malformed(f"no {key!r}")
    head, relation, tail = (record[key] for key in keys)
    source = record.get(source_key, "")
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


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Malformed(f"{key!r} is not a non-blank string")
    return value.strip()
