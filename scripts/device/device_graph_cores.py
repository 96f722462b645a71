"""The cores that walk synthetic graphs and hypergraphs, with what each must do at least."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from device_counts import Count, best_in_group, looked_up, ragged, unique, vectors, walked

from jaxkg.candidates import Targets, expand, follow, relation_paths, start
from jaxkg.candidates.hyperedges import members_of, overlaps
from jaxkg.evaluate.synthetic import (
    QuestionConfig,
    WorldConfig,
    make_hypergraph,
    make_questions,
    make_world,
)
from jaxkg.search.hyperedges import BeamSettings, Texts, explore
from jaxkg.search.relation_beam import Scored, search
from jaxkg.tensors import bucket, pad, starts_table, tensor_graph
from jaxkg.tensors.hypergraph import tensor_hypergraph
from jaxkg.types import Graph

_WALK = (
    "a slot is found by running sums, several passes that wait for one another, and filled by five "
    "gathers of single numbers"
)
_UNIQUE = (
    "uniqueness goes through a hash table of 16 bytes a slot that is filled, written to at random "
    "and read back, in rounds"
)

_DRAWN = 8192
"""Questions that are drawn; of more than that the same are asked again."""


class Core(NamedTuple):
    """A core ready to be timed."""

    name: str
    unit: str
    items: float
    run: Callable[[], Any]
    work: Count
    bound: str
    """What bounds it where its share of the limit is small."""
    table: int = 1 << 18
    """Numbers of the array that most of its random accesses go to."""
    width: int = 1
    """Numbers of each such access."""


Makers: TypeAlias = Iterator[tuple[str, Callable[[], Core]]]
"""Names of cores, each with what makes it."""


def compiled(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """The function compiled for these arguments, which are on the device."""
    placed = jax.device_put(arguments)
    program = jax.jit(function).lower(*placed).compile()
    return lambda: program(*placed)


def fitted(
    function: Callable[..., Any], arguments: tuple[Any, ...], slots: tuple[int, ...]
) -> tuple[Callable[[], Any], tuple[int, ...], list[int]]:
    """Compile with the capacities that a first run says are needed.

    Args:
        function: of the arguments, then `capacities`; returns a pytree and the slots needed.
        arguments: on the device.
        slots: capacities to begin with, large enough for the first step.

    Returns:
        The compiled call, its capacities, and what was needed.
    """
    while True:
        run = compiled(functools.partial(function, capacities=slots), *arguments)
        needed = np.asarray(run()[1]).tolist()
        fits = tuple(bucket(wanted, steps=4) for wanted in needed)
        if fits == slots:
            return run, slots, needed
        short = next((i for i, wanted in enumerate(needed) if wanted > slots[i]), len(slots))
        # What the steps after one that overflowed need is not known yet.
        later = zip(slots[short + 1 :], fits[short + 1 :])
        slots = (*fits[: short + 1], *map(max, later))


def graph_cores(edges: int, questions: int, times: int, seed: int) -> Makers:
    """The steps over a graph: expand, follow, relation_paths, beam search."""
    world = make_world(WorldConfig(edges=edges, skew=0.8), seed=seed)
    config = QuestionConfig(train=0, test=min(questions, _DRAWN), hops=(3,), paths=24)
    _, drawn = make_questions(world, config, seed=seed)
    asked = [drawn[i % len(drawn)] for i in range(questions)]
    kg, rng = world.graph, np.random.default_rng(seed)
    graph = tensor_graph(kg).graph
    topics = [(kg.entity(question.topics[0]),) for question in asked]
    row, node = starts_table(topics, num_rows=bucket(questions))
    codes = np.array([[kg.relation_code(r) for r in q.paths[0]] for q in asked], np.int32)
    table = pad(codes, bucket(questions))[:, :, None]
    nodes = rng.integers(0, kg.num_entities, 8192 * times).astype(np.int32)
    yield "expand", lambda: _expand(graph, nodes)
    yield "follow", lambda: _follow(graph, row, node, table, questions)
    few = min(questions, 128 * times)
    answers = [sorted(kg.entity(a) for a in q.answers or ()) for q in asked[:few]]
    yield "relation_paths", lambda: _relation_paths(graph, topics[:few], answers)
    yield "beam", lambda: _beam(graph, row, node, 256 * times, rng)


def _expand(graph: Graph, nodes: np.ndarray) -> Core:
    frontier = start(jnp.arange(len(nodes), dtype=jnp.int32), jax.device_put(nodes))

    def run(graph, frontier, capacities):
        found = expand(graph, frontier, capacity=capacities[0])
        return found, found.needed[None]

    call, (slots,), (needed,) = fitted(run, (graph, frontier), (32 * len(nodes),))
    count = walked(len(nodes), slots) + Count(reads=2 * len(nodes))
    return Core("expand", "edges", needed, call, count, _WALK, table=graph.num_edges)


def _follow(
    graph: Graph, row: np.ndarray, node: np.ndarray, table: np.ndarray, questions: int
) -> Core:
    def run(graph, row, node, table, capacities):
        trail = follow(graph, start(row, node), table, capacities=capacities)
        return trail, jnp.stack([frontier.needed for frontier in trail[1:]])

    size = len(row)
    call, slots, _ = fitted(run, (graph, row, node, table), (4 * size, 16 * size, 16 * size))
    count, before = Count(), size
    for capacity in slots:
        count += looked_up(before) + walked(before, capacity) + unique(size + capacity)
        before = capacity
    return Core(
        "follow, 3 hops", "questions", questions, call, count,
        f"{_WALK}; {_UNIQUE}", table=graph.num_edges,
    )  # fmt: skip


def _relation_paths(graph: Graph, topics: list[tuple[int, ...]], answers: list[list[int]]) -> Core:
    rows, keep, hops = bucket(len(topics)), 8, 2
    row, node = starts_table(topics, num_rows=rows)
    goal_row, goal_node = starts_table(answers, num_rows=rows)
    goal_row = np.where(goal_node < 0, -1, goal_row).astype(np.int32)
    size = pad(np.array([len(goal) for goal in answers], np.int32), rows).clip(0)
    targets = Targets(*jax.device_put((goal_row, goal_node, size)))

    def run(graph, row, node, targets, capacities):
        found = relation_paths(
            graph, start(row, node), targets, capacities=capacities, keep=keep, fan_out=64
        )
        return found, found.needed

    first = tuple(rows * slots for slots in (32, 128, 1024, 2048))
    call, slots, _ = fitted(run, (graph, row, node, targets), first)
    # Codes by which targets are entered, and a sieve of each hop's topics and targets.
    ends = np.asarray(graph.run_offsets)
    entered = sum(int(ends[t + 1] - ends[t]) for goal in answers for t in goal)
    known = len(goal_row) + len(row)
    count = ragged(len(goal_row), entered) + Count(reads=2 * entered, writes=entered)
    before = len(row)
    for hop in range(hops):
        runs, edges = slots[2 * hop : 2 * hop + 2]
        count += ragged(before, runs) + Count(bytes=8 * runs, reads=6 * runs + 2 * before)
        count += unique(runs) + walked(runs, edges) + unique(edges)
        count += Count(reads=2 * edges, writes=2 * edges + known)
        count += best_in_group(runs // 8, rows, keep)
        before = edges
    return Core(
        f"relation_paths, {hops} hops", "questions", len(topics), call, count,
        f"{_WALK}; {_UNIQUE}", table=graph.num_edges,
    )  # fmt: skip


def _beam(
    graph: Graph, row: np.ndarray, node: np.ndarray, most: int, rng: np.random.Generator
) -> Core:
    row, node = row[:most], node[:most]
    rows, width, hops = len(row), 4, 3
    codes = 2 * graph.num_relations
    table = rng.normal(size=(hops, rows, 1, codes + 1)).astype(np.float32)

    def run(graph, row, node, table, capacities):
        beam = search(
            graph,
            start(row, node),
            lambda beam, options: Scored(
                jnp.broadcast_to(table[beam.hop], (*beam.score.shape, codes + 1))
            ),
            num_questions=rows,
            width=width,
            hops=hops,
            capacities=capacities,
        )
        return (beam.relations, beam.score), beam.needed

    first = tuple(rows * slots for slots in (8, 8, 32, 128, 32, 256, 1024, 256, 1024))
    call, slots, _ = fitted(run, (graph, row, node, table), first)
    count, before = Count(), rows
    choices = rows * width * (codes + 1)
    for hop in range(hops):
        runs, nodes, edges = slots[3 * hop : 3 * hop + 3]
        # Options out and in, scores in: 6 B a choice. A run marks the option it is.
        count += Count(bytes=6 * choices, reads=2 * before) + ragged(before, runs)
        count += Count(bytes=4 * runs, reads=3 * runs, writes=runs)
        count += ragged(rows * width, nodes) + Count(bytes=8 * nodes, reads=4 * nodes)
        count += looked_up(nodes) + walked(nodes, edges) + unique(rows + edges) + unique(edges)
        before = edges
    return Core(
        f"beam search, width {width}, {hops} hops", "questions", rows, call, count,
        f"some twenty steps a hop over short lists, one after the other; {_UNIQUE}",
        table=graph.num_edges,
    )  # fmt: skip


def hypergraph_cores(hyperedges: int, times: int, seed: int) -> Makers:
    """Neighbours of hyperedges, and PRoH's beam over them."""
    world = make_world(WorldConfig(edges=2 * hyperedges), seed=seed)
    hyper = make_hypergraph(world, hyperedges, skew=0.5, seed=seed)
    tensors, rng = tensor_hypergraph(hyper), np.random.default_rng(seed)
    graph = tensors.graph
    chosen = rng.integers(0, hyper.num_edges, 1024 * times).astype(np.int32)

    def neighbours() -> Core:
        def run(graph, edge, capacities):
            every = jnp.ones(edge.shape[0], bool)
            members = members_of(graph, edge, every, capacity=capacities[0])
            found = overlaps(graph, edge, members, members.valid, capacity=capacities[1])
            return found, jnp.stack([members.needed, found.needed])

        call, slots, needed = fitted(run, (graph, chosen), (8 * len(chosen), 256 * len(chosen)))
        count = _members(len(chosen), slots[0]) + _neighbours(slots[0], slots[1])
        return Core(
            "hyperedge neighbours", "neighbours", needed[1], call, count,
            f"{_WALK}; {_UNIQUE}", table=len(graph.member),
        )  # fmt: skip

    def beam() -> Core:
        dim, rows = 64, 64 * times
        settings = BeamSettings(depth=2, width=8, seeds=16, threshold=0.1)

        def unit(count: int, size: int) -> np.ndarray:
            drawn = rng.standard_normal((count, dim), np.float32)
            return pad(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), size)

        made = (
            unit(rows, rows),
            unit(hyper.num_entities, graph.num_nodes),
            unit(hyper.num_edges, graph.num_edges),
            np.ones(graph.num_nodes, np.float32),
            np.zeros((0, 0), np.float32),
        )
        texts = Texts(*jax.device_put(made))
        topic = np.asarray(hyper.members)[rng.integers(0, len(hyper.members), rows)]
        row, none = np.arange(rows, dtype=np.int32), np.full(rows, -1, np.int32)
        bonus = np.zeros(rows, np.float32)

        def run(graph, texts, row, topic, none, bonus, capacities):
            found = explore(
                graph, texts, row, topic, row, none, bonus,
                settings=settings, capacities=capacities,
            )  # fmt: skip
            return found, found.needed

        first = (64 * rows, *((128 * rows, 2048 * rows) * settings.depth), 256 * rows)
        call, slots, _ = fitted(run, (graph, texts, row, topic, none, bonus), first)
        count = _neighbours(rows, slots[0]) + vectors(slots[0], dim)
        count += best_in_group(slots[0], rows, settings.seeds)
        places = rows * settings.seeds
        for step in range(settings.depth):
            members, found = slots[1 + 2 * step : 3 + 2 * step]
            count += _members(places, members) + vectors(members, dim)
            count += _neighbours(members, found) + Count(bytes=8 * found, writes=found)
            # A direction is compared with the path it extends; directions to one hyperedge merge.
            count += Count(bytes=4 * (settings.depth + 1) * found, reads=2 * found)
            count += unique(found) + best_in_group(found, rows, settings.width)
            places = rows * settings.width
        kept = slots[-1]
        count += _members(places, kept) + vectors(kept, dim) + unique(kept)
        return Core(
            f"hyper-beam, depth {settings.depth}", "questions", rows, call, count,
            f"{settings.seeds} and {settings.width} rounds of a grouped maximum over all "
            f"directions, two scatters each; {_UNIQUE}",
            table=len(graph.member),
        )  # fmt: skip

    yield "hyperedges", neighbours
    yield "hyper-beam", beam


def _members(edges: int, slots: int) -> Count:
    """`members_of`: a hyperedge's stretch in (8 B), node and mask out (13 B a slot)."""
    return ragged(edges, slots) + Count(bytes=8 * edges + 8 * slots, reads=2 * edges + 2 * slots)


def _neighbours(members: int, slots: int) -> Count:
    """`overlaps`: hyperedges of entities, and each (hyperedge, neighbour) once."""
    return _members(members, slots) + unique(slots) + Count(reads=2 * slots)
