"""PathMind as the command builds it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.records import PlanCandidate, Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings, iterations, priority_hops


def from_parts(parts: Parts) -> Built:
    """A model that judges paths is given what is retrieved, not what would be answered without."""
    model = PriorityModel.open(parts.folder("pathmind", "pathmind"))
    # Most read hashed words; one trained on an encoder's vectors must be given it.
    if trained := model.about.get("encoder"):
        hashed = trained[0] == "hashing"
        encoder = "hashing" if hashed else "minilm"
        parts = dataclasses.replace(parts, wishes={"encoder": encoder, **parts.wishes})
    settings = parts.settings(PathMindSettings, "encoder", "model")
    encoder = parts.encoder if "encoder" in parts.wishes else None
    built = parts.over(PathMind.build, model, encoder=encoder, settings=settings)
    marks = parts.marks(settings, priorities=dict(model.about))
    if parts.offered:
        return Built(Proposing(built), marks)
    return Built(Retrieving(built) if parts.judges_paths else built, marks)


@dataclasses.dataclass(frozen=True)
class Proposing(QuestionAnswering):
    """PathMind, whose answers tell the relation paths of all that it retrieved as their plan."""

    inner: PathMind

    @property
    def revisit(self) -> Revisit:
        """The rule in force."""
        return self.inner.revisit

    @property
    def threshold(self) -> float:
        """Least confidence to answer at all."""
        return self.inner.settings.threshold

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """See `PathMind.answer`; the score of a relation path is that of its best walk."""
        if not questions:
            return []
        ranking = self.inner.rank(questions, use_given=use_given, on_progress=on_progress)
        answers = self.inner.answer(questions, ranking=ranking)
        wide = self.inner.retrieve(questions, ranking=ranking)
        return [_planned(*pair) for pair in zip(answers, wide)]

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """See `PathMind.traced`."""
        [answer] = self.answer([question])
        return answer, self.inner.traced(question)[1]


def _planned(answer: Answer, wide: Answer) -> Answer:
    """An answer with the relation paths of what was retrieved around it."""
    scores: dict[tuple[str, ...], float] = {}
    for path in (*answer.paths, *wide.paths):
        scores[path.relation_path] = max(path.score, scores.get(path.relation_path, 0.0))
    mine = {path.relation_path for path in answer.paths}
    plan = (
        PlanCandidate(relations, min(1.0, score), used=relations in mine)
        for relations, score in sorted(scores.items(), key=lambda item: -item[1])
    )
    return dataclasses.replace(answer, plan=tuple(plan))


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
        ranking = inner.rank([question])
        [answer] = inner.retrieve([question], ranking=ranking)
        grown = settings.growth == "triples"
        ranked = ranking.whole if grown else ranking.ranked
        hops = priority_hops(inner.kg, inner.tensors, ranked, answer)
        return answer, (*hops, *iterations(answer, keep=settings.keep, grown=grown))
