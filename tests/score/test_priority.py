"""Sums over all walks against listing them, values and gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from priority_twin import all_walks, enumerated_sums
from programs import ROWS, frontier_of, random_topics
from random_graphs import NODES, random_graph_from

from jaxkg.candidates.subgraph import question_subgraphs
from jaxkg.score import priority, priority_params
from jaxkg.score.priority import PathSums, Question
from jaxkg.score.priority_params import PrioritySizes

HOPS, CODES, STATE, HEADS = 3, 6, 8, 2
SIZES = PrioritySizes(
    hops=HOPS, buckets=16, width=8, state=STATE, features=5, bases=2, heads=HEADS, hidden=4, text=5
)
ROOMY = (512, 1024, 1024, 2048, 2048, 4096)


@jax.jit
def system_sums(graph, params, question, states, starts):
    sub = question_subgraphs(graph, starts, capacities=ROOMY)
    code = tuple(jnp.where(level.valid, graph.relation[level.edge], 0) for level in sub.trail[1:])
    layers = priority.sum_over_paths(params, question, states, sub.trail, sub.place, code)
    return sub, priority.entity_sums(layers, sub.entity)


def a_question(rng):
    weight = jax.nn.softmax(jnp.asarray(rng.normal(size=(ROWS, HOPS, CODES)), jnp.float32))
    length = jax.nn.softmax(jnp.asarray(rng.normal(size=(ROWS, HOPS)), jnp.float32))
    ask = jnp.asarray(rng.normal(size=(ROWS, STATE)), jnp.float32)
    return Question(weight, length, ask, jnp.zeros((ROWS, SIZES.hidden)))


def plain_cost(params, question, states, edges, row):
    """w_q of each edge, as the paper writes it: h' W h, weighed by q, added up by head."""
    matrices = np.asarray(params.cost.mix) @ np.asarray(params.cost.diagonal)

    def cost(number):
        head, code, tail = edges[number]
        bilinear = (states[head] @ np.diag(matrices[code])) * states[tail]
        return (bilinear * question.ask[row]).reshape(HEADS, -1).sum(axis=1)

    return cost


