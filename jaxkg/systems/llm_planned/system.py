"""Planned search: a language model names the relations of each hop in one call, the graph answers.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Section III-A and Algorithm 1.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from jaxkg.adjudicate.ask import Outcome
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.planning import PlanReply, Wanted, plan_relations
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.records import PlanCandidate, Question, Usage
from jaxkg.search.plans import Reached, execute_paths
from jaxkg.settings import Checked, Count
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, notes_on, why_no_topic
from jaxkg.systems.cited import Cited, cite_reached
from jaxkg.systems.llm_planned.schema import WIDTH, PlanSchema, ReadPlan, ReadPlans
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text.hashing import HashingEncoder
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class LLMPlannedSettings(Checked):
    """Knobs of planned search.

    Attributes:
        hops: longest plan; how many a question takes is the model's to say.
        mode: answer with the "best" plan, the first that reaches anything, or with the "union" of
            all that hold.
        plans: plans of a reply to read at most.
        revisit: which nodes a path may return to.
        offered: relations to tell the model of at most; those that leave the topic and those whose
            labels are like the question come first.
        repair: allow one more call for a reply that cannot be read.
        batch_size: plans executed at a time.
    """

    hops: Count = 3
    mode: Literal["best", "union"] = "best"
    plans: Count = 4
    revisit: Revisit = "topic"
    offered: Count = 100
    repair: bool = False
    batch_size: Count = 1024


@dataclasses.dataclass(frozen=True, eq=False)
class LLMPlannedQA(QuestionAnswering):
    """Answers questions over one graph by exactly one call each; none where no topic is found.

    The model never adds an entity, a relation or an edge: what it names is matched to the relations
    offered or dropped, a plan that the graph does not bear is refused, both are told in the answer.

    Attributes:
        on_trace: called with what the model said of each question it was asked.
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    backend: Backend
    linker: Linker
    settings: LLMPlannedSettings = LLMPlannedSettings()
    on_trace: Callable[[PlanTrace], None] | None = None

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        backend: Backend,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: LLMPlannedSettings = LLMPlannedSettings(),
        on_trace: Callable[[PlanTrace], None] | None = None,
    ) -> LLMPlannedQA:
        """Put the parts together."""
        tensors = tensors or tensor_graph(kg)
        return cls(kg, tensors, backend, linker or Linker(kg), settings, on_trace)

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """Plan all questions in one batch of calls, execute all plans, cite."""
        if not questions:
            return []
        tick = on_progress or (lambda stage, done, total: None)
        clock = Stages()
        topics = find_topics(self.linker, questions, use_given=use_given)
        clock.end("link")
        outcomes, offers = self._planned(questions, topics)
        tick("plan", len(questions), len(questions))
        clock.end("plan")
        names = self.kg.relations
        known = {offer: Candidates((names[r], names[r]) for r in offer) for offer in set(offers)}
        read = [
            self._read(outcome, some, known[offer])
            for outcome, some, offer in zip(outcomes, topics, offers)
        ]
        plans = self._table([each.plans for each in read])
        used, cited = self._executed(plans, topics, lambda done, total: tick("follow", done, total))
        clock.end("follow")
        shares = clock.usage(len(questions)).stages
        answers = []
        for i, question in enumerate(questions):
            answer = self._answer(question, topics[i], outcomes[i], read[i], used[i], cited[i])
            usage = answer.usage  # of the call
            # The seconds of a call are its own, not a share of the batch's.
            stages = {"link": shares["link"], **usage.stages, "follow": shares["follow"]}
            usage = dataclasses.replace(usage, seconds=sum(stages.values()), stages=stages)
            if len(offers[i]) < self.kg.num_relations and outcomes[i] is not None:
                note = f"the model was told {len(offers[i])} of {self.kg.num_relations} relations"
                answer = dataclasses.replace(answer, notes=(*answer.notes, note))
            answers.append(dataclasses.replace(answer, usage=usage))
            self._tell(question, topics[i], outcomes[i], read[i], used[i])
        return answers

    @functools.cached_property
    def schema(self) -> PlanSchema:
        """Which relation can follow which."""
        return PlanSchema(self.kg)

    def offer(self, masked: Sequence[str], topics: Sequence[Topics]) -> list[tuple[int, ...]]:
        """Relations to tell the model of, for each question; all where there are few."""
        count, most = self.kg.num_relations, self.settings.offered
        if count <= most:
            return [tuple(range(count))] * len(masked)
        encode, labels = self._encoder
        offers = []
        for text, some in zip(masked, topics):
            near = np.lexsort((np.arange(count), -(labels @ encode([text])[0])))
            starts = some.entities
            here = [
                relation
                for relation in near.tolist()
                if self.schema.leaves(starts, relation)
                or self.schema.leaves(starts, relation + count)
            ]
            chosen = dict.fromkeys([*here[: most // 2], *near.tolist()])
            offers.append(tuple(sorted(list(chosen)[:most])))
        return offers

    @functools.cached_property
    def _encoder(self) -> tuple[HashingEncoder, np.ndarray]:
        encode = HashingEncoder().fitted(self.kg.relations)
        return encode, encode(self.kg.relations)

    @functools.cached_property
    def _told(self) -> tuple[str, ...]:
        """Each relation with one of its triples, so that its direction can be seen."""
        triples, example = self.kg.triples, {}
        rows = np.unique(triples[:, 1], return_index=True)[1]
        for row in rows.tolist():
            head, relation, tail = triples[row].tolist()
            example[relation] = f": {self.kg.name(head)} → {self.kg.name(tail)}"
        return tuple(f"{name}{example.get(r, '')}" for r, name in enumerate(self.kg.relations))

    def _planned(
        self, questions: Sequence[Question], topics: Sequence[Topics]
    ) -> tuple[list[Outcome[PlanReply] | None], list[tuple[int, ...]]]:
        """Outcomes of the calls, None for a question without topics, and what each was offered."""
        offers = self.offer(masked_texts(questions, topics), topics)
        there = [i for i, some in enumerate(topics) if some.entities]
        wanted = [
            Wanted(
                questions[i].text,
                questions[i].id,
                tuple(dict.fromkeys(self.kg.name(node) for node in topics[i].entities)),
                tuple(self._told[relation] for relation in offers[i]),
            )
            for i in there
        ]
        found: list[Outcome[PlanReply] | None] = [None] * len(questions)
        made = plan_relations(
            self.backend, wanted, hops=self.settings.hops, repair=self.settings.repair
        )
        for i, outcome in zip(there, made, strict=True):
            found[i] = outcome
        return found, offers

    def _read(
        self, outcome: Outcome[PlanReply] | None, topics: Topics, offered: Candidates
    ) -> ReadPlans:
        if outcome is None or outcome.value is None:
            return ReadPlans((), (), ())
        said = outcome.value.plans
        most = self.settings.plans
        read = self.schema.read(said[:most], topics.entities, offered, hops=self.settings.hops)
        more = tuple(f"plan {n}: {most} are read" for n in range(most + 1, len(said) + 1))
        return dataclasses.replace(read, refused=(*read.refused, *more))

    def _table(self, plans: Sequence[Sequence[ReadPlan]]) -> np.ndarray:
        """[Q, P, L, 2] int32 codes, NULL where there is nothing."""
        table = np.full(
            (len(plans), self.settings.plans, self.settings.hops, WIDTH), NULL, np.int32
        )
        for i, some in enumerate(plans):
            for j, plan in enumerate(some):
                for k, hop in enumerate(plan.hops):
                    table[i, j, k, : len(hop)] = hop
        return table

    def _executed(
        self,
        plans: np.ndarray,
        topics: Sequence[Topics],
        on_progress: Callable[[int, int], None],
    ) -> tuple[np.ndarray, list[Cited]]:
        """[Q, P] bool, the plans answered with, and what they reached."""
        there = plans[:, :, 0, 0] != NULL
        question, place = np.nonzero(there)
        reached = execute_paths(
            self.tensors,
            [topics[i].entities for i in question.tolist()],
            plans[question, place],
            revisit=self.settings.revisit,
            batch_size=self.settings.batch_size,
            on_progress=on_progress,
        )
        used = there
        if self.settings.mode == "best":
            full = np.zeros_like(there)
            full[question, place] = np.diff(reached.offsets) > 0
            # Where no plan reaches anything, the first one is the plan that failed.
            full = np.where(full.any(axis=1, keepdims=True), full, there)
            used = full & (np.cumsum(full, axis=1) == 1)
        weight = there / np.arange(1, there.shape[1] + 1)
        mine = _only(reached, used[question, place])
        cited = cite_reached(self.kg, self.tensors, weight, used, mine)
        for i, j, size in zip(question.tolist(), place.tolist(), np.diff(reached.offsets).tolist()):
            cited[i].sizes[j] = size
        return used, cited

    def _answer(
        self,
        question: Question,
        topics: Topics,
        outcome: Outcome[PlanReply] | None,
        read: ReadPlans,
        used: np.ndarray,
        cited: Cited,
    ) -> Answer:
        entities = cited.ranked(self.kg)
        notes = notes_on(topics, complete=cited.complete)
        plan = tuple(
            PlanCandidate(
                relations=tuple("|".join(hop) for hop in some.names(self.kg)),
                probability=1.0 / rank,
                reached=cited.sizes.get(rank - 1),
                used=bool(used[rank - 1]),
            )
            for rank, some in enumerate(read.plans, start=1)
        )
        error = None
        if outcome is not None and outcome.error not in (None, "budget"):
            error = f"{outcome.error}: {outcome.detail}"
        elif outcome is not None and outcome.error == "budget":
            notes.append(f"partial: {outcome.detail}; not planned")
        return Answer(
            question=question.text,
            question_id=question.id,
            topics=topics.links,
            entities=entities,
            paths=tuple(cited.paths),
            plan=plan,
            usage=Usage() if outcome is None else outcome.usage,
            abstained=None if entities else _why_not(topics, outcome, read),
            notes=tuple(notes),
            system="llm-planned",
            rationale=None
            if outcome is None or outcome.value is None
            else outcome.value.reasoning.strip() or None,
            dropped=read.dropped,
            refused=read.refused,
            error=error,
        )

    def _tell(
        self,
        question: Question,
        topics: Topics,
        outcome: Outcome[PlanReply] | None,
        read: ReadPlans,
        used: np.ndarray,
    ) -> None:
        if self.on_trace is None or outcome is None or outcome.value is None:
            return
        self.on_trace(
            PlanTrace(
                question=question,
                linked=tuple(self.kg.entity_ids[node] for node in topics.entities),
                spans=topics.spans,
                plans=tuple(plan.names(self.kg) for plan in read.plans),
                used=tuple(np.flatnonzero(used).tolist()),
                reasoning=outcome.value.reasoning,
                model=self.backend.model,
            )
        )


def _why_not(topics: Topics, outcome: Outcome[PlanReply] | None, read: ReadPlans) -> str:
    """Why a question has no answer."""
    if outcome is None:
        return why_no_topic(topics)
    if outcome.error is not None:
        return f"planning failed ({outcome.error}: {outcome.detail})"
    if read.plans:
        return "the plan reaches nothing but what it started from"
    if read.refused:
        return f"no plan holds in the graph: {read.refused[0]}"
    if read.dropped:
        return f"the plan names no relation of the graph: {', '.join(read.dropped)}"
    return "the model finds no relations that answer"


def _only(reached: Reached, kept: np.ndarray) -> Reached:
    """What some of the paths reached, the paths numbered anew; kept: [P] bool."""
    mine = kept[reached.row]
    number = np.cumsum(kept) - 1
    sizes = np.diff(reached.offsets)[kept]
    return Reached(
        row=number[reached.row[mine]].astype(np.int32),
        node=reached.node[mine],
        edges=reached.edges[mine],
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        complete=reached.complete[kept],
    )
