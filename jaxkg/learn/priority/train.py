"""Training of the path priority from answers alone."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.candidates import Revisit
from jaxkg.candidates.relation_paths import is_target
from jaxkg.learn.checkpoint import fingerprint
from jaxkg.learn.loop import Checkpoints, Program, program, run, shuffled
from jaxkg.learn.mine import targets_table
from jaxkg.learn.priority.subgraphs import prioritise
from jaxkg.learn.supervision import Training
from jaxkg.learn.words import hide_words
from jaxkg.score.message_passing import Inflow
from jaxkg.score.priority import Question, entity_states, read_questions
from jaxkg.score.priority_params import PriorityParams
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Positive, Share
from jaxkg.tensors import TensorGraph, bucket, starts_table
from jaxkg.types import NULL

_LEAST_SLOTS = 256


@dataclasses.dataclass(frozen=True)
class PriorityConfig(Checked):
    """Schedule of the training.

    Attributes:
        batch_size: questions a step.
        epochs: passes over the questions.
        most: questions used of a larger set, drawn by the seed; None uses all.
        fan_out: past the first hop, runs of more edges are left out of the training subgraphs.
        learning_rate: peak of a one-cycle cosine schedule.
        dropout: share of n-grams hidden, so that no single one is relied on.
        hidden_words: share of a question's words hidden at most, see `hide_words`.
        sharpness: how much more a wrong entity of high priority weighs than one of low priority.
        balanced: see `priority_loss`.
        walk_weights, mass, heads: parts of the score, see `PrioritySizes`. The paper prints the d
            of Eq. 3 in bold, feeds `[d, q]` to a network and wants d near q: a vector of q's size,
            which is that of an entity's state, 32; `heads=1` adds it up to one number.
        rounds: of message passing (Eq. 2).
        transductive: learn a state for each entity, which ties the model to its graph; else states
            come from the entities' names.
        checkpoint_every: steps between checkpoints, where they are written.
    """

    batch_size: Count = 64
    epochs: Count = 2
    most: Count | None = 20_000
    fan_out: Count = 64
    learning_rate: Positive = 5e-3
    dropout: Share = 0.1
    hidden_words: Share = 0.5
    sharpness: NotNegative = 1.0
    balanced: bool = True
    walk_weights: bool = True
    mass: bool = True
    heads: Count = 4
    rounds: CountOrZero = 1
    transductive: bool = False
    checkpoint_every: Count = 100

    presets: ClassVar = {
        "paper": {"balanced": False, "walk_weights": False, "mass": False, "heads": 32}
    }


class PriorityExamples(NamedTuple):
    """Questions to train on; the first axis, or list, runs over questions."""

    topics: list[tuple[int, ...]]
    answers: list[tuple[int, ...]]
    ngrams: np.ndarray  # [Q, T] int32 of `question_table`
    text: np.ndarray  # [Q, G] float32
    paths: np.ndarray  # [Q, K, L] int32 relations whatever their direction, NULL where none
    sizes: np.ndarray  # [Q, 2L] int64, slots each subgraph wants, see `subgraph_sizes`


def priority_loss(
    logit: jax.Array,
    row: jax.Array,
    right: jax.Array,
    wrong: jax.Array,
    *,
    num_questions: int,
    sharpness: float,
    balanced: bool = True,
) -> jax.Array:
    """Cross-entropy of Eq. 6, a question's few answers and its many other entities balanced.

    The answers of a question weigh 1 together. So do all others, and among them each by how high
    it stands (softmax of the logits, taken as given): thousands of easy ones do not drown the few
    that outrank an answer.

    Args:
        logit: [K] float32.
        row: [K] int32, question of each.
        right, wrong: [K] bool, answers and other entities; slots that are neither do not count.
        num_questions: B; static.
        sharpness: factor of the logits in the softmax.
        balanced: False weighs all entities of a question alike, as printed; static.

    Returns:
        [] float32, mean over the questions with an answer in their subgraph.

    Reference: PathMind, Eq. 6; the weights of wrong entities: Sun et al., "RotatE", Eq. 5.
    """
    group = jnp.where(right | wrong, row, num_questions)

    def total(values, mask):
        return jax.ops.segment_sum(jnp.where(mask, values, 0.0), group, num_questions + 1)

    answers = total(jnp.ones_like(logit), right)
    counts = (answers > 0)[:num_questions].astype(jnp.float32)
    if not balanced:
        each = jnp.where(right, jax.nn.log_sigmoid(logit), jax.nn.log_sigmoid(-logit))
        size = jnp.maximum(total(jnp.ones_like(logit), right | wrong), 1.0)
        loss = -total(each, right | wrong) / size
        return jnp.sum(counts * loss[:num_questions]) / jnp.maximum(jnp.sum(counts), 1.0)
    given = jax.lax.stop_gradient(sharpness * logit)
    highest = jax.ops.segment_max(jnp.where(wrong, given, -jnp.inf), group, num_questions + 1)
    weight = jnp.exp(jnp.where(wrong, given - highest[group], -jnp.inf))
    share = weight / jnp.maximum(total(weight, wrong), 1e-9)[group]
    loss = -total(jax.nn.log_sigmoid(logit), right) / jnp.maximum(answers, 1.0)
    loss -= total(share * jax.nn.log_sigmoid(-logit), wrong)
    return jnp.sum(counts * loss[:num_questions]) / jnp.maximum(jnp.sum(counts), 1.0)


def path_loss(question: Question, paths: jax.Array) -> jax.Array:
    """How unlikely the attention finds given relation paths, whatever their direction.

    Args:
        question: from `read_questions`.
        paths: [B, K, L] int32 relations, NULL past the end of a path and of the list; any of a
            question's paths is right.

    Returns:
        [] float32, mean over the questions that have a path; 0 where none has.
    """
    if not paths.shape[1]:
        return jnp.zeros(())
    weight = question.weight.reshape(*question.weight.shape[:2], 2, -1).sum(axis=2)
    there = paths != NULL
    chosen = jnp.take_along_axis(
        jnp.log(weight + 1e-12), jnp.maximum(paths, 0).swapaxes(1, 2), axis=2
    ).swapaxes(1, 2)
    size = jnp.sum(there, axis=2)
    length = jnp.take_along_axis(jnp.log(question.length + 1e-12), jnp.maximum(size - 1, 0), axis=1)
    total = jnp.sum(jnp.where(there, chosen, 0.0), axis=2) + length
    valid = size > 0
    has_path = jnp.any(valid, axis=1)
    # Where there is no path, any finite row keeps the gradient defined; it is masked below.
    masked = jnp.where(valid | ~has_path[:, None], total, -jnp.inf)
    likelihood = jnp.where(has_path, jax.nn.logsumexp(masked, axis=1), 0.0)
    return -jnp.sum(likelihood) / jnp.maximum(jnp.sum(has_path), 1).astype(jnp.float32)


@functools.lru_cache(maxsize=8)
def _program(
    config: PriorityConfig,
    steps: int,
    num_questions: int,
    capacities: tuple[int, ...],
    revisit: Revisit,
) -> Program:
    def loss(params, graph, inflow, features, labels, key, batch, targets):
        row, node, ngrams, text, paths = batch
        key = jax.random.wrap_key_data(key)
        ngrams = hide_words(ngrams, key, words=config.hidden_words, each=config.dropout)
        states = entity_states(params, inflow, features)
        question = read_questions(params, ngrams, text, *labels, walk_weights=config.walk_weights)
        sub, logit = prioritise(
            graph, params, states, question, row, node, capacities=capacities,
            fan_out=config.fan_out, floor=0.0, revisit=revisit, mass=config.mass,
        )  # fmt: skip
        entity = sub.is_entity
        right = entity & is_target(sub.row, sub.node, targets)
        value = priority_loss(
            logit, sub.row, right, entity & ~right,
            num_questions=num_questions, sharpness=config.sharpness, balanced=config.balanced,
        )  # fmt: skip
        return value + path_loss(question, paths), sub.overflow

    schedule = optax.cosine_onecycle_schedule(max(2, steps), config.learning_rate, pct_start=0.1)
    return program(loss, optax.adam(schedule), overflows=True)


def train_priority(
    tensors: TensorGraph,
    inflow: Inflow,
    features: np.ndarray,
    labels: tuple[np.ndarray, np.ndarray],
    examples: PriorityExamples,
    params: PriorityParams,
    config: PriorityConfig,
    *,
    revisit: Revisit = "topic",
    training: Training = Training(),
) -> tuple[PriorityParams, tuple[float, ...]]:
    """Train a path priority.

    Args:
        tensors, inflow: the graph.
        features: [N, F] float32 label features; [N, 0] for learned states.
        labels: [R, T'] int32 n-grams and [R, G] float32 text features of the relation labels.
        examples: to learn from.
        params: to start from.
        config: schedule.
        revisit: which nodes a walk may enter.
        training: how it is run; its folder has the checkpoints.

    Returns:
        The weights, and the loss of each step.

    Raises:
        JaxkgError: the folder holds another training.
    """
    count, seed = len(examples.topics), training.seed
    batch = min(config.batch_size, count)
    per_epoch = -(-count // batch)
    steps = per_epoch * config.epochs
    orders = list(shuffled(count, batch, epochs=config.epochs, seed=seed))
    # Every batch's size is known beforehand, so that one program serves all.
    wanted = np.max([examples.sizes[rows].sum(axis=0) for rows in orders], axis=0)
    capacities = tuple(bucket(int(n), floor=_LEAST_SLOTS, steps=4) for n in wanted)
    base = jax.random.key(seed)
    keys = jax.random.key_data(jax.vmap(jax.random.fold_in, (None, 0))(base, jnp.arange(steps)))
    on_device = jax.device_put((tensors.graph, inflow, features, labels))
    slots = batch * max(map(len, examples.topics))
    goals = batch * max(map(len, examples.answers))

    def batches() -> Iterator[tuple[Any, ...]]:
        for rows, key in zip(orders, np.asarray(keys)):
            topics = starts_table([examples.topics[i] for i in rows], num_rows=batch, slots=slots)
            columns = (*topics, examples.ngrams[rows], examples.text[rows], examples.paths[rows])
            targets = targets_table(
                [examples.answers[i] for i in rows], num_rows=batch, slots=goals
            )
            yield (*on_device, key, columns, targets)

    def check(state: Any) -> None:
        if state[2]:
            raise RuntimeError("a training subgraph is larger than was counted")

    mark = {
        "kind": "path priority",
        "config": dataclasses.asdict(config),
        "seed": seed,
        "revisit": revisit,
        "questions": fingerprint(
            examples.ngrams,
            examples.text,
            examples.paths,
            [np.asarray(column) for column in (*examples.topics, *examples.answers)],
        ),
        "start": fingerprint(params),
    }
    descent = _program(config, steps, batch, capacities, revisit)
    result = run(
        descent.step,
        descent.init(params),
        batches(),
        steps=steps,
        per_epoch=per_epoch,
        checkpoints=Checkpoints(training.folder, mark, config.checkpoint_every, check),
        on_step=lambda done: training.tick("train", done, steps),
        on_epoch=training.on_epoch,
    )
    return jax.device_get(result.weights), result.losses
