import functools

import jax
import numpy as np
from random_hypergraphs import EDGES, ENTITIES, NODES, ROWS, random_hypergraph_from

from jaxkg.candidates.hyperedges import incident_to, members_of, overlaps, seed_edges, within
from jaxkg.types import Hypergraph

_members = functools.partial(jax.jit, static_argnames="capacity")(members_of)
_incident = functools.partial(jax.jit, static_argnames="capacity")(incident_to)
_overlaps = functools.partial(jax.jit, static_argnames="capacity")(overlaps)
_seeds = functools.partial(jax.jit, static_argnames="capacity")(seed_edges)
_within = functools.partial(jax.jit, static_argnames="hops")(within)


def test_members_and_incident_hyperedges_are_those_of_the_lists():
    for seed in range(5):
        graph = random_hypergraph_from(seed)
        rng = np.random.default_rng(seed)
        edge = rng.integers(0, EDGES, 8).astype(np.int32)
        valid = rng.random(8) < 0.7
        found = _members(graph.tensors, edge, valid, capacity=64)
        there = np.asarray(found.valid)
        pairs = list(zip(np.asarray(found.parent)[there], np.asarray(found.node)[there]))
        assert pairs == [(i, v) for i in range(8) if valid[i] for v in graph.edges[edge[i]]]
        node = rng.integers(0, ENTITIES, 8).astype(np.int32)
        found = _incident(graph.tensors, node, valid, capacity=256)
        there = np.asarray(found.valid)
        pairs = list(zip(np.asarray(found.parent)[there], np.asarray(found.edge)[there]))
        assert pairs == [(i, e) for i in range(8) if valid[i] for e in graph.incident(node[i])]


def test_overlaps_are_all_shared_entities_of_all_neighbours():
    for seed in range(5):
        graph = random_hypergraph_from(seed)
        rng = np.random.default_rng(seed)
        edge = rng.integers(0, EDGES, 8).astype(np.int32)
        members = _members(graph.tensors, edge, np.ones(8, bool), capacity=64)
        through = rng.random(64) < 0.6
        found = jax.device_get(_overlaps(graph.tensors, edge, members, through, capacity=1024))
        node = np.asarray(members.node)
        triples = [
            (int(found.parent[s]), int(node[found.member[s]]), int(found.edge[s]))
            for s in np.flatnonzero(found.valid)
        ]
        open_ = {
            (int(p), int(v))
            for p, v, ok, go in zip(members.parent, members.node, members.valid, through)
            if ok and go
        }
        wanted = [(p, v, e) for p, v in sorted(open_) for e in graph.incident(v) if e != edge[p]]
        assert sorted(triples) == wanted
        firsts = {}
        for slot in np.flatnonzero(found.valid):
            key = int(found.parent[slot]), int(found.edge[slot])
            assert found.first[slot] == firsts.setdefault(key, slot)


def test_seeds_are_targets_and_hyperedges_of_topics_once_with_their_bonus():
    graph = random_hypergraph_from(4)
    node_row, node, edge_row, edge, _ = graph.columns()
    bonus = np.arange(8, dtype=np.float32) / 8
    row, edges, valid, extra, needed, overflow = jax.device_get(
        _seeds(graph.tensors, node_row, node, edge_row, edge, bonus, capacity=64)
    )
    assert not overflow
    wanted = {}
    for slot, (r, v) in enumerate(zip(np.asarray(node_row), np.asarray(node))):
        for e in graph.incident(v) if v >= 0 else ():
            wanted[int(r), e] = wanted.get((int(r), e), 0.0) + bonus[slot]
    for r in range(ROWS):
        for e in graph.targets[r]:
            wanted.setdefault((r, e), 0.0)
    found = [(int(r), int(e)) for r, e, ok in zip(row, edges, valid) if ok]
    assert len(found) == len(set(found))
    assert {key: float(x) for key, x in zip(found, extra[valid])} == wanted
    assert needed == sum(len(graph.incident(v)) for topics in graph.topics for v in topics)


def test_the_neighbourhood_grows_hop_by_hop():
    graph = random_hypergraph_from(6)
    for hops in (0, 1, 2):
        nodes, edges = np.zeros(NODES, bool), np.zeros(graph.tensors.num_edges, bool)
        nodes[7], edges[2] = True, True
        found_nodes, found_edges = _within(graph.tensors, nodes, edges, hops=hops)
        some_nodes, some_edges = {7, *graph.edges[2]}, {2}
        for _ in range(hops):
            some_edges |= {e for v in some_nodes for e in graph.incident(v)}
            some_nodes |= {v for e in some_edges for v in graph.edges[e]}
        assert set(np.flatnonzero(found_nodes)) == some_nodes
        assert set(np.flatnonzero(found_edges)) == some_edges


def test_padding_memberships_join_nothing():
    # No hyperedge is padding here: the slots past the last membership must not count for the last.
    columns = ([0, 1, 2, 3, -1, -1], [0, 2, 4], [0, 0, 1, 1, -1, -1], [0, 1, 2, 3, 4])
    graph = Hypergraph(*(np.asarray(column, np.int32) for column in columns))
    nodes, edges = _within(graph, np.arange(4) == 0, np.zeros(2, bool), hops=1)
    assert edges.tolist() == [True, False]
    assert nodes.tolist() == [True, True, False, False]
