"""A reasoning plan as a drawing: sub-questions by level, answers, the facts behind them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.words import one_line

_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_PAPER, _INK, _FAINT, _LINE = "#f8f9fb", "#1f2933", "#4a5562", "#8793a1"
_ANSWER = "#1a7f5a"
_WIDTH, _GAP, _ROW, _MARGIN, _PADDING = 300.0, 60.0, 18.0, 24.0, 10.0
_COLUMNS = 42
_MOST_FACTS = 4


def dag_svg(trace: Mapping[str, Any], *, state: str | None = None) -> str:
    """Draw a plan of a PRoH trace.

    Args:
        trace: as `ProhQA.trace` returns it.
        state: id of the state to draw; None takes the first complete one, else the last visited.

    Returns:
        An `<svg>` element that stands alone: a box a sub-question, levels from left to right,
        arrows to what waits for it; the whole facts are in the tooltips.

    Raises:
        JaxkgError: the trace has no states, or none of that id.
    """
    states = list(trace.get("states", ()))
    if not states:
        raise JaxkgError("the trace holds no states: it is not of a question that was reasoned on")
    if state is not None:
        matches = [each for each in states if each["id"] == state]
        if not matches:
            raise JaxkgError(f"no state {state!r}; there are {', '.join(s['id'] for s in states)}")
        chosen = matches[0]
    else:
        chosen = next((each for each in states if each.get("complete")), states[-1])
    facts = {
        cited["hyperedge"]: cited["name"]
        for path in trace.get("answer", {}).get("paths", ())
        for cited in path.get("hyperedges", ())
    }
    steps = chosen["plan"]
    depth: dict[str, int] = {}
    for step in steps:
        depth[step["id"]] = 1 + max((depth[before] for before in step["needs"]), default=-1)
    columns: dict[int, list[dict[str, Any]]] = {}
    for step in steps:
        columns.setdefault(depth[step["id"]], []).append(step)
    places: dict[str, tuple[float, float, float]] = {}
    parts: list[str] = []
    tallest = 0.0
    for level, column in sorted(columns.items()):
        x, y = _MARGIN + level * (_WIDTH + _GAP), _MARGIN + 2 * _ROW
        for step in column:
            drawn, height = _box(step, chosen["answered"].get(step["id"]), facts, x, y)
            parts.append(drawn)
            places[step["id"]] = x, y, height
            y += height + _GAP / 2
        tallest = max(tallest, y)
    for step in steps:
        for before in step["needs"]:
            parts.append(_arrow(places[before], places[step["id"]]))
    width = 2 * _MARGIN + len(columns) * (_WIDTH + _GAP) - _GAP
    verdict = ", ".join(one_line(e["name"]) for e in trace.get("answer", {}).get("entities", ()))
    title = one_line(trace.get("question", ""))
    head = _text(_MARGIN, _MARGIN, title, _INK, weight="bold")
    foot = _text(_MARGIN, tallest + _ROW, f"Answer: {verdict or 'none'}", _ANSWER, weight="bold")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" '
        f'height="{tallest + 2.5 * _ROW:.0f}" viewBox="0 0 {width:.0f} {tallest + 2.5 * _ROW:.0f}" '
        f'font-family="{_FONT}" font-size="13">'
        f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>{head}{"".join(parts)}{foot}'
        "</svg>"
    )


def _box(
    step: Mapping[str, Any],
    answered: Sequence[Any] | None,
    facts: Mapping[int, str],
    x: float,
    y: float,
) -> tuple[str, float]:
    lines = [(row, _INK, "normal") for row in _wrapped(f"{step['id']}. {step['text']}")]
    tooltip = [one_line(step["text"])]
    if answered is None:
        lines.append(("not answered", _FAINT, "normal"))
    else:
        answer, path = answered
        lines += [(row, _ANSWER, "bold") for row in _wrapped(answer)]
        for edge in path[:_MOST_FACTS]:
            fact = one_line(facts.get(edge, f"hyperedge {edge}"))
            lines.append((_wrapped(fact, 1)[0], _FAINT, "normal"))
        if len(path) > _MOST_FACTS:
            lines.append((f"… and {len(path) - _MOST_FACTS} more", _FAINT, "normal"))
        tooltip += [f"{edge}: {one_line(facts.get(edge, ''))}" for edge in path]
    height = len(lines) * _ROW + _PADDING
    words = "".join(
        _text(x + _PADDING, y + (place + 0.85) * _ROW + _PADDING / 4, row, ink, weight=weight)
        for place, (row, ink, weight) in enumerate(lines)
    )
    hint = escape("\n".join(tooltip))
    return (
        f'<g><title>{hint}</title><rect x="{x:.1f}" y="{y:.1f}" width="{_WIDTH:.1f}" '
        f'height="{height:.1f}" rx="7" fill="#ffffff" stroke="{_LINE}"/>{words}</g>'
    ), height


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x0, y0 = start[0] + _WIDTH, start[1] + start[2] / 2
    x1, y1 = end[0], end[1] + end[2] / 2
    bend = max(30.0, (x1 - x0) / 2)
    return (
        f'<path d="M{x0:.1f},{y0:.1f}C{x0 + bend:.1f},{y0:.1f} {x1 - bend:.1f},{y1:.1f} '
        f'{x1 - 7:.1f},{y1:.1f}" fill="none" stroke="{_LINE}" stroke-width="1.4"/>'
        f'<polygon points="{x1:.1f},{y1:.1f} {x1 - 8:.1f},{y1 - 4:.1f} {x1 - 8:.1f},{y1 + 4:.1f}" '
        f'fill="{_LINE}"/>'
    )


def _wrapped(text: str, most: int = 4) -> list[str]:
    rows = textwrap.wrap(one_line(text), _COLUMNS) or [""]
    if len(rows) > most:
        rows = [*rows[: most - 1], f"{rows[most - 1][: _COLUMNS - 1]}…"]
    return rows


def _text(x: float, y: float, words: str, ink: str, *, weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{ink}" font-weight="{weight}">{escape(words)}</text>'
    )
