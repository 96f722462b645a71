"""Questions read as query graphs by one call each; the graph executes, proves and refuses."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from jaxkg.adjudicate.ask import Outcome
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.querying import QueryReply, ask_queries
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Topics
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Query
from jaxkg.records import Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, notes_on, why_no_topic
from jaxkg.systems.llm_planned.lines import LineReader
from jaxkg.systems.llm_planned.steps import LLMSteps
from jaxkg.systems.llm_planned.system import LLMPlannedQA, planned_from_parts
from jaxkg.systems.parts import Built, Parts


@dataclasses.dataclass(frozen=True, eq=False)
class LLMQueryGraphs(QuestionAnswering):
    """Answers questions over one graph by what a model says they mean; one call each.

    What a reply names is matched to the topics and the relations offered. A query graph that the
    graph cannot execute is refused whole: part of a query would answer another question.

    Attributes:
        planned: links, and chooses what relations are offered.
    """

    planned: LLMPlannedQA

    @property
    def kg(self) -> KnowledgeGraph:
        """The graph."""
        return self.planned.kg

    @property
    def backend(self) -> Backend:
        """Who is asked."""
        return self.planned.backend

    @functools.cached_property
    def sets(self) -> QuerySets:
        """Executes query graphs."""
        return QuerySets(self.kg)

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """An answer, or an abstention with its reason, for each question in order."""
        if not questions:
            return []
        linked = self.planned.link(questions, use_given=use_given, on_progress=on_progress)
        # Without a topic a query can begin with a class, where there are any.
        topicless = bool(self.planned.typed.classes)
        wanted, offers = self.planned.wanted(linked, topicless=topicless)
        known = {offer: self.planned.named(offer) for offer in set(offers)}
        there = [row for row, some in enumerate(linked.topics) if topicless or some.entities]

        readers = [self.reader(linked.topics[row], known[offers[row]]) for row in there]
        queries: dict[int, Query | None] = {}

        def check(place: int, reply: QueryReply) -> str | None:
            try:
                read = readers[place].read(reply.lines)
            except JaxkgError as error:
                return str(error)
            queries[place] = read.query
            return read.empty if self.planned.settings.repair else None

        outcomes = ask_queries(
            self.backend, wanted, check=check, repair=self.planned.settings.repair
        )
        linked.clock.skip()
        share = linked.clock.usage(len(questions))
        told = dict(zip(there, zip(range(len(there)), outcomes)))
        answers = []
        for row, question in enumerate(questions):
            topics = linked.topics[row]
            if row not in told:
                empty = Answer(question.text, topics=topics.links, abstained=why_no_topic(topics))
                made = dataclasses.replace(empty, usage=share)
            else:
                place, outcome = told[row]
                # What finds nothing, asked again and still nothing, is a query all the same.
                made = self._told(question, topics, outcome, place in queries, queries.get(place))
                made = dataclasses.replace(made, usage=share + made.usage)
            notes = (*notes_on(topics, complete=True), *made.notes)
            made = dataclasses.replace(
                made, question_id=question.id, system=LLMPlannedQA.name, notes=notes
            )
            answers.append(made)
            linked.tick("execute", row + 1, len(questions))
        return answers

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and the query graph that was executed for it."""
        [answer] = self.answer([question])
        read = (TraceNode(answer.reading, kept=True),) if answer.reading else ()
        return answer, (TraceNode("query graph", below=read),)

    def _told(
        self,
        question: Question,
        topics: Topics,
        outcome: Outcome[QueryReply],
        was_read: bool,
        query: Query | None,
    ) -> Answer:
        """One query executed; `usage` is the call's alone."""
        clock = Stages()
        if not was_read:
            failed = f"{outcome.error}: {outcome.detail}"
            return Answer(
                question.text,
                topics=topics.links,
                abstained=f"planning failed ({failed})",
                error=None if outcome.error == "budget" else failed,
                usage=outcome.usage,
            )
        if query is None:
            found = Answer(
                question.text,
                topics=topics.links,
                abstained="the model finds no query that answers",
            )
        else:
            result = self.sets.execute(query)
            found = query_answer(
                self.sets, query, result, question=question.text, topics=topics.links
            )
        clock.end("execute")
        notes = (*found.notes, outcome.note) if outcome.note else found.notes
        usage = outcome.usage + clock.usage(1)
        return dataclasses.replace(found, notes=notes, usage=usage)

    def reader(self, topics: Topics, offered: Candidates) -> LineReader:
        """What reads the lines of a question."""
        ids = self.kg.entity_ids
        entities = Candidates((ids[e], self.kg.name(e)) for e in topics.entities)
        return LineReader(self.sets, entities, offered, self.planned.typed.classes)


def from_parts(parts: Parts) -> Built:
    """The system as the command builds it: as `ask` says."""
    planned = planned_from_parts(parts)
    kinds = {"graph": LLMQueryGraphs, "steps": LLMSteps}
    made = kinds.get(planned.settings.ask)
    return Built(made(planned) if made else planned, parts.marks(planned.settings))
