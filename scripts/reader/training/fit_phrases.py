"""Fits the maps of phrases and labels: which words of a question speak of which relation.

Nobody marks the words: of all phrases of a question the one nearest to a relation counts, and of
all relations around, those that the question asks for should be nearer than the others (multiple
instances, Dietterich et al. 1997, with the softmax of Cao et al. 2007).
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from training.maps import Maps, fit_pair, main_directions, moved, unit

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
    maps: Maps,
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
    asked = unit(jnp.einsum("bpd,de->bpe", vectors[phrases], maps["ask"]))
    told = unit(jnp.einsum("bld,de->ble", vectors[labels], maps["tell"]))
    near = jnp.where((phrases >= 0)[:, :, None], jnp.einsum("bpe,ble->bpl", asked, told), -1.0)
    scores = jnp.where(labels >= 0, _SHARP * near.max(axis=1), -1e9)
    loss = jax.nn.logsumexp(scores, axis=1) - scores[:, 0]
    return loss.mean() + _HELD * moved(maps, start) / start.shape[1]


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
    pair = fit_pair(
        phrase_loss,
        (main_directions(vectors, _WIDTH), table),
        (phrases, labels),
        seed=seed,
        epochs=epochs,
        batch=batch,
        rate=rate,
        told=told,
    )
    ask, tell = (some.astype(np.float16).astype(np.float32) for some in pair)
    return ask, tell
