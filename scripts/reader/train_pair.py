"""Trains the pair scorer: how well a sentence says what a question asks.

    python scripts/reader/train_pair.py readings --own scripts/own/graphs.tar.xz -o FOLDER
    python scripts/reader/train_pair.py fit -o FOLDER --weights reader.npz
    python scripts/reader/train_pair.py fit -o FOLDER --fold 0

`readings` asks the reader, by its views alone, every question of the own graphs' `choose` halves
and of worlds around public questions (`--worlds`), and keeps the likeliest readings in plain words
with which are right, a file a graph. `fit` learns from them, listwise, over frozen token states.
With `--fold` it learns from the graphs outside one of four folds and prints what it chooses on
those within: alone, beside the views, the views alone. Graphs of one batch, which are by the same
hands, are in one fold (`batches.tsv`); those that the reader's views learnt from teach the
sentences alone and are not asked. With `--weights` the parameters go into a file of the reader's
weights. A part of `readings` that is there is not made again. On two idle cores `readings` takes a
quarter of an hour, the token states five minutes and a fit two.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from reader_questions import BARE, groups_of, own_choose
from training.examples import right_readings
from training.fit import init_pair
from training.maker import Asked
from training.spoken import spoken_world
from training.spoken_sets import set_questions
from training.worlds import make_world

from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.loop import Program, program, run, shuffled
from jaxkg.readings import say
from jaxkg.readings.pair import WORDS, padded_states, pair_parts
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.weights import ReaderWeights
from jaxkg.text.minilm import MiniLM, default_encoder

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.own import unpacked

READINGS = 10
FOLDS = 4
VIEWS = 3.0
"""What the views count beside the sentences; chosen on own graphs left out."""
FIRST_WORLD, FIRST_GROUP = 50_000, 40
"""Worlds and questions that nothing else of the reader learns from."""


@dataclasses.dataclass
class Asking:
    """A question with its R readings.

    Attributes:
        text: the question.
        said: R sentences.
        scores: [R] of the views.
        right: [R] bool.
        learnt: whether the views learnt from its graph.
        fold: of its graph; -1 is never left out.
    """

    text: str
    said: list[str]
    scores: np.ndarray
    right: np.ndarray
    learnt: bool = False
    fold: int = -1


def graphs_of(args: argparse.Namespace) -> Iterator[tuple[str, KnowledgeGraph, Sequence[Asked]]]:
    """Own graphs, then worlds around public questions."""
    for name, kg, asked in own_choose(args):
        if not name.endswith(BARE):
            yield f"own-{name}", kg, asked
    groups = {s: groups_of(s, args.data) for s in ("simple", "lcquad", "grailqa") if args.worlds}
    for number in range(args.worlds):
        for source, some in groups.items():
            seed = FIRST_WORLD + number
            world = make_world(some[FIRST_GROUP + number], seed, made_up=4, longer=0.3, gone=0.05)
            yield f"world-{source}-{number}", world.kg, world.asked
        yield f"world-spoken-{number}", *spoken_world(FIRST_WORLD + number, 20)
        kg, asked = spoken_world(FIRST_WORLD + 1_000 + number, 15, ask=set_questions)
        yield f"world-sets-{number}", kg, asked


def readings(args: argparse.Namespace) -> None:
    args.output.mkdir(parents=True, exist_ok=True)
    encoder = default_encoder()
    for name, kg, asked in graphs_of(args):
        path = args.output / f"{name}.jsonl"
        if path.exists():
            continue
        reader = Reader.build(kg, encoder, settings=ReaderSettings(choose="views"))
        lines = []
        for one in asked:
            seen = reader.look(one.text)
            if not seen.found:
                continue
            right = right_readings(kg, one, seen.found)
            order = np.argsort(-seen.scores, kind="stable")
            kept = order[:READINGS].tolist()
            if not right[kept].any():
                kept += order[right[order]][:1].tolist()
            said = [say(kg, seen.found[place].query) for place in kept]
            line = {"text": one.text, "said": said, "right": right[kept].tolist()}
            lines.append(json.dumps(line | {"scores": seen.scores[kept].tolist()}))
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        print(name, len(lines), flush=True)


def askings(args: argparse.Namespace) -> list[Asking]:
    """What `readings` kept."""
    lines = (Path(__file__).parent / "batches.tsv").read_text("utf-8").splitlines()[1:]
    batches = {name: (int(batch), use == "yes") for name, batch, use in map(str.split, lines)}
    found = []
    for path in sorted(args.output.glob("*.jsonl")):
        world = path.stem.startswith("world-")
        batch, known = (-1, True) if world else batches[path.stem.removeprefix("own-")]
        fold = -1 if world else batch % FOLDS
        for raw in map(json.loads, path.read_text("utf-8").splitlines()):
            scores, right = np.array(raw["scores"], np.float32), np.array(raw["right"], bool)
            found.append(Asking(raw["text"], raw["said"], scores, right, known, fold))
    return found


class States:
    """Token states of all texts, encoded once, in float16."""

    def __init__(self, encoder: MiniLM, texts: Sequence[str], path: Path) -> None:
        once = list(dict.fromkeys(texts))
        if path.exists():
            with np.load(path) as file:
                self.states, self.offsets = file["states"], file["offsets"]
                known = file["texts"].tobytes().decode("utf-8", "surrogatepass").split("\0")
        else:
            known, size = [], encoder.dimension
            self.states, self.offsets = np.zeros((0, size), np.float16), np.zeros(1, np.int64)
        missing = sorted(set(once) - set(known), key=len)
        parts, sizes = [self.states], []
        for first in range(0, len(missing), 2_048):
            made = encoder.states(missing[first : first + 2_048])
            parts.append(np.concatenate(made).astype(np.float16))
            sizes += [len(some) for some in made]
            print("encoded", first + len(made), "of", len(missing), flush=True)
        self.states = np.concatenate(parts)
        self.offsets = np.r_[self.offsets, self.offsets[-1] + np.cumsum(sizes, dtype=np.int64)]
        known += missing
        if missing:
            whole = np.frombuffer("\0".join(known).encode("utf-8", "surrogatepass"), np.uint8)
            np.savez(path, states=self.states, offsets=self.offsets, texts=whole)
        self.place = {text: row for row, text in enumerate(known)}

    def of(self, texts: Sequence[str]) -> list[np.ndarray]:
        rows = [self.place[text] for text in texts]
        return [self.states[self.offsets[row] : self.offsets[row + 1]] for row in rows]


def batch_of(some: Sequence[Asking], states: States, drawn: Any = None) -> tuple[np.ndarray, ...]:
    """Questions as arrays: states and tokens of both sides, scores, right, valid, use of views."""
    asked, there = padded_states(states.of([one.text for one in some]), WORDS[0])
    count = READINGS + 1
    said = np.zeros((len(some), count, WORDS[1], asked.shape[-1]), np.float32)
    tokens = np.zeros((len(some), count, WORDS[1]), bool)
    scores = np.full((len(some), count), -1e4, np.float32)
    right, valid = np.zeros((2, len(some), count), bool)
    for row, one in enumerate(some):
        size = len(one.said)
        said[row], tokens[row] = padded_states(states.of(one.said), WORDS[1], count)
        scores[row, :size], right[row, :size], valid[row, :size] = one.scores, one.right, True
    if drawn is not None:  # words that are left out of a step; never the mark that begins a text
        there[:, 1:] &= drawn.random(there[:, 1:].shape) > 0.1
        tokens[..., 1:] &= drawn.random(tokens[..., 1:].shape) > 0.1
    use = np.array([not one.learnt for one in some])
    return asked, there, said, tokens, scores, right, valid, use


def sentence_scores(params: Mapping[str, Any], batch: Sequence[Any]) -> jax.Array:
    """[B, R] scores of the sentences of a batch."""
    parts = functools.partial(pair_parts, params, xp=jnp)
    return jax.vmap(parts)(*batch[:4])[..., 0]


def pair_loss(params: Mapping[str, Any], *batch: Any) -> jax.Array:
    """Mean negative log-probability of the right readings, by sentences and with the views."""
    scores, right, valid, use = batch[4:]
    alone = sentence_scores(params, batch)
    both = jnp.where(use[:, None], alone + scores, alone)
    return _listwise(both, right, valid) + 0.5 * _listwise(alone, right, valid)


def _listwise(scores: jax.Array, right: jax.Array, valid: jax.Array) -> jax.Array:
    scores = jnp.where(valid, scores, -1e9)
    good = jax.nn.logsumexp(jnp.where(right, scores, -1e9), axis=1)
    return (jax.nn.logsumexp(scores, axis=1) - good).mean()


@functools.lru_cache
def _fitting(steps: int, rate: float) -> Program:
    schedule = optax.warmup_cosine_decay_schedule(0.0, rate, steps // 10, steps)
    return program(pair_loss, optax.adamw(schedule, weight_decay=0.05))


def fit_pair(
    some: Sequence[Asking], states: States, *, seed: int, epochs: int, batch: int = 16
) -> dict[str, np.ndarray]:
    """Parameters of `pair_parts`; questions without a right reading teach nothing."""
    some = [one for one in some if one.right.any()]
    per_epoch = -(-len(some) // batch)
    made = _fitting(epochs * per_epoch, 1e-3)
    drawn = np.random.default_rng(seed)
    rows = shuffled(len(some), batch, epochs=epochs, seed=seed)
    start = jax.tree.map(jnp.asarray, init_pair(seed))
    found = run(
        made.step,
        made.init(start),
        (batch_of([some[row] for row in r], states, drawn) for r in rows),
        steps=epochs * per_epoch,
        per_epoch=per_epoch,
        on_epoch=lambda epoch, loss, _: print("epoch", epoch, round(loss, 3), flush=True),
    ).weights
    params = {name: np.asarray(array) for name, array in found.items()}
    for name in ("line", "outer"):  # beside views that count once
        params[name] = params[name] / np.float32(VIEWS)
    return {name: a.astype(np.float16).astype(np.float32) for name, a in params.items()}


def chosen(params: Mapping[str, Any], some: Sequence[Asking], states: States) -> dict[str, float]:
    """Shares of questions for which a right reading comes first."""
    score = jax.jit(functools.partial(sentence_scores, params))
    first: dict[str, list[bool]] = {"views": [], "pair": [], "both": [], "any": []}
    for start in range(0, len(some), 16):
        part = [some[min(row, len(some) - 1)] for row in range(start, start + 16)]
        alone = np.asarray(score(batch_of(part, states)[:4]))
        for one, row in list(zip(part, alone))[: len(some) - start]:
            sentences = row[: len(one.said)]
            by = {"views": one.scores, "pair": sentences, "both": one.scores + sentences}
            for name, scores in by.items():
                first[name].append(bool(one.right[scores.argmax()]))
            first["any"].append(bool(one.right.any()))
    return {name: round(float(np.mean(right)), 3) for name, right in first.items()}


def fit(args: argparse.Namespace) -> None:
    every = askings(args)
    encoder = default_encoder()
    texts = [text for one in every for text in (one.text, *one.said)]
    states = States(encoder, texts, args.output / "states.npz")
    some = [one for one in every if args.fold is None or one.fold != args.fold]
    print("questions", len(some), flush=True)
    params = fit_pair(some, states, seed=args.seed, epochs=args.epochs)
    name = "all" if args.fold is None else f"fold{args.fold}"
    arrays: dict[str, Any] = dict(params)
    np.savez(args.output / f"pair-{name}-{args.seed}.npz", **arrays)
    if args.fold is not None:
        left = [one for one in every if one.fold == args.fold and not one.learnt]
        print("left out", len(left), chosen(params, left, states), flush=True)
    if args.weights is not None:
        weights = ReaderWeights.open(args.weights)
        about = {**weights.about, "pair": {"questions": len(some), "seed": args.seed}}
        dataclasses.replace(weights, pair=params, about=about).save(args.weights)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("readings", "fit"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--own", type=unpacked, help="own graphs")
    parser.add_argument("--unfitted", nargs="*", default=[], help="own graphs to leave out")
    parser.add_argument("--worlds", type=int, default=30, help="worlds of each source")
    parser.add_argument("--fold", type=int, help="default: all are learnt from")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--weights", type=Path, help="reader's weights that the parameters go into")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of readings")
    args = parser.parse_args(argv)
    {"readings": readings, "fit": fit}[args.what](args)


if __name__ == "__main__":
    main()
