"""How fast hypervector retrieval is: factored scoring beside encoding every path.

Three minutes on two CPU cores; all rows are from one run on one machine:

- the machine's own matrix-product rate per precision;
- exhaustive scoring of all R^3 three-hop relation sequences against one query (GHRR, d = 4,096);
- the same scores by encoding each path, in JAX, in PyTorch, and FHRR in torchhd (rows appear where
  `torch` and `torch-hd` are installed; they are needed for nothing else);
- the best 3 of all 100^4 four-hop sequences, with peak memory.

    python scripts/bench/bench_hdc.py
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.experiments.programs import peak_memory
from jaxkg.score import hdc
from jaxkg.score.hdc.similarity import inner, pack

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments
from lib.seconds import Fastest, Laps, best_seconds, fastest

CHUNK = 500  # paths encoded at a time by the rows that encode each path: fits a CPU's cache
PRECISIONS = ("float32", "bfloat16", "int8")


class Cost(NamedTuple):
    """Seconds an operation of a matrix product; CPU time counts where others use the machine."""

    wall: float
    cpu: float


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
        best = fastest(lambda a=a, b=b, f=product: f(a, b), repeats=4 * repeats)
        operations = 2 * rows * rows * floats
        costs.append((best.seconds / operations, best.cpu / operations))
    return Cost(*(min(c) for c in zip(*costs)))


class Rows:
    """Paths a second, and how near a sweep is to nothing but its matrix product."""

    def __init__(self, record: Record, algebra: hdc.Algebra, gemm: dict[str, Cost]) -> None:
        heads = ("scoring", "paths/s", "seconds", "of the product's rate", "by CPU time")
        self.table, self.algebra, self.gemm = record.table(*heads), algebra, gemm
        self.record = record

    def add(self, name: str, paths: int, best: Fastest, precision: str) -> None:
        product, gemm = 2 * self.algebra.floats * paths, self.gemm[precision]
        walls, cpus = product * gemm.wall / best.seconds, product * gemm.cpu / best.cpu
        shares = (f"{walls:.0%}", f"{cpus:.0%}")
        self.table.add(f"{name}, {precision}", paths / best.seconds, best.seconds, *shares)

    def encoded(self, name: str, score: Callable[[], Any], seconds: float) -> None:
        """A row of CHUNK paths at a time."""
        found = CHUNK / best_seconds(score, repeats=1, seconds=seconds)
        self.table.add(f"encode each path, {name}", found)


def three_hops(
    rows: Rows, relations: int, batch: int, repeats: int
) -> list[tuple[str, float, float, str]]:
    """All R^3 sequences for one query; a batch over a smaller table; recall of rounded tables."""
    algebra = rows.algebra
    table = algebra.random((relations,), key=jax.random.key(0))
    plans, weights = jnp.array([[1, 2, 3], [4, 2, 3]]), jnp.array([0.7, 0.3])
    query = hdc.encode_bundle(algebra, table, plans, weights)[None]
    for precision in PRECISIONS:
        run = compiled(algebra, table, query, min_length=3, precision=precision)
        best = fastest(run, repeats=repeats, warm=False)
        rows.add(f"factored {relations}^3", relations**3, best, precision)
    small = max(8, relations // 5)
    starts = jax.random.randint(jax.random.key(2), (batch, 3), 0, small)
    queries = hdc.encode_paths(algebra, table, starts)
    recalls, exact = [], None
    for precision in PRECISIONS:
        options: dict[str, Any] = {"min_length": 3, "precision": precision}
        run = compiled(algebra, table[:small], queries, **options)
        best = fastest(run, repeats=repeats, warm=False)
        rows.add(f"factored {small}^3, {batch} queries", batch * small**3, best, precision)
        found = [
            hdc.exhaustive(algebra, table[:small], queries, k=100, slack=slack, **options)
            for slack in (0, 29)
        ]
        exact = exact or found[0]
        certified = f"{np.asarray(found[1].certified).mean():.0%}"
        recalls.append((precision, recall(found[0], exact), recall(found[1], exact), certified))
    return recalls


def four_hops(rows: Rows, relations: int, repeats: int) -> None:
    """Top 3 of all R^4 sequences, with time and memory."""
    algebra = rows.algebra
    table = algebra.random((relations,), key=jax.random.key(0))
    truth = (5, 7 % relations, 5, 2)
    query = hdc.encode(algebra, table[jnp.array(truth)])[None]
    for precision in ("float32", "bfloat16"):
        laps = Laps()
        run = compiled(algebra, table, query, min_length=4, max_length=4, precision=precision)
        compiling = laps.lap()
        best = fastest(run, repeats=repeats, warm=False)
        rows.add(f"factored {relations}^4", relations**4, best, precision)
        found = best.result
        right = tuple(found.paths[0, 0].tolist()) == truth
        scores = ", ".join(f"{s:.4f}" for s in found.score[0].tolist())
        rows.record.note(
            f"Top 3 of {relations}^4, {precision}: {best.seconds:.1f} s after {compiling:.1f} s of "
            f"compilation, scores {scores}, planted path first: {right}, "
            f"certified: {bool(found.certified[0])}."
        )
    rows.record.note(f"Peak memory of the process after it: {peak_memory() / 2**30:.2f} GiB.")


def naive_jax(rows: Rows, relations: int, seconds: float) -> None:
    """Encode, then compare."""
    algebra = rows.algebra
    table = algebra.random((relations,), key=jax.random.key(0))

    @jax.jit
    def score(table: jax.Array, paths: jax.Array) -> jax.Array:
        encoded = hdc.encode_paths(algebra, table, paths)
        return jax.vmap(lambda x: algebra.similarity(table[0], x))(encoded)

    paths = jax.random.randint(jax.random.key(1), (CHUNK, 3), 0, relations)
    rows.encoded("GHRR in JAX", lambda: score(table, paths), seconds)


def torch_rows(rows: Rows, relations: int, seconds: float) -> None:
    """The same, the way one writes it in PyTorch; and torchhd's FHRR at the same d."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return rows.record.note("torch is not installed: its rows are left out")
    torch.set_num_threads(os.cpu_count() or 1)
    paths = torch.from_numpy(np.random.default_rng(0).integers(0, relations, (CHUNK, 3)))
    blocks = rows.algebra.dimension // 16
    gaussian = torch.randn(relations, blocks, 4, 4, dtype=torch.complex64)
    table = torch.linalg.qr(gaussian).Q
    query = table[0]

    def ghrr() -> Any:
        with torch.inference_mode():
            x = table[paths[:, 0]] @ table[paths[:, 1]] @ table[paths[:, 2]]
            dot = (query.conj() * x).real.sum(dim=(-2, -1))
            norm = torch.linalg.matrix_norm(x) * torch.linalg.matrix_norm(query)
            return (dot / norm).mean(dim=-1)

    rows.encoded(f"GHRR in PyTorch {torch.__version__}", ghrr, seconds)
    try:
        torchhd = importlib.import_module("torchhd")
    except ImportError:
        return rows.record.note("torch-hd is not installed: its row is left out")
    phasors = torchhd.random(relations, rows.algebra.dimension, "FHRR")

    def fhrr() -> Any:
        with torch.inference_mode():
            x = phasors[paths[:, 0]].bind(phasors[paths[:, 1]]).bind(phasors[paths[:, 2]])
            return torchhd.cosine_similarity(phasors[0], x)

    rows.encoded("FHRR in torchhd", fhrr, seconds)


