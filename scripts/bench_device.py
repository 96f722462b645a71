"""Throughput of every core, and its share of the device's own limits, measured in the same run.

The limits: bytes a second of a copy, operations a second of a square matrix product in float32 and
bfloat16, and single numbers a second read from, and written to, random places of 1 MB. A core's
share is the time that its least bytes or its operations would take at the first two limits,
whichever is longer, over the time it took. More than 100 % means that caches helped. The formulas
are in `device_counts.py` and beside each core. A core under 30 % is followed by what bounds it, and
by the share of its time that its random accesses would take alone at the device's own rate.

    python scripts/bench_device.py --only follow
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from device_graph_cores import Core, compiled, graph_cores, hypergraph_cores
from device_product_cores import hypervector_cores, network_cores

_EXPLAINED = 0.30
_TABLE = 1 << 18
"""Numbers of the table that is accessed at random: 1 MB, as large as the cores' own."""


def best_seconds(run: Callable[[], Any], seconds: float) -> float:
    """The fastest of at least three calls, for about so many seconds."""
    jax.block_until_ready(run())
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < until and len(times) < 1000):
        begin = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - begin)
    return min(times)


def copying(floats: int) -> Callable[[], Any]:
    """A pass over an array that reads and writes every number, in memory that is there already."""
    held = [jnp.zeros(floats)]
    step = jax.jit(lambda x: x + 1, donate_argnums=0)

    def run() -> jax.Array:
        held[0] = step(held[0])
        return held[0]

    return run


def limits(seconds: float, *, floats: int, side: int, seed: int) -> dict[str, float]:
    """What the device can do at most, by plain programs."""
    rng = np.random.default_rng(seed)
    found = {"copy": 8.0 * floats / best_seconds(copying(floats), seconds)}
    for precision in ("float32", "bfloat16"):
        a, b = jnp.ones((2, side, side), precision)
        highest: Any = jax.lax.Precision.HIGHEST if precision == "float32" else None

        def multiply(a: jax.Array, b: jax.Array, highest: Any = highest) -> jax.Array:
            return jnp.matmul(a, b, precision=highest, preferred_element_type=jnp.float32)

        wall, busy = time.perf_counter(), time.process_time()
        found[precision] = 2.0 * side**3 / best_seconds(compiled(multiply, a, b), seconds)
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
        found["threads"] = max(busy / wall, found.get("threads", 0.0))
    table = jnp.arange(_TABLE, dtype=jnp.int32)
    count = floats // 64
    place = rng.integers(0, _TABLE, count).astype(np.int32)
    reading = compiled(lambda table, place: table[place], table, place)
    writing = compiled(lambda table, place: table.at[place].min(place), table, place)
    found["reads"] = count / best_seconds(reading, seconds)
    found["writes"] = count / best_seconds(writing, seconds)
    return found


def measured(core: Core, limit: dict[str, float], seconds: float) -> dict[str, Any]:
    took = best_seconds(core.run, seconds)
    by_bytes, by_flops = core.work.bytes / limit["copy"], core.work.flops / limit[core.precision]
    accesses = core.work.reads / limit["reads"] + core.work.writes / limit["writes"]
    return {
        "core": core.name,
        "unit": core.unit,
        "items": core.items,
        "seconds": took,
        "rate": core.items / took,
        "bytes": core.work.bytes,
        "flops": core.work.flops,
        "random_reads": core.work.reads,
        "random_writes": core.work.writes,
        "limit": "copy" if by_bytes > by_flops else f"{core.precision} product",
        "share": max(by_bytes, by_flops) / took,
        "random_share": accesses / took,
        "bound": core.bound,
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", help="cores whose names hold one of these words")
    parser.add_argument("--edges", type=int, default=200_000, help="of the synthetic graph")
    parser.add_argument("--questions", type=int, default=1024)
    parser.add_argument("--hyperedges", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, a core or limit")
    parser.add_argument("--floats", type=int, default=1 << 26, help="copied, more than caches hold")
    parser.add_argument("--side", type=int, default=2048, help="of the square matrix product")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    options = parser.parse_args(argv)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"device {jax.devices()[0].device_kind}, jax {jax.__version__}, {cores} CPU cores")
    limit = limits(options.seconds, floats=options.floats, side=options.side, seed=options.seed)
    print(
        f"copy {limit['copy'] / 1e9:.1f} GB/s, product {limit['float32'] / 1e9:,.0f} GFLOP/s in "
        f"float32 and {limit['bfloat16'] / 1e9:,.0f} in bfloat16, random reads "
        f"{limit['reads'] / 1e6:,.0f} and writes {limit['writes'] / 1e6:,.0f} million/s; the "
        f"products kept {limit['threads']:.1f} threads of the host busy\n"
    )
    print("| core | a second | ms | limit | share |\n|---|---:|---:|---|---:|")
    rows = []
    # One at a time, so that the inputs of a core are gone before the next one's are made.
    for group in (
        graph_cores(options.edges, options.questions, options.seed),
        hypergraph_cores(options.hyperedges, options.seed),
        hypervector_cores(options.seed),
        network_cores(options.seed),
    ):
        for name, make in group:
            if options.only and not any(word in name for word in options.only):
                continue
            row = measured(make(), limit, options.seconds)
            rows.append(row)
            print(
                f"| {row['core']} | {row['rate']:,.0f} {row['unit']} | "
                f"{1e3 * row['seconds']:.2f} | {row['limit']} | {row['share']:.0%} |",
                flush=True,
            )
    low = [row for row in rows if row["share"] < _EXPLAINED]
    if low:
        print(f"\nUnder {_EXPLAINED:.0%}, and why:\n")
    for row in low:
        alone = f" (alone {row['random_share']:.0%} of its time)" if row["random_share"] else ""
        print(f"- {row['core']}: {row['bound']}{alone}.")
    if options.json:
        about = {"device": str(jax.devices()[0]), "jax": jax.__version__, "cores": cores}
        told = {"about": about, "limits": limit, "cores": rows}
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
