"""GrailQA's development questions in the pooled graph, by systems that learnt none of them.

966 of 5,763 have their topics and an answer in the graph that was pooled for WebQSP and CWQ; the
facts between are often missing. Questions are told apart by what is counted or compared in them,
and by relations of their query; the file has no levels of generalisation. Systems without training
are always asked, those that learn where `--parts` has a folder for each (`jaxkg train NAME
--dataset webqsp`). The reader is left out: its weights have learnt from these questions. Some
minutes on two CPU cores.

    python scripts/tables/table_grailqa.py --parts runs
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.experiments.comparing import Unfit, system_built
from jaxkg.experiments.datasets import GRAPHS
from jaxkg.systems.parts import Parts

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import gain, measure
from lib.record import Record, arguments
from lib.rows import row, shown
from lib.sets import sets

METRICS = ("hits_at_1", "hit_any", "f1", "retrieval_rate", "grounded")
ARMS: dict[str, tuple[str, dict[str, str]]] = {
    "PathHD, vectors alone": ("pathhd", {"query": "text"}),
    "ReKnoS, labels score, N = 3, L = 2": ("reknos", {"scorer": "labels", "hops": "2"}),
    "planner": ("planner", {}),
    "PathMind": ("pathmind", {"encoder": "minilm"}),
    "ranked": ("ranked", {}),
}


def kinds(data: Path) -> dict[str, tuple[str, str]]:
    """Of each question: how many relations its query has, and the function in it."""
    lines = (data / GRAPHS / "grailqa_dev_5763.jsonl").read_text("utf-8").splitlines()
    told = {}
    for line in map(json.loads, lines):
        functions = {node["function"] for node in line["nodes"]} - {"none"}
        count = len(line["edges"])
        told[str(line["id"])] = (
            f"{count} relation{'s' * (count != 1)}",
            ", ".join(sorted(functions)) or "no function",
        )
    return told


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--parts", type=Path, help="folder of trained parts, named by their kind")
    parser.add_argument("--limit", type=int, help="first so many questions")
    parser.add_argument("--systems", nargs="+", help="these alone, by their short names")
    options = parser.parse_args(argv)
    record, world = Record(__file__, options), sets("webqsp", options.data, names=True)
    questions = world.questions("grailqa", limit=options.limit)
    kind = kinds(options.data)
    record.note(f"{len(questions):,} questions")
    table = record.table("system", *METRICS, "abstained")
    groups = sorted({each for question in questions for each in kind[question.id]})
    by_kind = record.table("hits@1", "questions", *ARMS, title="By relations, and by function.")
    columns: dict[str, np.ndarray] = {}
    parts, trained = Parts(world.kg, lambda *told: None, seed=options.seed), dict[str, Path]()
    for name, (system, wishes) in ARMS.items():
        if options.systems and system not in options.systems:
            continue
        folder = None if options.parts is None else options.parts / system
        if system in ("planner", "pathmind", "ranked"):
            if folder is None or not folder.is_dir():
                record.note(f"{name}: not asked, no trained part")
                continue
            trained[system] = folder
        try:
            planner = trained.get("planner")
            mine = parts.beside(None, wishes, trained=dict(trained), planner_folder=planner)
            built = system_built(system, mine).system
            report = measure(built, questions, world.kg, options.seed, directed=False)
        except Unfit as error:
            record.note(f"{name}: {error}")
            continue
        columns[name] = np.asarray(report.columns["hits_at_1"])
        table.add(name, *row(report, METRICS), report.counts["abstained"])
        record.save()
    for group in groups:
        mine = np.array([group in kind[question.id] for question in questions])
        means = (float(columns[n][mine].mean()) if n in columns else None for n in ARMS)
        by_kind.add(group, int(mine.sum()), *means)
    first, *others = columns
    for other in others:
        gained = gain(columns[first], columns[other], options.seed)
        record.note(f"hits_at_1, {first} minus {other}: {shown(gained)}")
    record.save()


if __name__ == "__main__":
    main()
