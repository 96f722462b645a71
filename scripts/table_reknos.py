"""ReKnoS without a language model: retrieval, answers, search space and misses.

    python scripts/table_reknos.py webqsp
    python scripts/table_reknos.py metaqa --planner runs/metaqa

`webqsp` scores super-relations (the first two parts of Freebase names) by the likeness of label and
question over one graph pooled from all questions, walked both ways. `metaqa` clusters the relation
labels and lets a planner score; it is trained on the dev questions' answers unless one is given.
Every question asked stays in the denominator.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import jax
import numpy as np

from jaxkg.cite import grounded
from jaxkg.evaluate import Estimate, evaluate, prediction_line
from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.evaluate.misses import breakdown, retrieval
from jaxkg.kg import KnowledgeGraph, entity_rows, find_topics, read_graph, read_questions
from jaxkg.kg.distances import Distances
from jaxkg.learn.planner.fit import fit_planner
from jaxkg.learn.planner.model import Planner
from jaxkg.records import Question
from jaxkg.systems.reknos import (
    LabelScorer,
    PlannerScorer,
    ReKnoS,
    ReKnoSSettings,
    Solved,
)
from jaxkg.tensors import tensor_graph

METRICS = ("hits_at_1", "hit_any", "f1", "grounded")


def measured(system: ReKnoS, questions: Sequence[Question], *, directed: bool, seed: int) -> dict:
    """What one run over a question set comes to."""
    kg, limit = system.kg, system.settings.hops
    system.solve(questions[:512])  # compile, and find the capacities
    begin = time.perf_counter()
    solved = system.solve(questions)
    seconds = time.perf_counter() - begin
    known = set(kg.entity_ids.tolist())

    def name_of(id: str) -> str | None:
        return kg.name(kg.entity(id)) if id in known else None

    report = evaluate(
        (
            prediction_line(q, each.answer, check=lambda a: grounded(kg, a), name_of=name_of)
            for q, each in zip(questions, solved)
        ),
        directed=directed,
        seed=seed,
    )
    kinds = list(retrievals(kg, system, questions, solved, limit))
    retrieved = [float(kind == "retrieved") for kind in kinds]
    traces = [each.trace for each in solved]
    triples = np.asarray([trace.triples for trace in traces])
    return {
        "metrics": {name: dataclasses.asdict(report.metrics[name]) for name in METRICS},
        "retrieval_rate": dataclasses.asdict(rate(retrieved, seed)),
        "misses": breakdown(kinds),
        "columns": {
            "hits_at_1": list(report.columns["hits_at_1"]),
            "retrieved": retrieved,
        },
        "triples": {"mean": float(triples.mean()), "median": float(np.median(triples))},
        "extracted": float(np.mean([len(trace.extracted) for trace in traces])),
        "steps": float(np.mean([len(trace.steps) for trace in traces])),
        "incomplete": sum(not trace.complete for trace in traces),
        "abstained": report.counts["abstained"],
        "calls": sum(each.answer.usage.calls for each in solved),
        "questions_per_second": len(questions) / seconds,
    }


def retrievals(
    kg: KnowledgeGraph,
    system: ReKnoS,
    questions: Sequence[Question],
    solved: Sequence[Solved],
    limit: int,
) -> Iterator:
    """What became of each question's retrieval."""
    distances = Distances(kg)
    for question, topics, each in zip(questions, find_topics(system.linker, questions), solved):
        gold = [row for name in question.answers or () for row in entity_rows(kg, name)]
        yield retrieval(
            distances, topics.entities, gold, each.trace.extracted.tolist(), limit=limit
        )


def rate(flags: Sequence[float], seed: int) -> Estimate:
    """A share of questions with its bootstrap interval."""
    values = np.asarray(flags, float)[:, None]
    return ratio_estimates(values, np.ones_like(values), seed=seed)[0]


def webqsp(folder: Path, options: argparse.Namespace) -> dict:
    """Label similarity over the pooled graph, for several widths N."""
    data = folder / "freebase_webqsp_cwq"
    kg = read_graph(data / "kg_pooled.tsv", names=data / "mid2name.tsv")
    if options.split == "test":
        questions = read_questions(data / "webqsp_test.jsonl")
    else:
        questions = read_questions(data / f"webqsp_{options.split}_paths.jsonl")
        # Only what the pooled graph can answer at all tells settings apart.
        questions = [
            q
            for q in questions
            if any(entity_rows(kg, t) for t in q.topics)
            and any(entity_rows(kg, a) for a in q.answers or ())
        ]
    questions = questions[: options.limit]
    tensors, scorer = tensor_graph(kg), LabelScorer(kg.relations)
    linker = None
    rows = {}
    for width in options.widths:
        settings = ReKnoSSettings(width=width, hops=options.hops, threshold=0.0)
        system = ReKnoS.build(kg, scorer, tensors=tensors, linker=linker, settings=settings)
        linker = system.linker
        rows[f"WebQSP, N = {width}"] = measured(
            system, questions, directed=False, seed=options.seed
        )
    return rows


