import functools
import itertools
import math

import brute_force
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import frontier_of, nodes_of
from random_graphs import repad

from jaxkg.search.relation_beam import Scored, ask, init, search, search_layers, tell
from jaxkg.tensors import edge_tables

QUESTIONS, HOPS, RELATIONS = 2, 3, 2
STOP = 2 * RELATIONS
# 4 codes make at most 64 + 16 + 4 paths of up to three hops.
WIDE, NARROW = 128, 4
ROOM = {WIDE: (1024, 1024, 2048) * HOPS, NARROW: (128, 128, 256) * HOPS}
STATIC = ("width", "hops", "capacities", "revisit")


def table_scorer(table, beam, options):
    """Scores by question, hop and last relation."""
    hop = beam.hop
    last = beam.relations[:, :, jnp.maximum(hop - 1, 0)]
    last = jnp.where(hop == 0, -1, last)
    question = jnp.arange(QUESTIONS)[:, None]
    return Scored(table[question, hop, last + 1])


@functools.partial(jax.jit, static_argnames=STATIC)
def _searched(graph, starts, table, margin, *, width, hops=HOPS, capacities=None, revisit="topic"):
    return search(
        graph,
        starts,
        functools.partial(table_scorer, table),
        num_questions=QUESTIONS,
        width=width,
        hops=hops,
        capacities=capacities or ROOM[width],
        margin=margin,
        revisit=revisit,
    )


def searched(graph, starts, table, *, margin=math.inf, **sizes):
    """With a margin always, so that searches of one size are one program."""
    return _searched(graph, starts, table, margin, **sizes)


def random_table(rng, eighths=None):
    """[question, hop, last relation + 1, action]; multiples of 1/8 add up exactly, and tie."""
    shape = (QUESTIONS, HOPS, STOP + 1, STOP + 1)
    if eighths:
        return (-rng.integers(eighths, size=shape) / 8).astype(np.float32)
    return np.log(rng.random(shape)).astype(np.float32)


def score_of(table, question):
    def score(path, action):
        return float(table[question, len(path), path[-1] + 1 if path else 0, action])

    return score


def beam_of(beam, question):
    """[(path, score, finished)] of the places that are taken; the others must be empty."""
    taken, beam = [], jax.device_get(beam)
    for place in range(beam.score.shape[1]):
        codes = beam.relations[question, place].tolist()
        path = tuple(itertools.takewhile(lambda code: code != -1, codes))
        score = float(beam.score[question, place])
        assert codes == list(path) + [-1] * (HOPS - len(path))
        assert bool(path) == (score > -math.inf) == bool(beam.finished[question, place])
        taken.append((path, score) if path else None)
    return taken


TOPICS = [[0], [1, 5]]


