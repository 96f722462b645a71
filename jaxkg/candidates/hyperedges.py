"""Hyperedges next to hyperedges: those that share an entity, as flat ragged lists.

A hub costs its hyperedges, not a row as wide as the widest; where the slots do not suffice, the
result says so.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import expand_ragged, first_of_each
from jaxkg.types import NULL, Hypergraph


class Members(NamedTuple):
    """Entities of hyperedges, one slot each."""

    parent: jax.Array  # [S] int32, slot of the list the hyperedge is in
    node: jax.Array  # [S] int32
    valid: jax.Array  # [S] bool
    needed: jax.Array  # [] int32
    overflow: jax.Array  # [] bool


class Incident(NamedTuple):
    """Hyperedges of entities, one slot each."""

    parent: jax.Array  # [C] int32, slot of the list the entity is in
    edge: jax.Array  # [C] int32
    valid: jax.Array  # [C] bool
    needed: jax.Array  # [] int32
    overflow: jax.Array  # [] bool


def members_of(graph: Hypergraph, edge: jax.Array, valid: jax.Array, *, capacity: int) -> Members:
    """The entities of hyperedges.

    Args:
        graph: padded tensors.
        edge: [F] int32; valid: [F] bool.
        capacity: S; static.

    Returns:
        S slots, hyperedge by hyperedge, nodes ascending within one.
    """
    return Members(*_lists(graph.member_offsets, graph.member, edge, valid, capacity))


def incident_to(graph: Hypergraph, node: jax.Array, valid: jax.Array, *, capacity: int) -> Incident:
    """The hyperedges that join entities.

    Args:
        graph: padded tensors.
        node: [S] int32; valid: [S] bool.
        capacity: C; static.

    Returns:
        C slots, entity by entity, hyperedges ascending within one.
    """
    return Incident(*_lists(graph.incident_offsets, graph.incident, node, valid, capacity))


def _lists(
    offsets: jax.Array, values: jax.Array, of: jax.Array, valid: jax.Array, capacity: int
) -> tuple[jax.Array, ...]:
    """The lists of some owners end to end: parent, value, valid, needed, overflow."""
    chex.assert_equal_shape([of, valid])
    safe = jnp.where(valid, of, 0)
    first = offsets[safe]
    count = jnp.where(valid, offsets[safe + 1] - first, 0)
    ragged = expand_ragged(count, capacity=capacity)
    place = jnp.where(ragged.valid, first[ragged.row] + ragged.position, 0)
    value = jnp.where(ragged.valid, values[place], 0)
    return ragged.row, value, ragged.valid, ragged.needed, ragged.overflow


class Overlaps(NamedTuple):
    """Every (hyperedge, shared entity, neighbouring hyperedge), one slot each."""

    parent: jax.Array  # [C] int32, slot of the hyperedge that is left
    member: jax.Array  # [C] int32, slot of the shared entity in the members
    edge: jax.Array  # [C] int32, the neighbour
    first: jax.Array  # [C] int32, first slot with this parent and neighbour, NULL where not valid
    valid: jax.Array  # [C] bool
    needed: jax.Array  # [] int32
    overflow: jax.Array  # [] bool


def overlaps(
    graph: Hypergraph, edge: jax.Array, members: Members, through: jax.Array, *, capacity: int
) -> Overlaps:
    """The neighbours of hyperedges: Nbr(e) = {e' : V(e) and V(e') meet, e' is not e}.

    Args:
        graph: padded tensors.
        edge: [F] int32, the hyperedges whose `members` are given.
        members: S slots from `members_of`.
        through: [S] bool, the shared entities that count. An entity that is left out leads nowhere
            and costs nothing, however many hyperedges it has.
        capacity: C; static.

    Returns:
        C slots in order of parents. All slots of one overlap V(e) and V(e') share `first`.

    Reference: PRoH, Section 3, the neighbour edge set.
    """
    chex.assert_equal_shape([members.node, through])
    incident = incident_to(graph, members.node, members.valid & through, capacity=capacity)
    parent = members.parent[incident.parent]
    valid = incident.valid & (incident.edge != edge[parent])
    first = first_of_each((parent, incident.edge), valid)
    return Overlaps(
        parent, incident.parent, incident.edge, first, valid, incident.needed, incident.overflow
    )


def seed_edges(
    graph: Hypergraph,
    node_row: jax.Array,
    node: jax.Array,
    edge_row: jax.Array,
    edge: jax.Array,
    bonus: jax.Array,
    *,
    capacity: int,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """Where a search starts: the target hyperedges, and those incident to the topic entities.

    Args:
        graph: padded tensors.
        node_row, node: [S] int32 topic entities of each row; node NULL for none.
        edge_row, edge: [T] int32 target hyperedges of each row; edge NULL for none.
        bonus: [S] float32, credited to every hyperedge of a topic.
        capacity: slots for the hyperedges of all topics; static.

    Returns:
        row [T + C], edge [T + C] int32 and valid [T + C] bool, targets first, each (row, edge)
        once; the bonus [T + C] float32 of each, summed over its topics; slots needed [] int32;
        overflow [] bool.

    Reference: PRoH, Alg. 3, "initialize frontier".
    """
    incident = incident_to(graph, node, node != NULL, capacity=capacity)
    row = jnp.concatenate([edge_row, node_row[incident.parent]])
    every = jnp.concatenate([edge, incident.edge])
    valid = jnp.concatenate([edge != NULL, incident.valid])
    first = first_of_each((row, every), valid)
    size = row.shape[0]
    credit = jnp.concatenate([jnp.zeros(edge.shape[0]), bonus[incident.parent]])
    credit = jnp.where(valid, credit, 0.0)
    extra = jnp.zeros(size).at[jnp.where(valid, first, size)].add(credit, mode="drop")
    once = valid & (first == jnp.arange(size, dtype=jnp.int32))
    return row, jnp.maximum(every, 0), once, extra, incident.needed, incident.overflow


def within(
    graph: Hypergraph, nodes: jax.Array, edges: jax.Array, *, hops: int
) -> tuple[jax.Array, jax.Array]:
    """The neighbourhood of some entities and hyperedges, as masks.

    Args:
        graph: padded tensors.
        nodes: [N] bool; edges: [H] bool, where it starts.
        hops: how often the hyperedges of the nodes, then the nodes of the hyperedges, are taken in.

    Returns:
        nodes [N] bool and edges [H] bool; the nodes of every hyperedge are in.

    Reference: PRoH, Section 4.2, question subgraph construction.
    """
    chex.assert_shape(nodes, (graph.num_nodes,))
    chex.assert_shape(edges, (graph.num_edges,))
    slots = jnp.arange(graph.member.shape[0], dtype=jnp.int32)
    owner = jnp.searchsorted(graph.member_offsets, slots, side="right").astype(jnp.int32) - 1
    real = slots < graph.member_offsets[-1]
    owner = jnp.minimum(owner, graph.num_edges - 1)
    node = jnp.where(real, graph.member, 0)

    def joined(nodes, edges):
        return nodes.at[node].max(real & edges[owner])

    nodes = joined(nodes, edges)
    for _ in range(hops):
        edges = edges.at[owner].max(real & nodes[node])
        nodes = joined(nodes, edges)
    return nodes, edges
