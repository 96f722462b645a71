"""MetaQA, planned search: a scripted teacher that gives the gold plan, and the planner it teaches.

The teacher answers as a language model would, one JSON reply to one prompt a question, so the row
measures everything but the model: reading, matching, executing. Its traces of dev questions then
train the local planner, which answers the test questions without a call.

    python scripts/table_llm_planned.py -o runs/distilled
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from jaxkg.adjudicate import Request, Scripted
from jaxkg.cite import grounded
from jaxkg.evaluate import Report, evaluate, prediction_line
from jaxkg.kg import KnowledgeGraph, Linker, read_graph, read_questions
from jaxkg.learn.planner.agreement import compare_with_teacher
from jaxkg.learn.planner.distill import distill
from jaxkg.learn.planner.model import Planner
from jaxkg.learn.planner.traces import PlanTrace
from jaxkg.records import Question
from jaxkg.systems.llm_planned.system import LLMPlannedQA
from jaxkg.systems.planned import PlannedQA
from jaxkg.tensors import tensor_graph

METRICS = ("micro_f1", "f1", "hits_at_1", "hit_any", "exact_set", "grounded", "calls")


def gold_teacher(questions: Sequence[Question]) -> Scripted:
    """A backend that replies with each question's gold relation path, as JSON."""
    gold = {question.id: question.paths[0] for question in questions}

    def reply(request: Request) -> str:
        path = gold[request.question]
        return json.dumps({"reasoning": "gold", "hops": [[name] for name in path]})

    return Scripted(reply, model="gold-plan")


def report(
    qa: LLMPlannedQA | PlannedQA, kg: KnowledgeGraph, questions: Sequence[Question], seed: int
) -> Report:
    """Metrics of one question set, citations checked."""

    def name_of(id: str) -> str | None:
        return kg.name(row[0]) if (row := kg.entity_ids.rows(id)) else None

    lines = []
    for first in range(0, len(questions), 2048):
        chunk = questions[first : first + 2048]
        lines += [
            prediction_line(question, answer, check=lambda a: grounded(kg, a), name_of=name_of)
            for question, answer in zip(chunk, qa.answer(chunk))
        ]
    return evaluate(lines, seed=seed)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="save the distilled planner here")
    parser.add_argument("--student", type=Path, help="measure this planner, distilled before")
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--traces", type=int, default=10_000, help="dev questions a hop to teach")
    parser.add_argument(
        "--hops", type=int, nargs="+", default=[1, 2, 3], choices=[1, 2, 3], help="rows to measure"
    )
    parser.add_argument("--limit", type=int, help="first questions of each set only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="save the rows here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "metaqa"
    kg = read_graph(folder / "kb.txt")
    tensors = tensor_graph(kg)
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {os.cpu_count()} cores\n")

    rows: list[dict[str, object]] = []
    print(f"| planned by | hops | {' | '.join(METRICS)} | questions/s |", flush=True)
    print("|---" * (len(METRICS) + 3) + "|")

    def row(name: str, hop: int, qa: LLMPlannedQA | PlannedQA, asked: Sequence[Question]) -> None:
        begin = time.perf_counter()
        found = report(qa, kg, asked, options.seed)
        rate = len(asked) / (time.perf_counter() - begin)
        cells = [
            f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})"
            for e in (found.metrics[metric] for metric in METRICS)
        ]
        print(f"| {name} | {hop} | {' | '.join(cells)} | {rate:,.0f} |", flush=True)
        values = {metric: found.metrics[metric].value for metric in METRICS}
        rows.append({"planner": name, "hops": hop, **values, "counts": dict(found.counts)})

    sets = {
        hop: read_questions(folder / f"{hop}-hop" / f"qa_{options.split}.txt")[: options.limit]
        for hop in options.hops
    }
    linker = Linker(kg)
    if options.student:
        student = PlannedQA.build(kg, Planner.open(options.student), tensors=tensors, linker=linker)
        for hop, asked in sets.items():
            row("distilled, no call", hop, student, asked)
        return
    for hop, asked in sets.items():
        qa = LLMPlannedQA.build(kg, gold_teacher(asked), tensors=tensors, linker=linker)
        row("teacher, gold plan", hop, qa, asked)

    traces: list[PlanTrace] = []
    draw = np.random.default_rng(options.seed)
    for hop in (1, 2, 3):
        dev = read_questions(folder / f"{hop}-hop" / "qa_dev.txt")
        some = [dev[i] for i in sorted(draw.permutation(len(dev))[: options.traces].tolist())]
        teacher = LLMPlannedQA.build(
            kg, gold_teacher(some), tensors=tensors, linker=linker, on_trace=traces.append
        )
        for first in range(0, len(some), 2048):
            teacher.answer(some[first : first + 2048])
    begin = time.perf_counter()
    planner, aside, fit = distill(kg, traces, seed=options.seed)
    seconds = time.perf_counter() - begin
    beside = compare_with_teacher(kg, tensors, planner, aside)
    if options.output:
        about = {**planner.about, "agreement": dataclasses.asdict(beside)}
        dataclasses.replace(planner, about=about).save(options.output)
    student = PlannedQA.build(kg, planner, tensors=tensors, linker=linker)
    for hop, asked in sets.items():
        row("distilled, no call", hop, student, asked)
    print(f"\ndistilled from {fit.traces:,} traces in {seconds:.0f} s, {len(fit.epochs)} epochs")
    print(
        f"on {beside.questions:,} held-out dev questions: same plan {beside.same_plan:.4f}, mean "
        f"F1 {beside.student_f1:.4f}, of the teacher's {beside.teacher_f1:.4f}"
    )
    if options.json:
        about = {"distilled": dataclasses.asdict(fit), "agreement": dataclasses.asdict(beside)}
        options.json.write_text(json.dumps({"rows": rows, **about}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
