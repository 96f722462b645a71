import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.score import hdc

TABLES = {}


def table(name, d=64, relations=5):
    a = hdc.operator(name, d, m=2)
    if name not in TABLES:
        TABLES[name] = jax.jit(lambda key: a.random((relations,), key=key))(jax.random.key(1))
    return a, TABLES[name]


@functools.partial(jax.jit, static_argnums=(0, 2))
def by_hand(a, rows, path):
    bound = a.identity()
    for relation in path:
        bound = a.bind(bound, rows[relation])
    return a.flatten(bound)


encode_paths = jax.jit(hdc.encode_paths, static_argnums=0)


@pytest.mark.parametrize("name", ["ghrr-haar", "hrr"])
def test_encode_binds_left_to_right_and_skips_padding(name):
    a, rows = table(name)
    paths = jnp.array([[3, 1, 2], [3, 1, -1], [4, -1, -1], [-1, -1, -1]])
    poisoned = rows.at[0].set(jnp.nan)  # NULL is clamped to row 0, which must not be read
    got = jax.vmap(a.flatten)(encode_paths(a, poisoned, paths))
    for vector, path in zip(got, [(3, 1, 2), (3, 1), (4,), ()]):
        expected = by_hand(a, rows, path)
        if not a.isometric:
            expected = expected * np.sqrt(a.energy) / np.linalg.norm(expected)
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_encode_masks_anywhere_and_takes_an_empty_sequence():
    a, rows = table("ghrr-haar")
    got = hdc.encode(a, rows[jnp.array([2, 0, 4])], jnp.array([True, False, True]))
    np.testing.assert_allclose(a.flatten(got), by_hand(a, rows, (2, 4)), atol=1e-5)
    np.testing.assert_array_equal(hdc.encode(a, rows[:0]), a.identity())


def test_bundle_scores_are_the_weighted_sum_of_plan_scores():
    a, rows = table("ghrr-haar")
    plans = jnp.array([[0, 1], [1, 2], [-1, -1]])
    weights = jnp.array([0.7, 0.3, 0.0])
    query = hdc.encode_bundle(a, rows, plans, weights)
    candidate = encode_paths(a, rows, jnp.array([[1, 0]]))[0]
    single = [jnp.vdot(a.flatten(v), a.flatten(candidate)) for v in encode_paths(a, rows, plans)]
    got = jnp.vdot(a.flatten(query), a.flatten(candidate))
    np.testing.assert_allclose(got, 0.7 * single[0] + 0.3 * single[1], rtol=1e-5)


@pytest.mark.parametrize("name", ["ghrr-haar", "hrr"])
@pytest.mark.parametrize("metric", ["block", "flat"])
def test_similarity_matrix_is_the_definition(name, metric):
    a, rows = table(name)
    queries = jnp.stack([rows[0], a.bundle(rows[:3]), a.bind(rows[3], rows[1])])
    candidates = encode_paths(a, rows, jnp.array([[0, 1], [3, 1], [2, -1], [4, 4]]))
    got = hdc.similarity_matrix(a, queries, candidates, metric=metric)
    measure = a.similarity if metric == "block" else a.cosine
    every = jax.jit(jax.vmap(jax.vmap(measure, (None, 0)), (0, None)))
    np.testing.assert_allclose(got, every(queries, candidates), atol=1e-5)
    if name == "ghrr-haar":
        with pytest.raises(hdc.JaxkgError, match="metric"):
            hdc.similarity_matrix(a, queries, candidates, metric="dot")
        with pytest.raises(hdc.JaxkgError, match="precision"):
            hdc.similarity_matrix(a, queries, candidates, precision="float16")


@pytest.mark.parametrize(("precision", "error"), [("bfloat16", 4e-3), ("int8", 2e-2)])
def test_rounded_tables_stay_close_and_keep_the_winner(precision, error):
    a, rows = table("ghrr-haar")
    paths = jnp.array([[i, j] for i in range(5) for j in range(5)])
    candidates = encode_paths(a, rows, paths)
    exact = hdc.similarity_matrix(a, candidates, candidates)
    rounded = hdc.similarity_matrix(a, candidates, candidates, precision=precision)
    assert 1e-6 < np.abs(exact - rounded).max() < error
    np.testing.assert_array_equal(rounded.argmax(axis=1), np.arange(25))


def test_int8_covers_the_peak_of_each_row():
    from jaxkg.score.hdc.similarity import pack

    own = pack(jnp.array([[0.5, -2.0, 0.0], [0.0, 0.0, 0.0]]), "int8")
    assert own.values.tolist() == [[32, -127, 0], [0, 0, 0]]
