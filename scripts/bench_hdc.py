"""How fast hypervector retrieval is: factored scoring beside encoding every path.

Prints a Markdown table, all rows from one run on one machine:

- the machine's own matrix-product rate per precision;
- exhaustive scoring of all R^3 three-hop relation sequences against one query (GHRR, d = 4,096);
- the same scores by encoding each path, in JAX, in PyTorch, and FHRR in torchhd (rows appear where
  `torch` and `torch-hd` are installed; they are needed for nothing else);
- the best 3 of all 100^4 four-hop sequences, with peak memory.

    python scripts/bench_hdc.py
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import resource
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.score import hdc
from jaxkg.score.hdc.similarity import inner, pack

CHUNK = 500  # paths encoded at a time by the rows that encode each path: fits a CPU's cache
PRECISIONS = ("float32", "bfloat16", "int8")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Speed of hypervector retrieval.")
    parser.add_argument("--relations", type=int, default=500, help="R of the three-hop rows")
    parser.add_argument("--four-hop", type=int, default=100, help="R of the four-hop rows")
    parser.add_argument("--blocks", type=int, default=256, help="D; d = 16 D")
    parser.add_argument("--batch", type=int, default=8, help="queries of the batched row")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4.0, help="time given to each slow row")
    args = parser.parse_args(argv)

    algebra = hdc.ghrr(args.blocks, 4, layout="pair")
    cores = os.cpu_count()
    print(f"{platform.processor() or platform.machine()}, {cores} cores, jax {jax.__version__}, "
          f"{jax.devices()[0].device_kind}, d = {algebra.dimension:,} complex entries")  # fmt: skip
    load = os.getloadavg()[0]
    if load > 1:
        print(f"note: load average {load:.1f} before the run, something else is using this machine")
    gemm = {p: gemm_cost(algebra.floats, p, args.repeats) for p in PRECISIONS}

    rows: list[tuple[str, float, str]] = []
    four = four_hops(algebra, args.four_hop, args.repeats, gemm, rows)
    three = three_hops(algebra, args.relations, args.batch, args.repeats, gemm, rows)
    naive = naive_jax(algebra, args.relations, args.seconds)
    rows.append(("encode each path, GHRR in JAX", naive, ""))
    torch_rows(algebra, args.relations, args.seconds, rows)

    print("\n| matrix product | GFLOP/s | GFLOP per CPU second |\n|---|---|---|")
    for precision, cost in gemm.items():
        print(f"| {precision} | {1e-9 / cost.wall:,.0f} | {1e-9 / cost.cpu:,.0f} |")
    base = {name: rate for name, rate, _ in rows}.get("encode each path, GHRR in PyTorch")
    print("\n| scoring | paths/s | x PyTorch GHRR | note |\n|---|---|---|---|")
    for name, rate, note in rows:
        ratio = f"{rate / base:,.0f}" if base else "not measured"
        print(f"| {name} | {rate:,.0f} | {ratio} | {note} |")
    print(f"\n{three}\n\n{four}")


class Cost(NamedTuple):
    """Seconds of the fastest call. CPU time is what counts where others use the machine too."""

    wall: float
    cpu: float


def best_time(call: Callable[[], Any], repeats: int) -> Cost:
    """Time `call`, which must not compile."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        jax.block_until_ready(call())
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Cost(min(walls), min(cpus))


def compiled(
    algebra: hdc.Algebra, table: jax.Array, queries: jax.Array, **options: Any
) -> Callable[[], hdc.RankedPaths]:
    """`exhaustive` compiled for these arguments and not yet run."""
    program = hdc.exhaustive.lower(algebra, table, queries, **options).compile()
    return lambda: program(table, queries)


def gemm_cost(floats: int, precision: str, repeats: int) -> Cost:
    """Seconds per operation of a large product with the same inner size."""
    costs = []
    for rows in (512, 2048):
        a = pack(jax.random.normal(jax.random.key(0), (rows, floats)), precision)
        b = pack(jax.random.normal(jax.random.key(1), (rows, floats)), precision)
        product = jax.jit(inner).lower(a, b).compile()
        product(a, b)
        cost = best_time(lambda a=a, b=b, f=product: f(a, b), 4 * repeats)
        operations = 2 * rows * rows * floats
        costs.append(Cost(cost.wall / operations, cost.cpu / operations))
    return Cost(*(min(c) for c in zip(*costs)))


