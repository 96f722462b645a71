"""Synonym search: all pairs of near names, against the rate of the bare matrix product.

python scripts/bench_synonyms.py --names 100000
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import TypeVar

import jax
import numpy as np

from jaxkg.kg.hypergraph.synonyms import components
from jaxkg.systems.proh.synonyms import near_names

T = TypeVar("T")


def gemm_rate(size: int, dim: int, seconds: float, rng: np.random.Generator) -> float:
    """Floating-point operations a second of [size, dim] @ [dim, size], float32, by XLA."""
    one, other = (jax.device_put(rng.standard_normal((size, dim), np.float32)) for _ in range(2))
    product = jax.jit(lambda a, b: a @ b.T)
    product(one, other).block_until_ready()
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        product(one, other).block_until_ready()
        best = min(best, time.perf_counter() - began)
    return 2.0 * size * size * dim / best


def names(count: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Random directions, every tenth a near copy of an earlier one."""
    vectors = rng.standard_normal((count, dim), np.float32)
    copies = np.arange(10, count, 10)
    vectors[copies] = vectors[copies - 5]
    vectors[copies] += 0.2 * rng.standard_normal((len(copies), dim), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def timed(run: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = run()
    return time.perf_counter() - began, result


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--names", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--block", type=int, default=4096)
    parser.add_argument("--threshold", type=float, default=0.85)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON, too")
    options = parser.parse_args(argv)
    rng = np.random.default_rng(options.seed)
    print(f"device {jax.devices()[0]}, jax {jax.__version__}, float32")
    vectors = names(options.names, options.dim, rng)
    near_names(vectors[: 2 * options.block], threshold=options.threshold, block_rows=options.block)
    rate = gemm_rate(options.block, options.dim, 3.0, rng)
    seconds, (pairs, _) = timed(
        lambda: near_names(vectors, threshold=options.threshold, block_rows=options.block)
    )
    rate_after = gemm_rate(options.block, options.dim, 3.0, rng)
    rate = max(rate, rate_after)
    blocks = -(-options.names // options.block)
    work = blocks * (blocks + 1) / 2 * 2.0 * options.block**2 * options.dim
    grouping, groups = timed(lambda: components(pairs, options.names))
    shared = int(np.count_nonzero(np.bincount(groups) > 1))
    told = {
        "names": options.names,
        "seconds": seconds,
        "pairs": len(pairs),
        "groups": shared,
        "grouping_seconds": grouping,
        "gflops": work / seconds / 1e9,
        "gemm_gflops": rate / 1e9,
        "share_of_gemm": work / seconds / rate,
    }
    print(
        f"{options.names:,} names, {options.dim}-d: {seconds:.1f} s, {len(pairs):,} pairs, "
        f"{shared:,} groups ({grouping:.2f} s); {told['gflops']:.1f} GFLOP/s computed, the bare "
        f"product {told['gemm_gflops']:.1f}: {told['share_of_gemm']:.0%}"
    )
    if options.json:
        print(json.dumps(told))


if __name__ == "__main__":
    main()
