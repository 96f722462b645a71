import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from jaxkg.score import hdc
from jaxkg.score.hdc.ghrr import _exponential, _skew

pytestmark = pytest.mark.slow


def fan(distances):
    """Unit label vectors at the given distances from the first one."""
    angle = 2 * np.arcsin(np.asarray(distances) / 2)
    vectors = np.zeros((len(angle), 16), np.float32)
    vectors[:, 0], vectors[:, 1] = np.cos(angle), np.sin(angle)
    return jnp.asarray(vectors)


DISTANCES = [0.0, 0.2, 0.5, 0.8, 1.1, 1.4]


@functools.partial(jax.jit, static_argnums=0)
def symbols(a, vectors, bandwidth, groups=None):
    return hdc.label_symbols(a, vectors, bandwidth=bandwidth, groups=groups, key=jax.random.key(3))


@functools.partial(jax.jit, static_argnums=0)
def from_first(a, table):
    return jax.vmap(lambda x: a.similarity(table[0], x))(table)


@functools.partial(jax.jit, static_argnums=0)
def similarities(a, table):
    return jax.vmap(jax.vmap(a.similarity, (None, 0)), (0, None))(table, table)


@pytest.mark.parametrize("name", ["ghrr-haar", "ghrr-diagonal", "hrr-unitary", "real"])
def test_similarity_follows_the_gaussian_kernel_of_the_labels(name):
    a = hdc.operator(name, 4096)
    got = from_first(a, symbols(a, fan(DISTANCES), 1.0))
    kernel = np.exp(-np.square(DISTANCES) / 2)
    np.testing.assert_allclose(got, kernel, atol=0.06)
    assert (np.diff(got) < 0).all()


@pytest.mark.parametrize("name", ["ghrr-haar", "bipolar"])
def test_bandwidth_runs_from_all_alike_to_random(name):
    a = hdc.operator(name, 1024)
    assert (from_first(a, symbols(a, fan(DISTANCES), 50.0)) > 0.95).all()
    assert (np.abs(from_first(a, symbols(a, fan(DISTANCES), 0.05)))[2:] < 0.15).all()


def test_order_survives_as_the_product_of_the_hops():
    a = hdc.ghrr(256, 4)
    table = symbols(a, fan([0.0, 0.3, 0.9, 1.3]), 1.0)
    paths = [(0, 2), (2, 0), (0, 1), (1, 0), (0, 3), (1, 2), (3, 0)]
    pair = similarities(a, table)
    got = similarities(a, hdc.encode_paths(a, table, jnp.array(paths)))
    product = [[pair[p[0], q[0]] * pair[p[1], q[1]] for q in paths] for p in paths]
    np.testing.assert_allclose(got, product, atol=0.08)
    fhrr = hdc.fhrr(4096)
    flat = symbols(fhrr, fan([0.0, 1.3]), 1.0)
    swapped = hdc.encode_paths(fhrr, flat, jnp.array([(0, 1), (1, 0)]))
    assert fhrr.similarity(*swapped) > 0.999


def test_groups_are_unrelated_and_walking_back_is_not_the_identity():
    a = hdc.ghrr(128, 4)
    vectors = jnp.concatenate([fan([0.0, 0.4]), fan([0.0, 0.4])])
    table = symbols(a, vectors, 1.0, jnp.array([0, 0, 1, 1]))
    walk = a.bind(table[0], table[2])
    got = similarities(a, jnp.concatenate([table, jnp.stack([walk, a.identity()])]))
    assert got[0, 1] > 0.8
    assert got[2, 3] > 0.8
    assert abs(got[0, 2]) < 0.15
    assert abs(got[4, 5]) < 0.15
    np.testing.assert_allclose(from_first(a, symbols(a, vectors, 1.0))[2], 1, atol=1e-5)


@pytest.mark.parametrize("scale", [0.5, 8.0, 40.0])
def test_exponential_is_exact_and_unitary(scale):
    g = scale * jax.random.normal(jax.random.key(0), (20 * 9,))
    s = _skew(g, 3, 20, False)
    generator = np.moveaxis(np.asarray(s[0]) + 1j * np.asarray(s[1]), -1, 0)
    np.testing.assert_allclose(generator, -generator.conj().swapaxes(1, 2), atol=1e-6)
    norm2 = np.sum(np.abs(generator) ** 2)
    np.testing.assert_allclose(norm2, np.sum(np.asarray(g) ** 2) / 3, rtol=1e-4)
    x = jax.jit(_exponential)(*s)
    got = np.moveaxis(np.asarray(x[0]) + 1j * np.asarray(x[1]), -1, 0)
    exact = np.stack([scipy.linalg.expm(block.astype(np.complex128)) for block in generator])
    np.testing.assert_allclose(got, exact, atol=2e-5)
    eye = np.broadcast_to(np.eye(3), got.shape)
    np.testing.assert_allclose(got @ got.conj().swapaxes(1, 2), eye, atol=2e-6)


@pytest.mark.parametrize("name", ["ghrr-haar", "hrr"])
def test_gradient_matches_differences_even_where_labels_coincide(name):
    a = hdc.operator(name, 64, m=2)

    def loss(vectors):
        made = hdc.label_symbols(a, vectors, bandwidth=0.8, key=jax.random.key(3))
        return a.similarity(a.bind(made[0], made[1]), a.random(key=jax.random.key(5)))

    value_and_slope = jax.jit(jax.value_and_grad(loss))
    for vectors in (fan([0.0, 0.7]), jnp.zeros((2, 16))):
        step = jnp.zeros((2, 16)).at[1, 1].set(1e-2)
        (above, _), (below, _) = value_and_slope(vectors + step), value_and_slope(vectors - step)
        slope = value_and_slope(vectors)[1]
        np.testing.assert_allclose(slope[1, 1], (above - below) / 2e-2, rtol=0.05, atol=2e-4)
        assert abs(slope).max() > 1e-4


def test_text_projection():
    a = hdc.ghrr(128, 4)
    text = jax.random.normal(jax.random.key(0), (2, 32))
    query = hdc.project_text(a, text, key=jax.random.key(1))
    columns = np.asarray(jax.vmap(a.blocks)(query))
    np.testing.assert_allclose(np.sum(columns**2, axis=1), 4, rtol=1e-4)
    assert np.abs(np.asarray(query).imag).max() > 0.1
    # Nothing ties a random projection to random symbols: the paper's text query is at chance.
    symbols = a.random((64,), key=jax.random.key(2))
    assert np.abs(hdc.similarity_matrix(a, query, symbols)).max() < 0.15
    close = hdc.project_text(a, jnp.stack([text[0], text[0] + 0.1]), key=jax.random.key(1))
    assert a.similarity(close[0], close[1]) > 0.9


def test_symbols_may_be_made_in_two_steps_with_one_key():
    a = hdc.operator("ghrr-haar", 64)
    vectors, groups, key = fan(DISTANCES), jnp.array([0, 1, 0, 1, 1, 0]), jax.random.key(3)

    @jax.jit
    def in_two_steps(vectors, groups):
        at = hdc.label_coordinates(a, vectors, bandwidth=0.7, key=key)
        return at, hdc.symbols_at(a, at, groups=groups, key=key)

    coordinates, table = in_two_steps(vectors, groups)
    assert coordinates.shape == (len(DISTANCES), a.coordinates)
    np.testing.assert_allclose(table, symbols(a, vectors, 0.7, groups), atol=1e-5)
