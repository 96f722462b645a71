"""A layered layout for small graphs: columns by distance, few crossings, neighbours level.

Nodes are numbers, edges pairs of them; what they stand for and how they are drawn is the caller's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

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
        ahead = range(1, len(placed)) if sweep % 2 == 0 else range(len(placed) - 2, -1, -1)
        for column in ahead:
            beside = {
                node: i
                for i, node in enumerate(placed[column - 1 if sweep % 2 == 0 else column + 1])
            }
            placed[column] = _sorted_by_mean(placed[column], near, beside)
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


def _sorted_by_mean(
    column: Sequence[int], near: Sequence[Sequence[int]], beside: dict[int, int]
) -> list[int]:
    position = {
        node: _mean([beside[other] for other in near[node] if other in beside], place)
        for place, node in enumerate(column)
    }
    return sorted(column, key=position.__getitem__)


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
