"""MetaQA, guided search with the hybrid edge scorer: trained on dev answers, measured on test.

No hop count, no path labels; a tenth of dev only chooses the epoch. With `--state` a training that
was stopped goes on where it was. "Expanded" are the nodes whose edges the kept paths follow, a
question's mean; "alone" is the median time of a question asked by itself, vectors of texts kept.

    python scripts/tables/table_guided.py --state runs/guided-state

An hour on two CPU cores, `--ablations` eight.

With `--ablations` (its Table IV) nothing touches test: a scorer is trained without each source on
nine tenths of dev, all alike, and the search is judged on the last tenth.

    python scripts/tables/table_guided.py --ablations --embeddings runs/transe --epochs 4
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from jaxkg.experiments.measure import measure
from jaxkg.experiments.parts import encoder_kept
from jaxkg.experiments.record import Record, arguments
from jaxkg.experiments.rows import row
from jaxkg.experiments.seconds import Laps
from jaxkg.experiments.sets import Sets, sets
from jaxkg.kg import find_topics
from jaxkg.learn.edges.fit import fit_edge_scorer
from jaxkg.learn.edges.model import TrainedScorer, graph_vectors
from jaxkg.learn.edges.train import EdgeConfig
from jaxkg.learn.embeddings.fit import TrainedEmbeddings
from jaxkg.learn.mine import MinedPaths, mine_paths
from jaxkg.learn.supervision import answer_rows
from jaxkg.records import Question
from jaxkg.score.edges import EdgeSizes
from jaxkg.systems.guided import GuidedSearch, GuidedSettings
from jaxkg.text import HashingEncoder, TextEncoder
from jaxkg.types import NULL

_TIMED, _ALONE = 4096, 64

METRICS = ("micro_f1", "f1", "hit_any", "path_recall_at_1", "grounded")

SOURCES = {
    "text": "names and labels",
    "graph": "graph vectors",
    "context": "hop context",
    "learning": "learning of relation vectors",
}

ABLATIONS = (
    (),
    ("text",),
    ("graph",),
    ("context",),
    ("learning",),
    ("text", "context"),
    ("graph", "context"),
)
"""What each row leaves out; the fourth and the fifth are ours, the others the paper's."""


class World(NamedTuple):
    """What every training and search shares."""

    sets: Sets
    encoder: TextEncoder
    vectors: tuple[np.ndarray, np.ndarray] | None  # of entities and relation codes, from TransE


def train(
    world: World,
    questions: Sequence[Question],
    options: argparse.Namespace,
    *,
    without: Sequence[str] = (),
    mined: MinedPaths | None = None,
    state: Path | None = None,
) -> TrainedScorer:
    """A scorer that lacks some sources, with a line for every epoch."""
    laps = Laps()

    def on_epoch(epoch: int, loss: float, score: float) -> bool:
        print(f"epoch {epoch}: loss {loss:.4f}, F1 {score:.4f}, {laps.lap():.0f} s", flush=True)
        return True

    vectors = None if "graph" in without else world.vectors
    return fit_edge_scorer(
        world.sets.kg,
        world.sets.tensors,
        questions,
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
        mined=mined,
        linker=world.sets.linker,
        folder=state,
        seed=options.seed,
        on_epoch=on_epoch,
    )


def searching(world: World, scorer: TrainedScorer, width: int) -> GuidedSearch:
    return GuidedSearch.build(
        world.sets.kg,
        scorer,
        world.encoder,
        tensors=world.sets.tensors,
        linker=world.sets.linker,
        settings=GuidedSettings(width=width, threshold=0.0),  # as published, none withheld
    )


def seconds_a_question(qa: GuidedSearch, questions: Sequence[Question]) -> float:
    """Search and execution with witnesses, topics already linked, texts encoded on the way.

    Everything is compiled already: the questions have been answered before.
    """
    linked, laps = qa.link(questions), Laps()
    qa.follow(linked, qa.propose(linked))
    return laps.lap() / len(questions)


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


def alone(qa: GuidedSearch, questions: Sequence[Question]) -> float:
    """Median seconds of one question at a time, the first to compile left out."""
    spent = []
    for question in [questions[0], *questions]:
        laps = Laps()
        qa.answer([question])
        spent.append(laps.lap())
    return float(np.median(spent[1:]))


