"""Questions read as query graphs by one call each; the graph executes, proves and refuses."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from jaxkg.adjudicate.ask import Outcome
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.querying import QueryPart, QueryReply, ask_queries
from jaxkg.adjudicate.reading.match import Candidates
from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Topics
from jaxkg.kg.queries.literals import as_date, as_number, as_truth
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Query, Value, query_from_dict
from jaxkg.records import Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, notes_on, why_no_topic
from jaxkg.systems.llm_planned.system import LLMPlannedQA, planned_from_parts
from jaxkg.systems.parts import Parts


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
        wanted, offers = self.planned.wanted(linked)
        names = self.kg.relations
        known = {offer: Candidates((names[r], names[r]) for r in offer) for offer in set(offers)}
        there = [row for row, some in enumerate(linked.topics) if some.entities]

        def read(place: int, reply: QueryReply) -> Query | None:
            row = there[place]
            topics = linked.topics[row]
            return self.read(reply.parts, topics, known[offers[row]])

        outcomes = ask_queries(
            self.backend,
            wanted,
            check=lambda place, reply: _problem(lambda: read(place, reply)),
            repair=self.planned.settings.repair,
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
                made = self._told(question, topics, outcome, lambda r, p=place: read(p, r))
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
        read: Callable[[QueryReply], Query | None],
    ) -> Answer:
        """One reply executed; `usage` is the call's alone."""
        clock = Stages()
        if outcome.value is None:
            failed = f"{outcome.error}: {outcome.detail}"
            return Answer(
                question.text,
                topics=topics.links,
                abstained=f"planning failed ({failed})",
                error=None if outcome.error == "budget" else failed,
                usage=outcome.usage,
            )
        query = read(outcome.value)
        said = outcome.value.reasoning.strip() or None
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
        return dataclasses.replace(found, rationale=said, usage=outcome.usage + clock.usage(1))

    def read(self, parts: Sequence[QueryPart], topics: Topics, offered: Candidates) -> Query | None:
        """The query graph that a reply's parts say; None of no parts.

        Raises:
            JaxkgError: it names what was not offered, refers to what does not come before, or
                cannot be executed over the graph; says which part.
        """
        ids = self.kg.entity_ids
        entities = Candidates((ids[e], self.kg.name(e)) for e in topics.entities)
        made: list[dict[str, Any]] = []
        for number, part in enumerate(parts):
            try:
                options = self._options(part, made, number, entities, offered)
                problems = [_problem(lambda raw=raw: self._sound(raw)) for raw in options]
                sound = [raw for raw, wrong in zip(options, problems) if wrong is None]
                if not sound:
                    raise JaxkgError(problems[0] or "it says nothing")
                made.append(sound[0])
            except JaxkgError as error:
                raise JaxkgError(f"part {number}, {part.operator}: {error}") from error
        return query_from_dict(made[-1]) if made else None

    def _sound(self, raw: dict[str, Any]) -> None:
        if wrong := refusal(self.sets.values, query_from_dict(raw)):
            raise JaxkgError(wrong)

    def _options(
        self,
        part: QueryPart,
        made: Sequence[dict[str, Any]],
        number: int,
        entities: Candidates,
        offered: Candidates,
    ) -> list[dict[str, Any]]:
        """A part as it may be meant: a value may be a number, a date, a text or an entity."""
        if wrong := [one for one in part.of if not 0 <= one < number]:
            raise JaxkgError(f"it is made of part {wrong[0]}, which does not come before it")
        needs = {"entities": 0, "difference": 2, "compared": 2}.get(part.operator, 1)
        several = part.operator in ("intersection", "union")
        if len(part.of) < needs or (len(part.of) > needs and not several):
            raise JaxkgError(f"it is made of {len(part.of)} parts, not of {needs}")
        of = [made[one] for one in part.of]
        raw: dict[str, Any] = {"operator": part.operator}
        if part.operator == "entities":
            return [raw | {"ids": _each(part.names, entities, "topic")}]
        if several:
            return [raw | {"parts": of}]
        if part.operator == "difference":
            return [raw | {"source": of[0], "without": of[1]}]
        if part.operator == "compared":
            return [raw | {"left": of[0], "comparison": part.comparison, "right": of[1]}]
        raw["source"] = of[0]
        if part.operator in ("count", "exists"):
            return [raw]
        relations = _relations(part.relations, offered)
        if part.operator == "step":
            return [raw | {"relations": relations, "returns": False}]
        raw |= {"path": relations, "by": "count" if part.by_count else "value"}
        if part.operator == "extreme":
            return [raw | {"largest": part.largest, "n": part.n}]
        raw["comparison"] = part.comparison
        return [raw | {"value": value} for value in self._values(part.value, entities)]

    def _values(self, text: str, entities: Candidates) -> list[Any]:
        text = text.strip()
        found: list[Any] = list(entities.find(text))
        found += [self.kg.entity_ids[row] for row in self.kg.entity_names.rows(text)][:1]
        values = []
        if number := as_number(text):
            values.append(Value("number", str(number[0]), number[1]))
        if as_date(text):
            values.append(Value("date", text))
        if (truth := as_truth(text)) is not None:
            values.append(Value("boolean", str(truth).lower()))
        values.append(Value("text", text))
        return [*found, *map(dataclasses.asdict, values)]


def _problem(read: Callable[[], object]) -> str | None:
    try:
        read()
    except JaxkgError as error:
        return str(error)
    return None


def _each(names: Sequence[str], known: Candidates, what: str) -> list[str]:
    found: list[str] = []
    for name in names:
        if not (ids := known.find(name)):
            raise JaxkgError(f"{name!r} is no {what} offered")
        found += ids
    return found


def _relations(names: Sequence[str], offered: Candidates) -> list[str]:
    found = []
    for name in names:
        mark = "^" if name.strip().startswith("^") else ""
        found += [f"{mark}{one}" for one in _each([name.strip()[len(mark) :]], offered, "relation")]
    return found


def from_parts(parts: Parts) -> LLMPlannedQA | LLMQueryGraphs:
    """The system as the command builds it: it asks for relation paths, or for query graphs."""
    planned = planned_from_parts(parts)
    return LLMQueryGraphs(planned) if planned.settings.ask == "graph" else planned
