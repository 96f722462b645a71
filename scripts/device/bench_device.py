"""Throughput of every core, and its share of the device's own limits, measured in the same run.

The limits: bytes a second of a copy, operations a second of a square matrix product in float32 and
bfloat16, and single numbers a second read from, and written to, random places of 1 MB. A core's
share is the time that its least bytes or its operations would take at the first two limits,
whichever is longer, over the time it took. More than 100 % means that caches helped. The formulas
are in `device_counts.py` and beside each core. A core under 30 % is followed by what bounds it, and
by the share of its time that its random accesses would take alone at the device's own rate. Three
minutes on two CPU cores.

    python scripts/device/bench_device.py --only follow
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from device_graph_cores import compiled, graph_cores, hypergraph_cores
from device_product_cores import hypervector_cores, network_cores

from jaxkg.experiments.record import Record, arguments, numbers
from jaxkg.experiments.seconds import best_seconds

_EXPLAINED = 0.30
_TABLE = 1 << 18
"""Numbers of the table that is accessed at random: 1 MB, as large as the cores' own."""


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
    found = {"copy": 8.0 * floats / best_seconds(copying(floats), seconds=seconds)}
    for precision in ("float32", "bfloat16"):
        a, b = jnp.ones((2, side, side), precision)
        highest: Any = jax.lax.Precision.HIGHEST if precision == "float32" else None

        def multiply(a: jax.Array, b: jax.Array, highest: Any = highest) -> jax.Array:
            return jnp.matmul(a, b, precision=highest, preferred_element_type=jnp.float32)

        wall, busy = time.perf_counter(), time.process_time()
        found[precision] = 2.0 * side**3 / best_seconds(compiled(multiply, a, b), seconds=seconds)
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
        found["threads"] = max(busy / wall, found.get("threads", 0.0))
    table = jnp.arange(_TABLE, dtype=jnp.int32)
    count = floats // 64
    place = rng.integers(0, _TABLE, count).astype(np.int32)
    reading = compiled(lambda table, place: table[place], table, place)
    writing = compiled(lambda table, place: table.at[place].min(place), table, place)
    found["reads"] = count / best_seconds(reading, seconds=seconds)
    found["writes"] = count / best_seconds(writing, seconds=seconds)
    return found


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--only", nargs="+", help="cores whose names hold one of these words")
    parser.add_argument("--edges", type=int, default=200_000, help="of the synthetic graph")
    numbers(parser, questions=1024, hyperedges=50_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, a core or limit")
    parser.add_argument("--floats", type=int, default=1 << 26, help="copied, more than caches hold")
    parser.add_argument("--side", type=int, default=2048, help="of the square matrix product")
    options = parser.parse_args(argv)
    record = Record(__file__, options)
    limit = limits(options.seconds, floats=options.floats, side=options.side, seed=options.seed)
    record.note(
        f"copy {limit['copy'] / 1e9:.1f} GB/s, product {limit['float32'] / 1e9:,.0f} GFLOP/s in "
        f"float32 and {limit['bfloat16'] / 1e9:,.0f} in bfloat16, random reads "
        f"{limit['reads'] / 1e6:,.0f} and writes {limit['writes'] / 1e6:,.0f} million/s; the "
        f"products kept {limit['threads']:.1f} threads of the host busy"
    )
    heads = ("core", "a second", "of", "ms", "limit", "share", "random accesses alone")
    table = record.table(*heads, f"bound by, where under {_EXPLAINED:.0%}")
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
            core = make()
            work, took = core.work, best_seconds(core.run, seconds=options.seconds)
            by_bytes, by_flops = work.bytes / limit["copy"], work.flops / limit[core.precision]
            accesses = work.reads / limit["reads"] + work.writes / limit["writes"]
            share = max(by_bytes, by_flops) / took
            table.add(
                *(core.name, core.items / took, core.unit, 1e3 * took),
                "copy" if by_bytes > by_flops else f"{core.precision} product",
                f"{share:.0%}",
                f"{accesses / took:.0%}" if accesses else None,
                core.bound if share < _EXPLAINED else "",
            )
    record.save()


if __name__ == "__main__":
    main()
