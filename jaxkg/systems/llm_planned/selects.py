"""Questions read as SELECTs over the graph's tables by one call each; the graph executes them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from jaxkg.answer import Answer
from jaxkg.cite.queries import query_answer
from jaxkg.errors import JaxkgError
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.records import Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, notes_on
from jaxkg.systems.exam import trust_of
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.selecting import SelectWriter, Written


@dataclasses.dataclass(frozen=True, eq=False)
class LLMSelects(QuestionAnswering):
    """Answers questions over one graph by the SELECT that a model writes of each; one call each.

    Attributes:
        planned: links, and has the model.
    """

    planned: LLMPlannedQA

    @functools.cached_property
    def writer(self) -> SelectWriter:
        """Asks the model.

        Raises:
            JaxkgError: the graph has no relation, or too many for tables.
        """
        planned = self.planned
        sets, repair = QuerySets(planned.kg), planned.settings.repair
        trust = functools.partial(trust_of, planned.backend)
        writer = SelectWriter(sets, planned.backend, planned.encoder, repair=repair, trust=trust)
        if not writer.selects.able:
            count = planned.kg.num_relations
            raise JaxkgError(f"ask=sql: {count:,} relations make no tables; leave it out")
        return writer

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
        texts = [(question.text, question.id) for question in questions]
        written = self.writer.write(texts, [topics.links for topics in linked.topics])
        linked.clock.skip()
        share = linked.clock.usage(len(questions))
        answers = []
        for question, topics, reply in zip(questions, linked.topics, written):
            answer = self._told(question, reply)
            notes = (*notes_on(topics, complete=True), *answer.notes)
            answers.append(
                dataclasses.replace(
                    answer,
                    question_id=question.id,
                    system=LLMPlannedQA.name,
                    topics=topics.links,
                    notes=notes,
                    usage=share + answer.usage,
                )
            )
            linked.tick("execute", len(answers), len(questions))
        return answers

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and the query graph that was executed for it."""
        [answer] = self.answer([question])
        read = (TraceNode(answer.reading, kept=True),) if answer.reading else ()
        return answer, (TraceNode("SELECT", below=read),)

    def _told(self, question: Question, written: Written) -> Answer:
        clock, outcome = Stages(), written.outcome
        notes = tuple(filter(None, (written.note, outcome.note)))
        if written.query is None:
            failed = f"{outcome.error}: {outcome.detail}"
            if outcome.error:
                why = f"planning failed ({failed})"
            elif written.sql.strip():
                why = "what the model wrote finds nothing"
            else:
                why = "the model writes no SELECT"
            return Answer(
                question.text,
                abstained=why,
                error=None if outcome.error in (None, "budget") else failed,
                notes=notes,
                usage=outcome.usage,
            )
        sets = self.writer.sets
        result = sets.execute(written.query)
        answer = query_answer(sets, written.query, result, question=question.text)
        clock.end("execute")
        return dataclasses.replace(
            answer,
            notes=(*answer.notes, *notes, f"the model wrote {written.sql}"),
            usage=outcome.usage + clock.usage(1),
        )
