"""Relation paths mined from (topic, answers): supervision for the planner without path labels."""

import dataclasses
import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Revisit, answers, fit, follow, start
from jaxkg.candidates.relation_paths import RelationPaths, Targets, is_target, relation_paths
from jaxkg.kg.neighbourhood import spread
from jaxkg.tensors import Capacities, TensorGraph, batch_starts, bucket, pad, starts_table, stream
from jaxkg.types import NULL, Fit, inverse_code

_SAMPLED_WALKS = 100_000

_LEAST_SLOTS = 4096


@dataclasses.dataclass(frozen=True)
class MinedPaths:
    """Relation paths that reproduce the answers of each question.

    Attributes:
        relations: [Q, K, L] int32 codes, NULL past the end of a path and of the list.
        f1: [Q, K] float32, exact F1 of the path's execution against the answers.
        incomplete: questions whose neighbourhood was too large to enumerate whole, or one of whose
            paths was too large to execute.
    """

    relations: np.ndarray
    f1: np.ndarray
    incomplete: int


@functools.partial(jax.jit, static_argnames=("capacities", "keep", "fan_out", "revisit"))
def _propose(graph, row, node, targets, **how) -> RelationPaths:
    return relation_paths(graph, start(row, node), targets, **how)


@functools.partial(jax.jit, static_argnames=("capacities", "revisit"))
def _execute_f1(
    graph, row, node, relations, targets, *, capacities, revisit: Revisit
) -> Fit[jax.Array]:
    """F1 of each row's path."""
    trail = follow(
        graph, start(row, node), relations[:, :, None], capacities=capacities, revisit=revisit
    )
    reached = jnp.zeros(relations.shape[0], jnp.int32)
    hits = reached
    for frontier, mask in zip(trail, answers(trail, relations[:, :, None]), strict=True):
        hit = mask & is_target(frontier.row, frontier.node, targets)
        reached = reached.at[frontier.row].add(mask.astype(jnp.int32))
        hits = hits.at[frontier.row].add(hit.astype(jnp.int32))
    return fit(2 * hits / jnp.maximum(reached + targets.size, 1), trail)


