"""On four and eight devices every core finds what it finds on one."""

import dataclasses
import functools
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hyper_cases import SETTINGS, random_hypergraph_from, texts
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from lib.ranges import exchanged_bytes, graph_from_folder, resident
from random_graphs import NODES, random_graph_from

from jaxkg.candidates import Targets, expand, follow, relation_paths, start
from jaxkg.errors import JaxkgError
from jaxkg.kg import demo_graph, demo_questions
from jaxkg.kg.files.store import save_graph
from jaxkg.kg.stores.arrays import save_index
from jaxkg.learn.mine import targets_table
from jaxkg.learn.planner.model import Planner
from jaxkg.ops.ranges import Ranged
from jaxkg.score import edges, priority, priority_params
from jaxkg.score.embeddings import init_embeddings, score_against
from jaxkg.score.message_passing import inflow
from jaxkg.score.planner import init_planner
from jaxkg.search.guided import GuidedBeam, guided_batch
from jaxkg.search.hyperedges import explore
from jaxkg.search.relation_beam import Scored, search
from jaxkg.systems.pathmind.walks import prioritise_batch
from jaxkg.systems.planned import PlannedQA, PlannedSettings
from jaxkg.tensors import pad, starts_table, tensor_graph
from jaxkg.tensors.mesh import device_mesh, over_questions, place_graph, place_questions
from jaxkg.text import NgramHasher

ROWS, SLOTS = 8, 64
MESHES = [(4, 2), *(pytest.param(of, marks=pytest.mark.slow) for of in [(4, 1), (8, 1), (2, 4)])]


def place_rows(tables, mesh):
    """Tables on a mesh, their rows divided over "graph" where they divide."""
    shards = mesh.shape["graph"]

    def place(table):
        divides = np.ndim(table) > 0 and np.shape(table)[0] % shards == 0
        return jax.device_put(table, NamedSharding(mesh, P("graph") if divides else P()))

    return jax.tree.map(place, tables)


@pytest.fixture(params=MESHES, ids=str)
def mesh(request):
    data, graph = request.param
    return device_mesh(data=data, graph=graph)


@pytest.fixture(params=[(2, 2), pytest.param((2, 4), marks=pytest.mark.slow)], ids=str)
def both_ways(request):
    """Four and eight devices, both axes divided, for programs that take long to compile."""
    data, graph = request.param
    return device_mesh(data=data, graph=graph)


def check(mesh, function, shared, placed, shards):
    """One program over the mesh gives what each shard gives alone."""
    together = jax.device_get(over_questions(function, mesh)(placed, place_questions(shards, mesh)))
    alone = [jax.device_get(jax.jit(function)(shared, own)) for own in shards]
    stacked = jax.tree.map(lambda *parts: np.stack(parts), *alone)
    chex.assert_trees_all_close(together, stacked, rtol=1e-5, atol=1e-6)
    return together


def topics(rng):
    return starts_table([[int(n)] for n in rng.integers(12, size=ROWS)], num_rows=ROWS)


def drawn(init, rng):
    """Weights of the shapes that an initialiser makes, all of them random."""
    return jax.tree.map(
        lambda weight: (0.5 * rng.normal(size=weight.shape)).astype(np.float32),
        jax.eval_shape(lambda: init(key=jax.random.key(0))),
    )


def test_relation_paths_are_followed(mesh, rng):
    graph = random_graph_from(3).graph

    def run(graph, own):
        row, node, relations = own
        return follow(graph, start(row, node), relations, capacities=(SLOTS, SLOTS))

    shards = []
    for _ in range(mesh.shape["data"]):
        row, node = starts_table([[int(n)] for n in rng.integers(12, size=ROWS)], num_rows=ROWS)
        relations = rng.integers(2 * graph.num_relations, size=(ROWS, 2, 1)).astype(np.int32)
        shards.append((row, node, relations))
    check(mesh, run, graph, place_graph(graph, mesh), shards)


def test_a_beam_search_finds_its_paths(mesh, rng):
    graph = random_graph_from(5).graph
    codes = 2 * graph.num_relations
    weights = jnp.asarray(rng.normal(size=(2, codes + 1)), jnp.float32)

    def run(shared, own):
        graph, weights = shared
        row, node = own
        beam = search(
            graph,
            start(row, node),
            lambda beam, options: Scored(
                jnp.broadcast_to(weights[beam.hop], (*beam.score.shape, codes + 1))
            ),
            num_questions=ROWS,
            width=2,
            hops=2,
            capacities=(SLOTS,) * 6,
        )
        return beam.relations, beam.score, beam.overflow

    shards = [
        starts_table([[int(n)] for n in rng.integers(12, size=ROWS)], num_rows=ROWS)
        for _ in range(mesh.shape["data"])
    ]
    check(mesh, run, (graph, weights), (place_graph(graph, mesh), weights), shards)


