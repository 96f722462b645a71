"""What each part of the reader and each source of questions brings: trained without it, asked anew.

    python scripts/reader/ablate_reader.py -o FOLDER --record
    python scripts/reader/ablate_reader.py -o FOLDER --share 0.3 --seeds 1 --epochs 6

FOLDER keeps the examples of `train_reader.py examples`; those that it has are taken as they are,
the others are made: of every source that the shipped weights learn from, and of what is asked,
MetaQA's dev part, PathQuestion's train parts, the `choose` halves of the own graphs. No part of a
benchmark that is reported elsewhere is asked. Own graphs are learnt from, too, so each row is
trained twice, on either half of the graphs, and asks the other half; where FOLDER has what
`train_reader.py own-linking` makes, relations are linked by what learnt from the other half, too. A
number is the share of questions whose best reading is right, mean and deviation over seeds and
halves; of the wrong readings those 60 that look best are ranked. All of it takes about an hour on
two cores; `--share`, `--seeds` and `--epochs` make it cheaper, and stand above the table.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import train_reader
from train_reader import BARE, ENCODERS, HELD, OFTEN, SOURCES, half_of
from training.examples import Examples, gather, no_examples
from training.fit import fit_ranker, padded

from jaxkg.systems.reader.ranking import rank_on_host
from jaxkg.systems.reader.views import kept_views
from jaxkg.systems.reader.weights import change_arrays, shipped_weights

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import GRAPHS
from lib.record import Record, arguments

PARTS = ("vectors", "overlap", "types", "length", "turns", "linking")
ROWS = (
    "",
    *(f"without {part}" for part in PARTS),
    *(f"no {source}" for source in (*SOURCES, "own graphs")),
)
HALVES = ("-0", "-1")


def best_right(some: Examples, scores: np.ndarray) -> float:
    """Share of questions, those without a right reading among them, whose best one is right."""
    pairs = itertools.pairwise(some.offsets.tolist())
    hits = sum(bool(some.right[a + int(np.argmax(scores[a:b]))]) for a, b in pairs)
    return hits / (some.count + some.lost)


def examples_of(name: str, options: argparse.Namespace) -> Examples:
    """What the folder has of a source or of what is asked; made where it is missing."""
    path = options.output / f"{options.encoder}-{name}.npz"
    if not path.exists():
        worlds = SOURCES.get(name, (32, 32))[ENCODERS.index(options.encoder)]
        told = ["examples", "--encoder", options.encoder, "--source", name, "-o", str(path.parent)]
        told += ["--groups", str(max(1, round(options.share * worlds)))]
        train_reader.main([*told, "--data", str(options.data), "--own", str(GRAPHS)])
    return Examples.open(path)


def own_half(half: str, options: argparse.Namespace) -> tuple[Examples, Examples]:
    """Own graphs of a half as they are asked, and as they are learnt from."""
    start = f"{options.encoder}-own-"
    paths = sorted(options.output.glob(f"{start}*.npz"))
    names = [path.stem.removeprefix(start) for path in paths]
    mine = [(name, Examples.open(p)) for name, p in zip(names, paths) if half_of(name) == half]
    often = [part for name, part in mine for _ in range(1 if name.endswith(BARE) else OFTEN)]
    return gather(part for _, part in mine), gather(often)


def keep_shipped(options: argparse.Namespace) -> None:
    """The maps of phrases and labels, and the encoder that links, are not trained anew."""
    shipped = shipped_weights(options.encoder)
    path = options.output / f"{options.encoder}-phrases.npz"
    if shipped.phrases is not None and not path.exists():
        np.savez(path, ask=shipped.phrases[0], tell=shipped.phrases[1])
    path = options.output / "linking.npz"
    if shipped.change is not None and not path.exists():
        np.savez(path, **change_arrays(shipped.change))


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("--encoder", default="minilm", choices=ENCODERS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--share", type=float, default=1.0, help="of the worlds and questions")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of examples")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    options.output.mkdir(parents=True, exist_ok=True)
    keep_shipped(options)
    held = {name: examples_of(name, options) for name in HELD}
    parts = {name: examples_of(name, options) for name in SOURCES}
    halves = {half: own_half(half, options) for half in HALVES}
    record.note(f"examples made or read after {time.process_time():.0f} CPU seconds")
    told = f"{options.encoder}, {options.seeds} seeds, {options.epochs} epochs"
    table = record.table("trained", *HELD, title=f"{told}, {options.share:.0%} of the recipe")

    def measure(row: str) -> None:
        examples = gather(part for name, part in parts.items() if row != f"no {name}")
        kept = kept_views(row.removeprefix("without ") if row.startswith("without ") else "")
        found = []
        for seed, (other, half) in itertools.product(range(options.seeds), (HALVES, HALVES[::-1])):
            learnt = no_examples() if row == "no own graphs" else halves[other][1]
            params, mean, scale = fit_ranker(
                *padded(examples + learnt, 64), kept=kept, seed=seed, epochs=options.epochs
            )
            asked = {**held, "own": halves[half][0]}.values()
            scores = [rank_on_host(params, (some.views - mean) * scale) for some in asked]
            found.append([best_right(*pair) for pair in zip(asked, scores)])
        shown = zip(np.mean(found, axis=0), np.std(found, axis=0))
        table.add(row or "all", *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in shown))

    for row in ROWS:
        measure(row)
    taught = ", ".join(f"{name} {some.count}" for name, some in parts.items())
    asked = ", ".join(f"{name} {some.count + some.lost}" for name, some in held.items())
    record.note(f"learnt from: {taught}; asked: {asked}; {time.process_time():.0f} CPU seconds")
    record.save()


if __name__ == "__main__":
    main()
