import functools

import jax
import numpy as np
import pytest
from random_graphs import INT32

from jaxkg.select import best_in_rows

SLOTS, ROWS = 40, 5


@functools.partial(jax.jit, static_argnames="most")
def best(row, valid, values, *, most):
    """What stays, and the slots that were scored."""
    asked = []

    def score(slot):
        asked.append(slot)
        return values[slot]

    return best_in_rows(row, valid, score, num_rows=ROWS, most=most), asked[0]


@pytest.mark.parametrize("most", [1, 3, SLOTS])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_every_row_stay_and_only_crowded_rows_are_scored(most, seed):
    draw = np.random.default_rng(seed)
    valid = draw.random(SLOTS) < 0.8
    # Row 0 is a hub, row 4 has nothing; what stands in the holes is anything.
    row = np.where(valid, draw.choice(4, SLOTS, p=[0.6, 0.2, 0.1, 0.1]), 0).astype(np.int32)
    row[~valid] = draw.integers(INT32.min, INT32.max, (~valid).sum())
    values = draw.integers(-3, 3, SLOTS).astype(np.float32)  # with many ties
    stays, scored = best(row, valid, values, most=most)
    expected, crowded = set(), []
    for each in range(ROWS):
        slots = [s for s in range(SLOTS) if valid[s] and row[s] == each]
        expected |= set(sorted(slots, key=lambda s: (-values[s], s))[:most])
        crowded += slots if len(slots) > most else []
    assert set(np.flatnonzero(stays).tolist()) == expected
    assert scored.tolist() == sorted(crowded) + [-1] * (SLOTS - len(crowded))
