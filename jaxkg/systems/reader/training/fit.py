"""Fits the ranker and its confidence."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.systems.reader.rank import init_ranker, listwise_loss
from jaxkg.systems.reader.training.examples import Examples

Params = dict[str, jax.Array]


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


def fit_ranker(
    examples: Examples,
    *,
    kept: np.ndarray,
    seed: int = 0,
    epochs: int = 12,
    batch: int = 64,
    width: int = 64,
    rate: float = 3e-3,
    decay: float = 1e-2,
    told: Callable[[int, float], None] | None = None,
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Train a ranker.

    Args:
        examples: of questions.
        kept: [F] bool, views that may be used.
        seed: of parameters and order.
        epochs, batch, width, rate, decay: of AdamW with a one-cycle schedule.
        told: called with (epoch, loss).

    Returns:
        parameters, mean and scale of the views.
    """
    views, right, valid = padded(examples, width)
    flat = examples.views
    mean = flat.mean(axis=0) * kept
    scale = np.where(kept, 1 / np.maximum(flat.std(axis=0), 0.05), 0.0).astype(np.float32)
    views = (views - mean) * scale * valid[..., None]
    params = init_ranker(seed, flat.shape[1])
    steps = max(2, epochs * (len(views) // batch))
    optimiser = optax.adamw(optax.cosine_onecycle_schedule(steps, rate), weight_decay=decay)
    state = optimiser.init(params)

    @jax.jit
    def update(
        params: Params, state: optax.OptState, v: jax.Array, r: jax.Array, m: jax.Array
    ) -> tuple[Params, optax.OptState, jax.Array]:
        loss, slope = jax.value_and_grad(listwise_loss)(params, v, r, m)
        changes, state = optimiser.update(slope, state, params)
        return optax.apply_updates(params, changes), state, loss  # type: ignore[return-value]

    order = np.random.default_rng(seed)
    for epoch in range(epochs):
        rows = order.permutation(len(views))
        losses = []
        for first in range(0, len(rows) - batch + 1, batch):
            some = rows[first : first + batch]
            params, state, loss = update(
                params,
                state,
                jnp.asarray(views[some]),
                jnp.asarray(right[some]),
                jnp.asarray(valid[some]),
            )
            losses.append(loss)
        if told is not None:
            told(epoch, float(np.mean(jax.device_get(losses))) if losses else 0.0)
    found = {name: np.asarray(array) for name, array in params.items()}
    return found, mean.astype(np.float32), scale


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
