"""Training of the hybrid edge scorer.

Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via LLM
planning and embedding-guided search", Sec. III-B.2.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.errors import JaxkgError
from jaxkg.learn.edges.examples import EdgeBatch, EdgeStates, draw_edges
from jaxkg.learn.loop import Checkpoints, Program, Selection, program, run, split_on
from jaxkg.learn.supervision import Training
from jaxkg.score.edges import (
    EdgeInputs,
    EdgeScorer,
    EdgeSizes,
    depth_log_probabilities,
    hop_context,
    init_edge_scorer,
    score_state_edges,
)
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Positive, Share
from jaxkg.tensors import TensorGraph


@dataclasses.dataclass(frozen=True)
class EdgeConfig(Checked):
    """Schedule of the edge scorer.

    The paper's, but for a learning rate ten times its 1e-4 after a warm-up, which takes a tenth of
    its 50 epochs, relation vectors that are learnt on, labels that tell relations apart and not
    their targets, and a hop count that is predicted. The preset "paper" has none of these.

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
        labels: an edge is right by its "relation" alone, or where its "target" too is on a path to
            an answer.
        given_hops: the hop context is told how many hops the right path has; otherwise what the
            scorer itself predicts.
        learn_relations: also learn the relations' graph vectors, from where they start.
        dtype: of the matrix products.
    """

    batch_size: Count = 1024
    steps: Count = 200
    epochs: Count = 10
    patience: Count = 10
    learning_rate: Positive = 1e-3
    warm_up: CountOrZero = 50
    floor: NotNegative = 1e-6
    restart: Count = 10
    weight_decay: NotNegative = 1e-5
    clip: Positive = 1.0
    dropout: Share = 0.3
    labels: Literal["relation", "target"] = "relation"
    given_hops: bool = False
    learn_relations: bool = True
    dtype: Literal["float32", "bfloat16"] = "float32"

    presets: ClassVar = {
        "paper": {
            "epochs": 50,
            "learning_rate": 1e-4,
            "warm_up": 0,
            "labels": "target",
            "given_hops": True,
            "learn_relations": False,
        }
    }


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
    weight: float | jax.Array,
    use_context: bool,
    config: EdgeConfig = EdgeConfig(),
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
        config: its `given_hops` and `dtype` count here; static.

    Returns:
        [] float32: the mean over edges and the mean over states, added.
    """
    question, hop, node, state, relation, target, right, valid = map(jnp.asarray, batch)
    asked = questions[question]
    depth = depth_log_probabilities(scorer, asked)
    hop_logs = jnp.log(
        jax.nn.one_hot(wanted[question] - 1, depth.shape[1], dtype=depth.dtype) + 1e-30
    )
    context = hop_context(hop_logs if config.given_hops else jax.lax.stop_gradient(depth), hop)
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
        dtype=config.dtype,
    )
    each = optax.sigmoid_binary_cross_entropy(logits, right.astype(jnp.float32))
    each = jnp.where(valid, each * jnp.where(right, weight, 1.0), 0.0)
    hops = jnp.take_along_axis(depth, wanted[question][:, None] - 1, axis=1)
    count = jnp.maximum(jnp.sum(valid.astype(jnp.float32)), 1.0)
    return jnp.sum(each) / count - jnp.mean(hops)


@functools.lru_cache(maxsize=8)
def _program(config: EdgeConfig, sizes: EdgeSizes) -> Program:
    def loss(learned, inputs, questions, wanted, weight, batch, key):
        scorer, relation = learned
        if not config.learn_relations:
            relation = inputs.relation_graph
        keep = 1 - config.dropout
        wide, narrow = jax.random.split(jax.random.wrap_key_data(key))

        def shown(key, width):
            shape = (batch.target.shape[0], width)
            return jax.random.bernoulli(key, keep, shape).astype(jnp.float32) / keep

        hidden = shown(wide, sizes.classifier[0]), shown(narrow, sizes.classifier[1])
        return edge_loss(
            scorer,
            inputs._replace(relation_graph=relation),
            questions,
            wanted,
            batch,
            hidden,
            weight=weight,
            use_context=sizes.context,
            config=config,
        )

    optimiser = optax.chain(
        optax.clip_by_global_norm(config.clip),
        optax.adamw(warm_restarts(config), weight_decay=config.weight_decay),
    )
    return program(loss, optimiser)


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
    training: Training = Training(),
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
        training: how it is run; its state is kept after every epoch, and an epoch's draw depends on
            the seed and the epoch alone.

    Returns:
        The scorer, its inputs (with learned relation vectors) and its validation, NaN without one.

    Raises:
        JaxkgError: there are no states, or the folder's state is of another training.
    """
    seed, folder = training.seed, training.folder
    steps = config.epochs * config.steps
    if len(states.question) == 0:
        raise JaxkgError("no relation path leads from a topic to an answer in any question")
    trial = draw_edges(tensors, states, 1 << 16, np.random.default_rng(seed))
    weight = np.float32((trial.valid & ~trial.right).sum() / max(1, trial.right.sum()))
    scorer = init_edge_scorer(sizes, key=jax.random.key(seed))
    inputs, *columns = jax.device_put((inputs, questions, np.maximum(wanted, 1), weight))

    def batches() -> Iterator[tuple[Any, ...]]:
        for epoch in range(config.epochs):
            draw = np.random.default_rng((seed, epoch))
            key = jax.random.fold_in(jax.random.key(seed + 1), epoch)
            for now in split_on(key, config.steps):
                yield (inputs, *columns, draw_edges(tensors, states, config.batch_size, draw), now)

    def score(learned: tuple[EdgeScorer, jax.Array]) -> float:
        assert validate is not None
        return validate(learned[0], inputs._replace(relation_graph=learned[1]))

    descent = _program(config, sizes)
    result = run(
        descent.step,
        descent.init((scorer, inputs.relation_graph)),
        batches(),
        steps=steps,
        per_epoch=config.steps,
        selection=None if validate is None else Selection(score, config.patience, enough=1.0),
        checkpoints=Checkpoints.of(
            folder,
            "edge scorer",
            seed,
            {"questions": (questions, wanted, states.nodes)},
            sizes=sizes,
            config=config,
        ),
        on_step=lambda done: training.tick("train", done, steps),
        on_epoch=training.on_epoch,
    )
    scorer, relation = result.weights
    return scorer, inputs._replace(relation_graph=relation), result.best[1]
