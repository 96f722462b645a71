"""Pairs of linear maps of sentence vectors: "ask" of a question, "tell" of what answers it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.learn.loop import Program, program, run, shuffled

Maps = dict[str, jax.Array]


def unit(vectors: jax.Array) -> jax.Array:
    """[..., E] vectors of length 1.

    >>> print(unit(jnp.array([3.0, 4.0])))
    [0.6 0.8]
    """
    return vectors / jnp.sqrt(jnp.sum(vectors**2, axis=-1, keepdims=True) + 1e-9)


def moved(maps: Maps, start: jax.Array) -> jax.Array:
    """[] float32, squared distance of both maps from where they start."""
    both = jnp.stack([maps["ask"], maps["tell"]])
    return jnp.sum((both - start[None]) ** 2)


def main_directions(texts: np.ndarray, width: int) -> jax.Array:
    """[D, width] float32, in which [T, D] texts differ most; where both maps start."""
    _, found = np.linalg.eigh(texts.T @ texts)
    return jnp.asarray(found[:, ::-1][:, :width].copy(), jnp.float32)


@functools.lru_cache
def _mapping(loss: Callable[..., jax.Array], steps: int, rate: float) -> Program:
    return program(loss, optax.adam(optax.cosine_decay_schedule(rate, steps)))


def fit_pair(
    loss: Callable[..., jax.Array],
    fixed: Sequence[jax.Array],
    rows: Sequence[np.ndarray],
    *,
    seed: int,
    epochs: int,
    batch: int,
    rate: float,
    told: Callable[[int, float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Train two maps.

    Args:
        loss: of maps, `fixed` and a batch of `rows`.
        fixed: what every batch is given, where the maps start first: [D, E].
        rows: arrays whose first axis runs over the examples.
        seed, epochs, batch, rate: of the training.
        told: called with (epoch, loss).

    Returns:
        "ask" and "tell", [D, E] float32.
    """
    count = len(rows[0])
    per_epoch = -(-count // batch)
    made = _mapping(loss, epochs * per_epoch, rate)
    batches = (
        (*fixed, *(array[some] for array in rows))
        for some in shuffled(count, batch, epochs=epochs, seed=seed)
    )
    maps = run(
        made.step,
        made.init({"ask": fixed[0], "tell": fixed[0]}),
        batches,
        steps=epochs * per_epoch,
        per_epoch=per_epoch,
        on_epoch=lambda epoch, loss, _: told(epoch, loss) if told else None,
    ).weights
    return np.asarray(maps["ask"]), np.asarray(maps["tell"])
