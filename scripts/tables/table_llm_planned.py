"""MetaQA, planned search: a scripted teacher that gives the gold plan, and the planner it teaches.

The teacher answers as a language model would, one JSON reply to one prompt a question, so the row
measures everything but the model: reading, matching, executing. Its traces of dev questions then
train the local planner, which answers the test questions without a call. A quarter of an hour on
two CPU cores.

    python scripts/tables/table_llm_planned.py -o runs/distilled
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.adjudicate import Request, Scripted
from jaxkg.experiments.measure import CHUNK
from jaxkg.learn.planner.agreement import compare_with_teacher
from jaxkg.learn.planner.distill import distill
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.records import Question
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.planned import PlannedQA

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure
from lib.record import Record, arguments
from lib.rows import row
from lib.seconds import Laps
from lib.sets import Sets, sets

METRICS = ("micro_f1", "f1", "hits_at_1", "hit_any", "exact_set", "grounded", "calls")


def gold_teacher(questions: Sequence[Question]) -> Scripted:
    """A backend that replies with each question's gold relation path, as JSON."""
    gold = {question.id: question.paths[0] for question in questions}

    def reply(request: Request) -> str:
        path = gold[request.question]
        return json.dumps({"reasoning": "gold", "hops": [[name] for name in path]})

    return Scripted(reply, model="gold-plan")


def teacher_traces(world: Sets, questions: Sequence[Question]) -> list[PlanTrace]:
    """What the teacher said of each question, its plans held against the graph and executed."""
    traces: list[PlanTrace] = []
    qa = LLMPlannedQA.build(
        world.kg, gold_teacher(questions), on_trace=traces.append, **world.shared
    )
    for first in range(0, len(questions), CHUNK):
        qa.answer(questions[first : first + CHUNK])
    return traces


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("-o", "--output", type=Path, help="save the distilled planner here")
    parser.add_argument("--student", type=Path, help="measure this planner, distilled before")
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--traces", type=int, default=10_000, help="dev questions a hop to teach")
    parser.add_argument(
        "--hops", type=int, nargs="+", default=[1, 2, 3], choices=[1, 2, 3], help="rows to measure"
    )
    parser.add_argument("--limit", type=int, help="first questions of each set only")
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("metaqa", options.data)
    asked = {
        hop: world.questions(f"metaqa-{hop}", options.split, limit=options.limit)
        for hop in options.hops
    }
    table = record.table("planned by", "hops", *METRICS, "questions/s")

    def add(name: str, hop: int, qa: LLMPlannedQA | PlannedQA) -> None:
        laps = Laps()
        found = measure(qa, asked[hop], world.kg, options.seed)
        table.add(name, hop, *row(found, METRICS), len(asked[hop]) / laps.lap())

    if options.student:
        planner = Planner.open(options.student)
    else:
        for hop, some in asked.items():
            qa = LLMPlannedQA.build(world.kg, gold_teacher(some), **world.shared)
            add("teacher, gold plan", hop, qa)
        planner = taught(world, options, record)
    student = PlannedQA.build(world.kg, planner, **world.shared)
    for hop in asked:
        add("distilled, no call", hop, student)
    record.save()


def taught(world: Sets, options, record: Record) -> Planner:
    """A planner distilled from the teacher's traces of dev questions."""
    traces: list[PlanTrace] = []
    draw = np.random.default_rng(options.seed)
    for hop in (1, 2, 3):
        dev = world.questions(f"metaqa-{hop}", "dev")
        order = sorted(draw.permutation(len(dev))[: options.traces].tolist())
        traces += teacher_traces(world, [dev[i] for i in order])
    laps = Laps()
    planner, aside, fit = distill(world.kg, traces, seed=options.seed)
    record.note(f"distilled from {fit.traces:,} traces in {laps.lap():.0f} s")
    beside = compare_with_teacher(world.kg, world.tensors, planner, aside)
    record.note(
        f"on {beside.questions:,} held-out dev questions: same plan {beside.same_plan:.4f}, mean "
        f"F1 {beside.student_f1:.4f}, of the teacher's {beside.teacher_f1:.4f}"
    )
    planner = dataclasses.replace(
        planner, about={**planner.about, "agreement": dataclasses.asdict(beside)}
    )
    if options.output:
        planner.save(options.output)
    return planner


if __name__ == "__main__":
    main()
