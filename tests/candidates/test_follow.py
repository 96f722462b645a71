import functools
import itertools

import brute_force
import jax
import numpy as np
import pytest
from programs import (
    HOPS,
    ROOMY,
    ROWS,
    STARTS,
    WIDTH,
    allowed_of,
    executed,
    frontier_of,
    nodes_of,
    random_plan,
    random_topics,
)
from random_graphs import EDGES, NODES, RUNS, repad

from jaxkg.candidates import follow, path_length, visits

RULES = ["topic", "none", "any"]


@pytest.mark.parametrize("revisit", RULES)
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_brute_force(random_graph, rng, seed, revisit):
    world = random_graph(seed)
    topics = random_topics(rng)
    plan = random_plan(rng, 2 * world.num_relations)
    trail, masks, _ = executed(world.graph, frontier_of(topics, rng=rng), plan, revisit=revisit)
    hops = [nodes_of(frontier, ROWS) for frontier in trail]
    reached = [
        set().union(*some) for some in zip(*(nodes_of(*both) for both in ends(trail, masks)))
    ]
    for row, nodes in enumerate(topics):
        allowed = allowed_of(plan, row)
        assert [h[row] for h in hops] == brute_force.follow(world.facts, nodes, allowed, revisit)
        assert reached[row] == brute_force.answers(world.facts, nodes, allowed, revisit)
    assert not any(frontier.overflow for frontier in trail)


@pytest.mark.parametrize("revisit", RULES)
def test_what_every_row_visits_is_counted(random_graph, rng, revisit):
    world = random_graph(3)
    topics = random_topics(rng)
    plan = random_plan(rng, 2 * world.num_relations)
    trail, _, _ = executed(world.graph, frontier_of(topics, rng=rng), plan, revisit=revisit)
    edges = world.facts.edges
    hops = [nodes_of(frontier, ROWS) for frontier in trail]
    for hop, (before, after) in enumerate(itertools.pairwise(hops)):
        found = jax.jit(visits, static_argnames="num_rows")(trail[hop + 1], num_rows=ROWS)
        for row, (nodes, walked) in enumerate(np.asarray(found).tolist()):
            allowed = allowed_of(plan, row)[hop]
            assert nodes == len(after[row])
            assert walked == sum(h in before[row] and r in allowed for h, r, _ in edges)


def ends(trail, masks):
    return ((frontier, ROWS, mask) for frontier, mask in zip(trail, masks, strict=True))


@pytest.mark.parametrize("revisit", ["topic", "any"])
def test_hops_of_one_size_are_one_hop_in_a_loop(random_graph, rng, revisit):
    world = random_graph(4)
    plan = random_plan(rng, 2 * world.num_relations)
    starts = frontier_of(random_topics(rng), rng=rng)
    alike, apart = (
        executed(world.graph, starts, plan, capacities=room, revisit=revisit)
        for room in (ROOMY, (*ROOMY[:-1], ROOMY[-1] + 8))
    )
    for one, other in zip(alike[0], apart[0], strict=True):
        size = one.row.shape[0]
        assert int(one.needed) == int(other.needed)
        there = np.asarray(one.valid)
        assert np.array_equal(there, other.valid[:size])
        for name in ("row", "node", "edge", "parent"):
            columns = (np.asarray(getattr(f, name))[:size][there] for f in (one, other))
            assert np.array_equal(*columns), name
    assert alike[0][-1].valid.any()


