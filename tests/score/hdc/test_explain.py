import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxkg.errors import JaxkgError
from jaxkg.score import hdc

pytestmark = pytest.mark.slow

A = hdc.ghrr(16, 2)
R = 4


@pytest.fixture(scope="module")
def world():
    @jax.jit
    def make(key):
        table = A.random((R,), key=key)
        plans = jnp.array([[2, 0, 1], [2, 3, 1]])
        return table, hdc.encode_bundle(A, table, plans, jnp.array([0.7, 0.3]))

    return make(jax.random.key(0))


@jax.jit
def _score(table, query, path):
    return A.similarity(query, hdc.encode(A, table[path]))


def score(table, query, path):
    return float(_score(table, query, jnp.array(path)))


explain = jax.jit(hdc.hop_contributions, static_argnums=0)


def test_shares_are_shapley_values_over_average_relations(world):
    table, query = world
    path = [2, 0, 1]

    def value(known):
        total = 0.0
        for filled in itertools.product(range(R), repeat=3 - len(known)):
            rest, chosen = iter(filled), []
            for hop in range(3):
                if hop in known:
                    chosen.append(path[hop])
                else:
                    chosen.append(next(rest))
            total += score(table, query, chosen)
        return total / R ** (3 - len(known))

    orders = list(itertools.permutations(range(3)))
    share = np.zeros(3)
    for order in orders:
        for place, hop in enumerate(order):
            before = set(order[:place])
            share[hop] += (value(before | {hop}) - value(before)) / len(orders)
    got = explain(A, table, query, jnp.array([2, 0, 1, -1]))
    np.testing.assert_allclose(got.share, [*share, 0], atol=1e-5)
    np.testing.assert_allclose(got.baseline, value(set()), atol=1e-5)
    np.testing.assert_allclose(got.score, score(table, query, path), atol=1e-5)
    np.testing.assert_allclose(got.baseline + got.share.sum(), got.score, atol=1e-5)


def test_the_wrong_hop_is_the_one_that_costs():
    a = hdc.ghrr(256, 2)

    @jax.jit
    def shares(key):
        table = hdc.label_symbols(a, jnp.eye(6), bandwidth=1.2, key=key)
        query = hdc.encode(a, table[jnp.array([0, 1, 2])])
        return hdc.hop_contributions(a, table, query, jnp.array([0, 4, 2])).share

    share = shares(jax.random.key(1))
    assert share[1] < 0 < min(share[0], share[2])


def test_needs_exact_unbinding():
    a = hdc.operator("hrr", 16)
    table = a.random((3,), key=jax.random.key(0))
    with pytest.raises(JaxkgError, match="isometric"):
        hdc.hop_contributions(a, table, table[0], jnp.array([0, 1]))
