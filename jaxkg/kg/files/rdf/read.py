"""Triples from RDF files: N-Triples, Turtle, RDF/XML, N-Quads, TriG, JSON-LD (extra `rdf`)."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import quote, unquote

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.kg.files.protocol import Format, Head, Intake, Sniff, named
from jaxkg.kg.files.rdf.jsonld import document_of, is_jsonld, is_page, terms_left_out
from jaxkg.kg.files.rdf.quoted import OBJECT, REIFIES, SUBJECT, Quoted, ShallowFile, written
from jaxkg.kg.files.textfile import BadLines, line_at, open_bytes
from jaxkg.words import relation_words

RDF_FORMATS = {
    "ntriples": "N_TRIPLES",
    "turtle": "TURTLE",
    "rdfxml": "RDF_XML",
    "nquads": "N_QUADS",
    "trig": "TRIG",
    "jsonld": "JSON_LD",
}
"""Name of the syntax in pyoxigraph, by format."""

LABELS = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
)
ALIASES = ("http://www.w3.org/2004/02/skos/core#altLabel",)
NAMES = (
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
)
"""What gives names where no label does."""

_BATCH = 1 << 16
_LOOK = 1 << 13
_LINES = ("ntriples", "nquads")
_GRAPHS = ("nquads", "trig", "jsonld")
# What RDF-star wrote in N-Triples, and RDF 1.2 writes in Turtle alone.
_STAR = re.compile(rb'^[^"\n]*<<(?!\()', re.MULTILINE)


def read_rdf(path: Path, intake: Intake) -> None:
    """Read an RDF file; see `jaxkg.kg.read_graph`.

    An entity's id is its IRI, `_:label` for a blank node (`_:#1` and so on without a label), or the
    N-Triples form of a literal, which keeps its language or datatype
    (`"1941"^^<http://www.w3.org/2001/XMLSchema#gYear>`). Its display name is its rdfs:label or
    skos:prefLabel (English first, then without a language, then any; the others become aliases, as
    every skos:altLabel does), else its schema:name or foaf:name, else the literal's value, else the
    tail of the IRI. Label statements are names, not triples. A relation is called by the tail of
    its IRI; relations whose tails are alike keep their whole IRIs. Its labels become its display
    names, in the same order.

    A statement that others are about is a node: it is called what it says ("Anna works at Acme"),
    `subject` and `object` lead to its ends, and what is said about it are facts of its own. It is
    a fact itself where the file states it. Named graphs are read as one. What was left out or put
    together is told.
    """
    encoder, names, bad, format = intake.encoder, intake.names, intake.bad, intake.format
    provenance, on_progress = bool(intake.options.provenance), intake.options.on_progress
    labels: dict[str, list[tuple[int, str]]] = {}
    quoted, graphs = Quoted(), set[str]()
    astray = list[str]()
    columns: tuple[list[str], ...] = ([], [], [])

    def flush() -> None:
        encoder.add(*columns, sources=[path.name] * len(columns[0]) if provenance else None)
        for column in columns:
            column.clear()

    with open_bytes(path, on_progress) as file:
        for subject, predicate, value, literal in statements(
            path, file, format, bad, quoted, graphs.add, astray.extend
        ):
            if literal is not None and predicate in LABELS + NAMES + ALIASES:
                text, language = literal
                if predicate in ALIASES:
                    names.alias(subject, text)
                else:
                    rank = label_rank(predicate, language)
                    labels.setdefault(subject, []).append((rank, text))
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
        if entity not in names.display and entity not in quoted and bare_name(entity) != entity:
            names.label(entity, bare_name(entity))
    said = quoted.names(
        lambda entity: names.display.get(entity) or bare_name(entity),
        lambda iri: texts[iri][0] if iri in texts else relation_words(tail_of(iri)),
        names.display,
    )
    for node, text in list(said):
        names.label(node, text)
        if bare_name(node) not in (node, names.display[node]):
            names.alias(node, bare_name(node))
    tails = Counter(map(tail_of, encoder.relations))
    called = {iri: tail_of(iri) if tails[tail_of(iri)] == 1 else iri for iri in encoder.relations}
    for iri, relation in called.items():
        if told := [*texts.get(iri, ()), *names.aliases.get(iri, ())]:
            names.relations[relation] = list(dict.fromkeys(told))
    encoder.rename_relations(called)
    told = [f"its {len(graphs)} named graphs read as one"] if graphs else []
    if astray:
        some = ", ".join(map(repr, astray[:5])) + (", ..." if len(astray) > 5 else "")
        told.append(f"keys that its @context does not map left out ({some})")
    intake.tell("; ".join(told))


Statement = tuple[str, str, str, tuple[str, str | None] | None]
"""Subject, predicate, object, and (text, language) of a literal object."""


def statements(
    path: Path,
    file: IO[bytes],
    format: str,
    bad: BadLines,
    quoted: Quoted | None = None,
    on_graph: Callable[[str], object] | None = None,
    on_left_out: Callable[[list[str]], object] | None = None,
) -> Iterator[Statement]:
    """Yield the statements of a file.

    Args:
        quoted: takes those that others are about; without it they are refused.
        on_graph: told the name of each statement's graph, where it has one.
        on_left_out: told the keys of JSON-LD that no context maps.
    """
    try:
        import pyoxigraph
    except ModuleNotFoundError as error:
        raise JaxkgError(
            f"{path}: reading RDF needs pyoxigraph; {how_to_install('rdf')}"
        ) from error
    if format == "jsonld":
        document = document_of(path, file.read())
        astray = terms_left_out(path, document)
        if on_left_out is not None:
            on_left_out(astray)
        file = io.BytesIO(json.dumps(document).encode())
    star = format == "ntriples" and _STAR.search(cast(io.BufferedReader, file).peek(_LOOK))
    syntax = getattr(pyoxigraph.RdfFormat, RDF_FORMATS["turtle" if star else format])
    if quoted is not None and format in _LINES and not star:
        quoted.made_up = False
    graphs = on_graph if format in _GRAPHS else None
    base = None if format in _LINES else f"file:///{quote(path.name)}"
    statements = pyoxigraph.parse(cast(Any, ShallowFile(path, file)), syntax, base_iri=base)
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
            expected = f"a statement in {format}"
            if format == "ntriples" and _STAR.search(text.encode()):
                expected += "; in the format 'turtle' it is one"
            bad.note(path, error.lineno, text, str(error.msg), expected)
            continue
        subject, value = _term(statement.subject, quoted), statement.object
        if graphs and not isinstance(statement.graph_name, pyoxigraph.DefaultGraph):
            graphs(str(statement.graph_name))
        if not isinstance(value, pyoxigraph.Triple):
            yield subject, statement.predicate.value, _term(value, quoted), _literal(value)
        elif quoted is None:
            raise JaxkgError(f"{path}: statements about statements are read whole, not on disk")
        elif statement.predicate.value == REIFIES:
            yield from _parts(subject, value, quoted)
        else:
            node = written(value, quoted)
            yield subject, statement.predicate.value, node, None
            yield from _parts(node, value, quoted)


def _parts(node: str, statement: Any, quoted: Quoted) -> Iterator[Statement]:
    """What leads from a statement's node to its ends."""
    import pyoxigraph

    subject, value = _term(statement.subject, quoted), statement.object
    inner = isinstance(value, pyoxigraph.Triple)
    end = written(value, quoted) if inner else _term(value, quoted)
    if quoted.take(node, (subject, statement.predicate.value, end)):
        yield node, SUBJECT, subject, None
        yield node, OBJECT, end, _literal(value)
        if inner:
            yield from _parts(end, value, quoted)


