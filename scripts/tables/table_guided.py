"""MetaQA, guided search with the hybrid edge scorer and its halves: trained on dev, asked on test.

No hop count, no path labels; a tenth of dev only chooses the epoch, and each trained scorer answers
test once. With `--state` a training that was stopped goes on where it was. "Expanded" are the nodes
whose edges the kept paths follow, a question's mean; "alone" is the median time of a question asked
by itself, 200 of them after one to compile, vectors of texts kept. In rows of "all" seeds a
question's counts are summed over the seeds; differences are paired by question.

    jaxkg train kge --kg KB --validation SOME --model transe --loss self-adversarial -o runs/transe
    python scripts/tables/table_guided.py --embeddings runs/transe --seeds 3 --state runs/guided

A quarter of an hour of CPU time each scorer and seed. `--scorers hybrid text graph ...` has the
rows of Table IV and two of ours, `--searches whole-path` those of Table II; without `--embeddings`
there is "text" alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from jaxkg.evaluate import Report
from jaxkg.evaluate.metrics.intervals import Estimate, ratio, ratio_estimates
from jaxkg.learn.edges.fit import fit_edge_scorer
from jaxkg.learn.edges.model import TrainedScorer, graph_vectors
from jaxkg.learn.edges.train import EdgeConfig
from jaxkg.learn.embeddings.fit import TrainedEmbeddings
from jaxkg.learn.mine import MinedPaths
from jaxkg.learn.supervision import Training, supervise
from jaxkg.records import Question
from jaxkg.score.edges import EdgeSizes
from jaxkg.systems.guided import GuidedSearch, GuidedSettings
from jaxkg.text import HashingEncoder, TextEncoder
from jaxkg.text.best import encoder_kept
from jaxkg.types import NULL

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.measure import measure
from lib.record import Record, arguments
from lib.rows import row
from lib.seconds import Laps
from lib.sets import Sets, sets

_TIMED, _ALONE = 2048, 200

METRICS = ("micro_f1", "f1", "hit_any", "path_recall_at_1", "grounded")

SCORERS = {
    "hybrid": (),
    "text": ("graph",),
    "graph": ("text",),
    "text-no-context": ("graph", "context"),
    "graph-no-context": ("text", "context"),
    "no-context": ("context",),
    "frozen": ("learning",),
}
"""What each leaves out: names and labels, graph vectors, the hop context, the learning of relation
vectors; the last two are ours, the others Table IV's."""

SEARCHES = {
    "greedy": GuidedSettings(threshold=0.0),  # as published, none withheld
    "beam": GuidedSettings(width=3, threshold=0.0),
    "whole-path": GuidedSettings(width=3, share=1e-9, threshold=0.0),
}
"""One path; the best of three; the ends of all three together (Algorithm 2)."""


class World(NamedTuple):
    """What every training and search shares."""

    sets: Sets
    encoder: TextEncoder
    vectors: tuple[np.ndarray, np.ndarray] | None  # of entities and relation codes, from TransE
    questions: Sequence[Question]  # of dev
    mined: MinedPaths  # their paths


def train(world: World, options: argparse.Namespace, name: str, seed: int) -> TrainedScorer:
    """A scorer by name, with a line for every epoch."""
    laps, without = Laps(), SCORERS[name]

    def on_epoch(epoch: int, loss: float, score: float) -> bool:
        print(f"epoch {epoch}: loss {loss:.4f}, F1 {score:.4f}, {laps.lap():.0f} s", flush=True)
        return True

    vectors = None if "graph" in without else world.vectors
    return fit_edge_scorer(
        world.sets.kg,
        world.sets.tensors,
        world.questions,
        world.encoder,
        graph=vectors,
        sizes=EdgeSizes(
            text=0 if "text" in without else world.encoder.dimension,
            graph=0 if vectors is None else vectors[0].shape[1],
            question=world.encoder.dimension,
            context="context" not in without,
        ),
        config=EdgeConfig(
            epochs=options.epochs,
            steps=options.steps,
            learning_rate=options.learning_rate,
            dtype=options.dtype,
            learn_relations="learning" not in without,
        ),
        mined=world.mined,
        training=Training(
            seed,
            folder=options.state and options.state / f"{name}-{seed}",
            linker=world.sets.linker,
            on_epoch=on_epoch,
        ),
    )


def milliseconds_a_question(qa: GuidedSearch, questions: Sequence[Question]) -> float:
    """CPU time of search and execution with witnesses in batches, topics already linked.

    Everything is compiled already: the questions have been answered before.
    """
    linked, since = qa.link(questions), time.process_time()
    qa.follow(linked, qa.propose(linked))
    return 1e3 * (time.process_time() - since) / len(questions)


