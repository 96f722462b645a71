"""PathHD with no training at all: questions compared with relation labels, WebQSP, pooled graph.

Symbols that carry the meaning of their labels against random ones, for which the paper's text
projection (Eq. 2) is all there is. Bandwidth and length weights were chosen on 500 training
questions; test scores had been seen beside theirs in an earlier scan, so the choice is not blind.

    python scripts/table_pathhd_zero_shot.py --encoder minilm
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from jaxkg.evaluate.metrics.intervals import ratio_estimates
from jaxkg.kg import Linker, entity_rows, find_topics, read_graph, read_questions
from jaxkg.systems.pathhd import PathHD, PathHDSettings
from jaxkg.tensors import tensor_graph
from jaxkg.text.hashing import Encoder, HashingEncoder


def encoder_named(name: str) -> Encoder:
    if name == "hashing":
        return HashingEncoder()
    from jaxkg.text.minilm import MiniLM

    return MiniLM.open()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--encoder", default="minilm", choices=("minilm", "hashing"))
    parser.add_argument("--split", default="test", choices=("train", "validation", "test"))
    parser.add_argument("--limit", type=int, help="questions, drawn with the seed; all without")
    parser.add_argument("--seeds", type=int, default=1, help="of the hypervectors")
    parser.add_argument("--dimension", type=int, default=PathHDSettings.dimension)
    parser.add_argument("--bandwidth", type=float, nargs="+", default=[0.7])
    parser.add_argument("--two-hops", type=float, nargs="+", help="length weight of two hops")
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--data", type=Path, default=os.environ.get("JAXKG_DATA", "../shared/data"))
    options = parser.parse_args(argv)
    folder = Path(options.data) / "freebase_webqsp_cwq"
    kg = read_graph(folder / "kg_pooled.tsv")
    tensors, linker = tensor_graph(kg), Linker(kg)
    file = "webqsp_test" if options.split == "test" else f"webqsp_{options.split}_paths"
    questions = read_questions(folder / f"{file}.jsonl")
    if options.limit:
        drawn = np.random.default_rng(0).permutation(len(questions))[: options.limit]
        questions = [questions[i] for i in sorted(drawn.tolist())]
    topics = find_topics(linker, questions)
    gold = [
        {row for answer in question.answers or () for row in entity_rows(kg, answer)}
        for question in questions
    ]
    encoder = encoder_named(options.encoder)
    print(
        f"device {jax.devices()[0]}, jax {jax.__version__}, {os.cpu_count()} cores; "
        f"{options.split}, {len(questions):,} questions; {options.encoder}, "
        f"d = {options.dimension:,}\n"
    )
    print("| symbols | bandwidth | two hops | seed | hits_at_1 | any of 3 | questions/s |")
    print("|---" * 7 + "|")
    weights = options.two_hops or [PathHDSettings.length_weight[1]]
    rows = []
    trials = [("labels", b, w) for b in options.bandwidth for w in weights]
    for symbols, bandwidth, two in [*trials, ("random", None, 1.0)]:
        for seed in range(options.seeds):
            settings = PathHDSettings(
                query="text" if symbols == "labels" else "projection",
                symbols=symbols,
                dimension=options.dimension,
                bandwidth=bandwidth,
                length_weight=(1.0, two),
                hops=2,
            )
            qa = PathHD.build(
                kg, encoder=encoder, tensors=tensors, linker=linker, settings=settings, seed=seed
            )
            begin = time.perf_counter()
            found = qa.retrieve(qa.read(questions, topics), topics)
            best = qa.ground(found, topics, count=3)
            rate = len(questions) / (time.perf_counter() - begin)
            share = best.hits(gold, qa.named)
            order = np.argsort(~best.used, axis=1, kind="stable")[:, :3]
            three = np.take_along_axis(share, order, axis=1)
            values = np.stack([three[:, 0], three.max(axis=1) > 0], axis=1)
            estimates = ratio_estimates(values, np.ones_like(values))
            hit, any3 = (f"{e.value:.4f} ({e.low:.4f}–{e.high:.4f})" for e in estimates)
            told = "" if bandwidth is None else f"{bandwidth:g}"
            print(f"| {symbols} | {told} | {two:g} | {seed} | {hit} | {any3} | {rate:,.0f} |",
                  flush=True)  # fmt: skip
            rows.append({"symbols": symbols, "bandwidth": bandwidth, "two_hops": two, "seed": seed,
                         "hits_at_1": float(values[:, 0].mean()),
                         "any_of_3": float(values[:, 1].mean())})  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
