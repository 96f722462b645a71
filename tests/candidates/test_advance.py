import numpy as np
import pytest
from brute_force import step
from programs import advanced, frontier_of, nodes_of, options_of, random_topics
from random_graphs import EDGES, NODES, RUNS, repad

PATHS, PER_QUESTION, SIZE = 8, 2, 64
QUESTIONS = PATHS // PER_QUESTION
ROOM = (128, 512)


@pytest.mark.parametrize("seed", range(5))
def test_available_are_the_relations_that_leave_some_node(random_graph, rng, seed):
    world = random_graph(seed)
    nodes = random_topics(rng, PATHS)
    seen, needed, overflow = options_of(
        world.graph, frontier_of(nodes, rng=rng), num_rows=PATHS, capacity=256
    )
    assert seen.shape == (PATHS, 2 * world.num_relations)
    for row, some in enumerate(nodes):
        expected = {code for node in some for code in world.facts.codes(node)}
        assert set(np.flatnonzero(seen[row]).tolist()) == expected
    assert int(needed) == sum(len(world.facts.codes(n)) for some in nodes for n in some)
    assert not overflow


def test_available_says_what_did_not_fit(random_graph):
    world = random_graph(0)
    starts = frontier_of([[0]] * PATHS)
    wanted = PATHS * len(world.facts.codes(0))
    seen, needed, overflow = options_of(world.graph, starts, num_rows=PATHS, capacity=wanted)
    assert seen.any(axis=1).all()
    assert not overflow
    short, needed, overflow = options_of(world.graph, starts, num_rows=PATHS, capacity=wanted - 1)
    assert overflow
    assert int(needed) == wanted
    assert int(short.sum()) == int(seen.sum()) - 1


def scene(rng, world, revisit_starts=3):
    """Nodes of each path, topics of each question, and what each new path extends by what."""
    nodes = random_topics(rng, PATHS, most=revisit_starts)
    topics = random_topics(rng, QUESTIONS, most=2)
    question = np.arange(PATHS) // PER_QUESTION
    parent = question * PER_QUESTION + rng.integers(PER_QUESTION, size=PATHS)
    relation = rng.integers(-1, 2 * world.num_relations, size=PATHS)
    return nodes, topics, parent.astype(np.int32), relation.astype(np.int32)


def expected_of(world, scene, revisit):
    nodes, topics, parent, relation = scene
    for path in range(PATHS):
        codes = [] if relation[path] == -1 else [int(relation[path])]
        reached = step(world.facts, nodes[parent[path]], codes)
        yield reached - set(topics[path // PER_QUESTION]) if revisit == "topic" else reached


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("revisit", ["topic", "any"])
def test_advance_agrees_with_brute_force(random_graph, rng, seed, revisit):
    world = random_graph(seed)
    drawn = scene(rng, world)
    nodes, topics, parent, relation = drawn
    got, needed = advanced(
        world.graph,
        frontier_of(nodes, size=SIZE, rng=rng),
        frontier_of(topics, rng=rng),
        parent,
        relation,
        rows_per_question=PER_QUESTION,
        capacities=ROOM,
        revisit=revisit,
    )
    assert nodes_of(got, PATHS) == list(expected_of(world, drawn, revisit))
    copied = [len(nodes[p]) for p, r in zip(parent, relation) if r != -1]
    walked = [
        len(world.facts.tails(node, int(r)))
        for p, r in zip(parent, relation)
        for node in nodes[p]
        if r != -1
    ]
    assert needed.tolist() == [sum(copied), sum(walked)]
    assert not got.overflow
    assert (np.diff(np.asarray(got.row)[np.asarray(got.valid)]) >= 0).all()
    assert (got.parent == -1).all()
    assert (got.edge == -1).all()


@pytest.mark.parametrize("short_of", [0, 1])
def test_advance_says_what_did_not_fit(random_graph, short_of):
    world = random_graph(0)
    nodes = [[0, 1, 2]] * PATHS
    starts = frontier_of([[5]] * QUESTIONS)
    relation = np.full(PATHS, max(range(6), key=lambda c: len(world.facts.tails(0, c))), np.int32)
    args = (world.graph, frontier_of(nodes, size=SIZE), starts, np.arange(PATHS, dtype=np.int32))
    roomy, wanted = advanced(
        *args, relation, rows_per_question=PER_QUESTION, capacities=ROOM, revisit="topic"
    )
    assert not roomy.overflow
    room = [*ROOM]
    room[short_of] = int(wanted[short_of]) - 1
    tight, needed = advanced(
        *args, relation, rows_per_question=PER_QUESTION, capacities=tuple(room), revisit="topic"
    )
    assert tight.overflow
    assert needed.tolist()[: short_of + 1] == wanted.tolist()[: short_of + 1]


def test_padding_does_not_show(random_graph, rng):
    world = random_graph(4)
    nodes, topics, parent, relation = scene(rng, world)
    options = {"rows_per_question": PER_QUESTION, "revisit": "topic"}
    plain, needed = advanced(
        world.graph,
        frontier_of(nodes, size=SIZE),
        frontier_of(topics),
        parent,
        relation,
        capacities=ROOM,
        **options,
    )
    bigger = repad(world.graph, nodes=2 * NODES, edges=4 * EDGES, runs=2 * RUNS, garbage=rng)
    more = np.concatenate([parent, np.full(PATHS, PATHS, np.int32)])
    dirty, still = advanced(
        bigger,
        frontier_of(nodes, size=2 * SIZE, rng=rng),
        frontier_of(topics, size=64, rng=rng),
        more,
        np.concatenate([relation, np.full(PATHS, -1, np.int32)]),
        capacities=(256, 1024),
        **options,
    )
    assert nodes_of(dirty, PATHS) == nodes_of(plain, PATHS)
    assert still.tolist() == needed.tolist()
