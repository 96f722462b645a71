"""Fits the second look: the maps of sentence vectors, then the ranker that reads them.

The ranker must not see how well maps and first look do on questions that they were trained on: each
half of the questions is looked at with what was trained on the other half.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.systems.reader.rank import rank_on_host
from jaxkg.systems.reader.second import LOOKED, SecondLook, second_views, whole_views
from jaxkg.systems.reader.training.examples import Examples
from jaxkg.systems.reader.training.fit import fit_ranker, fit_rankers, padded
from jaxkg.systems.reader.training.maps import Maps, fit_pair, main_directions, moved, unit

_WIDTH = 128
_SHARP = 20.0
_HELD = 0.03
"""How strongly the maps are held to where they start."""


def mapped_loss(
    maps: Maps,
    start: jax.Array,
    question: jax.Array,
    wordings: jax.Array,
    right: jax.Array,
    valid: jax.Array,
) -> jax.Array:
    """Mean negative log-probability of the right readings under the cosines of what is mapped.

    Args:
        maps: "ask" and "tell", [D, E] float32 each.
        start: [D, E] what they are held to.
        question: [B, D] float32.
        wordings: [B, C, 2, D] float32.
        right, valid: [B, C] bool.

    Returns:
        [] float32.
    """
    asked = unit(jnp.einsum("bd,de->be", question, maps["ask"]))
    told = unit(jnp.einsum("bcwd,de->bcwe", wordings, maps["tell"]))
    scores = _SHARP * jnp.einsum("bcwe,be->bcw", told, asked)
    scores = jnp.where(valid[:, :, None], scores, -1e9)
    good = jnp.where(right[:, :, None], scores, -1e9)
    loss = jax.nn.logsumexp(scores, axis=1) - jax.nn.logsumexp(good, axis=1)
    counts = jnp.any(right & valid, axis=1).astype(jnp.float32)
    mean = jnp.sum(loss.mean(axis=1) * counts) / jnp.maximum(counts.sum(), 1.0)
    return mean + _HELD * moved(maps, start)


def fit_maps(
    question: np.ndarray,
    wordings: np.ndarray,
    right: np.ndarray,
    valid: np.ndarray,
    *,
    seed: int,
    epochs: int = 10,
    batch: int = 64,
    rate: float = 1e-3,
) -> tuple[np.ndarray, np.ndarray]:
    """Train the two maps, see `mapped_loss` for the arguments.

    Returns:
        "ask" and "tell", [D, E] float32.
    """
    texts = np.concatenate([question, wordings[valid].reshape(-1, question.shape[1])])
    return fit_pair(
        mapped_loss,
        (main_directions(texts, _WIDTH),),
        (question, wordings, right, valid),
        seed=seed,
        epochs=epochs,
        batch=batch,
        rate=rate,
    )


@dataclasses.dataclass(frozen=True)
class _Best:
    """The readings that are looked at again, of Q questions.

    Attributes:
        rows: [Q, K] of the examples.
        valid: [Q, K] bool.
        first: [Q, K] scores of the first look.
    """

    rows: np.ndarray
    valid: np.ndarray
    first: np.ndarray


def _best(examples: Examples, scores: np.ndarray) -> _Best:
    count = len(examples.asked)
    rows = np.zeros((count, LOOKED), np.int64)
    valid, first = np.zeros((count, LOOKED), bool), np.zeros((count, LOOKED), np.float32)
    for number, (a, b) in enumerate(zip(examples.offsets[:-1], examples.offsets[1:])):
        best = a + np.argsort(-scores[a:b], kind="stable")[:LOOKED]
        rows[number, : len(best)] = best
        valid[number, : len(best)] = True
        first[number, : len(best)] = scores[best]
    return _Best(rows, valid, first)


def part_of(examples: Examples, chosen: np.ndarray) -> Examples:
    """The questions of some numbers.

    Args:
        examples: of Q questions.
        chosen: [n] numbers of questions.
    """
    starts = examples.offsets.tolist()
    spans = [np.arange(starts[q], starts[q + 1]) for q in chosen.tolist()]
    rows = np.concatenate(spans)
    return Examples(
        examples.views[rows],
        examples.right[rows],
        np.concatenate([[0], np.cumsum([len(span) for span in spans])]),
        tuple(examples.asked[q] for q in chosen),
        tuple(examples.told[row] for row in rows),
    )


def fit_second(
    examples: Examples,
    encode: Callable[[list[str]], np.ndarray] | None,
    *,
    kept: np.ndarray,
    maps: bool = True,
    seeds: Sequence[int] = (0,),
    epochs: int = 12,
    first_epochs: int = 12,
) -> SecondLook:
    """Train a second look.

    Args:
        examples: of questions.
        encode: texts to [T, D] float32; None without sentence vectors.
        kept: [F] bool, views of the first look that may be used.
        maps: whether to train the maps.
        seeds: of parameters and order; several rankers are put together. The first is the one of
            the halves and the maps.
        epochs: of the ranker.
        first_epochs: of the first look, trained anew on either half.
    """
    count, seed = len(examples.asked), seeds[0]
    half = np.random.default_rng(seed).permutation(count) % 2
    scores = np.zeros(len(examples.views), np.float32)
    for side in (0, 1):
        part = part_of(examples, np.flatnonzero(half == side))
        params, mean, scale = fit_ranker(
            *padded(part, 64), kept=kept, seed=seed, epochs=first_epochs
        )
        of_row = np.repeat(half, np.diff(examples.offsets)) != side
        scores[of_row] = rank_on_host(params, (examples.views[of_row] - mean) * scale)
    best = _best(examples, scores)
    right = examples.right[best.rows] & best.valid
    seen = np.flatnonzero(right.any(axis=1))
    texts = sorted(
        {*examples.asked, *(t for row in best.rows[best.valid] for t in examples.told[row])}
    )
    place = {text: number for number, text in enumerate(texts)}
    vectors = encode(texts) if encode else np.zeros((len(texts), 0), np.float32)
    question = vectors[[place[text] for text in examples.asked]]
    told = np.array([[[place[t] for t in examples.told[r]] for r in rows] for rows in best.rows])
    none = np.zeros((vectors.shape[1], 0), np.float32)
    halves = [(none, none), (none, none)]
    whole = (none, none)
    if maps and vectors.shape[1]:
        for side in (0, 1):
            some = seen[half[seen] == side]
            halves[side] = fit_maps(
                question[some], vectors[told[some]], right[some], best.valid[some], seed=seed
            )
        whole = fit_maps(
            question[seen], vectors[told[seen]], right[seen], best.valid[seen], seed=seed
        )
    rows = []
    for number in seen.tolist():
        ask, tell = halves[1 - half[number]]
        own = whole_views(
            question[number],
            vectors[told[number]],
            examples.asked[number],
            [texts[t] for t in told[number].ravel()],
            ask,
            tell,
        )
        rows.append(second_views(own, examples.views[best.rows[number]] * kept, best.first[number]))
    both = np.concatenate([np.ones(len(rows[0][0]) - len(kept), bool), kept])
    params, mean, scale = fit_rankers(
        np.array(rows), right[seen], best.valid[seen], kept=both, seeds=seeds, epochs=epochs
    )
    ask, tell = (np.asarray(some, np.float16).astype(np.float32) for some in whole)
    return SecondLook(params, mean, scale, ask, tell)
