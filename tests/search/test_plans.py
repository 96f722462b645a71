import functools

import brute_force
import jax
import numpy as np
import pytest
from programs import allowed_of, random_plan, random_topics

from jaxkg.learn.planner.model import Planner
from jaxkg.score.planner import (
    init_planner,
    label_vectors,
    path_log_probability,
    read_question,
)
from jaxkg.search import plans as planning
from jaxkg.search.plans import Plans, execute_paths, mixed_plans, plan_paths
from jaxkg.tensors import Capacities, edge_tables
from jaxkg.text import NgramHasher
from jaxkg.types import NULL

HOPS, WIDE = 2, 64
NAMES = ("directed by", "starring", "written by")
TEXTS = ["who directed it", "written by whom", "starring", "films of the writer of it", "", "what"]


@pytest.fixture
def planner(rng):
    params = init_planner(len(NAMES), hops=HOPS, width=8, buckets=64, key=jax.random.key(2))
    params = params._replace(
        previous=rng.normal(size=params.previous.shape).astype(np.float32),
        bias=rng.normal(size=params.bias.shape).astype(np.float32),
    )
    return Planner(params, NAMES, NgramHasher(buckets=64), HOPS, np.ones(64, bool))


def probabilities(planner, text, paths):
    """Of the planner emitting each path, after itself alone."""
    table = np.full((WIDE, HOPS), -1, np.int32)
    for row, path in enumerate(paths):
        table[row, : len(path)] = path
    return np.exp(
        log_probabilities(planner.params, planner.label_ngrams(), planner.ngrams([text])[0], table)
    )


@jax.jit
def log_probabilities(params, label_ngrams, ngrams, table):
    labels, reading = label_vectors(params, label_ngrams), read_question(params, ngrams)
    return jax.vmap(lambda path: path_log_probability(params, labels, reading, path))(table)


def paths_of(plans, row):
    kept = [
        (tuple(c for c in codes if c != -1), float(p))
        for codes, p in zip(plans.relations[row].tolist(), plans.probability[row])
    ]
    assert all(bool(path) == (p > 0) for path, p in kept)
    return [(path, p) for path, p in kept if path]


def test_wide_plans_are_all_paths_of_the_graph_with_the_planners_probability(
    random_graph, planner, rng
):
    world = random_graph(1)
    topics = random_topics(rng, len(TEXTS), most=2)
    plans = plan_paths(world.tensors, planner, TEXTS, topics, width=WIDE, margin=np.inf)
    assert plans.complete.all()
    for row, (text, nodes) in enumerate(zip(TEXTS, topics)):
        paths = list(brute_force.relation_paths(world.facts, nodes, HOPS))
        expected = dict(zip(paths, probabilities(planner, text, paths).tolist()))
        got = paths_of(plans, row)
        assert dict(got) == pytest.approx(expected, rel=1e-4)
        assert len(got) == len(expected)
        assert [p for _, p in got] == sorted((p for _, p in got), reverse=True)


@pytest.mark.slow
def test_batches_of_any_size_give_the_same_plans(random_graph, planner, rng):
    world = random_graph(2)
    texts = TEXTS * 3
    topics = random_topics(rng, len(texts), most=2)
    whole = plan_paths(world.tensors, planner, texts, topics, width=3, margin=2.0, batch_size=64)
    told = []
    small = plan_paths(
        world.tensors,
        planner,
        texts,
        topics,
        width=3,
        margin=2.0,
        batch_size=8,
        on_progress=lambda *done: told.append(done),
    )
    assert told == [(8, 18), (16, 18), (18, 18)]
    assert np.array_equal(whole.relations, small.relations)
    np.testing.assert_allclose(whole.probability, small.probability, rtol=1e-5)


def test_a_search_that_outgrows_the_largest_bucket_says_so(random_graph, planner, monkeypatch):
    world = random_graph(0)
    monkeypatch.setattr(planning, "Capacities", functools.partial(tiny, limit=8))
    plans = plan_paths(world.tensors, planner, TEXTS[:3], [[0, 1, 2, 3], [], [13]], width=3)
    assert plans.complete.tolist() == [False, True, True]


def tiny(slots, limit, rounds=1):
    return Capacities(slots=(limit,) * len(slots), limit=limit, rounds=rounds)


