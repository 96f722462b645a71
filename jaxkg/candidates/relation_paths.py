"""Enumeration of the relation paths that lead from topics to given nodes."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.candidates.expand import Revisit, barred, walk
from jaxkg.ops import edges_to, expand_ragged, first_of_each, top_in_group
from jaxkg.types import NULL, Frontier, Graph


class Targets(NamedTuple):
    """The nodes that paths should reach, sorted by (row, node), NULL rows last."""

    row: jax.Array  # [A] int32
    node: jax.Array  # [A] int32
    size: jax.Array  # [B] int32, distinct targets of each row


class RelationPaths(NamedTuple):
    """Relation paths of each row, best first by how well they reproduce its targets."""

    relations: jax.Array  # [B, K, L] int32 codes, NULL past the end of a path and of the list
    f1: jax.Array  # [B, K] float32 of the nodes reached against the targets; 0 without a path
    needed: jax.Array  # [2L] int32: slots wanted for runs and for edges, hop by hop
    overflow: jax.Array  # [] bool


def relation_paths(
    graph: Graph,
    starts: Frontier,
    targets: Targets,
    *,
    capacities: tuple[int, ...],
    keep: int,
    fan_out: int,
    revisit: Revisit = "topic",
) -> RelationPaths:
    """Enumerate relation paths from each row's starts and keep those that best match its targets.

    All paths of up to L hops are walked at once. Past the first hop a run of more than `fan_out`
    edges is not walked, so that hubs do not drag the whole graph in: what is returned is a
    proposal, whose true F1 `follow` tells.

    Args:
        graph: padded tensors.
        starts: hop 0; `row` in [0, B).
        targets: what should be reached.
        capacities: slots for runs and for edges of each hop, length 2L; static.
        keep: K, paths kept per row; static.
        fan_out: longest run walked past the first hop; static.
        revisit: "topic" never returns to a start; the other rules bar nothing here. Static.

    Returns:
        Paths that reach at least one target, shorter first among equals.
    """
    hops = len(capacities) // 2
    trail, questions = (starts,), (starts.row,)
    needed, overflow = [], jnp.zeros((), bool)
    scored = []
    for hop in range(hops):
        runs, edges = capacities[2 * hop : 2 * hop + 2]
        limit = fan_out if hop else None
        level, wanted, full = _walk_runs(graph, trail[-1], runs=runs, edges=edges, fan_out=limit)
        question = questions[-1][level.parent]
        level = _bar_and_group(graph, level, question, starts if revisit == "topic" else None)
        trail, questions = (*trail, level), (*questions, question)
        needed += [wanted, level.needed]
        overflow |= full | level.overflow
        scored.append(_path_f1(level, question, targets))

    size = [len_.shape[0] for len_ in scored]
    f1 = jnp.concatenate(scored)
    question = jnp.concatenate(questions[1:])
    best = top_in_group(question, f1, f1 > 0, num_groups=targets.size.shape[0], k=keep)
    bounds = jnp.cumsum(jnp.asarray([0, *size], jnp.int32))
    flat = jnp.maximum(best.ravel(), 0)
    hop = jnp.searchsorted(bounds, flat, side="right").astype(jnp.int32)
    slot = jnp.where(best.ravel() == NULL, NULL, flat - bounds[hop - 1])
    walked = edges_to(trail, hop, slot).reshape(*best.shape, hops)
    return RelationPaths(
        relations=jnp.where(walked == NULL, NULL, graph.relation[jnp.maximum(walked, 0)]),
        f1=jnp.where(best == NULL, 0.0, f1[jnp.maximum(best, 0)]),
        needed=jnp.stack(needed),
        overflow=overflow,
    )


def _walk_runs(
    graph: Graph, before: Frontier, *, runs: int, edges: int, fan_out: int | None
) -> tuple[Frontier, jax.Array, jax.Array]:
    """Walk the runs of a frontier that are no longer than `fan_out` (None: any)."""
    first_run = graph.run_offsets[before.node]
    count = jnp.where(before.valid, graph.run_offsets[before.node + 1] - first_run, 0)
    ragged = expand_ragged(count, capacity=runs)
    run = jnp.where(ragged.valid, first_run[ragged.row] + ragged.position, 0)
    first = graph.run_start[run]
    length = jnp.where(ragged.valid, graph.run_start[run + 1] - first, 0)
    if fan_out is not None:
        length = jnp.where(length <= fan_out, length, 0)
    level = walk(graph, before, ragged.row, first, length, capacity=edges)
    return level, ragged.needed, ragged.overflow


def _bar_and_group(
    graph: Graph, level: Frontier, question: jax.Array, topics: Frontier | None
) -> Frontier:
    """Name each relation path by its first slot (as `row`); keep each (path, node) once."""
    valid = level.valid
    if topics is not None:
        valid &= ~barred(question, level.node, valid, topics)
    # `level.row` is the path before this hop, by the slot that names it.
    path = first_of_each((level.row, graph.relation[level.edge]), valid)
    alone = first_of_each((path, level.node), valid)
    slots = jnp.arange(valid.shape[0], dtype=jnp.int32)
    return level._replace(row=jnp.maximum(path, 0), valid=valid & (alone == slots))


def _path_f1(level: Frontier, question: jax.Array, targets: Targets) -> jax.Array:
    """F1 of each path's nodes at the slot that names the path; 0 at every other slot."""
    size = level.row.shape[0]
    hit = level.valid & is_target(question, level.node, targets)
    reached = jnp.zeros(size, jnp.int32).at[level.row].add(level.valid.astype(jnp.int32))
    hits = jnp.zeros(size, jnp.int32).at[level.row].add(hit.astype(jnp.int32))
    return 2 * hits / jnp.maximum(reached + targets.size[question], 1)


def is_target(row: jax.Array, node: jax.Array, targets: Targets) -> jax.Array:
    """Whether (row, node) is among the targets, by bisection.

    Args:
        row, node: [F] int32.
        targets: sorted by (row, node).

    Returns:
        [F] bool.
    """
    chex.assert_equal_shape([row, node])
    size = targets.row.shape[0]

    def halve(_, bounds):
        low, high = bounds
        middle = jnp.minimum((low + high) >> 1, size - 1)
        at_row, at_node = targets.row[middle], targets.node[middle]
        # NULL rows are padding and sort last.
        less = (at_row != NULL) & ((at_row < row) | ((at_row == row) & (at_node < node)))
        less &= low < high
        return jnp.where(less, middle + 1, low), jnp.where(less, high, middle)

    bounds = (jnp.zeros(row.shape, jnp.int32), jnp.full(row.shape, size, jnp.int32))
    low, _ = jax.lax.fori_loop(0, size.bit_length(), halve, bounds)
    found = jnp.minimum(low, size - 1)
    return (low < size) & (targets.row[found] == row) & (targets.node[found] == node)
