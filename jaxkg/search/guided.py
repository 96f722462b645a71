"""The steps of guided search over arrays: score a frontier's edges, choose relations, go on.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Algorithm 2.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import Revisit, expand, start
from jaxkg.ops import running_sum
from jaxkg.score.edges import (
    EdgeScorer,
    EdgeTables,
    context_rows,
    depth_log_probabilities,
    hop_context,
    question_rows,
    score_at,
)
from jaxkg.search.plans import Plans, plans_of
from jaxkg.search.relation_beam import Beam, BeamPaths, Scored, search_layers
from jaxkg.select import best_in_rows
from jaxkg.tensors import Capacities, TensorGraph, batch_starts, bucket, stream
from jaxkg.types import NULL, Frontier, Graph

EdgeScores = Callable[[jax.Array, jax.Array, jax.Array, jax.Array], jax.Array]
"""From [F] int32 rows, nodes, relation codes and targets to [F] float32: of relations to [0, 1], of
targets to anything finite. A row that is NULL marks a slot whose score nobody reads."""


def asked(
    params: EdgeScorer,
    tables: EdgeTables,
    questions: jax.Array,
    hop: int | jax.Array,
    *,
    use_context: bool = True,
    dtype: str = "float32",
) -> EdgeScores:
    """The edge scorer, asked about some questions at one hop.

    Args:
        params, tables: the scorer's.
        questions: [B, T] float32 text vectors.
        hop: hops taken.
        use_context: False where the scorer was trained without hop context; static.
        dtype: of the products; static.

    Returns:
        Logits of edges whose rows are questions.
    """
    depth = depth_log_probabilities(params, questions)
    context = hop_context(depth, jnp.full(len(questions), hop, jnp.int32))
    of_context = context_rows(params, context if use_context else jnp.zeros_like(context))
    of_question = question_rows(params, questions)
    parts = (of_question, tables.node, tables.relation, tables.target, of_context)

    def score(question, node, relation, target):
        places = (question, node, relation, target, question)
        return score_at(params, parts, places, dtype=dtype)

    return score


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BestTargets:
    """What `follow` keeps with top-M: of every path's edges, the best-scored.

    A callable and a pytree, so that programs that take one are compiled once.
    """

    graph: Graph
    params: EdgeScorer
    tables: EdgeTables
    questions: jax.Array  # [B, T] float32 text vectors
    targets: int = dataclasses.field(metadata={"static": True})
    """M, edges kept."""
    width: int = dataclasses.field(default=1, metadata={"static": True})
    """Paths a question: row r belongs to question r // width."""
    use_context: bool = dataclasses.field(default=True, metadata={"static": True})
    dtype: str = dataclasses.field(default="float32", metadata={"static": True})

    def __call__(self, hop: int, edges: Frontier) -> jax.Array:
        """[F] bool of the edges walked after `hop` hops."""
        score = asked(
            self.params,
            self.tables,
            self.questions,
            hop,
            use_context=self.use_context,
            dtype=self.dtype,
        )

        def of_slots(slot: jax.Array) -> jax.Array:
            edge = edges.edge[slot]
            row = jnp.where(slot == NULL, NULL, edges.row[slot] // self.width)
            return score(row, self.graph.head[edge], self.graph.relation[edge], edges.node[slot])

        return best_in_rows(
            edges.row,
            edges.valid,
            of_slots,
            num_rows=len(self.questions) * self.width,
            most=self.targets,
        )


_STEPS = 5
"""Capacities of a hop: runs, edges looked at, edges scored, nodes copied, edges walked."""


class ScoredEdges(NamedTuple):
    """The edges that stand for their relations."""

    row: jax.Array  # [F] int32 partial path, NULL where there is no edge
    edge: jax.Array  # [F] int32
    score: jax.Array  # [F] float32 in [0, 1]


class RelationScores(NamedTuple):
    """How good each relation is for each partial path."""

    mean: jax.Array  # [P, 2R] float32 in [0, 1]; 0 where no edge was scored
    edges: ScoredEdges  # F of them
    needed: jax.Array  # [2] int32 slots: edges looked at, edges scored
    overflow: jax.Array  # [] bool


def relation_scores(
    graph: Graph,
    frontier: Frontier,
    score: EdgeScores,
    *,
    num_rows: int,
    sample: int | None,
    capacities: tuple[int, int],
) -> RelationScores:
    """Mean score of the edges of every relation that leaves each row's nodes.

    Args:
        graph: padded tensors.
        frontier: nodes of partial paths, `row` being the path.
        score: of edges, in [0, 1].
        num_rows: P; static.
        sample: about how many edges stand for a relation of a path, all where it has no more, and
            always one; None scores them all. Static.
        capacities: slots for the edges looked at, and for those scored; static.

    Returns:
        Means, which with a sample are estimates: a hash of the edges draws it.
    """
    looked, scored = capacities
    edges = expand(graph, frontier, capacity=looked)
    codes = 2 * graph.num_relations
    relation = graph.relation[edges.edge]
    group = jnp.where(edges.valid, edges.row * codes + relation, 0)
    chosen = edges.valid
    if sample is not None:
        # An exact number a group takes a pass over all edges for each; a share of them takes one.
        slots = jnp.arange(looked, dtype=jnp.int32)
        safe = jnp.where(edges.valid, group, num_rows * codes)
        size = jnp.zeros(num_rows * codes + 1).at[safe].add(1.0)[safe]
        first = jnp.full(num_rows * codes + 1, looked, jnp.int32).at[safe].min(slots)[safe]
        mixed = edges.edge.astype(jnp.uint32) * jnp.uint32(0x9E3779B1)
        draw = (mixed >> 8).astype(jnp.int32).astype(jnp.float32) * 2.0**-24
        chosen &= (draw * size < sample) | (first == slots)
    place = running_sum(chosen.astype(jnp.int32)) - 1
    slot = jnp.zeros(scored, jnp.int32)
    slot = slot.at[jnp.where(chosen, place, scored)].set(
        jnp.arange(looked, dtype=jnp.int32), mode="drop"
    )
    wanted = place[-1] + 1
    there = jnp.arange(scored, dtype=jnp.int32) < wanted
    edge = edges.edge[slot]
    row = jnp.where(there, edges.row[slot], NULL)
    value = score(row, graph.head[edge], relation[slot], graph.tail[edge])
    group_place = jnp.where(there, group[slot], num_rows * codes)
    total = jnp.zeros(num_rows * codes).at[group_place].add(value, mode="drop")
    count = jnp.zeros(num_rows * codes).at[group_place].add(1.0, mode="drop")
    return RelationScores(
        mean=(total / jnp.maximum(count, 1.0)).reshape(num_rows, codes),
        edges=ScoredEdges(row, edge, value),
        needed=jnp.stack([edges.needed, wanted]),
        overflow=edges.overflow | (wanted > scored),
    )


def hazard(depth: jax.Array, hop: int | jax.Array) -> tuple[jax.Array, jax.Array]:
    """The stop decision: what stopping, and what going on, after some hops is worth.

    Args:
        depth: [B, L] float32 log-probabilities of 1 … L hops.
        hop: hops taken, below L.

    Returns:
        [B] float32 log-probabilities of stopping and of going on, given that the path is this long.

    >>> stop, going = hazard(jnp.log(jnp.asarray([[0.2, 0.6, 0.2]])), 2)
    >>> round(float(jnp.exp(stop[0])), 3), round(float(jnp.exp(going[0])), 3)
    (0.75, 0.25)
    """
    hops = jnp.arange(depth.shape[1])[None, :]
    left = jax.nn.logsumexp(jnp.where(hops >= hop - 1, depth, -jnp.inf), axis=1)
    longer = jax.nn.logsumexp(jnp.where(hops >= hop, depth, -jnp.inf), axis=1)
    stop = jnp.where(hop > 0, jnp.take(depth, jnp.maximum(hop - 1, 0), axis=1) - left, -jnp.inf)
    return stop, jnp.where(hop > 0, longer - left, 0.0)


def guided_scorer(
    graph: Graph,
    params: EdgeScorer,
    tables: EdgeTables,
    questions: jax.Array,
    *,
    sample: int | None,
    use_context: bool,
    dtype: str,
) -> Callable[[Beam, jax.Array, int, int], Scored]:
    """The edge scorer as a beam asks it.

    Args:
        graph: padded tensors.
        params, tables: the scorer's.
        questions: [B, T] float32 text vectors.
        sample: see `relation_scores`; static.
        use_context, dtype: see `asked`; static.

    Returns:
        A scorer of two steps: edges looked at, and edges scored. A relation scores the mean of its
        edges times the decision to go on; `behind` are those edges.
    """
    depth = depth_log_probabilities(params, questions)

    def score(beam: Beam, options: jax.Array, looked: int, scored: int) -> Scored:
        rows, width = beam.score.shape
        of_edges = asked(params, tables, questions, beam.hop, use_context=use_context, dtype=dtype)
        by_relation = relation_scores(
            graph,
            beam.frontier,
            lambda row, *edge: jax.nn.sigmoid(of_edges(row // width, *edge)),
            num_rows=rows * width,
            sample=sample,
            capacities=(looked, scored),
        )
        stop, going = hazard(depth, beam.hop)
        grown = jnp.log(jnp.maximum(by_relation.mean, 1e-30)).reshape(rows, width, -1)
        stops = jnp.broadcast_to(stop[:, None, None], (rows, width, 1))
        logits = jnp.concatenate([grown + going[:, None, None], stops], axis=2)
        row = jnp.where(by_relation.edges.row == NULL, rows, by_relation.edges.row // width)
        return Scored(
            logits,
            needed=by_relation.needed,
            overflow=by_relation.overflow,
            behind=by_relation.edges,
            looked=jnp.zeros(rows, jnp.int32).at[row].add(1, mode="drop"),
        )

    return score


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class GuidedBeam:
    """How a guided search goes; static in a program but for the margin.

    Attributes:
        hops: L, longest path.
        width: W, partial paths kept; 1 is the greedy variant.
        sample: see `relation_scores`.
        targets: M, edges of a path whose targets go on to the next hop; None takes all.
        margin, revisit: see `relation_beam.search`.
        use_context, dtype: see `asked`.
    """

    hops: int = dataclasses.field(metadata={"static": True})
    width: int = dataclasses.field(default=1, metadata={"static": True})
    sample: int | None = dataclasses.field(default=4, metadata={"static": True})
    targets: int | None = dataclasses.field(default=None, metadata={"static": True})
    margin: float = 5.0
    revisit: Revisit = dataclasses.field(default="topic", metadata={"static": True})
    use_context: bool = dataclasses.field(default=True, metadata={"static": True})
    dtype: str = dataclasses.field(default="float32", metadata={"static": True})


@functools.partial(jax.jit, static_argnames=("capacities", "traced"))
def guided_batch(
    graph: Graph,
    params: EdgeScorer,
    tables: EdgeTables,
    row: jax.Array,
    node: jax.Array,
    questions: jax.Array,
    beam: GuidedBeam,
    *,
    capacities: tuple[int, ...],
    traced: bool = False,
) -> BeamPaths:
    """Guided search of one padded batch.

    Args:
        graph: padded tensors.
        params, tables: the scorer's.
        row, node: [S] int32 starts.
        questions: [B, T] float32 text vectors.
        beam: how the search goes.
        capacities: 5L slots, hop by hop: runs, edges looked at, edges scored, nodes copied, edges
            walked; static.
        traced: keep the layers and the last beam; static.

    Returns:
        Paths with their log chain scores: the product of the means along the path and of the stop
        decisions.
    """
    keep, reading = None, {"use_context": beam.use_context, "dtype": beam.dtype}
    if beam.targets is not None:
        keep = BestTargets(graph, params, tables, questions, beam.targets, beam.width, **reading)
    layers, last = search_layers(
        graph,
        start(row, node),
        guided_scorer(graph, params, tables, questions, sample=beam.sample, **reading),
        num_questions=len(questions),
        width=beam.width,
        hops=beam.hops,
        capacities=capacities,
        margin=beam.margin,
        revisit=beam.revisit,
        keep=keep,
    )
    return BeamPaths.of(last, layers if traced else None)


def _first_slots(rows: int, hops: int, sample: int | None) -> tuple[int, ...]:
    """Where capacities start: a program is dear to compile, so most should fit at once."""
    slots = []
    for hop in range(hops):
        runs, looked, scored, copied, walked = (
            32 << 2 * hop,
            128 << 2 * hop,
            8 * (sample or 8),
            16 << hop,
            64 << hop,
        )
        slots += [rows * each for each in (runs, looked, scored, copied, walked)]
    return tuple(bucket(min(size, 1 << 20), floor=4096) for size in slots)


def guided_paths(
    tensors: TensorGraph,
    params: EdgeScorer,
    tables: EdgeTables,
    questions: np.ndarray,
    topics: Sequence[Sequence[int]],
    beam: GuidedBeam,
    *,
    batch_size: int = 256,
    traced: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Plans:
    """Relation paths that the edge scorer leads along, hop count included.

    Args:
        tensors: the graph.
        params, tables: the scorer's.
        questions: [Q, T] float32 text vectors.
        topics: topic nodes of each question.
        beam: how the search goes.
        batch_size: questions a batch.
        traced: keep every hop as it was decided; for few questions.
        on_progress: called with (done, total) questions.

    Returns:
        Paths of 2R codes with their chain scores, best first.
    """
    count = len(questions)
    batch_size = min(batch_size, bucket(count))
    starts = batch_starts(topics, batch_size)

    def run(indices: np.ndarray, slots: tuple[int, ...]):
        rows = bucket(batch_size)
        row, node = starts(indices)
        return guided_batch(
            tensors.graph,
            params,
            tables,
            row,
            node,
            np.resize(questions[indices], (rows, questions.shape[1])),
            beam,
            capacities=slots,
            traced=traced,
        )

    capacities = Capacities(slots=_first_slots(batch_size * beam.width, beam.hops, beam.sample))
    batches = stream(count, batch_size, run, capacities)
    return plans_of(batches, count, width=beam.width, hops=beam.hops, on_progress=on_progress)
