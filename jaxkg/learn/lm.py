"""Training of a language model: on answers (SFT), or on preferred completions (DPO).

`train` fits all weights, or a LoRA of them, to examples or to pairs of a preferred and another
completion; it goes on where it was stopped, bit for bit.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from jaxkg.learn.checkpoint import fingerprint
from jaxkg.learn.loop import Checkpoints, Program, program, run, shuffled
from jaxkg.lm.checkpoint import LanguageModel
from jaxkg.lm.lora import Lora, init_lora, merge
from jaxkg.lm.model import Llama, causal_mask
from jaxkg.lm.packing import Example, Packed, pack
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Positive, Share
from jaxkg.types import NULL


def label_log_probabilities(model: Llama, batch: Packed) -> jax.Array:
    """Log-probability of every learnt token, given what stands before it in its example.

    Only the states that predict a learnt token meet the output layer.

    Args:
        model: weights.
        batch: N rows.

    Returns:
        [N, A] float32, 0 where there is nothing to learn.
    """
    segment = jnp.asarray(batch.segment)
    states, _ = model(jnp.asarray(batch.tokens), jnp.asarray(batch.position), causal_mask(segment))
    place = jnp.asarray(batch.place)
    chosen = jnp.take_along_axis(states, jnp.maximum(place, 0)[:, :, None], axis=1)
    scores = jax.nn.log_softmax(model.logits(chosen), axis=-1)
    found = jnp.take_along_axis(scores, jnp.asarray(batch.label)[:, :, None], axis=2)[:, :, 0]
    return jnp.where(place != NULL, found, 0.0)


def answer_loss(model: Llama, batch: Packed) -> jax.Array:
    """Mean negative log-likelihood of the answers' tokens; prompts are not learnt.

    Returns:
        [] float32.

    Reference: PathMind, Eq. 7.
    """
    count = jnp.sum(jnp.asarray(batch.place) != NULL, dtype=jnp.float32)
    return -jnp.sum(label_log_probabilities(model, batch)) / jnp.maximum(count, 1.0)


def example_log_probabilities(model: Llama, batch: Packed) -> jax.Array:
    """[N] float32: log-probability of each row's answers, for rows of one example."""
    return jnp.sum(label_log_probabilities(model, batch), axis=1)


def dpo_loss(
    preferred: jax.Array,
    other: jax.Array,
    reference_preferred: jax.Array,
    reference_other: jax.Array,
    *,
    beta: float = 0.1,
) -> jax.Array:
    """Direct preference optimisation of pairs of completions.

    Args:
        preferred, other: [N] float32 log-probabilities of the completions under the model.
        reference_preferred, reference_other: the same under the frozen reference.
        beta: how much leaving the reference costs.

    Returns:
        [] float32, mean over the pairs.

    Reference: Rafailov et al., "Direct preference optimization", 2023, Eq. 7; PathMind, Eq. 8.
    """
    margin = (preferred - reference_preferred) - (other - reference_other)
    return -jnp.mean(jax.nn.log_sigmoid(beta * margin))


Progress = Callable[[int, int, float], None]


@dataclasses.dataclass(frozen=True)
class TrainConfig(Checked):
    """Schedule of a training run.

    PathMind trains 8 billion parameters for 3 epochs in batches of 2 with a warm-up of 3 %, at
    2e-5 (SFT) and 5e-6 (DPO); the defaults are those of a small model trained from scratch.

    Attributes:
        epochs: passes over the rows.
        length: tokens of a row.
        batch_size: rows a step.
        learning_rate: peak; it falls to a tenth along a cosine.
        warmup: share of the steps in which it rises.
        weight_decay: of AdamW.
        clip: largest norm of a gradient.
        lora_rank: 0 trains all weights; 16 is the usual rank.
        lora_alpha: scale of the change, over the rank.
        beta: of DPO.
        dtype: of the products; weights and sums stay float32 under "bfloat16".
        every: steps between two states kept.
    """

    epochs: Count = 3
    length: Count = 512
    batch_size: Count = 8
    learning_rate: Positive = 1e-3
    warmup: Share = 0.03
    weight_decay: NotNegative = 0.01
    clip: Positive = 1.0
    lora_rank: CountOrZero = 0
    lora_alpha: Positive = 32.0
    beta: Positive = 0.1
    dtype: Literal["float32", "bfloat16"] = "float32"
    every: Count = 100

    def schedule(self, steps: int) -> optax.Schedule:
        """The learning rate of each of so many steps."""
        return optax.warmup_cosine_decay_schedule(
            0.0,
            self.learning_rate,
            max(1, round(self.warmup * steps)),
            max(2, steps),
            0.1 * self.learning_rate,
        )

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        """AdamW with clipped gradients."""
        return optax.chain(
            optax.clip_by_global_norm(self.clip),
            optax.adamw(self.schedule(steps), b2=0.95, weight_decay=self.weight_decay),
        )


@dataclasses.dataclass(frozen=True)
class Trained:
    """What training gives.

    Attributes:
        language: the model, a LoRA merged into it.
        lora: the change alone, where one was trained.
        losses: of every step.
    """

    language: LanguageModel
    lora: Lora | None
    losses: tuple[float, ...]


