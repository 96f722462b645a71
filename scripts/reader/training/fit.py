"""Fits the ranker and its confidence.

A softmax over a question's readings, trained listwise (Cao et al. 2007, "Learning to Rank: From
Pairwise Approach to Listwise Approach", ListNet top-one); several readings may be right.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.learn.loop import Program, program, run, shuffled
from jaxkg.systems.reader.ranking import CUES, confidence, rank_on_host
from training.examples import Examples

_HIDDEN, _DROPPED = 24, 0.2
"""Hidden units of the confidence, and the share of them that a step leaves out."""


def init_ranker(seed: int, features: int, hidden: int = 24) -> dict[str, jax.Array]:
    """Fresh parameters.

    Args:
        seed: of the perceptron.
        features: F.
        hidden: width of the perceptron.
    """
    key = jax.random.key(seed)
    scale = 1.0 / float(np.sqrt(features))
    return {
        "line": jnp.zeros((features,), jnp.float32),
        "inner": scale * jax.random.normal(key, (features, hidden), jnp.float32),
        "bias": jnp.zeros((hidden,), jnp.float32),
        "outer": jnp.zeros((hidden,), jnp.float32),
    }


def init_pair(
    seed: int, *, width: int = 384, projection: int = 64, heads: int = 8, hidden: int = 32
) -> dict[str, np.ndarray]:
    """Fresh parameters of `pair_parts`, float32.

    Args:
        seed: of what is drawn.
        width: D of the token states.
        projection: P.
        heads: H.
        hidden: K.
    """
    rng = np.random.default_rng(seed)

    def drawn(inputs: int, outputs: int) -> np.ndarray:
        return (rng.normal(size=(inputs, outputs)) * inputs**-0.5).astype(np.float32)

    return {
        "project": drawn(width, projection),
        "asks": drawn(width, heads),
        "says": drawn(width, heads),
        "line": np.full(4 * heads, 0.1, np.float32),
        "inner": drawn(4 * heads, hidden),
        "outer": np.zeros(hidden, np.float32),
    }


def rank(
    params: Mapping[str, jax.Array], views: jax.Array, kept: jax.Array | None = None
) -> jax.Array:
    """Scores of readings, higher is better.

    Args:
        params: see `init_ranker`.
        views: [..., F] float32, standardised.
        kept: [..., H] float32 that hidden units are multiplied by; None keeps all as they are.

    Returns:
        [...] float32.

    >>> rank(init_ranker(0, 3), jnp.ones((2, 3))).tolist()
    [0.0, 0.0]
    """
    hidden = jnp.tanh(
        jnp.einsum("...f,fh->...h", views, params["inner"])
        + params["bias"].reshape((1,) * (views.ndim - 1) + (-1,))
    )
    hidden = hidden if kept is None else hidden * kept
    return jnp.einsum("...f,f->...", views, params["line"]) + jnp.einsum(
        "...h,h->...", hidden, params["outer"]
    )


def listwise_loss(
    params: Mapping[str, jax.Array], views: jax.Array, right: jax.Array, valid: jax.Array
) -> jax.Array:
    """Mean negative log-probability of the right readings.

    Args:
        params: see `init_ranker`.
        views: [Q, C, F] float32.
        right: [Q, C] bool; a question without a right reading does not count.
        valid: [Q, C] bool.
    """
    scores = jnp.where(valid, rank(params, views), -jnp.inf)
    whole = jax.nn.logsumexp(scores, axis=1)
    good = jax.nn.logsumexp(jnp.where(right & valid, scores, -1e9), axis=1)
    counts = jnp.any(right & valid, axis=1)
    total = jnp.sum(jnp.where(counts, whole - good, 0.0))
    return total / jnp.maximum(jnp.sum(counts, dtype=jnp.float32), 1)


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


def _standard(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[F] mean of each column, and [F] what makes it vary by 1, 0 where it does not vary."""
    spread = rows.std(axis=0)
    scale = np.where(spread > 1e-6, 1 / np.maximum(spread, 0.05), 0.0)
    return rows.mean(axis=0), scale.astype(np.float32)


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
    mean, scale = (column * kept for column in _standard(flat))
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
    return _as_one([one[0] for one in made]), made[0][1], made[0][2]


