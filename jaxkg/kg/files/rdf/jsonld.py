"""JSON-LD beside the JSON it looks like: what tells it, and what its parser leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.files.textfile import open_bytes

_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_KEY = re.compile(rb'"@(?:context|graph|id|type)"\s*:')
# Containers whose keys are languages, ids and so on, no terms.
_MAPS = {"@index", "@language", "@id", "@type", "@graph"}


def is_jsonld(start: bytes) -> bool:
    """Whether a JSON file is JSON-LD: keys such as `@context` stand near its start."""
    return bool(_START.match(start) and _KEY.search(start))


def terms_left_out(path: Path) -> list[str]:
    """Keys that no context of the file maps to an IRI, which JSON-LD passes over; ascending.

    Raises:
        JaxkgError: the file is no JSON, or has a context that lies elsewhere.
    """
    with open_bytes(path) as file:
        document = read_json(file.read(), str(path))
    terms: dict[str, Any] = {}
    for context in _contexts(document):
        inline = {"@import": context} if isinstance(context, str) else context
        if remote := inline.get("@import"):
            raise JaxkgError(
                f"{path}: its @context is {remote!r}, and nothing is fetched; write the context "
                'into the file, as {"@vocab": "https://schema.org/"} for words of schema.org'
            )
        terms |= inline
    return [] if terms.get("@vocab") else sorted(set(_keys(document, terms)) - terms.keys())


def _contexts(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for element in value:
            yield from _contexts(element)
    elif isinstance(value, dict):
        for key, held in value.items():
            if key == "@context":
                yield from (one for one in _listed(held) if isinstance(one, dict | str))
            yield from _contexts(held)


def _keys(value: Any, terms: dict[str, Any]) -> Iterator[str]:
    if isinstance(value, list):
        for element in value:
            yield from _keys(element, terms)
    elif isinstance(value, dict):
        for key, held in value.items():
            told = terms.get(key)
            told = told if isinstance(told, dict) else {}
            if not key.startswith("@") and ":" not in key:
                yield key
            if key in ("@context", "@value") or told.get("@type") == "@json":
                continue
            mapped = _MAPS.intersection(map(str, _listed(told.get("@container"))))
            inner = list(held.values()) if mapped and isinstance(held, dict) else held
            yield from _keys(inner, terms)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
