"""Tunes the encoder that tells which relations a question asks for.

The last layers of a sentence encoder are changed by matrices of low rank (Hu et al. 2022) so that a
question lies nearer to the labels of the relations it asks for than to all others of its schema,
walked in either direction: the contrast of Gutmann and Hyvärinen (2010) with the hardest negatives
there are, the other columns of the same table. What the layers below make of a text stays as it
is, so it is worked out once.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.learn.loop import Program, program, run
from jaxkg.ops import LowRank
from jaxkg.systems.reader.linking import BACKWARDS, SHARP
from jaxkg.text.bert import init_change, mean_pool, states_of, through
from jaxkg.text.bert_weights import Bert, BertConfig, changed
from jaxkg.text.encoder import Change
from jaxkg.text.minilm import MiniLM
from training.phrasebook import Domain

_TOKENS = (20, 8)
"""Tokens of a question and of a label that are read in training."""

_ENCODED = 128
"""Texts that the lower layers see at a time."""

_states = jax.jit(states_of, static_argnames="config")


@dataclasses.dataclass(frozen=True)
class LinkingConfig:
    """How the encoder is tuned.

    Attributes:
        layers: how many of the last are changed.
        rank: of the change of each kernel.
        epochs: over all questions.
        batch: questions of one schema in a step.
        rate: largest learning rate of AdamW, reached after a tenth of the steps.
        seed: of parameters, order and labels.
    """

    layers: int = 3
    rank: int = 16
    epochs: int = 4
    batch: int = 32
    rate: float = 1e-3
    seed: int = 0


def linking_loss(
    questions: jax.Array, labels: jax.Array, valid: jax.Array, asked: jax.Array
) -> jax.Array:
    """Mean negative log-probability of the relations asked for, those of a question alike.

    Args:
        questions: [B, D] float32 of length 1.
        labels: [N, D] float32 of length 1.
        valid: [N] bool.
        asked: [B, N] bool, at least one a row.

    Returns:
        [] float32.

    >>> one = jnp.eye(2)
    >>> float(linking_loss(one, one, jnp.ones(2, bool), jnp.eye(2, dtype=bool))) < 1e-6
    True
    """
    logits = jnp.where(valid, SHARP * jnp.einsum("bd,nd->bn", questions, labels), -1e9)
    told = jnp.where(asked, jax.nn.log_softmax(logits, axis=1), 0.0)
    return -(told.sum(axis=1) / asked.astype(jnp.float32).sum(axis=1)).mean()


class _Below:
    """What the lower layers make of texts, [T, width, D], and how long each is."""

    def __init__(self, encoder: MiniLM, texts: Sequence[str], width: int, layers: int) -> None:
        width = min(width, encoder.longest)
        self.rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        pieces = [some[:width] for some in encoder.pieces(list(self.rows))]
        padded = -(-len(pieces) // _ENCODED) * _ENCODED
        ids = np.zeros((padded, width), np.int32)
        self.lengths = np.ones(padded, np.int32)
        for row, some in enumerate(pieces):
            ids[row, : len(some)] = some
            self.lengths[row] = len(some)
        self.states = np.zeros((padded, width, encoder.dimension), np.float16)

        lower = encoder.weights._replace(layers=encoder.weights.layers[:-layers])
        for first in range(0, padded, _ENCODED):
            some = slice(first, first + _ENCODED)
            self.states[some] = _states(lower, ids[some], self.lengths[some], config=encoder.config)

    def of(self, texts: Sequence[str], count: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """States and lengths of texts; filled up to a count by the first text of all."""
        rows = np.zeros(max(count, len(texts)), np.intp)
        rows[: len(texts)] = [self.rows[text] for text in texts]
        return self.states[rows].astype(np.float32), self.lengths[rows]


@functools.lru_cache
def _tuning(text: BertConfig, layers: int, steps: int, rate: float) -> Program:
    def loss(
        change: Change,
        weights: Bert,
        questions: tuple[jax.Array, jax.Array],
        labels: tuple[jax.Array, jax.Array],
        valid: jax.Array,
        asked: jax.Array,
    ) -> jax.Array:
        upper = changed(weights, change).layers[-layers:]
        one, other = (
            mean_pool(through(upper, states, lengths, config=text), lengths)
            for states, lengths in (questions, labels)
        )
        return linking_loss(one, other, valid, asked)

    schedule = optax.warmup_cosine_decay_schedule(0.0, rate, steps // 10, steps)
    return program(loss, optax.adamw(schedule, weight_decay=1e-2))


def fit_linking(
    encoder: MiniLM,
    book: Sequence[Domain],
    config: LinkingConfig = LinkingConfig(),
    *,
    start: Change | None = None,
    told: Callable[[int, float], None] | None = None,
) -> Change:
    """Tune an encoder.

    Args:
        encoder: as it is.
        book: schemas and questions.
        config: of the training.
        start: a change to go on from, of as many layers and of that rank; else none yet.
        told: called with (epoch, loss).

    Returns:
        The change of the encoder's last layers, for `MiniLM.changed`; in float16's precision, as it
        is shipped.
    """
    texts = [one.text for domain in book for one in domain.phrases]
    labels = [label for domain in book for some in domain.labels for label in some]
    both = [start + label for label in labels for start in ("", BACKWARDS)]
    asked, known = (
        _Below(encoder, some, width, config.layers) for some, width in zip((texts, both), _TOKENS)
    )
    per_epoch = sum(len(domain.phrases) // config.batch for domain in book)
    steps = config.epochs * per_epoch
    made = _tuning(encoder.config, config.layers, steps, config.rate)
    key = jax.random.key(config.seed)
    change = start or init_change(encoder.weights, layers=config.layers, rank=config.rank, key=key)
    found = run(
        made.step,
        made.init(change),
        ((encoder.weights, *batch) for batch in _batches(book, config, asked, known)),
        steps=steps,
        per_epoch=per_epoch,
        on_epoch=lambda epoch, loss, _: told(epoch, loss) if told else None,
    ).weights
    rounded = jax.tree.map(lambda array: array.astype(jnp.float16).astype(jnp.float32), found)
    return {name: LowRank(*pair) for name, pair in rounded.items()}


def _batches(
    book: Sequence[Domain], config: LinkingConfig, asked: _Below, known: _Below
) -> Iterator[tuple[object, ...]]:
    """Questions of one schema against its relations, each by a label drawn for the step."""
    columns = 2 * max(len(domain.labels) for domain in book)
    for epoch in range(config.epochs):
        drawn = np.random.default_rng((config.seed, epoch))
        steps = []
        for domain in book:
            order, whole = drawn.permutation(len(domain.phrases)), len(domain.phrases)
            whole -= whole % config.batch
            steps += [(domain, rows) for rows in order[:whole].reshape(-1, config.batch)]
        for step in drawn.permutation(len(steps)).tolist():
            domain, rows = steps[step]
            names = [some[drawn.integers(len(some))] for some in domain.labels]
            wanted = np.zeros((config.batch, columns), bool)
            for row, one in zip(wanted, rows.tolist()):
                row[list(domain.phrases[one].ahead)] = True
                row[[len(names) + r for r in domain.phrases[one].backwards]] = True
            valid = np.arange(columns) < 2 * len(names)
            told = known.of([*names, *(BACKWARDS + name for name in names)], columns)
            yield asked.of([domain.phrases[r].text for r in rows.tolist()]), told, valid, wanted
