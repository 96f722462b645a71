"""Triples from RDF files: N-Triples, Turtle, RDF/XML (extra `rdf`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.textfile import BadLines, Progress, line_at, open_bytes
from jaxkg.kg.names import NameCollector

RDF_FORMATS = {"ntriples": "N_TRIPLES", "turtle": "TURTLE", "rdfxml": "RDF_XML"}
"""Name of the syntax in pyoxigraph, by format."""

LABELS = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
)
ALIASES = ("http://www.w3.org/2004/02/skos/core#altLabel",)

_BATCH = 1 << 16


def read_rdf(
    path: Path,
    format: str,
    encoder: TripleEncoder,
    names: NameCollector,
    bad: BadLines,
    *,
    provenance: bool = False,
    on_progress: Progress | None = None,
) -> None:
    """Read an RDF file into `encoder`, labels into `names`; see `jaxkg.kg.read_graph`.

    An entity's id is its IRI, `_:label` for a blank node, or the N-Triples form of a literal, which
    keeps its language or datatype (`"1941"^^<http://www.w3.org/2001/XMLSchema#gYear>`). Its display
    name is its rdfs:label or skos:prefLabel (English first, then without a language, then any;
    the others become aliases, as every skos:altLabel does), else the literal's value, else the
    tail of the IRI. Label statements are names, not triples. A relation is called by the tail of
    its IRI; relations whose tails are alike keep their whole IRIs. Its labels become its display
    names, in the same order.
    """
    labels: dict[str, list[tuple[int, str]]] = {}
    columns: tuple[list[str], ...] = ([], [], [])

    def flush() -> None:
        encoder.add(*columns, sources=[path.name] * len(columns[0]) if provenance else None)
        for column in columns:
            column.clear()

    with open_bytes(path, on_progress) as file:
        for subject, predicate, value, literal in statements(path, file, format, bad):
            if literal is not None and predicate in LABELS + ALIASES:
                text, language = literal
                if predicate in ALIASES:
                    names.alias(subject, text)
                else:
                    labels.setdefault(subject, []).append((label_rank(language), text))
                continue
            if literal is not None:
                names.label(value, literal[0])
            for column, term in zip(columns, (subject, predicate, value)):
                column.append(term)
            if len(columns[0]) == _BATCH:
                flush()
    flush()
    texts = {
        entity: list(dict.fromkeys(text for _, text in sorted(found, key=lambda pair: pair[0])))
        for entity, found in labels.items()
    }
    for entity, found in texts.items():
        for text in found:
            names.label(entity, text)
    for entity in encoder.entities:
        if entity not in names.display and not entity.startswith(('"', "_:")):
            names.label(entity, tail_of(entity))
    tails = Counter(map(tail_of, encoder.relations))
    called = {iri: tail_of(iri) if tails[tail_of(iri)] == 1 else iri for iri in encoder.relations}
    for iri, relation in called.items():
        if told := [*texts.get(iri, ()), *names.aliases.get(iri, ())]:
            names.relations[relation] = list(dict.fromkeys(told))
    encoder.rename_relations(called)


def statements(
    path: Path, file: IO[bytes], format: str, bad: BadLines
) -> Iterator[tuple[str, str, str, tuple[str, str | None] | None]]:
    """Yield (subject, predicate, object, (text, language) of a literal object)."""
    try:
        import pyoxigraph
    except ModuleNotFoundError as error:
        raise JaxkgError(
            f"{path}: reading RDF needs pyoxigraph; {how_to_install('rdf')}"
        ) from error
    syntax = getattr(pyoxigraph.RdfFormat, RDF_FORMATS[format])
    statements = pyoxigraph.parse(file, syntax)
    while True:
        try:
            statement = next(statements)
        except StopIteration:
            return
        except SyntaxError as error:
            if error.lineno is None:
                raise JaxkgError(f"{path}: not {format} ({error.msg})") from error
            # The parser goes on after the faulty statement.
            text = line_at(path, error.lineno)
            bad.note(path, error.lineno, text, str(error.msg), f"a statement in {format}")
            continue
        value = statement.object
        literal = None
        if isinstance(value, pyoxigraph.Literal) and value.value.strip():
            literal = value.value.strip(), value.language
        yield _term(path, statement.subject), statement.predicate.value, _term(path, value), literal


def _term(path: Path, term: Any) -> str:
    import pyoxigraph

    if isinstance(term, pyoxigraph.NamedNode):
        return term.value
    if isinstance(term, pyoxigraph.BlankNode | pyoxigraph.Literal):
        return str(term)
    raise JaxkgError(f"{path}: statements about statements are not read: {term}")


def label_rank(language: str | None) -> int:
    """0 for English, 1 for no language, 2 for any other."""
    if language is None:
        return 1
    return 0 if re.fullmatch(r"en(-.*)?", language) else 2


def tail_of(iri: str) -> str:
    """The last part of an IRI, as people read it."""
    tail = re.split(r"[/#]", iri.rstrip("/#"))[-1]
    return unquote(tail).strip() or iri
