"""The planner for a graph: the one given, or one made on first use and kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from jaxkg.cache import kept
from jaxkg.kg import KnowledgeGraph, demo_graph, demo_training_questions
from jaxkg.learn.planner.model import Planner
from jaxkg.tensors import TensorGraph

_RECIPE = "3"
"""Part of the key of every kept planner; changes when the way they are made does."""

_SHIPPED = Path(__file__).parent / "demo"
"""Planner of the built-in graph, so that a first question waits for no training: `jaxkg train
planner -o jaxkg/learn/planner/demo --fresh --set epochs=32 --set width=96 --set buckets=4096
--set learning_rate=5e-3 --set patience=8`."""


def planner_for(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    *,
    folder: str | os.PathLike[str] | None = None,
    seed: int = 0,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Planner:
    """Open a planner, or make one without questions and save it for the next time.

    Args:
        kg, tensors: the graph.
        folder: folder of a trained planner. None takes the shipped planner of the demo graph. For
            another graph it takes the planner in the cache, or makes one from relation labels.
        seed: random seed of the training. The demo graph's planner is shipped for seed 0; for
            another seed it is trained on the demo questions.
        on_progress: called with (stage, done, total).

    Raises:
        JaxkgError: the planner in `folder` is damaged, absent or of another graph.
    """

    def opened(folder: str | os.PathLike[str]) -> Planner:
        planner = Planner.open(folder)
        planner.check_graph(kg)
        return planner

    if folder is not None:
        return opened(folder)
    if seed == 0 and kg.fingerprint == demo_graph().fingerprint:
        return opened(_SHIPPED)

    def made() -> Planner:
        if on_progress:
            on_progress("making a planner for this graph", 0, 1)
        # Who opens a planner needs none of what trains one, nor its libraries.
        if kg.fingerprint != demo_graph().fingerprint:
            from jaxkg.learn.planner.labels import planner_from_labels

            return planner_from_labels(kg, tensors, seed=seed, on_progress=on_progress)
        from jaxkg.learn.planner.fit import fit_planner
        from jaxkg.learn.planner.train import PlannerConfig
        from jaxkg.learn.supervision import Training

        planner, _ = fit_planner(
            kg,
            tensors,
            demo_training_questions(),
            config=PlannerConfig(epochs=16),
            training=Training(seed=seed, on_progress=on_progress),
        )
        return planner

    return kept("planners", _key(kg, seed), opened=opened, made=made, saved=Planner.save)


def _key(kg: KnowledgeGraph, seed: int) -> str:
    return hashlib.sha256(f"{_RECIPE}:{seed}:{kg.fingerprint}".encode()).hexdigest()[:24]
