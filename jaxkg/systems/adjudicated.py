"""Any system, with a language model that decides in one call which of its paths answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.one_shot import (
    MOST_ENDS,
    MostTokens,
    adjudicate,
    found_by_query,
    offered,
    worked_out,
)
from jaxkg.answer import JUDGED, Answer
from jaxkg.records import Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering


@dataclasses.dataclass(frozen=True)
class AdjudicatedQA(QuestionAnswering):
    """A system and the model that judges what it retrieved: exactly one call a question.

    The model chooses among the paths; what it names beyond them is dropped, what it names without
    citing a path that ends there is refused. A question without paths costs no call.

    Attributes:
        inner: the system that retrieves.
        backend: the model.
        top_k: numbered lines offered at most, best first; None offers all. An answer says how many
            were left out. PathHD takes 3, of paths that are ranked well enough for it.
        single, prompt: see `adjudicate`.
        most_ends, most_tokens: see `adjudicate`.
        repair: allow one more call for a reply that cannot be read.
        keep_on_failure: where the call failed, keep the answer as it was retrieved.

    Reference: PathHD, Section 2.4.
    """

    inner: QuestionAnswering
    backend: Backend
    top_k: int | None = 50
    single: bool = False
    most_ends: int | None = MOST_ENDS
    most_tokens: MostTokens = "manner"
    repair: bool = False
    keep_on_failure: bool = False
    prompt: Literal["ours", "a", "b"] = "ours"

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """Retrieve for all questions, then ask the model about all of them in one batch."""
        return self._judged(
            self.inner.answer(questions, use_given=use_given, on_progress=on_progress)
        )

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, what the system that retrieves considered, and which paths the model cites."""
        found, stages = self.inner.traced(question)
        [answer] = self._judged([found])
        cited = {path for entity in answer.entities for path in entity.paths}
        paths = (
            TraceNode(path.sentence, path.score, path.id in cited)
            for path in sorted(found.paths, key=lambda path: -path.score)
        )
        return answer, (*stages, TraceNode("paths for the model to cite", below=tuple(paths)))

    def _judged(self, found: list[Answer]) -> list[Answer]:
        return adjudicate(
            self.backend,
            [self._marked(answer) for answer in found],
            top_k=self.top_k,
            single=self.single,
            most_ends=self.most_ends,
            most_tokens=self.most_tokens,
            repair=self.repair,
            keep_on_failure=self.keep_on_failure,
            prompt=self.prompt,
        )

    def _marked(self, answer: Answer) -> Answer:
        notes = answer.notes
        lines = len(
            offered(
                answer.paths,
                single=self.single,
                most_tokens=None,
                stands_for=found_by_query(answer),
            )
        )
        if self.top_k is not None and lines > self.top_k and not worked_out(answer):
            what = "relation paths" if self.single else "groups of paths"
            left = f"the model was shown the best {self.top_k} of {lines} {what}"
            notes = (*notes, left)
        return dataclasses.replace(answer, notes=notes, system=f"{answer.system}{JUDGED}")
