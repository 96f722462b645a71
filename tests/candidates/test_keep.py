"""A cap on the targets of every path: `follow` and `advance` against sorting in plain Python."""

import functools

import jax
import numpy as np
import pytest
from programs import (
    HOPS,
    ROOMY,
    ROWS,
    allowed_of,
    frontier_of,
    nodes_of,
    random_plan,
    random_topics,
)
from random_graphs import EDGES

from jaxkg.candidates import advance, follow
from jaxkg.select import best_in_rows

PATHS, PER_QUESTION, SIZE = 8, 2, 64
ALL = 1024


def best_of(values, hop, edges, *, most):
    return best_in_rows(
        edges.row, edges.valid, lambda slot: values[hop][edges.edge[slot]], num_rows=ROWS, most=most
    )


@functools.partial(jax.jit, static_argnames=("most", "revisit"))
def followed(graph, starts, relations, values, *, most=None, revisit="topic"):
    keep = most and functools.partial(best_of, values, most=most)
    return follow(graph, starts, relations, capacities=ROOMY, revisit=revisit, keep=keep)


@functools.partial(jax.jit, static_argnames="most")
def advanced(graph, frontier, starts, parent, relation, values, *, most):
    return advance(
        graph,
        frontier,
        starts,
        parent,
        relation,
        rows_per_question=PER_QUESTION,
        capacities=(128, 512),
        keep=functools.partial(best_of, values, 0, most=most),
    )


def worth(rng, hops=HOPS):
    """[hops, E] numbers, no two alike."""
    return rng.permutation(hops * EDGES).reshape(hops, EDGES).astype(np.float32)


def best_edges(facts, nodes, codes, barred, values, most):
    """Ids of the edges that a path keeps, best first."""
    edges = [i for node in nodes for i in facts.leaving(node) if facts.edges[i][1] in codes]
    allowed = [i for i in edges if facts.edges[i][2] not in barred]
    return sorted(allowed, key=lambda i: -values[i])[:most]


@pytest.mark.parametrize("revisit", ["topic", "none"])
@pytest.mark.parametrize("seed", range(6))
def test_follow_goes_on_from_the_best_targets_alone(random_graph, rng, seed, revisit):
    world, values = random_graph(seed), worth(rng)
    topics, plan = random_topics(rng), random_plan(rng, 2 * random_graph(seed).num_relations)
    starts = frontier_of(topics, rng=rng)
    trail = followed(world.graph, starts, plan, values, most=2, revisit=revisit)
    hops = [nodes_of(frontier, ROWS) for frontier in trail]
    cut = 0
    for row, nodes in enumerate(topics):
        reached = [set(nodes)]
        for hop, codes in enumerate(allowed_of(plan, row)):
            barred = reached[0] if revisit == "topic" else set().union(*reached)
            kept = best_edges(world.facts, reached[-1], codes, barred, values[hop], 2)
            whole = best_edges(world.facts, reached[-1], codes, barred, values[hop], ALL)
            cut += len(whole) - len(kept)
            reached.append({world.facts.edges[edge][2] for edge in kept})
            here = np.asarray(trail[hop + 1].valid) & (np.asarray(trail[hop + 1].row) == row)
            assert set(np.asarray(trail[hop + 1].edge)[here].tolist()) <= set(kept)
        assert [some[row] for some in hops] == reached
    assert cut


@pytest.mark.parametrize("seed", range(4))
def test_paths_grow_to_their_best_targets_alone(random_graph, rng, seed):
    world, values = random_graph(seed), worth(rng, 1)
    nodes = random_topics(rng, PATHS)
    topics = [rng.choice(12, 5, replace=False).tolist() for _ in range(PATHS // PER_QUESTION)]
    parent = (np.arange(PATHS) // PER_QUESTION * PER_QUESTION).astype(np.int32)
    relation = rng.integers(-1, 6, PATHS).astype(np.int32)
    frontier, _ = advanced(
        world.graph,
        frontier_of(nodes, size=SIZE, rng=rng),
        frontier_of(topics, rng=rng),
        parent,
        relation,
        values,
        most=2,
    )
    for path, found in enumerate(nodes_of(frontier, PATHS)):
        barred = topics[path // PER_QUESTION]
        codes = {int(relation[path])}
        kept = best_edges(world.facts, nodes[parent[path]], codes, barred, values[0], 2)
        assert found == {world.facts.edges[edge][2] for edge in kept}