def three_hops(
    algebra: hdc.Algebra,
    relations: int,
    batch: int,
    repeats: int,
    gemm: dict[str, Cost],
    rows: list[tuple[str, float, str]],
) -> str:
    """All R^3 sequences for one query; a batch over a smaller table; recall of rounded tables."""
    table = algebra.random((relations,), key=jax.random.key(0))
    plans, weights = jnp.array([[1, 2, 3], [4, 2, 3]]), jnp.array([0.7, 0.3])
    query = hdc.encode_bundle(algebra, table, plans, weights)[None]
    for precision in PRECISIONS:
        run = compiled(algebra, table, query, min_length=3, precision=precision)
        add_row(rows, f"factored {relations}^3, {precision}", relations**3,
                best_time(run, repeats), algebra, gemm[precision])  # fmt: skip
    small = max(8, relations // 5)
    starts = jax.random.randint(jax.random.key(2), (batch, 3), 0, small)
    queries = hdc.encode_paths(algebra, table, starts)
    lines = [
        f"Recall of the 100 best of {small}^3, {batch} queries, against float32:\n",
        "| tables | as swept | 29 more rescored | certified |\n|---|---|---|---|",
    ]
    exact = None
    for precision in PRECISIONS:
        options: dict[str, Any] = {"min_length": 3, "precision": precision}
        run = compiled(algebra, table[:small], queries, **options)
        add_row(rows, f"factored {small}^3, {batch} queries, {precision}", batch * small**3,
                best_time(run, repeats), algebra, gemm[precision])  # fmt: skip
        found = [
            hdc.exhaustive(algebra, table[:small], queries, k=100, slack=slack, **options)
            for slack in (0, 29)
        ]
        exact = exact or found[0]
        recalls = [f"{recall(f, exact):.4f}" for f in found]
        certified = np.asarray(found[1].certified).mean()
        lines.append(f"| {precision} | {recalls[0]} | {recalls[1]} | {certified:.0%} |")
    return "\n".join(lines)


def four_hops(
    algebra: hdc.Algebra,
    relations: int,
    repeats: int,
    gemm: dict[str, Cost],
    rows: list[tuple[str, float, str]],
) -> str:
    """Top 3 of all R^4 sequences; returns what to print about time and memory."""
    table = algebra.random((relations,), key=jax.random.key(0))
    truth = (5, 7 % relations, 5, 2)
    query = hdc.encode(algebra, table[jnp.array(truth)])[None]
    lines = []
    for precision in ("float32", "bfloat16"):
        start = time.perf_counter()
        run = compiled(algebra, table, query, min_length=4, max_length=4, precision=precision)
        compiling = time.perf_counter() - start
        cost = best_time(run, repeats)
        add_row(rows, f"factored {relations}^4, {precision}", relations**4, cost, algebra,
                gemm[precision])  # fmt: skip
        found = run()
        right = tuple(found.paths[0, 0].tolist()) == truth
        scores = ", ".join(f"{s:.4f}" for s in found.score[0].tolist())
        lines.append(
            f"Top 3 of {relations}^4, {precision}: {cost.wall:.1f} s after {compiling:.1f} s of "
            f"compilation, scores {scores}, planted path first: {right}, "
            f"certified: {bool(found.certified[0])}."
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return "\n".join([*lines, f"Peak memory of the process after it: {peak:.2f} GiB."])


def add_row(
    rows: list[tuple[str, float, str]],
    name: str,
    paths: int,
    cost: Cost,
    algebra: hdc.Algebra,
    gemm: Cost,
) -> None:
    """Paths per second, and how near the sweep is to nothing but its matrix product."""
    product = 2 * algebra.floats * paths
    note = (
        f"{cost.wall:.1f} s; {product * gemm.wall / cost.wall:.0%} of the matrix-product rate "
        f"({product * gemm.cpu / cost.cpu:.0%} by CPU time)"
    )
    rows.append((name, paths / cost.wall, note))


def naive_jax(algebra: hdc.Algebra, relations: int, seconds: float) -> float:
    """Paths per second of encode-then-compare."""
    table = algebra.random((relations,), key=jax.random.key(0))

    @jax.jit
    def score(table: jax.Array, paths: jax.Array) -> jax.Array:
        encoded = hdc.encode_paths(algebra, table, paths)
        return jax.vmap(lambda x: algebra.similarity(table[0], x))(encoded)

    paths = jax.random.randint(jax.random.key(1), (CHUNK, 3), 0, relations)
    return throughput(lambda: jax.block_until_ready(score(table, paths)), seconds)


def torch_rows(
    algebra: hdc.Algebra, relations: int, seconds: float, rows: list[tuple[str, float, str]]
) -> None:
    """The same, the way one writes it in PyTorch; and torchhd's FHRR at the same d."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        print("torch is not installed: its rows are left out")
        return
    torch.set_num_threads(os.cpu_count() or 1)
    paths = torch.from_numpy(np.random.default_rng(0).integers(0, relations, (CHUNK, 3)))
    blocks = algebra.dimension // 16
    gaussian = torch.randn(relations, blocks, 4, 4, dtype=torch.complex64)
    table = torch.linalg.qr(gaussian).Q
    query = table[0]

    def ghrr() -> Any:
        with torch.inference_mode():
            x = table[paths[:, 0]] @ table[paths[:, 1]] @ table[paths[:, 2]]
            dot = (query.conj() * x).real.sum(dim=(-2, -1))
            norm = torch.linalg.matrix_norm(x) * torch.linalg.matrix_norm(query)
            return (dot / norm).mean(dim=-1)

    rows.append(("encode each path, GHRR in PyTorch", throughput(ghrr, seconds),
                 f"torch {torch.__version__}"))  # fmt: skip
    try:
        torchhd = importlib.import_module("torchhd")
    except ImportError:
        print("torch-hd is not installed: its row is left out")
        return
    phasors = torchhd.random(relations, algebra.dimension, "FHRR")

    def fhrr() -> Any:
        with torch.inference_mode():
            x = phasors[paths[:, 0]].bind(phasors[paths[:, 1]]).bind(phasors[paths[:, 2]])
            return torchhd.cosine_similarity(phasors[0], x)

    rows.append(("encode each path, FHRR in torchhd", throughput(fhrr, seconds), ""))


def throughput(call: Callable[[], Any], seconds: float) -> float:
    """Paths per second, by the fastest call on CHUNK paths within the time given."""
    call()
    end, best = time.perf_counter() + seconds, float("inf")
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return CHUNK / best


def recall(found: hdc.RankedPaths, truth: hdc.RankedPaths) -> float:
    shares = []
    for got, right in zip(np.asarray(found.paths).tolist(), np.asarray(truth.paths).tolist()):
        wanted = set(map(tuple, right))
        shares.append(len(wanted & set(map(tuple, got))) / len(wanted))
    return float(np.mean(shares))


if __name__ == "__main__":
    main()
