"""Two or more runs over the same questions, side by side, with paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.intervals import (
    QUANTILES,
    Estimate,
    format_interval,
    format_number,
    markdown_table,
    ratio,
    ratio_estimates,
)
from jaxkg.evaluate.runs.report import Report


def paired_differences(report: Report, baseline: Report, *, seed: int = 0) -> dict[str, Estimate]:
    """Difference of every metric both reports have, `report` minus `baseline`.

    Questions are resampled in pairs, so what is hard for both cancels out and the interval is
    that of the difference, not of two separate runs. An interval without 0 in it is a difference
    at the 5 % level. Quantiles of seconds have no paired difference and are left out.

    Args:
        report, baseline: of the same questions, in any order.
        seed: of the draws.

    Raises:
        JaxkgError: the two are not of the same questions.
    """
    if set(report.ids) != set(baseline.ids):
        alone = len(set(report.ids) ^ set(baseline.ids))
        raise JaxkgError(
            f"paired differences need the same questions: {alone} are in only one of the two "
            f"reports ({len(report.ids)} and {len(baseline.ids)} questions)"
        )
    place = {question: row for row, question in enumerate(report.ids)}
    order = np.array([place[question] for question in baseline.ids], np.int64)
    names = [n for n in report.metrics if n in baseline.metrics and n not in QUANTILES]
    if not names:
        return {}

    def ratios(columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        numerators, denominators = zip(*(ratio(columns, name) for name in names))
        return np.stack(numerators, axis=1), np.stack(denominators, axis=1)

    first = (part[order] for part in ratios(report.columns))
    estimates = ratio_estimates(*first, minus=ratios(baseline.columns), seed=seed)
    return dict(zip(names, estimates))


def compare(
    reports: Mapping[str, Report], *, metrics: Sequence[str] | None = None, seed: int = 0
) -> str:
    """A Markdown table of several runs, the first one being the baseline of the differences.

    Args:
        reports: by system name, at least two, of the same questions.
        metrics: which ones, in this order; None takes all that any report has.
        seed: of the draws.

    Returns:
        A row a metric: value and 95 % interval of every system, then the paired difference of
        every system but the first from the first, with its 95 % interval.

    Raises:
        JaxkgError: fewer than two reports, other questions, or a metric that none of them has.
    """
    if len(reports) < 2:
        raise JaxkgError(f"a comparison needs at least two reports, got {len(reports)}")
    (base, baseline), *others = reports.items()
    known = list(dict.fromkeys(name for report in reports.values() for name in report.metrics))
    for name in metrics or ():
        if name not in known:
            raise JaxkgError(f"no report has a metric {name!r}; there are {', '.join(known)}")
    differences = {
        system: paired_differences(report, baseline, seed=seed) for system, report in others
    }
    header = ["metric", *reports, *(f"{system} − {base}" for system in differences)]
    rows = []
    for name in metrics or known:
        cells = [report.metrics.get(name) for report in reports.values()]
        cells += [difference.get(name) for difference in differences.values()]
        rows.append([f"`{name}`", *map(_cell, cells)])
    return markdown_table(header, rows) + "\n"


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    return f"{format_number(estimate.value)} {format_interval(estimate)}"
