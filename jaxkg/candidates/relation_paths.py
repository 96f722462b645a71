"""Enumeration of the relation paths that lead from topics to given nodes."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.candidates.expand import Revisit, walk
from jaxkg.ops import (
    edges_to,
    expand_ragged,
    first_of_each,
    may_hold,
    put_in,
    running_sum,
    top_in_group,
)
from jaxkg.ops.unique import sieve
from jaxkg.types import NULL, Frontier, Graph, inverse_code

_RUNS_A_TARGET = 4
"""Runs a target that are looked at in one go."""


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
    proposal, whose true F1 `follow` tells. The last hop takes only relations by which some target
    of the row is entered: no other reaches one.

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
    level, path = starts, starts.row
    trail, scored = [starts], []
    needed, overflow = [], jnp.zeros((), bool)
    barred = starts if revisit == "topic" else starts._replace(valid=starts.valid & False)
    for hop in range(hops):
        runs, edges = capacities[2 * hop : 2 * hop + 2]
        last = hop == hops - 1
        paths, name, level = _walk_runs(
            graph,
            level,
            path,
            runs=runs,
            edges=edges,
            fan_out=fan_out if hop else None,
            entering=_entering(graph, targets) if last else None,
        )
        path = name[level.parent]
        level, f1 = _distinct_and_f1(level, path, paths, barred, targets, last=last)
        trail.append(paths)
        needed += [paths.needed, level.needed]
        overflow |= paths.overflow | level.overflow
        scored.append(f1)

    f1 = jnp.concatenate(scored)
    question = jnp.concatenate([paths.row for paths in trail[1:]])
    best = top_in_group(question, f1, f1 > 0, num_groups=targets.size.shape[0], k=keep)
    bounds = jnp.cumsum(jnp.asarray([0, *(len(codes) for codes in scored)], jnp.int32))
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


def _entering(graph: Graph, targets: Targets) -> jax.Array:
    """A filter of (row, code) for every code by which some edge enters a target of the row."""
    first = graph.run_offsets[targets.node]
    count = jnp.where(targets.row == NULL, 0, graph.run_offsets[targets.node + 1] - first)
    ends = running_sum(count)
    room = _RUNS_A_TARGET * targets.node.shape[0]

    def mark(state):
        marks, done = state
        here = jnp.clip(ends, done, done + room) - jnp.clip(ends - count, done, done + room)
        ragged = expand_ragged(here, capacity=room)
        past = jnp.maximum(done - (ends - count), 0)[ragged.row]
        run = jnp.where(ragged.valid, first[ragged.row] + past + ragged.position, 0)
        # An edge that enters leaves by its inverse.
        code = inverse_code(graph.run_relation[run], graph.num_relations)
        return put_in(marks, (targets.row[ragged.row], code), ragged.valid), done + room

    begun = (sieve(targets.node.shape[0]), jnp.int32(0))
    return jax.lax.while_loop(lambda state: state[1] < ends[-1], mark, begun)[0]


def _walk_runs(
    graph: Graph,
    before: Frontier,
    path: jax.Array,
    *,
    runs: int,
    edges: int,
    fan_out: int | None,
    entering: jax.Array | None,
) -> tuple[Frontier, jax.Array, Frontier]:
    """Walk the runs of a frontier that may be walked.

    Args:
        path: [F] int32 path by which each slot of `before` was reached.
        fan_out: longest run walked; None for any.
        entering: codes of each row that are walked; None for any.

    Returns:
        A slot for each run: its question, its first edge and, as parent, the path before it; for
        each of them the slot that names its path; and the edges, their parents being the runs.
    """
    first_run = graph.run_offsets[before.node]
    count = jnp.where(before.valid, graph.run_offsets[before.node + 1] - first_run, 0)
    ragged = expand_ragged(count, capacity=runs)
    run = jnp.where(ragged.valid, first_run[ragged.row] + ragged.position, 0)
    first = graph.run_start[run]
    length = jnp.where(ragged.valid, graph.run_start[run + 1] - first, 0)
    if fan_out is not None:
        length = jnp.where(length <= fan_out, length, 0)
    code, question = graph.run_relation[run], before.row[ragged.row]
    if entering is not None:
        length = jnp.where(may_hold(entering, (question, code)), length, 0)
    paths = Frontier(
        row=question,
        node=before.node[ragged.row],
        edge=first,
        parent=path[ragged.row],
        valid=length > 0,
        needed=ragged.needed,
        overflow=ragged.overflow,
    )
    name = first_of_each((paths.parent, code), paths.valid)
    slots = jnp.arange(runs, dtype=jnp.int32)
    return paths, name, walk(graph, paths, slots, first, length, capacity=edges)


def _distinct_and_f1(
    level: Frontier,
    path: jax.Array,
    paths: Frontier,
    topics: Frontier,
    targets: Targets,
    *,
    last: bool,
) -> tuple[Frontier, jax.Array]:
    """Bar the topics, keep each (path, node) once, and score each path.

    After the last hop only paths that reach a target are looked at: the others score 0 however
    many nodes they reach, and nothing goes on from them.

    Returns:
        The frontier, and F1 at the slots that name paths, 0 at the others: [R] float32.
    """
    known = topics.row.shape[0], topics.row.shape[0] + targets.row.shape[0]
    row = jnp.concatenate([topics.row, targets.row])
    node = jnp.concatenate([topics.node, targets.node])
    valid = jnp.concatenate([topics.valid, targets.row != NULL])
    near = put_in(sieve(valid.shape[0]), (row, node), valid)
    perhaps = level.valid & may_hold(near, (level.row, level.node))
    first = first_of_each(
        (jnp.concatenate([row, level.row]), jnp.concatenate([node, level.node])),
        jnp.concatenate([valid, perhaps]),
    )[known[1] :]
    hit = (first >= known[0]) & (first < known[1])
    valid = level.valid & ((first < 0) | (first >= known[0]))
    nothing = jnp.zeros(paths.row.shape[0], jnp.int32)
    if last:
        valid &= (nothing.at[path].max(hit.astype(jnp.int32)) > 0)[path]
    alone = first_of_each((path, level.node), valid)
    valid &= alone == jnp.arange(valid.shape[0], dtype=jnp.int32)
    reached = nothing.at[path].add(valid.astype(jnp.int32))
    hits = nothing.at[path].add((valid & hit).astype(jnp.int32))
    f1 = 2 * hits / jnp.maximum(reached + targets.size[paths.row], 1)
    return level._replace(valid=valid), f1


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
    place = jnp.minimum(low, size - 1)
    return (low < size) & (targets.row[place] == row) & (targets.node[place] == node)
