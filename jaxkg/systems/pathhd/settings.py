"""The knobs of PathHD."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.score import hdc
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Positive, Share
from jaxkg.systems.following import Join

QueryKind = Literal["bundle", "plan", "text", "ordered", "projection"]
_MOST_HOPS = 4


@dataclasses.dataclass(frozen=True)
class PathHDSettings(Checked):
    """Knobs of PathHD.

    Attributes:
        query: a weighted "bundle" over the planner's plans, its best "plan" alone (the paper's
            default), the "text" among the relation labels, the same with words of its own for every
            hop ("ordered", see `hop_texts`), or the paper's text "projection" (Eq. 2). None takes
            "bundle" with a planner, else "text".
        operator: of `hdc.OPERATORS`.
        dimension: d.
        block: m, block size of GHRR.
        symbols: "labels" gives relations with similar labels similar symbols, "random" none.
        bandwidth: of symbols from labels, see `hdc.label_symbols`. None takes 0.5 for queries from
            plans and 0.7 for texts, which are never as near to a label as labels to each other.
        length_weight: factor of the similarity of paths of 1, 2, ... hops to a query from text. Its
            hops bundle both directions, which makes each weigh 1/sqrt(2); the default makes up for
            that.
        alpha, beta, decay: weights of rarity and length in the calibrated score (Eq. 6); rarity is
            0 until schemas are counted in training questions, see `calibrated`.
        hops: L_max; None takes the planner's, or 3, or 2 where schemas are too many to list.
        beam: B, paths walked on after each hop where schemas are too many to list.
        keep: candidates a question that are calibrated.
        top_k: K, schemas whose walks an answer gives; its entities are those of the best. 1 is
            enough without a language model, the paper offers it 3.
        offered: what a language model is offered: "groups", lines of paths that differ in their
            last entity alone, or K distinct relation "paths", each with its score and what it
            ends in (Section 3.4; Tables 6 and 14).
        prompt: "ours", or as printed: "a" of Table 8, "b" of Table 15.
        refine: schemas that a language model may choose of the candidates, by one short call before
            they are executed (Appendix K); 0 asks none, as in the paper's experiments.
        metric: "block" (Eq. 5) or "flat" cosine (Algorithm 1).
        precision: of listed schemas: "float32", "bfloat16" or "int8".
        plans: plans a bundle is made of.
        threshold: least confidence of the planner to answer at all, see `PlannedSettings`; queries
            from text have none.
        join: what several topics of a question come to, see `Join`.
        revisit: which nodes a path may return to; None takes what the planner was trained with.
        batch_size: questions a batch.
    """

    query: QueryKind | None = None
    operator: str = "ghrr-haar"
    dimension: Count = 1024
    block: Count = 4
    symbols: Literal["labels", "random"] = "labels"
    bandwidth: Positive | None = None
    length_weight: tuple[float, ...] = (1.0, 1.4, 2.0, 2.8)
    hops: Count | None = None
    beam: Count = 16
    keep: Count = 16
    top_k: Count = 1
    offered: Literal["groups", "paths"] = "groups"
    prompt: Literal["ours", "a", "b"] = "ours"
    alpha: NotNegative = 0.0
    beta: NotNegative = 0.0
    decay: Share = 0.8
    refine: CountOrZero = 0
    metric: Literal["block", "flat"] = "block"
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    plans: Count = 4
    threshold: Share = 0.15
    join: Join = "auto"
    revisit: Revisit | None = None
    batch_size: Count = 256

    presets: ClassVar = {
        "paper": {
            "query": "plan",
            "symbols": "random",
            "dimension": 4096,
            "length_weight": (1.0,) * 4,
            "keep": 256,
            "top_k": 3,
            "offered": "paths",
            "prompt": "a",
            "alpha": 0.2,
            "beta": 0.1,
            "threshold": 0.0,
        }
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.hops or 1) > _MOST_HOPS:
            raise JaxkgError(f"hops are at most {_MOST_HOPS}, not {self.hops}")


def make_algebra(settings: PathHDSettings) -> hdc.Algebra:
    """The algebra that settings ask for."""
    options = {"layout": "pair"} if settings.operator.startswith(("ghrr", "fhrr")) else {}
    return hdc.operator(settings.operator, settings.dimension, m=settings.block, **options)
