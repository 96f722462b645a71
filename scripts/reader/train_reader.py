"""Makes the weights that the reader ships with, from public questions.

    python scripts/reader/train_reader.py phrases --encoder minilm -o FOLDER
    python scripts/reader/train_reader.py examples --encoder minilm --source lcquad -o FOLDER
    python scripts/reader/train_reader.py fit --encoder minilm -o FOLDER

`phrases` trains the maps of phrases and labels, on questions of their own; `examples` reads the
questions of one source (grailqa, lcquad, simple, made-up, spoken, sets, freebase, own), builds
worlds around them and keeps the views of all readings; `fit` trains the ranker and the second look
on what was kept, fits the confidence on graphs that they were not trained on (`--own`, `--held`),
and writes the weights. Own graphs (`--own`, after `examples --source own`) are learnt from, too;
the confidence then reads what rankers say of those that they did not learn from. Keeping the views
takes a minute or two a source, the others some minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.experiments.loading import load_graph
from jaxkg.experiments.sets import sets
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.confidence import CUES
from jaxkg.systems.reader.reading import Readings
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.training.examples import (
    Examples,
    gather,
    make_examples,
    no_examples,
    told_apart,
)
from jaxkg.systems.reader.training.fit import fit_confidence, fit_rankers, padded
from jaxkg.systems.reader.training.fit_phrases import Spoke, fit_phrases
from jaxkg.systems.reader.training.fit_second import fit_second
from jaxkg.systems.reader.training.maker import Asked
from jaxkg.systems.reader.training.own_world import without_classes
from jaxkg.systems.reader.training.sources import grailqa, lcquad, simple_questions
from jaxkg.systems.reader.training.spoken import spoken_world
from jaxkg.systems.reader.training.spoken_sets import set_questions
from jaxkg.systems.reader.training.worlds import grouped, make_world
from jaxkg.systems.reader.views import kept_views
from jaxkg.systems.reader.weights import ReaderWeights
from jaxkg.text import HashingEncoder, TextEncoder

VERSION = "2026.11-9"
SOURCES = {
    "spoken": (80, 60),
    "sets": (70, 50),
    "grailqa": (32, 24),
    "made-up": (32, 24),
    "lcquad": (32, 24),
    "simple": (32, 24),
}
"""What the shipped rankers learn from: worlds of each source, for MiniLM and for hashing."""
ENCODERS = ("minilm", "hashing")
BARE = "-bare"
"""Ends the name of an own graph whose classes are taken away."""
HELD = ("metaqa-1", "metaqa-2", "metaqa-3", "pq-2h", "pq-3h", "pql-2h", "own")


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


def worlds_of(args: argparse.Namespace) -> int:
    """As many as are asked for, or as the shipped weights learnt from."""
    return args.groups or SOURCES.get(args.source, (32, 32))[ENCODERS.index(args.encoder)]


def world_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    for number, group in enumerate(groups_of(args.source, args.data)[: worlds_of(args)]):
        alone = args.source == "made-up"
        seed, made_up = number + 500 * alone, 30 if alone else 8
        world = make_world(
            group, seed, made_up=made_up, alone=alone, longer=args.longer, gone=args.gone
        )
        questions = [(one, ()) for one in world.asked]
        yield make_examples(world.kg, questions, encoder, ReaderSettings(), maps_of(args))


def spoken_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    sets = args.source == "sets"
    for number in range(worlds_of(args)):
        kg, asked = (
            spoken_world(2_000 + number, 20, gone=args.gone, ask=set_questions)
            if sets
            else spoken_world(number, 20, gone=args.gone)
        )
        questions = [(one, ()) for one in asked]
        yield make_examples(kg, questions, encoder, ReaderSettings(), maps_of(args))


def freebase_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    """WebQSP and CWQ training questions over the pooled graph with their gold subgraphs."""
    triples = set()
    for file in ("freebase_webqsp_cwq/kg_pooled.tsv", "question_graphs/kg_train_subgraphs.tsv"):
        for line in (args.data / file).read_text(encoding="utf-8").splitlines():
            triples.add(tuple(line.split("\t")[:3]))
    kg = KnowledgeGraph.from_triples(t for t in sorted(triples) if len(t) == 3 and all(t))
    asked: list[tuple[Asked, tuple[str, ...]]] = []
    for file in ("webqsp_train", "cwq_train"):
        lines = (args.data / f"question_graphs/{file}.jsonl").read_text().splitlines()
        for line in random.Random(1).sample(lines, 10 * worlds_of(args)):
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
        yield make_examples(kg, asked[first : first + 100], encoder, settings, maps_of(args))


def held_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    """Questions to measure on: of MetaQA's dev part, of PathQuestion's train parts, own graphs'."""
    questions: list[tuple[Asked, tuple[str, ...]]] = []
    if args.source == "own":
        for name, kg, asked in own_choose(args):
            print(name, len(asked), flush=True)
            part = make_examples(
                kg, [(one, ()) for one in asked], encoder, ReaderSettings(), maps_of(args)
            )
            part.save(own_file(args, name))
            yield part
        return
    world = sets("metaqa" if args.source.startswith("metaqa") else args.source, args.data)
    part = "dev" if args.source.startswith("metaqa") else "train"
    drawn = world.questions(args.source, part)
    for one in random.Random(9).sample(drawn, 5 * worlds_of(args)):
        told = (one.text[slice(*one.mention)],) if one.mention is not None else ()
        asked = Asked(one.text, frozenset(one.answers or ()))
        questions.append((asked, one.topics or told))
    yield make_examples(world.kg, questions, encoder, ReaderSettings(), maps_of(args))


