"""Fits how sure the reader is on what graphs hold and on what they do not.

    python scripts/reader/train_sure.py questions --encoder minilm --own scripts/own/graphs.tar.xz \
        --pairs FOLDER -o FOLDER
    python scripts/reader/train_sure.py fit --encoder minilm -o FOLDER --weights reader.npz

`questions` asks the shipped reader the `choose` halves of the own graphs that its views did not
learn from (`batches.tsv`), of each graph whole and of parts that lack what some questions need
(`training/absence.py`), and worlds around public questions; it keeps a file a graph, and one that
is there is not made again. With `--pairs`, a folder of `train_pair.py fit --fold`, sentences of own
graphs are scored by what learnt nothing of them. `fit` goes on from the shipped confidence: a line
and a perceptron beside it, over the same cues. It prints, for each of several thresholds, what
comes of questions of batches that were left out (`before`: the shipped confidence, which may have
learnt from them), and writes weights learnt from all. On two idle cores `questions` takes a quarter
of an hour with MiniLM, a fit some minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from reader_questions import ENCODERS, foreign, own_question
from table_reader import calibration_error
from training.absence import CHANCE, absences
from training.examples import best_right
from training.fit import fit_confidence, recalibrated
from training.maker import Asked

from jaxkg.experiments.loading import load_graph
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reader.ranking import CUES, confidence
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.vectors import ReaderTexts
from jaxkg.systems.reader.weights import ReaderWeights, shipped_weights
from jaxkg.text.best import encoder_kept

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import questions_of, unpacked
from lib.record import Record, arguments

STEPS = 80
"""Steps of a fit beside the earlier confidence; chosen on batches left out."""
RARE = 0.2
"""What a question counts whose graph lacks what it needs, once it is known which are less sure."""
FOLDS = ((0, 2), (1, 4), (3,), (5,))
"""Batches that are left out together."""
AWAYS = ("relation", "few", "topic", "class", "table")
WORLDS = -1
"""Batch of worlds around public questions, which are learnt from and not asked."""
FIELDS = ("cues", "right", "free", "gone", "gold", "how", "batch", "used")
LEAST = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)

Rows = dict[str, np.ndarray]
Params = Mapping[str, np.ndarray]


def rows_of(
    reader: Reader, questions: Sequence[tuple[Asked, bool, str]], how: str, batch: int
) -> Iterator[tuple[Any, ...]]:
    """What the confidence reads of questions, as `FIELDS`; 0 alone where nothing is read."""
    every = deque(reader.readings.asked(one.text) for one, _, _ in questions)
    reader.readings.encode(every)
    for one, gone, kind in questions:
        understood = reader.understood(reader.seen(every.popleft()), one.text)
        cues, right = understood.cues, False
        if cues is not None:
            right = best_right(reader.kg, one, understood)
        cues = np.zeros(len(CUES), np.float32) if cues is None else cues
        used = not (gone and right and kind in CHANCE)
        yield cues, right, understood.sure, gone, bool(one.answers), how, batch, used


def own_rows(
    name: str, folder: Path, batch: int, reader_of: Callable[[KnowledgeGraph], Reader]
) -> Iterator[tuple[Any, ...]]:
    """Of one own graph, whole and in parts."""
    kg = load_graph(next(folder.glob("facts.*")))
    told = questions_of(folder)
    for part in absences(name, kg, told):
        asked = [(own_question(kg, told[row]), gone, told[row]["kind"]) for row, gone in part.asked]
        yield from rows_of(reader_of(part.kg), asked, part.how, batch)


def questions(args: argparse.Namespace) -> None:
    args.output.mkdir(parents=True, exist_ok=True)
    encoder, shipped = encoder_kept(args.encoder), shipped_weights(args.encoder)
    texts = ReaderTexts.of(encoder, shipped.phrases, shipped.change_of(encoder))

    def reader_of(kg: KnowledgeGraph, weights: ReaderWeights = shipped) -> Reader:
        free = ReaderSettings(threshold=0.0)
        return Reader.build(kg, encoder, weights=weights, settings=free, texts=texts)

    lines = (Path(__file__).parent / "batches.tsv").read_text().splitlines()[1:]
    for name, batch, learnt in map(str.split, lines):
        path = args.output / f"{args.encoder}-{name}.npz"
        if learnt == "no" and not path.exists():
            weights = shipped
            if shipped.pair is not None and args.pairs is not None:
                with np.load(args.pairs / f"pair-fold{int(batch) % 4}-0.npz") as file:
                    weights = dataclasses.replace(shipped, pair={n: file[n] for n in file})
            of = functools.partial(reader_of, weights=weights)
            save(path, [*own_rows(name, args.own / name, int(batch), of)])
    path = args.output / f"{args.encoder}-worlds.npz"
    if not path.exists():
        rows: list[tuple[Any, ...]] = []
        for _, kg, asked in foreign(args):
            some = [(one, not one.answers, "") for one in asked]
            rows += rows_of(reader_of(kg), some, "world", WORLDS)
        save(path, rows)


def save(path: Path, rows: Sequence[tuple[Any, ...]]) -> None:
    arrays: dict[str, Any] = {name: np.array(some) for name, some in zip(FIELDS, zip(*rows))}
    np.savez_compressed(path, **arrays)
    print(path.stem, len(rows), flush=True)


def gathered(args: argparse.Namespace) -> Rows:
    """All questions that count, in one order."""
    parts = []
    for path in sorted(args.output.glob(f"{args.encoder}-*.npz")):
        with np.load(path) as file:
            parts.append({name: file[name] for name in FIELDS})
    rows = {name: np.concatenate([part[name] for part in parts]) for name in FIELDS}
    return {name: some[rows["used"]] for name, some in rows.items()}


def learnt(rows: Rows, some: np.ndarray, start: Params, seeds: Sequence[int]) -> Params:
    """A confidence that learnt from some questions, where anything is read of them."""
    some = some & (rows["cues"][:, 0] > 0)
    cues, right = rows["cues"][some], rows["right"][some]
    return fit_confidence(cues, right, seeds=seeds, steps=STEPS, start=start)


def calibration(sure: np.ndarray, right: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Slope and bias that make chances of questions left out calibrated (Platt), by Newton."""
    sure = np.clip(sure.astype(np.float64), 1e-4, 1 - 1e-4)
    table = np.stack([np.log(sure / (1 - sure)), np.ones(len(sure))], axis=1)
    line = np.array([1.0, 0.0])
    for _ in range(20):
        chance = 1 / (1 + np.exp(-table @ line))
        bend = (table * (weight * chance * (1 - chance))[:, None]).T @ table
        line -= np.linalg.solve(bend, table.T @ (weight * (chance - right)))
    return float(line[0]), float(line[1])