@pytest.mark.slow
def test_hops_in_a_loop_plan_as_hops_apart_do(random_graph, planner, monkeypatch):
    world = random_graph(0)
    topics = [[0, 1], [5], [13]] * 6
    sizes = []

    def told(slots, rounds):
        sizes.append((slots, rounds))
        return Capacities(slots, rounds=rounds)

    monkeypatch.setattr(planning, "Capacities", told)
    monkeypatch.setattr(planning, "_FEWEST_SLOTS", 1)
    few = plan_paths(world.tensors, planner, TEXTS[:3] * 6, topics, batch_size=8)
    monkeypatch.setattr(planning, "_FEW_BATCHES", 2)
    many = plan_paths(world.tensors, planner, TEXTS[:3] * 6, topics, batch_size=8)
    assert np.array_equal(few.relations, many.relations)
    np.testing.assert_allclose(few.probability, many.probability, rtol=1e-5)
    assert few.complete.all()
    assert many.complete.all()
    (looped, rounds), (apart, once) = sizes
    assert (rounds, once) == (planner.hops, 1)
    assert looped == apart[-3:] * planner.hops != apart


def chain_world():
    """A hub with 300 spokes, each of which leads on to two nodes."""
    spokes = [(0, 0, 1 + i) for i in range(300)]
    further = [(1 + i, 1, 301 + (7 * i + j) % 40) for i in range(300) for j in range(2)]
    triples = np.unique(np.asarray(spokes + further, np.int32), axis=0)
    return edge_tables(triples, 341, 2), brute_force.Facts(triples.tolist(), 2)


def reached_of(reached, row):
    part = slice(reached.offsets[row], reached.offsets[row + 1])
    assert (reached.row[part] == row).all()
    return reached.node[part].tolist(), reached.edges[part].tolist()


def check(reached, facts, topics, plan, revisit, rows=None):
    assert len(reached.offsets) == len(plan) + 1
    assert (reached.offsets[0], reached.offsets[-1]) == (0, len(reached.row))
    for row in range(len(plan)) if rows is None else rows:
        allowed = allowed_of(plan, row)
        nodes, walks = reached_of(reached, row)
        assert len(nodes) == len(set(nodes))
        assert set(nodes) == brute_force.answers(facts, topics[row], allowed, revisit)
        for node, walk in zip(nodes[:20], walks):
            assert not brute_force.walk_fault(facts, walk, topics[row], allowed, node, revisit)


@pytest.mark.parametrize("revisit", ["topic", "none", "any"])
def test_executed_paths_reach_what_brute_force_reaches(random_graph, rng, revisit):
    world = random_graph(4)
    rows = 20
    topics = random_topics(rng, rows)
    plan = random_plan(rng, 6, rows=rows)
    told = []
    reached = execute_paths(
        world.tensors,
        topics,
        plan,
        revisit=revisit,
        batch_size=8,
        on_progress=lambda *done: told.append(done),
    )
    assert told[-1] == (20, 20)
    assert reached.complete.all()
    check(reached, world.facts, topics, plan, revisit)


def test_a_hub_larger_than_the_first_buckets_is_executed_whole():
    tensors, facts = chain_world()
    plan = np.asarray([[[0], [1]]] * 3 + [[[2], [0]]], np.int32)
    topics = [[0], [5], [0], [7]]
    reached = execute_paths(tensors, topics, plan)
    assert reached.complete.all()
    assert [len(reached_of(reached, row)[0]) for row in range(4)] == [40, 0, 40, 299]
    check(reached, facts, topics, plan, "topic")


def test_a_path_too_large_for_the_largest_bucket_says_so_and_the_others_are_whole(monkeypatch):
    tensors, facts = chain_world()
    monkeypatch.setattr(planning, "Capacities", functools.partial(tiny, limit=64))
    plan = np.asarray([[[2], [-1]], [[0], [1]], [[1], [-1]], [[3], [1]]], np.int32)
    topics = [[7], [0], [9], [301]]
    reached = execute_paths(tensors, topics, plan)
    assert reached.complete.tolist() == [True, False, True, True]
    check(reached, facts, topics, plan, "topic", rows=[0, 2, 3])


def test_plans_of_several_wordings_are_mixed_by_their_shares():
    paths = [[[1, NULL], [2, NULL]], [[2, 3], [1, NULL]], [[4, NULL], [NULL, NULL]]]
    plans = Plans(
        np.array(paths, np.int32),
        np.array([[0.75, 0.25], [0.5, 0.25], [1.0, 0.0]], np.float32),
        np.array([True, False, True]),
        np.array([[1, 2], [3, 4], [5, 6]]),
    )
    mixed = mixed_plans(plans, np.array([0.5, 0.5, 1.0]), np.array([0, 0, 1]), 2)
    # 1: .5 x .75 + .5 x .25; 2 then 3: .5 x .5; 2: .5 x .25, the third of two.
    assert mixed.relations.tolist() == [[[1, NULL], [2, 3]], paths[2]]
    np.testing.assert_allclose(mixed.probability, [[0.5, 0.25], [1.0, 0.0]])
    assert mixed.complete.tolist() == [False, True]
    assert mixed.visited is not None
    assert mixed.visited.tolist() == [[4, 6], [5, 6]]
    assert plans.probability[0].tolist() == [0.75, 0.25]
