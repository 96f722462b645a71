"""Drawings (SVG) of the site, made from records, and one made by asking the demo graph.

`cd scripts; python -m lib drawings` writes them to `docs/images`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from jaxkg.records import TraceNode
from lib.record import records

SCRIPTS = Path(__file__).parents[1]
IMAGES = SCRIPTS.parent / "docs" / "images"
GREEN, GREY, RED, BLUE = "#1a7f5a", "#c9d1d9", "#c0392b", "#2b6cb0"
_INK, _FAINT = "#1f2933", "#4a5562"
_KINDS = "table_reader-once-unseen-chat"
_CPU, _GPU = "bench_device", "bench_device-gpu"
_CONFIDENCE = (("sentence vectors", "train_sure-minilm", GREEN),
               ("letters alone", "train_sure-hashing", BLUE))  # fmt: skip
_QUESTION = "Where was the director of The Piano born?"


class Sheet:
    """A drawing under way: rectangles, lines and text on white."""

    def __init__(self, width: float, height: float) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            'font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
        ]

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, title: str = ""
    ) -> None:
        """Draw a filled rectangle; `title` is its tooltip."""
        inside = f"><title>{escape(title)}</title></rect>" if title else "/>"
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}"{inside}'
        )

    def line(self, ends: Sequence[float], stroke: str, width: float = 1, dash: str = "") -> None:
        """Draw a line between two points, given as x, y, x, y."""
        x1, y1, x2, y2 = ends
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
            f'stroke-width="{width:g}"{dashes}/>'
        )

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "start", fill: str = _INK
    ) -> None:
        """Write words; `anchor` is start, middle or end."""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}"{place} fill="{fill}">{escape(words)}</text>'
        )

    def svg(self) -> str:
        """The drawing as a file's text."""
        return "\n".join([*self.parts, "</svg>", ""])


def kinds() -> str:
    """Right, withheld and wrong answers of the reader by kind of question."""
    rows = [row for row in _rows(_KINDS) if row[0] not in ("all", "share")]
    rows.sort(key=lambda row: -row[1] / sum(row[1:]))
    sheet = Sheet(560, 22 * len(rows) + 34)
    words = ("right", "withheld", "wrong")
    for place, (word, colour) in enumerate(zip(words, (GREEN, GREY, RED))):
        sheet.box(130 + 90 * place, 8, 12, 12, colour)
        sheet.text(147 + 90 * place, 18, word)
    for place, (kind, right, wrong, withheld) in enumerate(rows):
        y, left = 30 + 22 * place, 130.0
        sheet.text(122, y + 13, kind, anchor="end")
        for count, colour in zip((right, withheld, wrong), (GREEN, GREY, RED)):
            width = 420 * count / (right + wrong + withheld)
            sheet.box(left, y, width, 17, colour, f"{kind}: {count}")
            left += width
    return sheet.svg()


def calibration() -> str:
    """Share of right answers among those of a confidence, beside what the confidence says.

    The records have the right and the wrong answers above each threshold; their differences are
    those between two thresholds.
    """
    sheet = Sheet(620, 330)
    left, top, side = 60.0, 20.0, 260.0

    def at(confidence: float, share: float) -> tuple[float, float]:
        return left + side * (confidence - 0.4) / 0.6, top + side * (1 - share)

    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        sheet.line((left, at(0.4, tick)[1], left + side, at(0.4, tick)[1]), GREY)
        sheet.text(left - 8, at(0.4, tick)[1] + 4, f"{tick:g}", anchor="end")
        if tick >= 0.4:
            sheet.text(at(tick, 0)[0], top + side + 18, f"{tick:g}", anchor="middle")
    sheet.text(left + side / 2, top + side + 38, "confidence", anchor="middle", fill=_FAINT)
    sheet.line((*at(0.4, 0.4), *at(1, 1)), _FAINT, dash="4 4")
    sheet.text(left + side + 20, top + 22, "right answers among those of this confidence")
    for place, (word, name, colour) in enumerate(_CONFIDENCE):
        sheet.box(left + side + 20, top + 38 + 22 * place, 12, 12, colour)
        sheet.text(left + side + 38, top + 48 + 22 * place, word)
        above = {row[0]: (row[1], row[2]) for row in _rows(name, 1)}
        bounds = ("0.4", "0.5", "0.6", "0.7", "0.8")
        for low, high in zip(bounds, (*bounds[1:], None)):
            upper = above[high] if high else (0.0, 0.0)
            right, wrong = (a - b for a, b in zip(above[low], upper))
            share = right / (right + wrong)
            ends = (*at(float(low), share), *at(float(high or 1), share))
            sheet.line(ends, colour, 4)
    sheet.line((left + side + 20, top + 88, left + side + 34, top + 88), _FAINT, dash="4 4")
    sheet.text(left + side + 38, top + 92, "as the confidence says")
    return sheet.svg()


