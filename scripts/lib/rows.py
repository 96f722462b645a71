"""Rows of a table: values with intervals, numbers and words, one way to write each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from jaxkg.evaluate import Estimate, Report, paired_differences
from jaxkg.evaluate.metrics.intervals import markdown_table

Cell: TypeAlias = Estimate | str | float | None


def row(report: Report, metrics: Sequence[str]) -> list[Cell]:
    """Some metrics of a report; one that it has not is None."""
    return [report.metrics.get(name) for name in metrics]


def shown(cell: Cell) -> str:
    """A cell as tables have it.

    >>> [shown(cell) for cell in (Estimate(0.5, 0.4, 0.6, 9), 1234.5, 1.2345, 7, "two", None)]
    ['0.5000 (0.4000–0.6000)', '1,234', '1.23', '7', 'two', '–']
    """
    if isinstance(cell, Estimate):
        return f"{cell.value:.4f} ({cell.low:.4f}–{cell.high:.4f})"
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


class Table:
    """A table that prints itself row by row, and is kept for `Record`."""

    def __init__(self, *columns: str, title: str = "") -> None:
        self.columns, self.title = columns, title
        self.rows: list[list[Cell]] = []

    def add(self, *cells: Cell) -> None:
        """One more row, printed at once; the first behind title and header, missing cells None."""
        if not self.rows:
            head = markdown_table(self.columns, [])
            print(f"\n{self.title}\n\n{head}" if self.title else f"\n{head}")
        self.rows.append([*cells, *[None] * (len(self.columns) - len(cells))])
        print("| " + " | ".join(map(shown, self.rows[-1])) + " |", flush=True)

    def add_paired(
        self,
        reports: Mapping[str, Report],
        metrics: Sequence[str],
        *,
        seed: int,
        first: Sequence[Cell] = (),
    ) -> None:
        """A row a report, then what each but the first differs from it, question by question."""
        for name, report in reports.items():
            self.add(*first, name, *row(report, metrics))
        (best, report), *others = reports.items()
        for name, other in others:
            gains = paired_differences(report, other, seed=seed)
            self.add(*first, f"{best} − {name}", *(gains.get(metric) for metric in metrics))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: estimates as records, all numbers in full."""
        rows = [[_plain(cell) for cell in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}

    @staticmethod
    def text(told: dict[str, Any]) -> str:
        """The Markdown of a table that was kept as JSON."""
        rows = [[shown(_cell(cell)) for cell in row] for row in told["rows"]]
        table = markdown_table(told["columns"], rows)
        return f"{told['title']}\n\n{table}" if told.get("title") else table


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Estimate):
        return cell.to_dict()
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _cell(told: Any) -> Cell:
    if not isinstance(told, dict):
        return told
    value, low, high = (math.nan if told[n] is None else told[n] for n in ("value", "low", "high"))
    return Estimate(value, low, high, told["n"])
