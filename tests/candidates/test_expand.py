import dataclasses
import functools

import brute_force
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import ROWS, STARTS, expanded, frontier_of, nodes_of, random_topics, started
from random_graphs import EDGES, NODES, RUNS, repad

from jaxkg.candidates import barred, find_run, prune
from jaxkg.tensors import edge_tables, starts_table
from jaxkg.types import Frontier

look_up = jax.jit(find_run)
bar = jax.jit(barred, static_argnames="num_questions")
pruned = functools.partial(jax.jit, static_argnums=2)(prune)


def by_bisection(graph):
    """As a graph with too many (node, relation) pairs for a table of starts."""
    return dataclasses.replace(graph, edge_start=jnp.zeros(0, jnp.int32))


def test_start_takes_the_nodes_and_leaves_holes():
    row, node = starts_table([[5, 2], [], [7]], num_rows=4)
    got = started(row, node)
    assert nodes_of(got, 4) == [{2, 5}, set(), {7}, set()]
    assert int(got.needed) == 3
    assert not got.overflow
    assert (got.node >= 0).all()
    assert (got.parent == -1).all()
    assert (got.edge == -1).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("repadded", [False, True])
@pytest.mark.parametrize("dense", [False, True])
def test_find_run_finds_every_run_and_no_other(random_graph, rng, seed, repadded, dense):
    world = random_graph(seed)
    graph = edge_tables(world.triples, world.num_entities, world.num_relations).graph
    if repadded:
        graph = repad(graph, garbage=rng)
    if not dense:
        graph = by_bisection(graph)
    node, code = np.mgrid[:NODES, -1 : 2 * world.num_relations].astype(np.int32)
    first, count = look_up(graph, node, code)
    for n, c, a, length in zip(*(x.ravel().tolist() for x in (node, code, first, count))):
        expected = [i for i in world.facts.leaving(n) if world.facts.edges[i][1] == c]
        assert list(range(a, a + length)) == expected or (not expected and length == 0)


def test_what_devices_other_than_a_cpu_run_is_the_same(random_graph, monkeypatch):
    world = random_graph(3)
    graph = by_bisection(edge_tables(world.triples, world.num_entities, world.num_relations).graph)
    node, code = np.mgrid[:NODES, -1 : 2 * world.num_relations].astype(np.int32)
    expected = look_up(graph, node, code)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    elsewhere = jax.jit(lambda *given: find_run(*given))
    for got, want in zip(elsewhere(graph, node, code), expected, strict=True):
        np.testing.assert_array_equal(got, want)
    assert "while" not in elsewhere.lower(graph, node, code).as_text()


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5, 7, 8, 9])
def test_find_run_reaches_the_first_and_the_last_of_any_number_of_runs(runs):
    star = np.asarray([[0, code, 1 + code] for code in range(runs)], np.int32)
    graph = by_bisection(edge_tables(star, runs + 1, runs).graph)
    codes = jnp.arange(runs, dtype=jnp.int32)
    first, count = look_up(graph, jnp.zeros(runs, jnp.int32), codes)
    assert first.tolist() == list(range(runs))
    assert count.tolist() == [1] * runs


@pytest.mark.parametrize("seed", range(6))
def test_expand_walks_every_edge_once(random_graph, rng, seed):
    world = random_graph(seed)
    topics = random_topics(rng)
    before = frontier_of(topics, rng=rng)
    got = expanded(world.graph, before, capacity=512)
    expected = [
        (row, edge)
        for row, nodes in enumerate(topics)
        for n in nodes
        for edge in world.facts.leaving(n)
    ]
    valid = np.asarray(got.valid)
    edges = np.asarray(got.edge)[valid]
    assert list(zip(np.asarray(got.row)[valid].tolist(), edges.tolist())) == expected
    assert int(got.needed) == len(expected)
    assert not got.overflow
    for node, edge, parent in zip(
        np.asarray(got.node)[valid], edges, np.asarray(got.parent)[valid]
    ):
        head, _, tail = world.facts.edges[edge]
        assert node == tail
        assert before.valid[parent]
        assert before.node[parent] == head


