"""Makes the weights that the reader ships with, from public questions.

    python scripts/reader/train_reader.py examples --encoder minilm --source lcquad -o FOLDER
    python scripts/reader/train_reader.py fit --encoder minilm -o FOLDER

`examples` reads the questions of one source (grailqa, lcquad, simple, freebase), builds worlds
around them and keeps the views of all readings; `fit` trains the ranker on what was kept, fits the
confidence on graphs that it was not trained on (`--own`, `--held`), and writes the weights. Keeping
the views takes minutes a source, `fit` a minute.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.confidence import CUES
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.training.examples import (
    Examples,
    gather,
    make_examples,
    no_examples,
    told_apart,
)
from jaxkg.systems.reader.training.fit import fit_confidence, fit_ranker
from jaxkg.systems.reader.training.maker import Asked
from jaxkg.systems.reader.training.sources import grailqa, lcquad, simple_questions
from jaxkg.systems.reader.training.worlds import grouped, make_world
from jaxkg.systems.reader.views import kept_views
from jaxkg.systems.reader.weights import ReaderWeights
from jaxkg.text import HashingEncoder, TextEncoder

VERSION = "2026.11-2"
WORLDS = ("grailqa", "lcquad", "simple", "made-up")


def encoder_of(name: str, folder: Path) -> TextEncoder:
    if name == "hashing":
        return HashingEncoder()
    from jaxkg.text.minilm import default_encoder
    from jaxkg.text.vectors import CachedEncoder

    return CachedEncoder(default_encoder(), folder / "minilm.sqlite")


def groups_of(source: str, data: Path) -> list[list[Mapping[str, Any]]]:
    files = {
        "made-up": lambda: grailqa(data / "question_graphs/grailqa_dev_5763.jsonl"),
        "grailqa": lambda: grailqa(data / "question_graphs/grailqa_dev_5763.jsonl"),
        "lcquad": lambda: lcquad(data / "question_graphs/lcquad1_train.jsonl"),
        "simple": lambda: simple_questions(
            data / "question_graphs/simplequestions_train.jsonl", count=1_500, seed=0
        ),
    }
    groups = [list(some) for some in grouped(files[source](), size=20, seed=0)]
    random.Random(3).shuffle(groups)
    return groups


def world_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    for number, group in enumerate(groups_of(args.source, args.data)[: args.groups]):
        alone = args.source == "made-up"
        world = make_world(group, number + 500 * alone, made_up=30 if alone else 8, alone=alone)
        yield make_examples(world.kg, [(one, ()) for one in world.asked], encoder, ReaderSettings())


def freebase_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    """WebQSP and CWQ training questions over the pooled graph with their gold subgraphs."""
    triples = set()
    for file in ("freebase_webqsp_cwq/kg_pooled.tsv", "question_graphs/kg_train_subgraphs.tsv"):
        for line in (args.data / file).read_text(encoding="utf-8").splitlines():
            triples.add(tuple(line.split("\t")[:3]))
    kg = KnowledgeGraph.from_triples(t for t in sorted(triples) if len(t) == 3 and all(t))
    asked: list[tuple[Asked, tuple[str, ...]]] = []
    for file, count in (("webqsp_train", args.groups * 10), ("cwq_train", args.groups * 10)):
        lines = (args.data / f"question_graphs/{file}.jsonl").read_text().splitlines()
        for line in random.Random(1).sample(lines, count):
            one = json.loads(line)
            if one["topics"] and one["answers"]:
                asked.append(
                    (
                        Asked(one["question"], frozenset(one["answers"]), partly=True),
                        tuple(one["topics"]),
                    )
                )
    random.Random(2).shuffle(asked)
    settings = ReaderSettings(expanded=30, looked_at=300)
    for first in range(0, len(asked), 100):
        yield make_examples(kg, asked[first : first + 100], encoder, settings)


def make(args: argparse.Namespace) -> None:
    args.output.mkdir(parents=True, exist_ok=True)
    encoder = encoder_of(args.encoder, args.output)
    began = time.time()
    found = freebase_examples if args.source == "freebase" else world_examples
    parts: list[Examples] = []
    for number, part in enumerate(found(args, encoder), start=1):
        parts.append(part)
        if number % 10 == 0 or args.source == "freebase":
            whole, seconds = gather(parts), time.time() - began
            print(
                f"{number}: {len(whole.offsets) - 1} questions, {whole.lost} lost, {seconds:.0f} s",
                flush=True,
            )
            keep(args, whole)
    keep(args, gather(parts))
    print("done", flush=True)


def keep(args: argparse.Namespace, some: Examples) -> None:
    np.savez(
        args.output / f"{args.encoder}-{args.source}.npz",
        views=some.views,
        right=some.right,
        offsets=some.offsets,
        lost=some.lost,
    )


def fit(args: argparse.Namespace) -> None:
    examples, data = no_examples(), {}
    for source in args.sources.split(","):
        with np.load(args.output / f"{args.encoder}-{source}.npz") as file:
            part = Examples(file["views"], file["right"], file["offsets"], int(file["lost"]))
        data[source] = len(part.offsets) - 1
        examples = examples + part
    print("questions", data)
    kept = kept_views(args.without)
    params, mean, scale = fit_ranker(
        examples,
        kept=kept,
        epochs=args.epochs,
        seed=args.seed,
        told=lambda e, loss: print(e, round(loss, 4)) if e % 10 == 9 else None,
    )
    about = {
        "version": args.version,
        "encoder": args.encoder,
        "trained on": data,
        "without": args.without,
    }
    weights = ReaderWeights(params, mean, scale, np.zeros(len(CUES), np.float32), 0.5, about)
    cues, right = [], []
    encoder = encoder_of(args.encoder, args.output)
    for source in args.held_out.split(","):
        for number, group in enumerate(
            groups_of(source, args.data)[-args.held :] if args.held else ()
        ):
            world = make_world(group, 10_000 + number, gone=0.15)
            reader = Reader.build(world.kg, encoder, weights=weights)
            told = told_apart(reader, world.asked)
            cues.append(told[0])
            right.append(told[1])
    for folder in sorted(args.own.iterdir()) if args.own else ():
        if folder.is_dir():
            kg = load_graph(next(folder.glob("facts.*")))
            lines = (folder / "choose.jsonl").read_text(encoding="utf-8").splitlines()
            told = told_apart(
                Reader.build(kg, encoder, weights=weights),
                [
                    Asked(one["question"], frozenset(one["answers"]))
                    for one in map(json.loads, lines)
                ],
            )
            cues.append(told[0])
            right.append(told[1])
    told, good = np.concatenate(cues), np.concatenate(right)
    line = fit_confidence(told, good)
    print("held out", len(good), "right", round(float(good.mean()), 3))
    sure = 1 / (1 + np.exp(-told @ line))
    for least in (0.3, 0.4, 0.5, 0.6, 0.7):
        print(
            "threshold",
            least,
            "right",
            round(float((good & (sure >= least)).mean()), 3),
            "wrong",
            round(float((~good & (sure >= least)).mean()), 3),
        )
    about["held out"] = {"questions": len(good), "right": round(float(good.mean()), 4)}
    ReaderWeights(params, mean, scale, line, args.threshold, about).save(args.weights)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["examples", "fit"])
    parser.add_argument("--encoder", choices=["minilm", "hashing"], default="minilm")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--source", default="grailqa", choices=[*WORLDS, "freebase"])
    parser.add_argument("--sources", default="grailqa,made-up,lcquad")
    parser.add_argument("--held-out", default="grailqa,lcquad")
    parser.add_argument("--held", type=int, default=0, help="worlds a source for the confidence")
    parser.add_argument(
        "--groups", type=int, default=32, help="worlds to build; times 20 questions"
    )
    parser.add_argument("--own", type=Path, help="own graphs: `choose` halves for the confidence")
    parser.add_argument("--without", default="")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threshold", type=float, default=0.6)
    parser.add_argument("--version", default=VERSION)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of examples")
    parser.add_argument("--weights", type=Path, default=Path("reader.npz"))
    args = parser.parse_args(argv)
    make(args) if args.what == "examples" else fit(args)


if __name__ == "__main__":
    main()
