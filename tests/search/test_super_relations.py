"""The search against its brute-force twin, equation by equation, and the paper's two theorems."""

import functools
import itertools

import jax
import numpy as np
import pytest
from brute_force import walk_fault
from programs import frontier_of, random_topics
from super_brute_force import connects, members, search_by_hand

from jaxkg.search.super_relations import conclude, super_search
from jaxkg.select import witness_paths
from jaxkg.systems.reknos.super_relations import SuperRelations

pytestmark = pytest.mark.slow

QUESTIONS, HOPS, WIDTH, KEEP, GROUPS = 4, 3, 2, 2, 4
EDGES = 4096


@functools.partial(jax.jit, static_argnames=("revisit", "edges", "backward"))
def found(
    graph, starts, group, scores, enough, floor, connections=None,
    *, revisit="topic", edges=EDGES, backward=True,
):  # fmt: skip
    """The whole search in one program."""
    return super_search(
        graph,
        starts,
        group,
        lambda search, options, memo: scores[len(search.sets)],
        num_questions=QUESTIONS,
        num_groups=GROUPS,
        width=WIDTH,
        hops=HOPS,
        capacities=(2048, 2048, edges) * HOPS,
        grow=lambda search, memo: (enough[len(search.sets) - 1], memo),
        connections=connections,
        backward=backward,
        floor=floor,
        revisit=revisit,
    ).search


concluded = functools.partial(jax.jit, static_argnames=("keep", "shorter"))(conclude)
witnessed = jax.jit(witness_paths)


def searched(graph, starts, group, scores, *, enough=None, floor=0.0, shorter=True, **options):
    """The search, its conclusion, and a walk for every entity extracted."""
    enough = np.zeros((HOPS, QUESTIONS), bool) if enough is None else enough
    search = found(graph, starts, group, scores, enough, np.float32(floor), **options)
    best = concluded(search, keep=KEEP, shorter=shorter)
    slots = np.cumsum([0, *(level.row.shape[0] for level in search.trail[1:])])
    masks = (
        np.zeros(search.trail[0].row.shape, bool),
        *(best.extracted_by[a:b] != -1 for a, b in itertools.pairwise(slots)),
    )
    return jax.device_get((search, best, witnessed(search.trail, masks)))


def grouping(rng, codes=6):
    """Every super-relation has a member."""
    more = rng.integers(GROUPS, size=codes - GROUPS)
    return rng.permutation(np.concatenate([np.arange(GROUPS), more]))


def scene(world, rng):
    topics = random_topics(rng, QUESTIONS, most=2)
    group = grouping(rng).astype(np.int32)
    # Sixteenths: sums and ties are exact.
    scores = (rng.integers(1, 16, (HOPS, QUESTIONS, GROUPS)) / 16).astype(np.float32)
    return topics, group, scores


def twin_of(world, drawn, question, **options):
    topics, group, scores = drawn
    return search_by_hand(
        world.facts,
        topics[question],
        group.tolist(),
        lambda step, g: float(scores[step, question, g]),
        width=WIDTH,
        hops=HOPS,
        **options,
    )


def number(path):
    """The number of a path: its places as digits."""
    return int("".join(map(str, path)) or "0", WIDTH)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("revisit", ["topic", "any"])
def test_every_equation_agrees_with_brute_force(random_graph, rng, seed, revisit):
    world = random_graph(seed)
    drawn = scene(world, rng)
    topics, group, scores = drawn
    search, best, _ = searched(
        world.graph, frontier_of(topics, rng=rng), group, scores, revisit=revisit
    )
    assert not search.overflow
    for question in range(QUESTIONS):
        twin = twin_of(world, drawn, question, revisit=revisit)
        steps = len(twin.sets)
        assert int(search.steps[question]) == steps
        for step in range(steps):
            kept = [g for g in search.sets[step][question].tolist() if g != -1]
            assert int(search.candidates[step][question]) == twin.candidates[step]  # Eq. 1
            assert kept == twin.sets[step]  # Eq. 3 and 4
            weights = search.weights[step][question].tolist()
            assert weights[: len(kept)] == pytest.approx(twin.weights[step])  # Eq. 5
            assert sum(weights) == pytest.approx(1)
            exist = set(np.flatnonzero(search.exist[step + 1][question]).tolist())
            assert exist == {number(path) for path in twin.entities[step + 1]}  # Eq. 6
            for path, total in twin.totals[step + 1].items():  # Eq. 7
                got = float(search.totals[step + 1][question, number(path)])
                assert got == pytest.approx(total)
            assert entities(search, step + 1, question) == {  # Eq. 9
                number(path): nodes for path, nodes in twin.entities[step + 1].items()
            }
        for step in range(steps, HOPS):
            assert (np.asarray(search.sets[step][question]) == -1).all()
            assert not search.exist[step + 1][question].any()
        assert_best(best, search, question, twin)


