"""A knowledge hypergraph out of documents, read by a language model or by rules.

PRoH as the command builds it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jaxkg.adjudicate import Backend, tally
from jaxkg.adjudicate.calls.extraction import Extraction, Source, extract
from jaxkg.errors import JaxkgError
from jaxkg.kg.files.textfile import existing, line_blocks
from jaxkg.kg.hypergraph.graph import Chunk, Hyperedge, KnowledgeHypergraph, open_hypergraph
from jaxkg.kg.hypergraph.text import TEXT_FILES, chunked, entity_id, hypergraph_of_text, subject_of
from jaxkg.kg.link.folding import split_words
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.proh.passages import WHOLE, PassagesQA
from jaxkg.systems.proh.retrieval import RetrievalSettings
from jaxkg.systems.proh.settings import PROH, PROH_L, ProhSettings
from jaxkg.systems.proh.system import ProhQA


@dataclasses.dataclass(frozen=True)
class BuiltHypergraph:
    """A hypergraph and what became of the reading.

    Attributes:
        graph: the hypergraph.
        counts: passages asked, read, repaired, and failed by kind; empty without a model.
        unread: ids of the chunks that nothing was read from because their call failed.
    """

    graph: KnowledgeHypergraph
    counts: dict[str, int]
    unread: tuple[str, ...] = ()


def read_corpus(
    path: str | os.PathLike[str], *, on_left_out: Callable[[str], None] | None = None
) -> list[tuple[str, str]]:
    """Documents of a corpus, as (title, text).

    Args:
        path: a text file (one document, titled by its name: "Ridley_Scott.txt" is about Ridley
            Scott where the text says these words, else it keeps the name of a file, which is no
            entity), a folder of such files (searched through), JSON lines or one JSON list of
            `{"title", "text"}`.
        on_left_out: told of every document without text, by file and place in it; None refuses it.

    Raises:
        JaxkgError: no such file, no documents of any such form, or none with text.
    """
    documents: list[tuple[str, str]] = []
    for place, document in _documents(existing(path)):
        if document[1].strip():
            documents.append(document)
        elif on_left_out is None:
            raise JaxkgError(f"{place}: no text")
        else:
            on_left_out(f"{place}: no text, left out")
    if not documents:
        raise JaxkgError(f"{os.fspath(path)}: no document has any text")
    return documents


def _documents(path: Path) -> list[tuple[str, tuple[str, str]]]:
    """All documents, and where each stands."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in TEXT_FILES)
        if not files:
            raise JaxkgError(f"{path}: holds no {' or '.join(TEXT_FILES)} files")
        return [document for file in files for document in _documents(file)]
    if path.suffix.lower() in TEXT_FILES:
        text = "\n".join(line for _, lines in line_blocks(path) for line in lines)
        return [(str(path), (_title(path, text), text))]
    documents = []
    try:
        if path.suffix.lower() == ".json":
            records = json.loads(path.read_text("utf-8"))
            documents = [(f"{path}:{n}", _document(each)) for n, each in enumerate(records, 1)]
        else:
            for first, lines in line_blocks(path):
                for number, line in enumerate(lines, start=first):
                    if line.strip():
                        try:
                            place = f"{path}:{number}"
                            documents.append((place, _document(json.loads(line))))
                        except (ValueError, KeyError, TypeError) as error:
                            raise JaxkgError(f"{path}:{number}: no document ({error!r})") from error
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, JaxkgError):
            raise
        raise JaxkgError(f'{path}: not a list of {{"title", "text"}} ({error!r})') from error
    return documents


def _title(path: Path, text: str) -> str:
    """What a file is about, if its text speaks of that, else its name."""
    words = split_words(path.stem.replace("_", " ")).folded
    about = bool(words) and set(words) <= set(split_words(text).folded)
    return path.stem.replace("_", " ") if about else path.name


