"""Relational message passing against a loop over triples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_graphs import NODES, random_graph_from, repad

from jaxkg.score.message_passing import inflow, init_messages, mean_messages, pass_messages

CODES, WIDTH, BASES = 6, 4, 3


def by_loop(graph, params, states):
    """Mean over (e', r, e) of h[e'] W_r, triples walked both ways, relation by relation."""
    matrices = np.einsum("cb,bij->cij", params.coefficient, params.basis)
    total, count = np.zeros((NODES, WIDTH)), np.zeros(NODES)
    for head, code, tail in graph.facts.edges:
        total[tail] += states[head] @ matrices[code]
        count[tail] += 1
    return total / np.maximum(count, 1)[:, None]


@pytest.mark.parametrize("seed", range(3))
def test_messages_equal_a_loop_over_triples(seed):
    graph = random_graph_from(seed)
    params = init_messages(CODES, width=WIDTH, bases=BASES, key=jax.random.key(seed))
    states = np.random.default_rng(seed).normal(size=(NODES, WIDTH)).astype(np.float32)
    found = jax.jit(mean_messages)(
        params.coefficient, params.basis, jax.jit(inflow)(graph.graph), states
    )
    want = by_loop(graph, jax.tree.map(np.asarray, params), states)
    np.testing.assert_allclose(found, want, atol=1e-5)
    assert not np.asarray(found)[12:].any()


@pytest.mark.slow
def test_gradients_equal_those_of_dense_matrices():
    graph = random_graph_from(5)
    params = init_messages(CODES, width=WIDTH, bases=BASES, key=jax.random.key(5))
    rng = np.random.default_rng(5)
    states, pull = (rng.normal(size=(NODES, WIDTH)).astype(np.float32) for _ in range(2))
    adjacency = np.zeros((CODES, NODES, NODES), np.float32)
    for head, code, tail in graph.facts.edges:
        adjacency[code, tail, head] += 1
    degree = np.maximum(adjacency.sum(axis=(0, 2)), 1)[:, None]
    into = inflow(graph.graph)

    def dense(coefficient, basis, states):
        matrices = jnp.einsum("cb,bij->cij", coefficient, basis)
        return jnp.sum(pull * jnp.einsum("cts,si,cij->tj", adjacency, states, matrices) / degree)

    def ours(coefficient, basis, states):
        return jnp.sum(pull * mean_messages(coefficient, basis, into, states))

    arguments = params.coefficient, params.basis, states
    for one, other in zip(
        jax.jit(jax.grad(ours, argnums=(0, 1, 2)))(*arguments),
        jax.jit(jax.grad(dense, argnums=(0, 1, 2)))(*arguments),
    ):
        np.testing.assert_allclose(one, other, atol=1e-5 * max(1.0, float(jnp.abs(other).max())))


def test_padding_and_its_garbage_change_nothing():
    graph = random_graph_from(7)
    params = init_messages(CODES, width=WIDTH, bases=BASES, key=jax.random.key(7))
    states = np.random.default_rng(7).normal(size=(NODES, WIDTH)).astype(np.float32)
    big = repad(graph.graph, nodes=32, edges=256, runs=256, garbage=np.random.default_rng(0))
    wide = np.full((32, WIDTH), np.nan, np.float32)
    wide[:NODES] = states
    round_ = jax.jit(pass_messages)
    small = round_(params, inflow(graph.graph, edges=len(graph.facts.edges)), states)
    large = round_(params, inflow(big), wide)
    np.testing.assert_allclose(large[:NODES], small, atol=1e-6)
