"""MetaQA, planner and exact execution: trained on the dev questions' answers, measured on test.

No hop count, no path labels; 10 % of dev only chooses the epoch. Quality with and without brackets
around the topic, training and answering times and peak memory. Ten minutes on two CPU cores.

    python scripts/table_metaqa.py -o runs/metaqa
"""

from __future__ import annotations

import resource
from pathlib import Path

from jaxkg.experiments.measure import measure
from jaxkg.experiments.record import Record, arguments
from jaxkg.experiments.rows import row
from jaxkg.experiments.seconds import Laps, best_seconds
from jaxkg.experiments.sets import sets
from jaxkg.kg import find_topics
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.search.plans import execute_paths
from jaxkg.systems.planned import PlannedQA

METRICS = ("micro_f1", "f1", "hits_at_1", "exact_set", "path_recall_at_1", "grounded")


def throughput(qa: PlannedQA, questions) -> float:
    """Questions a second of planning and execution with witnesses, topics already linked."""
    topics = find_topics(qa.linker, questions)

    def run() -> None:
        plans = qa.plan(masked_texts(questions, topics), topics)
        starts = [topic.entities for topic in topics]
        execute_paths(qa.tensors, starts, plans.relations[:, 0], revisit=qa.revisit)

    return len(questions) / best_seconds(run)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("-o", "--output", type=Path, help="save the planner here")
    parser.add_argument("--planner", type=Path, help="measure this planner, trained before")
    parser.add_argument("--hops", type=int, nargs="+", default=(1, 2, 3), choices=(1, 2, 3))
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("metaqa", options.data)
    if options.planner:
        planner = Planner.open(options.planner)
    else:
        dev, laps = world.every("dev"), Laps()
        planner, fit = fit_planner(world.kg, world.tensors, dev, seed=options.seed)
        record.note(f"mining and training on {len(dev):,} dev questions: {laps.lap():.0f} s")
        record.note(f"held-out expected F1 {fit.held_out_f1:.4f}, mined F1 {fit.mined_f1:.4f}")
        if options.output:
            planner.save(options.output)
    qa = PlannedQA.build(world.kg, planner, **world.shared)
    table = record.table("hops", "topic", *METRICS, "abstained")
    for hop in options.hops:
        questions = world.questions(f"metaqa-{hop}", options.split)
        rate = throughput(qa, questions)
        for given, name in ((True, "given"), (False, "linked")):
            found = measure(qa, questions, world.kg, options.seed, use_given=given)
            table.add(hop, name, *row(found, METRICS), found.counts["abstained"])
        record.note(f"{hop}-hop planning and execution with witnesses: {rate:,.0f} questions/s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    record.note(f"peak memory of the process {peak:.2f} GB")
    record.save()


if __name__ == "__main__":
    main()
