"""Planned question answering: link, plan with the learned planner, execute, cite. No LLM."""

from __future__ import annotations

import dataclasses
from typing import Literal

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question, TraceNode
from jaxkg.search.plans import plan_paths
from jaxkg.settings import Checked, Count, NotNegative, Share
from jaxkg.systems.cited import Remarks
from jaxkg.systems.following import Join
from jaxkg.systems.parts import Parts
from jaxkg.systems.paths import Linked, PathAnswering, RelationPaths, good_paths
from jaxkg.systems.trace import beam_hops
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
        join: what several topics of a question come to, see `Join`.
        revisit: which nodes a path may return to; None takes what the planner was trained with.
        batch_size: questions a batch.
    """

    mode: Literal["best", "union"] = "best"
    share: Share = 0.5
    threshold: Share = 0.15
    width: Count = 4
    margin: NotNegative = 5.0
    join: Join = "auto"
    revisit: Revisit | None = None
    batch_size: Count = 1024


@dataclasses.dataclass(frozen=True)
class PlannedQA(PathAnswering[RelationPaths]):
    """Answers questions over one graph with the planner's best relation path, or with good ones.

    Example:
        >>> from jaxkg.kg import demo_graph
        >>> qa = PlannedQA.build(demo_graph(), Planner.open(folder))  # doctest: +SKIP
        >>> print(qa.ask("who directed Alien?"))  # doctest: +SKIP
    """

    name = "planner"
    stage = "plan"
    nothing = "no relation path the planner knows leaves the topic"

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

    def propose(self, linked: Linked) -> RelationPaths:
        """The planner's relation paths; none is used where confidence is too low."""
        plans = plan_paths(
            self.tensors,
            self.planner,
            linked.masked,
            linked.starts,
            width=self.settings.width,
            margin=self.settings.margin,
            revisit=self.revisit,
            batch_size=self.settings.batch_size,
            on_progress=linked.telling("plan"),
        )
        known = [self.planner.known_share(text) for text in linked.masked]
        confidence = plans.probability[:, 0] * known
        used = good_paths(plans.probability, self.settings.share)
        if self.settings.mode == "best":
            used[:, 1:] = False
        used &= (confidence >= self.settings.threshold)[:, None]
        told = Remarks(notes=(_LABELS_NOTE,) if self.planner.about.get("labels_only") else ())
        return RelationPaths(
            plans.relations,
            plans.probability,
            used,
            plans.complete,
            confidence,
            [told] * len(linked.masked),
            visited=plans.visited,
        )

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer and every hop of the beam behind it, pruned continuations too."""
        linked, qa = self.link([question]), self
        shown = beam_hops(
            qa.kg, qa.tensors.graph, qa.planner, linked.masked[0], linked.starts[0],
            width=qa.settings.width, margin=qa.settings.margin, revisit=qa.revisit,
        )  # fmt: skip
        share = f"the planner read {qa.planner.known_share(linked.masked[0]):.0%} known words"
        return self.answer([question])[0], (TraceNode(share), *shown)


def from_parts(parts: Parts) -> PlannedQA:
    """The system as the command builds it; a model that judges is given all good plans."""
    mode = "best" if parts.backend is None else "union"
    settings = parts.settings(PlannedSettings, mode=mode)
    return PlannedQA.build(
        parts.kg, parts.planner, tensors=parts.tensors, linker=parts.linker, settings=settings
    )
