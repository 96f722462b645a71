import dataclasses

import numpy as np
import pytest

from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.edges.examples import agreed_paths, draw_edges, right_targets, states_along
from jaxkg.learn.mine import MinedPaths
from jaxkg.tensors import tensor_graph

FACTS = [
    ("Alien", "directed_by", "Scott"),
    ("Alien", "shown_in", "1979"),
    ("Gladiator", "directed_by", "Scott"),
    ("Gladiator", "shown_in", "2000"),
    ("Heat", "directed_by", "Mann"),
    ("Heat", "shown_in", "1995"),
]


@pytest.fixture(scope="module")
def world():
    kg = KnowledgeGraph.from_triples(FACTS)
    return kg, tensor_graph(kg)


def code(kg, name):
    place = kg.relations.index(name.removeprefix("^"))
    return place + kg.num_relations * name.startswith("^")


def states(world):
    kg, tensors = world
    path = [code(kg, "directed_by"), code(kg, "^directed_by"), code(kg, "shown_in")]
    paths = np.asarray([path, [-1, -1, -1], [path[2], -1, -1]], np.int32)
    topics = [[kg.entity("Alien")], [kg.entity("Heat")], [kg.entity("Heat")]]
    return path, states_along(tensors, topics, paths)


def test_states_are_the_frontiers_before_each_right_relation(world):
    kg, _ = world
    path, found = states(world)
    told = [
        (q, h, r, [kg.entity_ids[n] for n in found.nodes[slice(*found.offsets[i : i + 2])]])
        for i, (q, h, r) in enumerate(zip(found.question, found.hop, found.relation))
    ]
    assert told == [
        (0, 0, path[0], ["Alien"]),
        (0, 1, path[1], ["Scott"]),
        (0, 2, path[2], ["Gladiator"]),
        (2, 0, path[2], ["Heat"]),
    ]


def test_every_edge_drawn_is_of_the_graph_and_labelled_by_its_relation(world):
    kg, tensors = world
    path, found = states(world)
    batch = draw_edges(tensors, found, 200, np.random.default_rng(1))
    rows = {kg.entity(h): {} for h in kg.entity_ids}
    for h, r, t in kg.triples.tolist():
        rows[h].setdefault(r, set()).add(t)
        rows[t].setdefault(r + kg.num_relations, set()).add(h)
    right = {(0, h): r for h, r in enumerate(path)} | {(2, 0): path[2]}
    drawn = list(zip(batch.question.tolist(), batch.hop.tolist()))
    assert len(drawn) == 50
    assert set(drawn) == set(right)
    assert batch.valid.tolist() == [True] * batch.valid.sum() + [False] * (~batch.valid).sum()
    edges = zip(*(column[batch.valid].tolist() for column in batch[3:7]))
    seen = [[] for _ in drawn]
    for s, r, u, good in edges:
        assert u in rows[int(batch.node[s])][r]
        assert good == (right[drawn[s]] == r)
        seen[s].append(r)
    # Every relation of a state's node, once.
    assert [sorted(some) for some in seen] == [sorted(rows[v]) for v in batch.node.tolist()]
    assert not batch.right[~batch.valid].any()


def test_labels_may_depend_on_the_target(world):
    kg, tensors = world
    path, found = states(world)
    answers = [[kg.entity("2000")], [kg.entity("1995")], [kg.entity("1995")]]
    paths = np.asarray([path, [-1, -1, -1], [path[2], -1, -1]], np.int32)
    targets = right_targets(tensors, answers, paths)
    told = {(q, h, kg.entity_ids[n]) for q, h, n in targets.tolist()}
    assert told == {(0, 0, "Scott"), (0, 1, "Gladiator"), (0, 2, "2000"), (2, 0, "1995")}
    found = dataclasses.replace(found, targets=targets)
    batch = draw_edges(tensors, found, 400, np.random.default_rng(1))
    right_relation = {(q, h): r for q, h, r in zip(found.question, found.hop, found.relation)}
    seen = set()
    for s, r, t, good in zip(*(column[batch.valid] for column in batch[3:7])):
        at = int(batch.question[s]), int(batch.hop[s])
        if r == right_relation[at]:
            seen.add((*at, kg.entity_ids[t], bool(good)))
    # Of one relation's targets the one that leads to an answer is right, the other is not.
    assert {(0, 1, "Gladiator", True), (0, 1, "Alien", False)} <= seen
    assert {(q, h, name) for q, h, name, good in seen if good} == told


def test_questions_worded_alike_outvote_an_accident():
    meant, accident = [4, 5], [9, -1]
    both = [accident, meant]
    relations = np.asarray([both, [meant, [7, 7]], both, [[1, -1], [-1, -1]]], np.int32)
    f1 = np.asarray([[1, 1], [1, 0.2], [1, 1], [0, 0]], np.float32)
    texts = ["who wrote it", "who wrote it", "who penned it", "when"]
    vectors = np.asarray([[1, 0], [1, 0], [0.98, 0.2], [0, 1]], np.float32)
    found = agreed_paths(MinedPaths(relations, f1, 0), texts, vectors)
    assert found.tolist() == [meant, meant, meant, [-1, -1]]


def test_a_path_that_explains_the_answers_worse_has_no_vote():
    relations = np.asarray([[[4, 5], [9, -1]], [[9, -1], [2, 2]]], np.int32)
    f1 = np.asarray([[1.0, 0.5], [1.0, 0.1]], np.float32)
    vectors = np.asarray([[1, 0], [1, 0]], np.float32)
    found = agreed_paths(MinedPaths(relations, f1, 0), ["a", "b"], vectors)
    assert found.tolist() == [[4, 5], [9, -1]]
