"""Planned question answering: link, plan with the learned planner, execute, cite. No LLM."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from jaxkg.answer import Answer
from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph, Linker
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.wordings import Nearest
from jaxkg.records import PlanCandidate, Question, TraceNode
from jaxkg.search.plans import mixed_plans, plan_paths
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Share
from jaxkg.systems.cited import Remarks
from jaxkg.systems.following import Join
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.paths import Linked, PathAnswering, RelationPaths, good_paths
from jaxkg.systems.trace import told_hops
from jaxkg.tensors import TensorGraph, bucket, tensor_graph
from jaxkg.text import TextEncoder
from jaxkg.text.weights import why_no_weights
from jaxkg.words import TOPIC_WORD

_LABELS_NOTE = (
    "this planner knows only the graph's relation labels; train one on questions with "
    "`jaxkg train planner` for better plans"
)
_TOGETHER = 16
"""Wordings that are planned at a time at least: all those of one question."""


@dataclasses.dataclass(frozen=True)
class PlannedSettings(Checked):
    """Settings of planned question answering.

    Attributes:
        mode: answer with the "best" plan, or with the "union" of all good plans.
        share: a union takes the plans that are at least this fraction as probable as the best.
        threshold: least confidence of an answer. Confidence is the best plan's probability
            times the share of the question's words that the planner has seen in training, or times
            the likeness of the nearest wording.
        width: plans kept at every hop.
        margin: plans whose log-probability is this far below the best are dropped.
        join: how the answers of several topics are joined, see `Join`.
        revisit: which nodes a path may return to; None takes the rule of the planner's training.
        nearest: number of training questions, nearest in wording, in whose place a question with
            unknown words is planned, see `Wordings.nearest`; 0 plans the question itself. Requires
            sentence vectors; without them each question is planned itself.
        batch_size: number of questions per batch.
    """

    mode: Literal["best", "union"] = "best"
    share: Share = 0.5
    threshold: Share = 0.15
    width: Count = 4
    margin: NotNegative = 5.0
    join: Join = "auto"
    revisit: Revisit | None = None
    nearest: CountOrZero = 12
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
    learnt = "planner"

    kg: KnowledgeGraph
    tensors: TensorGraph
    planner: Planner
    linker: Linker
    settings: PlannedSettings = PlannedSettings()
    encoder: Callable[[], TextEncoder] | None = None

    @classmethod
    def build(
        cls,
        kg: KnowledgeGraph,
        planner: Planner,
        *,
        tensors: TensorGraph | None = None,
        linker: Linker | None = None,
        settings: PlannedSettings = PlannedSettings(),
        encoder: Callable[[], TextEncoder] | None = None,
    ) -> PlannedQA:
        """Build the system from its parts.

        Args:
            kg, planner: the graph, and a planner for it from `planner_for` or `fit_planner`.
            tensors, linker: the tensors and the linker of the graph; default: made here.
            settings: number of paths, threshold and the like.
            encoder: function that opens a text encoder, called at the first question with words
                that the planner does not know; None plans such questions without an encoder.

        Raises:
            JaxkgError: the planner was trained for another graph.
        """
        planner.check_graph(kg)
        tensors, linker = tensors or tensor_graph(kg), linker or Linker(kg)
        return cls(kg, tensors, planner, linker, settings, encoder)

    def propose(self, linked: Linked) -> RelationPaths:
        """Return the planner's relation paths; none is used if the confidence is too low."""
        near = self.nearest(linked.masked)
        owner = np.repeat(np.arange(len(near)), [len(some.texts) for some in near])
        starts = linked.starts
        plans = plan_paths(
            self.tensors,
            self.planner,
            [text for some in near for text in some.texts],
            [starts[i] for i in owner],
            width=self.settings.width,
            margin=self.settings.margin,
            revisit=self.revisit,
            # No more at a time than there are questions: strange words want no larger programs.
            batch_size=min(self.settings.batch_size, max(_TOGETHER, bucket(len(near)))),
            on_progress=linked.telling("plan"),
        )
        if len(owner) > len(near):
            share = np.concatenate([some.share for some in near])
            plans = mixed_plans(plans, share, owner, len(near))
        confidence = plans.probability[:, 0] * [some.likeness for some in near]
        used = good_paths(plans.probability, self.settings.share)
        if self.settings.mode == "best":
            used[:, 1:] = False
        used &= (confidence >= self.settings.threshold)[:, None]
        labels = (_LABELS_NOTE,) if self.planner.about.get("labels_only") else ()
        told = [
            Remarks(notes=labels if some.texts[0] == text else (*labels, _read_as(some)))
            for some, text in zip(near, linked.masked)
        ]
        return RelationPaths(
            plans.relations,
            plans.probability,
            used,
            plans.complete,
            confidence,
            told,
            visited=plans.visited,
        )

    def made_of(self, confidence: float, best: PlanCandidate) -> str:
        """See `PathAnswering.made_of`."""
        if best.probability - confidence < 0.0005:
            return ""
        return (
            f" (its probability is {best.probability:.3f}; that the planner has not read all of "
            "the question's words, or such a wording, takes the rest off)"
        )

    def nearest(self, masked: Sequence[str]) -> list[Nearest]:
        """What each question is planned as: itself where the planner has read all of its words."""
        near = [Nearest([text], self.planner.known_share(text), np.ones(1)) for text in masked]
        wordings, most = self.planner.wordings, self.settings.nearest
        unread = np.flatnonzero(wordings.unread(masked)).tolist() if self.encoder and most else ()
        if self.encoder and unread:
            found = wordings.nearest([masked[i] for i in unread], self.encoder(), count=most)
            for place, some in zip(unread, found):
                near[place] = some
        return near

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer and every hop of the beam behind it, pruned continuations too.

        A question that is planned as another one has the beam of the nearest.
        """
        linked, qa = self.link([question]), self
        [text], [near] = linked.masked, self.nearest(linked.masked)
        plans = plan_paths(
            qa.tensors, qa.planner, near.texts[:1], linked.starts,
            width=qa.settings.width, margin=qa.settings.margin, revisit=qa.revisit, traced=True,
        )  # fmt: skip
        share = f"the planner read {qa.planner.known_share(text):.0%} known words"
        told = [TraceNode(share)]
        if near.texts[0] != text:
            alike = [
                TraceNode(_told(some), float(share)) for some, share in zip(near.texts, near.share)
            ]
            told.append(TraceNode("planned as the nearest of its training", below=tuple(alike)))
        shown = told_hops(qa.kg, *plans.hops[0]) if linked.starts[0] else ()
        return self.answer([question])[0], (*told, *shown)


def _read_as(near: Nearest) -> str:
    return f"it has words that the planner never read; nearest to it: {_told(near.texts[0])!r}"


def _told(masked: str) -> str:
    return masked.replace(TOPIC_WORD, "…")


def from_parts(parts: Parts) -> Built:
    """The system as the command builds it; a model that judges paths is given all good plans."""
    mode = "union" if parts.judges_paths else "best"
    encoder = _encoder(parts)
    # Plans that a model is offered may be less probable than those that are answered by.
    wider = {"width": max(4, parts.offered), "margin": 10.0} if parts.offered else {}
    own = ("encoder",) if parts.planner.wordings.texts else ()
    settings = parts.settings(PlannedSettings, *own, mode=mode, **wider)
    built = parts.over(PlannedQA.build, parts.planner, settings=settings, encoder=encoder)
    return Built(built, parts.marks(settings))


def _encoder(parts: Parts) -> Callable[[], TextEncoder] | None:
    """Opens the encoder for words that the planner never read; None where there is no use for it.

    Without wordings there is none, and `--set encoder=NAME` is no setting.
    """
    if not parts.planner.wordings.texts:
        return None
    if "encoder" in parts.wishes:
        named = parts.encoder
        return lambda: named
    return None if why_no_weights() else lambda: parts.encoder
