"""Hypergraphs out of files and graphs: n-ary facts, extracted triples, JSON lines."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.textfile import BadLines, existing, line_blocks
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.hypergraph.graph import Chunk, Hyperedge, KnowledgeHypergraph
from jaxkg.kg.hypergraph.text import entity_id

_EXPECTED = (
    '{"name": ..., "entities": [id or {"id": ..., "name": ..., "description": ...}, ...], '
    '"kind": ..., "chunk": ...} or {"chunk": id, "title": ..., "text": ...}'
)


def read_nary(path: str | os.PathLike[str], *, skip_bad: int = 0) -> KnowledgeHypergraph:
    """Read n-ary facts, `relation<TAB>e1<TAB>e2...` a line (JF17K, FB-AUTO).

    A first field `instance123`, as their test files have it, is left out.

    Args:
        skip_bad: malformed lines to tolerate.

    Raises:
        JaxkgError: no such file, or a line is no fact.
    """
    path, bad = existing(path), BadLines(skip_bad)

    def edges() -> Iterator[Hyperedge]:
        for first, lines in line_blocks(path):
            for number, line in enumerate(lines, start=first):
                fields = [field.strip() for field in line.rstrip("\r").split("\t")]
                if fields[0].startswith("instance") and fields[0][8:].isdecimal():
                    fields = fields[1:]
                if len(fields) >= 2 and all(fields):
                    yield Hyperedge(fields[0], tuple(fields[1:]), "relation")
                elif any(fields):
                    bad.note(path, number, line, "not a fact", "relation<TAB>e1<TAB>e2...")

    return KnowledgeHypergraph.from_edges(edges())


def read_openie(path: str | os.PathLike[str]) -> KnowledgeHypergraph:
    """Read passages with extracted triples, as HippoRAG's extraction writes them.

    Every triple is a hyperedge "fact" of its passage, and every passage a hyperedge "passage" over
    the entities of its triples, its named entities and its title. Names that differ in case,
    spacing or punctuation are one entity, shown in its most frequent spelling.

    Args:
        path: JSON, `{"docs": [{"title", "text", "extracted_entities", "extracted_triples"}]}`.

    Raises:
        JaxkgError: no such file, or not of that form.
    """
    path = existing(path)
    try:
        docs = json.loads(path.read_text(encoding="utf-8"))["docs"]
        documents = [
            (
                str(doc["title"]),
                str(doc["text"]),
                [str(name) for name in doc["extracted_entities"]],
                # What the extractor mangled has not three parts.
                [[str(part) for part in t] for t in doc["extracted_triples"] if len(t) == 3],
            )
            for doc in docs
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise JaxkgError(f"{path}: not passages with extracted triples ({error!r})") from error
    edges: list[Hyperedge] = []
    chunks: list[Chunk] = []
    spellings: dict[str, Counter[str]] = {}

    def entity(name: str) -> str:
        if id := entity_id(name):
            spellings.setdefault(id, Counter())[name.strip()] += 1
        return id

    for number, (title, text, named, triples) in enumerate(documents):
        chunk = Chunk(str(number), title, text)
        chunks.append(chunk)
        ends = [entity(title), *map(entity, named)]
        for head, relation, tail in triples:
            pair = entity(head), entity(tail)
            if all(pair):
                edges.append(Hyperedge(f"{head} {relation} {tail}", pair, "fact", chunk.id))
            ends += pair
        members = tuple(dict.fromkeys(filter(None, ends)))
        if members:
            edges.append(Hyperedge(title or f"passage {number}", members, "passage", chunk.id))
    names = {id: seen.most_common(1)[0][0] for id, seen in spellings.items()}
    return KnowledgeHypergraph.from_edges(edges, names=names, chunks=chunks)


def hypergraph_of(graph: KnowledgeGraph) -> KnowledgeHypergraph:
    """A knowledge graph as a hypergraph: every triple a fact over its two ends, in its row.

    Relations are said in words, unless two would read alike.

    >>> graph = KnowledgeGraph.from_triples([("Alien", "directed_by", "Ridley Scott")])
    >>> hypergraph_of(graph).tell(0)
    'Alien directed by Ridley Scott'
    """
    ids = graph.entity_ids.tolist()
    names = dict(zip(ids, graph.entity_names))
    words = [name.replace("_", " ").replace(".", " ") for name in graph.relations]
    words = words if len(set(words)) == len(words) else graph.relations

    def edges() -> Iterator[Hyperedge]:
        for head, code, tail in graph.triples.tolist():
            said = f"{names[ids[head]]} {words[code]} {names[ids[tail]]}"
            yield Hyperedge(said, (ids[head], ids[tail]))

    return KnowledgeHypergraph.from_edges(edges(), names=names)


def read_hyperedges(path: str | os.PathLike[str]) -> KnowledgeHypergraph:
    """Read a hypergraph of one's own from JSON lines.

    A line with `entities` is a hyperedge, `{"name", "entities", "kind", "chunk"}`; `kind` is "fact"
    where it is left out. An entity is an id, or `{"id", "name", "description"}`. A line with `text`
    is a chunk, `{"chunk": id, "title", "text"}`; it may stand before or after what comes from it.

    Raises:
        JaxkgError: no such file, or a line is neither.
    """
    path, bad = existing(path), BadLines(0)
    edges: list[Hyperedge] = []
    chunks: dict[str, Chunk] = {}
    names: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    for first, lines in line_blocks(path):
        for number, line in enumerate(lines, start=first):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                if "entities" in record:
                    edges.append(_edge(record, names, descriptions))
                else:
                    chunk = Chunk(record["chunk"], record.get("title", ""), record["text"])
                    if chunks.setdefault(chunk.id, chunk) != chunk:
                        raise ValueError(f"chunk {chunk.id!r} has two texts")
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                bad.note(path, number, line, f"not a hyperedge or chunk ({error!r})", _EXPECTED)
    return KnowledgeHypergraph.from_edges(
        edges, names=names, descriptions=descriptions, chunks=chunks.values()
    )


def _edge(
    record: Mapping[str, Any], names: dict[str, str], descriptions: dict[str, str]
) -> Hyperedge:
    ids = []
    for entity in record["entities"]:
        if isinstance(entity, str):
            ids.append(entity)
            continue
        ids.append(entity["id"])
        if "name" in entity:
            names[entity["id"]] = entity["name"]
        if "description" in entity:
            descriptions[entity["id"]] = entity["description"]
    edge = Hyperedge(record["name"], tuple(ids), record.get("kind", "fact"), record.get("chunk"))
    if not (edge.entities and all(isinstance(t, str) and t.strip() for t in (edge.name, *ids))):
        raise ValueError("a name and at least one entity, non-blank strings, are needed")
    return edge
