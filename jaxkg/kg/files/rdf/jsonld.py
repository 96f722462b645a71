"""JSON-LD beside the JSON it looks like: what tells it, and what its parser leaves out.

Contexts that are much used are known and written in their place; nothing is fetched. A web page is
the JSON-LD in its `<script type="application/ld+json">`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jaxkg.foreign_json import read_json

_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_KEY = re.compile(rb'"@(?:context|graph|id)"\s*:')
_SCRIPT = re.compile(
    rb"""<script\b[^<>]*type\s*=\s*["']?application/ld\+json["']?[^<>]*>""", re.IGNORECASE
)
_SCRIPT_ENDS = re.compile(rb"</script", re.IGNORECASE)
_DCT = "http://purl.org/dc/terms/"
_OF_DCT = (
    "title description issued modified publisher creator license identifier language spatial "
    "temporal accessRights isPartOf format"
)


def _context(vocabulary: str, leads: str = "", **terms: str) -> dict[str, Any]:
    """A context by its vocabulary and the keys whose texts are ids."""
    ids = {key: {"@id": f"{vocabulary}{key}", "@type": "@id"} for key in leads.split()}
    return {"@vocab": vocabulary, "id": "@id", "type": "@type", **ids, **terms}


_FOAF = _context("http://xmlns.com/foaf/0.1/", "knows homepage img depiction")
_SCHEMA = {"@vocab": "http://schema.org/", "id": "@id", "type": "@type"}
_DCAT = _context(
    "http://www.w3.org/ns/dcat#",
    "accessURL downloadURL landingPage",
    name="http://xmlns.com/foaf/0.1/name",
    **{key: f"{_DCT}{key}" for key in _OF_DCT.split()},
)
_CONTEXTS = {
    "schema.org": _SCHEMA,
    "schema.org/docs/jsonldcontext.json": _SCHEMA,
    "schema.org/docs/jsonldcontext.jsonld": _SCHEMA,
    **dict.fromkeys([f"w3id.org/ro/crate/1.{minor}/context" for minor in range(3)], _SCHEMA),
    "www.w3.org/ns/activitystreams": _context(
        "https://www.w3.org/ns/activitystreams#",
        "actor object target attributedTo inReplyTo to cc bto bcc url partOf first last next prev "
        "current items orderedItems origin instrument context location replies",
    ),
    "www.w3.org/ns/dcat.jsonld": _DCAT,
    "www.w3.org/ns/dcat": _DCAT,
    "project-open-data.cio.gov/v1.1/schema/catalog.jsonld": _DCAT,
    "xmlns.com/foaf/context": _FOAF,
    "xmlns.com/foaf/0.1": _FOAF,
    "www.w3.org/2004/02/skos/core": _context(
        "http://www.w3.org/2004/02/skos/core#",
        "broader narrower related broadMatch narrowMatch exactMatch closeMatch inScheme "
        "hasTopConcept topConceptOf member",
    ),
}
"""Contexts that need not be fetched, by their address without what it begins and ends with."""
_AS_CALLED = {
    "id": "@id", "type": "@type", "_label": "http://www.w3.org/2000/01/rdf-schema#label"
}  # fmt: skip
"""Keys of objects whose context is not known."""
# Containers whose keys are languages, ids and so on, no terms.
_MAPS = {"@index", "@language", "@id", "@type", "@graph"}


def is_jsonld(start: bytes) -> bool:
    """Whether a JSON file is JSON-LD: keys such as `@context` stand near its start."""
    return bool(_START.match(start) and _KEY.search(start))


def is_page(start: bytes) -> bool:
    """Whether a file is a web page that holds JSON-LD."""
    return start.lstrip()[:1] == b"<" and b"application/ld+json" in start


def document_of(path: Path, data: bytes, tell: Callable[[str], object]) -> Any:
    """The JSON of a file, or of all scripts of a page, with its contexts written in.

    Of a context that is not known, keys are relations as they are called. Keys that no context maps
    to an IRI are passed over by JSON-LD.

    Args:
        tell: told of both.

    Raises:
        JaxkgError: it is no JSON.
    """
    content: list[Any] = []
    if is_page(data):
        end = _SCRIPT_ENDS.search(data)
        while end and (begins := _SCRIPT.search(data, end.end() if content else 0)):
            end = _SCRIPT_ENDS.search(data, begins.end())
            text = data[begins.end() : end.start() if end else None].strip()
            content.append(read_json(text, f"{path}: script {len(content) + 1}"))
    else:
        content = read_json(data, str(path))
    unknown: dict[str, dict[str, Any]] = {}
    document = _written_in(content, unknown)
    if unknown:
        leads = {key: {"@type": "@id"} for key in _leads(content)}
        for address, context in unknown.items():
            context |= _AS_CALLED | leads | {"@vocab": f"{address.rstrip('#')}#"}
        tell(
            f"its @context is {', '.join(unknown)}, which is not known, and nothing is fetched: "
            "keys are relations as they are called"
        )
    terms = {key: term for context in _contexts(document) for key, term in context.items()}
    astray = [] if terms.get("@vocab") else sorted(set(_keys(document, terms)) - terms.keys())
    if astray:
        keys = ", ".join(map(repr, astray[:5])) + (", ..." if len(astray) > 5 else "")
        tell(f"keys that its @context does not map left out ({keys})")
    return document


def _written_in(value: Any, unknown: dict[str, dict[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_written_in(item, unknown) for item in value]
    if not isinstance(value, dict):
        return value
    written = {key: _written_in(held, unknown) for key, held in value.items()}
    if "@context" in written:
        contexts = []
        for context in _listed(value["@context"]):
            inline = dict(context) if isinstance(context, dict) else {}
            if address := context if isinstance(context, str) else inline.pop("@import", None):
                known = _CONTEXTS.get(re.sub(r"^https?://", "", str(address)).rstrip("/#"))
                contexts.append(known or unknown.setdefault(str(address), {}))
            if not isinstance(context, str):
                contexts.append(inline if isinstance(context, dict) else context)
        written["@context"] = contexts[0] if len(contexts) == 1 else contexts
    return written


def _leads(document: Any) -> list[str]:
    """Keys under which texts are but ids of objects in a document."""
    ids, texts = set[str](), dict[str, set[str]]()
    held = [document]
    while held:
        value = held.pop()
        held += value.values() if isinstance(value, dict) else value
        for key, said in value.items() if isinstance(value, dict) else ():
            words = [item for item in _listed(said) if isinstance(item, str)]
            if key in ("@id", "id"):
                ids.update(words)
            elif key not in ("@type", "type"):
                texts.setdefault(key, set()).update(words)
        held = [item for item in held if isinstance(item, dict | list)]
    return [key for key, words in texts.items() if words and words <= ids]


def _contexts(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for element in value:
            yield from _contexts(element)
    elif isinstance(value, dict):
        for key, held in value.items():
            if key == "@context":
                yield from (one for one in _listed(held) if isinstance(one, dict))
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
