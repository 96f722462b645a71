"""The knobs of ReKnoS."""

import dataclasses
from typing import ClassVar, Literal

from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.settings import Checked, Count, NotNegative, Share
from jaxkg.systems.following import Join


@dataclasses.dataclass(frozen=True)
class ReKnoSSettings(Checked):
    """Knobs of ReKnoS; the defaults are the paper's where it gives any.

    Attributes:
        width: N, super-relations kept at each step.
        hops: L, steps at most.
        keep: K, super-relation paths used of each length; the paper does not say how many.
        backward: a step may return to any alternative kept at earlier ones (Section 4.3); False
            goes on from the best path of each step alone.
        shorter: also use the paths that end at earlier steps, see `search.conclude`.
        connection: candidates are connected to the set before them by a node the question has
            "reached", or by any node of the "graph" (Eq. 1 as printed).
        floor: a super-relation that scores below this share of its step's best is not kept.
        join: what several topics of a question come to, see `Join`.
        revisit: "topic" never returns to a topic entity; the other rules allow it. None takes
            what a planner was trained with, or "topic".
        sufficient: without a language model, the probability of having the whole path that ends
            the search early.
        beam_width: without a language model, relation paths a scorer keeps in mind.
        share: without a language model, relation paths at least this fraction as probable as the
            best answer.
        threshold: with a planner's scores, least confidence in the best relation path to answer at
            all, see `PlannerScorer.confidence`; the other scorers have none.
        offered: with a language model, walks offered to it at most.
        criteria: with a language model, give explicit scoring criteria (Appendix D.8) in the place
            of the examples.
        form: with a language model, ask for "scores", or to "select" N as the printed prompt does;
            those selected then weigh alike.
        always_score: with a language model, False saves the scoring call of a step with no more
            candidates than are kept (Section 4.2); they are then kept with equal weights.
        groups: super-relations: "named" after the first two parts of relations' names, "clustered"
            by the likeness of labels, "none" (every relation is its own); "auto" is "named" where
            most names have three parts, else "clustered".
        batch_size: questions a batch.
    """

    width: Count = 3
    hops: Count = 3
    keep: Count = 3
    backward: bool = True
    shorter: bool = True
    connection: Literal["reached", "graph"] = "reached"
    floor: NotNegative = 0.0
    join: Join = "auto"
    revisit: Revisit | None = None
    sufficient: Share = 0.9
    beam_width: Count = 8
    share: Share = 0.5
    threshold: Share = 0.15
    offered: Count = 100
    criteria: bool = False
    form: Literal["scores", "select"] = "scores"
    always_score: bool = True
    groups: Literal["auto", "named", "clustered", "none"] = "auto"
    batch_size: Count = 128

    presets: ClassVar = {"paper": {"connection": "graph", "always_score": False}}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_size * self.width**self.hops > 1 << 22:
            raise JaxkgError(
                f"{self.batch_size} questions of {self.width}^{self.hops} super-relation paths "
                "are too many at a time; lower batch_size, width or hops"
            )