def test_a_saved_graph_is_read_in_ranges(tmp_path):
    kg = demo_graph()
    save_graph(kg, tmp_path / "graph")
    save_index(tmp_path / "graph", kg)
    mesh = device_mesh(data=1, graph=4)
    graph, read = graph_from_folder(tmp_path / "graph", mesh)
    whole = tensor_graph(kg).graph
    split = place_graph(whole, mesh)
    assert (graph.num_nodes, graph.lookup_steps) == (whole.num_nodes, whole.lookup_steps)
    assert graph.num_edges == read == 2 * kg.num_triples
    for name, column in vars(graph).items():
        if isinstance(column, Ranged):
            assert np.array_equal(
                np.asarray(column), np.asarray(getattr(whole, name))[: column.size]
            )
            chex.assert_trees_all_equal(column, getattr(split, name))
    tails: Any = graph.tail
    held = np.diff(np.asarray(tails.span))
    assert held.min() > 0.8 * read / 4
    assert resident(graph)[:2] == (read, kg.num_triples)


def test_what_a_hop_exchanges_is_what_it_asks_for():
    graph = place_graph(random_graph_from(3).graph, device_mesh(data=1, graph=8))
    paths = np.zeros((ROWS, 2, 3), np.int32)
    starts = np.arange(ROWS, dtype=np.int32)

    def run(graph, row, node, paths):
        return follow(graph, start(row, node), paths, capacities=(SLOTS, 2 * SLOTS))

    # For each node and relation where its run lies, two numbers; for each slot the node reached.
    first, second = 2 * ROWS * 3 + SLOTS, 2 * SLOTS * 3 + 2 * SLOTS
    assert exchanged_bytes(run, graph, starts, starts, paths) == 4 * (first + second)
    whole = random_graph_from(3).graph
    assert exchanged_bytes(run, whole, starts, starts, paths) == 0


@pytest.mark.slow
def test_neighbourhoods_are_expanded(both_ways, rng):
    graph = random_graph_from(4).graph

    def run(graph, own):
        return expand(graph, expand(graph, start(*own), capacity=128), capacity=2048)

    shards = [topics(rng) for _ in range(both_ways.shape["data"])]
    placed = place_graph(graph, both_ways)
    found = check(both_ways, run, graph, placed, shards)
    assert not found.overflow.any()
    assert exchanged_bytes(run, placed, shards[0]) == 4 * (2 * ROWS + 3 * 128 + 2048)


@pytest.mark.slow
def test_relation_paths_are_enumerated(both_ways, rng):
    graph = random_graph_from(3).graph

    def run(graph, own):
        starts, targets = own
        return relation_paths(
            graph, start(*starts), targets, capacities=(64, 256, 1024, 1024), keep=8, fan_out=64
        )

    shards = []
    for _ in range(both_ways.shape["data"]):
        some = [sorted(set(rng.choice(12, 4).tolist())) for _ in range(ROWS)]
        shards.append((topics(rng), targets_table(some, num_rows=ROWS)))
    size = max(len(targets.row) for _, targets in shards)
    shards = [
        (starts, Targets(pad(t.row, size), pad(t.node, size), t.size)) for starts, t in shards
    ]
    placed = place_graph(graph, both_ways)
    found = check(both_ways, run, graph, placed, shards)
    print(f"{exchanged_bytes(run, placed, shards[0])} bytes exchanged, at least")
    assert not found.overflow.any()
    assert (found.f1[:, :, 0] > 0).mean() > 0.5


def whole_and_divided(kg):
    tensors = tensor_graph(kg)
    placed = place_graph(tensors.graph, device_mesh(data=1, graph=8))
    return tensors, dataclasses.replace(tensors, graph=placed)


@pytest.mark.slow
def test_a_planner_answers():
    kg = demo_graph()
    params = init_planner(kg.num_relations, hops=2, width=8, buckets=64, key=jax.random.key(1))
    hasher = NgramHasher(buckets=64)
    planner = Planner(params, kg.relations, hasher, 2, np.ones(64, bool))
    settings = PlannedSettings(threshold=0.0, batch_size=8)
    answers = [
        PlannedQA.build(kg, planner, tensors=tensors, settings=settings).answer(
            demo_questions()[:8]
        )
        for tensors in whole_and_divided(kg)
    ]
    one, many = ([dataclasses.replace(a, usage=None) for a in some] for some in answers)
    assert sum(len(answer.entities) for answer in one) > 8
    assert many == one


def test_embeddings_are_ranked(mesh):
    table = init_embeddings("complex", 32, 2, dimension=8, key=jax.random.key(0)).entity
    shards = [0.1 * (i + 1) * table[i : i + 3] for i in range(mesh.shape["data"])]
    check(
        mesh,
        lambda t, own: score_against("complex", own, t),
        table,
        place_rows(table, mesh),
        shards,
    )


