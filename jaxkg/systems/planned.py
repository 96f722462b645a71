"""Planned question answering: link, plan with the learned planner, execute, cite. No LLM."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.learn.fit import masked_texts
from jaxkg.learn.planner import Planner
from jaxkg.records import Answer, PlanCandidate, Question, Usage
from jaxkg.systems.cited import OUTGROWN, Cited, cite_reached
from jaxkg.systems.planning import Plans, Reached, execute_paths, plan_paths
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.types import NULL

_LABELS_NOTE = (
    "this planner knows only the graph's relation labels; train one on questions with "
    "`jaxkg train planner` for better plans"
)


@dataclasses.dataclass(frozen=True)
class PlannedSettings:
    """Knobs of planned question answering.

    Attributes:
        mode: answer with the "best" plan, or with the "union" of all good plans.
        share: in a union, plans at least this fraction as probable as the best are used.
        threshold: least confidence to answer at all. Confidence is the best plan's probability
            times the share of the question's words that the planner has seen in training.
        width: plans kept at every hop.
        margin: plans whose log-probability is this far below the best are dropped.
        revisit: which nodes a path may return to; None takes what the planner was trained with.
        batch_size: questions a batch.
    """

    mode: Literal["best", "union"] = "best"
    share: float = 0.5
    threshold: float = 0.15
    width: int = 4
    margin: float = 5.0
    revisit: Revisit | None = None
    batch_size: int = 1024


@dataclasses.dataclass(frozen=True)
class PlannedQA:
    """Answers questions over one graph; `link`, `plan`, `execute` and `cite` are its steps.

    Example:
        >>> from jaxkg.kg import demo_graph
        >>> qa = PlannedQA.build(demo_graph(), Planner.open(folder))  # doctest: +SKIP
        >>> print(qa.ask("who directed Alien?"))  # doctest: +SKIP
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    planner: Planner
    linker: Linker
    settings: PlannedSettings = PlannedSettings()

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        planner: Planner,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: PlannedSettings = PlannedSettings(),
    ) -> PlannedQA:
        """Put the parts together.

        Raises:
            JaxkgError: the planner was trained for another graph.
        """
        planner.check_graph(kg.relations)
        return cls(kg, tensors or tensor_graph(kg), planner, linker or Linker(kg), settings)

    @property
    def revisit(self) -> Revisit:
        """The rule in force."""
        return self.settings.revisit or self.planner.about.get("revisit", "topic")

    def ask(self, question: str | Question) -> Answer:
        """Answer one question."""
        if isinstance(question, str):
            question = as_question(question)
        return self.answer([question])[0]

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> list[Answer]:
        """Answer many questions in batches.

        Args:
            questions: any number.
            use_given: see `find_topics`.
            on_progress: called with (stage, done, total).

        Returns:
            An answer, or an abstention with its reason, for each question in order.
        """
        if not questions:
            return []
        tick = on_progress or (lambda stage, done, total: None)
        clock = [time.perf_counter()]
        topics = find_topics(self.linker, questions, use_given=use_given)
        clock.append(time.perf_counter())
        masked = masked_texts(questions, topics)
        plans = self.plan(masked, topics, lambda done, total: tick("plan", done, total))
        clock.append(time.perf_counter())
        confidence = plans.probability[:, 0] * [self.planner.known_share(m) for m in masked]
        used = self.used(plans, confidence)
        reached = self.execute(plans, used, topics, lambda done, total: tick("follow", done, total))
        clock.append(time.perf_counter())
        cited = cite_reached(self.kg, self.tensors, plans.probability, used, reached)
        clock.append(time.perf_counter())
        seconds = np.diff(clock) / len(questions)
        usage = Usage(
            seconds=float(seconds.sum()),
            stages=dict(zip(("link", "plan", "follow", "cite"), seconds.tolist())),
        )
        answers = []
        for i, question in enumerate(questions):
            cited[i].complete &= bool(plans.complete[i])
            candidates = self._candidates(
                plans.relations[i], plans.probability[i], used[i], cited[i]
            )
            answers.append(
                self._answer(question, topics[i], candidates, float(confidence[i]), cited[i], usage)
            )
        return answers

    def plan(
        self,
        masked: Sequence[str],
        topics: Sequence[Topics],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Plans:
        """Relation paths for each question, best first."""
        return plan_paths(
            self.tensors,
            self.planner,
            masked,
            [some.entities for some in topics],
            width=self.settings.width,
            margin=self.settings.margin,
            revisit=self.revisit,
            batch_size=self.settings.batch_size,
            on_progress=on_progress,
        )

    def used(self, plans: Plans, confidence: np.ndarray) -> np.ndarray:
        """[Q, W] bool: the plans to answer with; none where confidence is too low."""
        probability = plans.probability
        best = probability[:, :1]
        share = self.settings.share if self.settings.mode == "union" else 1.0
        used = (probability > 0) & (probability >= share * best)
        if self.settings.mode == "best":
            used[:, 1:] = False
        return used & (confidence >= self.settings.threshold)[:, None]

    def execute(
        self,
        plans: Plans,
        used: np.ndarray,
        topics: Sequence[Topics],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Reached:
        """Execute the used plans, in row-major order of `used`."""
        question, place = np.nonzero(used)
        return execute_paths(
            self.tensors,
            [topics[i].entities for i in question.tolist()],
            plans.relations[question, place],
            revisit=self.revisit,
            batch_size=self.settings.batch_size,
            on_progress=on_progress,
        )

    def _answer(
        self,
        question: Question,
        topics: Topics,
        candidates: tuple[PlanCandidate, ...],
        confidence: float,
        cited: Cited,
        usage: Usage,
    ) -> Answer:
        notes = [f"the graph has no entity {topic!r}" for topic in topics.missing]
        if self.planner.about.get("labels_only"):
            notes.append(_LABELS_NOTE)
        if not cited.complete:
            notes.append(OUTGROWN)
        entities = cited.ranked(self.kg)
        return Answer(
            question=question.text,
            question_id=question.id,
            topics=topics.links,
            entities=entities,
            paths=tuple(cited.paths),
            plan=candidates,
            usage=usage,
            abstained=None if entities else self._why_not(topics, candidates, confidence),
            notes=tuple(notes),
            system="planner",
        )

    def _candidates(
        self, relations: np.ndarray, probability: np.ndarray, used: np.ndarray, cited: Cited
    ) -> tuple[PlanCandidate, ...]:
        """One question's plans as records: [W, L] codes, [W] probabilities, [W] used."""
        return tuple(
            PlanCandidate(
                relations=self._names(relations[place]),
                probability=float(probability[place]),
                reached=cited.sizes.get(place),
                used=bool(used[place]),
            )
            for place in np.flatnonzero(probability > 0).tolist()
        )

    def _why_not(
        self, topics: Topics, candidates: tuple[PlanCandidate, ...], confidence: float
    ) -> str:
        if not topics.entities:
            if topics.missing:
                return f"the topic {', '.join(map(repr, topics.missing))} is not in the graph"
            near = ", ".join(f"{link.name!r} ({link.score:.2f})" for link in topics.links[:3])
            return "no entity of the graph is recognised in the question" + (
                f"; nearest: {near}" if near else ""
            )
        if not candidates:
            return "no relation path the planner knows leaves the topic"
        best = " → ".join(candidates[0].relations)
        if not any(plan.used for plan in candidates):
            return (
                f"the best relation path ({best}) has confidence {confidence:.2f}, below the "
                f"threshold of {self.settings.threshold:.2f}"
            )
        return f"the relation path {best} leads nowhere but back to the topic"

    def _names(self, codes: np.ndarray) -> tuple[str, ...]:
        return tuple(self.kg.relation_name(int(code)) for code in codes if code != NULL)


def as_question(text: str) -> Question:
    """A question typed by a person; `[...]` around the topic is accepted."""
    from jaxkg.kg.questions import split_brackets

    bare, mention = split_brackets(text)
    return Question(id="q1", text=bare, mention=mention)
