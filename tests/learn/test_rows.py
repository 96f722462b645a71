"""Adam on the rows that batches name beside Adam on the whole table."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxkg.learn.loop import program
from jaxkg.learn.rows import row_program

pytestmark = pytest.mark.usefixtures("standard_promotion")  # of optax

ROWS, WIDTH, READ, STEPS = 12, 3, 4, 90
SCHEDULE = optax.cosine_onecycle_schedule(STEPS, 0.05, pct_start=0.2)


class Weights(NamedTuple):
    table: np.ndarray
    other: np.ndarray


def loss(weights, wanted):
    return jnp.mean((weights.table * weights.other[None] - wanted) ** 2)


def dense_loss(weights, rows, wanted):
    return loss(weights._replace(table=weights.table[rows]), wanted)


def start():
    draw = np.random.default_rng(0)
    return Weights(draw.normal(size=(ROWS, WIDTH)).astype(np.float32), np.ones(3, np.float32))


def batches():
    """Rows of each step; those of the upper half come once in a long while, the last one never."""
    draw = np.random.default_rng(1)
    for step in range(STEPS):
        most = ROWS - 1 if step % 40 == 5 else ROWS // 2
        rows = np.sort(draw.choice(most, READ, replace=False)).astype(np.int32)
        yield rows, draw.normal(size=(READ, WIDTH)).astype(np.float32)


def trained(steps, settled):
    """Tables after some steps, brought up to date as often as told, and those of plain Adam."""
    few = row_program(loss, table="table", schedule=SCHEDULE, steps=STEPS)
    plain = program(dense_loss, optax.adam(SCHEDULE))
    one, other = few.init(start()), plain.init(start())
    for done, (rows, wanted) in enumerate(batches(), 1):
        one, value = few.step(one, done == steps or settled(done), rows, wanted)
        other, expected = plain.step(other, rows, wanted)
        np.testing.assert_allclose(value, expected, rtol=1e-4)
        if done == steps:
            return one, other
    raise AssertionError


@pytest.mark.parametrize("steps", [1, 31, STEPS])
def test_weights_are_those_of_adam_on_the_whole_table(steps):
    one, other = trained(steps, lambda done: False)
    for mine, theirs in zip(one[0], other[0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    never = start().table[-1]
    np.testing.assert_array_equal(one[0].table[-1], never)
    moved = np.abs(np.asarray(one[0].table) - start().table).max(axis=1) > 0.01
    assert moved.any() or steps == 1


def test_rows_past_the_table_fill_a_batch_up():
    few = row_program(
        lambda weights, wanted: loss(weights._replace(table=weights.table[:2]), wanted),
        table="table", schedule=SCHEDULE, steps=STEPS,
    )  # fmt: skip
    wanted = np.ones((2, WIDTH), np.float32)
    short, _ = few.step(few.init(start()), True, np.int32([3, 7]), wanted)
    filled, _ = few.step(few.init(start()), True, np.int32([3, 7, ROWS, ROWS + 1]), wanted)
    np.testing.assert_array_equal(short[0].table, filled[0].table)
    changed = np.flatnonzero((np.asarray(filled[0].table) != start().table).any(axis=1))
    assert changed.tolist() == [3, 7]
