"""Planned search: a language model names the relations of each hop in one call, the graph answers.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Section III-A and Algorithm 1.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from jaxkg.adjudicate.ask import Outcome
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.planning import (
    PlanReply,
    Wanted,
    WayReply,
    plan_relations,
    way_line,
    weigh_ways,
)
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker, Topics
from jaxkg.kg.neighbourhood import Neighbourhood
from jaxkg.kg.typed_schema import MOST, MOST_TOKENS, TypedSchema
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.records import PlanCandidate, Usage
from jaxkg.settings import Checked, Count
from jaxkg.systems.cited import Remarks
from jaxkg.systems.following import Followed, Join
from jaxkg.systems.llm_planned.schema import WIDTH, PlanSchema, ReadPlan, ReadPlans
from jaxkg.systems.llm_planned.ways import Ways, ways_from
from jaxkg.systems.paths import Found, Linked, PathAnswering, RelationPaths
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text.hashing import Encoder, HashingEncoder
from jaxkg.types import NULL
from jaxkg.words import TOPIC_WORD


@dataclasses.dataclass(frozen=True)
class LLMPlannedSettings(Checked):
    """Knobs of planned search.

    Attributes:
        ask: what the model is asked for: relation "paths"; a SELECT over the graph's tables
            ("sql"), see `SelectWriter`; or a query graph in "steps", each chosen among what the
            graph has. Of a SELECT only `repair` is of use, of steps `offered`, `tokens` and `hops`
            too.
        prompt: of "paths": "ours", one of the paths that exist, spelt out; or Appendix A as it is
            printed, without ("paper") or with the hop count of the gold path ("paper-hops"), which
            no user has.
        hops: longest plan, or most steps; how many a question takes is the model's to say.
        mode: answer with the "best" plan, the first that reaches anything, or with the "union" of
            all that hold.
        plans: plans of a reply to read at most.
        join: what several topics of a question come to, see `Join`.
        revisit: which nodes a path may return to.
        offered: relations, paths or steps that the model is offered at most; see
            `TypedSchema.projected` and `ways_from`.
        tokens: of all these, at most, as estimated.
        weigh: where the endpoint tells log-probabilities and the model is not sure of its path, let
            it weigh some others too, a short call each; see `Ways.rivals`.
        repair: allow one more call for a reply that cannot be read.
        batch_size: plans executed at a time.
    """

    ask: Literal["paths", "steps", "sql"] = "paths"
    prompt: Literal["ours", "paper", "paper-hops"] = "ours"
    hops: Count = 3
    mode: Literal["best", "union"] = "best"
    plans: Count = 4
    join: Join = "auto"
    revisit: Revisit = "topic"
    offered: Count = MOST
    tokens: Count = MOST_TOKENS
    weigh: bool = True
    repair: bool = False
    batch_size: Count = 1024


_SURE = -2.7
"""Log-probability from which on a model's path is not weighed against others; chosen on development
questions of MetaQA."""
_OTHER = 0.01
"""Weight of a path that exists and is not in the model's reply, beside its own."""

