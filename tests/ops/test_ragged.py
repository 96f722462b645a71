import functools
import itertools

import brute_force
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.ops import expand_ragged, running_sum
from jaxkg.ops.ragged import SMALL

LISTS = 8
expanded = functools.partial(jax.jit, static_argnames="capacity")(expand_ragged)
lengths_of = st.lists(st.integers(0, 7), min_size=LISTS, max_size=LISTS)


def expand(lengths, *, capacity):
    return jax.device_get(expanded(lengths, capacity=capacity))


@given(lengths_of, st.sampled_from([8, 64]))
def test_agrees_with_brute_force(lengths, capacity):
    got = expand(np.asarray(lengths, np.int32), capacity=capacity)
    expected = brute_force.expand_ragged(lengths, capacity)
    valid = np.asarray(got.valid)
    assert valid.tolist() == [True] * len(expected) + [False] * (capacity - len(expected))
    assert list(zip(got.row[valid].tolist(), got.position[valid].tolist())) == expected
    assert int(got.needed) == sum(lengths)
    assert bool(got.overflow) == (sum(lengths) > capacity)


@pytest.mark.parametrize(("total", "overflow"), [(7, False), (8, False), (9, True)])
def test_overflow_starts_past_the_last_slot(total, overflow):
    lengths = np.zeros(LISTS, np.int32)
    lengths[3] = total
    got = expand(lengths, capacity=8)
    assert bool(got.overflow) == overflow
    assert int(got.needed) == total
    assert int(got.valid.sum()) == min(total, 8)


@pytest.mark.parametrize(
    "lengths",
    [
        [2**31 - 1, 1],
        [2**30, 2**30],
        [2**31 - 1] * 8,
        # Wraps all the way round to a small positive total.
        [2**31 - 1, 2**31 - 1, 5],
        [2**29] * 8,
        # One part in 2^31 too many: no float32 total can tell.
        [2**31 - 1, 0, 0, 0, 0, 0, 0, 1],
    ],
)
def test_a_total_that_wraps_is_overflow_and_nothing_is_valid(lengths):
    padded = np.zeros(LISTS, np.int32)
    padded[: len(lengths)] = lengths
    got = expand(padded, capacity=64)
    assert sum(lengths) > 2**31 - 1
    assert bool(got.overflow)
    assert int(got.needed) == 2**31 - 1
    assert not got.valid.any()


def test_the_largest_total_that_does_not_wrap_is_told_exactly():
    lengths = np.zeros(LISTS, np.int32)
    lengths[:2] = 2**31 - 3, 2
    got = expand(lengths, capacity=64)
    assert int(got.needed) == 2**31 - 1
    assert bool(got.overflow)
    assert got.valid.all()
    assert got.position.tolist() == list(range(64))


@pytest.mark.parametrize("size", [1, 7, 65, SMALL, SMALL + 1, 9 * SMALL])
def test_running_sum_is_that_of_python(rng, size):
    values = rng.integers(-1000, 1000, size)
    got = jax.jit(running_sum)(values.astype(np.int32))
    assert got.dtype == np.int32
    assert got.tolist() == list(itertools.accumulate(values.tolist()))


def test_lengths_must_be_a_column_of_int32():
    with pytest.raises(AssertionError):
        expand_ragged(jnp.zeros((2, 3), jnp.int32), capacity=8)
    with pytest.raises(AssertionError):
        expand_ragged(jnp.zeros(3, jnp.float32), capacity=8)