@pytest.mark.parametrize("revisit", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_back_pointers_lead_along_walks_that_obey_the_rule(random_graph, rng, seed, revisit):
    world = random_graph(seed)
    topics = random_topics(rng)
    plan = random_plan(rng, 2 * world.num_relations)
    trail, _, _ = executed(world.graph, frontier_of(topics, rng=rng), plan, revisit=revisit)
    walks = 0
    for hop in range(1, HOPS + 1):
        for slot in np.flatnonzero(trail[hop].valid):
            row, node = int(trail[hop].row[slot]), int(trail[hop].node[slot])
            walk, at = [], slot
            for level in range(hop, 0, -1):
                assert trail[level].row[at] == row
                walk.insert(0, int(trail[level].edge[at]))
                at = int(trail[level].parent[at])
            assert trail[0].valid[at]
            assert trail[0].node[at] == world.facts.edges[walk[0]][0]
            fault = brute_force.walk_fault(
                world.facts, walk, topics[row], allowed_of(plan, row), node, revisit
            )
            assert fault is None
            walks += 1
    assert walks > 10


@pytest.mark.parametrize("revisit", RULES)
def test_rows_stay_grouped_in_ascending_order(random_graph, rng, revisit):
    world = random_graph(1)
    plan = random_plan(rng, 2 * world.num_relations)
    trail, _, _ = executed(world.graph, frontier_of(random_topics(rng)), plan, revisit=revisit)
    for frontier in trail:
        assert (np.diff(np.asarray(frontier.row)[np.asarray(frontier.valid)]) >= 0).all()


@pytest.mark.parametrize("hop", [1, 2])
def test_too_little_room_is_told_of_exactly_at_the_first_hop_that_lacks_it(random_graph, hop):
    world = random_graph(2)
    topics = [[0, 1, 2]] * ROWS
    plan = np.broadcast_to(np.asarray([0, 3, -1], np.int32), (ROWS, HOPS, WIDTH))
    starts = frontier_of(topics)
    roomy, _, _ = executed(world.graph, starts, plan)
    plan = plan[:, :2]
    wanted = [int(frontier.needed) for frontier in roomy[1:]]
    short = wanted[hop - 1] - 1
    capacities = (*ROOMY[: hop - 1], short, *ROOMY[hop:2])
    tight, _, _ = executed(world.graph, starts, plan, capacities=capacities)
    assert [bool(frontier.overflow) for frontier in tight] == [h == hop for h in range(3)]
    assert [int(frontier.needed) for frontier in tight[1 : hop + 1]] == wanted[:hop]
    assert int(tight[hop].valid.sum()) <= short


def test_padding_does_not_show(random_graph, rng):
    world = random_graph(3)
    topics = random_topics(rng)
    plan = random_plan(rng, 2 * world.num_relations)
    plain = executed(world.graph, frontier_of(topics), plan, revisit="none")
    bigger = repad(world.graph, nodes=2 * NODES, edges=4 * EDGES, runs=2 * RUNS, garbage=rng)
    rows = 2 * ROWS
    more = np.full((rows, HOPS, 2 * WIDTH), -1, np.int32)
    more[:ROWS, :, 1::2] = plan
    more[ROWS:] = rng.integers(2 * world.num_relations, size=(ROWS, HOPS, 1))
    starts = frontier_of(topics, size=2 * STARTS, rng=rng)
    roomier = tuple(2 * c for c in ROOMY)
    dirty = executed(bigger, starts, more, capacities=roomier, revisit="none")
    for one, two in zip(plain[0][1:], dirty[0][1:]):
        for name in ("row", "node", "edge"):
            kept = [np.asarray(getattr(f, name))[np.asarray(f.valid)] for f in (one, two)]
            assert np.array_equal(*kept), name
        assert int(one.needed) == int(two.needed)


def test_path_length_counts_the_hops_before_the_first_that_allows_nothing():
    plan = np.asarray(
        [
            [[-1, -1], [-1, -1], [-1, -1]],
            [[-1, 4], [-1, -1], [-1, -1]],
            [[0, -1], [-1, 3], [-1, -1]],
            [[0, 1], [2, 3], [4, -1]],
            [[0, -1], [-1, -1], [5, -1]],
            [[-1, -1], [1, 2], [5, -1]],
        ],
        np.int32,
    )
    assert path_length(jax.numpy.asarray(plan)).tolist() == [0, 1, 2, 3, 1, 0]


def test_capacities_are_one_a_hop(random_graph):
    world = random_graph(0)
    plan = jax.numpy.zeros((ROWS, 2, 1), jax.numpy.int32)
    with pytest.raises(ValueError, match="2 hops require as many capacities"):
        follow(world.graph, frontier_of([[0]]), plan, capacities=(8, 8, 8))


def test_an_unknown_rule_is_refused(random_graph):
    world = random_graph(0)
    plan = jax.ShapeDtypeStruct((ROWS, 1, 1), np.int32)
    once = functools.partial(follow, capacities=(64,), revisit="once")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'once'"):
        jax.eval_shape(once, world.graph, frontier_of([[0]]), plan)
