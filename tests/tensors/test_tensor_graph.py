import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.tensors import bucket, edge_tables, tensor_graph

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_are_the_triples_and_their_inverses_in_order(random_graph, seed):
    world = random_graph(seed)
    tensors = edge_tables(world.triples, world.num_entities, world.num_relations)
    graph, count = tensors.graph, 2 * len(world.triples)
    columns = [np.asarray(c) for c in (graph.head, graph.relation, graph.tail)]
    assert list(zip(*(c[:count].tolist() for c in columns))) == world.facts.edges
    for column in (*columns, tensors.triple_of_edge):
        assert len(column) == bucket(count)
        assert column.dtype == np.int32
        assert (column[count:] == -1).all()
    for host, device in zip((tensors.head, tensors.relation, tensors.tail), columns):
        assert np.array_equal(host, device)
    for (head, code, tail), triple in zip(world.facts.edges, tensors.triple_of_edge):
        inverse = code >= world.num_relations
        expected = [tail, code - world.num_relations, head] if inverse else [head, code, tail]
        assert world.triples[triple].tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_offsets_and_runs_are_the_stretches_of_the_edges(random_graph, seed):
    world = random_graph(seed)
    graph = edge_tables(world.triples, world.num_entities, world.num_relations).graph
    facts = world.facts
    assert graph.num_nodes == bucket(world.num_entities)
    assert graph.num_edges == bucket(len(facts.edges))
    assert graph.num_relations == world.num_relations
    runs = 0
    for node in range(graph.num_nodes):
        edges = facts.leaving(node)
        first, end = graph.offsets[node : node + 2].tolist()
        assert list(range(first, end)) == edges
        first, end = graph.run_offsets[node : node + 2].tolist()
        assert graph.run_relation[first:end].tolist() == facts.codes(node)
        for run, code in zip(range(first, end), facts.codes(node)):
            a, b = graph.run_start[run : run + 2].tolist()
            assert graph.tail[a:b].tolist() == facts.tails(node, code)
        runs += end - first
        for code in range(2 * world.num_relations):
            key = node * 2 * world.num_relations + code
            a, b = graph.edge_start[key : key + 2].tolist()
            assert graph.tail[a:b].tolist() == facts.tails(node, code)
    assert len(graph.edge_start) == graph.num_nodes * 2 * world.num_relations + 1
    assert len(graph.run_relation) == bucket(runs) == len(graph.run_start) - 1
    assert (np.asarray(graph.run_relation)[runs:] == -1).all()
    assert (np.asarray(graph.run_start)[runs:] == len(facts.edges)).all()


@pytest.mark.parametrize("runs", range(1, 10))
def test_lookup_steps_are_as_many_as_the_busiest_node_needs(runs):
    star = np.asarray([[0, code, 1 + code] for code in range(runs)], np.int32)
    graph = edge_tables(star, runs + 1, runs).graph
    assert graph.lookup_steps == int(np.ceil(np.log2(runs + 1)))


def test_a_graph_that_fills_its_buckets_has_no_padding():
    triples = np.asarray([[i, 0, i + 1] for i in range(0, 8, 2)], np.int32)
    graph = edge_tables(triples, 8, 1).graph
    assert graph.num_edges == 8
    assert graph.offsets.tolist() == list(range(9))
    assert graph.run_start.tolist() == list(range(9))


def test_tensors_of_a_knowledge_graph_are_those_of_its_triples():
    kg = KnowledgeGraph.from_triples(
        [("b", "likes", "a"), ("a", "knows", "b"), ("b", "knows", "b")]
    )
    tensors = tensor_graph(kg)
    expected = edge_tables(np.asarray(kg.triples), 2, 2)
    assert tensors.graph.num_relations == 2
    for name in ("triple_of_edge", "head", "relation", "tail"):
        assert np.array_equal(getattr(tensors, name), getattr(expected, name))
    walked = tensors.triple_of_edge[(tensors.relation == 0) & (tensors.head == 1)]
    assert kg.triple(int(walked[0])) == ("b", "knows", "b")


def test_no_triples_are_refused():
    with pytest.raises(JaxkgError, match="no triples"):
        edge_tables(np.zeros((0, 3), np.int32), 4, 1)


def test_more_triples_than_edge_ids_are_refused():
    huge = np.broadcast_to(np.zeros((1, 3), np.int32), (2**30, 3))
    with pytest.raises(JaxkgError, match=r"1,073,741,824 triples.*32-bit"):
        edge_tables(huge, 4, 1)