def build_hypergraph(
    documents: Sequence[tuple[str, str]],
    *,
    backend: Backend | None = None,
    longest: int = 400,
    batch_size: int = 64,
    on_progress: Callable[[int, int], None] | None = None,
) -> BuiltHypergraph:
    """Build a hypergraph from documents.

    With a backend a model states the facts of every chunk; give it a cache and a run that was cut
    off goes on where it stopped. Without one, rules find names (see `hypergraph_of_text`).

    Args:
        documents: (title, text) pairs.
        backend: who reads.
        longest: words of a chunk.
        batch_size: chunks asked for at once.
        on_progress: told chunks done and in all.

    Raises:
        JaxkgError: nothing at all could be read; says what failed.
    """
    if backend is None:
        graph = hypergraph_of_text(documents, longest=longest, on_progress=on_progress)
        return BuiltHypergraph(graph, {})
    chunks = chunked(documents, longest=longest)
    passages = [Source(chunk.id, chunk.title, chunk.text) for chunk in chunks]
    outcomes = extract(backend, passages, batch_size=batch_size, on_progress=on_progress)
    counts = tally(outcomes)
    edges: list[Hyperedge] = []
    spellings: dict[str, Counter[str]] = {}
    notes: dict[str, dict[str, None]] = {}
    for chunk, outcome in zip(chunks, outcomes):
        if outcome.value is not None:
            edges += _edges(chunk, outcome.value, spellings, notes)
    if not edges:
        first = next((o.detail for o in outcomes if o.error), "no passage states a fact")
        raise JaxkgError(f"nothing was read from {len(chunks)} chunks ({counts}); first: {first}")
    graph = KnowledgeHypergraph.from_edges(
        edges,
        names={id: seen.most_common(1)[0][0] for id, seen in spellings.items()},
        descriptions={id: "; ".join(texts) for id, texts in notes.items() if texts},
        chunks=chunks,
    )
    unread = tuple(chunk.id for chunk, outcome in zip(chunks, outcomes) if outcome.value is None)
    return BuiltHypergraph(graph, counts, unread)


def _edges(
    chunk: Chunk,
    read: Extraction,
    spellings: dict[str, Counter[str]],
    notes: dict[str, dict[str, None]],
) -> list[Hyperedge]:
    """The facts of one chunk, and the passage they make; entities are noted."""
    edges = []
    everyone: dict[str, None] = {}
    if title := subject_of(chunk.title):
        spellings.setdefault(title, Counter())[chunk.title] += 1
        everyone[title] = None
    for fact in read.facts:
        members: dict[str, None] = {}
        for entity in fact.entities:
            if id := entity_id(entity.name):
                spellings.setdefault(id, Counter())[entity.name.strip()] += 1
                members[id] = None
                if entity.description.strip():
                    notes.setdefault(id, {})[entity.description.strip()] = None
        if fact.fact.strip() and members:
            edges.append(Hyperedge(fact.fact.strip(), tuple(members), "fact", chunk.id))
            everyone |= members
    if edges:
        name = chunk.title.strip() or f"passage {chunk.id}"
        edges.append(Hyperedge(name, tuple(everyone), "passage", chunk.id))
    return edges


def _document(record: Any) -> tuple[str, str]:
    title, text = record.get("title", ""), record["text"]
    if not (isinstance(title, str) and isinstance(text, str)):
        raise TypeError("title and text must be strings")
    return title, text


def from_parts(parts: Parts) -> Built:
    """The variant that `variant` names, over the hypergraph named or the facts of the graph.

    Questions that bring passages are asked over these, where no hypergraph is named. Without a
    language model nothing is planned: the settings are those of retrieval alone.

    Raises:
        JaxkgError: no such variant.
    """
    options: dict[str, Any]
    if parts.backend is None:
        settings = parts.settings(RetrievalSettings, "encoder")
        options = {"retrieval": settings}
    else:
        variants = {"proh": PROH, "proh-l": PROH_L}
        if (named := parts.wishes.get("variant", "proh-l")) not in variants:
            raise JaxkgError(f"the variant of proh is {' or '.join(variants)}, not {named!r}")
        values = vars(variants[named]) | {"repair": parts.repair}
        settings = parts.settings(ProhSettings, "encoder", "variant", **values)
        options = {"backend": parts.backend, "settings": settings}
    encoder = parts.encoder
    marks = parts.marks(settings)
    if parts.hypergraph is None and parts.passages:
        graph = hypergraph_of_text(parts.passages, longest=WHOLE)
        return Built(PassagesQA(encoder, **options), marks, graph)
    graph = parts.kg if parts.hypergraph is None else open_hypergraph(parts.hypergraph)
    built = ProhQA.build(graph, encoder, **options)
    return Built(built, marks, built.graph)