def walk_counts(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    hops: int,
    fan_out: int,
) -> list[int]:
    """How many runs and edges an enumeration walks, hop by hop, before it merges any.

    A program is costly to compile, so its capacities had better be right the first time.

    Args:
        tensors: the graph.
        topics, targets: topic and answer nodes of a sample of questions.
        hops, fan_out: as in `mine_paths`.

    Returns:
        2L numbers, runs and edges of each hop.
    """
    relations = tensors.graph.num_relations
    run_offsets = np.asarray(tensors.graph.run_offsets)
    run_start = np.asarray(tensors.graph.run_start)
    run_relation = np.asarray(tensors.graph.run_relation)

    def runs_of(rows: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = run_offsets[nodes], run_offsets[nodes + 1]
        return np.repeat(rows, high - low), spread(low, high)

    goals, entered = runs_of(*_flat(targets))
    entering = goals * 2 * relations + inverse_code(run_relation[entered], relations)
    rows, nodes = _flat(topics)
    counts, scale = [], 1
    for hop in range(hops):
        rows, runs = runs_of(rows, nodes)
        first, last = run_start[runs], run_start[runs + 1]
        walked = (last - first <= fan_out) | (hop == 0)
        if hop == hops - 1:
            walked &= np.isin(rows * 2 * relations + run_relation[runs], entering)
        first, last = first[walked], last[walked]
        edges = spread(first, last)
        counts += [scale * len(runs), scale * len(edges)]
        # Where walks multiply, some of them tell the next hop's number well enough.
        stride = max(1, len(edges) // _SAMPLED_WALKS)
        scale *= stride
        rows = np.repeat(rows[walked], last - first)[::stride]
        nodes = tensors.tail[edges[::stride]]
    return counts


def _flat(nodes: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and nodes of a list a row: [n] int64 each."""
    rows = np.repeat(np.arange(len(nodes)), [len(some) for some in nodes])
    return rows, np.array([node for some in nodes for node in some], np.int64)


def follow_counts(
    tensors: TensorGraph, topics: Sequence[Sequence[int]], paths: np.ndarray
) -> list[int]:
    """How many edges an execution of paths walks, hop by hop: the host's twin of `follow`.

    Args:
        tensors: the graph.
        topics: topic nodes of each path.
        paths: [P, L] int32 codes, NULL past the end of a path.

    Returns:
        L numbers.
    """
    graph = tensors.graph
    run_offsets, run_start = np.asarray(graph.run_offsets), np.asarray(graph.run_start)
    codes = 2 * graph.num_relations
    leaves = np.repeat(np.arange(graph.num_nodes), np.diff(run_offsets))
    keys = leaves * codes + np.asarray(graph.run_relation)[: len(leaves)]
    row, node = _flat(topics)
    counts = []
    for hop in range(paths.shape[1]):
        code = paths[row, hop]
        key = np.where(code == NULL, -1, node * codes + code)
        low, high = np.searchsorted(keys, key), np.searchsorted(keys, key, "right")
        run, row = spread(low, high), np.repeat(row, high - low)
        first, last = run_start[run], run_start[run + 1]
        edges, row = spread(first, last), np.repeat(row, last - first)
        counts.append(len(edges))
        ends = np.unique(row * graph.num_nodes + tensors.tail[edges])
        row, node = np.divmod(ends, graph.num_nodes)
    return counts


def targets_table(nodes: Sequence[Sequence[int]], *, num_rows: int, slots: int = 0) -> Targets:
    """Sorted, padded targets from the target nodes of each row (duplicates removed)."""
    distinct = [sorted(set(some)) for some in nodes]
    row, node = starts_table(distinct, num_rows=num_rows, slots=slots)
    row = np.where(node == NULL, NULL, row).astype(np.int32)
    count = np.zeros(num_rows, np.int32)
    count[: len(nodes)] = [len(some) for some in distinct]
    return Targets(jnp.asarray(row), jnp.asarray(node), jnp.asarray(count))


def mine_paths(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    hops: int = 3,
    keep: int = 8,
    fan_out: int = 64,
    revisit: Revisit = "topic",
    batch_size: int = 256,
    on_progress: Callable[[int, int], None] | None = None,
) -> MinedPaths:
    """Find the relation paths whose execution best matches the answers.

    Two passes: an enumeration of all paths that skips hubs past the first hop proposes `keep`
    paths a question, then every proposal is executed exactly and scored by F1.

    Args:
        tensors: the graph.
        topics: topic nodes of each question.
        targets: answer nodes of each question.
        hops: L, longest path.
        keep: K, paths kept a question.
        fan_out: longest run of edges walked past the first hop while proposing.
        revisit: which nodes a path may return to.
        batch_size: questions a batch.
        on_progress: called with (done, total) steps of work; two passes make 2Q steps.

    Returns:
        For each question its K best paths by exact F1, best first; shorter first among equals.
    """
    count = len(topics)
    # Sizes are programs, and a list's parts differ (those of one hop, then those of two): shuffled,
    # its batches are alike.
    order = np.random.default_rng(0).permutation(count)
    topics, targets = [topics[i] for i in order], [targets[i] for i in order]
    relations = np.full((count, keep, hops), NULL, np.int32)
    proposed = np.zeros((count, keep), np.float32)
    whole = np.ones(count, bool)
    tick = on_progress or (lambda done, total: None)

    batch_size = min(batch_size, bucket(count))
    starts = batch_starts(topics, batch_size)

    def propose(indices: np.ndarray, slots: tuple[int, ...]) -> RelationPaths:
        rows = bucket(batch_size)
        row, node = starts(indices)
        wanted = targets_table([targets[i] for i in indices], num_rows=rows, slots=goals)
        return _propose(
            tensors.graph,
            row,
            node,
            wanted,
            capacities=slots,
            keep=keep,
            fan_out=fan_out,
            revisit=revisit,
        )

    sizes = [len(some) for some in targets]
    goals = max((sum(sizes[i : i + batch_size]) for i in range(0, count, batch_size)), default=0)
    first = topics[:batch_size], targets[:batch_size]
    capacities = _room(walk_counts(tensors, *first, hops=hops, fan_out=fan_out))
    for indices, found, complete in stream(count, batch_size, propose, capacities):
        relations[indices] = found.relations[: len(indices)]
        proposed[indices] = found.f1[: len(indices)]
        whole[indices] &= complete
        tick(int(indices[-1]) + 1, 2 * count)

    question, place = np.nonzero(proposed > 0)
    exact = np.zeros_like(proposed)
    executed = min(8 * batch_size, bucket(len(question)))
    asked = [topics[i] for i in question.tolist()]
    again = batch_starts(asked, executed)

    def execute(indices: np.ndarray, slots: tuple[int, ...]):
        rows = bucket(executed)
        who = question[indices]
        row, node = again(indices)
        wanted = targets_table([targets[i] for i in who], num_rows=rows, slots=8 * goals)
        paths = pad(relations[who, place[indices]], rows)
        return _execute_f1(
            tensors.graph, row, node, paths, wanted, capacities=slots, revisit=revisit
        )

    paths = relations[question, place][:executed]
    capacities = _room(follow_counts(tensors, asked[:executed], paths))
    for indices, found, complete in stream(len(question), executed, execute, capacities):
        if complete:
            exact[question[indices], place[indices]] = found.value[: len(indices)]
        else:
            whole[question[indices]] = False
        tick(count + int(question[indices[-1]]) + 1, 2 * count)

    length = np.sum(relations != NULL, axis=2)
    best = np.lexsort((length, -exact), axis=1)
    exact = np.take_along_axis(exact, best, axis=1)
    relations = np.take_along_axis(relations, best[:, :, None], axis=1)
    relations[exact == 0] = NULL
    as_given = np.argsort(order)
    return MinedPaths(relations[as_given], exact[as_given], int(np.sum(~whole)))


def _room(counts: Sequence[int]) -> Capacities:
    """Slots for batches like the one that was counted."""
    capacities = Capacities(slots=(), close=True)
    capacities.slots = tuple(
        min(capacities.limit, bucket(n + n // 4, floor=_LEAST_SLOTS, steps=4)) for n in counts
    )
    return capacities
