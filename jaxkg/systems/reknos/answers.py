"""From the relation paths or walks of a super-relation search to cited answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite import cite_paths
from jaxkg.kg import KnowledgeGraph, Topics
from jaxkg.records import (
    PlanCandidate,
    Question,
    RankedEntity,
    SupportingPath,
    Usage,
)
from jaxkg.search.plans import Plans, Reached
from jaxkg.systems.answering import notes_on, why_no_topic
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL

SYSTEM = "reknos"
OUTGROWN = "the search outgrew the largest bucket: answers may be missing"


def answer_from_paths(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    questions: Sequence[Question],
    topics: Sequence[Topics],
    plans: Plans,
    used: np.ndarray,
    reached: Reached,
    usage: Usage,
) -> list[Answer]:
    """Rank what executed relation paths reached by how probable the paths are.

    Args:
        kg, tensors: the graph.
        questions, topics: Q of each.
        plans: relation paths of each question.
        used: [Q, W] bool, those that were executed.
        reached: of the used ones, in row-major order.
        usage: of one question.

    Returns:
        An answer or an abstention for each question.
    """
    question, place = np.nonzero(used)
    probability = plans.probability / np.maximum(
        plans.probability.sum(axis=1, keepdims=True), 1e-30
    )
    weight = probability[question, place]
    paths = walks(kg, tensors, reached.edges, question[reached.row], weight[reached.row])
    sizes = np.zeros(used.shape, int)
    sizes[used] = np.diff(reached.offsets)
    bounds = np.searchsorted(question[reached.row], np.arange(len(questions) + 1))
    complete = plans.complete.copy()
    np.logical_and.at(complete, question, reached.complete)
    answers = []
    for i, asked in enumerate(questions):
        mine = slice(int(bounds[i]), int(bounds[i + 1]))
        entities = ranked(kg, reached.node[mine].tolist(), paths[mine])
        plan = tuple(
            PlanCandidate(
                tuple(kg.relation_name(c) for c in plans.relations[i, w].tolist() if c != NULL),
                float(probability[i, w]),
                int(sizes[i, w]) if used[i, w] else None,
                bool(used[i, w]),
            )
            for w in np.flatnonzero(plans.probability[i] > 0).tolist()
        )
        answers.append(
            finished(
                asked,
                topics[i],
                entities,
                paths[mine],
                plan=plan,
                usage=usage,
                complete=bool(complete[i]),
            )
        )
    return answers


def finished(
    question: Question,
    topics: Topics,
    entities: tuple[RankedEntity, ...],
    paths: Sequence[SupportingPath],
    *,
    plan: tuple[PlanCandidate, ...],
    usage: Usage,
    complete: bool,
    notes: Sequence[str] = (),
) -> Answer:
    """The record of one question; an abstention where there is no entity."""
    return Answer(
        question=question.text,
        question_id=question.id,
        topics=topics.links,
        entities=entities,
        paths=tuple(paths),
        plan=plan,
        usage=usage,
        abstained=None if entities else why_not(topics),
        notes=(*notes_on(topics, complete=complete), *notes),
        system=SYSTEM,
    )


def walks(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    edges: np.ndarray,
    question: np.ndarray,
    score: np.ndarray,
) -> list[SupportingPath]:
    """Walks as supporting paths, numbered p1, p2 ... within each question.

    Args:
        kg, tensors: the graph.
        edges: [K, L] int32, NULL past the end.
        question: [K] ascending.
        score: [K].
    """
    there = edges != NULL
    safe = np.maximum(edges, 0)
    triples = np.where(there, tensors.triple_of_edge[safe], NULL)
    inverse = there & (tensors.relation[safe] >= kg.num_relations)
    first = np.searchsorted(question, question)
    ids = [f"p{n}" for n in (np.arange(len(question)) - first + 1).tolist()]
    return cite_paths(kg, triples, inverse, ids=ids, scores=score)


def ranked(
    kg: KnowledgeGraph, nodes: Sequence[int], paths: Sequence[SupportingPath]
) -> tuple[RankedEntity, ...]:
    """Entities by the summed scores of the walks that end in them.

    A node without a name of its own stands for an event or a role, not for an answer; it is ranked
    only where nothing else was reached.
    """
    score: dict[int, float] = {}
    backing: dict[int, list[str]] = {}
    for node, path in zip(nodes, paths, strict=True):
        score[node] = score.get(node, 0.0) + path.score
        backing.setdefault(node, []).append(path.id)
    named = [node for node in score if kg.has_name(node)]
    order = sorted(named or score, key=lambda node: (-score[node], node))
    return tuple(
        RankedEntity(kg.entity_ids[node], kg.name(node), score[node], tuple(backing[node]))
        for node in order
    )


def why_not(topics: Topics) -> str:
    """Why a question has no answer."""
    if topics.entities:
        return "no super-relation leads from the topic to another entity"
    return why_no_topic(topics)
