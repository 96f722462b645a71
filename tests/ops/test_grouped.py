import functools

import brute_force
import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.ops import top_in_group
from jaxkg.ops.ragged import SMALL

SIZE, GROUPS = 24, 4
top = functools.partial(jax.jit, static_argnames=("num_groups", "k"))(top_in_group)


@given(
    st.lists(
        # Few scores, so that most are ties; negative ones, so that nothing is compared with zero.
        st.tuples(
            st.integers(0, GROUPS - 1), st.sampled_from([-2.0, -0.5, 0.0, 3.0]), st.booleans()
        ),
        min_size=SIZE,
        max_size=SIZE,
    ),
    st.sampled_from([1, 3]),
)
def test_agrees_with_brute_force(slots, k):
    group, score, valid = zip(*slots)
    got = top(
        np.asarray(group, np.int32),
        np.asarray(score, np.float32),
        np.asarray(valid),
        num_groups=GROUPS,
        k=k,
    )
    assert got.tolist() == brute_force.top_in_group(group, score, valid, GROUPS, k)


def test_what_is_not_valid_counts_for_nothing_whatever_it_holds(rng):
    group = rng.integers(GROUPS, size=SIZE).astype(np.int32)
    score = rng.normal(size=SIZE).astype(np.float32)
    valid = rng.random(SIZE) < 0.5
    expected = brute_force.top_in_group(group, score, valid, GROUPS, 3)
    for garbage in (np.nan, np.inf, -np.inf):
        group = np.where(valid, group, rng.integers(-(2**31), 2**31 - 1, SIZE)).astype(np.int32)
        dirty = np.where(valid, score, np.float32(garbage))
        assert top(group, dirty, valid, num_groups=GROUPS, k=3).tolist() == expected


def test_groups_without_slots_are_null():
    group = np.full(SIZE, 2, np.int32)
    got = top(group, np.zeros(SIZE, np.float32), np.arange(SIZE) == 5, num_groups=GROUPS, k=3)
    assert got.tolist() == [[-1] * 3, [-1] * 3, [5, -1, -1], [-1] * 3]


@pytest.mark.parametrize("distinct", [2, 1 << 20])
@pytest.mark.parametrize("likely", [0.02, 0.9])
def test_long_lists_are_narrowed_down_without_loss(rng, distinct, likely):
    size, k = SMALL + 100, 5
    # One group has fewer slots than are kept; ties fall to the earlier slot.
    group = rng.integers(GROUPS - 1, size=size).astype(np.int32)
    group[rng.choice(size, 3, replace=False)] = GROUPS - 1
    # Falling, so that what a sample keeps is less than what stands first.
    score = np.sort(rng.integers(distinct, size=size))[::-1].astype(np.float32)
    valid = rng.random(size) < likely
    got = top(group, score, valid, num_groups=GROUPS, k=k)
    assert got.tolist() == brute_force.top_in_group(group, score, valid, GROUPS, k)
