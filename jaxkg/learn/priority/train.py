"""Training of the path priority from answers alone."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.candidates import Revisit
from jaxkg.candidates.relation_paths import is_target
from jaxkg.errors import JaxkgError
from jaxkg.learn.folder import read_npz
from jaxkg.learn.mine import targets_table
from jaxkg.learn.priority.model import leaves_like, numbered
from jaxkg.learn.priority.subgraphs import prioritise
from jaxkg.learn.words import hide_words
from jaxkg.score.message_passing import Inflow
from jaxkg.score.priority import (
    PriorityParams,
    Question,
    entity_states,
    read_questions,
)
from jaxkg.storage import write_json, write_npz
from jaxkg.tensors import TensorGraph, bucket, starts_table
from jaxkg.types import NULL

_LEAST_SLOTS = 256


@dataclasses.dataclass(frozen=True)
class PriorityConfig:
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
        checkpoint_every: steps between checkpoints, where they are written.
    """

    batch_size: int = 64
    epochs: int = 2
    most: int | None = 20_000
    fan_out: int = 64
    learning_rate: float = 5e-3
    dropout: float = 0.1
    hidden_words: float = 0.5
    sharpness: float = 1.0
    checkpoint_every: int = 100


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

    Returns:
        [] float32, mean over the questions with an answer in their subgraph.

    Reference: PathMind, Eq. 6; the weights of wrong entities: Sun et al., "RotatE", Eq. 5.
    """
    group = jnp.where(right | wrong, row, num_questions)

    def total(values, mask):
        return jax.ops.segment_sum(jnp.where(mask, values, 0.0), group, num_questions + 1)

    given = jax.lax.stop_gradient(sharpness * logit)
    highest = jax.ops.segment_max(jnp.where(wrong, given, -jnp.inf), group, num_questions + 1)
    weight = jnp.exp(jnp.where(wrong, given - highest[group], -jnp.inf))
    share = weight / jnp.maximum(total(weight, wrong), 1e-9)[group]
    answers = total(jnp.ones_like(logit), right)
    loss = -total(jax.nn.log_sigmoid(logit), right) / jnp.maximum(answers, 1.0)
    loss -= total(share * jax.nn.log_sigmoid(-logit), wrong)
    counts = (answers > 0)[:num_questions].astype(jnp.float32)
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
    some = jnp.any(valid, axis=1)
    # Where there is no path, any finite row keeps the gradient defined; it is masked below.
    masked = jnp.where(valid | ~some[:, None], total, -jnp.inf)
    likelihood = jnp.where(some, jax.nn.logsumexp(masked, axis=1), 0.0)
    return -jnp.sum(likelihood) / jnp.maximum(jnp.sum(some), 1).astype(jnp.float32)


class TrainState(NamedTuple):
    """All that the next step depends on."""

    params: PriorityParams
    optimiser: optax.OptState
    step: jax.Array  # [] int32


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
    seed: int = 0,
    checkpoints: Path | None = None,
    on_step: Callable[[int, int, float], None] | None = None,
) -> tuple[PriorityParams, list[float]]:
    """Train a path priority.

    Args:
        tensors, inflow: the graph.
        features: [N, F] float32 label features; [N, 0] for learned states.
        labels: [R, T'] int32 n-grams and [R, G] float32 text features of the relation labels.
        examples: to learn from.
        params: to start from.
        config: schedule.
        revisit: which nodes a walk may enter.
        seed: of order and dropout.
        checkpoints: folder to continue from, if it holds a checkpoint of the same training, and to
            write to. A stopped and continued training is bit for bit the uninterrupted one on the
            same device.
        on_step: called with (step, steps, loss).

    Returns:
        The weights, and the loss of each step.

    Raises:
        JaxkgError: the checkpoint belongs to another training.
    """
    count = len(examples.topics)
    batch = min(config.batch_size, count)
    per_epoch = -(-count // batch)
    steps = per_epoch * config.epochs
    batches = _batches(count, batch, config.epochs, seed)
    # Every batch's size is known beforehand, so that one program serves all.
    wanted = examples.sizes[batches].sum(axis=1).max(axis=0)
    capacities = tuple(bucket(int(n), floor=_LEAST_SLOTS, steps=4) for n in wanted)
    schedule = optax.cosine_onecycle_schedule(max(2, steps), config.learning_rate, pct_start=0.1)
    optimiser = optax.adam(schedule)
    state = TrainState(params, optimiser.init(params), jnp.zeros((), jnp.int32))
    key = jax.random.key(seed)
    label_ngrams, label_text = map(jnp.asarray, labels)

    @jax.jit
    def advance(state, graph, inflow, features, batch_in, targets):
        row, node, ngrams, text, paths = batch_in
        ngrams = hide_words(
            ngrams,
            jax.random.fold_in(key, state.step),
            words=config.hidden_words,
            each=config.dropout,
        )

        def loss_of(params):
            states = entity_states(params, inflow, features)
            question = read_questions(params, ngrams, text, label_ngrams, label_text)
            sub, logit = prioritise(
                graph, params, states, question, row, node, capacities=capacities,
                fan_out=config.fan_out, floor=0.0, revisit=revisit,
            )  # fmt: skip
            entity = sub.is_entity
            right = entity & is_target(sub.row, sub.node, targets)
            loss = priority_loss(
                logit, sub.row, right, entity & ~right,
                num_questions=batch, sharpness=config.sharpness,
            )  # fmt: skip
            return loss + path_loss(question, paths), sub.overflow

        (loss, overflow), gradient = jax.value_and_grad(loss_of, has_aux=True)(state.params)
        updates, moments = optimiser.update(gradient, state.optimiser, state.params)
        params = jax.tree.map(jnp.add, state.params, updates)
        return TrainState(params, moments, state.step + 1), loss, overflow

    mark = _fingerprint(examples, config, revisit, seed, params)
    losses: list[float] = []
    if checkpoints is not None:
        state, losses = _resume(checkpoints, state, mark)
    on_device = jax.device_put((tensors.graph, inflow, features))
    slots = batch * max(map(len, examples.topics))
    goals = batch * max(map(len, examples.answers))
    for step in range(len(losses), steps):
        rows = batches[step]
        topics = starts_table([examples.topics[i] for i in rows], num_rows=batch, slots=slots)
        batch_in = (*topics, examples.ngrams[rows], examples.text[rows], examples.paths[rows])
        targets = targets_table([examples.answers[i] for i in rows], num_rows=batch, slots=goals)
        state, loss, overflow = advance(state, *on_device, batch_in, targets)
        if overflow:
            raise RuntimeError("a training subgraph is larger than was counted")
        losses.append(float(loss))
        if on_step:
            on_step(step + 1, steps, losses[-1])
        if checkpoints is not None and (
            (step + 1) % config.checkpoint_every == 0 or step + 1 == steps
        ):
            _checkpoint(checkpoints, state, losses, mark)
    return jax.device_get(state.params), losses


def _batches(count: int, size: int, epochs: int, seed: int) -> np.ndarray:
    """[steps, B] the questions of each step; an epoch's last batch is filled up from its front."""
    per_epoch = -(-count // size)
    orders = [np.random.default_rng((seed, epoch)).permutation(count) for epoch in range(epochs)]
    return np.concatenate([np.resize(order, (per_epoch, size)) for order in orders])


def _fingerprint(
    examples: PriorityExamples,
    config: PriorityConfig,
    revisit: Revisit,
    seed: int,
    params: PriorityParams,
) -> str:
    """What a checkpoint must agree in to be continued."""
    digest = hashlib.sha256(repr((dataclasses.asdict(config), revisit, seed)).encode())
    digest.update(repr((examples.topics, examples.answers)).encode())
    for array in (examples.ngrams, examples.text, examples.paths, *jax.tree.leaves(params)):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _checkpoint(folder: Path, state: TrainState, losses: list[float], mark: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    step = len(losses)
    write_npz(folder / f"step{step}.npz", numbered(jax.tree.leaves(jax.device_get(state))))
    meta = {"mark": mark, "step": step, "losses": losses}
    # The JSON is what names the arrays: until it is replaced, the older checkpoint holds.
    write_json(folder / "training.json", meta)
    for old in folder.glob("step*.npz"):
        if old.name != f"step{step}.npz":
            old.unlink()


def _resume(folder: Path, state: TrainState, mark: str) -> tuple[TrainState, list[float]]:
    """The checkpoint in a folder; the state given where there is none."""
    try:
        meta = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return state, []
    if meta.get("mark") != mark:
        raise JaxkgError(
            f"the checkpoint in {folder} is of another training (other questions, settings, seed "
            "or sizes); give another folder, or delete it"
        )
    leaves = leaves_like(read_npz(folder / f"step{meta['step']}.npz"), jax.tree.leaves(state))
    restored = jax.tree.unflatten(jax.tree.structure(state), leaves)
    return restored, meta["losses"]