def own_choose(
    args: argparse.Namespace,
) -> Iterator[tuple[str, KnowledgeGraph, list[Asked]]]:
    """The own graphs with the questions that may be looked at, each also without its classes."""
    for folder in sorted(args.own.iterdir()) if args.own else ():
        if (folder / "choose.jsonl").exists() and folder.name not in args.unfitted:
            lines = (folder / "choose.jsonl").read_text(encoding="utf-8").splitlines()
            kg = load_graph(next(folder.glob("facts.*")))
            for name, graph in ((folder.name, kg), (folder.name + BARE, without_classes(kg))):
                if graph is not None:
                    yield name, graph, [own_question(graph, json.loads(line)) for line in lines]


def own_question(kg: KnowledgeGraph, one: Mapping[str, Any]) -> Asked:
    """A question about an own graph; a value among its answers by the id that it has there."""
    if one["kind"] in ("count", "yesno"):
        return Asked(one["question"], frozenset(one["answers"]))
    rows = [kg.entity_ids.rows(a) or kg.entity_names.rows(a) for a in one["answers"]]
    ids = (kg.entity_ids[r[0]] if r else a for r, a in zip(rows, one["answers"]))
    return Asked(one["question"], frozenset(ids))


def own_file(args: argparse.Namespace, name: str) -> Path:
    """Where the examples of one own graph are kept."""
    return args.output / f"{args.encoder}-own-{name}.npz"


def spoke_of(args: argparse.Namespace) -> Iterator[Spoke]:
    """Phrases and labels of questions that the ranker is not trained on."""
    file = args.data / "question_graphs/simplequestions_train.jsonl"
    simple = simple_questions(file, count=6_000, seed=1)
    groups = [list(some) for some in grouped(simple, size=24, seed=1)]
    worlds = [make_world(group, 30_000 + n, made_up=0) for n, group in enumerate(groups)]
    graphs = [(world.kg, world.asked) for world in worlds]
    graphs += [spoken_world(5_000 + number, 15) for number in range(100)]
    for kg, asked in graphs:
        readings = Readings(kg, None, ReaderSettings())
        label = dict(zip(kg.relations, (r.wordings[0] for r in readings.vocabulary.relations)))
        for one in asked:
            right = {label[name] for name in one.relations}
            wrong = sorted(set(label.values()) - right)
            phrases = readings.asked(one.text).alignment.texts()[:-1]
            if phrases:
                yield Spoke(tuple(phrases), tuple(sorted(right)), tuple(wrong))