def entities(search, step, question):
    """Nodes of each path; each node once a path."""
    level = search.trail[step]
    rows = WIDTH**step
    found = {}
    for row, node, valid in zip(level.row.tolist(), level.node.tolist(), level.valid.tolist()):
        if valid and row // rows == question:
            nodes = found.setdefault(row % rows, set())
            assert node not in nodes
            nodes.add(node)
    return found


def assert_best(best, search, question, twin):
    """Eq. 8, for each length, and what the best paths extract."""
    wanted, sizes = {}, np.cumsum([0, *(level.row.shape[0] for level in search.trail[1:])])
    for step in range(1, HOPS + 1):
        paths = twin.best(step, KEEP) if step < len(twin.totals) else []
        for rank in range(KEEP):
            place = (step - 1) * KEEP + rank
            groups = [g for g in best.groups[question, place].tolist() if g != -1]
            if rank < len(paths):
                assert tuple(groups) == twin.groups(paths[rank])
                assert float(best.score[question, place]) == pytest.approx(
                    twin.totals[step][paths[rank]]
                )
                wanted[place] = twin.entities[step][paths[rank]]
            else:
                assert groups == []
                assert float(best.score[question, place]) == 0
    got = {}
    for step in range(1, HOPS + 1):
        level = search.trail[step]
        by = np.asarray(best.extracted_by)[sizes[step - 1] : sizes[step]]
        mine = (np.asarray(level.row) // WIDTH**step == question) & (by != -1)
        for place, node in zip(by[mine].tolist(), np.asarray(level.node)[mine].tolist()):
            got.setdefault(place, set()).add(node)
    assert got == wanted


@pytest.mark.parametrize("seed", range(8))
def test_a_search_path_leads_to_a_super_relation_path_that_grounds(random_graph, rng, seed):
    """Theorems 4.1 and 4.2; the walks are checked edge by edge."""
    world = random_graph(seed)
    drawn = scene(world, rng)
    topics, group, scores = drawn
    search, best, found = searched(world.graph, frontier_of(topics, rng=rng), group, scores)
    grounded = set()
    place, rows = np.asarray(best.extracted_by), []
    for step in range(1, HOPS + 1):
        level = search.trail[step]
        rows.append(np.asarray(level.row) // WIDTH**step)
    question = np.concatenate(rows)
    for slot in np.flatnonzero(found.valid).tolist():
        asked, path = int(question[slot]), int(place[slot])
        groups = [g for g in best.groups[asked, path].tolist() if g != -1]
        allowed = [members(group.tolist(), g) for g in groups]
        walk, end = found.edges[slot].tolist(), int(found.node[slot])
        fault = walk_fault(world.facts, walk, topics[asked], allowed, end, "topic")
        assert fault is None, fault
        assert sum(edge != -1 for edge in walk) == len(groups)
        grounded.add((asked, path))
    for asked in range(QUESTIONS):
        steps = int(search.steps[asked])
        if steps:
            sets = [[g for g in kept[asked].tolist() if g != -1] for kept in search.sets[:steps]]
            assert any(
                all(connects(world.facts, group, a, b) for a, b in itertools.pairwise(path))
                for path in itertools.product(*sets)
            )
        for path, groups in enumerate(best.groups[asked].tolist()):
            assert ((asked, path) in grounded) == (groups[0] != -1)
            chosen = [g for g in groups if g != -1]
            assert all(connects(world.facts, group, a, b) for a, b in itertools.pairwise(chosen))


@pytest.mark.parametrize("seed", range(4))
def test_candidates_as_printed_take_in_what_was_reached(random_graph, rng, seed):
    world = random_graph(seed)
    topics, group, scores = scene(world, rng)
    starts = frontier_of(topics, rng=rng)
    groups = SuperRelations(tuple("wxyz"), group)
    connections = groups.connections(world.triples)
    wide, _, _ = searched(world.graph, starts, group, scores, connections=connections)
    near, _, _ = searched(world.graph, starts, group, scores)
    assert np.array_equal(wide.sets[0], near.sets[0])
    for question in range(QUESTIONS):
        for step in range(1, int(wide.steps[question])):
            last = [g for g in wide.sets[step - 1][question].tolist() if g != -1]
            expected = [
                g
                for g in range(GROUPS)
                if any(connects(world.facts, group, one, g) for one in last)
            ]
            assert int(wide.candidates[step][question]) == len(expected)
        if int(near.steps[question]) > 1:
            assert int(near.candidates[1][question]) <= int(wide.candidates[1][question])


def test_a_closed_question_takes_no_further_step(random_graph, rng):
    world = random_graph(3)
    _, group, scores = scene(world, rng)
    topics = [[0], [1], [0, 1], []]
    enough = np.zeros((HOPS, QUESTIONS), bool)
    enough[0, 0] = enough[1, 1] = True
    search, best, _ = searched(world.graph, frontier_of(topics), group, scores, enough=enough)
    whole, all_best, _ = searched(world.graph, frontier_of(topics), group, scores)
    assert search.steps.tolist() == [1, 2, 3, 0]
    assert whole.steps.tolist() == [3, 3, 3, 0]
    for question, steps in enumerate(search.steps.tolist()):
        kept = steps * KEEP
        assert np.array_equal(best.groups[question, :kept], all_best.groups[question, :kept])
        assert (best.groups[question, kept:] == -1).all()
    _, forward, _ = searched(
        world.graph, frontier_of(topics), group, scores, enough=enough, shorter=False
    )
    for question, steps in enumerate([1, 2, 3]):
        lengths = (forward.groups[question] != -1).sum(axis=1)
        assert set(lengths.tolist()) == {0, steps}


def test_without_the_way_back_a_step_goes_on_from_the_best_path_alone(random_graph, rng):
    world = random_graph(5)
    _, group, scores = scene(world, rng)
    starts = frontier_of([[0], [1], [2], [0, 3]])
    every, _, _ = searched(world.graph, starts, group, scores)
    ahead, _, _ = searched(world.graph, starts, group, scores, backward=False)
    for step in range(1, HOPS):
        exist, totals = np.asarray(ahead.exist[step]), np.asarray(ahead.totals[step])
        best = np.where(exist, totals, -1.0).argmax(axis=1)
        onward = np.asarray(ahead.exist[step + 1]).reshape(QUESTIONS, exist.shape[1], -1)
        others = np.arange(exist.shape[1])[None] != best[:, None]
        assert not onward[others].any()
    assert ahead.exist[1].tolist() == every.exist[1].tolist(), "the first step has no way back"
    assert (ahead.walked <= every.walked).all()
    assert (ahead.walked < every.walked).any()


def test_the_search_space_counts_each_edge_once_a_step(random_graph, rng):
    world = random_graph(2)
    topics, group, scores = scene(world, rng)
    drawn = topics, group, scores
    search, _, _ = searched(world.graph, frontier_of(topics), group, scores)
    for question in range(QUESTIONS):
        twin = twin_of(world, drawn, question)
        barred, walked = set(topics[question]), 0
        for step, kept in enumerate(twin.sets):
            nodes = set().union(*twin.entities[step].values())
            codes = {code for g in kept for code in members(group.tolist(), g)}
            # A run that only leads back to topics is not walked.
            runs = [set(world.facts.tails(node, code)) for node in nodes for code in codes]
            walked += sum(len(tails) for tails in runs if tails - barred)
        assert int(search.walked[question]) == walked


def test_overflow_is_told(random_graph, rng):
    world = random_graph(1)
    _, group, scores = scene(world, rng)
    starts = frontier_of([[0]] * QUESTIONS)
    roomy, _, _ = searched(world.graph, starts, group, scores)
    most = max(int(level.needed) for level in roomy.trail[1:])
    short, _, _ = searched(world.graph, starts, group, scores, edges=most - 1)
    assert not roomy.overflow
    assert short.overflow
