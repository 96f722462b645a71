"""Laws of the six operators, as properties over random keys."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.score import hdc

pytestmark = pytest.mark.slow

ALGEBRAS = {
    **{name: hdc.operator(name, 512, m=2) for name in hdc.OPERATORS},
    "ghrr-pair": hdc.ghrr(128, 2, layout="pair"),
    "fhrr-pair": hdc.fhrr(512, layout="pair"),
}
EXACT = sorted(name for name, a in ALGEBRAS.items() if a.isometric)
COMMUTATIVE = sorted(name for name, a in ALGEBRAS.items() if a.commutative)
seeds = st.integers(0, 2**31 - 1)
few = settings(max_examples=8, deadline=None)


@functools.cache
def laws(name):
    """All quantities the law tests read, in one compiled function."""
    a = ALGEBRAS[name]

    @jax.jit
    def compute(key):
        x, y, z = a.random((3,), key=key)
        xy = a.bind(x, y)
        return {
            "associative": (a.bind(xy, z), a.bind(x, a.bind(y, z))),
            "left": (a.unbind_left(x, xy), y),
            "identity_left": (a.bind(a.identity(), x), x),
            "identity_right": (a.bind(x, a.identity()), x),
            "inverse": (a.bind(x, a.inverse(x)), a.identity()),
            "inverse_of_product": (a.inverse(xy), a.bind(a.inverse(y), a.inverse(x))),
            "swap": a.similarity(xy, a.bind(y, x)),
            "unrelated": a.similarity(x, y),
            "self": a.similarity(x, x),
            "norm": jnp.sum(a.flatten(xy) ** 2),
            "deep_norm": jnp.sum(a.flatten(a.bind(a.bind(xy, z), xy)) ** 2),
            "adjoint": (
                jnp.vdot(a.flatten(z), a.flatten(xy)),
                jnp.vdot(a.flatten(a.unbind_left(x, z)), a.flatten(y)),
            ),
        }

    return compute


@functools.cache
def flattened(name):
    return jax.jit(ALGEBRAS[name].flatten)


def close(name, pair, tolerance=2e-5):
    a, flat = ALGEBRAS[name], flattened(name)
    left, right = (np.asarray(flat(v)) for v in pair)
    return np.linalg.norm(left - right) <= tolerance * np.sqrt(a.energy)


@pytest.mark.parametrize("name", EXACT)
@few
@given(seed=seeds)
def test_isometric_algebras_are_groups_with_exact_unbinding(name, seed):
    got = laws(name)(jax.random.key(seed))
    for law in ("associative", "left", "identity_left", "identity_right", "inverse"):
        assert close(name, got[law]), law
    assert close(name, got["inverse_of_product"])
    energy = ALGEBRAS[name].energy
    np.testing.assert_allclose(got["norm"], energy, rtol=1e-5)
    np.testing.assert_allclose(got["deep_norm"], energy, rtol=1e-5)
    plain, left = got["adjoint"]
    np.testing.assert_allclose(left, plain, atol=2e-5 * energy)


@pytest.mark.parametrize("name", ["hrr", "real"])
@few
@given(seed=seeds)
def test_others_keep_the_laws_that_need_no_norm(name, seed):
    got = laws(name)(jax.random.key(seed))
    for law in ("associative", "identity_left", "identity_right"):
        assert close(name, got[law], tolerance=1e-4), law
    unbound, truth = got["left"]
    a = ALGEBRAS[name]
    # Division is nearly exact, correlation with Gaussian vectors only points the right way.
    assert a.similarity(unbound, truth) > (0.999 if name == "real" else 0.5)
    assert name == "real" or a.similarity(unbound, truth) < 0.9


@pytest.mark.parametrize("name", sorted(ALGEBRAS))
@few
@given(seed=seeds)
def test_only_non_diagonal_ghrr_keeps_order(name, seed):
    got = laws(name)(jax.random.key(seed))
    np.testing.assert_allclose(got["self"], 1, atol=1e-5)
    assert abs(got["unrelated"]) < 0.35
    if name in COMMUTATIVE:
        assert got["swap"] > 0.99
    else:
        assert got["swap"] < 0.55  # blocks of size 2: mean 1/4


def test_swapped_haar_blocks_keep_one_over_m_squared():
    for m in (2, 4):
        a = hdc.ghrr(4096, m)

        @jax.jit
        def swap(key, a=a):
            x, y = a.random((2,), key=key)
            return a.similarity(a.bind(x, y), a.bind(y, x)), a.similarity(x, y)

        swapped, unrelated = swap(jax.random.key(m))
        np.testing.assert_allclose(swapped, 1 / m**2, atol=0.02)
        assert abs(unrelated) < 0.02


@pytest.mark.parametrize("name", ["ghrr-haar", "ghrr-pair", "fhrr", "hrr", "real", "mix"])
def test_bundle_is_a_weighted_sum_and_normalize_sets_every_block(name):
    a = ALGEBRAS[name]

    @jax.jit
    def compute(key):
        xs = a.random((3,), key=key).at[2].set(jnp.nan)
        bundled = a.bundle(xs, jnp.array([0.75, 0.25, 0.0]))
        zero = a.from_blocks(jnp.zeros_like(a.blocks(bundled)))
        slope = jax.grad(lambda c: a.similarity(a.from_blocks(c), xs[0]))(a.blocks(zero))
        return (
            a.flatten(bundled),
            0.75 * a.flatten(xs[0]) + 0.25 * a.flatten(xs[1]),
            [a.cosine(bundled, xs[i]) for i in range(2)],
            a.blocks(a.normalize(bundled)),
            a.blocks(a.normalize(zero)),
            a.similarity(zero, xs[0]),
            slope,
        )

    bundled, expected, cosines, columns, zero, nothing, slope = compute(jax.random.key(2))
    np.testing.assert_allclose(bundled, expected, rtol=1e-5, atol=1e-6)
    assert cosines[0] > cosines[1] > 0.2
    norm2 = np.sum(np.asarray(columns) ** 2, axis=0)
    np.testing.assert_allclose(norm2, a.energy / columns.shape[1], rtol=1e-4)
    assert not np.any(zero)
    assert nothing == 0
    assert np.isfinite(slope).all()


def test_blockwise_and_flat_cosine_differ_only_for_uneven_blocks():
    a = ALGEBRAS["ghrr-haar"]
    x, y, z = a.random((3,), key=jax.random.key(6))
    np.testing.assert_allclose(a.similarity(x, y), a.cosine(x, y), atol=1e-6)
    bundle = a.bundle(jnp.stack([x, y, z]))
    assert abs(a.similarity(bundle, x) - a.cosine(bundle, x)) > 1e-3
    by_hand = []
    for j in range(128):
        bj, xj = np.asarray(bundle)[:, :, j], np.asarray(x)[:, :, j]
        by_hand.append(np.trace(bj.conj().T @ xj).real / np.linalg.norm(bj) / np.linalg.norm(xj))
    np.testing.assert_allclose(a.similarity(bundle, x), np.mean(by_hand), atol=1e-6)


def test_binding_is_the_definition():
    a, h, f = ALGEBRAS["ghrr-haar"], ALGEBRAS["hrr"], ALGEBRAS["mix"]
    x, y = (np.moveaxis(np.asarray(v), -1, 0) for v in a.random((2,), key=jax.random.key(0)))
    bound = a.bind(jnp.moveaxis(x, 0, -1), jnp.moveaxis(y, 0, -1))
    np.testing.assert_allclose(np.moveaxis(np.asarray(bound), -1, 0), x @ y, atol=1e-6)
    u, v = np.asarray(h.random((2,), key=jax.random.key(0)))
    slow = [sum(u[i] * v[(k - i) % 512] for i in range(512)) for k in (0, 1, 511)]
    np.testing.assert_allclose(np.asarray(h.bind(u, v))[[0, 1, 511]], slow, atol=1e-6)
    p, q = np.asarray(f.random((2,), key=jax.random.key(0)))
    bits, signs = np.asarray(f.bind(p, q))[:256], np.asarray(f.bind(p, q))[256:]
    np.testing.assert_array_equal(bits, np.logical_xor(p[:256], q[:256]))
    np.testing.assert_array_equal(signs, p[256:] * q[256:])
    assert set(np.unique(bits)) == {0, 1}
    assert set(np.unique(signs)) == {-1, 1}


@pytest.mark.parametrize(("make", "loose"), [(hdc.ghrr, 0.02), (hdc.fhrr, 0.02)])
def test_layouts_agree_and_bfloat16_rounds(make, loose):
    size = 64 if make is hdc.ghrr else 1024
    whole, pair, half = (
        make(size),
        make(size, layout="pair"),
        make(size, layout="pair", dtype=jnp.bfloat16),
    )
    key = jax.random.key(1)
    assert jax.eval_shape(lambda: half.random(key=key)).dtype == jnp.bfloat16

    def product(a):
        @jax.jit
        def compute(key):
            x = a.bind(*a.random((2,), key=key))
            return x, a.flatten(x), a.unflatten(a.flatten(x))

        return jax.device_get(compute(key))

    (one, exact, back), (other, paired, again), (_, rounded, _) = map(product, (whole, pair, half))
    np.testing.assert_allclose(exact, paired, atol=1e-6)
    np.testing.assert_array_equal(back, one)
    np.testing.assert_array_equal(again, other)
    error = np.linalg.norm(rounded - exact) / np.linalg.norm(exact)
    assert 1e-4 < error < loose


@pytest.mark.parametrize("name", ["ghrr-haar", "ghrr-householder", "fhrr", "hrr-unitary"])
def test_unbinding_error_at_depth_four_is_float32_rounding(name):
    a = hdc.ghrr(256, 4) if name == "ghrr-haar" else ALGEBRAS[name]

    @jax.jit
    def errors(key):
        r = a.random((4,), key=key)
        left = hdc.encode(a, r)
        for hop in range(3):
            left = a.unbind_left(r[hop], left)
        return jnp.linalg.norm(a.flatten(left) - a.flatten(r[3])) / jnp.sqrt(a.energy)

    assert errors(jax.random.key(9)) < 1e-5


@pytest.mark.parametrize("name", ["ghrr-pair", "ghrr-haar", "hrr", "fhrr-pair", "mix"])
def test_vmap_equals_loop_and_leading_axes_broadcast(name):
    a = ALGEBRAS[name]

    @jax.jit
    def compute(key):
        x, y = a.random((2, 3), key=key)
        table = a.bind(x[:, None], y[None])
        return jax.vmap(a.bind)(x, y), [a.bind(x[i], y[i]) for i in range(3)], table

    batched, single, table = compute(jax.random.key(0))
    assert table.shape == (3, 3, *a.shape)
    for i in range(3):
        assert close(name, (batched[i], single[i]), 1e-5)
        assert close(name, (table[i, i], single[i]), 1e-5)


def test_constructors_return_the_same_object_and_reject_nonsense():
    assert hdc.ghrr(8) is hdc.ghrr(8, 4, reflections=4)
    assert hdc.fhrr(16) is hdc.fhrr(16, dtype="float32")
    assert hdc.ghrr(8) is not hdc.ghrr(8, layout="pair")
    assert hdc.ghrr(256, 4).dimension == 4096
    assert hdc.ghrr(256, 4).floats == 8192
    for name in hdc.OPERATORS:
        assert hdc.operator(name, 64).name == name
    bad = [
        lambda: hdc.ghrr(0),
        lambda: hdc.ghrr(4, family="unitary"),
        lambda: hdc.ghrr(4, layout="real"),
        lambda: hdc.ghrr(4, dtype=jnp.bfloat16),
        lambda: hdc.ghrr(4, family="householder", reflections=0),
        lambda: hdc.fhrr(16, layout="pair", dtype=jnp.float16),
        lambda: hdc.hrr(0),
        lambda: hdc.bipolar(-1),
        lambda: hdc.real(8, epsilon=-1.0),
        lambda: hdc.operator("xor"),
        lambda: hdc.operator("ghrr-haar", 100),
    ]
    for call in bad:
        with pytest.raises(JaxkgError):
            call()
