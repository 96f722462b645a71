"""On four and eight devices every core finds what it finds on one."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_graphs import random_graph_from

from jaxkg.candidates import follow, start
from jaxkg.records import JaxkgError
from jaxkg.score import hdc
from jaxkg.score.embeddings import init_embeddings, score_against
from jaxkg.systems.search import search
from jaxkg.tensors import starts_table
from jaxkg.tensors.mesh import device_mesh, over_questions, place_graph, place_questions

ROWS, SLOTS = 8, 64
MESHES = [(4, 1), (8, 1), (4, 2), (2, 4)]


@pytest.fixture(params=MESHES, ids=str)
def mesh(request):
    data, graph = request.param
    return device_mesh(data=data, graph=graph)


def check(mesh, function, shared, placed, shards):
    """One program over the mesh gives what each shard gives alone."""
    together = jax.device_get(over_questions(function, mesh)(placed, place_questions(shards, mesh)))
    alone = [jax.device_get(jax.jit(function)(shared, own)) for own in shards]
    stacked = jax.tree.map(lambda *parts: np.stack(parts), *alone)
    chex.assert_trees_all_close(together, stacked, rtol=1e-5, atol=1e-6)


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
            lambda beam: jnp.broadcast_to(weights[beam.hop], (*beam.score.shape, codes + 1)),
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


def test_hypervector_paths_are_scored(mesh):
    algebra = hdc.operator("ghrr-haar", 64)
    table = algebra.random((6,), key=jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), mesh.shape["data"])
    shards = [algebra.random((3,), key=key) for key in keys]

    def run(table, queries):
        best = hdc.exhaustive(algebra, table, queries, k=4, max_length=2)
        return best.paths, best.score

    check(mesh, run, table, table, shards)


def test_embeddings_are_ranked(mesh):
    table = init_embeddings("complex", 32, 2, dimension=8, key=jax.random.key(0)).entity
    shards = [0.1 * (i + 1) * table[i : i + 3] for i in range(mesh.shape["data"])]
    check(mesh, lambda t, own: score_against("complex", own, t), table, table, shards)


def test_a_mesh_takes_what_there_is_and_no_more():
    assert dict(device_mesh(graph=2).shape) == {"data": 4, "graph": 2}
    with pytest.raises(JaxkgError, match="there are 8"):
        device_mesh(data=5, graph=2)
    with pytest.raises(JaxkgError, match="at least 1"):
        device_mesh(graph=0)
    with pytest.raises(JaxkgError, match="3 shards"):
        place_questions([1, 2, 3], device_mesh(data=4))
