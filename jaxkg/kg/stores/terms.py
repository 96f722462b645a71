"""RDF terms as ids of entities, the way files of RDF are read, and back into SPARQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from jaxkg.errors import JaxkgError

_STRING = "http://www.w3.org/2001/XMLSchema#string"
_BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"
_ESCAPES = {
    "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f",
}  # fmt: skip
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')
_NO_IRI = re.compile(r'[<>"{}|^`\\\x00-\x20]')


def quoted(text: str) -> str:
    """A text as N-Triples and SPARQL write it.

    >>> print(quoted('say "no"'))
    "say \\"no\\""
    """
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0], f"\\u{ord(match[0]):04X}")


def id_of(term: Mapping[str, str]) -> str:
    """The id of an entity: an IRI, `_:label` of a blank node, or a literal as N-Triples write it.

    Args:
        term: as SPARQL's JSON results have it.

    Raises:
        JaxkgError: it is no term of a fact.

    >>> id_of({"type": "literal", "value": "chat", "xml:lang": "fr"})
    '"chat"@fr'
    """
    try:
        kind, value = term["type"], value_of(term)
        if kind == "uri":
            return value
        if kind == "bnode":
            return f"_:{value}"
        if kind in ("literal", "typed-literal"):
            if language := term.get("xml:lang"):
                return f"{quoted(value)}@{language}"
            datatype = term.get("datatype", _STRING)
            return quoted(value) + ("" if datatype == _STRING else f"^^<{datatype}>")
    except (KeyError, TypeError, AttributeError):
        pass
    raise JaxkgError(f"an endpoint answered with {str(term)[:120]!r}, which is no term of a fact")


def value_of(term: Mapping[str, str]) -> str:
    """The text of a term; a boolean's is a word, which Virtuoso writes as a number.

    >>> value_of({"type": "typed-literal", "value": "1", "datatype": _BOOLEAN})
    'true'
    """
    value = term["value"]
    if term.get("datatype") == _BOOLEAN:
        return {"1": "true", "0": "false"}.get(value, value)
    return value


def written(entity: str) -> str | None:
    """An id as SPARQL writes it; None for a blank node, which no second query can name.

    >>> written("http://a/b"), written("_:b0")
    ('<http://a/b>', None)
    """
    if entity.startswith('"'):
        return entity
    if entity.startswith("_:") or _NO_IRI.search(entity) or ":" not in entity:
        return None
    return f"<{entity}>"


def shown(entity: str, value: str | None = None) -> str:
    """What an entity without a label is called.

    Args:
        entity: its id.
        value: of a literal.
    """
    return (value or "").strip() or (entity if entity.startswith(('"', "_:")) else tail(entity))


def tail(iri: str) -> str:
    """The last part of an IRI.

    >>> tail("http://a/b#directed_by")
    'directed_by'
    """
    last = re.split(r"[/#]", iri.rstrip("/#"))[-1]
    return unquote(last).strip() or iri
