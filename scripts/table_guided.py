"""MetaQA, guided search with the hybrid edge scorer: trained on dev answers, measured on test.

No hop count, no path labels; a tenth of dev only chooses the epoch. With `--state` a training that
was stopped goes on where it was.

    python scripts/table_guided.py --vectors runs/minilm.vectors --state runs/guided-state

With `--ablations` (its Table IV) nothing touches test: a scorer is trained without each source on
nine tenths of dev, all alike, and the search is judged on the last tenth.

    python scripts/table_guided.py --ablations --embeddings runs/transe --epochs 4
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from jaxkg.cite import grounded
from jaxkg.evaluate import Estimate, evaluate, prediction_line
from jaxkg.evaluate.runs.tables import markdown_table
from jaxkg.kg import KnowledgeGraph, Linker, entity_rows, find_topics, read_graph, read_questions
from jaxkg.kg.link.topics import masked_texts
from jaxkg.learn.edges.fit import fit_edge_scorer
from jaxkg.learn.edges.model import TrainedScorer, graph_vectors
from jaxkg.learn.edges.train import EdgeConfig
from jaxkg.learn.embeddings.fit import TrainedEmbeddings
from jaxkg.learn.mine import MinedPaths, mine_paths
from jaxkg.records import Question
from jaxkg.score.edges import EdgeSizes
from jaxkg.systems.guided import GuidedSearch, GuidedSettings
from jaxkg.tensors import TensorGraph, tensor_graph
from jaxkg.text import HashingEncoder, TextEncoder
from jaxkg.text.minilm import MiniLM
from jaxkg.text.vectors import CachedEncoder

_TIMED = 4096

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
"""What each row leaves out; the first four and the last two are the paper's."""


class World(NamedTuple):
    """What every training and search shares."""

    kg: KnowledgeGraph
    tensors: TensorGraph
    linker: Linker
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
    begin = time.perf_counter()

    def on_epoch(epoch: int, loss: float, score: float) -> bool:
        spent = time.perf_counter() - begin
        print(f"epoch {epoch}: loss {loss:.4f}, F1 {score:.4f}, {spent:.0f} s", flush=True)
        return True

    vectors = None if "graph" in without else world.vectors
    return fit_edge_scorer(
        world.kg,
        world.tensors,
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
        linker=world.linker,
        folder=state,
        seed=options.seed,
        on_epoch=on_epoch,
    )


def searching(world: World, scorer: TrainedScorer, width: int) -> GuidedSearch:
    return GuidedSearch.build(
        world.kg,
        scorer,
        world.encoder,
        tensors=world.tensors,
        linker=world.linker,
        settings=GuidedSettings(width=width, threshold=0.0),  # as published, none withheld
    )


def measure(qa: GuidedSearch, questions: Sequence[Question], seed: int) -> dict[str, Estimate]:
    """Every metric of the answers to some questions."""
    kg = qa.kg

    def name_of(id: str) -> str | None:
        return kg.name(row[0]) if (row := kg.entity_ids.rows(id)) else None

    lines = []
    for first in range(0, len(questions), 2048):
        chunk = questions[first : first + 2048]
        lines += [
            prediction_line(q, a, check=lambda some: grounded(kg, some), name_of=name_of)
            for q, a in zip(chunk, qa.answer(chunk))
        ]
    return dict(evaluate(lines, seed=seed).metrics)


def seconds_a_question(qa: GuidedSearch, questions: Sequence[Question]) -> float:
    """Search and execution with witnesses, topics already linked, texts encoded on the way.

    Everything is compiled already: the questions have been answered before.
    """
    topics = find_topics(qa.linker, questions)
    masked = masked_texts(questions, topics)
    begin = time.perf_counter()
    plans = qa.search(masked, topics)
    qa.execute(plans, qa.used(plans), topics)
    return (time.perf_counter() - begin) / len(questions)


def shown(estimate: Estimate) -> str:
    return f"{estimate.value:.4f} ({estimate.low:.4f}–{estimate.high:.4f})"


