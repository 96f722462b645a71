"""Training of the hybrid edge scorer.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Sec. III-B.2.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.errors import JaxkgError
from jaxkg.learn.edges.examples import EdgeBatch, EdgeStates, draw_edges
from jaxkg.learn.folder import read_npz
from jaxkg.score.edges import (
    EdgeInputs,
    EdgeScorer,
    EdgeSizes,
    depth_log_probabilities,
    hop_context,
    init_edge_scorer,
    score_state_edges,
)
from jaxkg.storage import write_npz
from jaxkg.tensors import TensorGraph


@dataclasses.dataclass(frozen=True)
class EdgeConfig:
    """Schedule of the edge scorer.

    The paper's, but for a learning rate ten times its 1e-4 after a warm-up, which takes a tenth of
    its 50 epochs.

    Attributes:
        batch_size: edges a step.
        steps: steps an epoch.
        epochs: at most.
        patience: epochs without a better validation before stopping.
        learning_rate: peak; cosine annealing with warm restarts.
        warm_up: steps in which the learning rate rises to its peak.
        floor: lowest learning rate.
        restart: epochs of the first cycle; every later one is twice as long.
        weight_decay: of AdamW.
        clip: largest norm of a gradient.
        dropout: in the classifier.
        learn_relations: also learn the relations' graph vectors, from where they start.
        dtype: of the matrix products.
    """

    batch_size: int = 1024
    steps: int = 200
    epochs: int = 10
    patience: int = 10
    learning_rate: float = 1e-3
    warm_up: int = 50
    floor: float = 1e-6
    restart: int = 10
    weight_decay: float = 1e-5
    clip: float = 1.0
    dropout: float = 0.3
    learn_relations: bool = True
    dtype: str = "float32"


def warm_restarts(config: EdgeConfig) -> optax.Schedule:
    """A warm-up, and cosine annealing that restarts after `restart`, then twice as many epochs.

    Reference: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017.
    """
    cycles, ends, length, total = [], [], config.restart, 0
    while total < config.epochs:
        decay = config.floor / config.learning_rate
        cycles.append(
            optax.cosine_decay_schedule(config.learning_rate, length * config.steps, alpha=decay)
        )
        total += length
        ends.append(total * config.steps)
        length *= 2
    annealed = optax.join_schedules(cycles, ends[:-1])
    risen = optax.linear_schedule(1 / (config.warm_up + 1), 1.0, config.warm_up)
    return lambda count: annealed(count) * risen(count)


def edge_loss(
    scorer: EdgeScorer,
    inputs: EdgeInputs,
    questions: jax.Array,
    wanted: jax.Array,
    batch: EdgeBatch,
    hidden: tuple[jax.Array, jax.Array] | None,
    *,
    weight: float,
    use_context: bool,
    dtype: str = "float32",
) -> jax.Array:
    """Weighted binary cross-entropy of edges, and cross-entropy of the hops wanted.

    Args:
        scorer, inputs: what is trained.
        questions: [Q, T] float32 text vectors.
        wanted: [Q] int32, hops of each question's right path, at least 1.
        batch: S states and F edges.
        hidden: see `score_from_tables`.
        weight: of a right edge against a wrong one.
        use_context: see `EdgeSizes.context`.
        dtype: of the products.

    Returns:
        [] float32: the mean over edges and the mean over states, added.
    """
    question, hop, node, state, relation, target, right, valid = map(jnp.asarray, batch)
    asked = questions[question]
    depth = depth_log_probabilities(scorer, asked)
    context = hop_context(jax.lax.stop_gradient(depth), hop)
    logits = score_state_edges(
        scorer,
        inputs,
        asked,
        context if use_context else jnp.zeros_like(context),
        node,
        state,
        relation,
        target,
        hidden=hidden,
        dtype=dtype,
    )
    each = optax.sigmoid_binary_cross_entropy(logits, right.astype(jnp.float32))
    each = jnp.where(valid, each * jnp.where(right, weight, 1.0), 0.0)
    hops = jnp.take_along_axis(depth, wanted[question][:, None] - 1, axis=1)
    count = jnp.maximum(jnp.sum(valid.astype(jnp.float32)), 1.0)
    return jnp.sum(each) / count - jnp.mean(hops)


def train_edge_scorer(
    tensors: TensorGraph,
    states: EdgeStates,
    inputs: EdgeInputs,
    questions: np.ndarray,
    wanted: np.ndarray,
    *,
    sizes: EdgeSizes,
    config: EdgeConfig = EdgeConfig(),
    validate: Callable[[EdgeScorer, EdgeInputs], float] | None = None,
    folder: str | os.PathLike[str] | None = None,
    seed: int = 0,
    on_epoch: Callable[[int, float, float], bool] | None = None,
    on_step: Callable[[int], None] | None = None,
) -> tuple[EdgeScorer, EdgeInputs, float]:
    """Train, keep the epoch that validates best, and go on where a folder says it stopped.

    Args:
        tensors: the graph.
        states: see `states_along`.
        inputs: vectors of nodes and relations.
        questions: [Q, T] float32 text vectors.
        wanted: [Q] int32, hops of each question's right path; 0 where it has none.
        sizes, config: of the scorer and its training.
        validate: how good a scorer is, e.g. the F1 of a search with it; at 1 there is nothing left
            to learn and training ends. None takes the last epoch.
        folder: keeps the state after every epoch; None keeps none.
        seed: of weights, drawing and dropout; an epoch's draw depends on it and the epoch alone.
        on_epoch: called with (epoch, mean loss, validation); False stops for now.
        on_step: called with the number of steps taken.

    Returns:
        The scorer, its inputs (with learned relation vectors) and its validation.

    Raises:
        JaxkgError: there are no states, or the folder's state is of another training.
    """
    if len(states.question) == 0:
        raise JaxkgError("no relation path leads from a topic to an answer in any question")
    trial = draw_edges(tensors, states, 1 << 16, np.random.default_rng(seed))
    weight = float((trial.valid & ~trial.right).sum() / max(1, trial.right.sum()))
    scorer = init_edge_scorer(sizes, key=jax.random.key(seed))
    learned: Any = (scorer, inputs.relation_graph)
    optimiser = optax.chain(
        optax.clip_by_global_norm(config.clip),
        optax.adamw(warm_restarts(config), weight_decay=config.weight_decay),
    )
    state = optimiser.init(learned)
    step = functools.partial(_step, optimiser, config, sizes, weight)
    inputs, questions_on, wanted_on = jax.device_put((inputs, questions, np.maximum(wanted, 1)))
    begin, best, best_score, since = 0, learned, -1.0, 0
    path = None if folder is None else Path(folder) / "edge_training.npz"
    mark = {"sizes": dataclasses.asdict(sizes), "config": dataclasses.asdict(config), "seed": seed}
    if path is not None and path.exists():
        (learned, state, best), about = _restore(path, (learned, state, best), mark)
        begin, best_score, since = about["epoch"], about["best"], about["since"]
    for epoch in range(begin, config.epochs):
        if since >= config.patience or (validate and best_score >= 1):
            break
        draw = np.random.default_rng((seed, epoch))
        key = jax.random.fold_in(jax.random.key(seed + 1), epoch)
        losses = []
        for taken in range(config.steps):
            batch = draw_edges(tensors, states, config.batch_size, draw)
            key, now = jax.random.split(key)
            learned, state, value = step(
                learned, state, inputs, questions_on, wanted_on, batch, now
            )
            losses.append(value)
            if on_step:
                on_step(epoch * config.steps + taken + 1)
        loss = float(np.mean(jax.device_get(losses)))
        trained = inputs._replace(relation_graph=learned[1])
        score = validate(learned[0], trained) if validate else float(epoch)
        if score > best_score:
            best, best_score, since = learned, score, 0
        else:
            since += 1
        if path is not None:
            about = {**mark, "epoch": epoch + 1, "best": best_score, "since": since}
            _keep(path, (learned, state, best), about)
        if on_epoch and on_epoch(epoch + 1, loss, score) is False:
            break
    return best[0], inputs._replace(relation_graph=best[1]), best_score


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _step(optimiser, config, sizes, weight, learned, state, inputs, questions, wanted, batch, key):
    keep = 1 - config.dropout
    shapes = [(batch.target.shape[0], width) for width in sizes.classifier]
    hidden = tuple(
        jax.random.bernoulli(some, keep, shape).astype(jnp.float32) / keep
        for some, shape in zip(jax.random.split(key), shapes)
    )

    def loss(learned):
        scorer, relation = learned
        if not config.learn_relations:
            relation = inputs.relation_graph
        return edge_loss(
            scorer,
            inputs._replace(relation_graph=relation),
            questions,
            wanted,
            batch,
            hidden,
            weight=weight,
            use_context=sizes.context,
            dtype=config.dtype,
        )

    value, gradient = jax.value_and_grad(loss)(learned)
    updates, state = optimiser.update(gradient, state, learned)
    return optax.apply_updates(learned, updates), state, value


def _keep(path: Path, tree: Any, about: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    leaves = {str(place): leaf for place, leaf in enumerate(jax.tree.leaves(tree))}
    write_npz(path, {"about": json.dumps(about), **leaves})


def _restore(path: Path, tree: Any, mark: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    leaves, shape = jax.tree.flatten(tree)
    try:
        arrays = read_npz(path)
        about = json.loads(str(arrays["about"]))
        kept = [arrays[str(place)] for place in range(len(leaves))]
    except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
        raise JaxkgError(f"the training state {path} is damaged: {error}") from error
    other = [name for name in mark if json.loads(json.dumps(mark[name])) != about.get(name)]
    if other or [np.shape(leaf) for leaf in leaves] != [leaf.shape for leaf in kept]:
        raise JaxkgError(
            f"{path} is of a training with another {other[0] if other else 'graph'}; name another "
            "folder, or delete it to start anew"
        )
    return jax.tree.unflatten(shape, [jnp.asarray(leaf) for leaf in kept]), about
