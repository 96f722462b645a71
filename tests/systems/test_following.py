"""Relation paths from several topics against sets in plain Python."""

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.following import follow_paths
from jaxkg.tensors import tensor_graph
from jaxkg.types import NULL


def _walked(kg: KnowledgeGraph, starts, path, barred) -> set[int]:
    nodes = set(starts)
    for code in path:
        if code == NULL:
            break
        relation, back = code % kg.num_relations, code >= kg.num_relations
        ends = [(t, h) if back else (h, t) for h, r, t in kg.triples.tolist() if r == relation]
        nodes = {tail for head, tail in ends if head in nodes} - barred
    return nodes


def _twin(kg, branches, paths, join, revisit):
    """Node and place of everything that is kept."""
    topics = {node for some in branches for node in some}
    barred = topics if revisit == "topic" else set()
    apart = [tuple(topics)] if join == "union" or len(branches) < 2 else branches
    found = [
        {
            (place, node)
            for place, path in enumerate(paths)
            for node in _walked(kg, some, path, set(some) if barred else set()) - barred
        }
        for some in apart
    ]
    common = set.intersection(*({node for _, node in some} for some in found))
    every = set.union(*found)
    kept = {(place, node) for place, node in every if node in common}
    return every if join == "auto" and not kept else kept


@pytest.mark.parametrize("revisit", ["topic", "any"])
@pytest.mark.parametrize("join", ["auto", "union", "intersect"])
def test_a_join_keeps_what_sets_keep(join, revisit):
    draw = np.random.default_rng(7)
    triples = {(int(h), int(r), int(t)) for h, r, t in draw.integers(0, (14, 3, 14), (40, 3))}
    kg = KnowledgeGraph.from_triples([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in sorted(triples)])
    tensors = tensor_graph(kg)
    branches, size = [], kg.num_entities
    for count in draw.integers(1, 4, 24).tolist():
        nodes = draw.permutation(size)[: count + 1].tolist()
        branches.append([tuple(nodes[:2]), *((node,) for node in nodes[2:])])
    relations = draw.integers(0, 2 * kg.num_relations, (24, 4, 2)).astype(np.int32)
    relations[::3, 1, 1] = NULL
    used = draw.random((24, 4)) < 0.8
    found = follow_paths(tensors, branches, relations, used, join=join, revisit=revisit)
    joined = 0
    for row, some in enumerate(branches):
        paths = [path if here else [NULL] for path, here in zip(relations[row].tolist(), used[row])]
        places = [place for place in range(4) if used[row, place]]
        wanted = _twin(kg, some, [paths[place] for place in places], join, revisit)
        wanted = {(places[place], node) for place, node in wanted}
        mine = found.question == row
        got = set(zip(found.place[mine].tolist(), found.node[mine].tolist()))
        assert got == wanted
        for place in range(4):
            reached = sum(where == place for where, _ in wanted)
            assert found.sizes[row, place] == (reached if used[row, place] else NULL)
        joined += len(some) > 1 and bool(got)
    assert joined > 3
    last = np.where(found.edges[:, 1] == NULL, found.edges[:, 0], found.edges[:, 1])
    assert np.array_equal(tensors.tail[last], found.node)
