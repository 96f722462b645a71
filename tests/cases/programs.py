"""Jit-compiled cores in the few shapes the tests run them in: every program compiles once a run."""

import functools

import jax
import numpy as np
from random_graphs import INT32

from jaxkg.candidates import advance, answers, available, expand, follow, relation_paths, start
from jaxkg.select import witness_paths
from jaxkg.types import Frontier

ROWS, STARTS, HOPS, WIDTH = 8, 32, 3, 3
# A row holds each node once, so no hop of 8 rows walks more than 8 times the 128 edges.
ROOMY = (1024,) * HOPS


@functools.partial(jax.jit, static_argnames=("capacities", "revisit"))
def executed(graph, starts, relations, *, capacities=ROOMY, revisit="topic"):
    """Trail, answer masks and witnesses of `follow`."""
    trail = follow(graph, starts, relations, capacities=capacities, revisit=revisit)
    masks = answers(trail, relations)
    return trail, masks, witness_paths(trail, masks)


enumerated = functools.partial(
    jax.jit, static_argnames=("capacities", "keep", "fan_out", "revisit")
)(relation_paths)
expanded = functools.partial(jax.jit, static_argnames="capacity")(expand)
options_of = functools.partial(jax.jit, static_argnames=("num_rows", "capacity"))(available)
advanced = functools.partial(
    jax.jit, static_argnames=("rows_per_question", "capacities", "revisit")
)(advance)
started = jax.jit(start)


def frontier_of(nodes, *, size=STARTS, last=None, rng=None) -> Frontier:
    """Hop 0 with these nodes in each row; holes between them, and garbage in the holes, if `rng`.

    `last` is the row of trailing padding.
    """
    flat = [(row, node) for row, some in enumerate(nodes) for node in some]
    assert len(flat) <= size
    slots = np.arange(len(flat))
    row = np.full(size, len(nodes) - 1 if last is None else last, np.int32)
    node = np.zeros(size, np.int32)
    if rng is not None:
        slots = np.sort(rng.choice(size, len(flat), replace=False))
        row, node = (rng.integers(INT32.min, INT32.max, size, np.int32) for _ in range(2))
    valid = np.zeros(size, bool)
    valid[slots] = True
    for slot, (r, n) in zip(slots, flat):
        row[slot], node[slot] = r, n
    nothing = np.full(size, -1, np.int32)
    return jax.device_put(
        Frontier(row, node, nothing, nothing, valid, np.int32(len(flat)), np.bool_(False))
    )


def nodes_of(frontier: Frontier, rows: int, mask=None) -> list[set[int]]:
    """The nodes of each row; each must be there once."""
    valid = np.asarray(frontier.valid if mask is None else mask)
    pairs = list(zip(np.asarray(frontier.row)[valid].tolist(), np.asarray(frontier.node)[valid]))
    assert len(pairs) == len(set(pairs)), "a node twice in one row"
    found = [set() for _ in range(rows)]
    for row, node in pairs:
        found[row].add(int(node))
    return found


def random_topics(rng, rows=ROWS, *, most=3) -> list[list[int]]:
    """0 to `most` topics a row: often the hub, now and then a node without an edge."""
    likely = np.asarray([4.0] + [1.0] * 13) / 17
    counts = rng.permutation(np.arange(rows) % (most + 1))
    return [rng.choice(14, count, replace=False, p=likely).tolist() for count in counts]


def random_plan(rng, codes, rows=ROWS, hops=HOPS, width=WIDTH) -> np.ndarray:
    """[rows, hops, width] of relation sets; lengths 0 to `hops`, one with a gap in it."""
    table = np.full((rows, hops, width), -1, np.int32)
    for row, length in enumerate(rng.permutation(hops - np.arange(rows) // 2 % (hops + 1))):
        for hop in range(length):
            some = rng.choice(codes, rng.choice(width, p=odds(width)) + 1, replace=False)
            table[row, hop, rng.choice(width, len(some), replace=False)] = some
    if hops > 2:
        gap = rng.integers(rows)
        table[gap, 1] = -1
        table[gap, [0, 2], 0] = rng.integers(codes, size=2)
    return table


def odds(width: int) -> np.ndarray:
    """Mostly as many as there may be."""
    weights = np.arange(1, width + 1) ** 2
    return weights / weights.sum()


def allowed_of(plan: np.ndarray, row: int) -> list[set[int]]:
    return [set(codes.tolist()) - {-1} for codes in plan[row]]