def nodes_expanded(qa: GuidedSearch, questions: Sequence[Question]) -> float:
    """Distinct nodes of the kept paths before their ends, topics included: a question's mean."""
    linked = qa.link(questions)
    paths = qa.propose(linked)
    expanded = sum(len({*some}) for some in linked.starts)
    for length in range(1, paths.relations.shape[-1]):
        longer = paths.used & (paths.relations[:, :, length] != NULL)
        before = np.where(np.arange(paths.relations.shape[-1]) < length, paths.relations, NULL)
        part = dataclasses.replace(paths, relations=before, used=longer)
        found = qa.follow(linked, part)
        expanded += len(np.unique(np.stack([found.question, found.node]), axis=1).T)
    return expanded / len(questions)


def alone(qa: GuidedSearch, questions: Sequence[Question]) -> tuple[float, float]:
    """Median milliseconds of one question at a time, by the clock and of CPU time."""
    spent = []
    for question in [questions[0], *questions]:
        since = time.perf_counter(), time.process_time()
        qa.answer([question])
        spent.append((time.perf_counter() - since[0], time.process_time() - since[1]))
    wall, cpu = (1e3 * np.median(spent[1:], axis=0)).tolist()
    return wall, cpu


def pooled(reports: Sequence[Report], less: Sequence[Report] = ()) -> list[Estimate]:
    """The first metrics over all seeds, or their difference from other reports'."""
    both = []
    for some in filter(None, (reports, less)):
        parts = [[ratio(report.columns, name) for name in METRICS[:3]] for report in some]
        both.append(np.nansum(parts, axis=0).transpose(1, 2, 0))
    return ratio_estimates(*both[0], minus=tuple(both[1]) if less else None)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--scorers", nargs="+", default=["hybrid"], choices=tuple(SCORERS))
    parser.add_argument("--seeds", type=int, default=1, help="0 and those after it")
    parser.add_argument("-o", "--output", type=Path, help="save the scorers here")
    parser.add_argument("--state", type=Path, help="folder of the trainings' states")
    parser.add_argument("--embeddings", type=Path, help="TransE of the graph")
    parser.add_argument("--hashing", action="store_true", help="hash words instead of MiniLM")
    parser.add_argument("--epochs", type=int, default=EdgeConfig.epochs)
    parser.add_argument("--steps", type=int, default=EdgeConfig.steps, help="an epoch")
    parser.add_argument("--learning-rate", type=float, default=EdgeConfig.learning_rate)
    parser.add_argument("--dtype", default=EdgeConfig.dtype, choices=("float32", "bfloat16"))
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--questions", type=int, help="measure on the first so many of each hop")
    parser.add_argument("--searches", nargs="+", default=["greedy"], choices=tuple(SEARCHES))
    options = parser.parse_args(argv)
    if not options.embeddings and {*options.scorers} - {"text", "text-no-context"}:
        parser.error("these scorers read graph vectors: name --embeddings")
    record = Record(__file__, options)
    metaqa, vectors, spent = sets("metaqa", options.data), None, time.process_time()
    encoder = HashingEncoder(buckets=512) if options.hashing else encoder_kept("minilm")
    if options.embeddings:
        vectors = graph_vectors(metaqa.kg, TrainedEmbeddings.open(options.embeddings))
    dev = metaqa.every("dev")
    told = supervise(metaqa.kg, dev, linker=metaqa.linker)
    mined = told.mine(metaqa.tensors, hops=EdgeSizes.hops, revisit=told.revisit)
    world = World(metaqa, encoder, vectors, dev, mined)
    record.note(f"linking and mining, once: {time.process_time() - spent:.0f} s of CPU time")
    costs = ("expanded", "CPU ms in batches", "ms alone", "CPU ms alone")
    table = record.table("scorer", "search", "hops", "seed", *METRICS, *costs)
    found: dict[tuple[str, str, int], list[Report]] = {}
    trained: list[str] = []
    for name in options.scorers:
        for seed in range(options.seeds):
            spent = time.process_time()
            scorer = train(world, options, name, seed)
            trained.append(f"{name} {seed}: {time.process_time() - spent:.0f}")
            if options.output:
                scorer.save(options.output / f"{name}-{seed}")
            for search in options.searches:
                qa = GuidedSearch.build(
                    metaqa.kg, scorer, encoder, settings=SEARCHES[search], **metaqa.shared
                )
                for hop in (1, 2, 3):
                    asked = metaqa.questions(
                        f"metaqa-{hop}", options.split, limit=options.questions
                    )
                    report = measure(qa, asked, metaqa.kg, seed)
                    found.setdefault((name, search, hop), []).append(report)
                    timed = asked[:_TIMED]
                    cost = nodes_expanded(qa, timed), milliseconds_a_question(qa, timed)
                    cells = *row(report, METRICS), *cost, *alone(qa, asked[:_ALONE])
                    table.add(name, search, hop, seed, *cells)
        jax.clear_caches()
    first = options.scorers[0]
    for (name, search, hop), reports in found.items():
        table.add(name, search, hop, "all", *pooled(reports))
        if name != first:
            against = found[first, search, hop]
            table.add(f"{first} − {name}", search, hop, "all", *pooled(against, reports))
    record.note(f"CPU seconds of training: {', '.join(trained)}")
    record.save()


if __name__ == "__main__":
    main()
