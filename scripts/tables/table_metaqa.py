"""MetaQA, planner and exact execution: trained on the dev questions' answers, measured on test.

No hop count, no path labels; 10 % of dev only chooses the epoch. Quality with and without brackets
around the topic, training and answering times and peak memory. Ten minutes on two CPU cores.

With --pathhd the planner's plans are bundled as hypervectors, and PathHD retrieves by them alone.
The planner still chooses the relation paths: these rows say what hypervectors cost and that they
lose nothing, not that they find paths.

    python scripts/tables/table_metaqa.py -o runs/metaqa
    python scripts/tables/table_metaqa.py --planner runs/metaqa --pathhd
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from jaxkg.experiments.programs import peak_memory
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.supervision import Training
from jaxkg.records import Question
from jaxkg.search.plans import execute_paths
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.systems.planned import PlannedQA

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure
from lib.record import Record, arguments
from lib.rows import row
from lib.seconds import Laps
from lib.sets import sets

METRICS = ("micro_f1", "f1", "hits_at_1", "exact_set", "path_recall_at_1", "grounded")
STAGES = ("plan", "retrieve", "follow")


def stages(qa: PlannedQA | PathHD, questions: Sequence[Question]) -> list[float]:
    """Seconds to plan, retrieve and follow with witnesses, topics already linked."""
    linked, laps = qa.link(questions), Laps()
    if isinstance(qa, PlannedQA):
        paths = qa.propose(linked)
        plan = laps.lap()
        execute_paths(qa.tensors, linked.starts, paths.relations[:, 0], revisit=qa.revisit)
        return [plan, 0.0, laps.lap()]
    asked = qa.read(questions, linked.topics)
    plan = laps.lap()
    found = qa.retrieve(asked, linked.topics)
    retrieve = laps.lap()
    qa.ground(found, linked.topics)
    return [plan, retrieve, laps.lap()]


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("-o", "--output", type=Path, help="save the planner here")
    parser.add_argument("--planner", type=Path, help="measure this planner, trained before")
    parser.add_argument("--hops", type=int, nargs="+", default=(1, 2, 3), choices=(1, 2, 3))
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--limit", type=int, help="first questions of each hop count only")
    parser.add_argument("--pathhd", action="store_true", help="feed PathHD with the plans")
    parser.add_argument("--dimension", type=int, default=PathHDSettings.dimension, help="of PathHD")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16", "int8"))
    options = parser.parse_args(argv)
    record = Record(__file__, options, part="pathhd" if options.pathhd else "")
    world = sets("metaqa", options.data)
    if options.planner:
        planner = Planner.open(options.planner)
    else:
        dev, laps = world.every("dev"), Laps()
        planner, fit = fit_planner(world.kg, world.tensors, dev, training=Training(options.seed))
        record.note(f"mining and training on {len(dev):,} dev questions: {laps.lap():.0f} s")
        record.note(f"held-out expected F1 {fit.held_out_f1:.4f}, mined F1 {fit.mined_f1:.4f}")
        if options.output:
            planner.save(options.output)
    qa = PlannedQA.build(world.kg, planner, **world.shared)
    if options.pathhd:
        settings = PathHDSettings(dimension=options.dimension, precision=options.precision)
        qa = PathHD.build(world.kg, planner, settings=settings, seed=options.seed, **world.shared)
        record.note(f"d = {settings.dimension:,}, {settings.precision}")
    micros = (f"{stage} µs" for stage in STAGES)
    table = record.table("hops", "topic", *METRICS, "abstained", "questions/s", *micros)
    for hop in options.hops:
        questions = world.questions(f"metaqa-{hop}", options.split, limit=options.limit)
        stages(qa, questions)  # compile, and find the capacities
        best = min((stages(qa, questions) for _ in range(3)), key=sum)
        speed = [len(questions) / sum(best), *(1e6 * s / len(questions) for s in best)]
        for given, name in ((True, "given"), (False, "linked")):
            found = measure(qa, questions, world.kg, options.seed, use_given=given)
            table.add(hop, name, *row(found, METRICS), found.counts["abstained"], *speed)
    record.note(f"peak memory of the process {peak_memory() / 1e9:.2f} GB")
    record.save()


if __name__ == "__main__":
    main()