def recall(found: hdc.RankedPaths, truth: hdc.RankedPaths) -> float:
    shares = []
    for got, right in zip(np.asarray(found.paths).tolist(), np.asarray(truth.paths).tolist()):
        wanted = set(map(tuple, right))
        shares.append(len(wanted & set(map(tuple, got))) / len(wanted))
    return float(np.mean(shares))


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False, seed=False)
    parser.add_argument("--relations", type=int, default=500, help="R of the three-hop rows")
    parser.add_argument("--four-hop", type=int, default=100, help="R of the four-hop rows")
    parser.add_argument("--blocks", type=int, default=256, help="D; d = 16 D")
    parser.add_argument("--batch", type=int, default=8, help="queries of the batched row")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4.0, help="time given to each slow row")
    options = parser.parse_args(argv)
    algebra, record = hdc.ghrr(options.blocks, 4, layout="pair"), Record(__file__, options)
    record.note(f"d = {algebra.dimension:,} complex entries; load {os.getloadavg()[0]:.1f} before")
    gemm = {p: gemm_cost(algebra.floats, p, options.repeats) for p in PRECISIONS}
    products = record.table("matrix product", "GFLOP/s", "GFLOP per CPU second")
    for precision, cost in gemm.items():
        products.add(precision, 1e-9 / cost.wall, 1e-9 / cost.cpu)
    rows = Rows(record, algebra, gemm)
    four_hops(rows, options.four_hop, options.repeats)
    recalls = three_hops(rows, options.relations, options.batch, options.repeats)
    naive_jax(rows, options.relations, options.seconds)
    torch_rows(rows, options.relations, options.seconds)
    title = "Recall of the 100 best, against float32"
    table = record.table("tables", "as swept", "29 more rescored", "certified", title=title)
    for found in recalls:
        table.add(*found)
    record.save()


if __name__ == "__main__":
    main()