def _literal(term: Any) -> tuple[str, str | None] | None:
    import pyoxigraph

    if isinstance(term, pyoxigraph.Literal) and (text := term.value.strip()):
        return text, term.language
    return None


def _term(term: Any, quoted: Quoted | None) -> str:
    import pyoxigraph

    if isinstance(term, pyoxigraph.NamedNode):
        return term.value
    if quoted is not None and isinstance(term, pyoxigraph.BlankNode):
        return quoted.blank(term.value)
    return str(term)


def label_rank(predicate: str, language: str | None) -> int:
    """0 for English, 1 for no language, 2 for any other; a name comes after every label."""
    rank = 3 if predicate in NAMES else 0
    if language is None:
        return rank + 1
    return rank if re.fullmatch(r"en(-.*)?", language) else rank + 2


def bare_name(entity: str) -> str:
    """What an entity without a name is called."""
    return entity if entity.startswith(('"', "_:", "<<(")) else tail_of(entity)


def tail_of(iri: str) -> str:
    """The last part of an IRI, as people read it."""
    tail = re.split(r"[/#]", iri.rstrip("/#"))[-1]
    return unquote(tail).strip() or iri


def _jsonld(head: Head) -> Sniff:
    if head.end in (".json", "") and is_jsonld(head.data):
        return Sniff(0.9, "it is JSON with keys such as '@context'")
    if is_page(head.data):
        return Sniff(0.9, "it is a page with a script of JSON-LD")
    return named(".jsonld")(head)


_ABOUT = {
    "ntriples": ("N-Triples", named(".nt")),
    "turtle": ("Turtle", named(".ttl")),
    "rdfxml": ("RDF/XML", named(".rdf", ".owl", ".xml")),
    "nquads": ("N-Quads", named(".nq")),
    "trig": ("TriG", named(".trig")),
    "jsonld": ("JSON-LD, also within a web page", _jsonld),
}
FORMATS = tuple(
    Format(name, f"RDF: {about}", sniff, read_rdf, extra="rdf", is_alone=True, is_typed=True)
    for name, (about, sniff) in _ABOUT.items()
)
