"""Each method's `paper` preset beside its default, on the same questions, with paired intervals.

PathHD is fed by a planner that is trained for every seed, ReKnoS reads labels and draws nothing:
one run stands for all seeds. PathMind's presets are trained apart (`table_pathmind.py`), guided
search's take the full schedule (`table_guided.py`). Some minutes a set.

    python scripts/study/study_presets.py pq-2h pq-3h
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.systems.reknos import LabelScorer, ReKnoS, ReKnoSSettings

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import Answers, measure, share
from lib.record import Record, arguments
from lib.sets import PATHQUESTION, Sets, sets

METRICS = ("hits_at_1", "f1")


def preset(default: Any) -> Any:
    """The same settings as printed."""
    return dataclasses.replace(default, **default.presets["paper"])


def systems(
    world: Sets, name: str, seeds: int, epochs: int
) -> Iterator[tuple[str, list[Callable[[Any], Answers]], Any]]:
    """Method, what makes it of settings for each seed, and its default settings."""
    kg, training = world.kg, world.questions(name, "train")

    def pathhd(seed: int) -> Callable[[Any], Answers]:
        config = PlannerConfig(epochs=epochs)
        planner, _ = fit_planner(kg, world.tensors, training, config=config, seed=seed)
        return lambda settings: PathHD.build(
            kg, planner, settings=settings, seed=seed, **world.shared
        )

    def reknos(settings: Any) -> Answers:
        return ReKnoS.build(kg, LabelScorer(kg.relations), settings=settings, **world.shared)

    yield "PathHD, fed by a planner", [pathhd(seed) for seed in range(seeds)], PathHDSettings()
    yield "ReKnoS, label scorer", [reknos], ReKnoSSettings()


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="+", choices=PATHQUESTION)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=6, help="of a planner")
    parser.add_argument("--limit", type=int, help="questions of a set at most")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    table = record.table("set", "method", "metric", "default", "paper", "paper − default")
    for name in options.sets:
        world = sets(name, options.data)
        questions = world.questions(name, limit=options.limit)
        record.note(f"{name}: {len(questions)} test questions")
        for method, makers, default in systems(world, name, options.seeds, options.epochs):
            # A question counts as the mean over the seeds.
            found = {
                arm: [measure(make(settings), questions, world.kg).columns for make in makers]
                for arm, settings in (("default", default), ("paper", preset(default)))
            }
            for metric in METRICS:
                mean = {k: np.mean([c[metric] for c in v], axis=0) for k, v in found.items()}
                ones = np.ones((len(questions), 1))
                [gain] = ratio_estimates(
                    mean["paper"][:, None], ones, minus=(mean["default"][:, None], ones)
                )
                both = share(mean["default"]), share(mean["paper"])
                told = f"{method}, {len(makers)} seeds" if len(makers) > 1 else method
                table.add(name, told, metric, *both, gain)
    record.save()


if __name__ == "__main__":
    main()
