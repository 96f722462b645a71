import numpy as np

from jaxkg.kg.hypergraph import edit
from jaxkg.kg.hypergraph.edit import merged_entities, synonym_edges
from jaxkg.kg.hypergraph.graph import Hyperedge, KnowledgeHypergraph


def test_groups_become_hyperedges_and_representatives_again():
    graph = KnowledgeHypergraph.from_edges([Hyperedge("x", tuple("abcdef"))])
    edges = synonym_edges(graph, np.asarray([0, 1, 0, 3, 1, 1], np.int32))
    assert [edge.entities for edge in edges] == [("a", "c"), ("b", "e", "f")]
    assert {edge.kind for edge in edges} == {"synonym"}
    assert merged_entities(edit.add(graph, edges)).tolist() == [0, 1, 0, 3, 1, 1]
    assert merged_entities(graph).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_group_that_is_too_large_is_left_out():
    graph = KnowledgeHypergraph.from_edges([Hyperedge("x", tuple("abcdef"))])
    groups = np.asarray([0, 0, 0, 3, 3, 5], np.int32)
    assert [e.entities for e in synonym_edges(graph, groups, largest=2)] == [("d", "e")]
