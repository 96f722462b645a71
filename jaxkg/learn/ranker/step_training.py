"""Training of the step ranker: the right next relation against those that meet it in the graph."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.learn.loop import Checkpoints, Program, program, run, split_on
from jaxkg.learn.ranker.branches import training_branches
from jaxkg.learn.ranker.fit import label_table, right_paths
from jaxkg.learn.ranker.steps import StepRanker, token_table
from jaxkg.learn.supervision import Training, supervise
from jaxkg.records import Question
from jaxkg.score.path_steps import (
    StepParams,
    init_steps,
    marked,
    next_state,
    relation_vectors,
    step_logits,
)
from jaxkg.search.path_steps import ranges
from jaxkg.settings import Checked, Count, NotNegative, Positive, Share
from jaxkg.tensors import TensorGraph
from jaxkg.text import TextEncoder
from jaxkg.text.bert_weights import BertConfig
from jaxkg.text.states import TokenReader, reread
from jaxkg.types import NULL

_SIMILAR = 32
"""Batches among which questions are sorted by length."""


@dataclasses.dataclass(frozen=True)
class StepConfig(Checked):
    """Sizes and schedule of the step ranker.

    Attributes:
        width: numbers of a learned relation vector.
        hidden: width of the inner layer.
        batch_size: branches a step.
        epochs: passes over the branches.
        learning_rate: peak, of what is new.
        upper_rate: peak, of the text model's upper layers.
        weight_decay: of AdamW.
        every: weight of the loss over all relations, beside that over those that meet the right
            one at some node.
        dropout: share of token numbers hidden in training.
        unknown: share of relations of which the words alone are shown.
    """

    width: Count = 64
    hidden: Count = 512
    batch_size: Count = 64
    epochs: Count = 5
    learning_rate: Positive = 1e-3
    upper_rate: Positive = 1e-4
    weight_decay: NotNegative = 1e-2
    every: NotNegative = 0.5
    dropout: Share = 0.1
    unknown: Share = 0.2


def fit_steps(
    kg: KnowledgeGraph,
    tensors: TensorGraph,
    questions: Sequence[Question],
    reader: TokenReader,
    encoder: TextEncoder,
    *,
    hops: int = 4,
    config: StepConfig = StepConfig(),
    training: Training = Training(),
) -> StepRanker:
    """Train a step ranker.

    Right are the questions' own `paths`, those without any being left out; where no question has
    any, the paths mined from their answers. Each counts for those topics that it leads from, and
    one of a topic's is drawn in every epoch.

    Args:
        kg, tensors: the graph.
        questions: with paths, or with answers and topics that the graph has.
        reader: of questions.
        encoder: of relation labels.
        hops: L, longest path.
        config: sizes and schedule.
        training: how it is run; its state is kept after every epoch.

    Raises:
        JaxkgError: nothing to learn from.
    """
    tick = training.tick
    given = len(questions)
    # Beside paths that are told, mined ones are guesses, and dear ones over a large graph.
    questions = [question for question in questions if question.paths] or questions
    supervision = supervise(kg, questions, linker=training.linker, on_progress=tick)
    right, revisit = right_paths(kg, tensors, supervision, hops=hops, on_progress=tick)
    tokens = reader.read([question.text for question in questions])
    tick("read", len(questions), len(questions))
    branches = training_branches(tensors, supervision, right, tokens, hops=hops)
    if not branches:
        raise JaxkgError("no training question has a relation path to its answers")
    labels = label_table(encoder, kg.relations)
    params = init_steps(
        reader.upper,
        kg.num_relations,
        dimension=reader.config.hidden_size,
        width=config.width,
        hidden=config.hidden,
        key=jax.random.key(training.seed),
    )
    size = min(config.batch_size, len(branches))
    lengths = np.diff(tokens.offsets)[[branch.question for branch in branches]]
    per_epoch = len(branches) // size
    steps = config.epochs * per_epoch
    fixed = (jnp.asarray(labels), jnp.asarray(meetings(tensors)))

    def batches() -> Iterator[tuple[Any, ...]]:
        keys = iter(split_on(jax.random.key(training.seed + 1), steps))
        for epoch in range(config.epochs):
            draw = np.random.default_rng((training.seed, epoch))
            order = draw.permutation(len(branches))[: per_epoch * size]
            cuts = np.arange(_SIMILAR * size, len(order), _SIMILAR * size)
            parts = [
                part[np.argsort(lengths[part], kind="stable")] for part in np.split(order, cuts)
            ]
            rows = np.concatenate(parts).reshape(per_epoch, size)
            for batch_rows in rows[draw.permutation(per_epoch)].tolist():
                batch = [branches[i] for i in batch_rows]
                paths = [branch.paths[draw.integers(len(branch.paths))] for branch in batch]
                yield (*fixed, *token_table(tokens, batch), np.stack(paths), next(keys))

    descent = _program(reader.config, config, steps)
    result = run(
        descent.step,
        descent.init(params),
        batches(),
        steps=steps,
        per_epoch=per_epoch,
        checkpoints=Checkpoints.of(
            training.folder,
            "step ranker",
            training.seed,
            {"branches": (labels, tokens.offsets, *(branch.paths for branch in branches))},
            config=config,
        ),
        on_step=lambda done: tick("train", done, steps),
        on_epoch=training.on_epoch,
    )
    about = {
        "questions": given,
        "with_paths": len({branch.question for branch in branches}),
        "branches": len(branches),
        "revisit": revisit,
        "seed": training.seed,
    }
    text = reader.name, reader.revision, reader.config
    return StepRanker(jax.device_get(result.weights), kg.relations, text, hops, about)


def meetings(tensors: TensorGraph) -> np.ndarray:
    """[R, R] bool, relations that have an edge at one node; either way, each with itself."""
    size = tensors.graph.num_relations
    offsets = np.asarray(tensors.graph.run_offsets).astype(np.int64)
    counts = np.diff(offsets)
    codes = np.asarray(tensors.graph.run_relation)[: offsets[-1]] % size
    node = np.repeat(np.arange(len(counts)), counts)
    others, own = ranges(offsets[node], offsets[node + 1])
    table = np.zeros((size, size), bool)
    table[codes[own], codes[others]] = True
    np.fill_diagonal(table, True)
    return table


@functools.lru_cache(maxsize=4)
def _program(text: BertConfig, config: StepConfig, steps: int) -> Program:
    def loss(params, labels, meets, states, lengths, marks, paths, key):
        keys = jax.random.split(jax.random.wrap_key_data(key), 3)
        known = jax.random.bernoulli(keys[0], 1 - config.unknown, (len(labels), 1))
        weights = params._replace(relation=jnp.where(known, params.relation, 0.0))
        states = _dropped(keys[1], states.astype(jnp.float32), config.dropout)
        states = reread(text, params.upper, marked(weights, states, marks), lengths)
        states = _dropped(keys[2], states, config.dropout)
        return jnp.mean(
            path_loss(weights, labels, meets, states, lengths, paths, every=config.every)
        )

    def rated(peak: float) -> optax.GradientTransformation:
        rate = optax.warmup_cosine_decay_schedule(0.0, peak, max(1, steps // 15), max(2, steps))
        return optax.adamw(rate, weight_decay=config.weight_decay)

    def part_of(params: StepParams) -> Any:
        names = jax.tree.map(lambda _: "new", params)
        return names._replace(upper=jax.tree.map(lambda _: "upper", params.upper))

    optimiser = optax.chain(
        optax.clip_by_global_norm(5.0),
        optax.multi_transform(
            {"upper": rated(config.upper_rate), "new": rated(config.learning_rate)}, part_of
        ),
    )
    return program(loss, optimiser)


def _dropped(key: jax.Array, values: jax.Array, share: float) -> jax.Array:
    return values * jax.random.bernoulli(key, 1 - share, values.shape) / (1 - share)


def path_loss(
    params: StepParams,
    labels: jax.Array,
    meets: jax.Array,
    states: jax.Array,
    lengths: jax.Array,
    paths: jax.Array,
    *,
    every: float,
) -> jax.Array:
    """[B] float32, minus the log-probability of right paths, their ends included.

    A right relation competes with those that meet it at some node of the graph: these are what a
    search finds beside it. The end competes with what meets the last relation.

    Args:
        params, labels, meets: as above.
        states: [B, T, D] float32 token states; lengths: [B] int32.
        paths: [B, L] int32, NULL past the end; at least one step.
        every: weight of the same loss over all relations.
    """
    vectors = relation_vectors(params, labels)
    size = len(labels)
    batch = len(paths)
    length = jnp.sum(paths != NULL, axis=1)
    state = jnp.broadcast_to(params.start[None], (batch, len(params.start)))
    total = jnp.zeros(batch)
    for hop in range(paths.shape[1] + 1):
        taken = jnp.maximum(paths[:, min(hop, paths.shape[1] - 1)], 0)
        ends = length == hop
        logits = step_logits(params, vectors, states, lengths, state)
        last = jnp.maximum(paths[:, max(hop - 1, 0)], 0)
        rivals = meets[jnp.where(ends, last, taken)]
        offered = jnp.concatenate([rivals, jnp.full((batch, 1), hop > 0)], axis=1)
        right = jnp.where(ends, size, taken)[:, None]
        among = jax.nn.log_softmax(jnp.where(offered, logits, -jnp.inf))
        shares = among + every * jax.nn.log_softmax(logits)
        gain = jnp.take_along_axis(shares, right, axis=1)[:, 0]
        total -= jnp.where(hop <= length, gain, 0.0)
        state = next_state(params, state, vectors[jnp.where(ends, size, taken)])
    return total
