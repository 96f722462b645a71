"""Plots of reports, for people; they need matplotlib (the extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jaxkg.evaluate.report import Report
from jaxkg.records import JaxkgError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    Figure = _figure()
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


def save_latency_plot(
    reports: Mapping[str, Report], path: str | os.PathLike[str], *, metric: str = "f1"
) -> None:
    """Draw a metric against the median seconds of a question, a larger spot for more calls.

    Args:
        reports: by system name; one that does not say what its questions cost is left out.
        path: of the picture; its ending chooses the format (png, svg, pdf).
        metric: name of a metric that is a fraction.

    Raises:
        JaxkgError: matplotlib is not installed, or no report has the metric and seconds.
    """
    Figure = _figure()
    told = {
        system: report
        for system, report in reports.items()
        if {metric, "seconds_p50"} <= report.metrics.keys()
    }
    if not told:
        raise JaxkgError(f"no report has both {metric!r} and seconds to draw")
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for system, report in told.items():
        estimate, seconds = report.metrics[metric], report.metrics["seconds_p50"].value
        calls = report.metrics["calls"].value if "calls" in report.metrics else 0.0
        error = [[max(estimate.value - estimate.low, 0)], [max(estimate.high - estimate.value, 0)]]
        axes.errorbar(seconds, estimate.value, yerr=error, capsize=3, fmt="none", color="0.6")
        axes.scatter(seconds, estimate.value, s=40 + 60 * calls)
        axes.annotate(
            f"{system}, {calls:.3g} calls",
            (seconds, estimate.value),
            xytext=(6, 6),
            textcoords="offset points",
        )
    if all(report.metrics["seconds_p50"].value > 0 for report in told.values()):
        axes.set_xscale("log")
    axes.set_xlabel("median seconds of a question")
    axes.set_ylabel(f"{metric}, with 95 % interval")
    axes.set_ylim(0, 1.05)
    axes.margins(x=0.3)
    figure.savefig(path)


def _figure() -> type[Figure]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise JaxkgError("plots need matplotlib: pip install 'jaxkg[plot]'") from error
    return Figure
