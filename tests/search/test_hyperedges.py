"""The beam over hyperedges equals its brute-force twin, hubs, ties and arity 1 to 6 included."""

import functools

import hyper_brute_force as brute
import jax
import numpy as np
import pytest
from random_hypergraphs import ENTITIES, NODES, ROWS, random_hypergraph_from

from jaxkg.search.hyperedges import BeamSettings, Texts, explore, land
from jaxkg.tensors.hypergraph import hyperedge_tables

ROOMY = (64, 512, 4096, 512, 4096, 2048)
SETTINGS = {
    "paper": BeamSettings(depth=2, width=5, seeds=6, merge="none"),
    "mean": BeamSettings(depth=2, width=5, seeds=6, aggregate="mean", path_aggregate="max"),
    "max": BeamSettings(
        depth=2, width=5, seeds=6, aggregate="max", path_aggregate="sum", threshold=0.25
    ),
    "sum": BeamSettings(depth=2, width=5, seeds=6, merge="sum", weigh="one", threshold=0.125),
    "similarity": BeamSettings(depth=2, width=5, seeds=6, guide="similarity"),
}
explored = functools.partial(jax.jit, static_argnames="capacities")(explore)


def texts_of(graph):
    return jax.device_put(
        Texts(
            graph.question,
            graph.entity,
            graph.edge,
            np.ones(NODES, np.float32),
            np.zeros((0, 0), np.float32),
        )
    )


def searched(graph, settings, capacities=ROOMY):
    return explored(
        graph.tensors, texts_of(graph), *graph.columns(), settings=settings, capacities=capacities
    )


def beams_of(result, row, settings):
    """Beams of (path, score) for one question, depth by depth."""
    sizes = [settings.seeds, *[settings.width] * settings.depth]
    beams, at = [], 0
    for size in sizes:
        beam = []
        for place in range(at, at + size):
            if np.isfinite(result.score[row, place]):
                path = tuple(e for e in result.path[row, place].tolist() if e != -1)
                beam.append((path, float(result.score[row, place])))
        beams.append(beam)
        at += size
    return beams


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in ("mean", "max"))) for name in SETTINGS],
)
def test_the_beam_is_its_brute_force_twin(name):
    settings = SETTINGS[name]
    steps = 0
    for seed in range(12):
        graph = random_hypergraph_from(seed)
        result = jax.device_get(searched(graph, settings))
        assert not result.overflow
        for row in range(ROWS):
            twin = brute.explore(graph, row, settings)
            found = beams_of(result, row, settings)
            assert [[p for p, _ in beam] for beam in found] == [[p for p, _ in b] for b in twin]
            for mine, its in zip(found, twin):
                np.testing.assert_allclose([s for _, s in mine], [s for _, s in its], rtol=1e-6)
            steps += sum(map(len, twin[1:]))
            scores = result.path_score[row][np.isfinite(result.score[row])]
            wanted = [brute.path_score(graph, row, p, settings) for beam in twin for p, _ in beam]
            np.testing.assert_allclose(scores, wanted, rtol=1e-6)
    assert steps > 100, "the search went nowhere"


@pytest.mark.slow
def test_what_does_not_fit_is_said_and_a_rerun_with_what_was_needed_fits():
    settings, graph = SETTINGS["paper"], random_hypergraph_from(3)
    whole = jax.device_get(searched(graph, settings))
    for at in range(len(ROOMY)):
        tight = tuple(8 if i == at else room for i, room in enumerate(ROOMY))
        result = jax.device_get(searched(graph, settings, tight))
        assert result.needed[at] > 8
        assert result.overflow
        np.testing.assert_array_equal(result.needed[: at + 1], whole.needed[: at + 1])
    exact = tuple(int(n) for n in whole.needed)
    result = jax.device_get(searched(graph, settings, exact))
    assert not result.overflow
    np.testing.assert_array_equal(result.path, whole.path)


def test_flow_is_shared_out_and_a_rare_entity_carries_more():
    graph = random_hypergraph_from(1)
    settings = BeamSettings(
        depth=2, width=5, seeds=6, carry="flow", merge="sum", weigh="one", threshold=-9.0,
        specificity=1.0,
    )  # fmt: skip
    result = jax.device_get(searched(graph, settings))
    for row in range(ROWS):
        for beam in beams_of(result, row, settings):
            if beam:
                assert sum(score for _, score in beam) == pytest.approx(1.0, rel=1e-5)
    # The first step, by hand.
    row = next(r for r in range(ROWS) if len(brute.seeds(graph, r, settings)) > 1)
    first = brute.seeds(graph, row, settings)
    shares = np.exp(np.asarray([s for _, s in first]) / settings.seed_temperature)
    shares /= shares.sum()
    total = {}
    for (path, _), share in zip(first, shares):
        for other in range(len(graph.edges)):
            shared = set(graph.edges[path[0]]) & set(graph.edges[other])
            near = float(graph.question[row] @ graph.edge[other])
            if shared and other != path[0]:
                score = share * len(shared) * np.exp((near - 1) / settings.temperature)
                total[other] = total.get(other, 0.0) + score
    kept = sorted(total, key=lambda e: -total[e])[: settings.width]
    found = {path[-1]: score for path, score in beams_of(result, row, settings)[1]}
    assert set(found) == set(kept)
    for edge in kept:
        assert found[edge] == pytest.approx(total[edge] / sum(total[e] for e in kept), rel=1e-4)


def test_chunks_gather_what_leads_to_them():
    settings, decay = SETTINGS["sum"], 0.5
    graph = random_hypergraph_from(5)
    chunks = [set(graph.edges[2 * i]) | set(graph.edges[2 * i + 1]) for i in range(8)]
    owner, node = np.asarray([(c, v) for c, some in enumerate(chunks) for v in some]).T
    tables = hyperedge_tables(owner, node, 8, ENTITIES).graph
    result = searched(graph, settings)
    landed = jax.jit(
        lambda tables, texts, result: land(
            graph.tensors, tables, texts, result, settings=settings, decay=decay, keep=8,
            capacities=(1024, 4096),
        )
    )(tables, texts_of(graph), result)  # fmt: skip
    landed = jax.device_get(landed)
    assert not landed.overflow
    seen = 0
    for row in range(ROWS):
        beams = beams_of(jax.device_get(result), row, settings)
        wanted = brute.landed(graph, chunks, row, beams, settings, decay)
        there = landed.chunk[row] != -1
        found = dict(zip(landed.chunk[row][there].tolist(), landed.score[row][there].tolist()))
        assert found == pytest.approx(wanted, rel=1e-5)
        order = landed.score[row][there]
        np.testing.assert_array_equal(order, np.sort(order)[::-1])
        seen += len(wanted)
    assert seen > 5