@pytest.mark.parametrize("seed", range(3))
def test_sums_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph_from(seed)
    params = priority_params.init_priority(CODES // 2, SIZES, key=jax.random.key(seed))
    question, topics = a_question(rng), random_topics(rng)
    states = jnp.asarray(rng.normal(size=(NODES, STATE)), jnp.float32)
    starts = frontier_of(topics, last=ROWS - 1)
    sub, sums = system_sums(graph.graph, params, question, states, starts)
    assert not sub.overflow
    row, node, entity = map(np.asarray, (sub.row, sub.node, sub.is_entity))
    edges = graph.facts.edges
    exact = jax.tree.map(lambda x: np.asarray(x, np.float64), question)
    for r in range(ROWS):
        want = enumerated_sums(
            edges,
            all_walks(edges, topics[r], HOPS),
            lambda hop, code, r=r: exact.weight[r, hop, code],
            lambda length, r=r: exact.length[r, length - 1],
            plain_cost(params, exact, np.asarray(states, np.float64), edges, r),
        )
        there = np.flatnonzero(entity & (row == r))
        assert sorted(node[there].tolist()) == sorted(want)
        for slot in there:
            mass, cost = want[int(node[slot])]
            np.testing.assert_allclose(sums.mass[slot], mass, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(sums.cost[slot], cost, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_gradients_equal_those_of_the_enumeration():
    rng = np.random.default_rng(9)
    graph = random_graph_from(9)
    params = priority_params.init_priority(CODES // 2, SIZES, key=jax.random.key(9))
    question, topics = a_question(rng), [[0], [3, 4]] + [[]] * (ROWS - 2)
    states = jnp.asarray(rng.normal(size=(NODES, STATE)), jnp.float32)
    starts, edges = frontier_of(topics, last=ROWS - 1), graph.facts.edges
    pull = jnp.asarray(rng.normal(size=(ROWS, NODES, HEADS + 1)), jnp.float32)
    walks, tensors = [all_walks(edges, some, HOPS) for some in topics], graph.graph

    def by_message_passing(question, states, mix):
        sub, sums = system_sums(
            tensors, params._replace(cost=params.cost._replace(mix=mix)), question, states, starts
        )
        table = jnp.concatenate([sums.mass[:, None], sums.cost], axis=1)
        weighed = jnp.sum(table * pull[sub.row, sub.node], axis=1)
        return jnp.sum(jnp.where(sub.is_entity, weighed, 0.0))

    # The same sum by enumeration: each walk is a row, so that its gradient takes one program.
    flat = [(r, walk) for r, some in enumerate(walks) for walk in some]
    row = np.array([r for r, _ in flat])
    steps = np.array([walk + [-1] * (HOPS - len(walk)) for _, walk in flat])
    table = np.array(edges)
    head, code, tail = (table[np.maximum(steps, 0)][..., k] for k in range(3))
    taken = steps >= 0
    size = taken.sum(axis=1)
    end = tail[np.arange(len(flat)), size - 1]

    @jax.jit
    def by_enumeration(question, states, mix):
        weight = question.weight[row[:, None], np.arange(HOPS)[None], code]
        product = jnp.prod(jnp.where(taken, weight, 1.0), axis=1) * question.length[row, size - 1]
        matrix = (mix @ params.cost.diagonal)[code]
        said = states[head] * matrix * states[tail] * question.ask[row][:, None]
        said = said.reshape(len(flat), HOPS, HEADS, -1).sum(axis=3)
        cost = jnp.sum(jnp.where(taken[:, :, None], said, 0.0), axis=1)
        columns = jnp.concatenate([product[:, None], product[:, None] * cost], axis=1)
        return jnp.sum(columns * pull[row, end])

    arguments = question, states, params.cost.mix
    ours = jax.jit(jax.value_and_grad(by_message_passing, argnums=(0, 1, 2)))(*arguments)
    theirs = jax.jit(jax.value_and_grad(by_enumeration, argnums=(0, 1, 2)))(*arguments)
    assert len(flat) > 200
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        scale = max(1.0, float(jnp.abs(other).max()))
        np.testing.assert_allclose(one, other, atol=1e-5 * scale)
    assert float(jnp.abs(ours[1][0].weight).max()) > 0.01


@pytest.mark.slow
def test_a_tiny_mass_has_a_finite_gradient():
    params = priority_params.init_priority(CODES // 2, SIZES, key=jax.random.key(0))
    params = params._replace(
        readout=params.readout._replace(out=jnp.ones(SIZES.hidden)),
        future=params.future._replace(out=jnp.ones((SIZES.hidden, HEADS + 2))),
    )
    question = a_question(np.random.default_rng(0))
    mass = jnp.asarray([0.0, 1e-35, 1e-28, 1e-20, 1.0, 1e6])

    def total(mass):
        sums = PathSums(mass, mass[:, None] * jnp.asarray([[1.0, -2.0]]))
        return jnp.sum(priority.priority_logits(params, question, sums, jnp.zeros(6, jnp.int32)))

    value, gradient = jax.jit(jax.value_and_grad(total))(mass)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert (np.asarray(gradient)[3:] != 0).all()


def test_relations_share_their_words_with_the_question():
    sizes = PrioritySizes(
        hops=1, buckets=8, width=8, state=4, features=3, text=5, heads=2, hidden=4
    )
    params = priority_params.init_priority(2, sizes, key=jax.random.key(1))
    reader = params.reader._replace(label_gate=jnp.asarray([50.0, 0.0]))
    params = params._replace(reader=reader)
    labels, ngrams = np.asarray([[0], [1]], np.int32), np.asarray([[1, -1], [0, -1]], np.int32)
    nothing, meant = np.zeros((2, 5), np.float32), np.eye(2, 5, dtype=np.float32)
    reading = jax.jit(priority.read_questions)
    read = reading(params, ngrams, nothing, labels, meant)
    assert read.weight.shape == (2, 1, 4)
    np.testing.assert_allclose(read.weight.sum(axis=2), 1, rtol=1e-5)
    assert np.argmax(read.weight[:, 0], axis=1).tolist() == [1, 0]
    # What the text encoder finds alike, by its own gate: the inverse relations.
    gate = jnp.asarray([[0.0, 50.0]])
    reader = params.reader._replace(label_gate=jnp.zeros(2), similarity_gate=gate)
    params = params._replace(reader=reader)
    read = reading(params, ngrams, meant, labels, meant)
    assert np.argmax(read.weight[:, 0], axis=1).tolist() == [2, 3]