def print_gains(rows: dict, seed: int) -> None:
    """Paired differences of the first row and the others, question by question."""
    (name, first), *others = rows.items()
    for other, row in others:
        for metric in ("hits_at_1", "retrieved"):
            pair = [np.asarray(each["columns"][metric])[:, None] for each in (first, row)]
            ones = np.ones_like(pair[0])
            gain = ratio_estimates(pair[0], ones, minus=(pair[1], ones), seed=seed)[0]
            print(f"{metric}, {name} minus {other}: {shown(dataclasses.asdict(gain))}")


def metaqa(folder: Path, options: argparse.Namespace) -> dict:
    """The learned planner over clustered labels, for each hop count."""
    data = folder / "metaqa"
    kg = read_graph(data / "kb.txt")
    tensors = tensor_graph(kg)
    if options.planner is not None and options.planner.exists():
        planner = Planner.open(options.planner)
    else:
        dev = [q for hop in (1, 2, 3) for q in read_questions(data / f"{hop}-hop" / "qa_dev.txt")]
        planner, _ = fit_planner(kg, tensors, dev, seed=options.seed)
        if options.planner is not None:
            planner.save(options.planner)
    settings = ReKnoSSettings(hops=options.hops, threshold=0.0)
    system = ReKnoS.build(kg, PlannerScorer(planner), tensors=tensors, settings=settings)
    rows = {}
    for hop in (1, 2, 3):
        questions = read_questions(data / f"{hop}-hop" / f"qa_{options.split}.txt")
        questions = questions[: options.limit]
        name = f"MetaQA {hop}-hop, N = {settings.width}"
        rows[name] = measured(system, questions, directed=True, seed=options.seed)
        print(f"{name}: {shown(rows[name]['metrics']['hits_at_1'])}", file=sys.stderr, flush=True)
    groups = [
        (name, [kg.relation_name(code) for code in system.groups.members(which)])
        for which, name in enumerate(system.groups.names)
    ]
    print("super-relations: " + "; ".join(f"{name} = {{{', '.join(m)}}}" for name, m in groups))
    return rows


def shown(estimate: dict) -> str:
    """A value and its interval."""
    return f"{estimate['value']:.4f} ({estimate['low']:.4f}–{estimate['high']:.4f})"


def print_rows(rows: dict) -> None:
    """The table, then search spaces and misses."""
    print(f"| | {' | '.join(METRICS)} | retrieval rate | calls | questions/s |")
    print("|---" * (len(METRICS) + 4) + "|")
    for name, row in rows.items():
        cells = [shown(row["metrics"][metric]) for metric in METRICS]
        cells += [shown(row["retrieval_rate"]), str(row["calls"])]
        print(f"| {name} | {' | '.join(cells)} | {row['questions_per_second']:,.0f} |")
    kinds = ("path absent", "depth limit", "misdirection")
    print(f"\n| | triples walked, mean / median | entities | steps | {' | '.join(kinds)} |")
    print("|---" * 7 + "|")
    for name, row in rows.items():
        walked = f"{row['triples']['mean']:,.0f} / {row['triples']['median']:,.0f}"
        misses = " | ".join(f"{row['misses'][kind]:.1%}" for kind in kinds)
        print(f"| {name} | {walked} | {row['extracted']:.0f} | {row['steps']:.2f} | {misses} |")
    for name, row in rows.items():
        if row["incomplete"] or row["abstained"]:
            print(f"\n{name}: {row['incomplete']} incomplete, {row['abstained']} abstained")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", choices=("webqsp", "metaqa"))
    parser.add_argument("--planner", type=Path, help="folder of MetaQA's planner; made if absent")
    parser.add_argument("--split", default="test", help="test; dev (MetaQA); train, validation")
    parser.add_argument("--widths", type=int, nargs="+", default=(3, 1), help="N (WebQSP)")
    parser.add_argument("--hops", type=int, default=3, help="L")
    parser.add_argument("--limit", type=int, help="first questions only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {os.cpu_count()} cores")
    run = {"webqsp": webqsp, "metaqa": metaqa}[options.dataset]
    rows = run(Path(options.data), options)
    print_rows(rows)
    if options.dataset == "webqsp":
        print_gains(rows, options.seed)
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
