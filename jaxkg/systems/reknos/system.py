"""The system: link, search along super-relations, answer, cite."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question, RankedEntity, TraceNode
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.answering import Progress
from jaxkg.systems.cited import by_mass
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.paths import Found, Linked, PathAnswering, RelationPaths, good_paths
from jaxkg.systems.reknos.llm import NOTHING, SYSTEM, LLMScorer, solve_with_llm
from jaxkg.systems.reknos.numeric import search_numerically
from jaxkg.systems.reknos.scorers import LabelScorer, NumericScorer, PlannerScorer
from jaxkg.systems.reknos.settings import ReKnoSSettings
from jaxkg.systems.reknos.super_relations import SuperProblem, SuperRelations
from jaxkg.systems.reknos.trace import Solved, Trace
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text import label_words
from jaxkg.text.hashing import Encoder, HashingEncoder


@dataclasses.dataclass(frozen=True, kw_only=True)
class TracedPaths(RelationPaths):
    """Relation paths, and the search behind each question's."""

    traces: list[Trace]


@dataclasses.dataclass(frozen=True, eq=False)
class ReKnoS(PathAnswering[TracedPaths]):
    """Answers questions over one graph.

    Example:
        >>> from jaxkg.kg import demo_graph
        >>> kg = demo_graph()
        >>> qa = ReKnoS.build(kg, LabelScorer(kg.relations))  # doctest: +SKIP
        >>> print(qa.ask("who directed Alien?"))  # doctest: +SKIP
    """

    name = SYSTEM
    stage = "search"
    each = 8
    nothing = NOTHING

    kg: KnowledgeGraph
    tensors: TensorGraph
    groups: SuperRelations
    scorer: NumericScorer | LLMScorer
    linker: Linker
    settings: ReKnoSSettings = ReKnoSSettings()

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        scorer: NumericScorer | LLMScorer | Planner,
        *,
        groups: SuperRelations | None = None,
        encoder: Encoder | None = None,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: ReKnoSSettings = ReKnoSSettings(),
    ) -> ReKnoS:
        """Put the parts together.

        Args:
            kg: the graph.
            scorer: of super-relations; a planner scores as `PlannerScorer` does.
            groups: the super-relations; None makes them as the settings say, see `grouped`.
            encoder: of labels, where they are clustered; None goes by their spelling.
            tensors, linker: of the graph; None makes them.
            settings: knobs.

        Raises:
            JaxkgError: super-relations or scorer are of another graph, or the scorer cannot look
                as far as the search goes.
        """
        if isinstance(scorer, Planner):
            scorer = PlannerScorer(scorer)
        if groups is None:
            groups = grouped(kg.relations, settings.groups, encoder)
        if groups.num_relations != kg.num_relations:
            raise JaxkgError(
                f"the super-relations group {groups.num_relations} relations, the graph has "
                f"{kg.num_relations}"
            )
        if not isinstance(scorer, LLMScorer):
            scorer.check(kg.relations, settings.hops)
        return cls(kg, tensors or tensor_graph(kg), groups, scorer, linker or Linker(kg), settings)

    @property
    def revisit(self) -> Revisit:
        """The rule in force."""
        trained: Revisit = "topic"
        if isinstance(self.scorer, PlannerScorer):
            trained = self.scorer.planner.about.get("revisit", "topic")
        return self.settings.revisit or trained

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """Answers of `solve`, without the traces."""
        solved = self.solve(questions, use_given=use_given, on_progress=on_progress)
        return [each.answer for each in solved]

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer and the steps of its search."""
        [solved] = self.solve([question])
        return solved.answer, solved.trace.nodes()

    def solve(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Solved]:
        """Answer questions and keep what the search did.

        Args:
            questions: any number.
            use_given: see `find_topics`.
            on_progress: called with (stage, done, total).

        Returns:
            For each question an answer, or an abstention with its reason, and a trace.
        """
        if not questions:
            return []
        linked = self.link(questions, use_given=use_given, on_progress=on_progress)
        if isinstance(self.scorer, LLMScorer):
            seconds = linked.clock.usage(len(questions)).seconds
            return solve_with_llm(
                self.problem, self.scorer, questions, linked.topics, seconds, on_progress
            )
        paths = self.propose(linked)
        return [Solved(*each) for each in zip(self.conclude(linked, paths), paths.traces)]

    def propose(self, linked: Linked) -> TracedPaths:
        """Relation paths within the best super-relation paths; of a numeric scorer."""
        assert not isinstance(self.scorer, LLMScorer)
        questions, topics = linked.questions, linked.topics
        plans, traces = search_numerically(
            self.problem, self.scorer, questions, topics, linked.tick
        )
        confidence = np.ones(len(questions))
        if isinstance(self.scorer, PlannerScorer):
            confidence = self.scorer.confidence(questions, topics, plans.relations[:, 0])
        used = good_paths(plans.probability, self.settings.share)
        used &= (confidence >= self.settings.threshold)[:, None]
        total = np.maximum(plans.probability.sum(axis=1, keepdims=True), 1e-30)
        return TracedPaths(
            plans.relations,
            plans.probability / total,
            used,
            plans.complete,
            confidence,
            visited=np.array([(trace.reached, trace.triples) for trace in traces]),
            traces=traces,
        )

    def entities(self, found: Found) -> tuple[RankedEntity, ...]:
        """By the summed weights of the walks; nodes without a name only where there is no other."""
        return by_mass(self.kg, found.node.tolist(), found.paths, named=True)

    def retrieved(self, paths: TracedPaths, found: Found, row: int) -> np.ndarray:
        """All that the best super-relation paths extract (Eq. 9)."""
        return paths.traces[row].extracted

    @functools.cached_property
    def problem(self) -> SuperProblem:
        """What is searched, on the device."""
        return SuperProblem.of(self.kg, self.tensors, self.groups, self.settings, self.revisit)


def grouped(
    relations: Sequence[str], how: str = "auto", encoder: Encoder | None = None
) -> SuperRelations:
    """Super-relations as `ReKnoSSettings.groups` says.

    Args:
        relations: R names.
        how: "auto", "named", "clustered" or "none".
        encoder: of the labels that are clustered, as words; None goes by their spelling.

    Reference: ReKnoS, Section 3.2.
    """
    if how == "auto":
        parted = sum(name.count(".") >= 2 for name in relations)
        how = "named" if parted * 2 > len(relations) else "clustered"
    if how == "none":
        return SuperRelations.by_name(relations, parts=1 + max(n.count(".") for n in relations))
    if how == "named":
        return SuperRelations.by_name(relations)
    labels = [label_words(name) for name in relations]
    vectors = HashingEncoder()(relations) if encoder is None else encoder(labels)
    return SuperRelations.by_clusters(relations, vectors)


def from_parts(parts: Parts) -> Built:
    """With the scorer that `scorer` names; a language model where there is one.

    With `judge=paths` a model that does not score decides at the end which of the paths found
    answer, in one call.

    Raises:
        JaxkgError: no such scorer.
    """
    named = parts.wishes.get("scorer", "planner" if parts.backend is None else "llm")
    encoder = parts.encoder if "encoder" in parts.wishes else None
    settings = parts.settings(ReKnoSSettings, "scorer", "encoder")
    if named == "planner":
        scorer = PlannerScorer(parts.planner)
    elif named == "labels":
        scorer = LabelScorer(parts.kg.relations, encoder)
    elif named == "llm" and parts.backend is not None:
        scorer = LLMScorer(
            parts.backend,
            settings.criteria,
            settings.always_score,
            repair=parts.repair,
            form=settings.form,
        )
    else:
        raise JaxkgError(
            f"the scorer of reknos is planner, labels, or llm with --llm MODEL; not {named!r}"
        )
    built = parts.over(ReKnoS.build, scorer, encoder=encoder, settings=settings)
    marks = parts.marks(settings, scorer=named)
    if parts.backend is None or named == "llm" or not parts.judges_paths:
        return Built(built, marks)
    return Built(AdjudicatedQA(built, parts.backend, repair=parts.repair), marks)
