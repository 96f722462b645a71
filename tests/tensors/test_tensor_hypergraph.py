import itertools

import jax
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.hypergraph.graph import Hyperedge, KnowledgeHypergraph
from jaxkg.tensors.hypergraph import hyperedge_tables, tensor_hypergraph
from jaxkg.types import NULL

EDGES = [
    Hyperedge("x", ("c", "a", "c")),
    Hyperedge("all", ("a", "b", "c", "d"), "passage"),
    Hyperedge("y", ("d", "b")),
]


def rows(offsets, values):
    offsets = np.asarray(offsets)
    return [np.asarray(values)[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def test_both_tables_hold_every_membership_once():
    made = tensor_hypergraph(KnowledgeHypergraph.from_edges(EDGES))
    graph = made.graph
    members = rows(graph.member_offsets, graph.member)
    assert members[:3] == [[0, 2], [0, 1, 2, 3], [1, 3]]
    assert all(not row for row in members[3:])
    incident = rows(graph.incident_offsets, graph.incident)
    assert incident[:4] == [[0, 1], [1, 2], [0, 1], [1, 2]]
    assert all(not row for row in incident[4:])
    assert made.degree.tolist() == [2, 2, 2, 2]
    assert set(np.asarray(graph.member)[8:].tolist()) <= {NULL}


def test_skipped_kinds_keep_their_rows_and_lose_their_members():
    made = tensor_hypergraph(KnowledgeHypergraph.from_edges(EDGES), skip=("passage", "absent"))
    assert rows(made.graph.member_offsets, made.graph.member)[:3] == [[0, 2], [], [1, 3]]
    with pytest.raises(JaxkgError, match="0 memberships"):
        tensor_hypergraph(KnowledgeHypergraph.from_edges(EDGES), skip=("passage", "fact"))


def test_merged_entities_are_one_node():
    merged = np.asarray([0, 0, 2, 3], np.int32)
    made = tensor_hypergraph(KnowledgeHypergraph.from_edges(EDGES), merged=merged)
    assert rows(made.graph.member_offsets, made.graph.member)[:3] == [[0, 2], [0, 2, 3], [0, 3]]
    assert rows(made.graph.incident_offsets, made.graph.incident)[:2] == [[0, 1, 2], []]
    assert made.node_of_entity.tolist() == merged.tolist()


def test_sizes_come_in_buckets():
    def shapes(count, edges, nodes):
        made = hyperedge_tables(np.arange(count) % edges, np.arange(count) % nodes, edges, nodes)
        return [column.shape for column in jax.tree.leaves(made.graph)]

    assert shapes(3000, 701, 601) == shapes(3001, 702, 602)
    # Those of a few passages share one program, whatever they hold.
    assert shapes(300, 70, 201) == shapes(900, 250, 450) != shapes(900, 260, 450)
