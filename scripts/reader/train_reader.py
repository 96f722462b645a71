"""Makes the weights that the reader ships with, from public questions.

    python scripts/reader/train_reader.py phrases --encoder minilm -o FOLDER
    python scripts/reader/train_reader.py linking -o FOLDER
    python scripts/reader/train_reader.py own-linking --own scripts/own/graphs.tar.xz -o FOLDER
    python scripts/reader/train_reader.py examples --encoder minilm --source lcquad -o FOLDER
    python scripts/reader/train_reader.py fit --encoder minilm -o FOLDER

`phrases` trains the maps of phrases and labels, on questions of their own; `linking` tunes the
encoder that tells which relations a question asks for, on the phrasebook alone; `own-linking` goes
on with that on own graphs, once for each half of them without it and once on all; `examples` reads
the questions of one source (grailqa, lcquad, simple, made-up, spoken, sets, wiki-tables, own),
builds worlds around them and keeps the views of all readings; `fit` trains the ranker on what
was kept, fits the confidence on graphs that they were not trained on (`--own`, `--held`),
and writes the weights. Own graphs (`--own`, after `examples --source own`) are learnt from, too;
the confidence then reads what rankers say of those that they did not learn from, linked by what did
not learn from them either. Keeping the views takes a minute or two a source, `linking` and
`own-linking` a quarter of an hour or two, the others some minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from reader_questions import (
    BARE,
    ENCODERS,
    SOURCES,
    foreign,
    groups_of,
    own_choose,
    own_domains,
    spoke_of,
    worlds_of,
)
from training.examples import (
    Examples,
    gather,
    make_examples,
    no_examples,
    told_apart,
)
from training.fit import a_line, fit_confidence, fit_rankers, padded, sure_left_out
from training.fit_phrases import fit_phrases
from training.made_up_phrases import with_long_labels, with_made_up
from training.maker import Asked
from training.phrasebook import Domain, read_phrasebook
from training.spoken import spoken_world
from training.spoken_sets import set_questions
from training.worlds import make_world

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.ranking import CUES
from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.views import kept_views
from jaxkg.systems.reader.weights import ReaderWeights, change_arrays, change_in
from jaxkg.text import HashingEncoder, TextEncoder
from jaxkg.text.encoder import Change

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import unpacked
from lib.sets import sets
from lib.wiki_tables import TRAINED, answers_all, table_graphs, table_questions

VERSION = "2026.11-18"
OFTEN = 3
"""Times that an own graph counts; once without its classes."""
TABLES = "wiki-tables"
"""A source that the shipped weights did not learn from: it helps on such tables alone."""
HELD = ("metaqa-1", "metaqa-2", "metaqa-3", "pq-2h", "pq-3h", "pql-2h", "own")


def encoder_of(name: str, folder: Path) -> TextEncoder:
    if name == "hashing":
        return HashingEncoder()
    from jaxkg.text.minilm import default_encoder
    from jaxkg.text.vectors import CachedEncoder

    return CachedEncoder(default_encoder(), folder / "minilm.sqlite")


def examples_of(
    args: argparse.Namespace, encoder: TextEncoder, kg: KnowledgeGraph,
    questions: Sequence[tuple[Asked, tuple[str, ...]]], own: str = "",
) -> Examples:  # fmt: skip
    """Views of all readings, with the maps and the linking that were made before."""
    settings, change = ReaderSettings(), change_of(args, own)
    return make_examples(kg, questions, encoder, settings, maps_of(args), change)


def world_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    for number, group in enumerate(groups_of(args.source, args.data)[: worlds_of(args)]):
        alone = args.source == "made-up"
        seed, made_up = number + 500 * alone, 30 if alone else 8
        world = make_world(
            group, seed, made_up=made_up, alone=alone, longer=args.longer, gone=args.gone
        )
        yield examples_of(args, encoder, world.kg, [(one, ()) for one in world.asked])


def spoken_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    sets = args.source == "sets"
    for number in range(worlds_of(args)):
        more: dict[str, Any] = {"ask": set_questions} if sets else {}
        kg, asked = spoken_world(number + 2_000 * sets, 20, gone=args.gone, **more)
        yield examples_of(args, encoder, kg, [(one, ()) for one in asked])


def table_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    """Questions about tables of Wikipedia; a reading is right whose values are the answers."""

    def right(kg: KnowledgeGraph, asked: Asked, found: Sequence[Candidate]) -> np.ndarray:
        said = ([c.result] if c.result else list(map(kg.name, c.ends.tolist())) for c in found)
        return np.array([answers_all(some, sorted(asked.answers)) for some in said], bool)

    maps, change = maps_of(args), change_of(args)
    for _, kg, some in table_graphs(table_questions(args.wiki_tables, TRAINED)):
        asked = [(Asked(one.text, frozenset(one.answers)), ()) for one in some]
        yield make_examples(kg, asked, encoder, ReaderSettings(), maps, change, right_of=right)


def held_examples(args: argparse.Namespace, encoder: TextEncoder) -> Iterator[Examples]:
    """Questions to measure on: of MetaQA's dev part, of PathQuestion's train parts, own graphs'."""
    questions: list[tuple[Asked, tuple[str, ...]]] = []
    if args.source == "own":
        for name, kg, asked in own_choose(args):
            print(name, len(asked), flush=True)
            part = examples_of(args, encoder, kg, [(one, ()) for one in asked], name)
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
    yield examples_of(args, encoder, world.kg, questions)


