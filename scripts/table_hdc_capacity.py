"""What the six binding operators can and cannot do: order, unbinding, capacity, meaning.

Writes `hdc_capacity.md` and `hdc_capacity.png` into the folder given by --out and prints the
Markdown. Every number is a simulation with the seed given; the bounds beside them are those of
PathHD, Prop. 1 and Cor. 1, with the constants of `jaxkg.score.hdc.capacity`.

    python scripts/table_hdc_capacity.py --out results
"""

from __future__ import annotations

import argparse
import functools
import math
import os
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.score import hdc
from jaxkg.score.hdc import capacity

DIMENSIONS = (512, 1024, 2048, 4096, 8192)
DELTA = 0.05


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Order, unbinding, capacity and meaning.")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--dimension", type=int, default=4096)
    parser.add_argument("--distractors", type=int, default=256)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    key = jax.random.key(args.seed)
    sims = {
        (name, d): distractors(name, d, "near", args.distractors, args.trials, key)
        for name in ("ghrr-haar", "ghrr-diagonal")
        for d in DIMENSIONS
    }
    text = "\n\n".join(
        [
            f"# Hyperdimensional operators (d = {args.dimension:,}, seed {args.seed})",
            operator_table(args.dimension, key),
            capacity_table(sims, args.distractors),
            distractor_table(args.dimension, key),
            meaning_table(args.dimension, key),
        ]
    )
    args.out.mkdir(parents=True, exist_ok=True)
    target = args.out / "hdc_capacity.md"
    draft = target.with_suffix(".md.tmp")
    draft.write_text(text + "\n", encoding="utf-8")
    os.replace(draft, target)
    plot(sims, args.distractors, args.out / "hdc_capacity.png")
    print(text)


def operator_table(d: int, key: jax.Array, draws: int = 64) -> str:
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

    lines = [
        "## Order, noise, unbinding",
        f"Mean over {draws} draws. Error: distance of the unit vectors after binding four symbols "
        "and unbinding three.",
        "",
        "| operator | floats | sim(ab, ba) | unrelated: sd x sqrt(d) | unbinding error, depth 4 |",
        "|---|---|---|---|---|",
    ]
    for name in hdc.OPERATORS:
        algebra = hdc.operator(name, d)
        rows = [measure(algebra, k) for k in jax.random.split(key, draws)]
        swap, unrelated, error = np.array(rows).T
        lines.append(
            f"| {name} | {algebra.floats:,} | {swap.mean():.4f} | "
            f"{unrelated.std() * math.sqrt(d):.2f} | {error.mean():.1e} |"
        )
    return "\n".join(lines)


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


