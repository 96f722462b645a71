"""Training of knowledge-graph embeddings: one jit-compiled program runs an epoch's worth of steps.

With sampled corruptions a step touches few rows; Adagrad leaves a row alone whose gradient is zero,
so updating only the touched rows is exact and costs what the batch costs, not what the graph costs.

Losses of knowledge-graph embeddings; scores are higher for likelier triples.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Literal, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.learn.loop import in_batches
from jaxkg.ops import first_of_each
from jaxkg.score.embeddings import (
    Embeddings,
    Model,
    compare,
    init_embeddings,
    move,
    relation_width,
    score_against,
)
from jaxkg.settings import Checked, Count, NotNegative, Positive

Loss = Literal["margin", "logistic", "self-adversarial", "one-vs-all"]
LOSSES: tuple[Loss, ...] = ("margin", "logistic", "self-adversarial", "one-vs-all")


def margin_loss(positive: jax.Array, negative: jax.Array, *, margin: float) -> jax.Array:
    """Hinge between a true triple and each of its corruptions (TransE, Eq. 1).

    Args:
        positive: [B] float32 scores.
        negative: [B, M] float32 scores.
        margin: γ.

    Returns:
        [] float32, the mean.
    """
    chex.assert_rank([positive, negative], [1, 2])
    return jnp.mean(jax.nn.relu(margin - positive[:, None] + negative))


def logistic_loss(positive: jax.Array, negative: jax.Array, *, margin: float) -> jax.Array:
    """Cross entropy of true against corrupted, halves weighted alike (ComplEx, Eq. 12).

    Args:
        positive: [B]; negative: [B, M] float32 scores.
        margin: added to every score, so that distances, which are never positive, can say yes; 0
            for products.
    """
    chex.assert_rank([positive, negative], [1, 2])
    right = jax.nn.softplus(-(positive + margin))
    wrong = jnp.mean(jax.nn.softplus(negative + margin), axis=1)
    return jnp.mean(right + wrong) / 2


def self_adversarial_loss(
    positive: jax.Array, negative: jax.Array, *, margin: float, temperature: float
) -> jax.Array:
    """Corruptions weighted by how likely the model finds them (RotatE, Eq. 5 and 6).

    Args:
        positive: [B]; negative: [B, M] float32 scores.
        margin: γ, added to every score.
        temperature: α; 0 weighs all corruptions alike, which is `logistic_loss`.
    """
    chex.assert_rank([positive, negative], [1, 2])
    weight = jax.lax.stop_gradient(jax.nn.softmax(temperature * negative, axis=1))
    right = jax.nn.softplus(-(positive + margin))
    wrong = jnp.sum(weight * jax.nn.softplus(negative + margin), axis=1)
    return jnp.mean(right + wrong) / 2


def one_vs_all_loss(scores: jax.Array, target: jax.Array) -> jax.Array:
    """Cross entropy over all entities, as Lacroix et al. train, see `n3_penalty`.

    Args:
        scores: [B, N] float32.
        target: [B] int32, the true entity.
    """
    chex.assert_rank([scores, target], [2, 1])
    true = jnp.take_along_axis(scores, target[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(scores, axis=1) - true)


def n3_penalty(*vectors: jax.Array, halves: bool) -> jax.Array:
    """Nuclear 3-norm regulariser: the mean over triples of Σ|x|³.

    Reference: Lacroix, Usunier and Obozinski, "Canonical tensor decomposition for knowledge base
    completion", 2018, Eq. 4 and Section 4.

    Args:
        vectors: [B, D] float32, e.g. heads, relations and tails of a batch.
        halves: each vector is complex, real parts first; |x| is the modulus then.
    """
    total = jnp.zeros(())
    for some in vectors:
        if halves:
            real, imaginary = jnp.split(some, 2, axis=-1)
            size = jnp.sqrt(real**2 + imaginary**2 + 1e-12)
        else:
            size = jnp.abs(some)
        total += jnp.mean(jnp.sum(size**3, axis=-1))
    return total


@dataclasses.dataclass(frozen=True)
class EmbeddingConfig(Checked):
    """What to train and how.

    Attributes:
        model: "transe", "distmult", "complex" or "rotate".
        dimension: D, floats of an entity.
        loss: "margin", "logistic" and "self-adversarial" corrupt triples; "one-vs-all" scores every
            entity, which products want and a graph of moderate size affords.
        negatives: corruptions of each triple, half of them of its head; unused by "one-vs-all".
        margin: γ of the first three losses; None takes 0 for products, 1 for "margin" and 6 else.
        temperature: α of "self-adversarial".
        n3: weight of the nuclear 3-norm.
        norm: of TransE.
        batch_size: triples a step.
        epochs: at most.
        patience: evaluations without improvement before stopping.
        every: epochs between evaluations.
        learning_rate: of Adagrad.
    """

    model: Model = "complex"
    dimension: Count = 256
    loss: Loss = "one-vs-all"
    negatives: Count = 64
    margin: float | None = None
    temperature: NotNegative = 1.0
    n3: NotNegative = 0.0
    norm: int = 1
    batch_size: Count = 512
    epochs: Count = 100
    patience: Count = 5
    every: Count = 5
    learning_rate: Positive = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss not in LOSSES:
            raise JaxkgError(f"loss must be one of {', '.join(LOSSES)}, not {self.loss!r}")
        try:
            relation_width(self.model, self.dimension)
        except ValueError as error:
            raise JaxkgError(str(error)) from error
        if self.norm not in (1, 2):
            raise JaxkgError(f"norm is 1 or 2, not {self.norm}")

    @property
    def gamma(self) -> float:
        """The margin in force."""
        if self.margin is not None:
            return self.margin
        if self.loss == "margin":
            return 1.0
        return 0.0 if self.model in ("distmult", "complex") else 6.0


class TrainState(NamedTuple):
    """Everything that the next step depends on."""

    embeddings: Embeddings
    squares: Embeddings  # sums of squared gradients, of Adagrad
    key: jax.Array  # for order and corruptions


def init_state(
    config: EmbeddingConfig, num_entities: int, num_relations: int, *, seed: int
) -> TrainState:
    """Random embeddings and an empty optimiser."""
    init_key, key = jax.random.split(jax.random.key(seed))
    embeddings = init_embeddings(
        config.model, num_entities, num_relations, dimension=config.dimension, key=init_key
    )
    return TrainState(embeddings, jax.tree.map(jnp.zeros_like, embeddings), key)


def corrupt(
    triples: jax.Array, count: int, *, num_entities: int, key: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Random stand-ins for heads and for tails (TransE, Section 2; no check for known facts).

    Args:
        triples: [B, 3] int32.
        count: stand-ins a triple; static.
        num_entities: N.
        key: for the draws.

    Returns:
        [B, count // 2] int32 heads and [B, count - count // 2] int32 tails.
    """
    drawn = jax.random.randint(key, (triples.shape[0], count), 0, num_entities, dtype=jnp.int32)
    return drawn[:, : count // 2], drawn[:, count // 2 :]


def _sampled_loss(config: EmbeddingConfig, rows: dict[str, jax.Array]) -> jax.Array:
    """Loss of a batch from the vectors of everything in it: [B, D], and [B, M, D] of stand-ins."""
    model, norm = config.model, config.norm
    forward = jax.vmap(functools.partial(move, model, inverse=False))(
        rows["head"], rows["relation"]
    )
    backward = jax.vmap(functools.partial(move, model, inverse=True))(
        rows["tail"], rows["relation"]
    )
    score = functools.partial(compare, model, norm=norm)
    many = jax.vmap(jax.vmap(score, (None, 0)))
    positive = jax.vmap(score)(forward, rows["tail"])
    negative = jnp.concatenate(
        [many(backward, rows["heads"]), many(forward, rows["tails"])], axis=1
    )
    if config.loss == "margin":
        value = margin_loss(positive, negative, margin=config.gamma)
    elif config.loss == "logistic":
        value = logistic_loss(positive, negative, margin=config.gamma)
    else:
        value = self_adversarial_loss(
            positive, negative, margin=config.gamma, temperature=config.temperature
        )
    return value + config.n3 * _penalty(config, rows["head"], rows["relation"], rows["tail"])


def _penalty(config: EmbeddingConfig, *vectors: jax.Array) -> jax.Array:
    if not config.n3:
        return jnp.zeros(())
    if config.model == "rotate":  # its relations are angles: only entities have a size
        vectors = (vectors[0], vectors[2])
    return n3_penalty(*vectors, halves=config.model in ("complex", "rotate"))


def _adagrad_rows(
    table: jax.Array, squares: jax.Array, rows: jax.Array, gradient: jax.Array, rate: float
) -> tuple[jax.Array, jax.Array]:
    """Adagrad on the rows of a table that a batch has touched, each perhaps several times.

    Args:
        table, squares: [N, D] float32.
        rows: [F] int32.
        gradient: [F, D] float32, to be summed over equal rows.
        rate: learning rate.
    """
    if 4 * rows.shape[0] >= table.shape[0]:
        # Most rows are touched: one sum at random places, and the rest in order over the table.
        total = jnp.zeros_like(table).at[rows].add(gradient)
        squares = squares + total**2
        return table - rate * total / (jnp.sqrt(squares) + 1e-10), squares
    first = first_of_each((rows,), jnp.ones(rows.shape, bool))
    total = jnp.zeros_like(gradient).at[first].add(gradient)
    # Later occurrences hold zeros: adding those changes nothing.
    squares = squares.at[rows].add(total**2)
    step = rate * total / (jnp.sqrt(squares[rows]) + 1e-10)
    return table.at[rows].add(-step), squares


def _sampled_step(
    config: EmbeddingConfig, state: TrainState, triples: jax.Array, key: jax.Array
) -> tuple[TrainState, jax.Array]:
    (entity, relation), squares, _ = state
    head, kind, tail = triples.T
    heads, tails = corrupt(triples, config.negatives, num_entities=entity.shape[0], key=key)
    index = {"head": head, "tail": tail, "heads": heads, "tails": tails}
    rows = {name: entity[rows_of] for name, rows_of in index.items()} | {"relation": relation[kind]}
    value, gradient = jax.value_and_grad(functools.partial(_sampled_loss, config))(rows)
    touched = jnp.concatenate([rows_of.reshape(-1) for rows_of in index.values()])
    moved = jnp.concatenate([gradient[name].reshape(-1, entity.shape[1]) for name in index])
    entity, entity_squares = _adagrad_rows(
        entity, squares.entity, touched, moved, config.learning_rate
    )
    relation, relation_squares = _adagrad_rows(
        relation, squares.relation, kind, gradient["relation"], config.learning_rate
    )
    return (
        TrainState(
            Embeddings(entity, relation), Embeddings(entity_squares, relation_squares), state.key
        ),
        value,
    )


def one_vs_all(config: EmbeddingConfig, embeddings: Embeddings, triples: jax.Array) -> jax.Array:
    """Loss of a batch against every entity, as tail and as head.

    Args:
        config: static.
        embeddings: all of them.
        triples: [B, 3] int32.
    """
    entity, relation = embeddings
    head, kind, tail = entity[triples[:, 0]], relation[triples[:, 1]], entity[triples[:, 2]]
    forward = jax.vmap(functools.partial(move, config.model, inverse=False))(head, kind)
    backward = jax.vmap(functools.partial(move, config.model, inverse=True))(tail, kind)
    score = functools.partial(score_against, config.model, entities=entity, norm=config.norm)
    tails = one_vs_all_loss(score(forward), triples[:, 2])
    heads = one_vs_all_loss(score(backward), triples[:, 0])
    return (tails + heads) / 2 + config.n3 * _penalty(config, head, kind, tail)


def _full_step(
    config: EmbeddingConfig, state: TrainState, triples: jax.Array
) -> tuple[TrainState, jax.Array]:
    value, gradient = jax.value_and_grad(functools.partial(one_vs_all, config))(
        state.embeddings, triples
    )
    squares = jax.tree.map(lambda total, g: total + g**2, state.squares, gradient)
    embeddings = jax.tree.map(
        lambda table, g, total: table - config.learning_rate * g / (jnp.sqrt(total) + 1e-10),
        state.embeddings,
        gradient,
        squares,
    )
    return TrainState(embeddings, squares, state.key), value


@functools.partial(jax.jit, static_argnames=("config",), donate_argnums=1)
def run_steps(
    config: EmbeddingConfig, state: TrainState, batches: jax.Array
) -> tuple[TrainState, jax.Array]:
    """Several training steps in one program.

    Args:
        config: static.
        state: given up: its memory becomes the result's.
        batches: [S, B, 3] int32.

    Returns:
        The state after S steps, and [S] float32 losses.
    """
    chex.assert_rank(batches, 3)

    def step(state: TrainState, triples: jax.Array) -> tuple[TrainState, jax.Array]:
        if config.loss == "one-vs-all":
            return _full_step(config, state, triples)
        key, draw = jax.random.split(state.key)
        return _sampled_step(config, state._replace(key=key), triples, draw)

    return jax.lax.scan(step, state, batches)


def epoch_batches(triples: np.ndarray, batch_size: int, *, seed: int, epoch: int) -> np.ndarray:
    """[S, B, 3] int32: all triples in an order of this epoch's own, see `in_batches`."""
    order = np.random.default_rng((seed, epoch)).permutation(len(triples))
    return triples[in_batches(order, min(batch_size, len(triples)))].astype(np.int32)
