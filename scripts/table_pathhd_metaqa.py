"""PathHD on MetaQA without a language model, fed by the planner: its plans bundled, vectors only.

The planner, trained on the dev questions' answers (no hop count, no path labels) or opened, chooses
the relation paths: these rows say what hypervectors cost and that they lose nothing, not that they
find paths. Quality for every hop count and the speed of each stage. Ten minutes on two CPU cores.

    python scripts/table_pathhd_metaqa.py --planner runs/metaqa
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jaxkg.experiments.measure import measure
from jaxkg.experiments.record import Record, arguments
from jaxkg.experiments.rows import row
from jaxkg.experiments.seconds import Laps
from jaxkg.experiments.sets import sets
from jaxkg.kg import find_topics
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question
from jaxkg.systems.pathhd import PathHD, PathHDSettings

METRICS = ("hits_at_1", "micro_f1", "path_recall_at_1", "grounded")


def stages(qa: PathHD, questions: Sequence[Question]) -> list[float]:
    """Seconds to plan, retrieve and follow, for all questions, topics already linked."""
    topics, laps = find_topics(qa.linker, questions), Laps()
    asked = qa.read(questions, topics)
    plan = laps.lap()
    found = qa.retrieve(asked, topics)
    retrieve = laps.lap()
    qa.ground(found, topics)
    return [plan, retrieve, laps.lap()]


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--planner", type=Path, help="folder of a trained planner")
    parser.add_argument("--hops", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--limit", type=int, help="questions of each hop count; all without")
    parser.add_argument("--dimension", type=int, default=PathHDSettings.dimension)
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16", "int8"))
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("metaqa", options.data)
    if options.planner:
        planner = Planner.open(options.planner)
    else:
        planner, _ = fit_planner(world.kg, world.tensors, world.every("dev"), seed=options.seed)
    settings = PathHDSettings(dimension=options.dimension, precision=options.precision)
    qa = PathHD.build(
        world.kg, planner, tensors=world.tensors, settings=settings, seed=options.seed
    )
    assert qa.schemas is not None
    record.note(
        f"d = {settings.dimension:,}, {settings.precision}, batches of {settings.batch_size}, "
        f"{qa.schemas.count:,} schemas"
    )
    each = ("plan µs", "retrieve µs", "follow µs")
    table = record.table("hops", "questions", *METRICS, "questions/s", *each)
    for hop in options.hops:
        questions = world.questions(f"metaqa-{hop}", options.split, limit=options.limit)
        stages(qa, questions[:1024])  # compile, and find the capacities
        best = min((stages(qa, questions) for _ in range(3)), key=sum)
        found = measure(qa, questions, world.kg, options.seed)
        rate, micros = len(questions) / sum(best), [1e6 * s / len(questions) for s in best]
        table.add(hop, len(questions), *row(found, METRICS), rate, *micros)
    record.save()


if __name__ == "__main__":
    main()
