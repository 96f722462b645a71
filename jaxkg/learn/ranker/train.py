"""Training of the path ranker: right paths against the other paths of the same neighbourhood."""

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
from jaxkg.learn.loop import Checkpoints, Program, program, run, split_on
from jaxkg.score.path_ranker import RankerParams, init_ranker, path_scores
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Positive, Share
from jaxkg.tensors import bucket, pad
from jaxkg.types import NULL


@dataclasses.dataclass(frozen=True)
class RankerConfig(Checked):
    """Sizes and schedule of the path ranker.

    Attributes:
        width: numbers of a learned relation vector; 0 leaves text alone, for graphs to come.
        hidden: width of the inner layers.
        buckets: n-gram buckets.
        candidates: paths a question competes among in training, the right ones included.
        batch_size: questions a step.
        epochs: passes over the questions.
        most: questions used of a larger set, drawn by the seed; None uses all.
        learning_rate: peak of a one-cycle schedule.
        weight_decay: of AdamW.
        dropout: share of text numbers, n-grams and relation vectors hidden in training.
        members: rankers trained from different seeds, whose scores are averaged.
    """

    width: CountOrZero = 64
    hidden: Count = 256
    buckets: Count = 1 << 13
    candidates: Count = 128
    batch_size: Count = 32
    epochs: Count = 10
    most: Count | None = 10_000
    learning_rate: Positive = 1e-3
    weight_decay: NotNegative = 1e-2
    dropout: Share = 0.2
    members: Count = 1


class RankerExamples(NamedTuple):
    """Questions with the paths around them; lists are as long as there are questions."""

    texts: np.ndarray  # [Q, T] float32
    ngrams: np.ndarray  # [Q, W] int32
    right: Sequence[np.ndarray]  # [P, L] int32 relation paths
    around: Sequence[np.ndarray]  # [N, L] int32, the neighbourhood's; right ones may be among them


def train_ranker(
    labels: np.ndarray,
    examples: RankerExamples,
    config: RankerConfig = RankerConfig(),
    *,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    on_epoch: Callable[[int, float, float], None] | None = None,
) -> RankerParams:
    """Train one ranker.

    The loss is the negative log of the probability that all right paths have together: several
    paths often lead to an answer, most by accident, and the wording decides which is meant.

    Args:
        labels: [R, D] float32 text vectors of the relations.
        examples: questions; those without a right path are left out.
        config: sizes and schedule.
        seed: of weights, negatives, order and dropout.
        folder: keeps the state after every epoch; the same training goes on from there.
        on_epoch: called with (epoch, mean loss, NaN).

    Raises:
        JaxkgError: no question has a right path, or the folder's state is of another training.
    """
    useful = np.flatnonzero([len(paths) > 0 for paths in examples.right])
    if len(useful) == 0:
        raise JaxkgError("no training question has a relation path to its answers")
    hops = examples.right[int(useful[0])].shape[1]
    draw = np.random.default_rng(seed)
    init_key, dropout_key = jax.random.split(jax.random.key(seed))
    params = init_ranker(
        len(labels),
        dimension=labels.shape[1],
        views=examples.texts.shape[1] // labels.shape[1],
        width=config.width,
        hidden=config.hidden,
        buckets=config.buckets,
        hops=hops,
        key=init_key,
    )
    batch = min(config.batch_size, len(useful))
    per_epoch = len(useful) // batch
    steps = config.epochs * per_epoch
    everything = np.unique(np.concatenate([examples.right[i] for i in useful.tolist()]), axis=0)
    label_vectors = jnp.asarray(labels)

    def batches() -> Iterator[tuple[Any, ...]]:
        keys = iter(split_on(dropout_key, steps))
        for _ in range(config.epochs):
            order = draw.permutation(useful)[: per_epoch * batch]
            for rows in order.reshape(per_epoch, batch):
                paths, right = draw_candidates(examples, rows, everything, config.candidates, draw)
                # Questions of one graph share most paths: each is encoded once.
                distinct, place = np.unique(paths.reshape(-1, hops), axis=0, return_inverse=True)
                distinct = pad(distinct, bucket(len(distinct), floor=512))
                place = place.reshape(right.shape).astype(np.int32)
                columns = (examples.texts[rows], examples.ngrams[rows], distinct, place, right)
                yield (label_vectors, *columns, next(keys))

    descent = _program(config, steps)
    result = run(
        descent.step,
        descent.init(params),
        batches(),
        steps=steps,
        per_epoch=per_epoch,
        checkpoints=Checkpoints.of(
            folder, "path ranker", seed, {"questions": (labels, *examples)}, config=config
        ),
        on_epoch=on_epoch,
    )
    return result.weights


@functools.lru_cache(maxsize=8)
def _program(config: RankerConfig, steps: int) -> Program:
    def loss(params, labels, texts, ngrams, paths, place, right, key):
        keys = jax.random.split(jax.random.wrap_key_data(key), 3)
        keep = 1 - config.dropout
        shown = jax.random.bernoulli(keys[0], keep, texts.shape)
        texts = jnp.where(shown, texts / keep, 0.0)
        ngrams = jnp.where(jax.random.bernoulli(keys[1], keep, ngrams.shape), ngrams, NULL)
        known = jax.random.bernoulli(keys[2], keep, (len(labels), 1))
        weights = params._replace(relation=jnp.where(known, params.relation, 0.0))
        scores = path_scores(weights, labels, texts, ngrams, paths)
        return -jnp.mean(log_share(jnp.take_along_axis(scores, place, axis=1), right))

    schedule = optax.cosine_onecycle_schedule(max(2, steps), config.learning_rate, pct_start=0.2)
    return program(loss, optax.adamw(schedule, weight_decay=config.weight_decay))


def log_share(scores: jax.Array, right: jax.Array) -> jax.Array:
    """Log-probability that the right paths have together.

    Args:
        scores: [B, K] float32, -inf for no path.
        right: [B, K] bool, some of each row.

    Returns:
        [B] float32.
    """
    chosen = jnp.where(right, scores, -jnp.inf)
    return jax.nn.logsumexp(chosen, axis=1) - jax.nn.logsumexp(scores, axis=1)


def draw_candidates(
    examples: RankerExamples,
    rows: np.ndarray,
    everything: np.ndarray,
    size: int,
    draw: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Candidates of a batch: right paths, then hard negatives, then paths of other questions.

    Returns:
        [B, K, L] int32 paths, NULL-padded; [B, K] bool, the right ones.
    """
    hops = everything.shape[1]
    paths = np.full((len(rows), size, hops), NULL, np.int32)
    right = np.zeros((len(rows), size), bool)
    for place, row in enumerate(rows.tolist()):
        good = draw.permutation(examples.right[row])[: size // 2]
        around = examples.around[row]
        hard = around[draw.permutation(len(around))[: max(0, size * 3 // 4 - len(good))]]
        easy = everything[draw.integers(0, len(everything), size - len(good) - len(hard))]
        paths[place] = np.concatenate([good, hard, easy])
        right[place, : len(good)] = True
        # A right path drawn again as a negative counts as right.
        same = (paths[place][:, None, :] == examples.right[row][None]).all(axis=2).any(axis=1)
        right[place] |= same
    return paths, right
