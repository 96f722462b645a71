import brute_force
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.ops import first_of_each, may_hold, put_in
from jaxkg.ops.ragged import SMALL
from jaxkg.ops.unique import sieve

SIZE = 32
find = jax.jit(first_of_each)
INT32 = np.iinfo(np.int32)
# Few values, so that keys meet; extremes, so that no packing or sign can hide.
numbers = st.sampled_from([INT32.min, -1, 0, 1, 2, 1000, INT32.max])
column = st.lists(numbers, min_size=SIZE, max_size=SIZE)
mask = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE)


@given(column, column, mask)
def test_agrees_with_brute_force(left, right, valid):
    got = find((np.asarray(left, np.int32), np.asarray(right, np.int32)), np.asarray(valid))
    assert got.tolist() == brute_force.first_of_each(list(zip(left, right)), valid)


@pytest.mark.parametrize("distinct", [1, 7, 4096])
@pytest.mark.parametrize("size", [SMALL, 2 * SMALL])
def test_many_keys_settle_through_collisions(rng, size, distinct):
    keys = rng.integers(distinct, size=size).astype(np.int32)
    valid = rng.random(size) < 0.8
    got = find((keys,), valid)
    assert got.tolist() == brute_force.first_of_each([(int(k),) for k in keys], valid.tolist())


def test_what_devices_other_than_a_cpu_run_is_the_same(rng, monkeypatch):
    keys, valid = rng.integers(4096, size=2 * SMALL).astype(np.int32), rng.random(2 * SMALL) < 0.8
    expected = find((keys,), valid)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    elsewhere = jax.jit(lambda *given: first_of_each(*given))
    assert elsewhere((keys,), valid).tolist() == expected.tolist()
    loops = elsewhere.lower((keys,), valid).as_text().count("stablehlo.while")
    assert loops < find.lower((keys,), valid).as_text().count("stablehlo.while")


def test_columns_must_agree():
    with pytest.raises(AssertionError):
        first_of_each((jnp.zeros(4, jnp.int32), jnp.zeros(5, jnp.int32)), jnp.ones(4, bool))
    with pytest.raises(AssertionError):
        first_of_each((jnp.zeros(4, jnp.float32),), jnp.ones(4, bool))


def test_a_sieve_passes_what_it_holds_and_little_else(rng):
    left, right = rng.integers(INT32.min, INT32.max, (2, 4096), np.int32)
    valid = np.arange(4096) % 4 == 0
    half = np.arange(4096) < 2048
    found = put_in(put_in(sieve(1024), (left, right), valid & half), (left, right), valid & ~half)
    passed = np.asarray(may_hold(found, (left, right)))
    assert passed[valid].all()
    assert 0 < passed[~valid].mean() < 0.06