def own_file(args: argparse.Namespace, name: str) -> Path:
    """Where the examples of one own graph are kept."""
    return args.output / f"{args.encoder}-own-{name}.npz"


def phrases(args: argparse.Namespace) -> None:
    spoke = list(spoke_of(args))
    print("questions", len(spoke), flush=True)
    ask, tell = fit_phrases(
        spoke, encoder_of(args.encoder, args.output), seed=args.seed, told=print
    )
    np.savez(args.output / f"{args.encoder}-phrases.npz", ask=ask, tell=tell)


def linking(args: argparse.Namespace) -> None:
    """Tunes the encoder that links relations, on the phrasebook alone."""
    from training.fit_linking import LinkingConfig, fit_linking

    from jaxkg.text.minilm import default_encoder

    args.output.mkdir(parents=True, exist_ok=True)
    book = book_of(args)
    questions = sum(len(domain.phrases) for domain in book)
    print("domains", len(book), "questions", questions, flush=True)
    config = LinkingConfig(epochs=args.linked, seed=args.seed)
    change = fit_linking(default_encoder(), book, config, told=print)
    np.savez(args.output / "linking.npz", **change_arrays(change))


def book_of(args: argparse.Namespace) -> list[Domain]:
    """The phrasebook with questions and labels made beside its own."""
    return [
        with_long_labels(with_made_up(domain, args.made_up, args.seed))
        for domain in read_phrasebook(args.phrasebook)
    ]


def own_linking(args: argparse.Namespace) -> None:
    """Goes on tuning on own graphs, beside some of the phrasebook's questions.

    What is told of an own graph afterwards, to a ranker or to the confidence, comes from the
    tuning without its half, so it is as good as it will be on a graph of somebody else.
    """
    from training.fit_linking import LinkingConfig, fit_linking

    from jaxkg.text.minilm import default_encoder

    with np.load(args.output / "linking.npz") as file:
        start = change_in(file)
    drawn = random.Random(args.seed)
    beside = [
        dataclasses.replace(domain, phrases=tuple(drawn.sample(domain.phrases, args.beside)))
        for domain in book_of(args)
    ]
    own = list(own_domains(args))
    config = LinkingConfig(epochs=3, batch=16, rate=5e-4, seed=args.seed)
    for half in ("", "-0", "-1"):
        some = [domain for domain in own if half != half_of(domain.title)]
        print(half, "graphs", len(some), "questions", sum(len(d.phrases) for d in some), flush=True)
        change = fit_linking(default_encoder(), [*some, *beside], config, start=start, told=print)
        np.savez(args.output / f"own-linking{half}.npz", **change_arrays(change))


def half_of(name: str) -> str:
    """Which half of the own graphs one is in, by its name alone."""
    return f"-{zlib.crc32(name.removesuffix(BARE).encode()) % 2}"


