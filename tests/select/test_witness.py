import brute_force
import numpy as np
import pytest
from programs import ROWS, allowed_of, executed, frontier_of, random_plan, random_topics


@pytest.mark.parametrize("revisit", ["topic", "none", "any"])
@pytest.mark.parametrize("seed", range(4))
def test_every_answer_has_one_walk_that_proves_it(random_graph, rng, seed, revisit):
    world = random_graph(seed)
    topics = random_topics(rng)
    plan = random_plan(rng, 2 * world.num_relations)
    starts = frontier_of(topics, rng=rng)
    _, _, found = executed(world.graph, starts, plan, revisit=revisit)
    there = np.asarray(found.valid)
    rows, nodes = np.asarray(found.row)[there], np.asarray(found.node)[there]
    got = list(zip(rows.tolist(), nodes.tolist()))
    expected = {
        (row, node)
        for row in range(ROWS)
        for node in brute_force.answers(world.facts, topics[row], allowed_of(plan, row), revisit)
    }
    assert len(got) == len(set(got))
    assert set(got) == expected
    assert expected
    for (row, node), walk in zip(got, np.asarray(found.edges)[there].tolist()):
        allowed = allowed_of(plan, row)
        fault = brute_force.walk_fault(world.facts, walk, topics[row], allowed, node, revisit)
        assert fault is None
        length = next((hop for hop, codes in enumerate(allowed) if not codes), len(allowed))
        assert sum(edge != -1 for edge in walk) == length


def test_masks_and_frontiers_must_be_as_many(random_graph):
    from jaxkg.select import witness_paths

    world = random_graph(0)
    trail, masks, _ = executed(world.graph, frontier_of([[0]]), np.zeros((ROWS, 3, 3), np.int32))
    with pytest.raises(AssertionError):
        witness_paths(trail, masks[1:])