def phrases(args: argparse.Namespace) -> None:
    spoke = list(spoke_of(args))
    print("questions", len(spoke), flush=True)
    ask, tell = fit_phrases(
        spoke, encoder_of(args.encoder, args.output), seed=args.seed, told=print
    )
    np.savez(args.output / f"{args.encoder}-phrases.npz", ask=ask, tell=tell)


def maps_of(args: argparse.Namespace) -> tuple[np.ndarray, np.ndarray] | None:
    """What `phrases` made, if it did."""
    path = args.output / f"{args.encoder}-phrases.npz"
    if not path.exists():
        return None
    with np.load(path) as file:
        return file["ask"], file["tell"]


def make(args: argparse.Namespace) -> None:
    args.output.mkdir(parents=True, exist_ok=True)
    encoder = encoder_of(args.encoder, args.output)
    began = time.time()
    kinds = {"freebase": freebase_examples, "spoken": spoken_examples, "sets": spoken_examples}
    kinds |= dict.fromkeys(HELD, held_examples)
    found = kinds.get(args.source, world_examples)
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
    some.save(args.output / f"{args.encoder}-{args.source}.npz")


def learned(
    args: argparse.Namespace, encoder: TextEncoder, own: Sequence[str], seeds: Sequence[int]
) -> ReaderWeights:
    """The ranker and the second look, without a confidence yet.

    Args:
        args: of the command.
        encoder: of texts.
        own: own graphs whose questions are learnt from, too.
        seeds: of the rankers that are put together.
    """
    examples, data = no_examples(), {}
    for source in args.sources.split(","):
        part = Examples.open(args.output / f"{args.encoder}-{source}.npz")
        data[source] = len(part.offsets) - 1
        examples = examples + part
    for some, bare in (("own", False), ("own without classes", True)):
        names = [name for name in own if name.endswith(BARE) == bare]
        graphs = [Examples.open(own_file(args, name)) for name in names]
        data[some] = sum(len(part.offsets) - 1 for part in graphs)
        for part in graphs * (1 if bare else args.often):
            examples = examples + part
    print("questions", data, flush=True)
    kept = kept_views(args.without)
    params, mean, scale = fit_rankers(
        *padded(examples, 64), kept=kept, epochs=args.epochs, seeds=seeds
    )
    second = None
    if "second look" not in args.without:
        maps = args.encoder != "hashing" and "maps" not in args.without
        second = fit_second(
            examples, encoder, kept=kept, maps=maps, epochs=args.epochs, seeds=seeds
        )
    about = {
        "version": args.version,
        "encoder": args.encoder,
        "trained on": data,
        "without": args.without,
    }
    line = np.zeros(len(CUES), np.float32)
    return ReaderWeights(params, mean, scale, line, 0.5, about, second, maps_of(args))


