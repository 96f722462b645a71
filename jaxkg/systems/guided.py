"""Guided search: a learned edge scorer leads from the topic to the answers. No LLM.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Sec. III-B.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Literal

import jax
import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, Topics, find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.edges.model import TrainedScorer
from jaxkg.records import PlanCandidate, Question, Usage
from jaxkg.score.edges import EdgeTables, edge_tables
from jaxkg.search.edge_scores import BestTargets
from jaxkg.search.guided import GuidedPlans, guided_paths
from jaxkg.search.plans import Plans, Reached, execute_paths
from jaxkg.settings import Checked, Count, NotNegative, Share
from jaxkg.systems.answering import (
    Progress,
    QuestionAnswering,
    Stages,
    notes_on,
    why_no_topic,
)
from jaxkg.systems.cited import Cited, cite_reached, plan_candidates
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text import TextEncoder


@dataclasses.dataclass(frozen=True)
class GuidedSettings(Checked):
    """Knobs of guided search.

    Attributes:
        width: partial paths kept at every hop: 1 is the paper's greedy variant, its B (3 or 5) the
            whole-path one.
        share: paths whose chain score is at least this fraction of the best are answered with.
        threshold: least chain score of the best path to answer at all. Where the facts that a
            question asks for are missing, whatever else leaves the topic scores far below it.
        sample: edges that stand for a relation of a path when relations are chosen; None scores
            every edge of the frontier.
        targets: M, edges of a path whose targets go on to the next hop, the best-scored ones
            (Algorithm 2 has about 30); the last hop's are the answers. None takes all. It bounds
            what a wrong path through a hub answers with, and cuts right answers off long lists:
            on MetaQA's dev questions 100 costs no F1, 30 costs 0.06 at three hops.
        margin: paths whose log chain score is this far below the best are dropped.
        revisit: which nodes a path may return to; None takes what the scorer was trained with.
        dtype: of the scorer's products, float32 or bfloat16.
        batch_size: questions a batch.
    """

    width: Count = 1
    share: Share = 1.0
    threshold: NotNegative = 0.15
    sample: Count | None = 4
    targets: Count | None = None
    margin: NotNegative = 5.0
    revisit: Revisit | None = None
    dtype: Literal["float32", "bfloat16"] = "float32"
    batch_size: Count = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share == 0:
            raise JaxkgError("share is above 0, not 0")


@dataclasses.dataclass(frozen=True)
class GuidedSearch(QuestionAnswering):
    """Answers questions over one graph; `search` and `execute` are its steps."""

    kg: KnowledgeGraph
    tensors: TensorGraph
    scorer: TrainedScorer
    encoder: TextEncoder
    linker: Linker
    settings: GuidedSettings = GuidedSettings()

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        scorer: TrainedScorer,
        encoder: TextEncoder,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: GuidedSettings = GuidedSettings(),
    ) -> GuidedSearch:
        """Put the parts together, and take the scorer's products with every node and relation.

        Raises:
            JaxkgError: the scorer was trained with another encoder or for another graph.
        """
        search = cls(
            kg, tensors or tensor_graph(kg), scorer, encoder, linker or Linker(kg), settings
        )
        search._tables  # noqa: B018  fails here rather than at the first question
        return search

    @property
    def revisit(self) -> Revisit:
        """The rule in force."""
        return self.settings.revisit or self.scorer.about.get("revisit", "topic")

    @functools.cached_property
    def _tables(self) -> EdgeTables:
        inputs = self.scorer.inputs(self.kg, self.encoder)
        return jax.jit(edge_tables)(self.scorer.params, inputs)

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
        plans = self.search(
            masked_texts(questions, topics), topics, lambda done, total: tick("search", done, total)
        )
        stages.end("search")
        used = self.used(plans)
        reached = self.execute(plans, used, topics)
        stages.end("follow")
        cited = cite_reached(self.kg, self.tensors, plans.probability, used, reached)
        stages.end("cite")
        usage = stages.usage(len(questions))
        return [
            self._answer(question, topics[i], plans, used, i, cited[i], usage)
            for i, question in enumerate(questions)
        ]

    def search(
        self,
        masked: Sequence[str],
        topics: Sequence[Topics],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> GuidedPlans:
        """Relation paths of each question with their chain scores, best first."""
        distinct = list(dict.fromkeys(masked))
        place = {text: row for row, text in enumerate(distinct)}
        vectors = self.encoder(distinct)[[place[text] for text in masked]]
        return guided_paths(
            self.tensors,
            self.scorer.params,
            self._tables,
            vectors,
            [some.entities for some in topics],
            hops=self.scorer.sizes.hops,
            width=self.settings.width,
            sample=self.settings.sample,
            targets=self.settings.targets,
            margin=self.settings.margin,
            revisit=self.revisit,
            use_context=self.scorer.sizes.context,
            dtype=self.settings.dtype,
            batch_size=self.settings.batch_size,
            on_progress=on_progress,
        )

    def used(self, plans: Plans) -> np.ndarray:
        """[Q, W] bool: the paths to answer with; none where the best one scores too low."""
        best = plans.probability[:, :1]
        used = (plans.probability > 0) & (plans.probability >= self.settings.share * best)
        return used & (best >= self.settings.threshold)

    def execute(self, plans: GuidedPlans, used: np.ndarray, topics: Sequence[Topics]) -> Reached:
        """Execute the used paths, in row-major order of `used`, along the edges they keep."""
        question, place = np.nonzero(used)

        def keep(paths: np.ndarray) -> BestTargets:
            assert self.settings.targets is not None
            return BestTargets(
                self.tensors.graph,
                self.scorer.params,
                self._tables,
                jax.device_put(plans.questions[question[paths]]),
                self.settings.targets,
                use_context=self.scorer.sizes.context,
                dtype=self.settings.dtype,
            )

        return execute_paths(
            self.tensors,
            [topics[i].entities for i in question.tolist()],
            plans.relations[question, place],
            revisit=self.revisit,
            keep=None if self.settings.targets is None else keep,
        )

    def _answer(
        self,
        question: Question,
        topics: Topics,
        plans: Plans,
        used: np.ndarray,
        row: int,
        cited: Cited,
        usage: Usage,
    ) -> Answer:
        complete = cited.complete and bool(plans.complete[row])
        entities = cited.ranked(self.kg)
        plan = plan_candidates(
            self.kg, plans.relations[row], plans.probability[row], used[row], cited
        )
        return Answer(
            question=question.text,
            question_id=question.id,
            topics=topics.links,
            entities=entities,
            paths=tuple(cited.paths),
            plan=plan,
            usage=usage,
            abstained=None if entities else self._why_not(topics, plan),
            notes=tuple(notes_on(topics, complete=complete)),
            system="guided",
        )

    def _why_not(self, topics: Topics, plan: tuple[PlanCandidate, ...]) -> str:
        if not plan:
            return "no edge leaves the topic" if topics.entities else why_no_topic(topics)
        path = " → ".join(plan[0].relations)
        if not plan[0].used:
            return (
                f"the best relation path ({path}) has chain score {plan[0].probability:.2f}, below "
                f"the threshold of {self.settings.threshold:.2f}"
            )
        return f"the relation path {path} leads nowhere but to the topic"
