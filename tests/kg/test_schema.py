"""The relation-schema graph against a walk over every pair of edges."""

import itertools

import numpy as np
import pytest

from jaxkg.kg.schema import count_schemas, list_schemas, schema_graph


def brute_force(facts):
    """{(r, s)}: s leaves a node that r enters."""
    return {(r, s) for _, r, t in facts.edges for h, s, _ in facts.edges if h == t}


@pytest.fixture(params=range(3))
def case(request, random_graph):
    return random_graph(request.param)


def follows_of(case):
    graph = case.graph
    return schema_graph(
        np.asarray(graph.run_offsets), np.asarray(graph.run_relation), graph.num_relations
    )


def test_a_relation_follows_another_where_a_node_joins_them(case):
    follows = follows_of(case)
    assert follows.shape == (6, 6)
    assert set(zip(*(i.tolist() for i in follows.nonzero()))) == brute_force(case.facts)


def test_every_path_of_the_schema_graph_is_listed_once_shorter_ones_first(case):
    pairs = brute_force(case.facts)
    expected = [
        path
        for length in (1, 2, 3)
        for path in itertools.product(range(6), repeat=length)
        if all(step in pairs for step in itertools.pairwise(path))
    ]
    follows = follows_of(case)
    listed = list_schemas(follows, 3)
    assert listed.dtype == np.int32
    got = [tuple(c for c in row if c >= 0) for row in listed.tolist()]
    assert sorted(got) == sorted(expected)
    assert [len(p) for p in got] == sorted(len(p) for p in got)
    assert count_schemas(follows, 3) == len(expected)


def test_a_graph_of_one_dead_end_has_paths_of_its_own_steps_only():
    # One edge 0 -> 1: after walking it only the way back leaves.
    follows = schema_graph(np.array([0, 1, 2]), np.array([0, 1]), 1)
    assert list_schemas(follows, 2).tolist() == [[0, -1], [1, -1], [0, 1], [1, 0]]
