"""The subgraphs of a batch, sized beforehand and with every entity's priority."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Revisit, start
from jaxkg.candidates.subgraph import Subgraphs, question_subgraphs
from jaxkg.kg.neighbourhood import spread
from jaxkg.score.priority import Question, entity_sums, priority_logits, sum_over_paths
from jaxkg.score.priority_params import PriorityParams
from jaxkg.tensors import TensorGraph
from jaxkg.types import Graph


def prioritise(
    graph: Graph,
    params: PriorityParams,
    states: jax.Array,
    question: Question,
    row: jax.Array,
    node: jax.Array,
    *,
    capacities: tuple[int, ...],
    fan_out: int | None,
    floor: float,
    revisit: Revisit,
    mass: bool = True,
) -> tuple[Subgraphs, jax.Array]:
    """Priority of every entity of every question's subgraph.

    Args:
        graph: padded tensors.
        params: weights.
        states: [N, S] float32 from `entity_states`.
        question: from `read_questions`.
        row, node: [F] int32 topics.
        capacities, fan_out, floor, revisit: see `question_subgraphs`; a hop after which walks of
            no likely length would end is not taken either. Static.
        mass: see `priority_logits`; static.

    Returns:
        The subgraphs; [sum of F] float32 logits, to be read where `Subgraphs.is_entity`.

    Reference: PathMind, Eq. 3-5.
    """
    longer = jnp.cumsum(question.length[:, ::-1], axis=1)[:, ::-1]
    weights = jnp.where((longer >= floor)[:, :, None], question.weight, 0.0)
    sub = question_subgraphs(
        graph,
        start(row, node),
        jax.lax.stop_gradient(weights),
        capacities=capacities,
        fan_out=fan_out,
        floor=floor,
        revisit=revisit,
    )
    code = tuple(jnp.where(level.valid, graph.relation[level.edge], 0) for level in sub.trail[1:])
    layers = sum_over_paths(params, question, states, sub.trail, sub.place, code)
    sums = entity_sums(layers, sub.entity)
    return sub, priority_logits(params, question, sums, sub.row, mass=mass)


def subgraph_sizes(
    tensors: TensorGraph,
    topics: Sequence[Sequence[int]],
    *,
    hops: int,
    fan_out: int,
    revisit: Revisit,
) -> np.ndarray:
    """Slots that the whole subgraph of each question wants, counted on the host.

    A program is costly to compile, so its capacities had better be right the first time.

    Args:
        tensors: the graph.
        topics: topic nodes of each question.
        hops, fan_out, revisit: see `question_subgraphs`.

    Returns:
        [Q, 2L] int64, runs and edges of each hop.
    """
    run_offsets = np.asarray(tensors.graph.run_offsets).astype(np.int64)
    run_start = np.asarray(tensors.graph.run_start).astype(np.int64)
    nodes, count = tensors.graph.num_nodes, len(topics)
    start_row = np.repeat(np.arange(count), [len(rows) for rows in topics])
    key = np.unique(start_row * nodes + np.array([n for rows in topics for n in rows], np.int64))
    barred = key if revisit != "any" else key[:0]
    sizes = np.zeros((count, 2 * hops), np.int64)
    for hop in range(hops):
        row, node = np.divmod(key, nodes)
        row = np.repeat(row, run_offsets[node + 1] - run_offsets[node])
        runs = spread(run_offsets[node], run_offsets[node + 1])
        sizes[:, 2 * hop] = np.bincount(row, minlength=count)
        first, last = run_start[runs], run_start[runs + 1]
        taken = (last - first <= fan_out) | (hop == 0)
        first, last, row = first[taken], last[taken], row[taken]
        row = np.repeat(row, last - first)
        sizes[:, 2 * hop + 1] = np.bincount(row, minlength=count)
        key = np.unique(row * nodes + tensors.tail[spread(first, last)])
        key = np.setdiff1d(key, barred, assume_unique=True)
        barred = np.union1d(barred, key) if revisit == "none" else barred
    return sizes
