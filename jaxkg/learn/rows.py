"""Adam that works, of a large table, on the rows alone that a batch names.

Adam moves every row at every step: where the gradient is zero, by what the moments remember. How
far a row goes in some such steps is a geometric sum known beforehand. So it is brought up to date
when a batch names it, and the whole table when it is to be read; other rows cost a step nothing.

Reference: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, Algorithm 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.learn.loop import Program, State

_B1, _B2, _EPS = 0.9, 0.999, 1e-8
_SHRINK = _B1 / _B2**0.5
"""Of a step to the one before, where there is no gradient."""


class RowMoments(NamedTuple):
    """What Adam remembers of a table of U rows."""

    mean: jax.Array  # [U, D] float32
    square: jax.Array  # [U, D] float32
    last: jax.Array  # [U] int32, steps after which the row was brought up to date
    done: jax.Array  # [] int32, steps


def row_program(
    loss: Callable[..., jax.Array], *, table: str, schedule: optax.Schedule, steps: int
) -> Program:
    """The program of a loss of which each batch reads few rows of one table.

    The weights are those of `optax.adam(schedule)` up to rounding, and to what its epsilon changes
    in steps without a gradient.

    Args:
        loss: (weights, *batch) to [] float32; of the table the weights hold the batch's rows alone.
        table: name of the weights' field, [U, D] float32.
        schedule: learning rate of a step.
        steps: taken at most.

    Returns:
        A program whose `step` is of (state, whole, rows, *batch). `rows` is [P] int32: ascending
        rows of the table that the batch reads, then numbers of U and more, as ascending, that
        fill it up. Unless `whole` is true, rows that were not named are behind in the next state.
    """
    optimiser = optax.adam(schedule, b1=_B1, b2=_B2, eps=_EPS)
    pace, floor, reach = _paces(schedule, steps)

    @jax.jit
    def init(weights: Any) -> State:
        weights = jax.tree.map(jnp.copy, weights)
        rows = getattr(weights, table)
        none = jnp.zeros(rows.shape[0], jnp.int32)
        moments = RowMoments(
            jnp.zeros_like(rows), jnp.zeros_like(rows), none, jnp.zeros((), jnp.int32)
        )
        return weights, (optimiser.init(weights._replace(**{table: None})), moments)

    def idle(
        weight: jax.Array, mean: jax.Array, square: jax.Array, last: jax.Array, done: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Rows after steps `last` … `done` in which nothing named them."""
        passed = (done - last).astype(jnp.float32)[:, None]
        far = reach[last][:, None] - _SHRINK**passed * reach[done]
        weight = weight - far * mean / (jnp.sqrt(square) + floor[last][:, None])
        return weight, mean * _B1**passed, square * _B2**passed

    @functools.partial(jax.jit, donate_argnums=0)
    def descend(state: State, rows: jax.Array, *batch: Any) -> tuple[State, jax.Array]:
        weights, (of_rest, moments) = state
        whole, rest = getattr(weights, table), weights._replace(**{table: None})
        stored = whole, moments.mean, moments.square
        weight, mean, square, last = (
            part.at[rows].get(mode="clip") for part in (*stored, moments.last)
        )
        weight, mean, square = idle(weight, mean, square, last, moments.done)

        def given(rest: Any, weight: jax.Array) -> jax.Array:
            return loss(rest._replace(**{table: weight}), *batch)

        value, (gradient, slope) = jax.value_and_grad(given, argnums=(0, 1))(rest, weight)
        updates, of_rest = optimiser.update(gradient, of_rest, rest)
        rest: Any = optax.apply_updates(rest, updates)
        done = moments.done + 1
        mean = _B1 * mean + (1 - _B1) * slope
        square = _B2 * square + (1 - _B2) * slope**2
        weight = weight - pace[done] * mean / (jnp.sqrt(square) + floor[done])
        whole, mean, square, last = (
            part.at[rows].set(new, mode="drop", unique_indices=True, indices_are_sorted=True)
            for part, new in zip(
                (*stored, moments.last),
                (weight, mean, square, jnp.full(rows.shape, done)),
                strict=True,
            )
        )
        moments = RowMoments(mean, square, last, done)
        return (rest._replace(**{table: whole}), (of_rest, moments)), value

    @functools.partial(jax.jit, donate_argnums=0)
    def settle(state: State) -> State:
        weights, (of_rest, moments) = state
        whole, mean, square = idle(getattr(weights, table), *moments)
        last = jnp.full_like(moments.last, moments.done)
        moments = RowMoments(mean, square, last, moments.done)
        return weights._replace(**{table: whole}), (of_rest, moments)

    def step(state: State, whole: bool, *batch: Any) -> tuple[State, jax.Array]:
        state, value = descend(state, *batch)
        return (settle(state) if whole else state), value

    return Program(init, step)


def _paces(schedule: optax.Schedule, steps: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Learning rate and epsilon of each step, bias corrected, and how far a row goes after it.

    Returns:
        Three arrays [steps + 1] float32, by the steps done. The last is the sum, over all steps
        after, of their rate times what is left of the moments by then.
    """
    done = np.arange(steps + 1)
    rates = np.asarray(jax.jit(jax.vmap(schedule))(jnp.arange(steps)), np.float64)
    spread = np.sqrt(1 - _B2 ** np.maximum(done, 1))
    pace = np.concatenate([[0.0], rates]) * spread / (1 - _B1 ** np.maximum(done, 1))
    reach = np.zeros(steps + 1)
    for step in range(steps, 0, -1):
        reach[step - 1] = _SHRINK * (pace[step] + reach[step])
    return (
        jnp.asarray(pace, jnp.float32),
        jnp.asarray(_EPS * spread, jnp.float32),
        jnp.asarray(reach, jnp.float32),
    )