def capacity_table(sims: dict[tuple[str, int], np.ndarray], m: int) -> str:
    """False matches among M distractors against the union bound."""
    lines = [
        "## Capacity",
        f"Three-hop queries, {m} distractors that differ in one hop. epsilon is where the bound "
        f"2 M exp(-c d eps^2) equals {DELTA}; the rate is the share of queries with a distractor "
        "at or above it. The pair columns do the same for single pairs at two standard deviations.",
        "",
        "| operator | d | c | epsilon | bound | rate | largest sim | pair bound | pair rate |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (name, d), sim in sims.items():
        c = capacity.concentration(hdc.operator(name, d))
        epsilon = capacity.noise_ceiling(d, distractors=m, delta=DELTA, c=c)
        two = 2 / math.sqrt(2 * c * d)
        largest = np.abs(sim).max(axis=1)
        rate, pair = (largest >= epsilon).mean(), (np.abs(sim) >= two).mean()
        pair_bound = capacity.false_match_bound(d, two, c=c)
        lines.append(
            f"| {name} | {d:,} | {c:g} | {epsilon:.4f} | {DELTA} | {rate:.3f} | "
            f"{largest.max():.4f} | {pair_bound:.4f} | {pair:.4f} |"
        )
    return "\n".join(lines)


def distractor_table(d: int, key: jax.Array) -> str:
    """Mean and spread of the similarity by kind of distractor."""
    lines = [
        "## Kinds of distractors",
        "Mean, and standard deviation times sqrt(d), of three-hop paths' similarity to the query: "
        "no relation in common, one hop replaced, two hops swapped.",
        "",
        "| operator | unrelated | one hop replaced | two hops swapped |",
        "|---|---|---|---|",
    ]
    for name in hdc.OPERATORS:
        cells = []
        for kind in ("random", "near", "permuted"):
            sim = distractors(name, d, kind, 64, 30, key)
            cells.append(f"{sim.mean():+.4f}, {sim.std() * math.sqrt(d):.2f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def meaning_table(d: int, key: jax.Array) -> str:
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

    head = " | ".join(f"{x:g}" for x in distance)
    lines = [
        "## Symbols made from labels",
        "Similarity of two symbols by the distance of their unit label vectors; last column: "
        "sim(ab, ba) of the two that are farthest apart.",
        "",
        f"| operator, bandwidth | {head} | sim(ab, ba) |",
        "|---|" + "---|" * (len(distance) + 1),
    ]
    for name in ("ghrr-haar", "fhrr"):
        algebra = hdc.operator(name, d)
        for bandwidth in (4.0, 1.0, 0.5, 0.25, 0.1):
            sim, swap = measure(algebra, jnp.float32(bandwidth))
            cells = " | ".join(f"{s:.3f}" for s in np.asarray(sim))
            lines.append(f"| {name}, {bandwidth:g} | {cells} | {swap:.3f} |")
    for bandwidth in (4.0, 1.0, 0.5, 0.25, 0.1):
        cells = " | ".join(f"{k:.3f}" for k in np.exp(-((distance / bandwidth) ** 2) / 2))
        lines.append(f"| Gaussian kernel, {bandwidth:g} | {cells} | |")
    return "\n".join(lines)


def plot(sims: dict[tuple[str, int], np.ndarray], m: int, target: Path) -> None:
    """Empirical tails beside their bounds; largest distractor beside the ceiling."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for name, _ in sims))
    figure, axes = plt.subplots(1, len(names) + 1, figsize=(5 * (len(names) + 1), 4))
    for axis, name in zip(axes, names):
        c = capacity.concentration(hdc.operator(name, DIMENSIONS[0]))
        for color, d in zip(plt.colormaps["viridis"](np.linspace(0, 0.9, 5)), DIMENSIONS):
            sim = np.sort(np.abs(sims[name, d]).ravel())[::-1]
            axis.semilogy(sim, np.arange(1, sim.size + 1) / sim.size, color=color, label=f"d = {d}")
            grid = np.linspace(0, sim[0] * 1.1, 100)
            bound = [capacity.false_match_bound(d, e, c=c) for e in grid]
            axis.semilogy(grid, bound, "--", color=color, linewidth=0.8)
        axis.set(
            title=f"{name} (dashed: 2 exp(-{c:g} d eps^2))",
            xlabel="epsilon",
            ylabel="Pr(|sim| >= epsilon)",
            ylim=(1 / sims[name, DIMENSIONS[0]].size, 1.2),
        )
        axis.legend(fontsize=8)
    for name in names:
        c = capacity.concentration(hdc.operator(name, DIMENSIONS[0]))
        largest = [np.quantile(np.abs(sims[name, d]).max(axis=1), 1 - DELTA) for d in DIMENSIONS]
        ceiling = [capacity.noise_ceiling(d, distractors=m, delta=DELTA, c=c) for d in DIMENSIONS]
        (line,) = axes[-1].loglog(DIMENSIONS, largest, "o-", label=name)
        axes[-1].loglog(DIMENSIONS, ceiling, "--", color=line.get_color())
    axes[-1].set(
        title=f"95 % quantile of the best of {m} distractors",
        xlabel="d",
        ylabel="similarity (dashed: bound)",
    )
    axes[-1].set_xticks(DIMENSIONS, [f"{d:,}" for d in DIMENSIONS], minor=False)
    axes[-1].set_xticks([], minor=True)
    axes[-1].legend(fontsize=8)
    figure.tight_layout()
    draft = target.with_suffix(".tmp.png")
    figure.savefig(draft, dpi=150)
    os.replace(draft, target)
    plt.close(figure)


if __name__ == "__main__":
    main()
