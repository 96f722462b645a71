"""Per-question columns to estimates: which metric is a mean, a pooled ratio or a quantile.

Numbers, intervals and tables in Markdown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from jaxkg.evaluate.metrics.intervals import Estimate, quantile_estimate, ratio_estimates
from jaxkg.evaluate.metrics.strict import COUNTED

QUANTILES = {"seconds_p50": 0.5, "seconds_p95": 0.95}


def ratio(columns: Mapping[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    """A metric as per-question numerators and denominators, [n] each; NaN where undefined."""
    if name == "micro_f1":
        double = 2 * columns["tp"]
        return double, double + columns["fp"] + columns["fn"]
    values = columns[name]
    return values, np.where(np.isnan(values), np.nan, 1.0)


def column_estimates(
    columns: Mapping[str, np.ndarray], *, resamples: int = 1000, seed: int = 0
) -> dict[str, Estimate]:
    """Estimates with 95 % intervals.

    Args:
        columns: [n] float by metric. `tp`, `fp` and `fn` are pooled into `micro_f1`, `seconds`
            gives `seconds_p50` and `seconds_p95`, all others are averaged.
        resamples: number of bootstrap draws.
        seed: of the draws.
    """
    names = [name for name in columns if name not in (*COUNTED, "seconds")]
    if set(COUNTED) <= columns.keys():
        names.append("micro_f1")
    by_name: dict[str, Estimate] = {}
    if names:
        parts = [ratio(columns, name) for name in names]
        numerators, denominators = (np.stack(part, axis=1) for part in zip(*parts))
        estimates = ratio_estimates(numerators, denominators, resamples=resamples, seed=seed)
        by_name = dict(zip(names, estimates))
    if "seconds" in columns:
        for name, q in QUANTILES.items():
            by_name[name] = quantile_estimate(columns["seconds"], q, resamples=resamples, seed=seed)
    return by_name


def format_number(value: float) -> str:
    """Four decimals for fractions, fewer for large numbers; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"


def format_interval(estimate: Estimate) -> str:
    """`[low, high]`."""
    return f"[{format_number(estimate.low)}, {format_number(estimate.high)}]"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    ruler = ["---", *(["---:"] * (len(header) - 1))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ruler, *rows])
