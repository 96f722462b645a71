"""From retrieved schemas to cited answers: execute the best, keep those that reach an entity."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Topics
from jaxkg.records import PlanCandidate, Question, RankedEntity
from jaxkg.search.plans import Reached, execute_paths
from jaxkg.systems.answering import notes_on, why_no_topic
from jaxkg.systems.cited import Cited, cite_reached
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL

if TYPE_CHECKING:
    from jaxkg.systems.pathhd.system import Asked, PathHD, Retrieved

_SHOWN = 5
"""Candidate schemas of an answer that are shown with their similarity."""


@dataclasses.dataclass(frozen=True)
class Grounded:
    """The candidates that reach an entity, and what they reach.

    Attributes:
        used: [Q, K] bool, the first candidates of each question that reach an entity.
        reached: of those, in row-major order.
        entities: [Q, K] int64, entities reached by each of them.
        complete: [Q] bool, False where an execution outgrew the largest bucket.
    """

    used: np.ndarray
    reached: Reached
    entities: np.ndarray
    complete: np.ndarray

    def best(self, relations: np.ndarray) -> np.ndarray:
        """[Q, L] of [Q, K, L] int32: the schema each answer comes from, NULL for none."""
        first = relations[np.arange(len(self.used)), np.argmax(self.used, axis=1)]
        return np.where(np.any(self.used, axis=1, keepdims=True), first, NULL)

    def hits(self, gold: Sequence[Collection[int]], named: np.ndarray) -> np.ndarray:
        """[Q, K] float32: share of right answers among the entities of each candidate.

        Args:
            gold: answer nodes of each question.
            named: [N] bool, nodes that can be answers.
        """
        questions, places = np.nonzero(self.used)
        question, place = questions[self.reached.row], places[self.reached.row]
        pairs = zip(question.tolist(), self.reached.node.tolist())
        right = np.fromiter((node in gold[q] for q, node in pairs), bool, len(question))
        right &= named[self.reached.node]
        share = np.zeros(self.used.shape, np.float32)
        np.add.at(share, (question[right], place[right]), 1)
        return share / np.maximum(self.entities, 1).astype(np.float32)


def ground_schemas(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    relations: np.ndarray,
    there: np.ndarray,
    named: np.ndarray,
    *,
    count: int,
    revisit: Revisit,
    batch_size: int,
) -> Grounded:
    """Execute the candidates of each question in order until `count` of them reach an entity.

    Twice as many are tried in every round, so that a question whose best candidates do not exist
    from its topic costs few rounds.

    Args:
        tensors: the graph.
        topics: topic nodes of each question.
        relations: [Q, K, L] candidates, best first.
        there: [Q, K] bool, real ones.
        named: [N] bool, nodes that can be answers.
        count: schemas wanted a question.
        revisit, batch_size: see `execute_paths`.
    """
    size, places, hops = relations.shape
    used = np.zeros((size, places), bool)
    entities = np.zeros((size, places), np.int64)
    complete = np.ones(size, bool)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    tried, step = 0, count
    while tried < places:
        more = there & (np.arange(places) >= tried) & (np.arange(places) < tried + step)
        question, place = np.nonzero(more & (used.sum(axis=1) < count)[:, None])
        tried, step = tried + step, 2 * step
        if not len(question):
            continue
        reached = execute_paths(
            tensors,
            [topics[q] for q in question.tolist()],
            relations[question, place],
            revisit=revisit,
            batch_size=batch_size,
        )
        np.logical_and.at(complete, question, reached.complete)
        np.add.at(entities, (question[reached.row], place[reached.row]), named[reached.node])
        used[question, place] = entities[question, place] > 0
        used &= np.cumsum(used, axis=1) <= count
        cell = question * places + place
        parts.append((cell[reached.row], reached.node, reached.edges))
    nothing = np.zeros(0, np.int64)
    cell, node, edges = (
        np.concatenate(column)
        for column in zip(*(parts or [(nothing, nothing, np.zeros((0, hops), np.int32))]))
    )
    kept = np.flatnonzero(used.ravel()[cell])
    kept = kept[np.argsort(cell[kept], kind="stable")]
    cells = np.flatnonzero(used)
    row = np.searchsorted(cells, cell[kept]).astype(np.int32)
    offsets = np.searchsorted(row, np.arange(len(cells) + 1))
    whole = complete[cells // places]
    return Grounded(
        used,
        Reached(row, node[kept].astype(np.int32), edges[kept], offsets, whole),
        np.where(used, entities, 0),
        complete,
    )


def answers_from(
    qa: PathHD,
    questions: Sequence[Question],
    topics: Sequence[Topics],
    asked: Asked,
    found: Retrieved,
    grounded: Grounded,
    reasons: Sequence[str | None],
) -> list[Answer]:
    """The records: entities of the best schema, walks of all that were grounded.

    Args:
        qa: the system.
        questions, topics: Q of each.
        asked, found, grounded: what its steps returned.
        reasons: why the schema of each answer scored what it did.
    """
    cited = cite_reached(qa.kg, qa.tensors, found.score, grounded.used, grounded.reached)
    answers = []
    for i, question in enumerate(questions):
        complete = bool(asked.complete[i] and found.complete[i] and grounded.complete[i])
        told = notes_on(topics[i], complete=complete)
        if (reason := reasons[i]) is not None:
            told.append(reason)
        entities = _entities(qa.kg, cited[i])
        plan = _candidates(qa.kg, found, grounded, i)
        answers.append(
            Answer(
                question=question.text,
                question_id=question.id,
                topics=topics[i].links,
                entities=entities,
                paths=tuple(cited[i].paths),
                plan=plan,
                abstained=None if entities else _why_not(qa, topics[i], plan, asked.confidence[i]),
                notes=tuple(told),
                system="pathhd",
            )
        )
    return answers


def _entities(kg: KnowledgeGraph, cited: Cited) -> tuple[RankedEntity, ...]:
    """What the best schema reaches; a node without a name of its own is no answer."""
    if not cited.paths:
        return ()
    # Walks are in order of schemas, a walk for each node: the best schema's come first.
    best = {path.id: path.score for path in cited.paths[: cited.sizes[min(cited.sizes)]]}
    return tuple(
        RankedEntity(kg.entity_ids[node], kg.name(node), best[backing[0]], tuple(backing))
        for node, backing in sorted(cited.backing.items())
        if backing[0] in best and kg.has_name(node)
    )


def _candidates(
    kg: KnowledgeGraph, found: Retrieved, grounded: Grounded, i: int
) -> tuple[PlanCandidate, ...]:
    """Schemas considered, best first; `probability` holds the similarity, negative ones as 0."""
    there, used = np.isfinite(found.score[i]), grounded.used[i]
    shown = there & ((np.arange(len(there)) < _SHOWN) | used)
    return tuple(
        PlanCandidate(
            tuple(kg.relation_name(c) for c in found.relations[i, place].tolist() if c != NULL),
            float(np.clip(found.similarity[i, place], 0, 1)),
            int(grounded.entities[i, place]) if used[place] else None,
            bool(used[place] and not used[:place].any()),
        )
        for place in np.flatnonzero(shown).tolist()
    )


def _why_not(qa: PathHD, topics: Topics, plan: Sequence[PlanCandidate], confidence: float) -> str:
    if not topics.entities:
        return why_no_topic(topics)
    if not plan:
        return "no relation of the graph leaves the topic"
    if confidence < qa.settings.threshold:
        return (
            f"the planner's confidence {confidence:.2f} is below the threshold of "
            f"{qa.settings.threshold:.2f}"
        )
    return "none of the nearest relation paths leads from the topic to another entity"
