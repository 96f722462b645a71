"""Bar plots of reports, for people; needs matplotlib (the extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from jaxkg.evaluate.report import Report
from jaxkg.records import JaxkgError


def save_bar_plot(
    reports: Mapping[str, Report],
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str] = ("hits_at_1", "f1"),
) -> None:
    """Draw metrics with their 95 % intervals, one group a metric and one bar a system.

    Args:
        reports: by system name.
        path: of the picture; its ending chooses the format (png, svg, pdf).
        metrics: names of metrics that are fractions; every report must have them.

    Raises:
        JaxkgError: matplotlib is not installed, or a report lacks a metric.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise JaxkgError("plots need matplotlib: pip install 'jaxkg[plot]'") from error
    if not reports or not metrics:
        raise JaxkgError("a plot needs at least one report and one metric")
    for system, report in reports.items():
        for name in metrics:
            if name not in report.metrics:
                raise JaxkgError(f"the report of {system!r} has no metric {name!r}")
    figure = Figure(figsize=(2 + 1.2 * len(metrics) * len(reports) ** 0.5, 4), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(reports)
    for index, (system, report) in enumerate(reports.items()):
        estimates = [report.metrics[name] for name in metrics]
        places = [group + (index - (len(reports) - 1) / 2) * width for group in range(len(metrics))]
        values = [estimate.value for estimate in estimates]
        errors = [
            [max(e.value - e.low, 0.0) for e in estimates],
            [max(e.high - e.value, 0.0) for e in estimates],
        ]
        axes.bar(places, values, width, yerr=errors, capsize=3, label=system)
    axes.set_xticks(range(len(metrics)), list(metrics))
    axes.set_ylabel("share, with 95 % interval")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path)