def foreign(args: argparse.Namespace) -> Iterator[tuple[str, KnowledgeGraph, Sequence[Asked]]]:
    """Graphs and questions that the ranker was not trained on, some of them without an answer."""
    for source in ("grailqa", "lcquad", "simple"):
        groups = groups_of(source, args.data)[-args.held :]
        for number, group in enumerate(groups):
            world = make_world(group, 10_000 + number, made_up=6, gone=0.2, longer=0.3)
            yield f"{source} {number}", world.kg, world.asked
        # One world of all their domains: a large schema, as Freebase has.
        whole = make_world([one for some in groups for one in some], 20_000, made_up=0, gone=0.2)
        yield f"{source} large", whole.kg, whole.asked[:: max(1, len(whole.asked) // 60)]
    for number in range(2 * args.held):
        kg, asked = spoken_world(10_000 + number, 15, gone=0.2)
        yield f"spoken {number}", kg, asked
        kg, asked = spoken_world(12_000 + number, 15, gone=0.2, ask=set_questions)
        yield f"sets {number}", kg, asked


def fit(args: argparse.Namespace) -> None:
    encoder = encoder_of(args.encoder, args.output)
    own = list(own_choose(args))
    names = [name for name, _, _ in own]
    seeds = range(args.seed, args.seed + args.seeds)
    weights = learned(args, encoder, names, seeds)
    cues, right, sources = [], [], []

    def ask(trained: ReaderWeights, name: str, kg: KnowledgeGraph, asked: Sequence[Asked]) -> None:
        told, good = told_apart(Reader.build(kg, encoder, weights=trained), asked)
        cues.append(told)
        right.append(good)
        sources.extend([name] * len(good))
        print(name, len(good), round(float(good.mean()), 3), flush=True)

    for name, kg, asked in foreign(args):
        ask(weights, name.split()[0], kg, asked)
    graphs = [name for name in names if not name.endswith(BARE)]
    drawn = np.random.default_rng(args.seed).permutation(graphs).tolist()
    for fold in range(args.folds if own else 0):
        # What is learnt of a graph must not tell how sure the reader is about others.
        left = set(drawn[fold :: args.folds])
        others = [name for name in names if name.removesuffix(BARE) not in left]
        trained = learned(args, encoder, others, seeds[:1])
        for name, kg, asked in own:
            if name.removesuffix(BARE) in left:
                ask(trained, ("bare-" if name.endswith(BARE) else "own-") + name, kg, asked)
    told, good = np.concatenate(cues), np.concatenate(right)
    np.savez(args.output / f"{args.encoder}-told.npz", cues=told, right=good, names=sources)
    line = fit_confidence(told, good)
    sure = 1 / (1 + np.exp(-told @ line))
    mine = np.array([name.startswith("own-") for name in sources])
    for least in (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7):
        for part, chosen in (("all", np.ones_like(mine)), ("own graphs left out", mine)):
            answered = sure[chosen] >= least
            shares = (some[chosen] & answered for some in (good, ~good))
            told_of = (round(float(share.mean()), 3) for share in shares if len(share))
            print("threshold", least, part, "right, wrong", *told_of)
    about = {
        **weights.about,
        "held out": {"questions": len(good), "right": round(float(good.mean()), 4)},
    }
    dataclasses.replace(weights, confidence=line, threshold=args.threshold, about=about).save(
        args.weights
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["phrases", "examples", "fit"])
    parser.add_argument("--encoder", choices=ENCODERS, default="minilm")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--source", default="grailqa", choices=[*SOURCES, "freebase", *HELD])
    parser.add_argument("--sources", default=",".join(SOURCES))
    parser.add_argument("--held", type=int, default=6, help="worlds a source for the confidence")
    parser.add_argument("--groups", type=int, help="worlds to build, of about 20 questions each")
    parser.add_argument("--gone", type=float, default=0.05, help="share without an answer")
    parser.add_argument("--longer", type=float, default=0.5, help="share of longer questions")
    parser.add_argument(
        "--own", type=Path, help="own graphs: their `choose` halves are learnt, too"
    )
    parser.add_argument("--often", type=int, default=3, help="times that an own graph counts")
    parser.add_argument("--folds", type=int, default=5, help="of own graphs, for the confidence")
    parser.add_argument("--unfitted", nargs="*", default=[], help="own graphs to leave out")
    parser.add_argument("--without", default="")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3, help="rankers put together as one")
    parser.add_argument("--threshold", type=float, default=0.55)
    parser.add_argument("--version", default=VERSION)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of examples")
    parser.add_argument("--weights", type=Path, default=Path("reader.npz"))
    args = parser.parse_args(argv)
    {"phrases": phrases, "examples": make, "fit": fit}[args.what](args)


if __name__ == "__main__":
    main()
