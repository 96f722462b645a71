"""The subgraph behind an answer as a drawing: a small SVG that needs no script and no font.

A layered layout for small graphs: columns by distance, few crossings, neighbours level.

Nodes are numbers, edges pairs of them; what they stand for and how they are drawn is the caller's.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from jaxkg.show.boxes import Arrow, Box, Scene, scene
from jaxkg.show.shown import Shown

_SWEEPS = 8

Edges = Sequence[tuple[int, int]]


def columns(count: int, edges: Edges, roots: Sequence[int]) -> list[list[int]]:
    """Nodes by distance from the roots, whichever way the edges point.

    No edge skips a column, for its ends are at most one step apart.

    Args:
        count: number of nodes, which are 0 … count - 1.
        edges: pairs of nodes.
        roots: the first column. A node connected to none of them makes it longer.

    Returns:
        The columns, in an order with few crossings.

    >>> columns(4, [(1, 0), (1, 2), (2, 3)], [0])
    [[0], [1], [2], [3]]
    """
    near = neighbours(count, edges)
    first = dict.fromkeys(roots)
    placed = _by_distance(list(first), near)
    for node in range(count):
        if all(node not in column for column in placed):
            first[node] = None
            placed = _by_distance(list(first), near)
    for sweep in range(_SWEEPS):
        # Left to right and back: each column follows the mean position of the one before it.
        step = -1 if sweep % 2 else 1
        for column in range(len(placed))[::step][1:]:
            beside = {node: i for i, node in enumerate(placed[column - step])}
            position = {
                node: _mean([beside[other] for other in near[node] if other in beside], place)
                for place, node in enumerate(placed[column])
            }
            placed[column].sort(key=position.__getitem__)
    return placed


def _by_distance(roots: list[int], near: Sequence[Sequence[int]]) -> list[list[int]]:
    placed, seen = [roots], set(roots)
    while placed[-1]:
        reached = dict.fromkeys(other for node in placed[-1] for other in near[node])
        placed.append([node for node in reached if node not in seen])
        seen.update(placed[-1])
    return placed[:-1]


def heights(
    placed: Sequence[Sequence[int]], edges: Edges, sizes: Sequence[float], gap: float
) -> list[float]:
    """The y of every node's centre: as level with its neighbours as its column allows.

    Args:
        placed: nodes by column, top to bottom.
        edges: pairs of nodes.
        sizes: height of each node.
        gap: least space between two nodes of a column.

    Returns:
        One number a node, the smallest edge at 0.
    """
    near = neighbours(len(sizes), edges)
    y = [0.0] * len(sizes)
    for column in placed:
        for node, value in zip(column, _spread([0.0] * len(column), column, sizes, gap)):
            y[node] = value
    for sweep in range(_SWEEPS):
        for column in placed if sweep % 2 == 0 else reversed(placed):
            inside = set(column)
            wanted = [
                _mean([y[other] for other in near[node] if other not in inside], y[node])
                for node in column
            ]
            for node, value in zip(column, _spread(wanted, column, sizes, gap)):
                y[node] = value
    top = min(value - size / 2 for value, size in zip(y, sizes))
    return [value - top for value in y]


def neighbours(count: int, edges: Edges) -> list[list[int]]:
    """Nodes beside each node, without itself and without repetition."""
    near: list[dict[int, None]] = [{} for _ in range(count)]
    for node, other in edges:
        if node != other:
            near[node][other] = near[other][node] = None
    return [list(each) for each in near]


def _spread(
    wanted: Sequence[float], column: Sequence[int], sizes: Sequence[float], gap: float
) -> list[float]:
    """Positions in the given order that keep apart and stay near those wanted.

    Pushing down from the top and pushing up from the bottom both keep apart, hence so does their
    mean.
    """
    least = [(sizes[a] + sizes[b]) / 2 + gap for a, b in itertools.pairwise(column)]
    down, up = list(wanted), list(wanted)
    for place, step in enumerate(least):
        down[place + 1] = max(down[place + 1], down[place] + step)
    for place in range(len(least) - 1, -1, -1):
        up[place] = min(up[place], up[place + 1] - least[place])
    return [(a + b) / 2 for a, b in zip(down, up)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_SIZE, _SMALL = 13.0, 11.0
_LINE = 17.0
_PADDING = 10.0
_ROW_GAP = 12.0
_MARGIN = 16.0
_ARROW = 8.0

_COLOURS = {  # fill, line, letters
    "topic": ("#1d4e89", "#1d4e89", "#ffffff"),
    "answer": ("#1a7f5a", "#1a7f5a", "#ffffff"),
    "": ("#ffffff", "#9aa5b1", "#1f2933"),
}
_PAPER, _LINE_COLOUR, _LABEL_COLOUR = "#f8f9fb", "#8793a1", "#4a5562"

_Place = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class _Curve:
    """A cubic Bézier curve."""

    points: tuple[_Place, _Place, _Place, _Place]

    def at(self, t: float) -> _Place:
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = self.points
        return a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy


def svg(answer: Shown, *, max_nodes: int = 40) -> str:
    """The answer's subgraph, topics on the left, every further hop one column to the right.

    Arrows point the way the triples do; tooltips carry ids, scores and rows of triples. Above
    `max_nodes` nodes, those with the same neighbours share a box; where that does not do, only the
    first paths are drawn. A line under the drawing says so.

    Args:
        answer: any. What is drawn are the paths its entities cite, or where there are none, all.
        max_nodes: most boxes, at least 2.

    Returns:
        An `<svg>` element that stands alone, in a page or in a file.

    Raises:
        JaxkgError: the first path alone has more than `max_nodes` nodes.
    """
    shown = scene(answer, max_nodes)
    if not shown.boxes:
        return _document([_text(_MARGIN, 30, "Nothing to draw: no path is cited.")], 260, 48)
    pairs = [(arrow.head, arrow.tail) for arrow in shown.arrows]
    placed = columns(len(shown.boxes), pairs, shown.roots)
    tall = [_box_height(box) for box in shown.boxes]
    y = [_MARGIN + height for height in heights(placed, pairs, tall, _ROW_GAP)]
    column = {node: place for place, nodes in enumerate(placed) for node in nodes}
    x, width = _across(shown, placed, column)
    parts = _drawn_arrows(shown, column, x, y)
    parts += [_drawn_box(*each) for each in zip(shown.boxes, x, y)]
    height = max(centre + size / 2 for centre, size in zip(y, tall)) + _MARGIN
    for note in shown.notes:
        parts.append(_text(_MARGIN, height + 6, note))
        height += _LINE
        width = max(width, _width(note, _SMALL) + 2 * _MARGIN)
    return _document(parts, width, height)


def _across(
    shown: Scene, placed: Sequence[Sequence[int]], column: Mapping[int, int]
) -> tuple[list[float], float]:
    """The left side of every box, and the width of all."""
    gaps = [60.0] * len(placed)
    inside = [False] * len(placed)
    for arrow in shown.arrows:
        place = min(column[arrow.head], column[arrow.tail])
        gaps[place] = max(gaps[place], _width(arrow.label, _SMALL) + 56)
        inside[place] |= column[arrow.head] == column[arrow.tail]
    wide = [_box_width(box) for box in shown.boxes]
    x = [0.0] * len(wide)
    left = _MARGIN
    for place, nodes in enumerate(placed):
        widest = max(wide[node] for node in nodes)
        for node in nodes:
            x[node] = left + (widest - wide[node]) / 2
        left += widest + (gaps[place] if place + 1 < len(placed) or inside[place] else 0)
    return x, left + _MARGIN


def _drawn_arrows(
    shown: Scene, column: Mapping[int, int], x: Sequence[float], y: Sequence[float]
) -> list[str]:
    beside = Counter(frozenset((arrow.head, arrow.tail)) for arrow in shown.arrows)
    drawn: Counter[frozenset[int]] = Counter()
    lines: list[str] = []
    labels: list[str] = []
    taken = [
        (left + _box_width(box) / 2, level, _box_width(box) / 2, _box_height(box) / 2)
        for box, left, level in zip(shown.boxes, x, y)
    ]
    for arrow in shown.arrows:
        ends = frozenset((arrow.head, arrow.tail))
        # Several relations between two boxes bend apart.
        bend = (drawn[ends] - (beside[ends] - 1) / 2) * 26
        drawn[ends] += 1
        curve = _curve(shown.boxes, arrow, column, x, y, bend)
        lines.append(_drawn_curve(curve, arrow))
        centre, level = _place_label(curve, _width(arrow.label, _SMALL), taken)
        labels.append(_drawn_label(arrow, centre, level))
    return lines + labels


def _curve(
    boxes: Sequence[Box],
    arrow: Arrow,
    column: Mapping[int, int],
    x: Sequence[float],
    y: Sequence[float],
    bend: float,
) -> _Curve:
    """From head to tail; the end at the tail leaves room for the arrow's point."""
    head, tail = arrow.head, arrow.tail
    right = {node: x[node] + _box_width(boxes[node]) for node in (head, tail)}
    if column[head] == column[tail]:
        out = max(right.values()) + 52 + bend
        apart = 7.0 if head == tail else 0.0
        start, end = (right[head], y[head] - apart), (right[tail], y[tail] + apart)
        return _Curve((start, (out, start[1]), (out, end[1]), end))
    if column[head] < column[tail]:
        start, end = (right[head], y[head]), (x[tail], y[tail])
    else:
        start, end = (x[head], y[head]), (right[tail], y[tail])
    middle = (start[0] + end[0]) / 2
    return _Curve((start, (middle, start[1] + bend), (middle, end[1] + bend), end))


