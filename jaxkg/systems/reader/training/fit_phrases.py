"""Fits the maps of phrases and labels: which words of a question speak of which relation.

Nobody marks the words: of all phrases of a question the one nearest to a relation counts, and of
all relations around, those that the question asks for should be nearer than the others (multiple
instances, Dietterich et al. 1997, with the softmax of Cao et al. 2007).
"""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxkg.learn.loop import Program, program, run, shuffled

_WIDTH = 192
_SHARP = 16.0
_HELD = 0.1
"""How strongly the maps are held to where they start."""
_PHRASES, _LABELS = 24, 24


@dataclasses.dataclass(frozen=True)
class Spoke:
    """A question's phrases with labels that it speaks of and others around.

    Attributes:
        phrases: names left out.
        right, wrong: labels.
    """

    phrases: tuple[str, ...]
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def phrase_loss(
    maps: dict[str, jax.Array],
    start: jax.Array,
    vectors: jax.Array,
    phrases: jax.Array,
    labels: jax.Array,
) -> jax.Array:
    """Mean negative log-probability of the first label among all.

    Args:
        maps: "ask" and "tell", [D, E] float32 each.
        start: [D, E] what they are held to.
        vectors: [T, D] float32, the last of them zeros.
        phrases: [B, P] int32 places in `vectors`, -1 for none.
        labels: [B, L] int32, the right one first, -1 for none.

    Returns:
        [] float32.
    """
    asked = _unit(jnp.einsum("bpd,de->bpe", vectors[phrases], maps["ask"]))
    told = _unit(jnp.einsum("bld,de->ble", vectors[labels], maps["tell"]))
    near = jnp.where((phrases >= 0)[:, :, None], jnp.einsum("bpe,ble->bpl", asked, told), -1.0)
    scores = jnp.where(labels >= 0, _SHARP * near.max(axis=1), -1e9)
    loss = jax.nn.logsumexp(scores, axis=1) - scores[:, 0]
    moved = sum(jnp.sum((maps[name] - start) ** 2) for name in ("ask", "tell"))
    return loss.mean() + _HELD * moved / start.shape[1]


def _unit(vectors: jax.Array) -> jax.Array:
    return vectors / jnp.sqrt(jnp.sum(vectors**2, axis=-1, keepdims=True) + 1e-9)


@functools.lru_cache
def _mapping(steps: int, rate: float) -> Program:
    return program(phrase_loss, optax.adam(optax.cosine_decay_schedule(rate, steps)))


def fit_phrases(
    spoke: Sequence[Spoke],
    encode: Callable[[list[str]], np.ndarray],
    *,
    seed: int = 0,
    epochs: int = 8,
    batch: int = 64,
    rate: float = 1e-3,
    told: Callable[[int, float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Train the maps; they start as one projection onto the main directions of the texts.

    Returns:
        "ask" and "tell", [D, E] float32.
    """
    order = random.Random(seed)
    texts = sorted({t for one in spoke for t in (*one.phrases, *one.right, *one.wrong)})
    place = {text: number for number, text in enumerate(texts)}
    vectors = encode(texts)
    _, main = np.linalg.eigh(vectors.T @ vectors)
    start = jnp.asarray(main[:, ::-1][:, :_WIDTH].copy(), jnp.float32)
    table = jnp.asarray(np.concatenate([vectors, np.zeros((1, vectors.shape[1]), np.float32)]))
    rows = [(one, right) for one in spoke for right in one.right if one.wrong]
    phrases = np.full((len(rows), _PHRASES), -1, np.int32)
    labels = np.full((len(rows), _LABELS), -1, np.int32)
    for number, (one, right) in enumerate(rows):
        some = [place[text] for text in one.phrases[:_PHRASES]]
        phrases[number, : len(some)] = some
        wrong = order.sample(one.wrong, min(len(one.wrong), _LABELS - 1))
        near = [place[right], *(place[text] for text in wrong)]
        labels[number, : len(near)] = near
    per_epoch = -(-len(rows) // batch)
    made = _mapping(epochs * per_epoch, rate)
    batches = (
        (start, table, phrases[r], labels[r])
        for r in shuffled(len(rows), batch, epochs=epochs, seed=seed)
    )
    maps = run(
        made.step,
        made.init({"ask": start, "tell": start}),
        batches,
        steps=epochs * per_epoch,
        per_epoch=per_epoch,
        on_epoch=lambda epoch, loss, _: told(epoch, loss) if told else None,
    ).weights
    ask, tell = (np.asarray(maps[name], np.float16).astype(np.float32) for name in ("ask", "tell"))
    return ask, tell
