"""Numbers, intervals and tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from jaxkg.evaluate.metrics.intervals import Estimate


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
