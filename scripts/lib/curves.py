"""Curves of studies: a measure against size, noise or cut-off, one line a system or stage."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.intervals import Estimate
from jaxkg.evaluate.plots import MARKERS, figure_class
from jaxkg.storage import writing

Curve = Sequence[tuple[float, Estimate | float]]
"""Points from left to right."""


_APART = 0.012
"""Between the same points of two curves, as a share of the axis: their intervals stand beside one
another."""


def save_curve_plot(
    panels: Mapping[str, Mapping[str, Curve]],
    path: str | os.PathLike[str],
    *,
    x: str | Sequence[str],
    y: str | Sequence[str],
    columns: int | None = None,
    log: bool = False,
    shares: bool = False,
) -> None:
    """Draw panels of curves; an estimate is drawn with its 95 % interval.

    Args:
        panels: by title, curves by name; one name has one colour and shape in all panels.
        path: of the picture; its ending chooses the format (png, svg, pdf).
        x, y: what the axes show, one for all panels or one for each.
        columns: panels in a row; None draws them all side by side.
        log: both axes logarithmic.
        shares: y runs from 0 to 1 in all panels.

    Raises:
        JaxkgError: matplotlib is not installed, or there is nothing to draw.
    """
    Figure = figure_class()
    if not panels or not any(len(curve) for some in panels.values() for curve in some.values()):
        raise JaxkgError("a plot needs at least one curve with a point")
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    columns = min(columns or len(panels), len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(1.3 + 3.4 * columns, 0.6 + 3 * rows), layout="constrained")
    drawn = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes in drawn[len(panels) :]:
        axes.set_visible(False)
    for place, (axes, (title, curves)) in enumerate(zip(drawn, panels.items())):
        everywhere = [point for curve in curves.values() for point, _ in curve]
        apart = 0 if log else _APART * (max(everywhere, default=0) - min(everywhere, default=0))
        for name, curve in curves.items():
            number = names.index(name)
            shift = apart * (number - (len(names) - 1) / 2)
            points = [
                value if isinstance(value, Estimate) else Estimate(value, value, value, 0)
                for _, value in curve
            ]
            axes.errorbar(
                [point + shift for point, _ in curve],
                [point.value for point in points],
                yerr=[
                    [max(point.value - point.low, 0.0) for point in points],
                    [max(point.high - point.value, 0.0) for point in points],
                ],
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linewidth=1.2,
                elinewidth=0.5,
                color=f"C{number % 10}",
                label=name,
            )
        if log:
            axes.set_xscale("log")
            axes.set_yscale("log")
        if shares:
            axes.set_ylim(-0.02, 1.02)
        axes.grid(alpha=0.3)
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel(x if isinstance(x, str) else x[place])
        axes.set_ylabel(y if isinstance(y, str) else y[place])
    handles = {}
    for axes in drawn:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize="small")
    with writing(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:] or None)
