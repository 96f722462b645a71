"""MetaQA, planner and exact execution: trained on the dev questions' answers, measured on test.

No hop count, no path labels; 10 % of dev only chooses the epoch. Prints quality with and without
brackets around the topic, training and answering times and peak memory.

    python scripts/table_metaqa.py -o runs/metaqa
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import jax

from jaxkg.cite import grounded
from jaxkg.evaluate import evaluate, prediction_line
from jaxkg.kg import find_topics, read_graph, read_questions
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.search.plans import execute_paths
from jaxkg.systems.planned import PlannedQA
from jaxkg.tensors import tensor_graph

METRICS = ("micro_f1", "f1", "hits_at_1", "exact_set", "path_recall_at_1", "grounded")


def throughput(qa: PlannedQA, questions, topics) -> float:
    """Questions a second of planning and execution with witnesses, topics already linked."""
    begin = time.perf_counter()
    masked = masked_texts(questions, topics)
    plans = qa.plan(masked, topics)
    execute_paths(
        qa.tensors, [t.entities for t in topics], plans.relations[:, 0], revisit=qa.revisit
    )
    return len(questions) / (time.perf_counter() - begin)


def report(qa: PlannedQA, questions, *, use_given: bool, seed: int):
    """Metrics of one question set, citations checked."""

    def name_of(id: str) -> str | None:
        return qa.kg.name(row[0]) if (row := qa.kg.entity_ids.rows(id)) else None

    lines = []
    for first in range(0, len(questions), 2048):
        chunk = questions[first : first + 2048]
        lines += [
            prediction_line(question, answer, check=lambda a: grounded(qa.kg, a), name_of=name_of)
            for question, answer in zip(chunk, qa.answer(chunk, use_given=use_given))
        ]
    return evaluate(lines, seed=seed)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="save the planner here")
    parser.add_argument("--planner", type=Path, help="measure this planner, trained before")
    parser.add_argument("--hops", type=int, nargs="+", default=(1, 2, 3), choices=(1, 2, 3))
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "metaqa"
    kg = read_graph(folder / "kb.txt")
    tensors = tensor_graph(kg)
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {os.cpu_count()} cores")
    if options.planner:
        planner = Planner.open(options.planner)
        print(f"planner of {options.planner}, {dict(planner.about)}\n")
    else:
        dev = [q for hop in (1, 2, 3) for q in read_questions(folder / f"{hop}-hop" / "qa_dev.txt")]
        begin = time.perf_counter()
        planner, fit = fit_planner(kg, tensors, dev, seed=options.seed)
        seconds = time.perf_counter() - begin
        if options.output:
            planner.save(options.output)
        print(f"mining and training on {len(dev):,} dev questions: {seconds:.0f} s")
        print(f"held-out expected F1 {fit.held_out_f1:.4f}, mined F1 {fit.mined_f1:.4f}\n")
    qa = PlannedQA.build(kg, planner, tensors=tensors)

    print(f"| hops | topic | {' | '.join(METRICS)} | abstained |")
    print("|---" * (len(METRICS) + 3) + "|")
    speed = {}
    for hop in options.hops:
        questions = read_questions(folder / f"{hop}-hop" / f"qa_{options.split}.txt")
        topics = find_topics(qa.linker, questions)
        throughput(qa, questions, topics)  # compile, and find the capacities
        speed[hop] = max(throughput(qa, questions, topics) for _ in range(3))
        for use_given, name in ((True, "given"), (False, "linked")):
            found = report(qa, questions, use_given=use_given, seed=options.seed)
            cells = [
                f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})"
                for e in (found.metrics[name] for name in METRICS)
            ]
            print(f"| {hop} | {name} | {' | '.join(cells)} | {found.counts['abstained']} |")
    print("\nplanning and execution with witnesses, questions/s: ", end="")
    print(", ".join(f"{hop}-hop {rate:,.0f}" for hop, rate in speed.items()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory of the process {peak:.2f} GB")


if __name__ == "__main__":
    main()
