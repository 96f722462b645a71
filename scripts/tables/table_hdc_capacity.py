"""What the six binding operators can and cannot do: order, unbinding, capacity, meaning.

Every number is a simulation with the seed given; the bounds beside them are those of PathHD,
Prop. 1 and Cor. 1, with the constants of `jaxkg.score.hdc.capacity`. Three minutes on two
CPU cores.

    python scripts/tables/table_hdc_capacity.py --plot runs/hdc_capacity.png
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.score import hdc
from jaxkg.score.hdc import capacity

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lib.curves import save_curve_plot
from lib.record import Record, arguments, numbers

DIMENSIONS = (512, 1024, 2048, 4096, 8192)
BANDWIDTHS = (4.0, 1.0, 0.5, 0.25, 0.1)
DELTA = 0.05


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--plot", type=Path, help="draw tails and bounds to this file")
    numbers(parser, dimension=4096, distractors=256, trials=60)
    options = parser.parse_args(argv)
    record, key = Record(__file__, options), jax.random.key(options.seed)
    record.note(f"d = {options.dimension:,} where it is not the row's")
    sims = {
        (name, d): distractors(name, d, "near", options.distractors, options.trials, key)
        for name in ("ghrr-haar", "ghrr-diagonal")
        for d in DIMENSIONS
    }
    operator_table(record, options.dimension, key)
    capacity_table(record, sims, options.distractors)
    distractor_table(record, options.dimension, key)
    meaning_table(record, options.dimension, key)
    record.save()
    if options.plot:
        plot(sims, options.distractors, options.plot)


def operator_table(record: Record, d: int, key: jax.Array, draws: int = 64) -> None:
    """Order, noise and unbinding error of every operator."""

    @functools.partial(jax.jit, static_argnums=0)
    def measure(algebra: hdc.Algebra, key: jax.Array) -> list[jax.Array]:
        r = algebra.random((4,), key=key)
        rest = hdc.encode(algebra, r)
        swapped = algebra.similarity(algebra.bind(r[0], r[1]), algebra.bind(r[1], r[0]))
        for hop in range(3):
            rest = algebra.unbind_left(r[hop], rest)
        # Direction only: products of the algebras that are not isometric change their norm.
        rest, last = algebra.flatten(rest), algebra.flatten(r[3])
        scale = jnp.linalg.norm(rest), jnp.linalg.norm(last)
        error = jnp.linalg.norm(rest / scale[0] - last / scale[1])
        return [swapped, algebra.similarity(r[0], r[1]), error]

    table = record.table(
        *("operator", "floats", "sim(ab, ba)", "unrelated: sd x sqrt(d)", "error, depth 4"),
        title=f"Order, noise, unbinding: mean over {draws} draws. Error: distance of the unit "
        "vectors after binding four symbols and unbinding three.",
    )
    for name in hdc.OPERATORS:
        algebra = hdc.operator(name, d)
        rows = [measure(algebra, k) for k in jax.random.split(key, draws)]
        swap, unrelated, error = np.array(rows).T
        spread = float(unrelated.std() * math.sqrt(d))
        table.add(name, algebra.floats, f"{swap.mean():.4f}", spread, f"{error.mean():.1e}")


def distractors(name: str, d: int, kind: str, m: int, trials: int, key: jax.Array) -> np.ndarray:
    """`[trials, m]` similarities of three-hop query paths to distractors."""
    algebra = hdc.operator(name, d)
    run = jax.jit(
        functools.partial(
            capacity.distractor_similarity,
            algebra,
            relations=128,
            kind=kind,
            distractors=m,
            trials=trials,
        )
    )
    return np.asarray(run(key=key))


def capacity_table(record: Record, sims: dict[tuple[str, int], np.ndarray], m: int) -> None:
    """False matches among M distractors against the union bound."""
    table = record.table(
        *("operator", "d", "c", "epsilon", "bound", "rate", "largest sim"),
        *("pair bound", "pair rate"),
        title=f"Capacity: three-hop queries, {m} distractors that differ in one hop. epsilon is "
        f"where the bound 2 M exp(-c d eps^2) equals {DELTA}; the rate is the share of queries "
        "with a distractor at or above it. The pair columns do the same for single pairs at two "
        "standard deviations.",
    )
    for (name, d), sim in sims.items():
        c = capacity.concentration(hdc.operator(name, d))
        epsilon = capacity.noise_ceiling(d, distractors=m, delta=DELTA, c=c)
        two = 2 / math.sqrt(2 * c * d)
        largest = np.abs(sim).max(axis=1)
        rate, pair = float((largest >= epsilon).mean()), float((np.abs(sim) >= two).mean())
        bound = capacity.false_match_bound(d, two, c=c)
        table.add(name, d, c, epsilon, DELTA, rate, float(largest.max()), bound, pair)


def distractor_table(record: Record, d: int, key: jax.Array) -> None:
    """Mean and spread of the similarity by kind of distractor."""
    table = record.table(
        *("operator", "unrelated", "one hop replaced", "two hops swapped"),
        title="Kinds of distractors: mean, and standard deviation times sqrt(d), of three-hop "
        "paths' similarity to the query.",
    )
    for name in hdc.OPERATORS:
        found = [distractors(name, d, kind, 64, 30, key) for kind in ("random", "near", "permuted")]
        table.add(name, *(f"{s.mean():+.4f}, {s.std() * math.sqrt(d):.2f}" for s in found))


def meaning_table(record: Record, d: int, key: jax.Array) -> None:
    """Similarity of symbols by label distance, and what is left of order."""
    distance = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4])
    angle = 2 * np.arcsin(distance / 2)
    vectors = np.zeros((len(distance), 64), np.float32)
    vectors[:, 0], vectors[:, 1] = np.cos(angle), np.sin(angle)

    @functools.partial(jax.jit, static_argnums=0)
    def measure(algebra: hdc.Algebra, bandwidth: jax.Array) -> tuple[jax.Array, jax.Array]:
        table = hdc.label_symbols(algebra, jnp.asarray(vectors), bandwidth=bandwidth, key=key)
        sim = jax.vmap(lambda x: algebra.similarity(table[0], x))(table)
        there, back = algebra.bind(table[0], table[-1]), algebra.bind(table[-1], table[0])
        return sim, algebra.similarity(there, back)

    table = record.table(
        *("operator, bandwidth", *(f"{x:g}" for x in distance), "sim(ab, ba)"),
        title="Symbols made from labels: similarity of two symbols by the distance of their unit "
        "label vectors; last column: sim(ab, ba) of the two that are farthest apart.",
    )
    for name in ("ghrr-haar", "fhrr"):
        algebra = hdc.operator(name, d)
        for bandwidth in BANDWIDTHS:
            sim, swap = measure(algebra, jnp.float32(bandwidth))
            cells = (f"{s:.3f}" for s in (*np.asarray(sim), float(swap)))
            table.add(f"{name}, {bandwidth:g}", *cells)
    for bandwidth in BANDWIDTHS:
        kernel = np.exp(-((distance / bandwidth) ** 2) / 2)
        table.add(f"Gaussian kernel, {bandwidth:g}", *(f"{k:.3f}" for k in kernel), None)


def plot(sims: dict[tuple[str, int], np.ndarray], m: int, target: Path) -> None:
    """Empirical tails beside their bounds; largest distractor beside the ceiling."""
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    best = f"{1 - DELTA:.0%} quantile of the best of {m} distractors"
    for (name, d), found in sims.items():
        sim = np.sort(np.abs(found).ravel())[::-1]
        c = capacity.concentration(hdc.operator(name, d))
        curves, largest = panels.setdefault(name, {}), np.abs(found).max(axis=1)
        places = np.unique(np.geomspace(1, sim.size, 60).astype(int))
        curves[f"d = {d}"] = [(float(sim[k - 1]), k / sim.size) for k in places]
        bound = [(float(e), capacity.false_match_bound(d, e, c=c)) for e in sim[places - 1]]
        curves[f"bound, d = {d}"] = bound
        ceiling = capacity.noise_ceiling(d, distractors=m, delta=DELTA, c=c)
        curves = panels.setdefault(best, {})
        curves.setdefault(name, []).append((d, float(np.quantile(largest, 1 - DELTA))))
        curves.setdefault(f"bound of {name}", []).append((d, ceiling))
    panels[best] = panels.pop(best)  # behind the tails
    tails = len(panels) - 1
    x, y = ["epsilon"] * tails + ["d"], ["Pr(|sim| >= epsilon)"] * tails + ["similarity"]
    save_curve_plot(panels, target, x=x, y=y, log=True)


if __name__ == "__main__":
    main()
