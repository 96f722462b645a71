"""PathQuestion: planner and exact execution, split 8:1:1 by (subject, path), answers only.

python scripts/table_pathquestion.py --seeds 3
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import jax
import numpy as np

from jaxkg.cite import grounded
from jaxkg.evaluate import evaluate, prediction_line
from jaxkg.kg import read_graph, read_questions, split_questions
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.train import PlannerConfig
from jaxkg.systems.planned import PlannedQA, PlannedSettings
from jaxkg.tensors import tensor_graph

SETS = {
    "PQ-2H": ("2H-kb.txt", "PQ-2H.txt"),
    "PQ-3H": ("3H-kb.txt", "PQ-3H.txt"),
    "PQL-2H": ("PQL2-KB.txt", "PQL-2H.txt"),
}
METRICS = ("hits_at_1", "f1", "path_recall_at_1", "grounded")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--split", default="test", choices=("validation", "test"))
    parser.add_argument("--seeds", type=int, default=1, help="splits and weights to average over")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "pathquestion"
    print(f"device {jax.devices()[0]}, jax {jax.__version__}; measured on {options.split}\n")
    print(f"| set | seed | questions | {' | '.join(METRICS)} | abstained |")
    print("|---" * (len(METRICS) + 4) + "|")
    for name in options.sets:
        graph_file, question_file = SETS[name]
        kg = read_graph(folder / graph_file)
        tensors = tensor_graph(kg)
        questions = read_questions(folder / question_file)
        values = []
        for seed in range(options.seeds):
            training, validation, test = split_questions(questions, seed=seed)
            planner, _ = fit_planner(
                kg, tensors, training, config=PlannerConfig(epochs=20), seed=seed
            )
            qa = PlannedQA.build(
                kg, planner, tensors=tensors, settings=PlannedSettings(threshold=0.0)
            )
            asked = test if options.split == "test" else validation
            found = evaluate(
                prediction_line(
                    question,
                    answer,
                    check=lambda a, kg=kg: grounded(kg, a),
                    name_of=lambda id, kg=kg: (
                        kg.name(rows[0]) if (rows := kg.entity_ids.rows(id)) else None
                    ),
                )
                for question, answer in zip(asked, qa.answer(asked))
            )
            cells = [
                f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})"
                for e in (found.metrics[metric] for metric in METRICS)
            ]
            counts = found.counts
            print(
                f"| {name} | {seed} | {counts['asked']} | {' | '.join(cells)} | "
                f"{counts['abstained']} |",
                flush=True,
            )
            values.append(found.metrics["hits_at_1"].value)
        if options.seeds > 1:
            print(f"| {name} | mean | | {np.mean(values):.4f} ± {np.std(values):.4f} | | | | |")


if __name__ == "__main__":
    main()
