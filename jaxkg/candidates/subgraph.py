"""Question subgraphs: all that lies within L hops of the topics, a batch as one flat padded graph.

The subgraph is unrolled by hop: layer l holds the edges that some walk of l edges from a topic
ends with. Every edge of the k-hop neighbourhood that a walk of at most L edges can take is there,
at each hop where one can take it, and no other; sums over walks then need a single pass.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.candidates.expand import Revisit, walk
from jaxkg.ops import expand_ragged, first_of_each
from jaxkg.types import NULL, Frontier, Graph


class Subgraphs(NamedTuple):
    """The unrolled subgraphs of B questions.

    In layer l, slot f stands for the edge `trail[l].edge[f]` from the node at slot
    `trail[l].parent[f]` of layer l - 1. A node that several edges enter is kept at the first of
    them: `place[l][f]` is the slot of the node that edge f enters, and `parent` always names such
    a slot. Layer 0 holds the topics.
    """

    trail: tuple[Frontier, ...]  # L + 1 frontiers; unlike elsewhere a node comes once per edge
    place: tuple[jax.Array, ...]  # L + 1 times [F] int32, NULL where not valid
    entity: jax.Array  # [sum of F, layers 1 … L] int32: first slot, over these layers laid end to
    # end, of the same (row, node); NULL where a slot is not its layer's place of a node
    needed: jax.Array  # [2L] int32, slots wanted for runs and for edges, hop by hop
    overflow: jax.Array  # [] bool

    @property
    def row(self) -> jax.Array:
        """[sum of F] int32 question of each slot of layers 1 … L."""
        return jnp.concatenate([layer.row for layer in self.trail[1:]])

    @property
    def node(self) -> jax.Array:
        """[sum of F] int32 node of each slot of layers 1 … L."""
        return jnp.concatenate([layer.node for layer in self.trail[1:]])

    @property
    def is_entity(self) -> jax.Array:
        """[sum of F] bool: the slots that stand for an entity, each entity of a question once."""
        return self.entity == jnp.arange(self.entity.shape[0], dtype=jnp.int32)


def question_subgraphs(
    graph: Graph,
    starts: Frontier,
    weight: jax.Array | None = None,
    *,
    capacities: tuple[int, ...],
    fan_out: int | None = None,
    floor: float | jax.Array = 0.0,
    revisit: Revisit = "topic",
) -> Subgraphs:
    """Unroll the neighbourhood of each question's topics.

    Whole stretches of edges (one node, one relation) are taken or left, so a hub costs nothing
    unless its relation is taken.

    Args:
        graph: padded tensors.
        starts: hop 0, its `row` being the question.
        weight: [B, L, 2R] float32, not negative: how much each relation counts at each hop. The
            weight of a walk is the product over its edges. None leaves `floor` out.
        capacities: slots for runs and for edges of each hop, length 2L; static.
        fan_out: past the first hop, runs of more edges are left out; None takes all. Static.
        floor: a run is left out where the walks through it weigh less, each edge, than this
            share of the heaviest run of the question's hop, or nothing; 0 takes all. Static.
        revisit: which nodes a walk may enter: "topic" not those it started from, "none" none that
            the question reached at an earlier hop, "any" all. Static.

    Returns:
        The subgraphs. With overflow they are incomplete; `needed` is exact up to and including
        the first capacity that did not suffice.

    Reference: PathMind, "Query Subgraph Extraction".
    """
    hops = len(capacities) // 2
    every = jnp.arange(starts.node.shape[0], dtype=jnp.int32)
    trail, places = (starts,), (jnp.where(starts.valid, every, NULL),)
    mass = starts.valid.astype(jnp.float32)
    needed, overflow = [], starts.overflow
    for hop in range(hops):
        runs, edges = capacities[2 * hop : 2 * hop + 2]
        before = trail[-1]
        size = before.node.shape[0]
        open_ = places[-1] == jnp.arange(size, dtype=jnp.int32)
        first_run = graph.run_offsets[before.node]
        count = jnp.where(open_, graph.run_offsets[before.node + 1] - first_run, 0)
        ragged = expand_ragged(count, capacity=runs)
        run = jnp.where(ragged.valid, first_run[ragged.row] + ragged.position, 0)
        first = graph.run_start[run]
        length = jnp.where(ragged.valid, graph.run_start[run + 1] - first, 0)
        if fan_out is not None and hop:
            length = jnp.where(length <= fan_out, length, 0)
        if weight is not None:
            chex.assert_shape(weight, (None, hops, 2 * graph.num_relations))
            row = before.row[ragged.row]
            relation = jnp.clip(graph.run_relation[run], 0, 2 * graph.num_relations - 1)
            heavy = mass[ragged.row] * weight[row, hop, relation]
            heavy = jnp.where(length > 0, heavy, 0.0)
            most = jax.ops.segment_max(heavy, row, weight.shape[0])
            enough = (heavy > 0) & (heavy >= floor * most[row])
            length = jnp.where(enough | (floor <= 0), length, 0)
        level = walk(graph, before, ragged.row, first, length, capacity=edges)
        level, place = _placed(level, trail, revisit)
        if weight is not None:
            code = jnp.where(level.valid, graph.relation[level.edge], 0)
            carried = mass[level.parent] * weight[level.row, hop, code]
            mass = (
                jnp.zeros(edges).at[jnp.maximum(place, 0)].add(jnp.where(level.valid, carried, 0.0))
            )
        trail, places = (*trail, level), (*places, place)
        needed += [ragged.needed, level.needed]
        overflow |= ragged.overflow | level.overflow
    own = [place == jnp.arange(place.shape[0], dtype=jnp.int32) for place in places[1:]]
    entity = first_of_each(
        (
            jnp.concatenate([level.row for level in trail[1:]]),
            jnp.concatenate([level.node for level in trail[1:]]),
        ),
        jnp.concatenate(own),
    )
    return Subgraphs(trail, places, entity, jnp.stack(needed), overflow)


def _placed(
    level: Frontier, earlier: tuple[Frontier, ...], revisit: Revisit
) -> tuple[Frontier, jax.Array]:
    """Drop the edges into nodes that the rule bars; [F] int32 slot of the node of each other."""
    if revisit not in ("topic", "none", "any"):
        raise ValueError(f'revisit is "topic", "none" or "any", not {revisit!r}')
    blocks = (*{"topic": earlier[:1], "none": earlier, "any": ()}[revisit], level)
    row, node, valid = (
        jnp.concatenate([getattr(block, name) for block in blocks])
        for name in ("row", "node", "valid")
    )
    offset = row.shape[0] - level.row.shape[0]
    place = first_of_each((row, node), valid)[offset:] - offset
    valid = level.valid & (place >= 0)
    return level._replace(valid=valid), jnp.where(valid, place, NULL)
