"""PRoH over the passages that each question brings, as MuSiQue and HotpotQA are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite.hyperpaths import check_hypergraph
from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph
from jaxkg.kg.hypergraph.text import hypergraph_of_text
from jaxkg.records import Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering
from jaxkg.systems.proh.index import Encode
from jaxkg.systems.proh.system import ProhQA

WHOLE = 10_000
"""Words of a chunk: passages of a question are as long as they are."""


class PassagesQA(QuestionAnswering):
    """Answers each question over a hypergraph of its own passages, read by rules.

    Reference: the distractor setting of HotpotQA and MuSiQue; PRoH itself asks one hypergraph of a
    whole corpus, see `jaxkg hypergraph build`.

    Args:
        encode: a text encoder.
        options: further ones of `ProhQA.build`: backend, settings, retrieval.
    """

    def __init__(self, encode: Encode, **options: Any) -> None:
        self.encode, self.options = encode, options
        self._last: dict[str, tuple[KnowledgeHypergraph, np.ndarray]] = {}

    def over(self, question: Question) -> ProhQA:
        """The system that answers a question.

        Raises:
            JaxkgError: it brings no passages, or nothing is mentioned in them.
        """
        if question.passages is None or not question.passages.texts:
            raise JaxkgError(
                f"question {question.id!r} brings no passages, and no --hypergraph is named"
            )
        graph = hypergraph_of_text(question.passages.texts, longest=WHOLE)
        return ProhQA.build(graph, self.encode, **self.options)

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """As `ProhQA.answer`: with a backend, several questions are under way together."""
        self._last.clear()
        answers: dict[int, Answer] = {}
        for place, answer in self._told(questions, use_given):
            answers[place] = answer
            if on_progress:
                on_progress("answer", len(answers), len(questions))
        return [answers[place] for place in range(len(questions))]

    def _told(self, questions: Sequence[Question], use_given: bool) -> Iterator[tuple[int, Answer]]:
        asked = (self._kept(question) for question in questions)
        if (backend := self.options.get("backend")) is None:
            for place, (qa, question) in enumerate(asked):
                yield place, qa.answer([question], use_given=use_given)[0]
        else:
            settings = self.options["settings"]
            yield from ProhQA.reasoned(asked, backend, settings, use_given=use_given)

    def _kept(self, question: Question) -> tuple[ProhQA, Question]:
        qa = self.over(question)
        self._last[question.id] = qa.graph, qa.index.tensors.node_of_entity
        return qa, question

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """See `ProhQA.traced`."""
        self._last.clear()
        qa, _ = self._kept(question)
        return qa.traced(question)

    def check(self, answer: Answer) -> tuple[str, ...]:
        """Hold an answer of the last questions against the hypergraph of its question."""
        if (held := self._last.get(answer.question_id)) is None:
            return ("the question was not among the last ones",)
        return check_hypergraph(held[0], answer, merged=held[1])
