"""PathQuestion, split 8:1:1 by (subject, path), answers only: planner, or ranked relation paths.

Both learn from paths that are mined from the answers; gold paths are taken away. Four minutes on
two CPU cores for one seed.

    python scripts/tables/table_pathquestion.py --seeds 3
    python scripts/tables/table_pathquestion.py --sets pql-2h --systems ranked --seeds 5
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.learn.ranker.fit import fit_ranker
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.systems.answering import QuestionAnswering
from jaxkg.systems.planned import PlannedQA, PlannedSettings
from jaxkg.systems.ranked import RankedPaths
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure
from lib.record import Record, arguments
from lib.rows import row
from lib.sets import PATHQUESTION, Sets, sets

METRICS = ("hits_at_1", "f1", "path_recall_at_1", "grounded")


def planner(world: Sets, training: Sequence[Question], seed: int) -> QuestionAnswering:
    """The best plan of a planner, whatever its confidence."""
    config = PlannerConfig(epochs=20)
    fitted, _ = fit_planner(
        world.kg, world.tensors, training, config=config, training=Training(seed)
    )
    settings = PlannedSettings(threshold=0.0)
    return PlannedQA.build(world.kg, fitted, tensors=world.tensors, settings=settings)


def ranked(world: Sets, training: Sequence[Question], seed: int) -> QuestionAnswering:
    """The best of all relation paths around the topic."""
    encoder = encoder_kept("minilm")
    fitted = fit_ranker(
        world.kg,
        world.tensors,
        training,
        encoder,
        directed=True,
        training=Training(seed, linker=world.linker),
    )
    return RankedPaths.build(world.kg, fitted, encoder, **world.shared)


SYSTEMS = {"planner": planner, "ranked": ranked}


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--sets", nargs="+", default=list(PATHQUESTION), choices=PATHQUESTION)
    parser.add_argument("--systems", nargs="+", default=["planner"], choices=SYSTEMS)
    parser.add_argument("--split", default="test", choices=("validation", "test"))
    parser.add_argument("--seeds", type=int, default=1, help="splits and weights to average over")
    options = parser.parse_args(argv)
    record = Record(__file__, options, part="" if "planner" in options.systems else "ranked")
    table = record.table("set", "system", "seed", "questions", *METRICS, "abstained")
    for name in options.sets:
        world = sets(name, options.data)
        for system in options.systems:
            values = []
            for seed in range(options.seeds):
                training = world.questions(name, "train", seed=seed)
                training = [dataclasses.replace(one, paths=()) for one in training]
                qa = SYSTEMS[system](world, training, seed)
                found = measure(qa, world.questions(name, options.split, seed=seed), world.kg)
                asked, abstained = found.counts["asked"], found.counts["abstained"]
                table.add(name, system, seed, asked, *row(found, METRICS), abstained)
                values.append(found.metrics["hits_at_1"].value)
            if options.seeds > 1:
                mean, spread = np.mean(values), np.std(values)
                told = f"mean hits_at_1 {mean:.4f}, standard deviation {spread:.4f}"
                record.note(f"{name}, {system}: {told}")
    record.save()


if __name__ == "__main__":
    main()
