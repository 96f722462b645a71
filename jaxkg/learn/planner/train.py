"""Training of the planner on mined relation paths: any path that gives the answers is right."""

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.errors import JaxkgError
from jaxkg.learn.loop import Checkpoints, Program, Selection, in_batches, run, split_on
from jaxkg.learn.rows import row_program
from jaxkg.learn.words import hide_words
from jaxkg.score.planner import (
    PlannerParams,
    init_planner,
    label_vectors,
    path_log_probability,
    read_question,
)
from jaxkg.settings import Checked, Count, Positive, Share
from jaxkg.tensors import bucket
from jaxkg.text import NgramHasher
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class PlannerConfig(Checked):
    """Sizes and schedule of the planner.

    Attributes:
        hops: longest path it can plan.
        width: vector size D.
        buckets: n-gram buckets V; None takes eight to each distinct n-gram of the training
            questions.
        batch_size: questions a step at most; a small set takes smaller steps, about 80 an epoch.
        epochs: at most.
        patience: epochs without improvement on the held-out questions before stopping, once the
            learning rate has risen to its peak.
        learning_rate: peak of a one-cycle cosine schedule, reached after a tenth of the steps.
        temperature: how sharply a path with a lower F1 than the question's best is discounted.
        dropout: share of n-grams hidden in training, so that no single one is relied on.
        hidden_words: share of a question's words hidden in training at most, see `hide_words`.
    """

    hops: Count = 3
    width: Count = 128
    buckets: Count | None = None
    batch_size: Count = 256
    epochs: Count = 8
    patience: Count = 3
    learning_rate: Positive = 3e-3
    temperature: Positive = 0.05
    dropout: Share = 0.1
    hidden_words: Share = 0.5


_WARM_UP = 0.1
"""Share of the steps in which the learning rate rises."""


class Trained(NamedTuple):
    """What a training came to.

    Attributes:
        params: of the epoch that did best on the held-out questions.
        score: its held-out expected F1.
        epochs: (mean loss, held-out expected F1) of every epoch, those of before it was stopped
            and went on among them.
    """

    params: PlannerParams
    score: float
    epochs: tuple[tuple[float, float], ...]


def hasher_for(masked: Sequence[str], config: PlannerConfig) -> NgramHasher:
    """The hasher that the configuration asks for, or one that fits the training questions."""
    if config.buckets is None:
        return NgramHasher.fitting(masked)
    return NgramHasher(buckets=config.buckets)


class Examples(NamedTuple):
    """Planner examples as arrays; the first axis runs over questions."""

    ngrams: np.ndarray  # [Q, T] int32 of `question_table`
    paths: np.ndarray  # [Q, K, L] int32 codes
    f1: np.ndarray  # [Q, K] float32


def mined_log_probabilities(
    params: PlannerParams, label_ngrams: jax.Array, ngrams: jax.Array, paths: jax.Array
) -> jax.Array:
    """Log-probability of every mined path.

    Args:
        params: weights.
        label_ngrams: [R, T'] int32 buckets of the relation labels.
        ngrams: [B, T] int32.
        paths: [B, K, L] int32.

    Returns:
        [B, K] float32.
    """
    # Labels and questions add to one table's gradient. XLA would make one sum of the two, whose
    # terms it then computes three times as slowly.
    apart = params._replace(ngram=jax.lax.optimization_barrier(params.ngram))
    labels = label_vectors(apart, label_ngrams)

    def of_question(row, some):
        reading = read_question(params, row)
        return jax.vmap(lambda path: path_log_probability(params, labels, reading, path))(some)

    return jax.vmap(of_question)(ngrams, paths)


def marginal_log_likelihood(
    log_probability: jax.Array, f1: jax.Array, *, temperature: float
) -> jax.Array:
    """Log-probability that the planner emits one of a question's right paths.

    Several paths often reach the same answers, most of them by accident. Summing over them lets
    the wording decide: the accident differs from question to question, the meant path does not.

    Args:
        log_probability: [B, K] float32 from `mined_log_probabilities`.
        f1: [B, K] float32, 0 where there is no path.
        temperature: a path loses exp((f1 - best f1) / temperature).

    Returns:
        [B] float32, 0 where a question has no path.
    """
    best = jnp.max(f1, axis=1, keepdims=True)
    # Where nothing is right, any finite row keeps the gradient defined; it is masked below.
    there = (f1 > 0) | (best == 0)
    weight = jnp.where(there, (f1 - best) / temperature, -jnp.inf)
    total = jax.nn.logsumexp(log_probability + weight, axis=1)
    return jnp.where(best[:, 0] > 0, total, 0.0)


def expected_f1(log_probability: jax.Array, f1: jax.Array) -> jax.Array:
    """F1 expected of a plan drawn from the planner; plans that were not mined count as 0.

    Args and shapes as `marginal_log_likelihood`; returns [B] float32.
    """
    return jnp.sum(jnp.where(f1 > 0, jnp.exp(log_probability) * f1, 0.0), axis=1)


@functools.lru_cache(maxsize=8)
def _program(config: PlannerConfig, steps: int) -> Program:
    def loss(params, labels, columns, ngrams, paths, f1, key):
        key = jax.random.wrap_key_data(key)
        ngrams = hide_words(ngrams, key, words=config.hidden_words, each=config.dropout)
        ngrams = ngrams[:, columns]
        scores = mined_log_probabilities(params, labels, ngrams, paths)
        likelihood = marginal_log_likelihood(scores, f1, temperature=config.temperature)
        weight = jnp.max(f1, axis=1)
        return -jnp.sum(weight * likelihood) / jnp.sum(weight)

    schedule = optax.cosine_onecycle_schedule(
        max(2, steps), config.learning_rate, pct_start=_WARM_UP
    )
    return row_program(loss, table="ngram", schedule=schedule, steps=steps)


