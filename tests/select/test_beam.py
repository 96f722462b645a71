import functools
import math

import brute_force
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import ROWS, allowed_of, executed, frontier_of, random_plan, random_topics
from random_graphs import INT32

from jaxkg.select import best_in_rows, choose

pick = functools.partial(jax.jit, static_argnames="width")(choose)
score = st.sampled_from([-math.inf, -math.inf, -2.0, -1.0, -0.5, 0.0, 1.5])
BATCH, PATHS, ACTIONS = 2, 3, 4
table = st.lists(
    st.lists(st.lists(score, min_size=ACTIONS, max_size=ACTIONS), min_size=PATHS, max_size=PATHS),
    min_size=BATCH,
    max_size=BATCH,
)


@given(table, st.sampled_from([1, 5, 12, 16]), st.sampled_from([0.0, 0.5, 2.0, math.inf]))
def test_agrees_with_brute_force(scores, width, margin):
    got = pick(np.asarray(scores, np.float32), width=width, margin=margin)
    assert got.score.shape == (BATCH, width)
    for question in range(BATCH):
        expected = brute_force.choose(scores[question], width, margin)
        valid = np.asarray(got.valid[question])
        assert valid.tolist() == [True] * len(expected) + [False] * (width - len(expected))
        kept = [
            np.asarray(c[question])[valid].tolist() for c in (got.parent, got.action, got.score)
        ]
        assert list(zip(*kept)) == expected
        assert (np.asarray(got.score[question])[~valid] == -math.inf).all()
        assert (np.asarray(got.parent[question])[~valid] == 0).all()
        assert (np.asarray(got.action[question])[~valid] == 0).all()


def test_the_margin_is_each_questions_own():
    scores = jnp.asarray([[[0.0, -1.0, -3.0]], [[-10.0, -11.0, -13.0]]])
    got = choose(scores, width=3, margin=1.0)
    assert got.valid.tolist() == [[True, True, False]] * 2


def test_scores_are_of_questions_paths_and_actions():
    with pytest.raises(AssertionError):
        choose(jnp.zeros((2, 3)), width=1)


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


SLOTS, GROUPS = 40, 5


@functools.partial(jax.jit, static_argnames="most")
def best(row, valid, values, *, most):
    """What stays, and the slots that were scored."""
    asked = []

    def score(slot):
        asked.append(slot)
        return values[slot]

    return best_in_rows(row, valid, score, num_rows=GROUPS, most=most), asked[0]


@pytest.mark.parametrize("most", [1, 3, SLOTS])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_every_row_stay_and_only_crowded_rows_are_scored(most, seed):
    draw = np.random.default_rng(seed)
    valid = draw.random(SLOTS) < 0.8
    # Row 0 is a hub, row 4 has nothing; what stands in the holes is anything.
    row = np.where(valid, draw.choice(4, SLOTS, p=[0.6, 0.2, 0.1, 0.1]), 0).astype(np.int32)
    row[~valid] = draw.integers(INT32.min, INT32.max, (~valid).sum())
    values = draw.integers(-3, 3, SLOTS).astype(np.float32)  # with many ties
    stays, scored = best(row, valid, values, most=most)
    expected, crowded = set(), []
    for each in range(GROUPS):
        slots = [s for s in range(SLOTS) if valid[s] and row[s] == each]
        expected |= set(sorted(slots, key=lambda s: (-values[s], s))[:most])
        crowded += slots if len(slots) > most else []
    assert set(np.flatnonzero(stays).tolist()) == expected
    assert scored.tolist() == sorted(crowded) + [-1] * (SLOTS - len(crowded))
