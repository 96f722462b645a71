"""Walks as supporting paths, entities ranked by them, and the one place that makes an answer."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite import cite_paths
from jaxkg.codes import NULL
from jaxkg.kg import KnowledgeGraph, Topics
from jaxkg.kg.names import NameTable
from jaxkg.records import PlanCandidate, Question, RankedEntity, SupportingPath, Usage
from jaxkg.systems.answering import notes_on

if TYPE_CHECKING:
    from jaxkg.tensors import TensorGraph


def cite_walks(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    edges: np.ndarray,
    question: np.ndarray,
    score: np.ndarray,
) -> list[SupportingPath]:
    """Walks along edges as supporting paths, numbered p1, p2 ... within each question.

    >>> from jaxkg.tensors import tensor_graph
    >>> kg = KnowledgeGraph.from_triples([("Alien", "directed_by", "Ridley Scott")])
    >>> [path] = cite_walks(kg, tensor_graph(kg), np.array([[0, -1]]), np.zeros(1), np.ones(1))
    >>> path.id, path.sentence
    ('p1', 'Alien, directed by: Ridley Scott')

    Args:
        kg, tensors: the graph.
        edges: [K, L] int32 in walking order, NULL past the end of a walk.
        question: [K] integers, ascending.
        score: [K] float.

    Raises:
        JaxkgError: see `cite_paths`.
    """
    there = edges != NULL
    safe = np.maximum(edges, 0)
    triples = np.where(there, tensors.triple_of_edge[safe], NULL)
    inverse = there & (tensors.relation[safe] >= kg.num_relations)
    number = np.arange(len(question)) - np.searchsorted(question, question) + 1
    return cite_paths(kg, triples, inverse, ids=[f"p{n}" for n in number.tolist()], scores=score)


def by_mass(
    kg: KnowledgeGraph,
    nodes: Sequence[int],
    paths: Sequence[SupportingPath],
    *,
    named: bool = False,
) -> tuple[RankedEntity, ...]:
    """Entities by the summed scores of the walks that end in them.

    Args:
        kg: the graph.
        nodes: where each walk ends.
        paths: the walks.
        named: leave out nodes without a name of their own, which stand for an event or a role,
            unless nothing else was reached.
    """
    score: dict[int, float] = {}
    backing: dict[int, list[str]] = {}
    told: dict[int, tuple[str, str]] = {}
    for node, path in zip(nodes, paths, strict=True):
        if node in score:
            score[node] += path.score
            backing[node].append(path.id)
        else:
            score[node], backing[node], told[node] = path.score, [path.id], path.end
    kept = [node for node in score if kg.has_name(node)] if named else []
    order = sorted(kept or score, key=lambda node: (-score[node], node))
    return tuple(RankedEntity(*told[node], score[node], tuple(backing[node])) for node in order)


@dataclasses.dataclass(frozen=True, eq=False)
class RetrievedEntities(Collection[str]):
    """Ids of entities by their nodes; an id is looked up where it is asked for.

    Attributes:
        ids: of all entities.
        nodes: [K] integers, those retrieved; one may stand there again.
        results: counts, yes or no: what is no entity of the graph.
    """

    ids: NameTable
    nodes: np.ndarray
    results: frozenset[str] = frozenset()

    def __contains__(self, id: object) -> bool:
        return id in self.results or (
            isinstance(id, str) and bool(np.isin(self.ids.rows(id), self.nodes).any())
        )

    def __iter__(self) -> Iterator[str]:
        return itertools.chain(self.results, (self.ids[node] for node in self._distinct.tolist()))

    def __len__(self) -> int:
        return len(self._distinct) + len(self.results)

    @functools.cached_property
    def _distinct(self) -> np.ndarray:
        return np.unique(self.nodes)


@dataclasses.dataclass(frozen=True)
class Remarks:
    """What a method has to say of one question beside its relation paths.

    Attributes:
        notes, dropped, refused, rationale, error: see `Answer`.
        usage: of the calls it made.
        why_not: why there is no answer, where that is known before anything is followed.
    """

    notes: tuple[str, ...] = ()
    usage: Usage = Usage()
    dropped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    rationale: str | None = None
    error: str | None = None
    why_not: str | None = None


def cited_answer(
    question: Question,
    topics: Topics,
    entities: tuple[RankedEntity, ...],
    paths: Sequence[SupportingPath],
    *,
    system: str,
    why_not: str,
    complete: bool,
    plan: tuple[PlanCandidate, ...] = (),
    usage: Usage = Usage(),
    remarks: Remarks = Remarks(),
    retrieved: Collection[str] | None = None,
    reading: str = "",
) -> Answer:
    """The record of one question; an abstention where there is no entity.

    Args:
        question, topics: what was asked, and where the search started.
        entities: best first.
        paths: cited walks behind them.
        system: name of the method.
        why_not: why there is no entity, unless the remarks say so.
        complete: False where the search outgrew the largest bucket.
        plan: relation paths considered.
        usage: its share of the batch; what the remarks spent is added.
        remarks: on this question.
        retrieved, reading: see `Answer`.
    """
    return Answer(
        question=question.text,
        question_id=question.id,
        topics=topics.links,
        entities=entities,
        paths=tuple(paths),
        plan=plan,
        usage=usage + remarks.usage,
        abstained=None if entities else remarks.why_not or why_not,
        notes=(*notes_on(topics, complete=complete), *remarks.notes),
        system=system,
        rationale=remarks.rationale,
        dropped=remarks.dropped,
        refused=remarks.refused,
        error=remarks.error,
        retrieved=retrieved,
        reading=reading,
    )


def only_behind_answers(answer: Answer, *, directed: bool) -> Answer:
    """An answer without the walks to what is no answer.

    Args:
        answer: with all walks.
        directed: its plan tells the two directions of a relation apart.
    """
    shown = {path for entity in answer.entities for path in entity.paths}
    paths = tuple(path for path in answer.paths if path.id in shown)
    behind = {path.relation_path for path in paths}
    if not directed:
        behind = {tuple(step.removeprefix("^") for step in names) for names in behind}
    plan = tuple(dataclasses.replace(some, used=some.relations in behind) for some in answer.plan)
    return dataclasses.replace(answer, paths=paths, plan=plan)
