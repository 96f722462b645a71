"""Fits the ranker and its confidence."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.learn.loop import Program, program, run, shuffled
from jaxkg.systems.reader.rank import init_ranker, listwise_loss
from jaxkg.systems.reader.training.examples import Examples


def padded(examples: Examples, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Examples as [Q, width, F] views, [Q, width] right and valid; what is beyond is left out.

    Right readings beyond the width take the place of the last ones within.
    """
    count = len(examples.offsets) - 1
    views = np.zeros((count, width, examples.views.shape[1]), np.float32)
    right = np.zeros((count, width), bool)
    valid = np.zeros((count, width), bool)
    for row, (first, last) in enumerate(zip(examples.offsets[:-1], examples.offsets[1:])):
        rows = np.arange(first, last)
        rows = rows[np.argsort(~examples.right[rows], kind="stable")][:width]
        views[row, : len(rows)] = examples.views[rows]
        right[row, : len(rows)] = examples.right[rows]
        valid[row, : len(rows)] = True
    return views, right, valid


@functools.lru_cache
def _ranking(steps: int, rate: float, decay: float) -> Program:
    schedule = optax.cosine_onecycle_schedule(steps, rate)
    return program(listwise_loss, optax.adamw(schedule, weight_decay=decay))


def fit_ranker(
    views: np.ndarray,
    right: np.ndarray,
    valid: np.ndarray,
    *,
    kept: np.ndarray,
    seed: int = 0,
    epochs: int = 12,
    batch: int = 64,
    rate: float = 3e-3,
    decay: float = 1e-2,
    told: Callable[[int, float], None] | None = None,
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Train a ranker.

    Args:
        views: [Q, C, F] float32 of questions' readings.
        right, valid: [Q, C] bool.
        kept: [F] bool, views that may be used.
        seed: of parameters and order.
        epochs, batch, rate, decay: of AdamW with a one-cycle schedule.
        told: called with (epoch, loss).

    Returns:
        parameters, mean and scale of the views.
    """
    flat = views[valid]
    mean = flat.mean(axis=0) * kept
    spread = flat.std(axis=0)
    told_apart = kept & (spread > 1e-6)
    scale = np.where(told_apart, 1 / np.maximum(spread, 0.05), 0.0).astype(np.float32)
    views = (views - mean) * scale * valid[..., None]
    per_epoch = -(-len(views) // batch)
    made = _ranking(max(2, epochs * per_epoch), rate, decay)
    rows = shuffled(len(views), batch, epochs=epochs, seed=seed)
    found = run(
        made.step,
        made.init(init_ranker(seed, flat.shape[1])),
        ((views[r], right[r], valid[r]) for r in rows),
        steps=epochs * per_epoch,
        per_epoch=per_epoch,
        on_epoch=lambda epoch, loss, _: told(epoch, loss) if told else None,
    ).weights  # fmt: skip
    params = {name: np.asarray(array) for name, array in found.items()}
    return params, mean.astype(np.float32), scale


def fit_rankers(
    views: np.ndarray,
    right: np.ndarray,
    valid: np.ndarray,
    *,
    kept: np.ndarray,
    seeds: Sequence[int],
    epochs: int = 12,
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """The mean of several rankers, as one with the hidden units of all; see `fit_ranker`."""
    made = [fit_ranker(views, right, valid, kept=kept, seed=s, epochs=epochs) for s in seeds]
    params = [one[0] for one in made]
    whole = {
        "line": np.mean([p["line"] for p in params], axis=0),
        "inner": np.concatenate([p["inner"] for p in params], axis=1),
        "bias": np.concatenate([p["bias"] for p in params]),
        "outer": np.concatenate([p["outer"] for p in params]) / np.float32(len(params)),
    }
    return whole, made[0][1], made[0][2]


def fit_confidence(
    cues: np.ndarray, right: np.ndarray, *, decay: float = 1e-3, steps: int = 400
) -> np.ndarray:
    """Fit the line of `jaxkg.systems.reader.confidence`.

    Args:
        cues: [Q, K] float32.
        right: [Q] bool.
        decay: of the ridge.
        steps: of gradient descent by Adam.

    Returns:
        [K] float32.
    """
    wanted = jnp.asarray(right, jnp.float32)
    table = jnp.asarray(cues, jnp.float32)
    optimiser = optax.adam(0.05)
    line = jnp.zeros((cues.shape[1],), jnp.float32)
    state = optimiser.init(line)

    def loss(line: jax.Array) -> jax.Array:
        scores = jnp.einsum("qk,k->q", table, line)
        return optax.sigmoid_binary_cross_entropy(scores, wanted).mean() + decay * (line**2).sum()

    @jax.jit
    def update(line: jax.Array, state: optax.OptState) -> tuple[jax.Array, optax.OptState]:
        changes, state = optimiser.update(jax.grad(loss)(line), state, line)
        return optax.apply_updates(line, changes), state  # type: ignore[return-value]

    for _ in range(steps):
        line, state = update(line, state)
    return np.asarray(line)
