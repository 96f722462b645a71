from collections import Counter

import brute_force
import jax
import numpy as np
import pytest
from programs import enumerated, frontier_of, random_topics
from random_graphs import EDGES, NODES, RUNS, repad

from jaxkg.candidates import Targets, is_target
from jaxkg.learn.mine import targets_table
from jaxkg.tensors import pad

# 6 codes make 42 paths of up to two hops, so 64 keep them all.
ROWS, HOPS, MANY, KEEP = 4, 2, 64, 8
ROOM = (64, 256, 2048, 2048)
WIDE = 1 << 20
member = jax.jit(is_target)


def random_targets(rng, world, topics, revisit="topic", hops=HOPS):
    """What some relation path reaches, a little of it replaced: ties and imperfect paths."""
    targets = []
    for nodes in topics:
        paths = brute_force.relation_paths(world.facts, nodes, hops, revisit)
        some = set(rng.choice(14, 2).tolist())
        if paths:
            some |= list(paths.values())[rng.integers(len(paths))]
        targets.append(sorted(some)[: rng.integers(1, 8)])
    return targets


def table_of(targets, size=32):
    """`targets_table` in one bucket."""
    table = targets_table(targets, num_rows=ROWS)
    return Targets(pad(table.row, size), pad(table.node, size), table.size)


def paths_of(found, row: int) -> list[tuple[tuple[int, ...], float]]:
    """The paths of one row with their F1, best first; what is empty must be empty throughout."""
    listed = []
    for codes, f1 in zip(np.asarray(found.relations[row]).tolist(), np.asarray(found.f1[row])):
        path = tuple(code for code in codes if code != -1)
        assert codes == list(path) + [-1] * (len(codes) - len(path))
        assert bool(path) == (f1 > 0)
        listed.append((path, float(f1)))
    kept = [entry for entry in listed if entry[0]]
    assert listed[: len(kept)] == kept
    return kept


def scored(world, nodes, goal, revisit, longest=WIDE, hops=HOPS):
    paths = brute_force.relation_paths(world.facts, nodes, hops, revisit, longest)
    scores = {path: np.float32(brute_force.f1(reached, goal)) for path, reached in paths.items()}
    return {path: score for path, score in scores.items() if score > 0}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("revisit", "longest"), [("topic", WIDE), ("topic", 2), ("any", WIDE)])
def test_all_paths_with_their_exact_f1(random_graph, rng, seed, revisit, longest):
    world = random_graph(seed)
    topics = random_topics(rng, ROWS, most=2)
    targets = random_targets(rng, world, topics, revisit)
    found = enumerated(
        world.graph,
        frontier_of(topics, rng=rng),
        table_of(targets),
        capacities=ROOM,
        keep=MANY,
        fan_out=longest,
        revisit=revisit,
    )
    assert not found.overflow
    for row, (nodes, goal) in enumerate(zip(topics, targets)):
        got = paths_of(found, row)
        assert dict(got) == pytest.approx(scored(world, nodes, goal, revisit, longest), rel=1e-6)
        assert len(dict(got)) == len(got)
        order = [(-f1, len(path)) for path, f1 in got]
        assert order == sorted(order)


@pytest.mark.slow
def test_the_best_of_three_hops_are_kept_and_ties_fall_to_the_shorter(random_graph, rng):
    world = random_graph(7)
    topics = [[0], [1], [2, 3], [0, 5]]
    targets = random_targets(rng, world, topics, hops=3)
    found = enumerated(
        world.graph,
        frontier_of(topics),
        table_of(targets),
        capacities=(*ROOM, 8192, 1 << 14),
        keep=KEEP,
        fan_out=WIDE,
    )
    assert not found.overflow
    for row, (nodes, goal) in enumerate(zip(topics, targets)):
        every = scored(world, nodes, goal, "topic", hops=3)
        ranks = sorted((-f1, len(path)) for path, f1 in every.items())
        assert len(ranks) > KEEP
        assert len(Counter(ranks)) < len(ranks)
        got = paths_of(found, row)
        assert [len(path) for path, _ in got] == [length for _, length in ranks[:KEEP]]
        assert [-f1 for _, f1 in got] == pytest.approx([rank for rank, _ in ranks[:KEEP]], rel=1e-6)
        assert dict(got) == pytest.approx({path: every[path] for path, _ in got}, rel=1e-6)


