"""The hypergraph functions for `conformance_cases.py`: function and inputs by seed."""

import jax
import numpy as np
from drawn import floats, ints, mask
from random_hypergraphs import EDGES, ENTITIES, NODES, ROWS, random_hypergraph_from

from jaxkg.candidates import hyperedges, nearest
from jaxkg.score import overlap
from jaxkg.search import hyperedges as proh_search
from jaxkg.select import hyper_beam

SLOTS = 64
ROOM = (64, 256, 1024, 256)
SETTINGS = proh_search.BeamSettings(depth=1, width=4, seeds=5, merge="sum")


def graph(seed):
    return random_hypergraph_from(seed).tensors


def texts(seed):
    made = random_hypergraph_from(seed)
    weight = np.zeros((0, 0), np.float32)
    return proh_search.Texts(
        made.question, made.entity, made.edge, np.ones(NODES, np.float32), weight
    )


def columns(seed):
    return jax.device_get(random_hypergraph_from(seed).columns())


def members(seed):
    return hyperedges.Members(
        np.sort(ints(seed, 8, SLOTS)),
        ints(seed, ENTITIES, SLOTS),
        mask(seed, SLOTS),
        np.int32(SLOTS),
        np.bool_(False),
    )


def beam(seed):
    path = ints(seed, EDGES, ROWS, 5, 2)
    path[:, :, 1] = -1
    return hyper_beam.HyperBeam(path, floats(seed, ROWS, 5), np.int32(1))


def explored(graph, texts, *starts):
    return proh_search.explore(graph, texts, *starts, settings=SETTINGS, capacities=ROOM)


CASES = {
    "candidates.hyperedges.members_of": (
        lambda *args: hyperedges.members_of(*args, capacity=SLOTS),
        lambda s: (graph(s), ints(s, EDGES, 8), mask(s, 8)),
    ),
    "candidates.hyperedges.incident_to": (
        lambda *args: hyperedges.incident_to(*args, capacity=SLOTS),
        lambda s: (graph(s), ints(s, ENTITIES, 8), mask(s, 8)),
    ),
    "candidates.hyperedges.overlaps": (
        lambda *args: hyperedges.overlaps(*args, capacity=512),
        lambda s: (graph(s), ints(s, EDGES, 8), members(s), mask(s, SLOTS)),
    ),
    "candidates.hyperedges.seed_edges": (
        lambda *args: hyperedges.seed_edges(*args, capacity=SLOTS),
        lambda s: (graph(s), *columns(s)),
    ),
    "candidates.hyperedges.within": (
        lambda *args: hyperedges.within(*args, hops=1),
        lambda s: (graph(s), mask(s, NODES), ints(s, 9, EDGES) == 0),
    ),
    "candidates.nearest.nearest": (
        lambda *args: nearest.nearest(*args, k=3, block=8),
        lambda s: (floats(s, ROWS, 4), floats(s + 1, 20, 4)),
    ),
    "candidates.nearest.near_pairs": (
        lambda *args: nearest.near_pairs(*args, threshold=1.0, capacities=(32, 256)),
        lambda s: (floats(s, SLOTS, 4), floats(s + 1, ROWS, 4)),
    ),
    "score.overlap.gathered_similarity": (
        overlap.gathered_similarity,
        lambda s: (floats(s, 3, 4), floats(s, 5, 4), ints(s, 3, 8), ints(s, 5, 8)),
    ),
    "score.overlap.entity_weight": (
        lambda *args: overlap.entity_weight(*args, threshold=0.1),
        lambda s: (floats(s, SLOTS), floats(s + 1, SLOTS)),
    ),
    "score.overlap.aggregate_groups": (
        lambda *args: overlap.aggregate_groups(*args, num_groups=6, how="mean"),
        lambda s: (floats(s, SLOTS), ints(s, 6, SLOTS, low=-1)),
    ),
    "select.hyper_beam.start_beam": (
        lambda *args: hyper_beam.start_beam(*args, num_questions=ROWS, width=5, depth=1),
        lambda s: (ints(s, ROWS, SLOTS), ints(s, EDGES, SLOTS), floats(s, SLOTS), mask(s, SLOTS)),
    ),
    "select.hyper_beam.leads_back": (
        hyper_beam.leads_back,
        lambda s: (beam(s), ints(s, ROWS * 5, SLOTS), ints(s, EDGES, SLOTS)),
    ),
    "select.hyper_beam.keep_directions": (
        lambda *args: hyper_beam.keep_directions(*args, width=4, merge="sum"),
        lambda s: (
            beam(s),
            np.sort(ints(s, ROWS * 5, SLOTS)),
            ints(s, EDGES, SLOTS),
            floats(s, SLOTS),
            mask(s, SLOTS),
        ),
    ),
    "systems.proh_search.explore": (explored, lambda s: (graph(s), texts(s), *columns(s))),
}
