import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.tensors import Capacities, bucket, pad, starts_table


@given(st.integers(0, 2**40))
def test_the_bucket_is_the_smallest_power_of_two_that_holds(size):
    got = bucket(size)
    assert got >= max(8, size)
    assert got.bit_count() == 1
    assert got == 8 or got // 2 < size


@given(st.integers(0, 2**40), st.sampled_from([1, 2, 4, 8]))
def test_steps_divide_every_octave(size, steps):
    got = bucket(size, floor=1, steps=steps)
    assert max(1, size) <= got
    assert got == bucket(got, floor=1, steps=steps)
    octave = bucket(size, floor=1)
    unit = max(1, octave // (2 * steps))
    assert got % unit == 0
    assert got - unit < max(1, size)


def test_a_rerun_has_room_for_what_was_asked_for():
    assert Capacities(slots=(8, 16, 32)).fit([100, 16, 33]) == (256, 16, 64)
    assert Capacities(slots=(8, 16, 32), close=True).fit([100, 16, 33]) == (112, 16, 40)


@given(st.integers(9, 1 << 22))
def test_capacities_grow_to_few_sizes(want):
    (got,) = Capacities(slots=(8,)).fit([want]) or ()
    assert want <= got <= (4 if got <= 1 << 16 else 2) * want
    assert got.bit_count() == 1
    assert got > 1 << 16 or got.bit_length() % 2 == 1, "a power of four"


def test_what_is_kept_grows_at_most_fourfold_and_never_shrinks():
    capacities = Capacities(slots=(8, 16, 32))
    capacities.fit([1000, 20, 1])
    assert capacities.slots == (32, 64, 32)
    capacities.fit([1000, 0, 0])
    assert capacities.slots == (128, 64, 32)


def test_more_than_the_limit_does_not_fit_and_teaches_nothing():
    capacities = Capacities(slots=(8, 8), limit=64)
    assert capacities.fit([64, 8]) == (64, 8)
    assert capacities.slots == (32, 8)
    assert capacities.fit([8, 65]) is None
    assert capacities.slots == (32, 8)


lists = st.lists(st.lists(st.integers(0, 99), max_size=12), max_size=6)


def test_pad_fills_integers_with_null_and_floats_with_zero():
    assert pad(np.asarray([3, 4], np.int32), 4).tolist() == [3, 4, -1, -1]
    floats = pad(np.asarray([[1.5, 2.5]], np.float32), 2)
    assert floats.tolist() == [[1.5, 2.5], [0.0, 0.0]]
    assert floats.dtype == np.float32


def test_pad_never_cuts():
    with pytest.raises(ValueError):
        pad(np.arange(5), 4)


@given(lists, st.sampled_from([6, 16]))
def test_starts_table_is_sorted_and_holds_every_start(nodes, num_rows):
    row, node = starts_table(nodes, num_rows=num_rows)
    assert row.dtype == node.dtype == np.int32
    assert len(row) == len(node) == bucket(max(num_rows, sum(map(len, nodes))))
    assert (np.diff(row) >= 0).all()
    assert row.max() < num_rows
    there = node != -1
    got = list(zip(row[there].tolist(), node[there].tolist()))
    assert got == [(i, n) for i, some in enumerate(nodes) for n in sorted(some)]


@given(lists, st.integers(0, 70))
def test_slots_are_a_floor_that_keeps_every_start(nodes, slots):
    row, node = starts_table(nodes, num_rows=6, slots=slots)
    plain_row, plain_node = starts_table(nodes, num_rows=6)
    size = len(plain_node)
    assert len(row) == len(node) == max(size, bucket(slots))
    assert node[:size].tolist() == plain_node.tolist()
    assert (node[size:] == -1).all()
    assert row[:size].tolist() == plain_row.tolist()
    assert (row[size:] == 5).all()
