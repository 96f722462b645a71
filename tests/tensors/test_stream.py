"""`stream` against programs whose need for slots is known."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxkg.tensors import Capacities, bucket, rerun, stream
from jaxkg.types import Fit


@dataclasses.dataclass
class Program:
    """Needs `weights[i]` slots for item i in its first step and twice as many in its second.

    As in the real ones, a step that overflows hides part of what later steps need.
    """

    weights: list[int]
    calls: list[tuple[tuple[int, ...], tuple[int, ...]]] = dataclasses.field(default_factory=list)

    def run(self, indices: np.ndarray, slots: tuple[int, ...]) -> Fit:
        self.calls.append((tuple(indices.tolist()), slots))
        first = sum(self.weights[i] for i in indices)
        second = 2 * min(first, slots[0])
        return Fit(
            indices * 10,
            np.asarray([first, second], np.int32),
            np.bool_(first > slots[0] or second > slots[1]),
        )

    def stream(self, batch_size: int, capacities: Capacities) -> list[tuple[list[int], bool]]:
        out = []
        for indices, result, complete in stream(
            len(self.weights), batch_size, self.run, capacities
        ):
            assert isinstance(indices, np.ndarray)
            assert result.value.tolist() == [10 * i for i in indices]
            assert complete == (not result.overflow)
            out.append((indices.tolist(), complete))
        return out


@given(
    st.lists(st.one_of(st.integers(0, 6), st.integers(0, 60), st.just(1000)), max_size=40),
    st.integers(1, 9),
    st.sampled_from([8, 64]),
)
def test_every_item_comes_once_in_order_and_only_one_too_large_is_incomplete(weights, size, limit):
    program = Program(weights)
    got = program.stream(size, Capacities(slots=(8, 8), limit=limit))
    assert [i for batch, _ in got for i in batch] == list(range(len(weights)))
    for batch, complete in got:
        assert len(batch) <= size
        if not complete:
            assert len(batch) == 1
        if len(batch) == 1:
            assert complete == (2 * weights[batch[0]] <= limit)


def test_a_batch_that_fits_runs_once():
    program = Program([1] * 10)
    assert program.stream(4, Capacities(slots=(8, 8))) == [
        ([0, 1, 2, 3], True),
        ([4, 5, 6, 7], True),
        ([8, 9], True),
    ]
    assert len(program.calls) == 3


def test_a_rerun_has_the_slots_and_the_batches_after_it_pay_at_most_fourfold():
    program = Program([1, 500, 1, 1, 1, 1])
    capacities = Capacities(slots=(8, 8))
    got = program.stream(2, capacities)
    assert got == [([0, 1], True), ([2, 3], True), ([4, 5], True)]
    first = [slots for batch, slots in program.calls if batch == (0, 1)]
    # The second step's need is known once the first no longer hides it.
    assert first == [(8, 8), (1024, 16), (1024, 1024)]
    assert capacities.slots == (128, 64)
    assert ((4, 5), (128, 64)) in program.calls


def test_a_batch_over_the_limit_is_halved_in_place():
    program = Program([20, 20, 1, 1, 1, 1])
    got = program.stream(4, Capacities(slots=(64, 64), limit=64))
    assert got == [([0], True), ([1], True), ([2, 3], True), ([4, 5], True)]


def test_one_item_over_the_limit_says_so_and_does_not_stop_the_run():
    program = Program([1, 1, 1, 40, 1, 1])
    got = program.stream(6, Capacities(slots=(64, 64), limit=64))
    assert [batch for batch, complete in got if not complete] == [[3]]
    assert [i for batch, _ in got for i in batch] == list(range(6))


@pytest.mark.parametrize("want", [8, 9, 64])
def test_the_limit_itself_still_fits(want):
    program = Program([want // 2])
    assert program.stream(1, Capacities(slots=(8, 8), limit=bucket(want))) == [([0], True)]


def test_a_step_is_run_again_until_it_fits_or_the_limit_is_reached():
    def last(limit, **options):
        program = Program([20])
        capacities = Capacities(slots=(8, 8), limit=limit)
        found = rerun(lambda slots: program.run(np.arange(1), slots), capacities, **options)
        return program.calls[-1][1], bool(found.overflow)

    assert last(64) == ((32, 64), False)
    assert last(16) == ((8, 8), True)
    assert last(16, lenient=True) == ((16, 16), True)
