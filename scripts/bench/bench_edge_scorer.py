"""The edge scorer's two forms on the same edges: edges a second, and how far their scores differ.

The plain form is taken whole and in the blocks that suit the factored one; the ratio is against the
faster of the two. A minute.

    python scripts/bench/bench_edge_scorer.py --edges 8192
"""

from __future__ import annotations

import functools
import sys
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

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import best_seconds, fastest


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


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    numbers(parser, edges=8192, nodes=4096, rounds=3)
    parser.add_argument("--block", type=int, default=256, help="of the plain form; divides --edges")
    parser.add_argument("--questions", type=int, default=64, help="that the edges belong to")
    parser.add_argument("--text", type=int, nargs="+", default=[384, 1536], help="of text vectors")
    options = parser.parse_args(argv)
    draw = np.random.default_rng(options.seed)
    record = Record(__file__, options)
    heads = ("plain, edges/s", "plain in blocks", "factored", "ratio", "tables, s", "differ by")
    table = record.table("text", "weights", *heads)
    for text in options.text:
        sizes = EdgeSizes(text=text, question=text)
        params = init_edge_scorer(sizes, key=jax.random.key(options.seed))

        def normal(count: int, width: int) -> np.ndarray:
            return draw.normal(size=(count, width)).astype(np.float32)

        # Output layers start at 0, and every score with them.
        params = jax.tree.map(
            lambda leaf: leaf + 0.02 * draw.normal(size=leaf.shape).astype(np.float32), params
        )

        vectors, questions, edges = jax.device_put(
            (
                [
                    normal(options.nodes, text),
                    normal(options.nodes, sizes.graph),
                    normal(18, text),
                    normal(18, sizes.graph),
                ],
                normal(options.questions, text),
                [
                    draw.integers(0, high, options.edges).astype(np.int32)
                    for high in (options.questions, sizes.hops, options.nodes, 18, options.nodes)
                ],
            )
        )
        inputs = EdgeInputs(*vectors)
        made = jax.jit(edge_tables)
        tables = made(params, inputs)
        making = best_seconds(lambda p=params, i=inputs, m=made: m(p, i))
        (whole, _, one), (blocks, _, _), (fast, _, other) = (
            fastest(run, repeats=options.rounds)
            for run in (
                functools.partial(plain, params, inputs, questions, *edges, block=options.edges),
                functools.partial(plain, params, inputs, questions, *edges, block=options.block),
                functools.partial(factored, params, tables, questions, *edges),
            )
        )
        weights = sum(leaf.size for leaf in jax.tree.leaves(params))
        rates = (options.edges / seconds for seconds in (whole, blocks, fast))
        differ = f"{float(np.abs(np.asarray(one) - np.asarray(other)).max()):.1e}"
        table.add(text, weights, *rates, min(whole, blocks) / fast, making, differ)
    record.save()


if __name__ == "__main__":
    main()
