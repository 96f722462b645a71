"""Unrolled question subgraphs against walks listed one by one."""

import functools

import jax
import numpy as np
import pytest
from priority_twin import all_walks
from programs import ROWS, frontier_of, random_topics
from random_graphs import random_graph_from, repad

from jaxkg.candidates.subgraph import question_subgraphs

HOPS = 2
ROOMY = (512, 1024, 1024, 1024)
unrolled = functools.partial(jax.jit, static_argnames=("capacities", "fan_out", "revisit"))(
    question_subgraphs
)


def edges_of(graph):
    return graph.facts.edges


def layer_edges(sub, hop, row):
    level = sub.trail[hop]
    there = np.asarray(level.valid) & (np.asarray(level.row) == row)
    return sorted(np.asarray(level.edge)[there].tolist())


def expected_layer(edges, topics, hop, revisit):
    """Edges that end some walk of `hop` edges, once for each node they leave."""
    walks = [walk for walk in all_walks(edges, topics, hop, revisit) if len(walk) == hop]
    return sorted({walk[-1] for walk in walks})


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("revisit", ["topic", "any"])
def test_layers_hold_the_edges_that_walks_end_with(seed, revisit):
    graph = random_graph_from(seed)
    topics = random_topics(np.random.default_rng(seed))
    starts = frontier_of(topics, rng=np.random.default_rng(seed + 50), last=ROWS - 1)
    starts = starts._replace(row=np.clip(starts.row, 0, ROWS - 1), node=np.clip(starts.node, 0, 13))
    sub = unrolled(graph.graph, starts, capacities=ROOMY, revisit=revisit)
    assert not sub.overflow
    for row in range(ROWS):
        for hop in (1, 2):
            want = expected_layer(edges_of(graph), topics[row], hop, revisit)
            assert layer_edges(sub, hop, row) == want


def test_places_and_entities_name_the_first_slot_of_a_node():
    graph = random_graph_from(1)
    topics = random_topics(np.random.default_rng(1))
    sub = unrolled(graph.graph, frontier_of(topics, last=ROWS - 1), capacities=ROOMY)
    for level, place in zip(sub.trail[1:], sub.place[1:]):
        first = {}
        for slot in np.flatnonzero(np.asarray(level.valid)):
            key = int(level.row[slot]), int(level.node[slot])
            assert int(place[slot]) == first.setdefault(key, int(slot))
    # Parents are places of the layer before.
    for hop, level in enumerate(sub.trail[1:]):
        for slot in np.flatnonzero(np.asarray(level.valid)):
            parent = int(level.parent[slot])
            assert int(sub.place[hop][parent]) == parent
            head = int(graph.tensors.head[int(level.edge[slot])])
            assert int(sub.trail[hop].node[parent]) == head
            assert int(sub.trail[hop].row[parent]) == int(level.row[slot])
    row, node, entity = map(np.asarray, (sub.row, sub.node, sub.entity))
    seen = {}
    for slot in np.flatnonzero(entity >= 0):
        assert entity[slot] == seen.setdefault((row[slot], node[slot]), slot)
    assert np.asarray(sub.is_entity).sum() == len(seen)


def test_none_enters_no_node_twice():
    graph = random_graph_from(2)
    topics = [[0], [1, 2], [3]] + [[]] * (ROWS - 3)
    sub = unrolled(graph.graph, frontier_of(topics), capacities=ROOMY, revisit="none")
    for row, some in enumerate(topics):
        earlier = set(some)
        for level in sub.trail[1:]:
            there = np.asarray(level.valid) & (np.asarray(level.row) == row)
            nodes = set(np.asarray(level.node)[there].tolist())
            assert not nodes & earlier
            earlier |= nodes


def test_fan_out_spares_the_first_hop():
    graph = random_graph_from(3)
    topics = [[0], [5]] + [[]] * (ROWS - 2)
    whole = unrolled(graph.graph, frontier_of(topics), capacities=ROOMY)
    narrow = unrolled(graph.graph, frontier_of(topics), capacities=ROOMY, fan_out=1)
    facts = graph.facts
    for row in (0, 1):
        assert layer_edges(whole, 1, row) == layer_edges(narrow, 1, row)
        want = [
            number
            for number in layer_edges(whole, 2, row)
            if len(facts.tails(facts.edges[number][0], facts.edges[number][1])) == 1
        ]
        assert layer_edges(narrow, 2, row) == want


def test_floor_leaves_out_runs_that_weigh_nothing_beside_each_other():
    weight = np.zeros((ROWS, HOPS, 6), np.float32)
    starts = frontier_of([[0]] + [[]] * (ROWS - 1))
    sub = unrolled(random_graph_from(4).graph, starts, weight, capacities=ROOMY, floor=0.1)
    assert layer_edges(sub, 1, 0) == []


def test_floor_leaves_out_runs_that_weigh_little():
    graph = random_graph_from(4)
    topics = [[0]] + [[]] * (ROWS - 1)
    weight = np.zeros((ROWS, HOPS, 6), np.float32)
    weight[:, 0] = [1.0, 0.53, 0.013, 0.0, 0.21, 0.23]
    weight[:, 1] = [0.31, 0.97, 0.33, 0.29, 0.043, 0.0]
    sub = unrolled(graph.graph, frontier_of(topics), weight, capacities=ROOMY, floor=0.1)
    edges = edges_of(graph)
    walks = all_walks(edges, [0], 2)
    runs: list[dict] = [{}, {}]
    mass = {0: 1.0}
    for hop in range(2):
        into: dict[int, float] = {}
        heavy = {}
        for head, code, _ in edges:
            if head in mass:
                heavy[head, code] = mass[head] * weight[0, hop, code]
        most = max(heavy.values())
        taken = {run for run, value in heavy.items() if value > 0 and value >= 0.1 * most}
        runs[hop] = taken
        for head, code, tail in edges:
            if (head, code) in taken and tail != 0:
                into[tail] = into.get(tail, 0.0) + heavy[head, code]
        mass = into
        want = sorted(n for n, (h, c, t) in enumerate(edges) if (h, c) in taken and t != 0)
        assert layer_edges(sub, hop + 1, 0) == want
    assert len(layer_edges(sub, 2, 0)) < len({walk[-1] for walk in walks if len(walk) == 2})


def test_overflow_is_told_and_the_right_size_suffices():
    graph = random_graph_from(5)
    topics = random_topics(np.random.default_rng(5))
    whole = unrolled(graph.graph, frontier_of(topics, last=ROWS - 1), capacities=ROOMY)
    exact = tuple(np.asarray(whole.needed).tolist())
    assert not unrolled(graph.graph, frontier_of(topics, last=ROWS - 1), capacities=exact).overflow
    for short in (0, 3):
        tight = tuple(n - (i == short) for i, n in enumerate(exact))
        told = unrolled(graph.graph, frontier_of(topics, last=ROWS - 1), capacities=tight)
        assert told.overflow
        assert told.needed[short] == exact[short]


def test_padding_changes_nothing():
    graph = random_graph_from(6)
    rng = np.random.default_rng(6)
    topics = random_topics(rng)
    starts = frontier_of(topics, last=ROWS - 1)
    big = repad(graph.graph, nodes=32, edges=256, runs=256, garbage=rng)
    small = unrolled(graph.graph, starts, capacities=ROOMY)
    large = unrolled(big, starts, capacities=ROOMY)
    for row in range(ROWS):
        for hop in (1, 2):
            assert layer_edges(small, hop, row) == layer_edges(large, hop, row)