class Pairs(NamedTuple):
    """Preferred and other completions, with their log-probabilities under the reference."""

    preferred: Packed
    other: Packed
    reference_preferred: np.ndarray  # [N] float32
    reference_other: np.ndarray  # [N] float32


def train(
    language: LanguageModel,
    examples: Sequence[Example],
    *,
    config: TrainConfig = TrainConfig(),
    checkpoints: str | os.PathLike[str] | None = None,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Trained:
    """Learn to write the answers of examples; their prompts are read, not learnt.

    Args:
        language: to start from.
        examples: at most `config.length` tokens each; packed, several to a row.
        config: schedule.
        checkpoints: folder that keeps the state; the same run goes on from it, on one kind of
            device bit for bit.
        seed: of the order, and of a LoRA's first factors.
        on_progress: called with (steps done, steps, loss) wherever a state is kept.

    Raises:
        JaxkgError: no examples, one too long, or the folder holds another run.

    Reference: PathMind, Eq. 7; LoRA as in Shrestha and Kim, Section III-A3, without dropout.
    """
    rows = pack(examples, length=config.length)
    return _run(language, rows, config, checkpoints, seed, on_progress)


def align(
    language: LanguageModel,
    pairs: Sequence[tuple[Example, Example]],
    *,
    config: TrainConfig = TrainConfig(epochs=1, learning_rate=1e-4),
    checkpoints: str | os.PathLike[str] | None = None,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Trained:
    """Learn to prefer the first completion of each pair; the model as given is the reference.

    Args and raises as `train`. In PathMind's pairs the prompt is the question, the first completion
    its important paths, the second other paths of its subgraph.

    Reference: PathMind, Eq. 8.
    """
    chosen = pack([first for first, _ in pairs], length=config.length, together=False)
    others = pack([second for _, second in pairs], length=config.length, together=False)
    graphdef, weights = nnx.split(language.model)

    @jax.jit
    def log_probabilities(weights: Any, batch: Packed) -> jax.Array:
        return example_log_probabilities(nnx.merge(graphdef, weights), batch)

    def under_reference(rows: Any) -> np.ndarray:
        found = []
        for first in range(0, len(pairs), config.batch_size):
            at = np.arange(first, first + config.batch_size) % len(pairs)
            found.append(log_probabilities(weights, _taken(rows, at)))
        return np.concatenate(jax.device_get(found))[: len(pairs)]

    rows = Pairs(chosen, others, under_reference(chosen), under_reference(others))
    return _run(language, rows, config, checkpoints, seed, on_progress)


def _loss(model: Llama, batch: Packed | Pairs, beta: float) -> jax.Array:
    if isinstance(batch, Packed):
        return answer_loss(model, batch)
    return dpo_loss(
        example_log_probabilities(model, batch.preferred),
        example_log_probabilities(model, batch.other),
        jnp.asarray(batch.reference_preferred),
        jnp.asarray(batch.reference_other),
        beta=beta,
    )


def _whole(config: TrainConfig, trained: Any, weights: Any) -> Any:
    """The model's weights, from those trained and those it started from."""
    if not config.lora_rank:
        return trained
    return merge(weights, trained, alpha=config.lora_alpha)


@functools.lru_cache(maxsize=8)
def _program(graphdef: Any, config: TrainConfig, steps: int) -> Program:
    def loss(trained: Any, weights: Any, batch: Any) -> jax.Array:
        used = _whole(config, trained, weights)
        if config.dtype == "bfloat16":
            used = jax.tree.map(lambda array: array.astype(jnp.bfloat16), used)
        return _loss(nnx.merge(graphdef, used), batch, config.beta)

    return program(loss, config.optimiser(steps))


def _run(
    language: LanguageModel,
    rows: Packed | Pairs,
    config: TrainConfig,
    checkpoints: str | os.PathLike[str] | None,
    seed: int,
    on_progress: Progress | None,
) -> Trained:
    count = len(jax.tree.leaves(rows)[0])
    per_epoch = -(-count // config.batch_size)
    steps = config.epochs * per_epoch
    graphdef, weights = nnx.split(language.model)
    # Without a LoRA the starting weights take no part; passing them would keep them alive.
    start, base = weights, nnx.State({})
    if config.lora_rank:
        start = init_lora(weights, rank=config.lora_rank, key=jax.random.key(seed))
        base = weights
    orders = shuffled(count, config.batch_size, epochs=config.epochs, seed=seed)
    descent = _program(graphdef, config, steps)
    found = run(
        descent.step,
        descent.init(start),
        ((base, _taken(rows, order)) for order in orders),
        steps=steps,
        per_epoch=per_epoch,
        checkpoints=Checkpoints(
            checkpoints,
            mark={
                "kind": type(rows).__name__,
                "config": dataclasses.asdict(config),
                "seed": seed,
                "sizes": language.config.to_dict(),
                "examples": fingerprint(rows),
                "start": fingerprint(weights),
            },
            on_keep=None
            if on_progress is None
            else lambda done, loss: on_progress(done, steps, loss),
            every=config.every,
        ),
    )
    model = nnx.merge(graphdef, _whole(config, found.weights, weights))
    return Trained(
        dataclasses.replace(language, model=model),
        found.weights if config.lora_rank else None,
        found.losses,
    )


def _taken(tree: Any, at: np.ndarray) -> Any:
    return jax.tree.map(lambda part: part[at], tree)
