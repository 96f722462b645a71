"""Device types: the pytrees that cross a folder line.

Capital letters are static, bucketed sizes: N nodes, E edges (inverse edges included), U runs,
R relations of the graph (an edge table uses 2R codes), B questions (or any other row a search is
batched over), F frontier slots over the whole batch, L hops, W alternatives at a hop, K kept paths.

One mask word, `valid`; True means real. `NULL` marks "nothing here" in index arrays; an index array
is only ever read through a mask or a clamp, so padding reads nothing and writes nothing.
"""

from __future__ import annotations

import dataclasses
from typing import Generic, NamedTuple, TypeVar

import jax

from jaxkg.codes import NULL as NULL
from jaxkg.codes import inverse_code as inverse_code

Value = TypeVar("Value")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Graph:
    """A knowledge graph as padded tensors; edge tables hold every triple and its inverse.

    Edges are sorted by (head, relation, tail), so the edges of one node are contiguous, and so are
    the edges of one (node, relation): such a stretch is a *run*. Codes `r` in [0, R) are the
    graph's relations, `r + R` the inverse of `r`. Padding edges carry NULL in all three columns;
    padding nodes and runs have no edges. `edge_start` answers in one read where a run begins; it is
    empty for a graph with so many (node, relation) pairs that bisection among a node's runs is the
    better bargain.
    """

    head: jax.Array  # [E] int32
    relation: jax.Array  # [E] int32, code in [0, 2R)
    tail: jax.Array  # [E] int32
    offsets: jax.Array  # [N+1] int32, first edge of each node
    run_relation: jax.Array  # [U] int32, code of each run
    run_start: jax.Array  # [U+1] int32, first edge of each run
    run_offsets: jax.Array  # [N+1] int32, first run of each node
    edge_start: jax.Array  # [N*2R + 1] int32, first edge of each (node, relation); or [0]
    num_relations: int = dataclasses.field(metadata={"static": True})
    """R, exact: codes are below 2R."""
    lookup_steps: int = dataclasses.field(metadata={"static": True})
    """Bisection steps that find any (node, relation) run: ceil(log2(most runs of a node + 1))."""

    @property
    def num_nodes(self) -> int:
        """N as bucketed: node ids are below it."""
        return self.offsets.shape[0] - 1

    @property
    def num_edges(self) -> int:
        """E as bucketed."""
        return self.tail.shape[0]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Hypergraph:
    """A knowledge hypergraph as two padded CSR tables; H hyperedges, N nodes, M memberships.

    A node that a hyperedge names twice is its member once. Padding hyperedges and nodes have an
    empty stretch; padding memberships carry NULL.
    """

    member: jax.Array  # [M] int32, nodes of each hyperedge, ascending
    member_offsets: jax.Array  # [H+1] int32, first membership of each hyperedge
    incident: jax.Array  # [M] int32, hyperedges of each node, ascending
    incident_offsets: jax.Array  # [N+1] int32, first entry of each node

    @property
    def num_edges(self) -> int:
        """H as bucketed: hyperedge ids are below it."""
        return self.member_offsets.shape[0] - 1

    @property
    def num_nodes(self) -> int:
        """N as bucketed: node ids are below it."""
        return self.incident_offsets.shape[0] - 1


class Frontier(NamedTuple):
    """Nodes reached at one hop, for the whole batch in one flat list.

    Slots are grouped by row in ascending order; holes (valid = False) may stand anywhere. `parent`
    is the slot in the previous hop's frontier, `edge` the edge that was walked from there; both
    are NULL at hop 0.
    """

    row: jax.Array  # [F] int32, the question (or the question's plan, or beam) a slot belongs to
    node: jax.Array  # [F] int32
    edge: jax.Array  # [F] int32
    parent: jax.Array  # [F] int32
    valid: jax.Array  # [F] bool
    needed: jax.Array  # [] int32, slots the step wanted before pruning; at most 2^31 - 1
    overflow: jax.Array  # [] bool, True where `needed` did not fit: results are incomplete


class Fit(NamedTuple, Generic[Value]):
    """What a fixed-capacity program computes, and the room it wanted for it."""

    value: Value
    needed: jax.Array  # [C] int32 slots; exact up to and including the first that did not suffice
    overflow: jax.Array  # [] bool, one of them did not: the value is incomplete
