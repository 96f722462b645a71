"""The queries that a store sends to a SPARQL endpoint, and RDF terms as ids of entities."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.rdf.read import ALIASES, LABELS

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
    escaped = _ESCAPED.sub(lambda sign: _ESCAPES.get(sign[0], f"\\u{ord(sign[0]):04X}"), text)
    return f'"{escaped}"'


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


@dataclasses.dataclass(frozen=True)
class Patterns:
    """Query texts over one graph at an endpoint; terms come as SPARQL writes them.

    Attributes:
        graph: IRI of a named graph; None for the default graph.
        language: of labels; those without a language serve too.
        labels, aliases: IRIs of what gives names to show first, and of what gives further ones.
    """

    graph: str | None = None
    language: str = "en"
    labels: tuple[str, ...] = LABELS
    aliases: tuple[str, ...] = ALIASES

    def __post_init__(self) -> None:
        for iri in (*self.labels, *self.aliases, *filter(None, [self.graph])):
            if not (written(iri) or "").startswith("<"):
                raise JaxkgError(f"{iri!r} is no IRI; write one as http://example.org/films")

    def relations(self) -> str:
        """Every ?p, and how many facts ?n it has."""
        return f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {self._facts} }} GROUP BY ?p"

    def anything(self, most: int) -> str:
        """So many facts of any kind."""
        return f"SELECT ?s ?p ?o WHERE {{ {self._facts} }} LIMIT {most}"

    def counted(self, query: str) -> str:
        """How many solutions ?n a query has."""
        return f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {query} }} }}"

    def everything(self) -> str:
        """All facts."""
        return f"SELECT ?s ?p ?o WHERE {{ {self._facts} }}"

    def mentioned(self, terms: Iterable[str]) -> str:
        """The place ?n of those of these terms that are in some fact."""
        each = []
        for term in terms:
            ahead = "FILTER(false)" if term[0] == '"' else self._where(f"{term} ?x ?y")
            each.append(f"{{ {ahead} }} UNION {{ {self._where(f'?y ?x {term}')} }}")
        return self._there(each)

    def named(self, texts: Iterable[str]) -> str:
        """Every ?s that has one of these texts as a name ?l."""
        literals = " ".join(
            f"{quoted(text)}{tag}" for text in texts for tag in ("", f"@{self.language}")
        )
        return (
            f"SELECT DISTINCT ?s ?l WHERE {{ VALUES ?l {{ {literals} }} "
            f"{self._where('?s ?p ?l')} FILTER(?p IN ({self._names})) }}"
        )

    def counts(self, end: str, terms: str) -> str:
        """Facts ?n of each relation ?p of these terms, which are the ?s or the ?o of them."""
        return (
            f"SELECT ?{end} ?p (COUNT(*) AS ?n) WHERE {{ VALUES ?{end} {{ {terms} }} "
            f"{self._facts} }} GROUP BY ?{end} ?p"
        )

    def facts(self, end: str, terms: str) -> str:
        """Facts of these terms, which are as in `counts`, or of (term, relation) pairs."""
        of = f"(?{end} ?p)" if terms.startswith("(") else f"?{end}"
        return f"SELECT ?s ?p ?o WHERE {{ VALUES {of} {{ {terms} }} {self._facts} }}"

    def told(self, terms: str) -> str:
        """Names ?l of these terms by ?p, in the language or in none."""
        return (
            f"SELECT ?s ?p ?l WHERE {{ VALUES ?s {{ {terms} }} {self._where('?s ?p ?l')} "
            f"FILTER(?p IN ({self._names})) {self._in_language} }}"
        )

    def names(self) -> str:
        """All names, as `told`."""
        return (
            f"SELECT ?s ?p ?l WHERE {{ {self._where('?s ?p ?l')} "
            f"FILTER(?p IN ({self._names})) {self._in_language} }}"
        )

    def labelled(self) -> str:
        """How many entities ?n have a label."""
        labels = " ".join(f"<{iri}>" for iri in self.labels)
        return (
            f"SELECT (COUNT(DISTINCT ?s) AS ?n) WHERE {{ VALUES ?p {{ {labels} }} "
            f"{self._where('?s ?p ?l')} }}"
        )

    def held(self, facts: Iterable[tuple[str, ...]]) -> str:
        """The place ?n of those of these facts that there are."""
        return self._there(self._where(" ".join(fact)) for fact in facts)

    def _there(self, each: Iterable[str]) -> str:
        """The place ?n of those of these that have a solution.

        VALUES of several variables would be shorter, but Virtuoso loses texts in a language there.
        """
        branches = (
            f"{{ SELECT ({place} AS ?n) WHERE {{ {pattern} }} LIMIT 1 }}"
            for place, pattern in enumerate(each)
        )
        return f"SELECT ?n WHERE {{ {' UNION '.join(branches)} }}"

    @property
    def _names(self) -> str:
        return ", ".join(f"<{iri}>" for iri in (*self.labels, *self.aliases))

    @property
    def _facts(self) -> str:
        """Any fact; names are none."""
        return f"{self._where('?s ?p ?o')} FILTER(!(?p IN ({self._names}) && isLiteral(?o)))"

    @property
    def _in_language(self) -> str:
        mine = f"LANG(?l) = '' || LANGMATCHES(LANG(?l), {quoted(self.language)})"
        return f"FILTER(isLiteral(?l) && ({mine}))"

    def _where(self, pattern: str) -> str:
        return f"{pattern} ." if self.graph is None else f"GRAPH <{self.graph}> {{ {pattern} }}"