def test_expand_says_how_much_did_not_fit(random_graph):
    world = random_graph(0)
    before = frontier_of([[0], [0, 1]] + [[]] * 6)
    needed = len(world.facts.leaving(0)) * 2 + len(world.facts.leaving(1))
    assert needed > 16
    roomy = expanded(world.graph, before, capacity=512)
    tight = expanded(world.graph, before, capacity=16)
    assert not roomy.overflow
    assert tight.overflow
    assert int(roomy.needed) == int(tight.needed) == needed
    assert tight.edge.tolist() == roomy.edge[:16].tolist()
    assert tight.valid.all()


def test_padding_of_graph_and_frontier_does_not_show(random_graph, rng):
    world = random_graph(3)
    topics = random_topics(rng)
    plain = expanded(world.graph, frontier_of(topics), capacity=512)
    bigger = repad(world.graph, nodes=2 * NODES, edges=4 * EDGES, runs=2 * RUNS, garbage=rng)
    dirty = expanded(bigger, frontier_of(topics, size=2 * STARTS, rng=rng), capacity=1024)
    for name in ("row", "node", "edge"):
        one, two = (np.asarray(getattr(f, name))[np.asarray(f.valid)] for f in (plain, dirty))
        assert np.array_equal(one, two), name


@pytest.mark.parametrize("seed", range(4))
def test_barred_are_the_topics_of_the_own_question(rng, seed):
    topics = random_topics(rng)
    starts = frontier_of(topics, rng=rng)
    size = 64
    question, node = (rng.integers(n, size=size).astype(np.int32) for n in (ROWS, 14))
    valid = rng.random(size) < 0.7
    got = bar(question, node, valid, starts, num_questions=ROWS)
    expected = [bool(v and n in topics[q]) for q, n, v in zip(question, node, valid)]
    assert any(expected)
    assert got.tolist() == expected


def level(rng, rows: int, size: int, holes: float = 0.2) -> Frontier:
    row = np.sort(rng.integers(rows, size=size)).astype(np.int32)
    node, edge, parent = (rng.integers(6, size=size).astype(np.int32) for _ in range(3))
    valid = rng.random(size) > holes
    return Frontier(row, node, edge, parent, valid, np.int32(size), np.bool_(False))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("revisit", ["topic", "none", "any"])
def test_prune_keeps_the_first_of_each_that_the_rule_lets_in(rng, seed, revisit):
    earlier = (level(rng, 4, 8), level(rng, 4, 16))
    now = level(rng, 4, 32)
    got = pruned(now, earlier, revisit)
    barring = {"topic": earlier[:1], "none": earlier, "any": ()}[revisit]
    taken = {
        (r, n) for f in barring for r, n, v in zip(f.row.tolist(), f.node.tolist(), f.valid) if v
    }
    expected = []
    for key, ok in zip(zip(now.row.tolist(), now.node.tolist()), now.valid.tolist()):
        expected.append(ok and key not in taken)
        taken |= {key} if ok else set()
    assert got.valid.tolist() == expected
    for name in ("row", "node", "edge", "parent", "needed", "overflow"):
        assert np.array_equal(getattr(got, name), getattr(now, name))


def test_prune_refuses_an_unknown_rule(rng):
    with pytest.raises(ValueError, match="'never'"):
        prune(level(rng, 2, 8), (), "never")  # type: ignore[arg-type]


def test_brute_force_knows_a_hub(random_graph):
    """The worlds hold what their name promises; else the agreement above says little."""
    for seed in range(6):
        world = random_graph(seed)
        triples = world.triples.tolist()
        degrees = [len(world.facts.leaving(n)) for n in range(14)]
        assert degrees[0] >= 12
        assert degrees[12:] == [0, 0]
        assert any(h == t for h, _, t in triples)
        pairs = [(h, t) for h, _, t in triples]
        assert len(pairs) > len(set(pairs))
        assert 4 <= max(len(world.facts.codes(n)) for n in range(14)) <= 7
        assert brute_force.follow(world.facts, [0], [{0}], "any")[1]