def _place_label(
    curve: _Curve, width: float, taken: list[tuple[float, float, float, float]]
) -> _Place:
    """The place along the curve that has the fewest boxes and labels in its way.

    Args:
        curve: whose label it is.
        width: of the label.
        taken: centre, half the width and half the height of what is there; grows by the label.
    """
    wide, tall = width / 2 + 2, _SMALL / 2 + 1
    places = [curve.at(t) for t in (0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2)]

    def hidden(place: _Place) -> int:
        x, y = place
        return sum(abs(x - a) < wide + w and abs(y - b) < tall + h for a, b, w, h in taken)

    x, y = min(places, key=hidden)
    taken.append((x, y, wide, tall))
    return x, y


def _drawn_curve(curve: _Curve, arrow: Arrow) -> str:
    start, leave, come, end = curve.points
    points = [_point(end, come)]
    stops = [start, _short_of(end, come)]
    if arrow.both:
        points.append(_point(start, leave))
        stops[0] = _short_of(start, leave)
    way = f"M{_pair(stops[0])}C{_pair(leave)} {_pair(come)} {_pair(stops[1])}"
    return (
        f'<g><title>{escape(arrow.tooltip)}</title><path d="{way}" fill="none" '
        f'stroke="{_LINE_COLOUR}" stroke-width="1.3"/>{"".join(points)}</g>'
    )