def ablations(
    world: World, dev: Sequence[Sequence[Question]], options: argparse.Namespace
) -> list[dict]:
    """A row for every entry of `ABLATIONS`: F1 for each hop of a tenth of dev, none trained on."""
    draw = np.random.default_rng(options.seed)
    learning: list[Question] = []
    judged = []
    for questions in dev:
        order = draw.permutation(len(questions)).tolist()
        tenth = len(order) // 10
        judged.append([questions[i] for i in order[:tenth]][: options.questions])
        learning += [questions[i] for i in order[tenth:]]
    topics = [some.entities for some in find_topics(world.linker, learning)]
    goals = [[row for a in q.answers or () for row in entity_rows(world.kg, a)] for q in learning]
    mined = mine_paths(world.tensors, topics, goals, hops=EdgeSizes.hops)
    rows = []
    for without in ABLATIONS:
        begin = time.perf_counter()
        label = ", ".join(SOURCES[name] for name in without) or "nothing"
        print(f"without {label}", flush=True)
        state = options.state and options.state / "-".join(("without", *without))
        scorer = train(world, learning, options, without=without, mined=mined, state=state)
        row = {"without": list(without), "seconds": time.perf_counter() - begin, "hops": []}
        qa = searching(world, scorer, 1)
        for questions in judged:
            found = measure(qa, questions, options.seed)
            row["hops"].append({name: found[name].to_dict() for name in METRICS})
            print(f"  {shown(found['f1'])}", flush=True)
        rows.append(row | {"label": label})
        jax.clear_caches()
    print(f"\n{sum(map(len, judged)):,} judged questions, greedy search\n")
    header = ["trained without", *(f"{hop}-hop F1" for hop in range(1, len(judged) + 1))]
    cells = [
        [
            row["label"],
            *("{value:.4f} ({low:.4f}–{high:.4f})".format(**f["f1"]) for f in row["hops"]),
        ]
        for row in rows
    ]
    print(markdown_table(header, cells))
    return rows


def table(world: World, scorer: TrainedScorer, options: argparse.Namespace) -> list[dict]:
    """A row for every width and number of hops."""
    print(f"\n| hops | width | {' | '.join(METRICS)} | ms/question |")
    print("|---" * (len(METRICS) + 3) + "|")
    rows = []
    for width in options.widths:
        qa = searching(world, scorer, width)
        for hop in (1, 2, 3):
            path = Path(options.data) / "metaqa" / f"{hop}-hop" / f"qa_{options.split}.txt"
            questions = read_questions(path)[: options.questions]
            found = measure(qa, questions, options.seed)
            spent = seconds_a_question(qa, questions[:_TIMED])
            cells = " | ".join(shown(found[name]) for name in METRICS)
            print(f"| {hop} | {width} | {cells} | {1e3 * spent:.2f} |", flush=True)
            rows.append(
                {"hops": hop, "width": width, "seconds": spent}
                | {name: found[name].to_dict() for name in METRICS}
            )
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="save the scorer here")
    parser.add_argument("--scorer", type=Path, help="use this one and train none")
    parser.add_argument("--state", type=Path, help="folder of the training's state")
    parser.add_argument("--vectors", type=Path, help="keep text vectors in this file")
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
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    if {"text", "graph"} <= set(options.leave_out):
        parser.error("leave out text or graph, not both")
    if not options.embeddings and ("text" in options.leave_out or options.ablations):
        parser.error("without text there must be --embeddings")
    folder = Path(options.data) / "metaqa"
    kg = read_graph(folder / "kb.txt")
    encoder = HashingEncoder(buckets=512) if options.hashing else MiniLM.open()
    if options.vectors:
        encoder = CachedEncoder(encoder, options.vectors)
    vectors = None
    if options.embeddings:
        vectors = graph_vectors(kg, TrainedEmbeddings.open(options.embeddings))
    world = World(kg, tensor_graph(kg), Linker(kg), encoder, vectors)
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, encoder {encoder.name}", flush=True)
    dev = [read_questions(folder / f"{hop}-hop" / "qa_dev.txt") for hop in (1, 2, 3)]
    if options.ablations:
        rows = ablations(world, dev, options)
    else:
        begin = time.perf_counter()
        if options.scorer:
            scorer = TrainedScorer.open(options.scorer)
        else:
            every = [question for questions in dev for question in questions]
            scorer = train(world, every, options, without=options.leave_out, state=options.state)
            print(f"mining and training: {time.perf_counter() - begin:.0f} s")
        if options.output:
            scorer.save(options.output)
        rows = table(world, scorer, options)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
