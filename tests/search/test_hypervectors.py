"""Retrieved relation paths against every path, encoded and compared one by one."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brute_force import step

from jaxkg.score import hdc
from jaxkg.search.hypervectors import retrieve_grown, retrieve_listed
from jaxkg.systems.pathhd.queries import PlanQuery, Space, encode_queries
from jaxkg.systems.pathhd.space import SymbolSpace, listed_schemas
from jaxkg.tensors import starts_table

pytestmark = pytest.mark.slow

ROWS, HOPS, CODES, KEEP = 4, 3, 6, 5
ALGEBRA = hdc.ghrr(8, 2, layout="pair")
TOPICS = [(0,), (1, 2), (), (3,)]
PLANS = np.array(
    [
        [[0, 3, -1], [0, 1, 4], [-1, -1, -1]],
        [[2, -1, -1], [1, 3, -1], [5, 2, 0]],
        [[0, -1, -1], [-1, -1, -1], [-1, -1, -1]],
        [[4, 1, 2], [-1, -1, -1], [-1, -1, -1]],
    ],
    np.int32,
)
WEIGHT = np.array([[0.6, 0.4, 0.0], [0.2, 0.5, 0.3], [1, 0, 0], [1, 0, 0]], np.float32)
LENGTH = np.array([1.0, 0.9, 0.8], np.float32)


@functools.cache
def space() -> Space:
    key = jax.random.key(3)
    return Space(jax.jit(lambda k: ALGEBRA.random((CODES,), key=k))(key), key)


@functools.cache
def similarity(metric: str = "block") -> list[dict[tuple[int, ...], float]]:
    """Of every relation path, for each question, by the definition."""
    paths = [p for n in range(1, HOPS + 1) for p in itertools.product(range(CODES), repeat=n)]
    table = np.full((len(paths), HOPS), -1, np.int32)
    for row, path in zip(table, paths):
        row[: len(path)] = path
    measure = ALGEBRA.similarity if metric == "block" else ALGEBRA.cosine

    @jax.jit
    def score(table, plans, weight):
        encoded = hdc.encode_paths(ALGEBRA, space().table, table)

        def one(plans, weight):
            query = hdc.encode_bundle(ALGEBRA, space().table, plans, weight)
            return jax.vmap(lambda x: measure(query, x))(encoded)

        return jax.vmap(one)(plans, weight)

    scores = np.asarray(score(table, PLANS, WEIGHT)) * LENGTH[(table >= 0).sum(axis=1) - 1]
    return [dict(zip(paths, row.tolist())) for row in scores]


def grounded(facts, topics) -> set[tuple[int, ...]]:
    """Paths whose every hop leaves a node reached; what the last hop reaches is not looked at."""
    found, open_ = set(), {(): set(topics)}
    for _ in range(HOPS):
        wider = {}
        for path, nodes in open_.items():
            for code in {c for node in nodes for c in facts.codes(node)}:
                found.add((*path, code))
                wider[*path, code] = step(facts, nodes, {code}) - set(topics)
        open_ = wider
    return found


def encoded(metric="block"):
    query = PlanQuery(jnp.asarray(PLANS), jnp.asarray(WEIGHT))
    return encode_queries(ALGEBRA, space(), query, hops=HOPS, metric=metric)


def grown(case, *, width=40, metric="block", capacity=1024):
    row, node = starts_table(TOPICS, num_rows=ROWS)
    return retrieve_grown(
        case.graph, row, node, ALGEBRA, space().table, encoded(metric), jnp.asarray(LENGTH),
        num_rows=ROWS, width=width, keep=KEEP, capacities=(capacity,) * (3 * HOPS - 2),
    )  # fmt: skip


def listed(case, metric="block", precision="float32", encoding=None):
    symbols = SymbolSpace(ALGEBRA, space(), None, None, space().key)
    schemas = listed_schemas(case.tensors, symbols, hops=HOPS, precision=precision)
    assert schemas is not None
    row, node = starts_table(TOPICS, num_rows=ROWS)
    return schemas, retrieve_listed(
        case.graph, row, node, encoding or encoded(metric), jnp.asarray(LENGTH), schemas.paths,
        schemas.encoded, num_rows=ROWS, keep=KEEP, capacities=(64,), precision=precision,
    )  # fmt: skip


def assert_best(found, question, scores, allowed, atol=1e-4):
    expected = sorted((scores[path] for path in allowed), reverse=True)[:KEEP]
    got = np.asarray(found.similarity[question])
    np.testing.assert_allclose(got[: len(expected)], expected, atol=atol)
    assert np.isneginf(got[len(expected) :]).all()
    for row, value in zip(np.asarray(found.relations[question]).tolist(), got.tolist()):
        path = tuple(code for code in row if code >= 0)
        if np.isfinite(value):
            assert path in allowed
            assert scores[path] == pytest.approx(value, abs=atol)
        else:
            assert path == ()


@pytest.mark.parametrize("metric", ["block", "flat"])
def test_a_wide_beam_finds_the_best_of_all_paths_from_the_topics(random_graph, metric):
    case = random_graph(1)
    found = grown(case, metric=metric)
    assert not found.overflow
    for question, topics in enumerate(TOPICS):
        assert_best(found, question, similarity(metric)[question], grounded(case.facts, topics))


def test_a_narrow_beam_follows_the_plans(random_graph):
    case = random_graph(1)
    found = grown(case, width=2)
    for question, topics in enumerate(TOPICS):
        paths = grounded(case.facts, topics)
        kept = [tuple(c for c in row if c >= 0) for row in found.relations[question].tolist()]
        plans = [tuple(c for c in plan if c >= 0) for plan in PLANS[question].tolist()]
        best = plans[int(np.argmax(WEIGHT[question]))]
        if best in paths:
            assert kept[0] == best
        assert {p for p in kept if p} <= paths


def test_capacities_that_do_not_fit_are_told(random_graph):
    found = grown(random_graph(1), capacity=8)
    assert bool(found.overflow)
    assert int(found.needed.max()) > 8


@pytest.mark.parametrize("metric", ["block", "flat"])
def test_the_best_listed_schemas_begin_at_the_topics(random_graph, metric):
    case = random_graph(2)
    schemas, found = listed(case, metric)
    rows = np.asarray(schemas.paths).reshape(-1, HOPS).tolist()
    every = [tuple(c for c in row if c >= 0) for row in rows if row[0] >= 0]
    assert len(every) == schemas.count
    for question, topics in enumerate(TOPICS):
        first = {code for node in topics for code in case.facts.codes(node)}
        allowed = {path for path in every if path[0] in first}
        assert_best(found, question, similarity(metric)[question], allowed)
