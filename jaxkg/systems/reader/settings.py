"""How much the reader looks at, and how sure it must be."""

from __future__ import annotations

import dataclasses
from typing import Literal

from jaxkg.limits import LIMITS


@dataclasses.dataclass(frozen=True)
class ReaderSettings:
    """Settings of `Reader`.

    Attributes:
        hops: relations of a path at most; one more where a question has more groups of words.
        edges: facts around a set of entities at most; a larger set is not walked on from, which
            the answer tells.
        expanded: relation paths of one topic that are walked on from, the best first.
        looked_at: query graphs that are ranked.
        threshold: least calibrated confidence of an answer; None takes the one of the weights.
        readings: "did you mean" readings of a withheld answer.
        without: what to leave out, for ablations, joined by commas: groups of views ("vectors",
            "overlap", "types", "length", "turns", "linking").
        weights: folder of other weights, as training them leaves it; "" takes those shipped.
        choose: what the readings are chosen by: "views" of their structure alone, or "pair", the
            likeness of question and sentence added to them where there are weights for it.
        today: the date that "now" is; "" takes the machine's.
        corrections: whether questions go by what was said of them before.
    """

    hops: int = 3
    edges: int = 50_000
    expanded: int = 80
    looked_at: int = LIMITS.rows
    threshold: float | None = None
    readings: int = 3
    without: str = ""
    weights: str = ""
    choose: Literal["pair", "views"] = "pair"
    today: str = ""
    corrections: bool = True
