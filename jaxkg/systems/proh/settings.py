"""What distinguishes PRoH, PRoH-L and retrieval alone."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from jaxkg.search.hyperedges import BeamSettings
from jaxkg.settings import Checked, Count, CountOrZero
from jaxkg.systems.proh.retrieval import RetrievalSettings


@dataclasses.dataclass(frozen=True)
class ProhSettings(Checked):
    """Knobs of planning and reasoning; thresholds and widths are ours, as the paper gives none.

    The preset "paper" lifts the caps that the paper does not have (256 and 1,024 stand for none)
    and takes hyperedges by their names alone, without a share of their chunks' vectors.

    Attributes:
        plan_depth: d_p, layers of facts that a plan is drafted from.
        plan_width: facts of a layer.
        plans: n_0, plans drafted.
        solutions: K, completed plans that are enough.
        order: how states are searched: depth-first or breadth-first.
        entity_scores: True lets the model weigh entities (Eq. 4, PRoH), False takes their
            similarity (PRoH-L).
        threshold: theta_emb, least similarity of an entity that is weighed.
        sources: True gives a sub-question the descriptions of entities and the chunks of facts,
            False the facts alone (PRoH-L).
        beam: of the search for a sub-question; its depth is d_max.
        chains: paths shown to the model at once.
        answers: paths of a sub-question that are answered from, at most.
        branches: joint assignments of a level that are followed, at most.
        states: states visited, at most.
        keywords: True asks the model what each sub-question is about, as it is asked of the
            question; False takes the names in it and the earlier answers filled into it.
        whole: True asks the question in one piece where no plan can be completed.
        neighbourhood: D_max, hops around the anchors that the search keeps to.
        retrieval: of anchors, and of the answer without a model.
        names: entities that an inner question is taken to be answered by where there is no model,
            see `jaxkg.systems.proh.decompose`; 0 asks each question in one piece.
        repair: allow one more call for each reply that cannot be read.
        batch_size: questions under way at once; what they ask goes out together. No part of what
            is answered.
    """

    plan_depth: Count = 3
    plan_width: Count = 12
    plans: Count = 2
    solutions: Count = 2
    order: Literal["depth", "breadth"] = "depth"
    entity_scores: bool = True
    threshold: float = 0.2
    sources: bool = True
    beam: BeamSettings = dataclasses.field(
        default_factory=lambda: BeamSettings(depth=3, width=8, seeds=16, threshold=0.0)
    )
    chains: Count = 16
    answers: Count = 2
    branches: Count = 4
    states: Count = 16
    keywords: bool = False
    whole: bool = True
    neighbourhood: Count = 3
    retrieval: RetrievalSettings = dataclasses.field(
        default_factory=lambda: RetrievalSettings(targets=8, target_threshold=0.3, topics=2)
    )
    names: CountOrZero = 0
    repair: bool = False
    batch_size: Count = dataclasses.field(default=16, repr=False)

    presets: ClassVar = {
        "paper": {
            "beam": BeamSettings(depth=3, width=8, seeds=256),
            "chains": 256,
            "answers": 256,
            "branches": 1024,
            "states": 1024,
            "keywords": True,
            "whole": False,
            "retrieval": RetrievalSettings(
                targets=8, target_threshold=0.3, topics=2, chunk_share=0.0
            ),
        }
    }


PROH = ProhSettings()
"""PRoH: d_p = 3, d_max = 3, n_0 = 2, K = 2."""

PROH_L = ProhSettings(plan_depth=2, plans=1, solutions=1, entity_scores=False, sources=False)
"""PRoH-L: d_p = 2, d_max = 3, n_0 = 1, K = 1; weights by embedding, facts alone as context."""
