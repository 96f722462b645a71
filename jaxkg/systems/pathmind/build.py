"""PathMind as the command builds it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jaxkg.answer import Answer
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.records import Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering
from jaxkg.systems.parts import Parts
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings
from jaxkg.systems.pathmind.trace import iterations, priority_hops


def from_parts(parts: Parts) -> QuestionAnswering:
    """A model that judges is given what is retrieved, not what would be answered without it."""
    model = PriorityModel.open(parts.folder("pathmind", "pathmind"))
    parts.marks["priorities"] = dict(model.about)
    # Most read hashed words; one trained on an encoder's vectors must be given it.
    if trained := model.about.get("encoder"):
        hashed = trained[0] == "hashing"
        parts.wishes.setdefault("encoder", "hashing" if hashed else "minilm")
    encoder = parts.encoder if "encoder" in parts.wishes else None
    built = PathMind.build(
        parts.kg,
        model,
        encoder=encoder,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=parts.settings(PathMindSettings),
    )
    return built if parts.backend is None else Retrieving(built)


@dataclasses.dataclass(frozen=True)
class Retrieving(QuestionAnswering):
    """PathMind's retrieval in the place of its own answers."""

    inner: PathMind

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """See `PathMind.retrieve`."""
        return self.inner.retrieve(questions, use_given=use_given, on_progress=on_progress)

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """See `PathMind.traced`; then the walks that were taken, iteration by iteration."""
        inner, settings = self.inner, self.inner.settings
        found = inner.rank([question])
        [answer] = inner.retrieve([question], ranking=found)
        grown = settings.growth == "triples"
        ranked = found.whole if grown else found.ranked
        hops = priority_hops(inner.kg, inner.tensors, ranked, answer)
        return answer, (*hops, *iterations(answer, keep=settings.keep, grown=grown))
