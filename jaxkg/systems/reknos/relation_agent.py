"""A model that searches entity by entity and relation by relation: whose calls ReKnoS saves.

In the manner of Sun et al., "Think-on-Graph: deep and responsible reasoning of large language model
on knowledge graph", ICLR 2024, Sections 2.1 to 2.3. A baseline for experiments.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxkg.adjudicate.ask import ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.one_shot import adjudicate
from jaxkg.adjudicate.calls.proh import entity_weights
from jaxkg.adjudicate.calls.super_relations import Choice, score_candidates
from jaxkg.answer import Answer
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.records import Question, Usage
from jaxkg.systems.answering import Progress, QuestionAnswering, why_no_topic
from jaxkg.systems.cited import Remarks, by_mass, cite_walks, cited_answer
from jaxkg.systems.reknos.llm import Ledger
from jaxkg.tensors import TensorGraph
from jaxkg.types import NULL


class _Walk(NamedTuple):
    score: float
    node: int
    edges: tuple[int, ...] = ()


@dataclasses.dataclass
class _Search:
    """A question on its way: the walks it stands at the end of, and all that it has kept."""

    question: Question
    topics: Topics
    ledger: Ledger
    front: list[_Walk]
    found: list[_Walk] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, eq=False)
class RelationAgent(QuestionAnswering):
    """Beam search over single entities, scored by a model.

    A step asks at every entity kept for its relations, keeps the N best pairs of an entity and a
    relation, asks for each which of the entities behind it to keep, and keeps N of all; one call
    chooses at the end among the walks of all steps. That is 2 L N + 1 calls at most (ReKnoS,
    Section 5.4): a relation with one entity behind it costs no second call, and what scores 0 is
    not followed. Think-on-Graph also asks after each step whether to stop, which is not counted
    there and not done here.

    Attributes:
        kg, tensors, linker: the graph.
        backend: who answers.
        width: N, entities kept at each step; further topics of a question are told in its notes.
        hops: L, steps at most.
        most: entities offered in one call; how many were not is told in the notes.
        repair: allow one more call for each reply that cannot be read.
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    linker: Linker
    backend: Backend
    width: int = 3
    hops: int = 3
    most: int = 50
    repair: bool = False

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """All questions step by step, the calls of a step in one batch."""
        searches = []
        for question, topic in zip(
            questions, find_topics(self.linker, questions, use_given=use_given)
        ):
            front = [_Walk(1.0, node) for node in topic.entities[: self.width]]
            ledger = Ledger([Usage()])
            if (left := len(topic.entities) - len(front)) > 0:
                ledger.notes.append(f"{left} topics were not searched from")
            searches.append(_Search(question, topic, ledger, front))
        for step in range(self.hops):
            self._step(searches)
            if on_progress:
                on_progress("search", step + 1, self.hops)
        answers = [self._retrieved(search) for search in searches]
        judged = iter(
            adjudicate(self.backend, [a for a in answers if a.error is None], repair=self.repair)
        )
        return [next(judged) if answer.error is None else answer for answer in answers]

    def _step(self, searches: Sequence[_Search]) -> None:
        """One step of all searches; a call that fails leaves nothing to follow behind it."""
        asked = [
            (s, walk, codes) for s in searches for walk in s.front if (codes := self._open(s, walk))
        ]
        choices = [
            Choice(
                s.question.text,
                s.question.id,
                (self.kg.name(walk.node),),
                tuple(
                    (self.kg.relation_name(int(self.tensors.relation[edge])),)
                    for edge in walk.edges
                ),
                tuple(map(self.kg.relation_name, codes)),
            )
            for s, walk, codes in asked
        ]
        pairs: dict[int, list[tuple[float, _Walk, int]]] = {}
        for (s, walk, codes), outcome in zip(
            asked,
            score_candidates(self.backend, choices, keep=self.width, repair=self.repair),
        ):
            s.ledger.add(outcome.outcome)
            s.ledger.dropped += outcome.dropped
            pairs.setdefault(id(s), []).extend(
                (walk.score * score, walk, code)
                for code, score in zip(codes, outcome.scores or ())
                if score > 0
            )
        best = [
            (s, *pair)
            for s in searches
            for pair in sorted(pairs.get(id(s), ()), key=lambda pair: -pair[0])[: self.width]
        ]
        reached: dict[int, list[_Walk]] = {}
        for s, walk in self._behind(best):
            reached.setdefault(id(s), []).append(walk)
        for s in searches:
            s.front = sorted(reached.get(id(s), ()), key=lambda walk: -walk.score)[: self.width]
            s.found += s.front

    def _behind(
        self, pairs: Sequence[tuple[_Search, float, _Walk, int]]
    ) -> list[tuple[_Search, _Walk]]:
        """The entities behind the kept relations, weighed; those of weight 0 are left out."""
        groups, prompted = [], []
        for s, score, walk, code in pairs:
            edges = self._edges(s, walk)
            edges = edges[self.tensors.relation[edges] == code]
            shown = edges[: self.most]
            if hidden := len(edges) - len(shown):
                label = f"{self.kg.relation_name(code)} of {self.kg.name(walk.node)}"
                s.ledger.notes.append(f"{hidden} entities behind {label} were not offered")
            groups.append((s, score, walk, shown))
            if len(shown) > 1:
                names = [self.kg.name(node) for node in self.tensors.tail[shown]]
                weighed = entity_weights(s.question.text, names)
                charge = s.question.id or s.question.text
                prompted.append(dataclasses.replace(weighed, question=charge))
        outcomes = iter(ask(self.backend, prompted, repair=self.repair))
        walks = []
        for s, score, walk, shown in groups:
            weights = np.ones(len(shown))
            if len(shown) > 1:
                outcome = next(outcomes)
                s.ledger.add(outcome)
                weights = np.zeros(len(shown))
                for each in outcome.value.weights if outcome.value else ():
                    if not 1 <= each.number <= len(shown):
                        s.ledger.dropped.append(f"entity {each.number}")
                    elif math.isfinite(each.weight):
                        weights[each.number - 1] = min(max(each.weight, 0.0), 1.0)
            for place in np.flatnonzero(weights):
                edge = int(shown[place])
                end = int(self.tensors.tail[edge])
                walks.append((s, _Walk(score * float(weights[place]), end, (*walk.edges, edge))))
        return walks

    def _edges(self, search: _Search, walk: _Walk) -> np.ndarray:
        """Edges from the end of a walk to where neither it nor a topic has been."""
        first, last = self._offsets[walk.node : walk.node + 2]
        edges = np.arange(first, last)
        seen = [*search.topics.entities, *self.tensors.tail[list(walk.edges)]]
        return edges[~np.isin(self.tensors.tail[edges], seen)]

    def _open(self, search: _Search, walk: _Walk) -> list[int]:
        """Codes of the relations that lead on."""
        return np.unique(self.tensors.relation[self._edges(search, walk)]).tolist()

    @functools.cached_property
    def _offsets(self) -> np.ndarray:
        return np.asarray(self.tensors.graph.offsets)

    def _retrieved(self, search: _Search) -> Answer:
        """What the search kept, best first, as an answer that a model can judge."""
        walks = sorted(search.found, key=lambda walk: -walk.score)
        edges = np.full((len(walks), self.hops), NULL, np.int32)
        for row, walk in zip(edges, walks):
            row[: len(walk.edges)] = walk.edges
        question, score = np.zeros(len(walks), np.int32), np.array([w.score for w in walks])
        paths = cite_walks(self.kg, self.tensors, edges, question, score)
        entities = by_mass(self.kg, [walk.node for walk in walks], paths, named=True)
        ledger, topics = search.ledger, search.topics
        notes = list(ledger.notes)
        if ledger.failed:
            notes.append(f"calls that failed: {', '.join(ledger.failed)}")
        return cited_answer(
            search.question,
            topics,
            entities,
            paths,
            system="relation agent",
            why_not="no relation was followed" if topics.entities else why_no_topic(topics),
            complete=True,
            usage=sum(ledger.usages, Usage()),
            remarks=Remarks(
                notes=tuple(notes),
                dropped=tuple(ledger.dropped),
                error=None
                if walks or not ledger.failed
                else f"{ledger.failed[0]}: {ledger.detail}",
            ),
        )
