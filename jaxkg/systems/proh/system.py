"""PRoH: planning and reasoning over a knowledge hypergraph, with or without a language model."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jaxkg.adjudicate import Backend
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.adjudicate.rounds import Steps, in_rounds
from jaxkg.answer import Answer
from jaxkg.cite.hyperpaths import (
    bears,
    check_hypergraph,
    cite_hyperpath,
    cited_passage,
    decides,
    says,
)
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.hypergraph.graph import NULL, KnowledgeHypergraph
from jaxkg.records import (
    Link,
    Passage,
    Question,
    RankedEntity,
    SupportingPath,
    TraceNode,
    Usage,
)
from jaxkg.systems.answering import Progress, QuestionAnswering, as_question
from jaxkg.systems.proh.calls import Calls, Reasoner
from jaxkg.systems.proh.decompose import retrieve_in_steps
from jaxkg.systems.proh.index import Encode, HyperIndex, graph_index, hyper_index
from jaxkg.systems.proh.reasoning import Reasoning, reason
from jaxkg.systems.proh.retrieval import Anchors, RetrievalSettings, Retrieved, Retriever
from jaxkg.systems.proh.settings import PROH_L, ProhSettings
from jaxkg.systems.proh.trace import reasoned_nodes, retrieved_nodes, shown_edges

TRACE_FORMAT = "jaxkg-proh-trace"
_ENTITIES, _PATHS, _PASSAGES = 10, 10, 10


@dataclasses.dataclass(frozen=True)
class ProhQA(QuestionAnswering):
    """Answers questions over a hypergraph.

    With a backend the whole method runs: anchoring, plans, states, retrieval, judge. Without one,
    retrieval alone: ranked entities, paths and passages, marked as what they are.

    Example:
        >>> from jaxkg.kg.hypergraph.graph import open_hypergraph
        >>> from jaxkg.text.minilm import default_encoder
        >>> qa = ProhQA.build(open_hypergraph(folder), default_encoder())  # doctest: +SKIP
        >>> print(qa.ask("where was the director of Alien born?"))  # doctest: +SKIP
    """

    index: HyperIndex
    settings: ProhSettings
    retriever: Retriever
    backend: Backend | None = None

    @classmethod
    def build(
        cls,
        graph: KnowledgeHypergraph | KnowledgeGraph,
        encode: Encode,
        *,
        backend: Backend | None = None,
        settings: ProhSettings = PROH_L,
        retrieval: RetrievalSettings | None = None,
        index: HyperIndex | None = None,
    ) -> ProhQA:
        """Put the parts together.

        Args:
            graph: a hypergraph; or a knowledge graph, each fact of which is a hyperedge of two.
            encode: a text encoder.
            backend: the model; None ranks what is retrieved.
            settings: knobs of planning, with a backend.
            retrieval: knobs without one; None takes the defaults.
            index: one made before of the same graph and encoder.
        """
        # Anchors of the whole method have thresholds of their own; retrieval alone has its own.
        used = settings.retrieval if backend is not None else retrieval or RetrievalSettings()
        if index is None:
            if isinstance(graph, KnowledgeHypergraph):
                index = hyper_index(graph, encode, chunk_share=used.chunk_share)
            else:
                index = graph_index(graph, encode)
        retriever = Retriever(index, used)
        return cls(index, settings, retriever, backend)

    @property
    def graph(self) -> KnowledgeHypergraph:
        """The hypergraph that is asked."""
        return self.index.graph

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """Answer many questions; with a backend, `settings.batch_size` of them together.

        What they ask goes out in one batch a round, so that the backend's concurrency is used. Each
        is answered, cited and charged as it would be alone. Budgets alone see a difference: where
        the run's is used up, all that are under way end early; a cap on tokens or price expects
        replies as long as those that have come so far.

        Args:
            questions: any number.
            use_given: start at a question's own topics where it has them.
            on_progress: called with (stage, done, total).
        """
        if self.backend is None:
            retrievals, seconds = self._retrieve(questions, use_given)
            if on_progress:
                on_progress("retrieve", len(questions), len(questions))
            return [self._listed(q, some, seconds) for q, some in zip(questions, retrievals)]
        asked = ((self, question) for question in questions)
        reasoned = self.reasoned(asked, self.backend, self.settings, use_given=use_given)
        answers: dict[int, Answer] = {}
        for place, answer in reasoned:
            answers[place] = answer
            if on_progress:
                on_progress("reason", len(answers), len(questions))
        return [answers[place] for place in range(len(questions))]

    @staticmethod
    def reasoned(
        asked: Iterable[tuple[ProhQA, Question]],
        backend: Backend,
        settings: ProhSettings,
        *,
        use_given: bool = True,
    ) -> Iterator[tuple[int, Answer]]:
        """Answers by the whole method, each of a system of its own, as they end.

        Args:
            asked: systems with their questions; taken as there is room to begin one.
            backend: of them all.
            settings: `batch_size` questions are under way together.
            use_given: as `answer` has it.

        Yields:
            The place of a question, and its answer: without a call of its own once an outage was
            all that the first ones met.
        """
        begun: list[Calls] = []

        def line(asked: tuple[ProhQA, Question]) -> Steps[Answer]:
            qa, question = asked
            outage = begun[-1].outage if begun else ""
            if outage and not any(calls.answered for calls in begun):
                # A wrong key or address is as wrong for the next question; one call told.
                given = question.text, question.id
                return Answer(*given, abstained=outage, error=outage, system="proh")
            begun.append(Calls(question.id or question.text))
            answer, _ = yield from qa._traced(question, use_given, begun[-1])
            return answer

        return in_rounds(
            backend, map(line, asked), at_once=settings.batch_size, repair=settings.repair
        )

    def trace(self, question: str | Question) -> tuple[Answer, dict[str, Any]]:
        """An answer, and every state, path and score that was considered on the way."""
        question = as_question(question)
        if self.backend is None:
            answer = self.answer([question])[0]
            return answer, {"format": TRACE_FORMAT, "answer": answer.to_dict()}
        steps = self._traced(question, True, Calls(question.id or question.text))
        [(_, pair)] = in_rounds(self.backend, [steps], at_once=1, repair=self.settings.repair)
        return pair

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and what `trace` tells of it; without a backend what was retrieved."""
        if self.backend is None:
            [retrieval], seconds = self._retrieve([question], True)
            answer = self._listed(question, retrieval, seconds)
            return answer, retrieved_nodes(self.index, retrieval, answer)
        answer, trace = self.trace(question)
        return answer, reasoned_nodes(self.index, trace)

    def _traced(
        self, question: Question, use_given: bool, calls: Calls
    ) -> Steps[tuple[Answer, dict[str, Any]]]:
        """An answer by the whole method, and what was considered."""
        started = time.perf_counter()
        reasoner = Reasoner(self.retriever, calls, self.settings)
        topics = self._given(question) if use_given else ()
        reasoning = yield from reason(reasoner, question.text, topics=topics)
        answer = self._reasoned(question, reasoning, calls, time.perf_counter() - started)
        trace = {
            "format": TRACE_FORMAT,
            "question": question.text,
            "settings": dataclasses.asdict(self.settings),
            "topics": [self.graph.name(row) for row in reasoning.anchors.topics],
            "targets": list(reasoning.anchors.targets),
            "context": reasoning.context,
            "states": reasoning.states,
            "best": None if reasoning.best is None else reasoning.best.id,
            "modules": calls.report(),
            "faults": calls.faults,
            "answer": answer.to_dict(),
        }
        return answer, trace

    def _given(self, question: Question) -> tuple[int, ...]:
        """Nodes of the topics that come with a question."""
        rows = [row for topic in question.topics for row in self.graph.entity_ids.rows(topic)]
        merged = self.index.tensors.node_of_entity
        return tuple(dict.fromkeys(merged[rows].tolist())) if rows else ()

    def check(self, answer: Answer) -> tuple[str, ...]:
        """Hold an answer against the hypergraph; see `check_hypergraph`."""
        return check_hypergraph(self.graph, answer, merged=self.index.tensors.node_of_entity)

    def _reasoned(
        self, question: Question, reasoning: Reasoning, calls: Calls, seconds: float
    ) -> Answer:
        paths: list[SupportingPath] = []
        passages: dict[int, float] = {}
        if reasoning.best is not None:
            walked = {
                reasoning.best.answered[step.id].path: reasoning.best.answered[step.id].score
                for step in reasoning.best.dag.steps
            }
            paths = self._cited(list(walked.items()))
            passages = {
                int(self.graph.edge_chunk[edge]): score
                for path, score in walked.items()
                for edge in path
            }
        notes = list(dict.fromkeys([*reasoning.notes, *calls.notes]))
        if reasoning.best is not None:
            notes += reasoning.best.dag.notes
        partial = (f"partial: {calls.held}",) if calls.held else ()
        notes += partial
        cited = self._passages(passages.items())
        topics = self._links(question, reasoning.anchors)
        entities, refused = self._named(question.text, topics, reasoning.answers, paths, cited)
        if refused and not entities:
            notes.insert(0, "refused: no cited fact holds what the model answers")
        fault = calls.faults[0] if calls.faults else None
        if calls.faults:
            notes.append(f"{len(calls.faults)} calls failed, the first: {fault}")
        return Answer(
            question=question.text,
            question_id=question.id,
            topics=topics,
            entities=entities,
            paths=tuple(paths),
            usage=calls.usage(seconds),
            abstained=None if entities else "; ".join(notes) or "no answer was found",
            notes=tuple(notes) if entities else partial,
            system="proh",
            retrieved=frozenset(
                self.graph.entity_ids[row]
                for edge in shown_edges(reasoning.states)
                for row in self.graph.entities_of(edge).tolist()
            ),
            rationale=reasoning.reason or None,
            refused=refused,
            error=fault if not entities and not refused else None,
            passages=cited,
        )

    def _named(
        self,
        question: str,
        topics: Sequence[Link],
        answers: Sequence[str],
        paths: Sequence[SupportingPath],
        passages: Sequence[Passage],
    ) -> tuple[tuple[RankedEntity, ...], tuple[str, ...]]:
        """Answers in the model's words that a cited fact or passage holds, and the others.

        What names an entity of the cited paths is that entity.
        """
        names = {id: name for p in paths for cited in p.hyperedges for id, name in cited.entities}
        candidates = Candidates(names.items())
        ranked: dict[str, RankedEntity] = {}
        refused: list[str] = []
        for answer in answers:
            matches = candidates.find(answer)
            entity = matches[0] if len(matches) == 1 else answer
            name = names.get(entity, answer)
            own = [path.id for path in paths if bears(path, entity, name)]
            said = own or any(says(passage.text, name) for passage in passages)
            if not said and not decides(question, topics, name, paths):
                refused.append(answer)
                continue
            # The answer rests on all that the plan went through, its own facts before the others.
            backing = tuple(dict.fromkeys([*own, *(path.id for path in paths)]))
            score = 1.0 / (1 + len(ranked))
            ranked.setdefault(entity, RankedEntity(entity, name, score, backing))
        return tuple(ranked.values()), tuple(dict.fromkeys(refused))

    def _retrieve(
        self, questions: Sequence[Question], use_given: bool
    ) -> tuple[list[Retrieved], float]:
        """What retrieval alone finds, and the seconds of a question."""
        started = time.perf_counter()
        anchors = self.retriever.anchor([question.text for question in questions])
        for place, question in enumerate(questions):
            if use_given and (given := self._given(question)):
                anchors[place] = anchors[place]._replace(topics=given)
        texts = [question.text for question in questions]
        retrievals = self.retriever.retrieve(texts, anchors)
        if names := self.settings.names:
            retrievals = retrieve_in_steps(self.retriever, texts, retrievals, names=names)
        return retrievals, (time.perf_counter() - started) / max(1, len(questions))

    def _listed(self, question: Question, retrieval: Retrieved, seconds: float) -> Answer:
        paths = self._cited(retrieval.paths[:_PATHS])
        there = {id for path in paths for cited in path.hyperedges for id, _ in cited.entities}
        topics = set(retrieval.anchors.topics)
        merged = self.index.tensors.node_of_entity
        entities: list[RankedEntity] = []
        for row, score in retrieval.entities:
            id = self.graph.entity_ids[row]
            if id not in there or int(merged[row]) in topics or len(entities) == _ENTITIES:
                continue
            backing = tuple(
                path.id
                for path in paths
                if any(id == other for cited in path.hyperedges for other, _ in cited.entities)
            )
            entities.append(RankedEntity(id, self.graph.name(row), score, backing))
        notes = ["ranked by retrieval alone: candidates and evidence, read by no language model"]
        if not retrieval.complete:
            notes.append("the search outgrew the largest bucket: paths may be missing")
        nothing = None if entities else "nothing in the hypergraph is near the question"
        return Answer(
            question=question.text,
            question_id=question.id,
            topics=self._links(question, retrieval.anchors),
            entities=tuple(entities),
            paths=tuple(paths),
            usage=Usage(seconds=seconds, stages={"retrieve": seconds}),
            abstained=nothing,
            notes=tuple(notes),
            system="proh retrieval",
            retrieved=frozenset(self.graph.entity_ids[row] for row, _ in retrieval.entities),
            passages=self._passages(retrieval.chunks[:_PASSAGES]),
        )

    def _cited(self, paths: Sequence[tuple[tuple[int, ...], float]]) -> list[SupportingPath]:
        return [
            cite_hyperpath(
                self.graph,
                path,
                id=f"p{number}",
                score=score,
                merged=self.index.tensors.node_of_entity,
            )
            for number, (path, score) in enumerate(paths, start=1)
        ]

    def _passages(self, chunks: Iterable[tuple[int, float]]) -> tuple[Passage, ...]:
        return tuple(cited_passage(self.graph, row, score) for row, score in chunks if row != NULL)

    def _links(self, question: Question, anchors: Anchors) -> tuple[Link, ...]:
        spans = {m.name: m for m in self.index.mentions(question.text)}
        links = []
        for row in anchors.topics:
            span = spans.get(row)
            links.append(
                Link(
                    entity=self.graph.entity_ids[row],
                    name=self.graph.name(row),
                    start=span.start if span else 0,
                    end=span.end if span else 0,
                    score=1.0,
                    method="exact" if span else "similar",
                )
            )
        return tuple(links)
