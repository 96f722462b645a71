"""Plots of reports, for people; they need matplotlib (the extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.evaluate.runs.report import Report
from jaxkg.storage import writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS_A_ROW = 4
MARKERS = "os^DvPX*<>"
"""Shapes that tell systems apart where colours do not."""


def save_latency_plots(
    sets: Mapping[str, Mapping[str, Report]], path: str | os.PathLike[str], *, metric: str = "f1"
) -> None:
    """Draw a metric against the median seconds of a question, a larger spot for more calls.

    Args:
        sets: by question set, each a panel, reports by system name; a set without any to draw is
            left out, and so is a report that does not say what its questions cost.
        path: of the picture; its ending chooses the format (png, svg, pdf).
        metric: name of a metric that is a fraction.

    Raises:
        JaxkgError: matplotlib is not installed, or no report has the metric and seconds.
    """
    Figure = figure_class()
    panel_reports = {
        name: {
            system: report
            for system, report in reports.items()
            if {metric, "seconds_p50"} <= report.metrics.keys()
        }
        for name, reports in sets.items()
    }
    panel_reports = {name: reports for name, reports in panel_reports.items() if reports}
    if not panel_reports:
        raise JaxkgError(f"no report has both {metric!r} and seconds to draw")
    systems = list(
        dict.fromkeys(system for reports in panel_reports.values() for system in reports)
    )
    columns = min(len(panel_reports), _PANELS_A_ROW)
    rows = -(-len(panel_reports) // columns)
    figure = Figure(figsize=(3 + 3 * columns, 1 + 3 * rows), layout="constrained")
    spots: dict[str, Any] = {}
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
    for axes in panels[len(panel_reports) :]:
        axes.set_visible(False)
    for place, (axes, (name, reports)) in enumerate(zip(panels, panel_reports.items())):
        for system, report in reports.items():
            estimate, seconds = report.metrics[metric], report.metrics["seconds_p50"].value
            calls = report.metrics["calls"].value if "calls" in report.metrics else 0.0
            low, high = estimate.value - estimate.low, estimate.high - estimate.value
            error = [[max(low, 0.0)], [max(high, 0.0)]]
            number = systems.index(system)
            color = f"C{number % 10}"
            axes.errorbar(seconds, estimate.value, yerr=error, capsize=3, fmt="none", color=color)
            # Shapes tell systems apart too, and what lies beneath another shows through.
            spot = axes.scatter(
                *(seconds, estimate.value),
                s=40 + 60 * calls,
                color=color,
                marker=MARKERS[number % len(MARKERS)],
                alpha=0.8,
            )
            spots.setdefault(system, spot)
            words = [system] if len(panel_reports) == 1 else []
            words += [f"{calls:.3g} calls"] if calls or words else []
            axes.annotate(
                ", ".join(words),
                (seconds, estimate.value),
                xytext=(6, 6),
                textcoords="offset points",
            )
        axes.set_title(name)
        axes.margins(x=0.3)
        axes.grid(alpha=0.3)
        axes.tick_params(labelbottom=place + columns >= len(panel_reports))
    if all(
        r.metrics["seconds_p50"].value > 0
        for reports in panel_reports.values()
        for r in reports.values()
    ):
        panels[0].set_xscale("log")
    panels[0].set_ylim(-0.05, 1.05)
    figure.supylabel(f"{metric}, with 95 % interval", fontsize="medium")
    if len(panel_reports) > 1:
        handles = [spots[system] for system in systems]
        figure.legend(handles, systems, loc="outside right upper")
    figure.supxlabel(
        "median seconds of a question; those of a batch share its time equally", fontsize="medium"
    )
    with writing(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:] or None)


def figure_class() -> type[Figure]:
    """Matplotlib's figure, imported where something is drawn.

    Raises:
        JaxkgError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise JaxkgError(f"plots require matplotlib: {how_to_install('plot')}") from error
    return Figure
