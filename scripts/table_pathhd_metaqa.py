"""PathHD on MetaQA without a language model: a bundle of the planner's plans, vectors only.

The planner is trained on the dev questions' answers (no hop count, no path labels) or opened.
Prints quality for every hop count and the speed of each stage.

    python scripts/table_pathhd_metaqa.py --planner runs/metaqa
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

from jaxkg.cite import grounded
from jaxkg.evaluate import evaluate, prediction_line
from jaxkg.kg import find_topics, read_graph, read_questions
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.tensors import tensor_graph

METRICS = ("hits_at_1", "micro_f1", "path_recall_at_1", "grounded")


def stages(qa: PathHD, questions: Sequence[Question]) -> dict[str, float]:
    """Seconds of each stage for all questions, topics already linked."""
    topics = find_topics(qa.linker, questions)
    clock = [time.perf_counter()]
    asked = qa.read(questions, topics)
    clock.append(time.perf_counter())
    found = qa.retrieve(asked, topics)
    clock.append(time.perf_counter())
    qa.ground(found, topics)
    clock.append(time.perf_counter())
    return dict(zip(("plan", "retrieve", "follow"), np.diff(clock).tolist()))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--planner", type=Path, help="folder of a trained planner")
    parser.add_argument("--hops", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--limit", type=int, help="questions of each hop count; all without")
    parser.add_argument("--dimension", type=int, default=PathHDSettings.dimension)
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16", "int8"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "metaqa"
    kg = read_graph(folder / "kb.txt")
    tensors = tensor_graph(kg)
    if options.planner:
        planner = Planner.open(options.planner)
    else:
        dev = [q for hop in (1, 2, 3) for q in read_questions(folder / f"{hop}-hop" / "qa_dev.txt")]
        planner, _ = fit_planner(kg, tensors, dev, seed=options.seed)
    settings = PathHDSettings(dimension=options.dimension, precision=options.precision)
    qa = PathHD.build(kg, planner, tensors=tensors, settings=settings, seed=options.seed)
    assert qa.schemas is not None
    print(
        f"device {jax.devices()[0]}, jax {jax.__version__}, {os.cpu_count()} cores; "
        f"d = {settings.dimension:,}, {settings.precision}, batches of {settings.batch_size}, "
        f"{qa.schemas.count:,} schemas\n"
    )
    print(f"| hops | questions | {' | '.join(METRICS)} | questions/s | plan, retrieve, follow |")
    print("|---" * (len(METRICS) + 4) + "|")
    rows = []
    for hop in options.hops:
        questions = read_questions(folder / f"{hop}-hop" / f"qa_{options.split}.txt")
        questions = questions[: options.limit]
        stages(qa, questions[:1024])  # compile, and find the capacities
        runs = [stages(qa, questions) for _ in range(3)]
        best = min(runs, key=lambda run: sum(run.values()))
        rate = len(questions) / sum(best.values())
        lines = [
            prediction_line(
                question,
                answer,
                check=lambda a: grounded(kg, a),
                name_of=lambda id: kg.name(rows[0]) if (rows := kg.entity_ids.rows(id)) else None,
            )
            for first in range(0, len(questions), 2048)
            for question, answer in zip(
                questions[first : first + 2048], qa.answer(questions[first : first + 2048])
            )
        ]
        found = evaluate(lines, seed=options.seed)
        cells = [
            f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})" for e in (found.metrics[m] for m in METRICS)
        ]
        split = ", ".join(f"{1e6 * seconds / len(questions):.0f} µs" for seconds in best.values())
        print(
            f"| {hop} | {len(questions):,} | {' | '.join(cells)} | {rate:,.0f} | {split} |",
            flush=True,
        )
        metrics = {name: dataclasses.asdict(found.metrics[name]) for name in METRICS}
        rows.append({"hops": hop, "rate": rate, "stages": best, **metrics})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
