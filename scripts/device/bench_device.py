"""Throughput of every core, and its share of the device's own limits, measured in the same run.

The limits: bytes a second of a copy, operations a second of a square matrix product in float32 and
bfloat16, and rows a second read from, and written to, random places of a table as large as the
core's own. A core's share is the time that its least bytes, its operations or its random accesses
would take at their limit, whichever takes longest and so binds, over the time it took. More than
100 % means that caches helped. The formulas are in `device_counts.py` and beside each core. A core
under 30 % is followed by what bounds it. On a CPU all seconds are CPU seconds, so what else the
machine does tells less. Three minutes on two CPU cores. A GPU is kept busy by inputs that are
larger:

    python scripts/device/bench_device.py --only follow
    python scripts/device/bench_device.py --times 16 --questions 16384 --edges 2000000 \
        --hyperedges 500000 --floats 500000000 --side 8192
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from device_graph_cores import compiled, graph_cores, hypergraph_cores
from device_product_cores import hypervector_cores, network_cores

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.record import Record, arguments, numbers

_EXPLAINED = 0.30
_ACCESSES = 1 << 20
"""Numbers read or written at random, to time it, by inputs of plain size."""


def spent(run: Callable[[], Any], seconds: float) -> float:
    """Seconds of a call, of many: CPU seconds on the host; else as they follow one another."""
    on_host = jax.default_backend() == "cpu"
    jax.block_until_ready(run())
    clock = time.process_time if on_host else time.perf_counter
    since, calls, together = clock(), 0, 1
    while calls < 3 or clock() - since < seconds:
        # A device is not waited for after each call, so that it is never without work.
        for _ in range(together - 1):
            run()
        jax.block_until_ready(run())
        calls += together
        together = 1 if on_host else min(2 * together, 64)
    return (clock() - since) / calls


def copying(floats: int) -> Callable[[], Any]:
    """A pass over an array that reads and writes every number, in memory that is there already."""
    held = [jnp.zeros(floats)]
    step = jax.jit(lambda x: x + 1, donate_argnums=0)

    def run() -> jax.Array:
        held[0] = step(held[0])
        return held[0]

    return run


def limits(seconds: float, *, floats: int, side: int) -> dict[str, float]:
    """What the device can do at most, by plain programs."""
    found = {"copy": 8.0 * floats / spent(copying(floats), seconds)}
    for precision in ("float32", "bfloat16"):
        a, b = jnp.ones((2, side, side), precision)
        highest: Any = jax.lax.Precision.HIGHEST if precision == "float32" else None

        def multiply(a: jax.Array, b: jax.Array, highest: Any = highest) -> jax.Array:
            return jnp.matmul(a, b, precision=highest, preferred_element_type=jnp.float32)

        found[precision] = 2.0 * side**3 / spent(compiled(multiply, a, b), seconds)
    return found


@functools.cache
def random_rates(
    floats: int, width: int, *, accesses: int, seconds: float, seed: int
) -> tuple[float, float]:
    """Rows a second read from, and written to, random places of a table.

    Args:
        floats: numbers of the table.
        width: numbers of a row.
        accesses: numbers that are read or written.
        seconds: of timing, each.
        seed: of the places.
    """
    rows, count = max(1, floats // width), accesses // width
    row = (width,) if width > 1 else ()
    table = jnp.zeros((rows, *row), jnp.int32)
    place = np.random.default_rng(seed).integers(0, rows, count).astype(np.int32)
    given = np.ones((count, *row), np.int32)
    reading = compiled(lambda table, place: table[place], table, place)
    writing = compiled(lambda table, place, given: table.at[place].add(given), table, place, given)
    return count / spent(reading, seconds), count / spent(writing, seconds)


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--only", nargs="+", help="cores whose names hold one of these words")
    parser.add_argument("--edges", type=int, default=200_000, help="of the synthetic graph")
    numbers(parser, questions=1024, hyperedges=50_000)
    parser.add_argument("--times", type=int, default=1, help="inputs so many times as large")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, a core or limit")
    parser.add_argument("--floats", type=int, default=1 << 26, help="copied, more than caches hold")
    parser.add_argument("--side", type=int, default=2048, help="of the square matrix product")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    limit = limits(options.seconds, floats=options.floats, side=options.side)
    record.note(
        f"copy {limit['copy'] / 1e9:.1f} GB/s, product {limit['float32'] / 1e9:,.0f} GFLOP/s in "
        f"float32 and {limit['bfloat16'] / 1e9:,.0f} in bfloat16, each over a thread's seconds"
    )
    heads = ("core", "a second", "of", "ms", "copy", "product", "random accesses", "limit", "share")
    table = record.table(*heads, f"bound by, where under {_EXPLAINED:.0%}")
    # One at a time, so that the inputs of a core are gone before the next one's are made.
    for group in (
        graph_cores(options.edges, options.questions, options.times, options.seed),
        hypergraph_cores(options.hyperedges, options.times, options.seed),
        hypervector_cores(options.times, options.seed),
        network_cores(options.times, options.seed),
    ):
        for name, make in group:
            if options.only and not any(word in name for word in options.only):
                continue
            core = make()
            work, took = core.work, spent(core.run, options.seconds)
            reads, writes = 1.0, 1.0
            if work.reads or work.writes:
                reads, writes = random_rates(
                    core.table,
                    core.width,
                    accesses=_ACCESSES * options.times,
                    seconds=options.seconds / 4,
                    seed=options.seed,
                )
            shares = {
                "copy": work.bytes / limit["copy"] / took,
                "float32 product": work.flops / limit["float32"] / took,
                "random accesses": (work.reads / reads + work.writes / writes) / took,
            }
            binding = max(shares, key=lambda name: shares[name])
            table.add(
                *(core.name, core.items / took, core.unit, 1e3 * took),
                *(f"{share:.0%}" if share else None for share in shares.values()),
                *(binding, f"{shares[binding]:.0%}"),
                core.bound if shares[binding] < _EXPLAINED else "",
            )
    record.save()


if __name__ == "__main__":
    main()
