"""The edge scorer against a loop in NumPy float64."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.score.edges import (
    EdgeInputs,
    EdgeSizes,
    context_rows,
    depth_log_probabilities,
    edge_tables,
    hop_context,
    init_edge_scorer,
    question_rows,
    score_at,
    score_state_edges,
)

SMALL = {"question": 7, "hops": 3, "width": 8, "attention": (12, 10), "classifier": (6, 5)}
NODES, CODES, EDGES = 9, 4, 20
tabled = jax.jit(edge_tables)
sharing = jax.jit(score_state_edges)


@functools.partial(jax.jit, static_argnames="block")
def factored(params, tables, questions, context, asked, node, relation, target, *, block):
    parts = (question_rows(params, questions), *tables, context_rows(params, context))
    return score_at(params, parts, (asked, node, relation, target, asked), block=block)


def case(rng, text, graph):
    sizes = EdgeSizes(text=text, graph=graph, **SMALL)
    params = init_edge_scorer(sizes, key=jax.random.key(3))
    # Biases and output layers start at 0, where a forgotten one would not show.
    params = jax.tree.map(
        lambda leaf: leaf + 0.3 * rng.normal(size=leaf.shape).astype(np.float32), params
    )

    def table(rows, width):
        return rng.normal(size=(rows, width)).astype(np.float32)

    inputs = EdgeInputs(
        table(NODES, text), table(NODES, graph), table(CODES, text), table(CODES, graph)
    )
    depth = depth_log_probabilities(params, table(EDGES, 7))
    context = np.asarray(hop_context(depth, np.arange(EDGES, dtype=np.int32) % 3))
    edges = [rng.integers(0, size, EDGES).astype(np.int32) for size in (NODES, CODES, NODES)]
    return params, inputs, table(EDGES, 7), context, edges


def loop(params, inputs, questions, context, edges):
    """Edge by edge, from the paper's description."""

    def dense(layer, x):
        return x @ np.asarray(layer.kernel, np.float64) + np.asarray(layer.bias, np.float64)

    def norm(x):
        return (x - x.mean()) / np.sqrt(x.var() + 1e-6)

    def fused(fusion, text, graph):
        t = None if fusion.text is None else dense(fusion.text, norm(text.astype(np.float64)))
        g = None if fusion.graph is None else dense(fusion.graph, norm(graph.astype(np.float64)))
        if t is None or g is None:
            return t if g is None else g
        gate = np.exp(dense(fusion.gate, np.concatenate([t, g])))
        gate /= gate.sum()
        return gate[0] * t + gate[1] * g

    scores = []
    for q, c, v, r, u in zip(questions, context, *edges):
        nodes = (inputs.node_text, inputs.node_graph)
        codes = (inputs.relation_text, inputs.relation_graph)
        parts = [
            dense(params.question, norm(q.astype(np.float64))),
            fused(params.node, *(table[v] for table in nodes)),
            fused(params.relation, *(table[r] for table in codes)),
            fused(params.target, *(table[u] for table in nodes)),
            dense(params.context, c),
        ]
        state = np.concatenate(parts)
        for layer in params.attention[:2]:
            state = np.maximum(norm(dense(layer, state)), 0)
        gates = np.exp(dense(params.attention[2], state))
        mixed = sum(g * part for g, part in zip(gates / gates.sum(), parts))
        for layer in params.classifier[:2]:
            mixed = np.maximum(norm(dense(layer, mixed)), 0)
        scores.append(dense(params.classifier[2], mixed)[0])
    return np.asarray(scores)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "graph"), [(7, 5), (7, 0)])
def test_both_forms_equal_the_loop(rng, text, graph):
    params, inputs, questions, context, edges = case(rng, text, graph)
    expected = loop(params, inputs, questions, context, edges)
    assert expected.std() > 0.05
    every = np.arange(EDGES, dtype=np.int32)
    alone = sharing(params, inputs, questions, context, edges[0], every, *edges[1:])
    np.testing.assert_allclose(alone, expected, atol=1e-4)
    tables = tabled(params, inputs)
    for block in (6, 20):
        found = factored(params, tables, questions, context, every, *edges, block=block)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_papers_sizes_make_6_8_million_weights_46_percent_in_attention():
    params = jax.eval_shape(lambda: init_edge_scorer(key=jax.random.key(0)))

    def count(tree):
        return sum(leaf.size for leaf in jax.tree.leaves(tree))

    assert 6.6e6 < count(params) < 6.9e6
    assert count(params.attention) / count(params) == pytest.approx(0.46, abs=0.01)


def shared_states(rng):
    """Edges of five states, and the same with a state for every edge."""
    questions, context = (rng.normal(size=(5, n)).astype(np.float32) for n in (7, 6))
    node = rng.integers(0, NODES, 5).astype(np.int32)
    state = np.sort(rng.integers(0, 5, EDGES)).astype(np.int32)
    relation, target = (rng.integers(0, n, EDGES).astype(np.int32) for n in (CODES, NODES))
    return (
        (questions, context, node, state, relation, target),
        (questions[state], context[state], node[state], np.arange(EDGES), relation, target),
    )


@pytest.mark.slow
@pytest.mark.parametrize("few", [True, False])
def test_edges_that_share_states_score_the_same_with_the_same_gradients(rng, few):
    params, inputs, *_ = case(rng, 7, 5)
    if not few:  # more relations than edges, so each edge's own is looked up
        inputs = inputs._replace(
            relation_text=np.tile(inputs.relation_text, (6, 1)),
            relation_graph=np.tile(inputs.relation_graph, (6, 1)),
        )
    shared, alone = shared_states(rng)
    weight = rng.normal(size=EDGES).astype(np.float32)

    def value(edges):
        def total(params, inputs):
            logits = score_state_edges(params, inputs, *edges)
            return jnp.sum(logits * weight), logits

        return jax.jit(jax.grad(total, argnums=(0, 1), has_aux=True))(params, inputs)

    found, logits = value(shared)
    expected, plain = value(alone)
    np.testing.assert_allclose(logits, plain, atol=1e-4)
    assert np.ptp(np.asarray(plain)) > 0.1
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_dropout_masks_reach_the_classifier(rng):
    params, inputs, *_ = case(rng, 7, 5)
    edges, _ = shared_states(rng)
    ones = (np.ones((EDGES, 6), np.float32), np.ones((EDGES, 5), np.float32))
    plain = sharing(params, inputs, *edges)
    np.testing.assert_allclose(sharing(params, inputs, *edges, hidden=ones), plain, atol=1e-5)
    for place in (0, 1):
        masks = [ones[0], ones[1]]
        masks[place] = np.zeros_like(masks[place])
        assert np.ptp(np.asarray(sharing(params, inputs, *edges, hidden=tuple(masks)))) == 0
        assert np.ptp(np.asarray(plain)) > 0