def device() -> str:
    """What one GPU does a second, in multiples of two CPU cores, for each core that both timed."""
    cpu = {row[0]: row for row in _rows(_CPU)}
    rows = [(row[0], row[1], cpu[row[0]][1], row[2]) for row in _rows(_GPU) if row[0] in cpu]
    rows.sort(key=lambda row: -row[1] / row[2])
    sheet = Sheet(640, 24 * len(rows) + 40)
    most = max(gpu / host for _, gpu, host, _ in rows)
    sheet.text(220, 16, "how many times two CPU cores one GPU does (logarithmic)", fill=_FAINT)
    for place, (name, gpu, host, unit) in enumerate(rows):
        y, times = 26 + 24 * place, gpu / host
        width = 340 * math.log10(times) / math.log10(most)
        sheet.text(212, y + 13, name, anchor="end")
        sheet.box(220, y, width, 18, GREEN, f"{gpu:,.0f} and {host:,.0f} {unit} a second")
        sheet.text(226 + width, y + 13, f"{times:,.0f}")
    return sheet.svg()


def beam(stages: Sequence[TraceNode], title: str) -> str:
    """The steps of a beam search from left to right; what was kept is green.

    Args:
        stages: as `traced` returns them; those that keep or drop something are drawn.
        title: the question.
    """
    steps = [
        [each for each in stage.below if each.kept is not None]
        for stage in stages
        if "step" in stage.text
    ]
    tallest = max(map(len, steps))
    sheet = Sheet(240 * len(steps) + 20, 34 * tallest + 70)
    sheet.text(16, 22, title)
    for column, step in enumerate(steps):
        x = 16 + 240 * column
        sheet.text(x, 48, f"step {column + 1}", fill=_FAINT)
        for row, each in enumerate(step):
            y = 58 + 34 * row
            colour = GREEN if each.kept else GREY
            words = each.text if len(each.text) <= 28 else each.text[:27] + "…"
            sheet.box(x, y, 200, 26, colour, each.text)
            sheet.text(x + 8, y + 17, words, fill="#ffffff" if each.kept else _INK)
            sheet.text(x + 205, y + 17, f"{each.score or 0:.2f}", fill=_FAINT)
    return sheet.svg()


def beam_of_demo() -> str:
    """The beam of ReKnoS over super-relations of the demo graph."""
    import jaxkg
    from jaxkg.systems.answering import as_question
    from jaxkg.systems.reknos import PlannerScorer, ReKnoS

    kg = jaxkg.demo_graph()
    tensors = jaxkg.tensor_graph(kg)
    qa = ReKnoS.build(kg, PlannerScorer(jaxkg.planner_for(kg, tensors)), tensors=tensors)
    _, stages = qa.traced(as_question(_QUESTION))
    return beam(stages, _QUESTION)


@functools.cache
def _stored() -> dict[str, Any]:
    return records(SCRIPTS)


def _rows(name: str, table: int = 0) -> list[list[Any]]:
    return [list(row) for row in _stored()[name]["tables"][table]["rows"]]


FROM_RECORDS = {"kinds": kinds, "calibration": calibration, "device": device}


def write() -> None:
    """Write all drawings into the site's folder."""
    for name, draw in (FROM_RECORDS | {"beam": beam_of_demo}).items():
        (IMAGES / f"{name}.svg").write_text(draw(), encoding="utf-8")
