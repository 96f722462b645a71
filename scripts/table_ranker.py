"""WebQSP and CWQ over the pooled Freebase graph: the path ranker, no LLM.

Trained on the WebQSP training paths alone; CWQ is unseen. 95 % bootstrap intervals over questions.
Text vectors are kept in a file, so that a second run encodes nothing. `--fed` adds PathHD and
ReKnoS with the ranker as their scorer, on WebQSP.

    python scripts/table_ranker.py --vectors runs/minilm.vectors -o runs/ranker
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
from jaxkg.evaluate.metrics.intervals import Estimate, ratio_estimates
from jaxkg.kg import find_topics, read_graph, read_questions
from jaxkg.kg.link.linker import Linker
from jaxkg.learn.ranker.fit import PathRanker, fit_ranker
from jaxkg.learn.ranker.train import RankerConfig
from jaxkg.records import Question
from jaxkg.systems.answering import QuestionAnswering
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.systems.ranked import RankedPaths, RankedSettings
from jaxkg.systems.reknos import RankerScorer, ReKnoS, ReKnoSSettings
from jaxkg.tensors import tensor_graph
from jaxkg.text import HashingEncoder
from jaxkg.text.minilm import MiniLM
from jaxkg.text.vectors import CachedEncoder

METRICS = ("hits_at_1", "f1", "path_recall_at_1", "grounded")


def path_answer_recall(qa: RankedPaths, questions: Sequence[Question], k: int) -> Estimate:
    """Share of questions one of whose k best relation paths reaches a gold answer."""
    topics = find_topics(qa.linker, questions)
    plans = qa.rank(questions, topics)
    used = plans.probability > 0
    used[:, k:] = False
    reached = qa.execute(plans, used, topics)
    asked, _ = np.nonzero(used)
    hit = np.zeros((len(questions), 1))
    gold = [set(question.answers or ()) for question in questions]
    for row, node in zip(asked[reached.row].tolist(), reached.node.tolist()):
        if qa.kg.name(node) in gold[row] or qa.kg.entity_ids[node] in gold[row]:
            hit[row] = 1
    return ratio_estimates(hit, np.ones_like(hit))[0]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="save the ranker here")
    parser.add_argument("--ranker", type=Path, help="use this one and train none")
    parser.add_argument("--vectors", type=Path, help="keep text vectors in this file")
    parser.add_argument("--hashing", action="store_true", help="hash words instead of MiniLM")
    parser.add_argument("--fed", action="store_true", help="also PathHD and ReKnoS, fed by it")
    parser.add_argument("--epochs", type=int, default=RankerConfig().epochs)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "freebase_webqsp_cwq"
    kg = read_graph(folder / "kg_pooled.tsv")
    tensors, linker = tensor_graph(kg), Linker(kg)
    encoder = HashingEncoder(buckets=512) if options.hashing else MiniLM.open()
    if options.vectors:
        encoder = CachedEncoder(encoder, options.vectors)
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, encoder {encoder.name}")
    if options.ranker:
        ranker = PathRanker.open(options.ranker)
    else:
        training = read_questions(folder / "webqsp_train_paths.jsonl")
        config = dataclasses.replace(RankerConfig(), epochs=options.epochs, members=options.members)
        begin = time.perf_counter()
        ranker = fit_ranker(
            kg, tensors, training, encoder, config=config, linker=linker, seed=options.seed
        )
        print(f"training on {len(training):,} questions: {time.perf_counter() - begin:.0f} s")
        if options.output:
            ranker.save(options.output)
    qa = RankedPaths.build(
        kg, ranker, encoder, tensors=tensors, linker=linker, settings=RankedSettings()
    )

    def name_of(id: str) -> str | None:
        return kg.name(row[0]) if (row := kg.entity_ids.rows(id)) else None

    shared = {"tensors": tensors, "linker": linker}
    trials: list[tuple[str, str, QuestionAnswering]] = [
        ("ranked", "webqsp_test", qa),
        ("ranked", "cwq_test", qa),
    ]
    if options.fed:
        hops = ranker.hops
        pathhd = PathHD.build(kg, ranked=qa, settings=PathHDSettings(hops=hops), **shared)
        reknos = ReKnoS.build(kg, RankerScorer(qa), settings=ReKnoSSettings(hops=hops), **shared)
        trials += [("pathhd", "webqsp_test", pathhd), ("reknos", "webqsp_test", reknos)]
    columns = [*METRICS, "answer_recall_at_3 paths", "s/question"]
    print(f"\n| system | set | questions | {' | '.join(columns)} |")
    print("|---" * (len(METRICS) + 5) + "|")
    rows = {}
    for system, name, built in trials:
        questions = read_questions(folder / f"{name}.jsonl")
        begin = time.perf_counter()
        answers = built.answer(questions)
        seconds = (time.perf_counter() - begin) / len(questions)
        found = evaluate(
            prediction_line(q, a, check=lambda some: grounded(kg, some), name_of=name_of)
            for q, a in zip(questions, answers)
        )
        estimates = [found.metrics[metric] for metric in METRICS]
        if built is qa:
            estimates.append(path_answer_recall(qa, questions, 3))
        cells = [f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})" for e in estimates]
        cells += [""] * (len(METRICS) + 1 - len(cells))
        print(
            f"| {system} | {name} | {len(questions)} | {' | '.join(cells)} | {seconds:.4f} |",
            flush=True,
        )
        keys = (*METRICS, "answer_recall_at_3_paths")
        rows[f"{system} {name}"] = {key: e.to_dict() for key, e in zip(keys, estimates)}
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
