"""PathQuestion: planner and exact execution, split 8:1:1 by (subject, path), answers only.

Four minutes on two CPU cores for one seed.

    python scripts/tables/table_pathquestion.py --seeds 3
"""

from __future__ import annotations

import numpy as np

from jaxkg.experiments.measure import measure
from jaxkg.experiments.record import Record, arguments
from jaxkg.experiments.rows import row
from jaxkg.experiments.sets import PATHQUESTION, sets
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.systems.planned import PlannedQA, PlannedSettings

METRICS = ("hits_at_1", "f1", "path_recall_at_1", "grounded")


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--sets", nargs="+", default=list(PATHQUESTION), choices=PATHQUESTION)
    parser.add_argument("--split", default="test", choices=("validation", "test"))
    parser.add_argument("--seeds", type=int, default=1, help="splits and weights to average over")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    table = record.table("set", "seed", "questions", *METRICS, "abstained")
    for name in options.sets:
        world, values = sets(name, options.data), []
        for seed in range(options.seeds):
            training = world.questions(name, "train", seed=seed)
            planner, _ = fit_planner(
                world.kg, world.tensors, training, config=PlannerConfig(epochs=20), seed=seed
            )
            qa = PlannedQA.build(
                world.kg, planner, tensors=world.tensors, settings=PlannedSettings(threshold=0.0)
            )
            found = measure(qa, world.questions(name, options.split, seed=seed), world.kg)
            counts = found.counts
            table.add(name, seed, counts["asked"], *row(found, METRICS), counts["abstained"])
            values.append(found.metrics["hits_at_1"].value)
        if options.seeds > 1:
            mean, spread = np.mean(values), np.std(values)
            record.note(f"{name}: mean hits_at_1 {mean:.4f}, standard deviation {spread:.4f}")
    record.save()


if __name__ == "__main__":
    main()
