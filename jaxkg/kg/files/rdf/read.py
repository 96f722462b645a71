"""Triples from RDF files: N-Triples, Turtle, RDF/XML, N-Quads, TriG, JSON-LD (extra `rdf`)."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.countries import language_name
from jaxkg.kg.files.protocol import Format, Head, Intake, Sniff, named
from jaxkg.kg.files.rdf.jsonld import document_of, is_jsonld, is_page
from jaxkg.kg.files.rdf.quoted import OBJECT, REIFIES, SUBJECT, Quoted, ShallowFile, written
from jaxkg.kg.files.rdf.vocabulary import RDF, Vocabulary
from jaxkg.kg.files.textfile import BadLines, extra, line_at, open_bytes
from jaxkg.kg.files.xml_elements import walk
from jaxkg.kg.other_names import other_names
from jaxkg.kg.qualifiers import PREDICATE
from jaxkg.words import relation_words

RDF_FORMATS = {
    "ntriples": "N_TRIPLES", "turtle": "TURTLE", "rdfxml": "RDF_XML", "nquads": "N_QUADS",
    "trig": "TRIG", "jsonld": "JSON_LD",
}  # fmt: skip
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
    "https://www.w3.org/ns/activitystreams#name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
)
"""What gives names where no label does."""

_NAMING = frozenset(("name", "label", "prefLabel", "legalName", "fullName", "displayName"))
"""Last parts of predicates that give names, whatever their vocabulary is; a title may be "Dr"."""
_LEAST = 9
"""Rank of such a name, behind all others."""
_MIDNIGHT = "T00:00:00Z"
"""How a day is written where times are asked for."""
_CODED = re.compile(r"[A-Z]\d+")
"""Last parts that say nothing, so that something with such a one has but that name."""
_WORD = re.compile(r"(?:[A-Z][a-z]+)+")
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
    intake.shared.setdefault(RdfFiles, RdfFiles()).take(path, intake)


class RdfFiles:
    """What the RDF files of a graph tell together: names, relations, vocabularies."""

    def __init__(self) -> None:
        self._labels: dict[str, list[tuple[int, str]]] = {}
        self._names: dict[str, str] = {}
        self._other: list[tuple[str, str, str, str]] = []
        self._quoted: list[Quoted] = []
        self._vocabulary = Vocabulary()
        self._relations: dict[str, None] = {}
        self._entities: dict[str, None] = {}
        self._source = ""

    def take(self, path: Path, intake: Intake) -> None:
        """Take the statements of a file."""
        names, options = intake.names, intake.options
        graphs = set[str]()
        # Blank nodes of two files are two, also where they are called alike.
        quoted = Quoted(f"{len(self._quoted)}." if self._quoted else "")
        self._quoted.append(quoted)
        self._source = path.name if options.provenance else ""
        with open_bytes(path, options.on_progress) as file:
            for subject, predicate, value, literal in statements(
                path, file, intake.format, intake.bad, quoted, graphs.add, intake.tell
            ):
                known = predicate in LABELS + NAMES + ALIASES
                if literal is not None and not known and tail_of(predicate) in _NAMING:
                    self._names.setdefault(subject, literal[0])
                if literal is not None and known:
                    text, language = literal
                    rank = label_rank(predicate, language, options.language)
                    if predicate in ALIASES:
                        names.alias(subject, text)
                    else:
                        self._labels.setdefault(subject, []).append((rank, text))
                    foreign = language_name(language) if language and rank % 4 > 1 else ""
                    if relation := other_names(foreign, is_alias=predicate in ALIASES):
                        self._other.append((subject, relation, value, text))
                    continue
                if literal is not None:
                    names.label(value, literal[0].removesuffix(_MIDNIGHT))
                if self._vocabulary.takes(subject, predicate, value):
                    continue
                self._fact(subject, predicate, value, intake)
        intake.tell(f"its {len(graphs)} named graphs read as one" if graphs else "")

    def _fact(self, subject: str, predicate: str, value: str, intake: Intake) -> None:
        intake.fact(subject, predicate, value, self._source)
        self._relations[predicate] = self._entities[subject] = self._entities[value] = None

    def finish(self, intake: Intake) -> None:
        """Fold what vocabularies say into facts, and name entities and relations."""
        vocabulary, names = self._vocabulary, intake.names
        before = len(intake.encoder)
        for subject, predicate, value in vocabulary.folded():
            self._fact(subject, predicate, value, intake)
        encoder = intake.encoder
        if folded := len(encoder) - before:
            intake.tell(f"{folded:,} facts are those of restrictions, lists and blank nodes")
        for why, count in vocabulary.left_out.items():
            intake.leave_out(why, count)
        same = vocabulary.same(self._labels)
        if same:
            encoder.merge(same)
            intake.tell(f"{len(same):,} terms taken for others that are the same")
            for term, kept in same.items():
                if labels := self._labels.pop(term, []):
                    self._labels.setdefault(kept, []).extend(labels)
                for alias in (*names.aliases.pop(term, ()), tail_of(term)):
                    names.alias(kept, alias)
                self._entities.pop(term, None)
                self._entities[kept] = None
        said, classes, deprecated = (
            {same.get(term, term) for term in terms}
            for terms in (vocabulary.declared, vocabulary.classes, vocabulary.deprecated)
        )
        said -= vocabulary.typed
        if said and encoder.heads - said - classes:
            intake.aside |= said
        if deprecated := deprecated - intake.aside:
            intake.tell(f"{len(deprecated):,} deprecated terms are among the things")
        self._name(intake)
        for subject, relation, value, text in self._other:
            subject = same.get(subject, subject)
            if subject in self._entities and names.display.get(subject) != text:
                names.label(value, text)
                intake.fact(subject, relation, value, self._source)

    def _name(self, intake: Intake) -> None:
        encoder, names = intake.encoder, intake.names
        for entity, text in self._names.items():
            self._labels.setdefault(entity, [(_LEAST, text)])
        texts = {
            entity: list(dict.fromkeys(text for _, text in sorted(found, key=lambda one: one[0])))
            for entity, found in self._labels.items()
        }
        for entity, found in texts.items():
            if min(rank for rank, _ in self._labels[entity]) % 4 == 3 and _WORD.fullmatch(
                tail_of(entity)
            ):
                # Of labels in other languages alone none is what people here call it.
                names.label(entity, tail_of(entity))
            for text in found:
                names.label(entity, text)
        nodes = {node for quoted in self._quoted for node in quoted}
        for node, parts in self._vocabulary.statements.items():
            if node not in nodes:
                self._quoted[0].take(node, parts)
                nodes.add(node)
        bare = [entity for entity in self._entities if entity not in {*names.display, *nodes}]
        alike = Counter(map(_place, bare))
        for entity in bare:
            name = bare_name(entity)
            if alike[_place(entity)] > 1 and not entity.startswith(('"', "_:", "<<(")):
                name = "/".join(re.split(r"[/#]", entity.rstrip("/#"))[-2:])
            if name != entity:
                names.label(entity, name)
        for quoted in self._quoted:
            said = quoted.names(
                lambda entity: names.display.get(entity) or bare_name(entity),
                lambda iri: texts[iri][0] if iri in texts else relation_words(tail_of(iri)),
                names.display,
            )
            for node, text in list(said):
                names.label(node, text)
                if bare_name(node) not in (node, names.display[node]):
                    names.alias(node, bare_name(node))
        tails = Counter(map(tail_of, self._relations))
        called = {iri: tail_of(iri) if tails[tail_of(iri)] == 1 else iri for iri in self._relations}
        others = set(encoder.relations) - called.keys()
        called = {iri: iri if name in others else name for iri, name in called.items()}
        coded = [entity for entity in texts if _CODED.fullmatch(tail_of(entity))]
        homes = {_home(entity): entity for entity in coded}
        for iri, relation in called.items():
            own = self._vocabulary.direct.get(iri, iri)
            own = own if own in texts else homes.get(_home(iri), own)
            if told := [*texts.get(own, ()), *names.aliases.get(own, ())]:
                names.relations[relation] = list(dict.fromkeys(told))
        encoder.rename_relations(called | {name: name for name in others})
        whole = called.get(SUBJECT) == SUBJECT
        for quoted in self._quoted:
            for node in quoted:
                iri = quoted.predicate(node)
                word = f"{RDF}{PREDICATE}" if whole else PREDICATE
                if node not in self._vocabulary.statements:
                    intake.fact(node, word, called.get(iri, tail_of(iri)), self._source)


def _home(iri: str) -> tuple[str, str]:
    """Host and last part, by which ways to write a property are one: `prop/direct/P61`, which
    states facts, and `entity/P61`, which has the labels."""
    return urlsplit(iri).netloc, tail_of(iri)


Statement = tuple[str, str, str, tuple[str, str | None] | None]
"""Subject, predicate, object, and (text, language) of a literal object."""


def statements(
    path: Path,
    file: io.BufferedReader[Any],
    format: str,
    bad: BadLines,
    quoted: Quoted | None = None,
    on_graph: Callable[[str], object] | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Iterator[Statement]:
    """Yield the statements of a file.

    Args:
        quoted: takes those that others are about; without it they are refused.
        on_graph: told the name of each statement's graph, where it has one.
        tell: told what no context of JSON-LD says.
    """
    with extra(path, "reading RDF needs pyoxigraph", "rdf"):
        import pyoxigraph
    if format == "jsonld":
        document = document_of(path, file.read(), tell)
        file = io.BufferedReader(io.BytesIO(json.dumps(document).encode()))
    if format == "rdfxml":
        walk(path)
    star = format == "ntriples" and _STAR.search(file.peek(_LOOK))
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
            why = " ".join(str(error.msg).split())
            if error.lineno is None:
                raise JaxkgError(f"{path}: not {format} ({why})") from error
            # The parser goes on after the faulty statement.
            text = line_at(path, error.lineno)
            expected = f"a statement in {format}"
            if format == "ntriples" and _STAR.search(text.encode()):
                expected += "; in the format 'turtle' it is one"
            bad.note(path, error.lineno, text, why, expected)
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


def label_rank(predicate: str, language: str | None, wanted: str = "en") -> int:
    """0 for the wanted language, 1 for no language, 2 for English, 3 for any other; a name comes
    after every label."""
    rank = 4 if predicate in NAMES else 0
    if language is None:
        return rank + 1
    for place, code in ((0, wanted), (2, "en")):
        if language.lower().partition("-")[0] == code or language == code:
            return rank + place
    return rank + 3


def bare_name(entity: str) -> str:
    """What an entity without a name is called."""
    return entity if entity.startswith(('"', "_:", "<<(")) else tail_of(entity)


def _place(entity: str) -> tuple[str, str]:
    """Where an entity is from, and the end of its IRI, which may be that of others there."""
    return entity.partition("://")[2].partition("/")[0], bare_name(entity)


def tail_of(iri: str) -> str:
    """The last part of an IRI, as people read it; wikis write spaces as underscores.

    >>> tail_of("http://dbpedia.org/resource/Rome%2C_New_York"), tail_of("http://ex.org/room_1")
    ('Rome, New York', 'room_1')
    >>> tail_of("mailto:ann@ex.org")
    'ann@ex.org'
    """
    *_, folder, tail = ("", *re.split(r"[/#]", iri.rstrip("/#")))
    tail = tail.replace("_", " ") if folder in ("resource", "wiki") else tail
    tail = tail.removeprefix("mailto:").removeprefix("tel:")
    return unquote(tail).strip() or iri


def _jsonld(head: Head) -> Sniff:
    if head.end in (".json", "") and is_jsonld(head.data):
        return Sniff(0.9, "it is JSON with keys such as '@context'")
    if is_page(head.data):
        return Sniff(0.9, "it is a page with a script of JSON-LD")
    return named(".jsonld")(head)


def _rdfxml(head: Head) -> Sniff:
    # N-Triples begin with "<" and may name RDF, too, but bind no prefix.
    named_rdf = "<rdf:RDF" in head.text or ("xmlns" in head.text and RDF in head.text)
    if head.text.lstrip()[:1] == "<" and named_rdf:
        return Sniff(0.9, "it is XML with the names of RDF")
    return named(".rdf", ".owl")(head)


_ABOUT = {
    "ntriples": ("N-Triples", named(".nt")),
    "turtle": ("Turtle", named(".ttl")),
    "rdfxml": ("RDF/XML", _rdfxml),
    "nquads": ("N-Quads", named(".nq")),
    "trig": ("TriG", named(".trig")),
    "jsonld": ("JSON-LD, also within a web page", _jsonld),
}
FORMATS = tuple(
    Format(name, f"RDF: {about}", sniff, read_rdf, extra="rdf", is_typed=True)
    for name, (about, sniff) in _ABOUT.items()
)
