"""Planned question answering: link, plan with the learned planner, execute, cite. No LLM."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.planner.model import Planner
from jaxkg.records import PlanCandidate, Question, Usage
from jaxkg.search.plans import Plans, Reached, execute_paths, plan_paths
from jaxkg.settings import Checked, Count, NotNegative, Share
from jaxkg.systems.answering import Progress, QuestionAnswering, Stages, notes_on, why_no_topic
from jaxkg.systems.cited import Cited, cite_reached, plan_candidates
from jaxkg.tensors import TensorGraph, tensor_graph

_LABELS_NOTE = (
    "this planner knows only the graph's relation labels; train one on questions with "
    "`jaxkg train planner` for better plans"
)


@dataclasses.dataclass(frozen=True)
class PlannedSettings(Checked):
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
    share: Share = 0.5
    threshold: Share = 0.15
    width: Count = 4
    margin: NotNegative = 5.0
    revisit: Revisit | None = None
    batch_size: Count = 1024


@dataclasses.dataclass(frozen=True)
class PlannedQA(QuestionAnswering):
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
        planner.check_graph(kg)
        return cls(kg, tensors or tensor_graph(kg), planner, linker or Linker(kg), settings)

    @property
    def revisit(self) -> Revisit:
        """The rule in force."""
        return self.settings.revisit or self.planner.about.get("revisit", "topic")

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
        tick = on_progress or (lambda stage, done, total: None)
        stages = Stages()
        topics = find_topics(self.linker, questions, use_given=use_given)
        stages.end("link")
        masked = masked_texts(questions, topics)
        plans = self.plan(masked, topics, lambda done, total: tick("plan", done, total))
        stages.end("plan")
        confidence = plans.probability[:, 0] * [self.planner.known_share(m) for m in masked]
        used = self.used(plans, confidence)
        reached = self.execute(plans, used, topics, lambda done, total: tick("follow", done, total))
        stages.end("follow")
        cited = cite_reached(self.kg, self.tensors, plans.probability, used, reached)
        stages.end("cite")
        usage = stages.usage(len(questions))
        answers = []
        for i, question in enumerate(questions):
            cited[i].complete &= bool(plans.complete[i])
            candidates = plan_candidates(
                self.kg, plans.relations[i], plans.probability[i], used[i], cited[i]
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
        notes = notes_on(topics, complete=cited.complete)
        if self.planner.about.get("labels_only"):
            notes.append(_LABELS_NOTE)
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

    def _why_not(
        self, topics: Topics, candidates: tuple[PlanCandidate, ...], confidence: float
    ) -> str:
        if not topics.entities:
            return why_no_topic(topics)
        if not candidates:
            return "no relation path the planner knows leaves the topic"
        best = " → ".join(candidates[0].relations)
        if not any(plan.used for plan in candidates):
            return (
                f"the best relation path ({best}) has confidence {confidence:.2f}, below the "
                f"threshold of {self.settings.threshold:.2f}"
            )
        return f"the relation path {best} leads nowhere but back to the topic"