def fit(args: argparse.Namespace) -> None:
    rows, shipped = gathered(args), shipped_weights(args.encoder)
    start, batch, seeds = shipped.confidence, rows["batch"], range(args.seeds)
    own = (rows["cues"][:, 0] > 0) & (batch != WORLDS)
    sure = {"before": confidence(start, rows["cues"]), "now": np.zeros(len(batch), np.float32)}
    for left in FOLDS:
        there = np.isin(batch, left)
        params = learnt(rows, ~there, start, seeds)
        sure["now"][there] = confidence(params, rows["cues"][there])
    weight = np.where(rows["gone"], RARE, 1.0)[own]
    slope, bias = calibration(sure["now"][own], rows["right"][own], weight)
    odds = slope * np.log(sure["now"] / (1 - sure["now"]) + 1e-9) + bias
    sure["now"] = 1 / (1 + np.exp(-odds))
    record = Record(__file__, args, part=args.encoder)
    record.note(f"from weights {shipped.version}; slope {slope:.2f}, bias {bias:.2f}")
    for name, some in sure.items():
        table = record.table("threshold", *COLUMNS, title=f"{args.encoder}, {name}")
        for least in LEAST:
            table.add(str(least), *shares(rows, own & (some >= least)))
        whole = (rows["how"] == "whole") & own
        error = calibration_error(some[whole], rows["right"][whole])
        record.note(f"{name}: calibration error of whole graphs {error:.3f}")
    record.save()
    if args.weights is not None:
        params = learnt(rows, np.ones(len(batch), bool), start, seeds)
        about = {**shipped.about, "version": args.version}
        made = dataclasses.replace(
            shipped,
            confidence=recalibrated(params, slope, bias),
            threshold=args.threshold,
            about=about,
        )
        made.save(args.weights)


HOLDING = ("whole", "few", "table")
COLUMNS = (*(f"{how} {told}" for how in HOLDING for told in ("right", "wrong")), *AWAYS, "all gone")


def shares(rows: Rows, sure: np.ndarray) -> list[float]:
    """Shares where the graph holds what is asked, then wrong answers where it does not."""
    given, own = sure & rows["free"], rows["batch"] != WORLDS
    wrong = given & ~rows["right"]
    fine = np.where(rows["gold"], given & rows["right"], ~given)
    told = []
    for how in HOLDING:
        there = (rows["how"] == how) & ~rows["gone"]
        told += [fine[there].mean(), wrong[there].mean()]
    for how in (*AWAYS, None):
        there = rows["gone"] & own & (how is None or rows["how"] == how)
        told.append(wrong[there].mean())
    return [round(float(share), 3) for share in told]


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, seed=False)
    parser.add_argument("what", choices=("questions", "fit"))
    parser.add_argument("--encoder", choices=ENCODERS, default="minilm")
    parser.add_argument("--own", type=unpacked, help="own graphs")
    parser.add_argument("--pairs", type=Path, help="folder of pair scorers, one for each fold")
    parser.add_argument("--held", type=int, default=6, help="worlds a source")
    parser.add_argument("--seeds", type=int, default=2, help="trainings put together as one")
    parser.add_argument("--threshold", type=float, default=0.6)
    parser.add_argument("--version", help="of the weights")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of questions")
    parser.add_argument("--weights", type=Path, help="file to write")
    args = parser.parse_args(argv)
    {"questions": questions, "fit": fit}[args.what](args)


if __name__ == "__main__":
    main()
