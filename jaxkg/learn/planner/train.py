"""Training of the planner on mined relation paths: any path that gives the answers is right."""

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.errors import JaxkgError
from jaxkg.learn.checkpoint import fingerprint
from jaxkg.learn.loop import Program, Selection, in_batches, program, run, split_on
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
        patience: epochs without improvement on the held-out questions before stopping.
        learning_rate: peak of a one-cycle cosine schedule.
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
    def loss(
        params: PlannerParams,
        labels: jax.Array,
        columns: jax.Array,
        ngrams: jax.Array,
        paths: jax.Array,
        f1: jax.Array,
        key: jax.Array,
    ) -> jax.Array:
        key = jax.random.wrap_key_data(key)
        ngrams = hide_words(ngrams, key, words=config.hidden_words, each=config.dropout)
        ngrams = ngrams[:, columns]
        scores = mined_log_probabilities(params, labels, ngrams, paths)
        likelihood = marginal_log_likelihood(scores, f1, temperature=config.temperature)
        weight = jnp.max(f1, axis=1)
        return -jnp.sum(weight * likelihood) / jnp.sum(weight)

    schedule = optax.cosine_onecycle_schedule(max(2, steps), config.learning_rate, pct_start=0.1)
    return program(loss, optax.adam(schedule))


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
) -> tuple[PlannerParams, float]:
    """Train a planner and keep the epoch that does best on the held-out questions.

    Args:
        label_ngrams: [R, T'] int32 buckets of the graph's relation labels.
        training: examples to learn from; questions without any path are left out.
        held_out: examples to choose the epoch by.
        config: sizes and schedule.
        buckets: n-gram buckets V that the examples were hashed into.
        seed: of weights, order and dropout.
        folder: keeps the state after every epoch; the same training goes on from there.
        on_epoch: called with (epoch, mean loss, held-out expected F1).

    Returns:
        The best weights and their held-out expected F1.

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
    # Rows of n-grams that nobody says never change, and a step would still pass over all of them.
    rows = _named_rows(buckets, label_ngrams, training.ngrams, held_out.ngrams)
    place = np.full(buckets + 1, NULL, np.int32)  # NULL, the last one, stays NULL
    place[rows] = np.arange(len(rows), dtype=np.int32)
    label_ngrams = place[label_ngrams]
    training, held_out = (some._replace(ngrams=place[some.ngrams]) for some in (training, held_out))
    # Questions are far shorter than the grid is wide, and an empty place costs as much as a word.
    columns = np.flatnonzero((training.ngrams != NULL).any(axis=0))
    labels = jnp.asarray(label_ngrams[:, (label_ngrams != NULL).any(axis=0)])
    keys = split_on(dropout_key, steps)

    def batches() -> Iterator[tuple[Any, ...]]:
        for epoch in range(config.epochs):
            for step, some in enumerate(in_batches(order.permutation(useful), batch)):
                key = keys[epoch * per_epoch + step]
                yield (labels, columns, *(part[some] for part in training), key)

    descent = _program(config, steps)
    params = init_planner(
        len(label_ngrams), hops=config.hops, width=config.width, buckets=buckets, key=init_key
    )
    found = run(
        descent.step,
        descent.init(params._replace(ngram=params.ngram[rows])),
        batches(),
        steps=steps,
        per_epoch=per_epoch,
        selection=Selection(
            lambda params: held_out_f1(params, label_ngrams, held_out), config.patience, 1e-4
        ),
        folder=None if folder is None else Path(folder),
        mark={
            "kind": "planner",
            "config": dataclasses.asdict(config),
            "seed": seed,
            "questions": fingerprint(label_ngrams, training, held_out) if folder else None,
        },
        on_epoch=on_epoch,
    )
    weights = found.weights
    return weights._replace(ngram=params.ngram.at[rows].set(weights.ngram)), found.best[1]


def _named_rows(buckets: int, *tables: np.ndarray) -> np.ndarray:
    """[U] buckets that some table of n-grams names, ascending; others fill U up to a bucket."""
    named = np.zeros(buckets, bool)
    for table in tables:
        named[table[table != NULL]] = True
    count = int(named.sum())
    spare = min(buckets, bucket(count, steps=4)) - count
    named[np.flatnonzero(~named)[:spare]] = True
    return np.flatnonzero(named)


@jax.jit
def _expected(
    params: PlannerParams,
    label_ngrams: jax.Array,
    ngrams: jax.Array,
    paths: jax.Array,
    f1: jax.Array,
) -> jax.Array:
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