@pytest.mark.parametrize("revisit", ["topic", "any"])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_every_relation_path_with_its_score(random_graph, rng, seed, revisit):
    world = random_graph(seed, num_relations=RELATIONS)
    table = random_table(rng)
    beam = jax.device_get(
        searched(world.graph, frontier_of(TOPICS, rng=rng), table, width=WIDE, revisit=revisit)
    )
    assert not beam.overflow
    for question, nodes in enumerate(TOPICS):
        expected = {}
        for path in brute_force.relation_paths(world.facts, nodes, HOPS, revisit):
            score = score_of(table, question)
            actions = (*path, STOP)[:HOPS]
            expected[path] = sum(score(path[:hop], action) for hop, action in enumerate(actions))
        taken = [place for place in beam_of(beam, question) if place]
        assert {path for path, _ in taken} == set(expected)
        assert len(taken) == len(expected)
        for path, score in taken:
            assert score == pytest.approx(expected[path], abs=1e-5)
        scores = [score for _, score in taken]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("margin", [math.inf, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_a_narrow_beam_is_that_of_brute_force_place_by_place(random_graph, rng, seed, margin):
    world = random_graph(seed, num_relations=RELATIONS)
    table = random_table(rng, eighths=6)
    beam = searched(world.graph, frontier_of(TOPICS, rng=rng), table, width=NARROW, margin=margin)
    nodes = nodes_of(beam.frontier, QUESTIONS * NARROW)
    for question, topics in enumerate(TOPICS):
        expected = brute_force.beam_search(
            world.facts, topics, score_of(table, question), width=NARROW, hops=HOPS, margin=margin
        )
        assert beam_of(beam, question) == [
            place and (place.path, place.score) for place in expected
        ]
        for place, entry in enumerate(expected):
            reached = nodes[question * NARROW + place]
            assert reached == (entry.nodes if entry else set())


@pytest.mark.parametrize("scorer", ["random", "constant"])
def test_asked_and_told_from_python_it_is_the_same_search(random_graph, rng, scorer):
    world = random_graph(3, num_relations=RELATIONS)
    table = random_table(rng) if scorer == "random" else np.zeros_like(random_table(rng))
    starts = frontier_of(TOPICS)
    inside = searched(world.graph, starts, table, width=NARROW, margin=2.0)

    ask_ = jax.jit(ask, static_argnames="capacity")
    tell_ = jax.jit(tell, static_argnames=("capacities", "margin", "revisit"))
    runs, *room = ROOM[NARROW][:3]
    beam = init(starts, num_questions=QUESTIONS, width=NARROW, hops=HOPS)
    for hop in range(HOPS):
        options, beam = ask_(world.graph, beam, capacity=runs)
        told = np.full((QUESTIONS, NARROW, STOP + 1), np.nan, np.float32)
        for question, place in itertools.product(range(QUESTIONS), range(NARROW)):
            path = [code for code in beam.relations[question, place].tolist() if code != -1]
            if beam.open[question, place]:
                told[question, place] = table[question, hop, path[-1] + 1 if path else 0]
            assert not options[question, place].any() or beam.open[question, place]
        beam = tell_(world.graph, beam, options, told, capacities=tuple(room), margin=2.0)
    outside_leaves, treedef = jax.tree.flatten(beam)
    assert treedef == jax.tree.structure(inside)
    for one, two in zip(jax.tree.leaves(inside), outside_leaves):
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)


def test_a_question_without_a_start_has_an_empty_beam(random_graph, rng):
    world = random_graph(1, num_relations=RELATIONS)
    for topics in ([[], [0]], [[13], [0]]):
        beam = searched(world.graph, frontier_of(topics), random_table(rng), width=NARROW)
        assert beam_of(beam, 0) == [None] * NARROW
        assert any(beam_of(beam, 1))


def test_a_path_whose_only_way_on_leads_back_has_reached_nothing(random_graph):
    # 0 - 1 and nothing else: after one hop the only relation leads back to the topic.
    graph = repad(edge_tables(np.asarray([[0, 0, 1]], np.int32), 2, RELATIONS).graph)
    stop_late = np.zeros((QUESTIONS, HOPS, STOP + 1, STOP + 1), np.float32)
    stop_late[..., STOP] = -5.0
    beam = searched(graph, frontier_of([[0], [1]]), stop_late, width=NARROW)
    assert [place for place in beam_of(beam, 0) if place] == [((0,), -5.0)]
    assert [place for place in beam_of(beam, 1) if place] == [((RELATIONS,), -5.0)]


# Runs of the first hop, nodes and edges of the second.
@pytest.mark.parametrize("step", [0, pytest.param(4, marks=pytest.mark.slow), 5])
def test_too_little_room_is_told_of_exactly_at_the_first_step_that_lacks_it(random_graph, step):
    world = random_graph(2, num_relations=RELATIONS)
    table = np.zeros((QUESTIONS, HOPS, STOP + 1, STOP + 1), np.float32)
    starts = frontier_of(TOPICS)
    roomy = searched(world.graph, starts, table, width=NARROW)
    wanted = roomy.needed.tolist()
    hops = 1 + step // 3
    room = list(ROOM[NARROW][: 3 * hops])
    room[step] = wanted[step] - 1
    tight = searched(world.graph, starts, table, width=NARROW, hops=hops, capacities=tuple(room))
    assert not roomy.overflow
    assert tight.overflow
    assert tight.needed.tolist()[: step + 1] == wanted[: step + 1]


def test_needed_counts_what_brute_force_walks(random_graph):
    world = random_graph(2, num_relations=RELATIONS)
    beam = searched(
        world.graph,
        frontier_of(TOPICS),
        np.zeros((QUESTIONS, HOPS, STOP + 1, STOP + 1), np.float32),
        width=WIDE,
    )
    codes = world.facts.codes
    layers = [{(): set(topics)} for topics in TOPICS]
    for hop in range(HOPS):
        nodes = [node for layer in layers for some in layer.values() for node in some]
        copies = [
            (node, code)
            for layer in layers
            for some in layer.values()
            for code in {c for node in some for c in codes(node)}
            for node in some
        ]
        expected = [
            sum(len(codes(node)) for node in nodes),
            len(copies),
            sum(len(world.facts.tails(*copy)) for copy in copies),
        ]
        assert beam.needed[3 * hop : 3 * hop + 3].tolist() == expected
        every = [brute_force.relation_paths(world.facts, topics, hop + 1) for topics in TOPICS]
        layers = [{p: some for p, some in paths.items() if len(p) == hop + 1} for paths in every]


@pytest.mark.slow
def test_a_memo_follows_its_path_and_a_scorers_own_steps_are_counted(random_graph, rng):
    """A scorer that carries a number along each path does what one does that reads it anew, also
    where all hops are one in a loop."""
    world = random_graph(3, num_relations=RELATIONS)
    rows = random_table(rng)[0, 0]
    turn = 3 * HOPS

    def table(number):
        return jnp.asarray(rows)[number % len(rows)]

    def carried(beam, options, slots):
        number = jnp.zeros(beam.score.shape, jnp.int32)
        if beam.memo is not None:
            last = beam.relations[:, :, beam.hop - 1]
            number = jnp.where(last == -1, beam.memo, turn * beam.memo + last + 1)
        wanted = jnp.sum(jnp.where(beam.open, 1, 0), dtype=jnp.int32)
        return Scored(table(number), number, wanted[None], wanted > slots)

    def anew(beam, options, slots):
        number = jnp.zeros(beam.score.shape, jnp.int32)
        for hop in range(HOPS):
            code = beam.relations[:, :, hop]
            number = jnp.where(code == -1, number, turn * number + code + 1)
        return Scored(table(number), needed=jnp.zeros(1, jnp.int32))

    def sizes(slots):
        room = (128, slots, 128, 256) * HOPS
        return {"num_questions": QUESTIONS, "width": NARROW, "hops": HOPS, "capacities": room}

    @functools.partial(jax.jit, static_argnames=("score", "slots"))
    def run(graph, starts, score, slots):
        return search_layers(graph, starts, score, **sizes(slots))

    @functools.partial(jax.jit, static_argnames="slots")
    def looped(graph, starts, slots):
        memo = jnp.zeros((QUESTIONS, NARROW), jnp.int32)
        return search(graph, starts, carried, memo=memo, **sizes(slots))

    starts = frontier_of(TOPICS)
    both = (run(world.graph, starts, f, 8) for f in (carried, anew))
    (layers, one), (_, other) = map(jax.device_get, both)
    assert np.array_equal(one.relations, other.relations)
    np.testing.assert_allclose(one.score, other.score, rtol=1e-6)
    opened = [int(layer.beam.open.sum()) for layer in layers]
    assert opened[0] == QUESTIONS < max(opened)
    rolled = looped(world.graph, starts, 8)
    for name in ("relations", "score", "finished", "hop", "needed", "overflow", "memo"):
        assert np.array_equal(getattr(one, name), getattr(rolled, name)), name
    assert looped(world.graph, starts, max(opened) - 1).overflow
    assert one.needed.reshape(HOPS, 4)[:, 1].tolist() == opened
    assert not one.overflow
    _, tight = run(world.graph, starts, carried, max(opened) - 1)
    assert tight.overflow
    for layer, after in zip(layers, (*(layer.beam for layer in layers[1:]), one)):
        for question, place in itertools.product(range(QUESTIONS), range(NARROW)):
            path = [code for code in after.relations[question, place].tolist() if code != -1]
            if len(path) == int(layer.beam.hop) + 1:
                parents = layer.beam.relations[question].tolist()
                parent = next(w for w, p in enumerate(parents) if p[: len(path) - 1] == path[:-1])
                assert layer.options[question, parent, path[-1]]
