"""The edge scorer's two forms on the same edges: edges a second, and how far their scores differ.

The plain form is taken whole and in the blocks that suit the factored one; the ratio is against the
faster of the two.

python scripts/bench_edge_scorer.py --edges 8192
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from jaxkg.score.edges import (
    EdgeInputs,
    EdgeSizes,
    context_rows,
    depth_log_probabilities,
    edge_tables,
    hop_context,
    init_edge_scorer,
    question_rows,
    score_at,
    score_edges,
)


@functools.partial(jax.jit, static_argnames="block")
def plain(params, inputs, questions, *edges, block):
    depth = depth_log_probabilities(params, questions)

    def score(edges):
        asked, hop, node, relation, target = edges
        context = hop_context(depth[asked], hop)
        return score_edges(params, inputs, questions[asked], context, node, relation, target)

    return jax.lax.map(score, [column.reshape(-1, block) for column in edges]).ravel()


@jax.jit
def factored(params, tables, questions, asked, hop, node, relation, target):
    depth = depth_log_probabilities(params, questions)
    hops = jax.numpy.arange(depth.shape[1], dtype=jax.numpy.int32)
    contexts = jax.vmap(lambda at: hop_context(depth, jax.numpy.full(len(depth), at)))(hops)
    of_context = context_rows(params, contexts).reshape(-1, tables.node.shape[1])
    parts = (question_rows(params, questions), *tables, of_context)
    places = (asked, node, relation, target, hop * len(depth) + asked)
    return score_at(params, parts, places)


def fastest(run: Callable[[], jax.Array], rounds: int) -> tuple[float, np.ndarray]:
    scores = np.asarray(run())
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run().block_until_ready()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), scores


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--edges", type=int, default=8192)
    parser.add_argument("--block", type=int, default=256, help="of the plain form; divides --edges")
    parser.add_argument("--questions", type=int, default=64, help="that the edges belong to")
    parser.add_argument("--nodes", type=int, default=4096)
    parser.add_argument("--text", type=int, nargs="+", default=[384, 1536], help="of text vectors")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    options = parser.parse_args(argv)
    draw = np.random.default_rng(options.seed)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, {cores} cores\n")
    print(
        "| text | weights | plain, edges/s | plain in blocks | factored | ratio | tables, s | "
        "differ by |"
    )
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    for text in options.text:
        sizes = EdgeSizes(text=text, question=text)
        params = init_edge_scorer(sizes, key=jax.random.key(options.seed))

        def table(count: int, width: int) -> np.ndarray:
            return draw.normal(size=(count, width)).astype(np.float32)

        # Output layers start at 0, and every score with them.
        params = jax.tree.map(
            lambda leaf: leaf + 0.02 * draw.normal(size=leaf.shape).astype(np.float32), params
        )

        vectors, questions, edges = jax.device_put(
            (
                [
                    table(options.nodes, text),
                    table(options.nodes, sizes.graph),
                    table(18, text),
                    table(18, sizes.graph),
                ],
                table(options.questions, text),
                [
                    draw.integers(0, high, options.edges).astype(np.int32)
                    for high in (options.questions, sizes.hops, options.nodes, 18, options.nodes)
                ],
            )
        )
        inputs = EdgeInputs(*vectors)
        made = jax.jit(edge_tables)
        jax.block_until_ready(made(params, inputs))
        begin = time.perf_counter()
        tables = jax.block_until_ready(made(params, inputs))
        making = time.perf_counter() - begin
        (whole, one), (blocks, _) = (
            fastest(
                lambda p=params, i=inputs, q=questions, e=edges, b=block: plain(
                    p, i, q, *e, block=b
                ),
                options.rounds,
            )
            for block in (options.edges, options.block)
        )
        fast, other = fastest(
            lambda p=params, t=tables, q=questions, e=edges: factored(p, t, q, *e), options.rounds
        )
        weights = sum(leaf.size for leaf in jax.tree.leaves(params))
        differ = float(np.abs(one - other).max())
        seconds = {"plain": whole, "plain in blocks": blocks, "factored": fast}
        rows.append({"text": text, "seconds": seconds, "differ": differ})
        rates = " | ".join(f"{options.edges / some:,.0f}" for some in seconds.values())
        print(
            f"| {text} | {weights:,} | {rates} | {min(whole, blocks) / fast:.1f} | {making:.2f} | "
            f"{differ:.1e} |",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
