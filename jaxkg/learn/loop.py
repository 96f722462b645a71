"""The one training loop: steps, losses, selection on held-out data, a state to go on from.

A training hands in its loss and its batches. All randomness comes with the batches, which depend on
the seed alone: a training that is stopped and goes on is bit for bit the uninterrupted one, on one
kind of device.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.learn.checkpoint import fingerprint, load_state, save_state

State = tuple[Any, ...]
"""What the next step depends on; its first part is the weights."""


class Program(NamedTuple):
    """What is compiled of a training.

    Attributes:
        init: weights to the first state; copies them, for `step` gives its state's memory up.
        step: (state, *batch) to the next state and the loss, [] float32.
    """

    init: Callable[[Any], State]
    step: Callable[..., tuple[State, jax.Array]]


def program(
    loss: Callable[..., Any], optimiser: optax.GradientTransformation, *, overflows: bool = False
) -> Program:
    """The program of a loss and an optimiser.

    Make it in a function under `functools.lru_cache`: trainings of equal settings then share what
    is compiled.

    Args:
        loss: (weights, *batch) to [] float32.
        optimiser: of the weights.
        overflows: the loss gives (loss, overflow), and the state has a third part, [] bool, whether
            any step has overflowed; to be read now and then.

    Example:
        >>> descent = program(lambda weight: (weight - 1.0) ** 2, optax.sgd(0.5))
        >>> descent.step(descent.init(jnp.zeros(())))[0][0].item()
        1.0
    """

    @jax.jit
    def init(weights: Any) -> State:
        weights = jax.tree.map(jnp.copy, weights)
        none = (jnp.zeros((), bool),) if overflows else ()
        return (weights, optimiser.init(weights), *none)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state: State, *batch: Any) -> tuple[State, jax.Array]:
        weights, moments, *before = state
        value, gradient = jax.value_and_grad(loss, has_aux=overflows)(weights, *batch)
        updates, moments = optimiser.update(gradient, moments, weights)
        weights = optax.apply_updates(weights, updates)
        if not overflows:
            return (weights, moments), value
        value, overflow = value
        return (weights, moments, before[0] | overflow), value

    return Program(init, step)


@dataclasses.dataclass(frozen=True)
class Selection:
    """How the weights to keep are chosen; without one, the last are.

    Attributes:
        score: of weights on held-out data, larger is better.
        patience: epochs without a better one before the training ends.
        margin: what counts as better.
        enough: a score at which there is nothing left to learn.
        warm_up: steps in which the learning rate rises: an epoch within them counts against no
            patience.
    """

    score: Callable[[Any], float]
    patience: int
    margin: float = 0.0
    enough: float = math.inf
    warm_up: int = 0

    def best(self, scores: Iterable[tuple[int, float]]) -> tuple[int, float, bool]:
        """Steps done at the best of these scores, the score, and whether training ends by it."""
        at, best, since = 0, -1.0, 0
        for done, score in scores:
            if score > best + self.margin:
                at, best, since = done, score, 0
            elif done > self.warm_up:
                since += 1
        return at, best, since >= self.patience or best >= self.enough


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """Where and when the state of a training is kept.

    Attributes:
        folder: for this run alone; the same run goes on from there. Ctrl-C then waits for the step
            in progress and keeps its state. None keeps none.
        mark: what tells this run from another, see `save_state`.
        every: steps between two states kept; None keeps one at the end of every epoch.
        check: refuses a state by raising, before it is kept.
        on_keep: called with (steps done, loss) where a state is kept or would be.
    """

    folder: str | os.PathLike[str] | None = None
    mark: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    every: int | None = None
    check: Callable[[State], None] | None = None
    on_keep: Callable[[int, float], None] | None = None

    @classmethod
    def of(
        cls,
        folder: str | os.PathLike[str] | None,
        kind: str,
        seed: int,
        data: Mapping[str, Sequence[Any]],
        **configs: Any,
    ) -> Checkpoints:
        """States of a run that is told from others by what it trains, how, and on what.

        Args:
            folder: see above; without one the data are not looked at.
            kind: of what is trained.
            seed: of the run.
            data: trees of arrays by name, see `fingerprint`.
            configs: dataclasses by name.
        """
        mark = {"kind": kind, "seed": seed}
        mark |= {name: dataclasses.asdict(config) for name, config in configs.items()}
        mark |= {name: fingerprint(*trees) if folder else None for name, trees in data.items()}
        return cls(folder, mark)


class Run(NamedTuple):
    """What a training came to.

    Attributes:
        weights: those kept.
        losses: of every step.
        scores: (steps done, held-out score) of every epoch, where there is a selection.
        best: the highest score, and how many steps were done then.
    """

    weights: Any
    losses: tuple[float, ...]
    scores: tuple[tuple[int, float], ...]
    best: tuple[int, float]


def run(
    step: Callable[..., tuple[State, jax.Array]],
    state: State,
    batches: Iterable[tuple[Any, ...]],
    *,
    steps: int,
    per_epoch: int,
    selection: Selection | None = None,
    checkpoints: Checkpoints | None = None,
    on_step: Callable[[int], None] | None = None,
    on_epoch: Callable[[int, float, float], bool | None] | None = None,
) -> Run:
    """Train.

    Args:
        step: of a `Program`.
        state: the first.
        batches: of all steps in order; those that were done before are drawn and left out.
        steps: how many to take at most.
        per_epoch: steps between two scores.
        selection: chooses the weights to keep.
        checkpoints: keep the state; None keeps none.
        on_step: called with the steps done; nothing is read from the device.
        on_epoch: called with (epoch, mean loss, score), NaN without a selection; False stops for
            now.

    Raises:
        JaxkgError: the folder holds another run or other files.
    """
    keeping = checkpoints or Checkpoints()
    folder = None if keeping.folder is None else Path(keeping.folder)
    losses: list[float] = []
    scores: list[tuple[int, float]] = []
    unread: list[jax.Array] = []
    weights = _copy(state[0]) if selection else None
    if folder is not None and (kept := load_state(folder, (state, weights), mark=keeping.mark)):
        (state, weights), losses, scores = kept
    done, go_on = len(losses), True
    with _stopping(folder is not None) as asked:
        for batch in itertools.islice(batches, done, steps):
            if not go_on or (selection and selection.best(scores)[2]):
                break
            state, loss = step(state, *batch)
            unread.append(loss)
            done += 1
            if on_step:
                on_step(done)
            ends = done % per_epoch == 0 or done == steps
            every = keeping.every
            keeps = ends if every is None else done % every == 0 or done == steps
            if not (ends or keeps or asked):
                continue
            losses += np.asarray(jax.device_get(unread), np.float64).tolist()
            unread.clear()
            if keeping.check:
                keeping.check(state)
            score = math.nan
            if ends and selection:
                score = selection.score(state[0])
                scores.append((done, score))
                if selection.best(scores)[0] == done:
                    weights = _copy(state[0])
            if folder is not None and (keeps or asked):
                save_state(folder, (state, weights), losses, scores, mark=keeping.mark)
            if asked:
                raise KeyboardInterrupt
            if keeps and keeping.on_keep:
                keeping.on_keep(done, losses[-1])
            if ends and on_epoch:
                epoch = -(-done // per_epoch)
                mean = float(np.mean(losses[(epoch - 1) * per_epoch :]))
                go_on = on_epoch(epoch, mean, score) is not False
    best = selection.best(scores)[:2] if selection else (done, math.nan)
    return Run(weights if selection else state[0], tuple(losses), tuple(scores), best)


def in_batches(order: np.ndarray, size: int) -> np.ndarray:
    """[steps, B] rows of an epoch; the last batch is filled up from the front.

    So one program serves all.

    >>> in_batches(np.array([4, 2, 3]), 2).tolist()
    [[4, 2], [3, 4]]
    """
    return np.resize(order, (-(-len(order) // size), size))


def shuffled(count: int, size: int, *, epochs: int, seed: int) -> Iterator[np.ndarray]:
    """[B] rows of each step; an epoch's order depends on it and the seed alone."""
    for epoch in range(epochs):
        yield from in_batches(np.random.default_rng((seed, epoch)).permutation(count), size)


@functools.partial(jax.jit, static_argnames="count")
def _split_on(key: jax.Array, count: int) -> jax.Array:
    def one(key: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        key, drawn = jax.random.split(key)
        return key, drawn

    return jax.random.key_data(jax.lax.scan(one, key, None, length=count)[1])


def split_on(key: jax.Array, count: int) -> list[np.ndarray]:
    """Data of the keys that splitting a key over and over gives, for `jax.random.wrap_key_data`.

    All at once: taking one key from a device array costs more than a small step.

    Args:
        key: typed.
        count: how many.
    """
    return list(np.asarray(_split_on(key, max(1, count)))[:count])


@jax.jit
def _copy(weights: Any) -> Any:
    return jax.tree.map(jnp.copy, weights)


@contextlib.contextmanager
def _stopping(waits: bool) -> Iterator[list[bool]]:
    """A list that Ctrl-C fills; the second one stops at once.

    Between a step's return and its assignment, the state that it gave up is gone and the new one
    has no name yet; there an exception would lose both.
    """
    asked: list[bool] = []

    def note(*_: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)

    ours = threading.current_thread() is threading.main_thread()
    if not (waits and ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        yield asked
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