def ablations(world: World, record: Record, options: argparse.Namespace) -> None:
    """A row for every entry of `ABLATIONS`: F1 for each hop of a tenth of dev, none trained on."""
    draw = np.random.default_rng(options.seed)
    kg, learning, judged = world.sets.kg, [], []
    for name in world.sets.files:
        questions = world.sets.questions(name, "dev")
        order = draw.permutation(len(questions)).tolist()
        tenth = len(order) // 10
        judged.append([questions[i] for i in order[:tenth]][: options.questions])
        learning += [questions[i] for i in order[tenth:]]
    topics = [some.entities for some in find_topics(world.sets.linker, learning)]
    goals = [answer_rows(kg, question) for question in learning]
    mined = mine_paths(world.sets.tensors, topics, goals, hops=EdgeSizes.hops)
    hops = (f"{hop}-hop F1" for hop in range(1, len(judged) + 1))
    record.note(f"{sum(map(len, judged)):,} judged questions, greedy search")
    table = record.table("trained without", *hops, "seconds")
    for without in ABLATIONS:
        laps = Laps()
        label = ", ".join(SOURCES[name] for name in without) or "nothing"
        state = options.state and options.state / "-".join(("without", *without))
        scorer = train(world, learning, options, without=without, mined=mined, state=state)
        seconds, qa = laps.lap(), searching(world, scorer, 1)
        found = [measure(qa, questions, kg, options.seed) for questions in judged]
        table.add(label, *(each.metrics["f1"] for each in found), seconds)
        jax.clear_caches()


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("-o", "--output", type=Path, help="save the scorer here")
    parser.add_argument("--scorer", type=Path, help="use this one and train none")
    parser.add_argument("--state", type=Path, help="folder of the training's state")
    parser.add_argument(
        "--embeddings", type=Path, help="TransE of the graph; none reads text alone"
    )
    parser.add_argument("--hashing", action="store_true", help="hash words instead of MiniLM")
    parser.add_argument("--epochs", type=int, default=EdgeConfig.epochs)
    parser.add_argument("--steps", type=int, default=EdgeConfig.steps, help="an epoch")
    parser.add_argument("--learning-rate", type=float, default=EdgeConfig.learning_rate)
    parser.add_argument("--dtype", default=EdgeConfig.dtype, choices=("float32", "bfloat16"))
    parser.add_argument(
        "--leave-out",
        nargs="+",
        default=(),
        choices=tuple(SOURCES),
        help="train without " + "; ".join(f"{name}: {what}" for name, what in SOURCES.items()),
    )
    parser.add_argument(
        "--ablations", action="store_true", help="leave each out in turn, judge on dev alone"
    )
    parser.add_argument("--split", default="test", choices=("dev", "test"), help="to measure on")
    parser.add_argument("--questions", type=int, help="measure on the first so many of each hop")
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 3], help="1 is greedy")
    options = parser.parse_args(argv)
    if {"text", "graph"} <= set(options.leave_out):
        parser.error("leave out text or graph, not both")
    if not options.embeddings and ("text" in options.leave_out or options.ablations):
        parser.error("without text there must be --embeddings")
    record = Record(__file__, options, part="ablations" if options.ablations else "")
    metaqa, vectors = sets("metaqa", options.data), None
    encoder = HashingEncoder(buckets=512) if options.hashing else encoder_kept("minilm")
    if options.embeddings:
        vectors = graph_vectors(metaqa.kg, TrainedEmbeddings.open(options.embeddings))
    world = World(metaqa, encoder, vectors)
    if options.ablations:
        ablations(world, record, options)
        return record.save()
    if options.scorer:
        scorer = TrainedScorer.open(options.scorer)
    else:
        laps, without = Laps(), options.leave_out
        scorer = train(world, metaqa.every("dev"), options, without=without, state=options.state)
        record.note(f"mining and training: {laps.lap():.0f} s")
    if options.output:
        scorer.save(options.output)
    table = record.table("hops", "width", *METRICS, "expanded", "ms/question", "ms alone")
    for width in options.widths:
        qa = searching(world, scorer, width)
        for hop in (1, 2, 3):
            questions = metaqa.questions(f"metaqa-{hop}", options.split, limit=options.questions)
            found = measure(qa, questions, metaqa.kg, options.seed)
            timed, spent = questions[:_TIMED], seconds_a_question(qa, questions[:_TIMED])
            told = nodes_expanded(qa, timed), 1e3 * spent, 1e3 * alone(qa, timed[:_ALONE])
            table.add(hop, width, *row(found, METRICS), *told)
    record.save()


if __name__ == "__main__":
    main()
