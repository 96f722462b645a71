"""The steps of planned question answering over arrays: plan relation paths, execute them."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Revisit, answers, fit, follow, start, visits
from jaxkg.deadline import check
from jaxkg.score.planner import (
    PlannerParams,
    label_vectors,
    path_state,
    read_question,
    relation_logits,
)
from jaxkg.search.relation_beam import Beam, BeamPaths, Layer, Scored, search, search_layers
from jaxkg.select import witness_paths
from jaxkg.tensors import Capacities, TensorGraph, batch_starts, bucket, pad, stream
from jaxkg.types import NULL, Fit, Frontier, Graph

_FEWEST_SLOTS = 4096
"""Capacity that even one question gets: it costs microseconds, growing into it costs a program."""
_FEW_BATCHES = 8
"""Batches up to which compiling takes longer than running."""

Progress = Callable[[int, int], None]

Keep = Callable[[int, Frontier], jax.Array]
"""See `candidates.follow`."""


@dataclasses.dataclass(frozen=True)
class Plans:
    """Relation paths proposed for each question, best first.

    Attributes:
        relations: [Q, W, L] int32 codes, NULL past the end of a path and of the list.
        probability: [Q, W] float32, 0 where there are fewer than W.
        complete: [Q] bool, False where the search outgrew the largest bucket.
        visited: [Q, 2] integers, nodes reached and edges walked on the way, each counted once a hop
            of a path; None where nobody counted.
        hops: of a traced search, the layers and the last beam of each batch, on the host.
    """

    relations: np.ndarray
    probability: np.ndarray
    complete: np.ndarray
    visited: np.ndarray | None = None
    hops: tuple[tuple[tuple[Layer, ...], Beam], ...] = ()


@dataclasses.dataclass(frozen=True)
class Reached:
    """What executed relation paths reached, sorted by row.

    Attributes:
        row: [K] int32, index of the path executed.
        node: [K] int32.
        edges: [K, L] int32, one walk for each node, NULL past its end.
        offsets: [P + 1] int64, first entry of each path.
        complete: [P] bool, False where the execution outgrew the largest bucket.
        visited: [P, 2] int32, see `Plans`.
    """

    row: np.ndarray
    node: np.ndarray
    edges: np.ndarray
    offsets: np.ndarray
    complete: np.ndarray
    visited: np.ndarray


class PathPlanner(Protocol):
    """A trained planner, whoever trained it."""

    @property
    def on_device(self) -> tuple[PlannerParams, jax.Array]:
        """Its weights, and [R, T] int32 n-grams of the relation labels, NULL-padded."""
        ...

    @property
    def hops(self) -> int:
        """Longest path it plans."""
        ...

    def ngrams(self, masked: Sequence[str]) -> np.ndarray:
        """[Q, T] int32 n-grams of questions, NULL-padded."""
        ...


def planner_scorer(
    params: PlannerParams, label_ngrams: jax.Array, ngrams: jax.Array
) -> Callable[[Beam, jax.Array], Scored]:
    """The planner as a beam asks it.

    Args:
        params, label_ngrams: the planner's.
        ngrams: [B, T] int32 of the questions.

    Returns:
        A scorer whose memo is the planner's state after each path, [B, W, D] float32.
    """
    labels = label_vectors(params, label_ngrams)
    reading = jax.vmap(lambda words: read_question(params, words))(ngrams)
    likeness = reading.words @ labels.T

    def score(beam: Beam, options: jax.Array) -> Scored:
        if beam.memo is None:
            state = jnp.zeros((*beam.score.shape, reading.words.shape[1]))
        else:
            # Before the first hop nothing has been taken, and NULL changes no state.
            last = jnp.take(beam.relations, jnp.maximum(beam.hop - 1, 0), axis=2)
            state = jax.vmap(jax.vmap(lambda s, r: path_state(params, s, r)))(beam.memo, last)
        reads = jnp.take(reading.reads, beam.hop, axis=1)
        logits = jax.vmap(
            lambda like, read, states: jax.vmap(lambda s: relation_logits(params, like, read, s))(
                states
            )
        )(likeness, reads, state)
        return Scored(logits, state)

    return score


@functools.partial(jax.jit, static_argnames=("width", "hops", "capacities", "revisit", "traced"))
def plan_batch(
    graph: Graph,
    planner: tuple[PlannerParams, jax.Array],
    topics: tuple[jax.Array, jax.Array],
    ngrams: jax.Array,
    *,
    width: int,
    traced: bool = False,
    **how: Any,
) -> BeamPaths:
    """Beam search with the learned planner, for one padded batch.

    Args:
        graph: padded tensors.
        planner: weights and n-grams of the labels.
        topics: [S] int32 rows and nodes.
        ngrams: [B, T] int32.
        traced: keep the layers; static.
        width, how: see `relation_beam.search`: also hops, capacities, margin and revisit; static
            but `margin`.
    """
    count = ngrams.shape[0]
    parts = graph, start(*topics), planner_scorer(*planner, ngrams)
    how |= {"num_questions": count, "width": width}
    if traced:
        layers, last = search_layers(*parts, **how)
        return BeamPaths.of(last, layers)
    memo = jnp.zeros((count, width, planner[0].carry.shape[0]))
    return BeamPaths.of(search(*parts, memo=memo, **how))


def plan_paths(
    tensors: TensorGraph,
    planner: PathPlanner,
    masked: Sequence[str],
    topics: Sequence[Sequence[int]],
    *,
    width: int = 4,
    margin: float = 5.0,
    revisit: Revisit = "topic",
    batch_size: int = 1024,
    traced: bool = False,
    on_progress: Progress | None = None,
) -> Plans:
    """Propose relation paths of any length for each question.

    Each proposed path exists in the graph: a hop takes only relations that leave the nodes reached
    so far, and a path that reaches no node is dropped.

    Args:
        tensors: the graph.
        planner: a planner for this graph.
        masked: question texts with their topics masked.
        topics: topic nodes of each question; a question without topics gets no plan.
        width: W, number of paths to keep at each hop.
        margin: paths whose log-probability is this far below the best are dropped.
        revisit: which nodes a path may return to ("none" is applied by `execute_paths`).
        batch_size: number of questions per batch.
        traced: keep every hop as it was decided; for few questions.
        on_progress: called with (done, total) questions.

    Returns:
        Plans of all questions.
    """
    count, hops = len(masked), planner.hops
    ngrams = planner.ngrams(masked)
    batch_size = min(batch_size, bucket(count))
    starts = batch_starts(topics, batch_size)

    def run(indices: np.ndarray, slots: tuple[int, ...]):
        rows = bucket(batch_size)
        return plan_batch(
            tensors.graph,
            planner.on_device,
            starts(indices),
            pad(ngrams[indices], rows),
            width=width,
            hops=hops,
            capacities=slots,
            margin=margin,
            revisit=revisit,
            traced=traced,
        )

    # A hop in a loop compiles sooner, hops of their own sizes run faster.
    loop = count <= _FEW_BATCHES * batch_size
    capacities = Capacities(
        slots=tuple(
            bucket(wants * batch_size << 2 * (hops - 1 if loop else hop), floor=_FEWEST_SLOTS)
            for hop in range(hops)
            for wants in (8, 2, 8)  # runs, copied nodes and edges
        ),
        rounds=hops if loop else 1,
    )
    batches = stream(count, batch_size, run, capacities)
    return plans_of(batches, count, width=width, hops=hops, on_progress=on_progress)


def plans_of(
    batches: Iterable[tuple[np.ndarray, BeamPaths, bool]],
    count: int,
    *,
    width: int,
    hops: int,
    on_progress: Callable[[int, int], None] | None,
) -> Plans:
    """The plans of Q questions from the batches of their search, as `stream` gives them."""
    relations = np.full((count, width, hops), NULL, np.int32)
    score = np.full((count, width), -np.inf, np.float32)
    completes = np.ones(count, bool)
    visited = np.zeros((count, 2), np.int64)
    hops_of = []
    for indices, beam, complete in batches:
        check()
        relations[indices] = beam.relations[: len(indices)]
        score[indices] = beam.score[: len(indices)]
        visited[indices] = beam.visited[: len(indices)]
        completes[indices] = complete
        hops_of += [] if beam.hops is None else [beam.hops]
        if on_progress:
            on_progress(int(indices[-1]) + 1, count)
    return Plans(relations, np.exp(score), completes, visited, tuple(hops_of))


def mixed_plans(plans: Plans, share: np.ndarray, owner: np.ndarray, count: int) -> Plans:
    """Plans of questions from those of several wordings of each.

    A path is as probable as the wordings make it together: the sum over wordings of their share
    times the path's probability for them.

    Args:
        plans: of N wordings.
        share: [N] float, how likely each is the one meant.
        owner: [N] int, the question of each, ascending.
        count: Q questions, each with a wording at least.

    Returns:
        Plans of the questions, W of each.
    """
    first = np.searchsorted(owner, np.arange(count + 1))
    relations, probability = plans.relations[first[:-1]], plans.probability[first[:-1]]
    width = probability.shape[1]
    for place in np.flatnonzero(np.diff(first) > 1).tolist():
        total: dict[tuple[int, ...], float] = {}
        for row in range(first[place], first[place + 1]):
            for path, each in zip(plans.relations[row].tolist(), plans.probability[row].tolist()):
                if each > 0:
                    total[tuple(path)] = total.get(tuple(path), 0.0) + float(share[row]) * each
        best = sorted(total.items(), key=lambda item: -item[1])[:width]
        relations[place], probability[place] = NULL, 0.0
        for rank, (path, each) in enumerate(best):
            relations[place, rank], probability[place, rank] = path, each
    visited = plans.visited
    return Plans(
        relations,
        probability,
        np.logical_and.reduceat(plans.complete, first[:-1]) if count else plans.complete,
        None if visited is None else np.add.reduceat(visited, first[:-1]) if count else visited,
    )


class Executed(NamedTuple):
    """Answer nodes with a walk for each, as of `Witnessed`, and what was visited for them."""

    row: jax.Array
    node: jax.Array
    edges: jax.Array
    valid: jax.Array
    visited: jax.Array  # [P, 2] int32, see `Plans`


@functools.partial(jax.jit, static_argnames=("capacities", "revisit"))
def execute_batch(
    graph: Graph,
    row: jax.Array,
    node: jax.Array,
    relations: jax.Array,
    keep: Keep | None = None,
    *,
    capacities: tuple[int, ...],
    revisit: Revisit,
) -> Fit[Executed]:
    """Execute one relation path per row and read a walk for every node reached.

    Args:
        graph: padded tensors.
        row, node: [S] int32 starts.
        relations: [P, L, W] int32 codes.
        keep: a pytree, see `candidates.follow`; None keeps every edge.
        capacities, revisit: see `candidates.follow`; static.
    """
    trail = follow(
        graph, start(row, node), relations, capacities=capacities, revisit=revisit, keep=keep
    )
    visited = sum(visits(frontier, num_rows=len(relations)) for frontier in trail[1:])
    witnesses = witness_paths(trail, answers(trail, relations))
    return fit(Executed(*witnesses, jnp.asarray(visited)), trail)


def execute_paths(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    relations: np.ndarray,
    *,
    revisit: Revisit = "topic",
    keep: Callable[[np.ndarray], Keep] | None = None,
    batch_size: int = 1024,
    on_progress: Progress | None = None,
) -> Reached:
    """Execute relation paths exactly, with one walk for every node reached.

    Args:
        tensors: the graph.
        topics: topic nodes of each path.
        relations: [P, L] int32 codes, or [P, L, W] where a hop allows several; NULL-padded.
        revisit: which nodes a path may return to.
        keep: function from [B] indices of paths to the edges that `execute_batch` may use for
            them; rows past the last path repeat the first paths. None allows every edge.
        batch_size: number of paths per batch.
        on_progress: called with (done, total) paths.

    Returns:
        All nodes of all paths.
    """
    if relations.ndim == 2:
        relations = relations[:, :, None]
    count, hops, _ = relations.shape
    batch_size = min(batch_size, bucket(count))
    starts = batch_starts(topics, batch_size)

    def run(indices: np.ndarray, slots: tuple[int, ...]):
        rows = bucket(batch_size)
        row, node = starts(indices)
        return execute_batch(
            tensors.graph,
            row,
            node,
            pad(relations[indices], rows),
            keep and keep(np.resize(indices, rows)),
            capacities=slots,
            revisit=revisit,
        )

    parts, completes = [], np.ones(count, bool)
    visited = np.zeros((count, 2), np.int64)
    capacities = Capacities(
        slots=tuple(bucket(8 * batch_size << 2 * hop, floor=_FEWEST_SLOTS) for hop in range(hops))
    )
    for indices, result, complete in stream(count, batch_size, run, capacities):
        executed = result.value
        there = np.flatnonzero(executed.valid)
        there = there[np.argsort(executed.row[there], kind="stable")]
        parts.append(
            (executed.row[there] + int(indices[0]), executed.node[there], executed.edges[there])
        )
        completes[indices] = complete
        visited[indices] = executed.visited[: len(indices)]
        if on_progress:
            on_progress(int(indices[-1]) + 1, count)
    empty = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, hops), np.int32))
    row, node, edges = (np.concatenate(column) for column in zip(*(parts or [empty])))
    offsets = np.searchsorted(row, np.arange(count + 1))
    return Reached(row.astype(np.int32), node, edges, offsets, completes, visited)