def _point(tip: _Place, behind: _Place) -> str:
    """The head of an arrow that comes from `behind`."""
    x, y = _short_of(tip, behind)
    across_x, across_y = (tip[1] - y) * 0.45, (x - tip[0]) * 0.45
    corners = tip, (x + across_x, y + across_y), (x - across_x, y - across_y)
    return f'<polygon points="{" ".join(map(_pair, corners))}" fill="{_LINE_COLOUR}"/>'


def _short_of(tip: _Place, behind: _Place) -> _Place:
    """Where the line ends that the head of the arrow goes on from."""
    x, y = tip[0] - behind[0], tip[1] - behind[1]
    share = _ARROW / max(math.hypot(x, y), _ARROW)
    return tip[0] - x * share, tip[1] - y * share


def _pair(place: _Place) -> str:
    return f"{place[0]:.1f},{place[1]:.1f}"


def _drawn_label(arrow: Arrow, x: float, y: float) -> str:
    place = f'<text x="{x:.1f}" y="{y + 3.5:.1f}" font-size="{_SMALL:g}" text-anchor="middle"'
    words = f"{escape(arrow.label)}</text>"
    # Written twice, for not every reader of SVG paints a stroke beneath its letters.
    halo = f'{place} stroke="{_PAPER}" stroke-width="4" stroke-linejoin="round" aria-hidden="true"'
    return (
        f"<g><title>{escape(arrow.tooltip)}</title>{halo}>{words}"
        f'{place} fill="{_LABEL_COLOUR}">{words}</g>'
    )


def _drawn_box(box: Box, x: float, y: float) -> str:
    fill, stroke, ink = _COLOURS[box.role]
    width, height = _box_width(box), _box_height(box)
    top = y - height / 2
    words = "".join(
        f'<text x="{x + width / 2:.1f}" y="{top + _PADDING / 2 + (place + 0.75) * _LINE:.1f}" '
        f'text-anchor="middle" fill="{ink}">{escape(line)}</text>'
        for place, line in enumerate(box.lines)
    )
    return (
        f'<g><title>{escape(box.tooltip)}</title><rect x="{x:.1f}" y="{top:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}" rx="7" fill="{fill}" '
        f'stroke="{stroke}"/>{words}</g>'
    )


def _box_width(box: Box) -> float:
    return max(_width(line, _SIZE) for line in box.lines) + 2 * _PADDING


def _box_height(box: Box) -> float:
    return len(box.lines) * _LINE + _PADDING


def _text(x: float, y: float, words: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:.1f}" font-size="{_SMALL:g}" fill="{_LABEL_COLOUR}">'
        f"{escape(words)}</text>"
    )


def _document(parts: Sequence[str], width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="{_FONT}" font-size="{_SIZE:g}">'
        f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>{"".join(parts)}</svg>'
    )


def _width(text: str, size: float) -> float:
    """About how wide a text runs; no font is at hand to measure it."""
    return sum(_advance(char) for char in text) * size


def _advance(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if char in "iljtf.,:;'|!()[] ":
        return 0.36
    return 0.8 if char.isupper() or char in "mw…×%@" else 0.6
