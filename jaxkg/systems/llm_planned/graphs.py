"""Questions read as query graphs by one call each; the graph executes, proves and refuses."""

from __future__ import annotations

import dataclasses
import functools
import re
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
from jaxkg.systems.llm_planned.selects import LLMSelects
from jaxkg.systems.llm_planned.steps import LLMSteps
from jaxkg.systems.llm_planned.system import LLMPlannedQA, planned_from_parts
from jaxkg.systems.parts import Built, Parts

_CUT = 0.5
"""How far a query is from the one with a line less; beside that, one less the likeness of two
relations' words, which is less than this."""


@dataclasses.dataclass(frozen=True, eq=False)
class LLMQueryGraphs(QuestionAnswering):
    """Answers questions over one graph by what a model says they mean; one call each.

    What a reply names is matched to the topics and the relations offered. In place of a query graph
    that the graph cannot execute, or that finds nothing, one whose relations are called alike is
    taken, and the answer says so; where there is none, it is refused.

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
        nearest: dict[int, str] = {}
        said: dict[int, list[str]] = {}

        def check(place: int, reply: QueryReply) -> str | None:
            said[place] = reply.query
            try:
                read = readers[place].read(reply.query)
            except JaxkgError as error:
                return str(error)
            queries[place] = read.query
            if not read.empty or not self.planned.settings.repair:
                return None
            better = self.nearest(readers[place], reply.query, offers[there[place]])
            return f"{read.empty}; this finds something: {better[1]}" if better else read.empty

        outcomes = ask_queries(
            self.backend, wanted, check=check, repair=self.planned.settings.repair
        )
        for place, lines in said.items():
            query = queries.get(place)
            if lines and (query is None or self.sets.execute(query).empty):
                better = self.nearest(readers[place], lines, offers[there[place]], cuts=False)
                if better is not None:
                    queries[place] = better[0]
                    nearest[place] = (
                        f"the model's query finds nothing; this near it does: {better[1]}"
                    )
        linked.clock.skip()
        share = linked.clock.usage(len(questions))
        asked = dict(zip(there, zip(range(len(there)), outcomes)))
        answers = []
        for row, question in enumerate(questions):
            topics = linked.topics[row]
            if row not in asked:
                empty = Answer(question.text, topics=topics.links, abstained=why_no_topic(topics))
                answer = dataclasses.replace(empty, usage=share)
            else:
                place, outcome = asked[row]
                # What finds nothing, asked again and still nothing, is a query all the same.
                answer = self._told(question, topics, outcome, place in queries, queries.get(place))
                nearest_note = (nearest[place],) if place in nearest else ()
                answer = dataclasses.replace(
                    answer, usage=share + answer.usage, notes=(*answer.notes, *nearest_note)
                )
            notes = (*notes_on(topics, complete=True), *answer.notes)
            answer = dataclasses.replace(
                answer, question_id=question.id, system=LLMPlannedQA.name, notes=notes
            )
            answers.append(answer)
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
            answer = Answer(
                question.text,
                topics=topics.links,
                abstained="the model finds no query that answers",
            )
        else:
            result = self.sets.execute(query)
            answer = query_answer(
                self.sets, query, result, question=question.text, topics=topics.links
            )
        clock.end("execute")
        notes = (*answer.notes, outcome.note) if outcome.note else answer.notes
        usage = outcome.usage + clock.usage(1)
        return dataclasses.replace(answer, notes=notes, usage=usage)

    def nearest(
        self, reader: LineReader, lines: Sequence[str], offered: Sequence[int], *, cuts: bool = True
    ) -> tuple[Query, str] | None:
        """Of lines that find nothing, or cannot be read, the nearest that find something.

        A line's relation becomes one that is called alike, or, with `cuts`, a line is left out;
        what changes least comes first.

        Returns:
            The query and its lines; None where nothing near finds anything.
        """
        typed = self.planned.typed
        vectors = typed.vectors(self.planned.encoder)
        names = {typed.names[relation]: relation for relation in offered}
        changed: list[tuple[float, list[str]]] = []
        for i, text in enumerate(lines[1:], start=1):
            if cuts and len(lines) > 2:
                changed.append((_CUT, [*lines[:i], *lines[i + 1 :]]))
            held = [name for name in names if name.casefold() in text.casefold()]
            if not held:
                continue
            name = max(held, key=len)
            around = re.split(re.escape(name), text, maxsplit=1, flags=re.IGNORECASE)
            for other, relation in names.items():
                far = 1.0 - float(vectors[names[name]] @ vectors[relation])
                if other != name and far < _CUT:
                    changed.append((far, [*lines[:i], other.join(around), *lines[i + 1 :]]))
        for _, near in sorted(changed, key=lambda pair: pair[0]):
            try:
                read = reader.read(near)
            except JaxkgError:
                continue
            if read.query is not None and not read.empty:
                return read.query, "; ".join(near)
        return None

    def reader(self, topics: Topics, offered: Candidates) -> LineReader:
        """What reads the lines of a question."""
        ids = self.kg.entity_ids
        entities = Candidates((ids[e], self.kg.name(e)) for e in topics.entities)
        return LineReader(self.sets, entities, offered, self.planned.typed.classes)


def from_parts(parts: Parts) -> Built:
    """The system as the command builds it: as `ask` says."""
    planned = planned_from_parts(parts)
    kinds = {"graph": LLMQueryGraphs, "steps": LLMSteps, "sql": LLMSelects}
    made = kinds.get(planned.settings.ask)
    return Built(made(planned) if made else planned, parts.marks(planned.settings))