def train_planner(
    label_ngrams: np.ndarray,
    training: Examples,
    held_out: Examples,
    config: PlannerConfig = PlannerConfig(),
    *,
    buckets: int,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    on_epoch: Callable[[int, float, float], None] | None = None,
) -> Trained:
    """Train a planner and keep the epoch that does best on the held-out questions.

    Args:
        label_ngrams: [R, T'] int32 buckets of the graph's relation labels.
        training: examples to learn from; questions without any path are left out.
        held_out: examples to choose the epoch by.
        config: sizes and schedule.
        buckets: n-gram buckets V that the examples were hashed into.
        seed: of weights, order and dropout.
        folder: keeps the state after every epoch; the same training goes on from there.
        on_epoch: called with (epoch, mean loss, held-out expected F1) as each ends.

    Raises:
        JaxkgError: no training question has a path to its answers, or the folder's state is of
            another training.
    """
    useful = np.flatnonzero(training.f1.max(axis=1, initial=0.0) > 0)
    if len(useful) == 0:
        raise JaxkgError(
            "no relation path leads from a topic to an answer in any training question; check that "
            "the questions belong to this graph, or allow more hops"
        )
    init_key, dropout_key = jax.random.split(jax.random.key(seed))
    order = np.random.default_rng(seed)
    # Few questions want many steps: 16 are the least that a step averages over.
    batch = min(config.batch_size, max(16, len(useful) // 80), len(useful))
    per_epoch = -(-len(useful) // batch)
    steps = config.epochs * per_epoch
    # N-grams that nobody says have no row while it learns, and none that anybody reads after.
    named = _named(buckets, label_ngrams, training.ngrams, held_out.ngrams)
    size = min(buckets, bucket(len(named), steps=4))
    place = _places(named, buckets)
    # Questions are far shorter than the grid is wide, and an empty place costs as much as a word.
    columns = _filled(training.ngrams)
    label_ngrams = place[label_ngrams[:, _filled(label_ngrams)]]
    training = training._replace(ngrams=place[training.ngrams])
    held_out = held_out._replace(ngrams=place[held_out.ngrams[:, _filled(held_out.ngrams)]])
    keys = split_on(dropout_key, steps)
    drawn = [
        some for _ in range(config.epochs) for some in in_batches(order.permutation(useful), batch)
    ]
    read = [_named(size, label_ngrams, training.ngrams[some]) for some in drawn]
    # One program serves all steps: rows past the table fill up those that read fewer.
    most = min(size, bucket(max(map(len, read)), steps=4))
    spare = np.arange(size, size + most, dtype=np.int32)

    def batches() -> Iterator[tuple[Any, ...]]:
        for step, (some, rows) in enumerate(zip(drawn, read, strict=True), 1):
            here = _places(rows, size)
            ngrams, paths, f1 = (part[some] for part in training)
            yield (
                step % per_epoch == 0,
                np.concatenate([rows, spare[: most - len(rows)]]),
                *(here[label_ngrams], columns, here[ngrams], paths, f1, keys[step - 1]),
            )

    descent = _program(config, steps)
    params = init_planner(
        len(label_ngrams), hops=config.hops, width=config.width, buckets=size, key=init_key
    )
    found = run(
        descent.step,
        descent.init(params),
        batches(),
        steps=steps,
        per_epoch=per_epoch,
        selection=Selection(
            lambda params: held_out_f1(params, label_ngrams, held_out),
            config.patience,
            1e-4,
            warm_up=int(_WARM_UP * steps),
        ),
        checkpoints=Checkpoints.of(
            folder,
            "planner",
            seed,
            {"questions": (label_ngrams, training, held_out)},
            config=config,
        ),
        on_epoch=on_epoch,
    )
    ngram = np.zeros((buckets, config.width), np.float32)
    ngram[named] = found.weights.ngram[: len(named)]
    epochs = tuple(
        (float(np.mean(found.losses[done - per_epoch : done])), score)
        for done, score in found.scores
    )
    return Trained(found.weights._replace(ngram=ngram), found.best[1], epochs)


def _named(size: int, *tables: np.ndarray) -> np.ndarray:
    """[U] int32, what some tables of numbers below `size` name, ascending."""
    named = np.zeros(size + 1, bool)
    for table in tables:
        named[table] = True
    return np.flatnonzero(named[:-1]).astype(np.int32)  # NULL, the last one, is nobody's name


def _filled(ngrams: np.ndarray) -> np.ndarray:
    """Columns of a table of n-grams that hold any."""
    return np.flatnonzero((ngrams != NULL).any(axis=0))


def _places(rows: np.ndarray, size: int) -> np.ndarray:
    """[size + 1] int32, where each number is among some rows; NULL stays NULL."""
    place = np.full(size + 1, NULL, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    return place


@jax.jit
def _expected(params, label_ngrams, ngrams, paths, f1) -> jax.Array:
    return expected_f1(mined_log_probabilities(params, label_ngrams, ngrams, paths), f1)


def held_out_f1(
    params: PlannerParams, label_ngrams: np.ndarray, examples: Examples, *, batch_size: int = 1024
) -> float:
    """Mean `expected_f1` over examples; questions without any path count as 0."""
    count = len(examples.f1)
    if count == 0:
        return 0.0
    total = 0.0
    for first in range(0, count, batch_size):
        rows = np.arange(first, min(first + batch_size, count))
        filled = np.resize(rows, min(batch_size, count))
        some = _expected(params, label_ngrams, *(part[filled] for part in examples))
        total += float(jax.device_get(some)[: len(rows)].sum())
    return total / count