def guided(shared, own):
    return guided_batch(
        *shared, *own, GuidedBeam(hops=1, width=2, margin=100.0), capacities=(512,) * 5
    )


@pytest.mark.slow
def test_a_guided_search_takes_its_paths(both_ways, rng):
    mesh = both_ways
    graph = random_graph_from(3).graph
    codes = 2 * graph.num_relations
    sizes = edges.EdgeSizes(
        text=8, graph=4, question=8, hops=2, width=6, attention=(10, 7), classifier=(5, 4)
    )
    params = drawn(functools.partial(edges.init_edge_scorer, sizes), rng)
    shapes = ((NODES, 8), (NODES, 4), (codes, 8), (codes, 4))
    inputs = edges.EdgeInputs(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))

    tables = jax.jit(edges.edge_tables)(params, inputs)
    spread = jax.jit(edges.edge_tables)(params, place_rows(inputs, mesh))
    chex.assert_trees_all_close(jax.device_get(spread), jax.device_get(tables), atol=1e-5)
    shards = [
        (*topics(rng), rng.normal(size=(ROWS, 8)).astype(np.float32))
        for _ in range(mesh.shape["data"])
    ]
    placed = (place_graph(graph, mesh), params, spread)
    found = check(mesh, guided, (graph, params, tables), placed, shards)
    assert not found.overflow.any()
    assert len(np.unique(found.relations[:, :, 0], axis=1)) > 1


def prioritised(shared, own):
    sizes = {"capacities": (256, 512), "floor": 0.0, "revisit": "topic"}
    found = prioritise_batch(*shared, own[:2], own[2:], **sizes)
    # The walks of other slots are not to be read.
    there = found.valid[:, None]
    return found._replace(
        logit=jnp.where(found.valid, found.logit, 0.0),
        heaviest=jnp.where(there, found.heaviest, 0),
        shortest=jnp.where(there, found.shortest, 0),
    )


@pytest.mark.slow
def test_messages_are_passed_and_entities_prioritised(both_ways, rng):
    mesh = both_ways
    graph = random_graph_from(5).graph
    sizes = priority_params.PrioritySizes(
        hops=1, buckets=16, width=8, state=8, features=5, bases=2, heads=2, hidden=4, text=5
    )
    params = drawn(
        functools.partial(priority_params.init_priority, graph.num_relations, sizes), rng
    )
    features = rng.normal(size=(NODES, 5)).astype(np.float32)
    into = jax.jit(inflow)(graph)
    states = jax.jit(priority.entity_states)(params, into, features)
    spread = jax.jit(priority.entity_states)(params, *place_rows((into, features), mesh))
    np.testing.assert_allclose(spread, states, rtol=1e-5, atol=1e-5)
    labels = (
        rng.integers(16, size=(graph.num_relations, 3)).astype(np.int32),
        rng.normal(size=(graph.num_relations, 5)).astype(np.float32),
    )

    shards = [
        (
            *topics(rng),
            rng.integers(16, size=(ROWS, 4)).astype(np.int32),
            rng.normal(size=(ROWS, 5)).astype(np.float32),
        )
        for _ in range(mesh.shape["data"])
    ]
    shared = (graph, params, states, labels)
    placed = (place_graph(graph, mesh), params, place_rows(states, mesh), labels)
    found = check(mesh, prioritised, shared, placed, shards)
    assert not found.overflow.any()
    assert found.valid.sum() > 5 * mesh.shape["data"]


def explored(shared, own):
    graph, told = shared
    question, columns = own
    return explore(
        graph,
        told._replace(question=question),
        *columns,
        settings=SETTINGS,
        capacities=(64, 256, 1024, 256),
    )


@pytest.mark.slow
def test_hyperedges_are_explored():
    mesh = device_mesh(data=2, graph=4)
    made = [random_hypergraph_from(seed) for seed in range(mesh.shape["data"])]
    graph, told = made[0].tensors, texts(0)

    shards = [(each.question, each.columns()) for each in made]
    found = check(mesh, explored, (graph, told), place_rows((graph, told), mesh), shards)
    assert not found.overflow.any()
    assert (found.path >= 0).sum() > 10 * mesh.shape["data"]


def test_a_mesh_takes_what_there_is_and_no_more():
    assert dict(device_mesh(graph=2).shape) == {"data": 4, "graph": 2}
    with pytest.raises(JaxkgError, match="there are 8"):
        device_mesh(data=5, graph=2)
    with pytest.raises(JaxkgError, match="at least 1"):
        device_mesh(graph=0)
    with pytest.raises(JaxkgError, match="3 shards"):
        place_questions([1, 2, 3], device_mesh(data=4))
