"""Relational message passing with basis decomposition: what an entity's neighbourhood says of it.

A round is `h'[e] = tanh(h[e] S + mean over triples (e', r, e) of h[e'] W_r + b)` with
`W_r = sum over b of c[r, b] V_b` (PathMind, Eq. 2; the decomposition is that of Schlichtkrull et
al., "Modeling relational data with graph convolutional networks"). Thousands of relations cost B
matrices and a row of B numbers each.

The edge tables hold every triple and its inverse, sorted by head, so the messages into a node along
one relation are one stretch (a run). They are added before the relation's matrix touches them, as
`sum of h W = (sum of h) W`; runs of one relation then meet their matrix block by block. An edge
costs a row read and a row added, a run S^2 multiplications, and nothing depends on B but making
the matrices. Memory traffic of the rows bounds the speed.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import running_sum
from jaxkg.types import Graph, inverse_code


class MessageParams(NamedTuple):
    """Weights of one round; C = 2R relation codes, S state width, B bases."""

    coefficient: jax.Array  # [C, B] float32
    basis: jax.Array  # [B, S, S] float32
    own: jax.Array  # [S, S] float32
    bias: jax.Array  # [S] float32


class Inflow(NamedTuple):
    """Where the messages of a graph go; made once per graph.

    Runs are laid out by relation, each relation's in blocks of P slots; K blocks in all.
    """

    sender: jax.Array  # [E] int32 node; N where not valid
    slot: jax.Array  # [E] int32 in [0, K P), the run each message belongs to; K P where not valid
    receiver: jax.Array  # [K, P] int32 node of each run; N for an empty slot
    code: jax.Array  # [K] int32 relation of each block, towards the receiver
    degree: jax.Array  # [N] float32, messages each node gets, at least 1


def inflow(graph: Graph, *, edges: int | None = None) -> Inflow:
    """Messages along every triple of a graph, both ways.

    An edge (e, r, e') of the table is, inverted, the triple that brings the message of e' to e.

    Args:
        graph: padded tensors.
        edges: E of the result, at least the number of real edges: every round costs them all.
            None takes the graph's. Static.
    """
    nodes, edges = graph.num_nodes, edges or graph.num_edges
    runs, codes = graph.run_relation.shape[0], 2 * graph.num_relations
    # Blocks of about a relation's mean number of runs: few slots stay empty, few blocks are small.
    size = min(128, max(8, 1 << (runs // codes).bit_length()))
    blocks = -(-runs // size) + codes
    there = jnp.arange(runs, dtype=jnp.int32) < graph.run_offsets[-1]
    first = jnp.where(there, graph.run_start[:-1], edges)
    code = jnp.where(there, inverse_code(graph.run_relation, graph.num_relations), codes)
    count = jnp.zeros(codes + 1, jnp.int32).at[code].add(1)
    order = jnp.argsort(code)
    before = jnp.cumsum(count) - count
    rank = jnp.zeros(runs, jnp.int32).at[order].set(jnp.arange(runs, dtype=jnp.int32))
    taken = -(-count // size)
    opened = jnp.cumsum(taken) - taken
    slot = jnp.where(there, opened[code] * size + rank - before[code], blocks * size)
    node = jnp.where(there, graph.head[jnp.minimum(first, edges - 1)], nodes)
    receiver = jnp.full(blocks * size, nodes, jnp.int32).at[slot].set(node, mode="drop")
    real = jnp.arange(edges, dtype=jnp.int32) < graph.offsets[-1]
    opens = jnp.zeros(edges, jnp.int32).at[first].add(1, mode="drop")
    run = jnp.clip(running_sum(opens) - 1, 0, runs - 1)
    block = jnp.searchsorted(opened, jnp.arange(blocks, dtype=jnp.int32), side="right") - 1
    return Inflow(
        sender=jnp.where(real, graph.tail[:edges], nodes),
        slot=jnp.where(real, slot[run], blocks * size),
        receiver=receiver.reshape(blocks, size),
        code=jnp.minimum(block, codes - 1).astype(jnp.int32),
        degree=jnp.maximum(jnp.diff(graph.offsets), 1).astype(jnp.float32),
    )


def mean_messages(
    coefficient: jax.Array, basis: jax.Array, inflow: Inflow, states: jax.Array
) -> jax.Array:
    """The mean message into every node, before the update.

    Args:
        coefficient: [C, B] float32; basis: [B, S, S] float32.
        states: [N, S] float32.

    Returns:
        [N, S] float32, 0 for a node without edges.

    Reference: PathMind, Eq. 2, with the mean as AGG.
    """
    width = states.shape[1]
    chex.assert_shape(basis, (coefficient.shape[1], width, width))
    blocks, size = inflow.receiver.shape
    matrix = (coefficient @ basis.reshape(-1, width * width)).reshape(-1, width, width)
    sent = states.at[inflow.sender].get(mode="fill", fill_value=0)
    total = jnp.zeros((blocks * size, width)).at[inflow.slot].add(sent, mode="drop")
    turned = jnp.einsum("kps,kst->kpt", total.reshape(blocks, size, width), matrix[inflow.code])
    into = jnp.zeros_like(states).at[inflow.receiver].add(turned, mode="drop")
    return into / inflow.degree[:, None]


def pass_messages(params: MessageParams, inflow: Inflow, states: jax.Array) -> jax.Array:
    """One round over the whole graph.

    Args:
        states: [N, S] float32.

    Returns:
        [N, S] float32.

    Reference: PathMind, Eq. 2.
    """
    message = mean_messages(params.coefficient, params.basis, inflow, states)
    return jnp.tanh(states @ params.own + message + params.bias[None])


def init_messages(codes: int, *, width: int, bases: int, key: jax.Array) -> MessageParams:
    """Random weights.

    Args:
        codes: C, relation codes of the graph, twice its relations.
        width: S.
        bases: B.
    """
    coefficient_key, basis_key, own_key = jax.random.split(key, 3)
    scale = width**-0.5
    return MessageParams(
        coefficient=bases**-0.5 * jax.random.normal(coefficient_key, (codes, bases)),
        basis=scale * jax.random.normal(basis_key, (bases, width, width)),
        own=scale * jax.random.normal(own_key, (width, width)),
        bias=jnp.zeros(width),
    )