def _as_one(params: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The mean of several rankers as one with the hidden units of all."""
    return {
        "line": np.mean([p["line"] for p in params], axis=0),
        "inner": np.concatenate([p["inner"] for p in params], axis=1),
        "bias": np.concatenate([p["bias"] for p in params]),
        "outer": np.concatenate([p["outer"] for p in params]) / np.float32(len(params)),
    }


def fit_confidence(
    cues: np.ndarray,
    right: np.ndarray,
    *,
    seeds: Sequence[int] = range(5),
    steps: int = 200,
    weight: np.ndarray | None = None,
    start: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Fit the parameters of `confidence`: the mean of several trainings.

    Args:
        cues: [Q, K] float32, the first of which is 1.
        right: [Q] bool.
        seeds: of the trainings.
        steps: over all questions, a share of the hidden units left out of each.
        weight: [Q] what each question counts; None counts all once.
        start: of an earlier confidence; its logits, times a factor that is learnt, are added.

    Returns:
        parameters, of cues as they are.
    """
    mean, scale = _standard(cues)
    mean[0], scale[0] = 0.0, 1.0
    table = ((cues - mean) * scale).astype(np.float32)
    ones = np.ones(len(right), np.float32)
    counts = ones if weight is None else weight.astype(np.float32)
    before = ones * 0 if start is None else rank_on_host(start, cues).astype(np.float32)
    made = _surety()
    fitted = []
    for seed in seeds:
        fresh = {**init_ranker(seed, cues.shape[1], hidden=_HIDDEN), "before": jnp.ones(())}
        # A perceptron that starts at 0 behind would learn nothing in so few steps.
        drawn = np.random.default_rng(seed)
        fresh["outer"] = jnp.asarray(drawn.normal(0, 0.1, _HIDDEN), jnp.float32)
        units = (len(right), _HIDDEN)
        kept = ((drawn.random(units) > _DROPPED) / np.float32(1 - _DROPPED) for _ in range(steps))
        batches = ((table, right, some, counts, before) for some in kept)
        learnt = run(made.step, made.init(fresh), batches, steps=steps, per_epoch=steps)
        fitted.append({name: np.asarray(array) for name, array in learnt.weights.items()})
    factor = np.mean([one.pop("before") for one in fitted])
    whole = _as_one(fitted)
    # Of standardised cues until here.
    whole["bias"] = whole["bias"] - (mean * scale) @ whole["inner"]
    line = whole["line"] * scale
    line[0] -= mean @ line
    whole |= {"line": line, "inner": whole["inner"] * scale[:, None]}
    if start is None:
        return whole
    return {
        "line": line + factor * start["line"],
        "inner": np.concatenate([whole["inner"], start["inner"]], axis=1),
        "bias": np.concatenate([whole["bias"], start["bias"]]),
        "outer": np.concatenate([whole["outer"], factor * start["outer"]]),
    }


def a_line(line: np.ndarray) -> dict[str, np.ndarray]:
    """The parameters of a line alone, [K], without a perceptron."""
    none = np.zeros(0, np.float32)
    return {
        "line": line,
        "inner": np.zeros((len(line), 0), np.float32),
        "bias": none,
        "outer": none,
    }


def recalibrated(
    params: Mapping[str, np.ndarray], slope: float, bias: float
) -> dict[str, np.ndarray]:
    """Parameters whose logits are those of others, times a slope and moved by a bias (Platt)."""
    line = slope * params["line"]
    line[CUES.index("bias")] += bias
    return {**params, "line": line, "outer": slope * params["outer"]}


def sure_left_out(
    cues: np.ndarray, right: np.ndarray, groups: Sequence[str], folds: int = 5
) -> np.ndarray:
    """[Q] how sure a confidence is of each question that learnt from none of its group.

    Args:
        cues, right: see `fit_confidence`.
        groups: Q names of what the questions are about.
        folds: parts that groups are told apart into.
    """
    part = np.array([zlib.crc32(name.encode()) % folds for name in groups])
    sure = np.zeros(len(right))
    for fold in range(folds):
        learnt = fit_confidence(cues[part != fold], right[part != fold])
        sure[part == fold] = confidence(learnt, cues[part == fold])
    return sure


def surety_loss(
    params: Mapping[str, jax.Array],
    cues: jax.Array,
    right: jax.Array,
    kept: jax.Array,
    weight: jax.Array,
    before: jax.Array,
) -> jax.Array:
    """Mean cross entropy of a confidence, a share of its hidden units left out.

    Args:
        params: see `init_ranker`, and the factor of `before`.
        cues: [Q, K] float32, standardised.
        right: [Q] bool.
        kept: [Q, H] float32, see `rank`.
        weight: [Q] float32, what each question counts.
        before: [Q] float32 logits of an earlier confidence.
    """
    logits = rank(params, cues, kept) + params["before"] * before
    losses = optax.sigmoid_binary_cross_entropy(logits, jnp.asarray(right, jnp.float32))
    return jnp.sum(losses * weight) / jnp.sum(weight)


@functools.lru_cache
def _surety() -> Program:
    return program(surety_loss, optax.adamw(3e-3, weight_decay=0.03))
