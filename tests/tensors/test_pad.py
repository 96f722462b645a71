import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.tensors import bucket, pad, starts_table

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