Replied: TypeAlias = Outcome[PlanReply] | Outcome[WayReply] | None
"""What became of a call; None where there was none."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReadPaths(RelationPaths):
    """Relation paths read out of replies, a path of rank n weighing 1/n; behind them a few others.

    Attributes:
        outcomes: of the calls, None for a question without topics.
        replies: what became of them.
    """

    outcomes: Sequence[Replied]
    replies: Sequence[ReadPlans]


@dataclasses.dataclass(frozen=True, eq=False)
class LLMPlannedQA(PathAnswering[ReadPaths]):
    """Answers questions over one graph by exactly one call each; none where no topic is found.

    The model is offered the relation paths that exist from the topics. It never adds an entity, a
    relation or an edge: what it names is matched to the relations offered or dropped; in place of
    a plan that the graph does not bear, the nearest one that it bears is taken. All is told in the
    answer.

    Attributes:
        on_trace: called with what the model said of each question it was asked.
    """

    name = "llm-planned"
    stage = "plan"

    kg: KnowledgeGraph
    tensors: TensorGraph
    backend: Backend
    linker: Linker
    settings: LLMPlannedSettings = LLMPlannedSettings()
    on_trace: Callable[[PlanTrace], None] | None = None
    encoder: Encoder = dataclasses.field(default_factory=HashingEncoder)

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
        encoder: Encoder | None = None,
    ) -> LLMPlannedQA:
        """Put the parts together; `encoder` tells which relations are like a question's words."""
        tensors, linker = tensors or tensor_graph(kg), linker or Linker(kg)
        encoder = encoder or HashingEncoder().fitted(kg.relation_labels)
        return cls(kg, tensors, backend, linker, settings, on_trace, encoder)

    def propose(self, linked: Linked) -> ReadPaths:
        """The plans that hold of every reply, in its order; one batch of calls."""
        count = len(linked.questions)
        outcomes, asked, offers, ways = self._planned(linked)
        linked.tick("plan", count, count)
        linked.clock.skip()  # the seconds of a call are its own, not a share of the batch's
        known = {offer: self.named(offer) for offer in set(offers)}
        replies = [
            self._read(outcome, some, known[offer], held)
            for outcome, some, offer, held in zip(outcomes, linked.topics, offers, ways)
        ]
        costs = self._weigh(asked, outcomes, replies, ways)
        relations = self._table(
            [self._with_others(reply, held) for reply, held in zip(replies, ways)]
        )
        there = relations[:, :, 0, 0] != NULL
        own = np.array([len(reply.plans) for reply in replies])[:, None]
        place = np.arange(1, there.shape[1] + 1)
        remarks = [
            self._remark(outcome, cost, reply, len(offer), held)
            for outcome, cost, reply, offer, held in zip(outcomes, costs, replies, offers, ways)
        ]
        return ReadPaths(
            relations,
            there / place * np.where(place > own, _OTHER, 1.0),
            there & (place <= own),
            np.ones(count, bool),
            remarks=remarks,
            visited=np.zeros((count, 2), np.int64),
            outcomes=outcomes,
            replies=replies,
        )

    def follow(self, linked: Linked, paths: ReadPaths) -> Followed:
        """Follow all plans; answer with all, or with the first that reaches anything."""
        found = super().follow(linked, paths)
        if self.settings.mode == "best":
            full = found.sizes > 0
            # Where no plan reaches anything, the first one is the plan that failed.
            full = np.where(full.any(axis=1, keepdims=True), full, paths.used)
            found = found.only(full & (np.cumsum(full, axis=1) == 1))
        self._tell(linked, paths, found.used)
        return found

    def why_not(self, found: Found, plan: Sequence[PlanCandidate]) -> str:
        """Why a question has no answer; that of a reply without a plan stands in its remarks."""
        return "the plan reaches nothing but what it started from"

    @functools.cached_property
    def schema(self) -> PlanSchema:
        """Which relation can follow which."""
        return PlanSchema(self.kg)

    @functools.cached_property
    def around(self) -> Neighbourhood:
        """What lies around the topics."""
        return Neighbourhood(self.kg)

    @functools.cached_property
    def typed(self) -> TypedSchema:
        """The relations with the classes at their ends."""
        return TypedSchema(self.kg)

    def offer(self, masked: Sequence[str], topics: Sequence[Topics]) -> list[tuple[int, ...]]:
        """Relations to tell the model of, for each question; all where there are few."""
        settings = self.settings
        return [
            self.typed.projected(
                text.replace(TOPIC_WORD, " "),
                some.entities,
                self.encoder,
                most=settings.offered,
                most_tokens=settings.tokens,
            )
            for text, some in zip(masked, topics)
        ]

    def named(self, offer: Sequence[int]) -> Candidates:
        """The relations offered, by their own names and by those that the model was told."""
        names = ((self.kg.relations[r], self.typed.names[r]) for r in offer)
        return Candidates(names)

    def ways(self, linked: Linked, offers: Sequence[Sequence[int]]) -> list[Ways]:
        """The relation paths that each question is offered; none of the prompts as printed."""
        if self.settings.prompt != "ours":
            return [Ways()] * len(offers)
        texts = [text.replace(TOPIC_WORD, " ") for text in linked.masked]
        vectors = self.typed.vectors(self.encoder)
        return [
            ways_from(
                self.around,
                topics.entities,
                like,
                vectors,
                relations=offer,
                hops=self.settings.hops,
                most=self.settings.offered,
                returns=self.settings.revisit != "topic",
            )
            for topics, offer, like in zip(linked.topics, offers, np.asarray(self.encoder(texts)))
        ]

    def _planned(
        self, linked: Linked
    ) -> tuple[list[Replied], dict[int, Wanted], list[tuple[int, ...]], Sequence[Ways]]:
        """What became of the calls, what was asked, and the relations and paths offered."""
        wanted, offers = self.wanted(linked)
        ways = self.ways(linked, offers)
        there = [i for i, some in enumerate(linked.topics) if some.entities]
        outcomes: list[Replied] = [None] * len(linked.questions)
        asked = {
            i: dataclasses.replace(
                each,
                masked=linked.masked[i] if linked.topics[i].spans else "",
                ways=tuple(map(self._way, ways[i].offered)),
            )
            for i, each in zip(there, wanted, strict=True)
        }
        replies = plan_relations(
            self.backend,
            [*asked.values()],
            hops=self.settings.hops,
            repair=self.settings.repair,
            prompt="ours" if self.settings.prompt == "ours" else "paper",
        )
        for i, outcome in zip(there, replies, strict=True):
            outcomes[i] = outcome
        return outcomes, asked, offers, ways

    def _way(self, path: Sequence[int]) -> str:
        return way_line([self.typed.told(code) for code in path])

    def _weigh(
        self,
        asked: Mapping[int, Wanted],
        outcomes: Sequence[Replied],
        replies: list[ReadPlans],
        ways: Sequence[Ways],
    ) -> list[Usage]:
        """Put the best of the paths that are weighed in place of a reply's; what it cost."""
        costs = [Usage()] * len(replies)
        unsure = {}
        for i, wanted in asked.items():
            outcome, plans = outcomes[i], replies[i].plans
            logit = outcome.replies[-1].likelihood if outcome and outcome.replies else None
            is_sure = logit is None or logit > _SURE
            if self.settings.weigh and not is_sure and plans and plans[0].path in ways[i].paths:
                rivals = ways[i].rivals(plans[0].path)
                lines = tuple(map(self._way, rivals))
                unsure[i] = rivals, dataclasses.replace(wanted, ways=lines)
        weighed = weigh_ways(
            self.backend, [each for _, each in unsure.values()], hops=self.settings.hops
        )
        for (i, (rivals, _)), (logits, cost) in zip(unsure.items(), weighed):
            costs[i] = cost
            best = ways[i].weighed(rivals, logits, self.kg.num_relations)
            plans = tuple(ReadPlan(tuple((code,) for code in path)) for path in best[:1])
            replies[i] = dataclasses.replace(replies[i], plans=plans or replies[i].plans)
        return costs

    def wanted(self, linked: Linked) -> tuple[list[Wanted], list[tuple[int, ...]]]:
        """What a model is told of each question with topics; what all are offered."""
        questions, topics = linked.questions, linked.topics
        told = self.settings.prompt == "paper-hops"
        offers = self.offer(linked.masked, topics)
        there = [i for i, some in enumerate(topics) if some.entities]
        return [
            Wanted(
                questions[i].text,
                questions[i].id,
                tuple(dict.fromkeys(self.kg.name(node) for node in topics[i].entities)),
                tuple(map(self.typed.line, offers[i])),
                len(questions[i].paths[0]) if told and questions[i].paths else None,
            )
            for i in there
        ], offers

    def _read(self, outcome: Replied, topics: Topics, offered: Candidates, ways: Ways) -> ReadPlans:
        if outcome is None or outcome.value is None:
            return ReadPlans((), (), ())
        said = outcome.value.plans
        most = self.settings.plans
        read = self.schema.read(said[:most], topics.entities, offered, hops=self.settings.hops)
        more = tuple(f"plan {n}: {most} are read" for n in range(most + 1, len(said) + 1))
        read = dataclasses.replace(read, refused=(*read.refused, *more))
        if not ways.paths or not said or any(plan.path in ways.paths for plan in read.plans):
            return read
        # What the schema bears may still lead nowhere from this topic: the nearest stands behind.
        nearest = ways.nearest(self.schema.codes(said[0], offered))
        if nearest is None or (read.plans and self.settings.mode == "union"):
            return read
        behind = ReadPlan(tuple((code,) for code in nearest))
        return dataclasses.replace(read, plans=(*read.plans[: most - 1], behind), nearest=behind)

    def _with_others(self, reply: ReadPlans, ways: Ways) -> list[ReadPlan]:
        """The plans of a reply, and behind them the likeliest others: who chooses may want them."""
        others = (ReadPlan(tuple((code,) for code in path)) for path in ways.offered)
        more = [plan for plan in others if plan not in reply.plans] if reply.plans else []
        return [*reply.plans, *more][: self.settings.plans]

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

    def _remark(
        self, outcome: Replied, cost: Usage, reply: ReadPlans, offered: int, ways: Ways
    ) -> Remarks:
        if outcome is None:
            return Remarks()
        failed = f"{outcome.error}: {outcome.detail}"
        notes = []
        if outcome.error == "budget":
            notes.append(f"partial: {outcome.detail}; not planned")
        if outcome.note:
            notes.append(outcome.note)
        if offered < self.kg.num_relations:
            notes.append(f"the model was shown {offered} of {self.kg.num_relations} relations")
        if (count := len(ways.paths)) > ways.most:
            notes.append(f"the model was offered {ways.most} of {count:,} plans")
        if reply.nearest is not None:
            names = [name for [name] in reply.nearest.names(self.kg)]
            place = "first" if len(reply.plans) == 1 else "last"
            notes.append(f"the plan nearest to the reply is tried {place}: {way_line(names)}")
        said = "" if outcome.value is None else outcome.value.reasoning.strip()
        return Remarks(
            notes=tuple(notes),
            usage=outcome.usage + cost,
            dropped=reply.dropped,
            refused=reply.refused,
            rationale=said or None,
            error=None if outcome.error in (None, "budget") else failed,
            why_not=None
            if reply.plans
            else f"planning failed ({failed})"
            if outcome.error is not None
            else _why_no_plan(reply),
        )

    def _tell(self, linked: Linked, paths: ReadPaths, used: np.ndarray) -> None:
        for i, (outcome, reply) in enumerate(zip(paths.outcomes, paths.replies)):
            if self.on_trace is None or outcome is None or outcome.value is None:
                continue
            topics = linked.topics[i]
            self.on_trace(
                PlanTrace(
                    question=linked.questions[i],
                    linked=tuple(self.kg.entity_ids[node] for node in topics.entities),
                    spans=topics.spans,
                    plans=tuple(plan.names(self.kg) for plan in reply.plans),
                    used=tuple(np.flatnonzero(used[i]).tolist()),
                    reasoning=outcome.value.reasoning,
                    model=self.backend.model,
                )
            )


def _why_no_plan(reply: ReadPlans) -> str:
    if reply.refused:
        return f"no plan holds in the graph: {reply.refused[0]}"
    if reply.dropped:
        return f"the plan names no relation of the graph: {', '.join(reply.dropped)}"
    return "the model finds no relations that answer"
