"""The factored scorer against the plain definition over every relation sequence."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.score import hdc

pytestmark = pytest.mark.slow

R = 5
GHRR = hdc.ghrr(8, 2, layout="pair")


@functools.cache
def setting(name="ghrr"):
    a = GHRR if name == "ghrr" else hdc.operator(name, 64)

    @jax.jit
    def make(key):
        table = a.random((R,), key=key)
        queries = jnp.stack(
            [
                a.bind(a.bind(table[1], table[0]), a.bind(table[3], table[2])),
                a.bundle(jnp.stack([table[4], a.bind(table[0], table[0])]), jnp.array([0.6, 0.4])),
                a.bind(table[2], table[4]),
            ]
        )
        return table, queries

    return (a, *make(jax.random.key(7)))


@functools.cache
def every_score(name="ghrr", metric="block", max_length=4):
    """{path: [B] scores} by encoding each path."""
    a, table, queries = setting(name)
    paths = [p for n in range(1, max_length + 1) for p in itertools.product(range(R), repeat=n)]
    padded = np.full((len(paths), max_length), -1, np.int32)
    for row, path in zip(padded, paths):
        row[: len(path)] = path
    measure = a.similarity if metric == "block" else a.cosine

    @jax.jit
    def score(padded):
        encoded = hdc.encode_paths(a, table, padded)
        return jax.vmap(lambda q: jax.vmap(lambda x: measure(q, x))(encoded))(queries)

    return paths, np.asarray(score(padded))


def check(result, query, paths, scores, k):
    """The k best by the definition, ties in any order, and every score that of its path."""
    found = [tuple(r for r in row if r >= 0) for row in np.asarray(result.paths[query]).tolist()]
    assert len(set(found)) == k
    expected = np.sort(scores)[::-1][:k]
    np.testing.assert_allclose(result.score[query], expected, atol=1e-5)
    where = {path: i for i, path in enumerate(paths)}
    own = [scores[where[path]] for path in found]
    np.testing.assert_allclose(result.score[query], own, atol=1e-5)


@pytest.mark.parametrize(
    ("min_length", "max_length", "rows", "columns"),
    [(1, 4, 4096, None), (3, 3, 6, 7), (2, 2, 1, 1)],
)
def test_equals_brute_force_for_every_block_size(min_length, max_length, rows, columns):
    a, table, queries = setting()
    got = hdc.exhaustive(
        a, table, queries, k=7 if max_length > 1 else 4, min_length=min_length,
        max_length=max_length, rows=rows, columns=columns,
    )  # fmt: skip
    paths, scores = every_score()
    inside = [i for i, p in enumerate(paths) if min_length <= len(p) <= max_length]
    for query in range(3):
        check(got, query, [paths[i] for i in inside], scores[query, inside], got.score.shape[1])
    assert got.certified.all()
    if min_length <= 2 <= max_length:
        assert got.paths[2, 0].tolist()[:2] == [2, 4]


@pytest.mark.parametrize("name", ["fhrr"])
def test_holds_for_every_isometric_algebra(name):
    a, table, queries = setting(name)
    got = hdc.exhaustive(a, table, queries, k=4, min_length=3, rows=8, columns=8)
    paths, scores = every_score(name, max_length=3)
    inside = [i for i, p in enumerate(paths) if len(p) == 3]
    for query in range(3):
        check(got, query, [paths[i] for i in inside], scores[query, inside], 4)


@pytest.mark.parametrize("length", [3])
def test_only_sequences_the_schema_graph_allows(length):
    a, table, queries = setting()
    follows = np.zeros((R, R), bool)
    follows[[0, 1, 3, 3, 2], [3, 0, 2, 1, 4]] = True
    got = hdc.exhaustive(
        a, table, queries, k=6, min_length=length, max_length=length,
        follows=jnp.asarray(follows), rows=6, columns=5,
    )  # fmt: skip
    paths, scores = every_score()
    allowed = [
        i
        for i, p in enumerate(paths)
        if len(p) == length and all(follows[x, y] for x, y in itertools.pairwise(p))
    ]
    k = min(6, len(allowed))
    trimmed = got._replace(paths=got.paths[:, :k], score=got.score[:, :k])
    for query in range(3):
        check(trimmed, query, [paths[i] for i in allowed], scores[query, allowed], k)
    assert np.isneginf(got.score[:, k:]).all()
    assert (got.paths[:, k:] == -1).all()


@pytest.mark.parametrize("length", [3])
def test_only_the_relations_a_query_may_start_with(length):
    a, table, queries = setting()
    starts = jnp.array([[1, 0, 0, 1, 0], [0, 1, 1, 0, 1], [0, 0, 0, 1, 0]], bool)
    got = hdc.exhaustive(
        a, table, queries, k=4, min_length=length, max_length=length, starts=starts, rows=6
    )
    paths, scores = every_score()
    begins = np.asarray(starts)
    for query in range(3):
        inside = [i for i, p in enumerate(paths) if len(p) == length and begins[query, p[0]]]
        k = min(4, len(inside))
        trimmed = got._replace(paths=got.paths[:, :k], score=got.score[:, :k])
        check(trimmed, query, [paths[i] for i in inside], scores[query, inside], k)
        assert np.isneginf(got.score[query, k:]).all()


@pytest.mark.parametrize("precision", ["int8"])
def test_rounded_sweep_is_rescored_in_float32(precision):
    a, table, queries = setting()
    offset = jnp.array([0.5, 0.0])
    got = hdc.exhaustive(
        a, table, queries, k=3, max_length=2, precision=precision, offset=offset, slack=20
    )
    paths, scores = every_score(max_length=2)
    shifted = scores + np.array([0.5 if len(p) == 1 else 0.0 for p in paths])[None]
    for query in range(3):
        check(got, query, paths, shifted[query], 3)
    if precision == "int8":
        assert not got.certified.any()


def test_certificate_is_given_only_when_the_margin_beats_the_rounding():
    a, table, _ = setting()
    # Two nearly equal winners: 0.004 apart in weight, below what bfloat16 may be wrong by.
    plans, weights = jnp.array([[1, 2], [3, 0]]), jnp.array([0.502, 0.498])
    query = hdc.encode_bundle(a, table, plans, weights)[None]
    kw = {"k": 1, "min_length": 2, "max_length": 2, "precision": "bfloat16"}
    wide = hdc.exhaustive(a, table, query, slack=5, **kw)
    assert wide.paths[0, 0].tolist() == [1, 2]
    assert wide.certified.all()
    # Only the runner-up is kept beside the winner: the next one could be as good as it.
    assert not hdc.exhaustive(a, table, query, slack=1, **kw).certified.any()


def test_bad_calls_say_what_would_work():
    a, table, queries = setting()
    real = hdc.operator("real", 16)
    vectors = real.random((3,), key=jax.random.key(0))
    with pytest.raises(JaxkgError, match="encode_trie"):
        hdc.exhaustive(real, vectors, vectors)
    with pytest.raises(JaxkgError, match="min_length <= max_length <= 4"):
        hdc.exhaustive(a, table, queries, max_length=5)
    with pytest.raises(JaxkgError, match="k, rows, columns"):
        hdc.exhaustive(a, table, queries, k=0)
