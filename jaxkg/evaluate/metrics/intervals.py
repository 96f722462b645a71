"""Percentile-bootstrap intervals over questions, for ratios of sums and for quantiles.

Every metric of a report is a ratio of two sums over questions: a mean is sum(value) over
sum(defined), `micro_f1` is sum(2 TP) over sum(2 TP + FP + FN). One set of resampled questions
serves all of them, so intervals of one report, and differences between two, use the same draws.
`column_estimates` knows which metric is a mean, a pooled ratio or a quantile; tables are Markdown.

Reference: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.strict import COUNTED

_BLOCK_BYTES = 1 << 26
_TAIL = (1 - 0.95) / 2  # a little more than 0.025, as recorded intervals have it


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value with its interval; all NaN where nothing was defined.

    Attributes:
        value: the point estimate, on all questions.
        low, high: ends of the interval.
        n: number of questions the value is defined on.
    """

    value: float
    low: float
    high: float
    n: int

    def to_dict(self) -> dict[str, float | None]:
        """The fields for JSON; NaN, which JSON has no word for, is None.

        >>> Estimate(0.5, 0.25, math.nan, 4).to_dict()
        {'value': 0.5, 'low': 0.25, 'high': None, 'n': 4}
        """
        return {name: None if math.isnan(number) else number for name, number in vars(self).items()}


def resampled_sums(values: np.ndarray, *, resamples: int = 1000, seed: int = 0) -> np.ndarray:
    """Column sums over questions drawn with replacement.

    Args:
        values: [n, m] float, one row a question; finite.
        resamples: number of draws B.
        seed: the same seed and n give the same draws, whatever the columns.

    Returns:
        [B, m] float64. Memory beyond the result stays below about 64 MiB.
    """
    n = len(values)
    if resamples < 1:
        raise JaxkgError(f"resamples must be at least 1, not {resamples}")
    if not n:
        return np.zeros((resamples, values.shape[1]))
    values = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    sums = np.empty((resamples, values.shape[1]))
    block = max(1, min(resamples, _BLOCK_BYTES // (8 * n)))
    counts = np.empty((block, n))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        for row in range(rows):
            counts[row] = np.bincount(rng.integers(0, n, n), minlength=n)
        sums[start : start + rows] = counts[:rows] @ values
    return sums


def ratio_estimates(
    numerators: np.ndarray,
    denominators: np.ndarray,
    *,
    minus: tuple[np.ndarray, np.ndarray] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Estimate]:
    """Ratios of column sums with 95 % percentile-bootstrap intervals.

    Args:
        numerators: [n, m] float; NaN where the question does not define the metric.
        denominators: [n, m] float, likewise.
        minus: (numerators, denominators) of another system on the same questions in the same
            order: the estimates are then of the paired difference, first minus second, on the
            questions that both define.
        resamples: number of bootstrap draws.
        seed: of the draws.

    Returns:
        One estimate a column. Draws in which nothing is defined are left out of its interval.
    """
    pairs = [(numerators, denominators), *([minus] if minus is not None else [])]
    parts = [np.asarray(part, np.float64) for pair in pairs for part in pair]
    if any(part.shape != parts[0].shape or part.ndim != 2 for part in parts):
        shapes = ", ".join(str(part.shape) for part in parts)
        raise JaxkgError(f"numerators and denominators must be [n, m] alike, got {shapes}")
    defined = ~np.isnan(parts).any(axis=0)
    columns = np.concatenate([np.where(defined, part, 0.0) for part in parts], axis=1)
    totals = _ratios(columns.sum(axis=0, keepdims=True), len(parts))[0]
    draws = _ratios(resampled_sums(columns, resamples=resamples, seed=seed), len(parts))
    estimates = []
    for value, drawn, n in zip(totals, draws.T, defined.sum(axis=0)):
        drawn = drawn[~np.isnan(drawn)]
        low, high = np.quantile(drawn, [_TAIL, 1 - _TAIL]) if n and drawn.size else (math.nan,) * 2
        estimates.append(Estimate(float(value), float(low), float(high), int(n)))
    return estimates


def quantile_estimate(
    values: np.ndarray, q: float, *, resamples: int = 1000, seed: int = 0
) -> Estimate:
    """A quantile with its 95 % percentile-bootstrap interval, without resampling the values.

    The quantile is the k-th smallest of n, k = ceil(q n). In a bootstrap sample that is the value
    at place floor(n U) of the sorted values, U the k-th smallest of n uniform numbers, which is
    Beta(k, n - k + 1): one random number a draw.

    Args:
        values: [n] float; NaN is left out.
        q: in (0, 1].
        resamples: number of bootstrap draws.
        seed: of the draws.
    """
    if not 0 < q <= 1:
        raise JaxkgError(f"a quantile lies in (0, 1], not {q}")
    ordered = np.sort(np.asarray(values, np.float64)[~np.isnan(values)])
    n = len(ordered)
    if not n:
        return Estimate(math.nan, math.nan, math.nan, 0)
    k = max(1, math.ceil(q * n))
    uniform = np.random.default_rng(seed).beta(k, n - k + 1, resamples)
    drawn = ordered[np.minimum((n * uniform).astype(np.int64), n - 1)]
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    return Estimate(float(ordered[k - 1]), float(low), float(high), n)


def _ratios(sums: np.ndarray, parts: int) -> np.ndarray:
    split = np.split(sums, parts, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = split[0] / split[1]
        return ratio - split[2] / split[3] if parts == 4 else ratio


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
