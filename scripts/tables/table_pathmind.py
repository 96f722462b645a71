"""PathMind's path priority: on its own, and its paths in front of one fixed reasoner.

MetaQA: trained on the answers of the dev questions alone, measured on test. WebQSP and CWQ: trained
on WebQSP's training and validation questions, their answers and (as the graph answers only half of
them) their relation paths, measured on the test questions over the pooled graph; relation labels
and questions are read by MiniLM. Most of CWQ's test
questions were made from these training questions.
Hop counts are never given. "answer_recall_at_3" looks at the three best walks, each to one entity;
"at 3 relation paths" at all that the three best relation paths reach, a relation path standing as
high as the best entity its walk leads to.

The reasoner of the second table reads each offered path's relation labels and answers with the
ends of the path whose labels are most like the question (hashed words and letters; no training,
no language model), so that only the choice of paths differs between its rows.

Half an hour (metaqa) or two hours (webqsp) on two CPU cores.

    python scripts/tables/table_pathmind.py metaqa -o runs/pathmind-metaqa

`pathquestion`, and `--parts` of the others, trains again without each part that is not in the
paper, and without all of them (its preset), with three seeds on one split, answers alone: half an
hour. What was measured is kept in the folder of `--state`, and not measured again.

    python scripts/tables/table_pathmind.py pathquestion
    python scripts/tables/table_pathmind.py metaqa --parts --train 3000 --epochs 2 --seeds 1

`--figures` asks, of a kept model, by K, by hops and by numbers of answers (the paper's Fig. 6):
some minutes.

    python scripts/tables/table_pathmind.py webqsp -o runs/pathmind-webqsp --figures
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxkg.answer import Answer
from jaxkg.evaluate import Estimate
from jaxkg.experiments.measure import drawn
from jaxkg.experiments.programs import peak_memory
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.priority.fit import fit_priority
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.learn.priority.train import PriorityConfig
from jaxkg.learn.supervision import Training, answer_rows
from jaxkg.records import Question, RankedEntity
from jaxkg.search.plans import execute_paths
from jaxkg.settings import settings_made
from jaxkg.storage import write_json
from jaxkg.systems.pathmind.system import PathMind, PathMindSettings
from jaxkg.systems.pathmind.walks import Ranking
from jaxkg.text import label_words
from jaxkg.text.best import encoder_kept
from jaxkg.text.hashing import HashingEncoder
from jaxkg.types import NULL

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib import rows
from lib.measure import gain, measure_answers, share
from lib.record import Record, arguments
from lib.seconds import Laps
from lib.sets import Sets, sets

METRICS = ("hits_at_1", "f1", "hit_any", "answer_recall_at_3", "grounded")
OFFERED = ("hits_at_1", "f1", "answer_recall_at_3")
STRATEGIES = ("important", "shortest", "random")
KS = (1, 2, 3, 5, 8)
ANSWERS = {"1": (1, 1), "2 to 4": (2, 4), "5 to 9": (5, 9), "10 and more": (10, 1 << 30)}
RECIPES = {
    "metaqa": {"config": PriorityConfig(epochs=1), "hops": 3},
    "webqsp": {
        "config": PriorityConfig(epochs=6, dropout=0.2),
        "hops": 2,
        "use_paths": True,
    },
}
"""What was best on held-out training questions."""


WITH_PATHS = "with relation paths"
HOPS = {"metaqa-1": 3, "webqsp": 2, "pq-2h": 2, "pq-3h": 3}
"""Longest walk of an ablation, by its first test set."""
PARTS: dict[str, dict[str, str]] = {
    "default": {},
    "paper's preset": {"preset": "paper"},
    "paper's preset, d as one number": {"preset": "paper", "heads": "1"},
    "without weights of walks": {"walk_weights": "false"},
    "without the mass of walks": {"mass": "false"},
    "loss as printed (Eq. 6)": {"balanced": "false"},
    "without message passing (Eq. 2)": {"rounds": "0"},
    WITH_PATHS: {},
}
"""Rows of the ablation; the last but one is a part of the paper's, the last is told more, where
questions have paths."""


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
            entity, name = path.end
            if like >= best - 1e-6 and entity not in ranked:
                ranked[entity] = RankedEntity(entity, name, best - 1e-6 * place, (path.id,))
        out.append(dataclasses.replace(answer, entities=tuple(ranked.values())))
    return out


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
    gold = [set(answer_rows(qa.kg, question)) for question in questions]
    hit = np.zeros(len(questions))
    for row, node in zip(reached.row.tolist(), reached.node.tolist()):
        if node in gold[asked[row]]:
            hit[asked[row]] = 1
    return share(hit)


def figures(record: Record, qa: PathMind, asked: dict[str, list[Question]], seed: int) -> None:
    """How many paths serve the reasoner, and which questions the priority alone answers."""
    by_k = record.table(
        "set", "K", "paths", *OFFERED, title="K entities an iteration, before the same reasoner."
    )
    told = "The priority alone, by hops of the shortest gold path and by numbers of answers."
    by_kind = record.table("set", "questions with", "asked", *METRICS, title=told)
    for name, questions in asked.items():
        ranking = qa.rank(questions)
        for keep in KS:
            kept = dataclasses.replace(qa.settings, keep=keep)
            shown = dataclasses.replace(qa, settings=kept).retrieve(questions, ranking=ranking)
            answers = judged(qa.kg, ranking.masked, shown)
            found = measure_answers(answers, questions, qa.kg, seed)
            paths = float(np.mean([len(answer.paths) for answer in shown]))
            by_k.add(name, keep, paths, *rows.row(found, OFFERED))
            record.save()
        answers = qa.answer(questions, ranking=ranking)
        kinds: dict[str, list[int]] = {}
        for row, question in enumerate(questions):
            if question.paths:
                hops = min(map(len, question.paths))
                kinds.setdefault(f"{hops} hop{'s' * (hops > 1)}", []).append(row)
            for label, (least, most) in ANSWERS.items():
                if least <= len(question.answers or ()) <= most:
                    kinds.setdefault(f"{label} answer{'s' * (label != '1')}", []).append(row)
        for kind in sorted(kinds, key=lambda kind: ("answer" in kind, int(kind.split()[0]))):
            some = kinds[kind]
            found = measure_answers(
                [answers[row] for row in some], [questions[row] for row in some], qa.kg, seed
            )
            by_kind.add(name, kind, len(some), *rows.row(found, METRICS))
    record.save()


Trial = dict[str, dict[str, list[float]]]
"""Of each test set, for each question: its hits, and whether a path grown by triples ends right."""


def trial(
    world: Sets, asked: dict[str, list[Question]], arm: str, seed: int, options: argparse.Namespace
) -> Trial:
    """Train without a part, and ask; or what the folder of trials has of it."""
    kept = options.state and options.state / f"{'-'.join([*asked, arm, str(seed)])}.json"
    if kept and kept.exists():
        return json.loads(kept.read_text("utf-8"))
    pooled, hops = "webqsp" in asked, HOPS[next(iter(asked))]
    parts = ("dev",) if "metaqa-1" in asked else ("train", "validation")
    encoder = encoder_kept("minilm") if pooled else None
    config = settings_made(PriorityConfig, PARTS[arm], epochs=options.epochs, most=options.train)
    model, _ = fit_priority(
        world.kg,
        world.tensors,
        [each for part in parts for name in asked for each in world.questions(name, part)],
        config=config,
        hops=hops,
        encoder=encoder,
        use_paths=arm == WITH_PATHS,
        training=Training(seed, kept and kept.with_suffix(""), world.linker),
    )
    settings = PathMindSettings(threshold=0.0, floor=0.0, iterations=hops)
    qa = PathMind.build(world.kg, model, encoder=encoder, settings=settings, **world.shared)
    paper = dataclasses.replace(qa, settings=dataclasses.replace(settings, growth="triples"))
    found: Trial = {}
    for name, questions in asked.items():
        ranking = qa.rank(questions)
        answers = qa.answer(questions, ranking=ranking)
        report = measure_answers(answers, questions, world.kg, seed)
        ends = (
            {end for path in answer.paths for end in path.end}
            for answer in paper.retrieve(questions, ranking=ranking)
        )
        grown = [
            float(bool(some & set(question.answers or ())))
            for some, question in zip(ends, questions)
        ]
        hits = np.asarray(report.columns["hits_at_1"])
        found[name] = {"hits": hits.tolist(), "grown": grown}
    if kept:
        write_json(kept, found)
    return found


def ablation(record: Record, options: argparse.Namespace) -> None:
    """Hits of models trained without a part; a question counts as the mean over the seeds."""
    amount = "all" if options.train is None else f"{options.train:,}"
    record.note(
        f"{options.seeds} seeds, {options.epochs} epochs, {amount} training questions, "
        "no answer withheld"
    )
    table = record.table(
        *("set", "questions", "trained", "hits_at_1", "± of seeds", "default − this"),
        *("grown by triples", "seconds"),
    )
    chosen = options.only or ("pq-2h", "pq-3h")
    families = chosen if options.set == "pathquestion" else [options.set]
    for family in families:
        world = sets(family, options.data)
        names = [family] if family != "metaqa" else list(world.files)
        asked = {name: drawn(world.questions(name), options.limit, 0) for name in names}
        first: dict[str, np.ndarray] = {}
        for arm in options.arms or [arm for arm in PARTS if arm != WITH_PATHS]:
            laps = Laps()
            trials = [trial(world, asked, arm, seed, options) for seed in range(options.seeds)]
            seconds = None if options.state else laps.lap()  # kept trials take none
            for name, questions in asked.items():
                each = np.asarray([found[name]["hits"] for found in trials])
                hits = each.mean(axis=0)
                gained = gain(first[name], hits) if name in first else None
                first.setdefault(name, hits)
                spread = float(np.std(each.mean(axis=1)))
                reach = share(np.mean([found[name]["grown"] for found in trials], axis=0))
                cells = share(hits), spread, gained, reach, seconds
                table.add(name, len(questions), arm, *cells)
            record.save()


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("set", choices=("metaqa", "webqsp", "pathquestion"))
    parser.add_argument("-o", "--output", type=Path, help="keep the model here, or take it from")
    parser.add_argument("--checkpoints", type=Path, help="continue training from here")
    parser.add_argument("--sample", type=int, default=1000, help="questions of the second table")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="test sets to measure, by name")
    parser.add_argument("--limit", type=int, help="so many questions of each test set")
    parser.add_argument("--keep", type=int, default=3, help="K, entities an iteration")
    parser.add_argument("--iterations", type=int, default=2, help="T")
    parser.add_argument("--figures", action="store_true", help="by K, hops, numbers of answers")
    parser.add_argument("--parts", action="store_true", help="the ablation, of any set")
    parser.add_argument("--train", type=int, help="training questions of the ablation, drawn")
    parser.add_argument("--state", type=Path, help="keep trials of the ablation in this folder")
    parser.add_argument("--seeds", type=int, default=3, help="of the ablation")
    parser.add_argument("--epochs", type=int, default=12, help="of the ablation")
    parser.add_argument("--arms", nargs="+", choices=list(PARTS), help="of the ablation")
    options = parser.parse_args(argv)
    whole = options.set != "pathquestion" or not options.only
    part = options.set if whole else "-".join(options.only)
    part += "-figures" * options.figures + "-parts" * options.parts
    record = Record(__file__, options, part=part)
    if options.parts or options.set == "pathquestion":
        return ablation(record, options)
    world = sets(options.set, options.data)
    kg, seed = world.kg, options.seed
    encoder = encoder_kept("minilm") if options.set == "webqsp" else None
    # Other sets of WebQSP's graph have training questions too; it learns from WebQSP's own alone.
    pooled = options.set == "webqsp"
    learnt, shown = (["webqsp"], ["webqsp", "cwq"]) if pooled else (list(world.files),) * 2
    asked = {name: world.questions(name, limit=options.limit) for name in options.only or shown}
    if options.output and (options.output / "priority.json").exists():
        model = PriorityModel.open(options.output)
        record.note(f"a model trained before: {model.about['fit']}")
    else:
        parts, laps = ("dev",) if options.set == "metaqa" else ("train", "validation"), Laps()
        model, fit = fit_priority(
            kg,
            world.tensors,
            [some for part in parts for name in learnt for some in world.questions(name, part)],
            training=Training(seed, options.checkpoints, world.linker),
            encoder=encoder,
            **RECIPES[options.set],
        )
        record.note(
            f"trained on {fit.trained_on:,} of {fit.questions:,} questions in {laps.lap():.0f} s"
        )
        if options.output:
            model.save(options.output)
    # Every question is answered: an abstention would count as wrong.
    settings = PathMindSettings(threshold=0.0, keep=options.keep, iterations=options.iterations)
    qa = PathMind.build(kg, model, encoder=encoder, settings=settings, **world.shared)
    if options.figures:
        return figures(record, qa, asked, seed)
    recall = "answer recall at 3 relation paths"
    table = record.table("set", *METRICS, recall, "abstained", "questions/s")
    for name, questions in asked.items():
        laps = Laps()
        ranking = qa.rank(questions)
        answers = qa.answer(questions, ranking=ranking)
        rate = len(questions) / laps.lap()
        found = measure_answers(answers, questions, kg, seed)
        reach = relation_path_recall(qa, questions, ranking, 3)
        table.add(name, *rows.row(found, METRICS), reach, found.counts["abstained"], rate)
    width = options.keep * options.iterations
    offered = record.table(
        "set",
        "paths",
        *OFFERED,
        title=f"At most {width} paths a question in front of the same reasoner, {options.sample:,} "
        "questions drawn of each set.",
    )
    for name, questions in asked.items():
        some = drawn(questions, options.sample, seed)
        ranking = qa.rank(some)
        reports = {}
        for strategy in STRATEGIES:
            shown = qa.retrieve(some, strategy=strategy, seed=seed, ranking=ranking)
            answers = judged(kg, ranking.masked, shown)
            reports[strategy] = measure_answers(answers, some, kg, seed)
        offered.add_paired(reports, OFFERED, seed=seed, first=[name])
    record.note(f"peak memory {peak_memory() / 1e9:.2f} GB")
    record.save()


if __name__ == "__main__":
    main()
