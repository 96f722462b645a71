"""Synonym search: all pairs of near names, against the rate of the bare matrix product.

Two minutes on two CPU cores.

    python scripts/bench/bench_synonyms.py --names 100000
"""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np

from jaxkg.kg.hypergraph.edit import components
from jaxkg.systems.proh.synonyms import near_names

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers
from lib.seconds import best_seconds, fastest


def gemm_rate(size: int, dim: int, seconds: float, rng: np.random.Generator) -> float:
    """Floating-point operations a second of [size, dim] @ [dim, size], float32, by XLA."""
    one, other = (jax.device_put(rng.standard_normal((size, dim), np.float32)) for _ in range(2))
    product = jax.jit(lambda a, b: a @ b.T)
    return 2.0 * size * size * dim / best_seconds(lambda: product(one, other), seconds=seconds)


def names(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Random directions, every tenth a near copy of an earlier one."""
    vectors = rng.standard_normal((count, dim), np.float32)
    copies = np.arange(10, count, 10)
    vectors[copies] = vectors[copies - 5]
    vectors[copies] += 0.2 * rng.standard_normal((len(copies), dim), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    numbers(parser, names=100_000, dim=384, block=4096, threshold=0.85)
    options = parser.parse_args(argv)
    rng, record = np.random.default_rng(options.seed), Record(__file__, options)
    vectors = names(options.names, options.dim, rng)

    def near(some: np.ndarray):
        return near_names(some, threshold=options.threshold, block_rows=options.block)

    near(vectors[: 2 * options.block])  # compiles
    before = gemm_rate(options.block, options.dim, 3.0, rng)
    searched = fastest(lambda: near(vectors), repeats=1, warm=False)
    rate = max(before, gemm_rate(options.block, options.dim, 3.0, rng))
    pairs, _ = searched.result
    grouped = fastest(lambda: components(pairs, options.names), repeats=1, warm=False)
    groups = int(np.count_nonzero(np.bincount(grouped.result) > 1))
    blocks = -(-options.names // options.block)
    work = blocks * (blocks + 1) / 2 * 2.0 * options.block**2 * options.dim
    table = record.table(
        *("names", "dimensions", "seconds", "pairs", "groups", "s to group"),
        *("GFLOP/s", "GFLOP/s of the bare product", "share of it"),
    )
    flops = work / searched.seconds
    table.add(
        *(options.names, options.dim, searched.seconds, len(pairs), groups, grouped.seconds),
        *(flops / 1e9, rate / 1e9, flops / rate),
    )
    record.save()


if __name__ == "__main__":
    main()