def change_of(args: argparse.Namespace, own: str = "") -> Change | None:
    """What `own-linking` made, else `linking`, if it did; hashed words are not linked.

    Args:
        args: of the command.
        own: a graph that it must not have learnt from.
    """
    names = (f"own-linking{half_of(own) if own else ''}.npz", "linking.npz")
    path = next((p for name in names if (p := args.output / name).exists()), None)
    if args.encoder == "hashing" or path is None:
        return None
    with np.load(path) as file:
        return change_in(file)


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
    kinds: dict[str, Any] = dict.fromkeys(("spoken", "sets"), spoken_examples)
    kinds[TABLES] = table_examples
    kinds |= dict.fromkeys(HELD, held_examples)
    found = kinds.get(args.source, world_examples)
    parts: list[Examples] = []
    for number, part in enumerate(found(args, encoder), start=1):
        parts.append(part)
        if number % (100 if args.source == TABLES else 10) == 0:
            whole, seconds = gather(parts), time.time() - began
            print(
                f"{number}: {whole.count} questions, {whole.lost} lost, {seconds:.0f} s",
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
    """The ranker, without a confidence yet.

    Args:
        args: of the command.
        encoder: of texts.
        own: own graphs whose questions are learnt from, too.
        seeds: of the rankers that are put together.
    """
    examples, data = no_examples(), {}
    for source in args.sources.split(","):
        part = Examples.open(args.output / f"{args.encoder}-{source}.npz")
        data[source] = part.count
        examples = examples + part
    for some, bare in (("own", False), ("own without classes", True)):
        names = [name for name in own if name.endswith(BARE) == bare]
        graphs = [Examples.open(own_file(args, name)) for name in names]
        data[some] = sum(part.count for part in graphs)
        for part in graphs * (1 if bare else args.often):
            examples = examples + part
    print("questions", data, flush=True)
    kept = kept_views(args.without)
    params, mean, scale = fit_rankers(
        *padded(examples, 64), kept=kept, epochs=args.epochs, seeds=seeds
    )
    about: dict[str, Any] = {
        "version": args.version,
        "encoder": args.encoder,
        "trained on": data,
        "without": args.without,
    }
    unknown = a_line(np.zeros(len(CUES), np.float32))
    change = change_of(args)
    if change is not None:
        about["tuned"] = encoder.revision.partition("-")[0]
    return ReaderWeights(params, mean, scale, unknown, 0.5, about, maps_of(args), change)


def fit(args: argparse.Namespace) -> None:
    encoder = encoder_of(args.encoder, args.output)
    own = list(own_choose(args))
    names = [name for name, _, _ in own]
    seeds = range(args.seed, args.seed + args.seeds)
    kept = args.rankers and ReaderWeights.open(args.rankers)
    weights = kept or learned(args, encoder, names, seeds)
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
                trained = dataclasses.replace(trained, change=change_of(args, name))
                ask(trained, ("bare-" if name.endswith(BARE) else "own-") + name, kg, asked)
    told, good = np.concatenate(cues), np.concatenate(right)
    graphs = [
        name.removeprefix("own-").removeprefix("bare-").removesuffix(BARE) for name in sources
    ]
    sure = sure_left_out(told, good, graphs)
    np.savez(
        args.output / f"{args.encoder}-told.npz", cues=told, right=good, names=sources, sure=sure
    )
    mine = np.array([name.startswith("own-") for name in sources])
    for least in (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7):
        for part, chosen in (("all", np.ones_like(mine)), ("own graphs left out", mine)):
            answered = sure[chosen] >= least
            shares = (some[chosen] & answered for some in (good, ~good))
            told_of = (round(float(share.mean()), 3) for share in shares if len(share))
            print("threshold", least, part, "right, wrong", *told_of)
    about = {
        **weights.about,
        "version": args.version,
        "held out": {"questions": len(good), "right": round(float(good.mean()), 4)},
    }
    fitted = fit_confidence(told, good)
    dataclasses.replace(weights, confidence=fitted, threshold=args.threshold, about=about).save(
        args.weights
    )


PARTS = {
    "phrases": phrases,
    "linking": linking,
    "own-linking": own_linking,
    "examples": make,
    "fit": fit,
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=list(PARTS))
    parser.add_argument("--encoder", choices=ENCODERS, default="minilm")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--wiki-tables",
        type=Path,
        default=Path("WikiTableQuestions"),
        help="folder of the data set",
    )
    book = Path(__file__).parent / "phrasebook.tar.xz"
    parser.add_argument("--phrasebook", type=Path, default=book)
    parser.add_argument("--linked", type=int, default=4, help="epochs over the phrasebook")
    parser.add_argument(
        "--made-up", type=int, default=48, help="questions made of the labels of each schema"
    )
    parser.add_argument(
        "--beside", type=int, default=16, help="questions of each schema beside own graphs"
    )
    parser.add_argument("--source", default="grailqa", choices=[*SOURCES, TABLES, *HELD])
    parser.add_argument("--sources", default=",".join(SOURCES))
    parser.add_argument("--held", type=int, default=6, help="worlds a source for the confidence")
    parser.add_argument("--groups", type=int, help="worlds to build, of about 20 questions each")
    parser.add_argument("--gone", type=float, default=0.05, help="share without an answer")
    parser.add_argument("--longer", type=float, default=0.5, help="share of longer questions")
    parser.add_argument(
        "--own", type=unpacked, help="own graphs: their `choose` halves are learnt, too"
    )
    parser.add_argument("--often", type=int, default=OFTEN, help="times an own graph counts")
    parser.add_argument("--folds", type=int, default=5, help="of own graphs, for the confidence")
    parser.add_argument("--unfitted", nargs="*", default=[], help="own graphs to leave out")
    parser.add_argument("--without", default="")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3, help="rankers put together as one")
    parser.add_argument("--rankers", type=Path, help="weights to fit nothing but a confidence for")
    parser.add_argument("--threshold", type=float, default=0.55)
    parser.add_argument("--version", default=VERSION)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of examples")
    parser.add_argument("--weights", type=Path, default=Path("reader.npz"))
    args = parser.parse_args(argv)
    PARTS[args.what](args)


if __name__ == "__main__":
    main()
