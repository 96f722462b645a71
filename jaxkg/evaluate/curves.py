"""Curves of studies: a measure against size, noise or cut-off, one line a system or stage."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from jaxkg.evaluate.intervals import Estimate
from jaxkg.evaluate.plots import figure_class
from jaxkg.records import JaxkgError

Curve = Sequence[tuple[float, Estimate | float]]
"""Points from left to right."""


def save_curve_plot(
    panels: Mapping[str, Mapping[str, Curve]],
    path: str | os.PathLike[str],
    *,
    x: str | Sequence[str],
    y: str | Sequence[str],
    log: bool = False,
) -> None:
    """Draw panels of curves side by side; an estimate is drawn with its 95 % interval.

    Args:
        panels: by title, curves by name; one name has one colour in all panels.
        path: of the picture; its ending chooses the format (png, svg, pdf).
        x, y: what the axes show, one for all panels or one for each.
        log: both axes logarithmic.

    Raises:
        JaxkgError: matplotlib is not installed, or there is nothing to draw.
    """
    Figure = figure_class()
    if not panels or not any(len(curve) for some in panels.values() for curve in some.values()):
        raise JaxkgError("a plot needs at least one curve with a point")
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    figure = Figure(figsize=(1 + 3.4 * len(panels), 3.6), layout="constrained")
    drawn = figure.subplots(1, len(panels), squeeze=False)[0]
    for place, (axes, (title, curves)) in enumerate(zip(drawn, panels.items())):
        for name, curve in curves.items():
            xs = [point for point, _ in curve]
            found = [value if isinstance(value, Estimate) else None for _, value in curve]
            ys = [value.value if isinstance(value, Estimate) else value for _, value in curve]
            color = f"C{names.index(name) % 10}"
            axes.plot(xs, ys, marker="o", markersize=3, color=color, label=name)
            if all(estimate is not None for estimate in found):
                low = [estimate.low for estimate in found if estimate is not None]
                high = [estimate.high for estimate in found if estimate is not None]
                axes.fill_between(xs, low, high, color=color, alpha=0.15, linewidth=0)
        if log:
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel(x if isinstance(x, str) else x[place])
        axes.set_ylabel(y if isinstance(y, str) else y[place])
    handles = {}
    for axes in drawn:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize="small")
    figure.savefig(path)
