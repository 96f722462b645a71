"""The queries that a store sends to a SPARQL endpoint."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.rdf.read import ALIASES, LABELS
from jaxkg.kg.stores.terms import quoted, written


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