def test_the_first_hop_is_walked_whatever_its_length(random_graph):
    world = random_graph(0)
    code = max(range(6), key=lambda c: len(world.facts.tails(0, c)))
    goal = sorted(set(world.facts.tails(0, code)) - {0})
    assert len(goal) > 1
    found = enumerated(
        world.graph,
        frontier_of([[0], [], [], []]),
        table_of([goal]),
        capacities=ROOM,
        keep=MANY,
        fan_out=2,
    )
    assert len(world.facts.tails(0, code)) > 2
    assert ((code,), 1.0) in paths_of(found, 0)
    assert [paths_of(found, row) for row in (1, 2, 3)] == [[], [], []]


def test_a_target_entered_by_more_relations_than_are_looked_at_in_one_go(random_graph):
    world = random_graph(3)
    hub, topic = 0, [[5], [], [], []]
    assert len({code for _, code, tail in world.facts.edges if tail == hub}) > 4
    targets = Targets(*(np.asarray(x, np.int32) for x in ([0], [hub], [1, 0, 0, 0])))
    found = enumerated(
        world.graph, frontier_of(topic), targets, capacities=ROOM, keep=MANY, fan_out=WIDE
    )
    assert dict(paths_of(found, 0)) == scored(world, topic[0], [hub], "topic")


# Edges of the first hop, runs of the second.
@pytest.mark.parametrize("step", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_too_little_room_is_told_of_exactly_at_the_first_step_that_lacks_it(random_graph, step):
    world = random_graph(1)
    starts = frontier_of([[0], [1, 2], [3], [4]])
    targets = table_of([[5], [6], [7], [8, 9]])
    roomy = enumerated(world.graph, starts, targets, capacities=ROOM, keep=MANY, fan_out=WIDE)
    wanted = roomy.needed.tolist()
    room = (*ROOM[:step], wanted[step] - 1, *ROOM[step + 1 :])
    tight = enumerated(world.graph, starts, targets, capacities=room, keep=1, fan_out=WIDE)
    assert not roomy.overflow
    assert tight.overflow
    assert tight.needed.tolist()[: step + 1] == wanted[: step + 1]


def test_padding_does_not_show(random_graph, rng):
    world = random_graph(2)
    topics = random_topics(rng, ROWS, most=2)
    targets = random_targets(rng, world, topics)
    plain = enumerated(
        world.graph,
        frontier_of(topics),
        table_of(targets),
        capacities=ROOM,
        keep=MANY,
        fan_out=2,
    )
    bigger = repad(world.graph, nodes=2 * NODES, edges=4 * EDGES, runs=2 * RUNS, garbage=rng)
    table = targets_table(targets, num_rows=2 * ROWS)
    padding = np.asarray(table.row) == -1
    node = np.where(padding, rng.integers(14, size=len(padding)), table.node).astype(np.int32)
    dirty = enumerated(
        bigger,
        frontier_of(topics, size=64, rng=rng),
        table._replace(node=node),
        capacities=tuple(2 * room for room in ROOM),
        keep=MANY,
        fan_out=2,
    )
    assert np.array_equal(plain.relations, dirty.relations[:ROWS])
    assert np.array_equal(plain.f1, dirty.f1[:ROWS])
    assert np.array_equal(plain.needed, dirty.needed)
    assert not dirty.f1[ROWS:].any()


@pytest.mark.parametrize("count", [0, 1, 5, 31, 32])
def test_is_target_finds_members_only(rng, count):
    pairs = sorted(divmod(int(code), 12) for code in rng.choice(48, count, replace=False))
    row, node = (np.full(32, fill, np.int32) for fill in (-1, -1))
    node[count:] = rng.integers(12, size=32 - count)
    for slot, pair in enumerate(pairs):
        row[slot], node[slot] = pair
    targets = Targets(row, node, np.zeros(4, np.int32))
    asked_row, asked_node = (grid.ravel().astype(np.int32) for grid in np.mgrid[:5, -1:13])
    got = member(asked_row, asked_node, targets)
    expected = [pair in pairs for pair in zip(asked_row.tolist(), asked_node.tolist())]
    assert got.tolist() == expected
