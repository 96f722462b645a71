"""PathMind's path priority: on its own, and its paths in front of one fixed reasoner.

MetaQA: trained on the answers of the dev questions alone, measured on test. WebQSP and CWQ: trained
on WebQSP's training and validation questions, their answers and (as the graph answers only half of
them) their relation paths, measured on the test questions over the pooled graph; relation labels
and questions are read by MiniLM. CWQ's test questions are rooted in WebQSP's, training ones too.
Hop counts are never given. "answer_recall_at_3" looks at the three best walks, each to one entity;
"at 3 relation paths" at all that the three best relation paths reach, a relation path standing as
high as the best entity its walk leads to.

The reasoner of the second table reads each offered path's relation labels and answers with the
ends of the path whose labels are most like the question (hashed words and letters; no training,
no language model), so that only the choice of paths differs between its rows.

    python scripts/table_pathmind.py metaqa -o runs/pathmind-metaqa
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from jaxkg.answer import Answer
from jaxkg.cite import grounded
from jaxkg.evaluate import Report, compare, evaluate, prediction_line
from jaxkg.evaluate.metrics.intervals import Estimate, ratio_estimates
from jaxkg.kg import KnowledgeGraph, Linker, entity_rows, read_graph, read_questions
from jaxkg.learn.priority.fit import fit_priority
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.learn.priority.train import PriorityConfig
from jaxkg.records import Question, RankedEntity
from jaxkg.search.plans import execute_paths
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings
from jaxkg.systems.pathmind.walks import Ranking
from jaxkg.tensors import tensor_graph
from jaxkg.text import label_words
from jaxkg.text.hashing import HashingEncoder
from jaxkg.text.minilm import MiniLM
from jaxkg.types import NULL

METRICS = ("hits_at_1", "f1", "hit_any", "answer_recall_at_3", "grounded")
STRATEGIES = ("random", "shortest", "important")


def judged(kg: KnowledgeGraph, masked: Sequence[str], shown: Sequence[Answer]) -> list[Answer]:
    """The fixed reasoner: ends of the offered paths that read most like the question."""
    labels = [label_words(name) for name in kg.relations]
    encode = HashingEncoder().fitted(labels)
    vector = dict(zip(kg.relations, encode(labels)))
    out = []
    for text, answer in zip(masked, shown):
        [asked] = encode([text])
        likeness = []
        for path in answer.paths:
            total = sum(vector[name.removeprefix("^")] for name in path.relation_path)
            length = float(np.linalg.norm(total))
            likeness.append(float(asked @ total) / length if length else 0.0)
        best = max(likeness, default=0.0)
        ranked: dict[str, RankedEntity] = {}
        # Among paths that read alike, the offered order stands, as it would in a prompt.
        for place, (path, like) in enumerate(zip(answer.paths, likeness)):
            last = path.citations[-1]
            pair = (last.head, last.head_name) if last.inverse else (last.tail, last.tail_name)
            if like >= best - 1e-6 and pair[0] not in ranked:
                ranked[pair[0]] = RankedEntity(*pair, best - 1e-6 * place, (path.id,))
        out.append(dataclasses.replace(answer, entities=tuple(ranked.values())))
    return out


def report(kg: KnowledgeGraph, questions: Sequence[Question], answers, seed: int) -> Report:
    def name_of(id: str) -> str | None:
        return kg.name(row[0]) if (row := kg.entity_ids.rows(id)) else None

    lines = [
        prediction_line(question, answer, check=lambda a: grounded(kg, a), name_of=name_of)
        for question, answer in zip(questions, answers)
    ]
    return evaluate(lines, seed=seed)


def cells(found: Report, names: Sequence[str]) -> str:
    return " | ".join(cell(found.metrics[name]) for name in names)


def cell(found: Estimate) -> str:
    return f"{found.value:.4f} ({found.low:.4f}–{found.high:.4f})"


def relation_path_recall(
    qa: PathMind, questions: Sequence[Question], ranking: Ranking, k: int
) -> Estimate:
    """Share of questions one of whose k best relation paths reaches a gold answer."""
    walks = ranking.ranked.heaviest
    codes = np.where(walks == NULL, NULL, qa.tensors.relation[np.maximum(walks, 0)])
    chosen: list[dict[tuple[int, ...], None]] = [{} for _ in questions]
    for row, path in zip(ranking.ranked.row.tolist(), map(tuple, codes.tolist())):
        if len(chosen[row]) < k:
            chosen[row][path] = None
    asked = [row for row, some in enumerate(chosen) for _ in some]
    table = np.array([path for some in chosen for path in some], np.int32)
    topics = [ranking.topics[row].entities for row in asked]
    reached = execute_paths(qa.tensors, topics, table.reshape(-1, walks.shape[1]), batch_size=256)
    gold = [
        {row for answer in question.answers or () for row in entity_rows(qa.kg, answer)}
        for question in questions
    ]
    hit = np.zeros((len(questions), 1))
    for row, node in zip(reached.row.tolist(), reached.node.tolist()):
        if node in gold[asked[row]]:
            hit[asked[row]] = 1
    return ratio_estimates(hit, np.ones_like(hit))[0]


def question_sets(which: str, folder: Path):
    """The graph's file, training questions and named test sets."""
    if which == "metaqa":
        folder /= "metaqa"
        dev, test = (
            [read_questions(folder / f"{hop}-hop" / f"qa_{split}.txt") for hop in (1, 2, 3)]
            for split in ("dev", "test")
        )
        sets = {f"{hop}-hop": some for hop, some in zip((1, 2, 3), test)}
        return folder / "kb.txt", [q for some in dev for q in some], sets
    folder /= "freebase_webqsp_cwq"
    training = [
        question
        for split in ("train", "validation")
        for question in read_questions(folder / f"webqsp_{split}_paths.jsonl")
    ]
    sets = {
        "WebQSP": read_questions(folder / "webqsp_test.jsonl"),
        "CWQ": read_questions(folder / "cwq_test.jsonl"),
    }
    return folder / "kg_pooled.tsv", training, sets


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("set", choices=("metaqa", "webqsp"))
    parser.add_argument("-o", "--output", type=Path, help="keep the model here, or take it from")
    parser.add_argument("--checkpoints", type=Path, help="continue training from here")
    parser.add_argument("--sample", type=int, default=1000, help="questions of the second table")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="test sets to measure, by name")
    parser.add_argument("--limit", type=int, help="first so many questions of each test set")
    parser.add_argument("--keep", type=int, default=3, help="K, entities an iteration")
    parser.add_argument("--iterations", type=int, default=2, help="T")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    source, training, sets = question_sets(options.set, Path(options.data))
    if unknown := set(options.only or ()) - set(sets):
        parser.error(f"no test set {sorted(unknown)[0]!r}; there are {', '.join(sets)}")
    sets = {name: sets[name][: options.limit] for name in options.only or sets}
    kg = read_graph(source)
    tensors, linker = tensor_graph(kg), Linker(kg)
    encoder = MiniLM.open() if options.set == "webqsp" else None
    cores = len(os.sched_getaffinity(0))
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {cores} of {os.cpu_count()} cores")
    if options.output and (options.output / "priority.json").exists():
        model = PriorityModel.open(options.output)
        print(f"model of {options.output}: {model.about['fit']}")
    else:
        begin = time.perf_counter()
        model, fit = fit_priority(
            kg,
            tensors,
            training,
            linker=linker,
            encoder=encoder,
            seed=options.seed,
            checkpoints=options.checkpoints,
            **RECIPES[options.set],
        )
        seconds = time.perf_counter() - begin
        print(
            f"trained on {fit.trained_on:,} of {fit.questions:,} questions in {seconds:.0f} s",
            flush=True,
        )
        if options.output:
            model.save(options.output)
    # Every question is answered: an abstention would count as wrong.
    settings = PathMindSettings(threshold=0.0, keep=options.keep, iterations=options.iterations)
    qa = PathMind.build(
        kg, model, tensors=tensors, linker=linker, encoder=encoder, settings=settings
    )

    told: dict[str, dict] = {}
    recall = "answer recall at 3 relation paths"
    print(f"\n| set | {' | '.join(METRICS)} | {recall} | abstained | questions/s |")
    print("|---" * (len(METRICS) + 4) + "|")
    for name, questions in sets.items():
        begin = time.perf_counter()
        ranking = qa.rank(questions)
        answers = qa.answer(questions, ranking=ranking)
        rate = len(questions) / (time.perf_counter() - begin)
        found = report(kg, questions, answers, options.seed)
        reach = relation_path_recall(qa, questions, ranking, 3)
        abstained = found.counts["abstained"]
        print(
            f"| {name} | {cells(found, METRICS)} | {cell(reach)} | {abstained} | {rate:,.0f} |",
            flush=True,
        )
        told[name] = {m: dataclasses.asdict(found.metrics[m]) for m in METRICS}
        told[name]["answer_recall_at_3_relation_paths"] = dataclasses.asdict(reach)

    width = options.keep * options.iterations
    print(f"\nAt most {width} paths a question in front of the same reasoner")
    for name, questions in sets.items():
        rng = np.random.default_rng(options.seed)
        some = [questions[i] for i in sorted(rng.permutation(len(questions))[: options.sample])]
        ranking = qa.rank(some)
        reports = {}
        for strategy in STRATEGIES:
            shown = qa.retrieve(some, strategy=strategy, seed=options.seed, ranking=ranking)
            answers = judged(kg, ranking.masked, shown)
            reports[strategy] = report(kg, some, answers, options.seed)
        print(f"\n{name}, {len(some):,} questions\n")
        names = ("hits_at_1", "f1", "answer_recall_at_3")
        print(compare(dict(reversed(reports.items())), metrics=names, seed=options.seed))
        told[name]["strategies"] = {
            strategy: {m: dataclasses.asdict(found.metrics[m]) for m in names}
            for strategy, found in reports.items()
        }
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    if options.json:
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


RECIPES = {
    "metaqa": {"config": PriorityConfig(epochs=1), "hops": 3},
    "webqsp": {
        "config": PriorityConfig(epochs=6, dropout=0.2),
        "hops": 2,
        "use_paths": True,
    },
}
"""What was best on held-out training questions."""


if __name__ == "__main__":
    main()
