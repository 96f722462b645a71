"""Paths of hyperedges as supporting paths, and the machine check that re-reads the hypergraph."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite.grounding import silence_faults
from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.graph import NULL, KnowledgeHypergraph
from jaxkg.records import HyperCitation, Link, Passage, SupportingPath

_MARKS = re.compile(r"[\W_]+")
_POLAR = re.compile(
    r"(is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must)\b",
    re.IGNORECASE,
)
"""How a question of yes or no begins."""


def cite_hyperpath(
    graph: KnowledgeHypergraph,
    rows: Sequence[int],
    *,
    id: str,
    score: float,
    merged: np.ndarray | None = None,
) -> SupportingPath:
    """A path of hyperedges as a supporting path.

    Args:
        graph: the hypergraph.
        rows: hyperedges in order, each sharing an entity with the next.
        id: unique within its answer.
        score: higher is better.
        merged: [N] representative of each entity, where synonyms were taken as one.

    Raises:
        JaxkgError: there is no hyperedge, a row is not in the graph, or two in a row share nothing.

    Example:
        >>> from jaxkg.kg.hypergraph.graph import Hyperedge
        >>> graph = KnowledgeHypergraph.from_edges([
        ...     Hyperedge("Alien was made by Scott", ("Alien", "Scott")),
        ...     Hyperedge("Scott was born in South Shields", ("Scott", "South Shields")),
        ... ])
        >>> cite_hyperpath(graph, [0, 1], id="p1", score=1.0).sentence
        'Alien was made by Scott; Scott was born in South Shields'
    """
    if not rows:
        raise JaxkgError(f"path {id!r} has no hyperedges")
    cited = tuple(_cited(graph, row) for row in rows)
    for before, after in itertools.pairwise(rows):
        if not _meet(graph, before, after, merged):
            raise JaxkgError(f"path {id!r} breaks: hyperedges {before} and {after} share no entity")
    sentence = "; ".join(graph.tell(row) for row in rows)
    return SupportingPath(id, (), (), float(score), sentence, cited)


def cited_passage(graph: KnowledgeHypergraph, chunk: int, score: float) -> Passage:
    """A chunk as a passage behind an answer."""
    record = graph.chunk(chunk)
    return Passage(record.id, record.title, record.text, float(score))


def check_hypergraph(
    graph: KnowledgeHypergraph, answer: Answer, *, merged: np.ndarray | None = None
) -> tuple[str, ...]:
    """Hold an answer against the hypergraph it was found in.

    Every cited hyperedge must stand at its row and read as stated, every path must be connected and
    told as its hyperedges say, every passage must be a chunk with that text, every answer must cite
    paths of this answer and stand in one of their facts or in a passage (or decide a question of
    yes or no from facts about all it names), and an answer without entities must say why.

    Args:
        graph: the hypergraph.
        answer: any.
        merged: see `cite_hyperpath`.

    Returns:
        One sentence per fault; empty where the answer is grounded.
    """
    faults: list[str] = []
    ids = [path.id for path in answer.paths]
    faults += [f"path id {id!r} is used more than once" for id in ids if ids.count(id) > 1]
    for path in answer.paths:
        faults += [f"path {path.id!r} {fault}" for fault in _path_faults(graph, path, merged)]
    for passage in answer.passages:
        rows = graph.chunk_ids.rows(passage.chunk)
        stated = passage.title, passage.text
        if not rows or (graph.chunk_titles[rows[0]], graph.chunk_texts[rows[0]]) != stated:
            faults.append(f"passage {passage.chunk!r} is not the chunk of that id")
    for entity in answer.entities:
        if not entity.paths:
            faults.append(f"answer {entity.entity!r} cites no path")
        faults += [
            f"answer {entity.entity!r} cites path {id!r}, which is none of the paths here"
            for id in entity.paths
            if id not in ids
        ]
        own = [path for path in answer.paths if path.id in entity.paths]
        held = any(bears(path, entity.entity, entity.name) for path in own)
        held = held or any(says(passage.text, entity.name) for passage in answer.passages)
        if not held and not decides(answer.question, answer.topics, entity.name, own):
            faults.append(f"answer {entity.entity!r} stands in no fact that it cites")
    return tuple(dict.fromkeys(faults + silence_faults(answer)))


def bears(path: SupportingPath, entity: str, name: str) -> bool:
    """True where a path of hyperedges holds an entity, or says a name."""
    return any(
        entity in (id for id, _ in cited.entities) or says(cited.name, name)
        for cited in path.hyperedges
    )


def decides(
    question: str, topics: Sequence[Link], name: str, paths: Sequence[SupportingPath]
) -> bool:
    """True where a yes or no answers a question that asks for one, from facts about its topics.

    No fact holds such an answer; what can be checked is that the question can be answered by it,
    and that the cited paths tell of every topic that stands in the question.

    Args:
        question: its text.
        topics: of the question; those found by likeness alone need not be told of.
        name: the answer.
        paths: what it cites.
    """
    polar = says("yes no", name) and _POLAR.match(question.strip())
    named = [link for link in topics if link.method == "exact"]
    borne = (any(bears(path, link.entity, link.name) for path in paths) for link in named)
    return bool(polar and paths and all(borne))


def says(text: str, name: str) -> bool:
    """True where a text has a name in it, as whole words; case and punctuation do not count.

    >>> says("Alien (1979) was directed by Ridley Scott.", "ridley scott"), says("Scotty", "Scott")
    (True, False)
    """
    spoken, wanted = _words(text), _words(name)
    return bool(wanted.strip()) and wanted in spoken


def _words(text: str) -> str:
    return f" {' '.join(_MARKS.sub(' ', text.casefold()).split())} "


def _path_faults(
    graph: KnowledgeHypergraph, path: SupportingPath, merged: np.ndarray | None
) -> list[str]:
    if not path.hyperedges:
        return ["cites no hyperedge"]
    rows = [cited.hyperedge for cited in path.hyperedges]
    if strange := [row for row in rows if not 0 <= row < graph.num_edges]:
        return [f"cites hyperedge {strange[0]} of a hypergraph of {graph.num_edges}"]
    faults = [
        f"cites hyperedge {cited.hyperedge} otherwise than the hypergraph has it"
        for cited in path.hyperedges
        if cited != _cited(graph, cited.hyperedge)
    ]
    faults += [
        f"breaks between hyperedges {before} and {after}"
        for before, after in itertools.pairwise(rows)
        if not _meet(graph, before, after, merged)
    ]
    if path.sentence != "; ".join(graph.tell(row) for row in rows):
        faults.append("is not told as its hyperedges say")
    return faults


def _cited(graph: KnowledgeHypergraph, row: int) -> HyperCitation:
    edge = graph.hyperedge(row)
    chunk = int(graph.edge_chunk[row])
    return HyperCitation(
        hyperedge=int(row),
        name=edge.name,
        kind=edge.kind,
        entities=tuple((id, graph.name(e)) for id, e in zip(edge.entities, graph.entities_of(row))),
        chunk=edge.chunk,
        title=None if chunk == NULL else graph.chunk_titles[chunk],
    )


def _meet(graph: KnowledgeHypergraph, edge: int, other: int, merged: np.ndarray | None) -> bool:
    first, second = graph.entities_of(edge), graph.entities_of(other)
    if merged is not None:
        first, second = merged[first], merged[second]
    return bool(np.isin(first, second).any())
