"""Filtered ranking of true entities among all entities, on the device, in blocks."""

from __future__ import annotations

import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.score.embeddings import Embeddings, Model, move, score_against
from jaxkg.tensors import bucket, pad
from jaxkg.types import NULL

_BLOCK = 1 << 23
"""Scores held at a time."""


@functools.partial(jax.jit, static_argnames=("model", "inverse", "norm"))
def count_better(
    model: Model,
    embeddings: Embeddings,
    known: jax.Array,
    relation: jax.Array,
    true: jax.Array,
    others: tuple[jax.Array, jax.Array],
    *,
    inverse: bool,
    norm: int = 1,
) -> tuple[jax.Array, jax.Array]:
    """How many candidates beat, or tie with, the true entity of each query.

    Args:
        model, inverse, norm: see `move`; static.
        embeddings: of all N entities.
        known, relation, true: [B] int32; the entity given, the relation, the one to be found.
        others: [F] int32 query and [F] int32 entity of every other known answer, query NULL where
            padded: left out of both counts.

    Returns:
        [B] int32 candidates that score higher, and others that score the same.
    """
    chex.assert_equal_shape([known, relation, true])
    moved = jax.vmap(functools.partial(move, model, inverse=inverse))(
        embeddings.entity[known], embeddings.relation[relation]
    )
    scores = score_against(model, moved, embeddings.entity, norm=norm)
    target = jnp.take_along_axis(scores, true[:, None], axis=1)
    size = known.shape[0]
    row = jnp.concatenate([jnp.where(others[0] == NULL, size, others[0]), jnp.arange(size)])
    column = jnp.concatenate([others[1], true])
    scores = scores.at[row, column].set(-jnp.inf, mode="drop")
    better = jnp.sum(scores > target, axis=1, dtype=jnp.int32)
    return better, jnp.sum(scores == target, axis=1, dtype=jnp.int32)


def rank_links(
    model: Model,
    embeddings: Embeddings,
    triples: np.ndarray,
    known: np.ndarray,
    *,
    norm: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Counts for `jaxkg.evaluate.metrics.ranking`: all tail queries, then all head queries.

    Args:
        model: of the embeddings.
        embeddings: trained.
        triples: [Q, 3] int, to be ranked.
        known: [T, 3] int, all known facts, those in `triples` too (Bordes et al., 2013: filtered).
        norm: of TransE.

    Returns:
        [2Q] int32 better and [2Q] int32 equal candidates.
    """
    block = max(1, min(512, _BLOCK // len(embeddings.entity)))
    better, equal = [], []
    for inverse in (False, True):
        given, wanted = (2, 0) if inverse else (0, 2)
        filters = _answers_by_query(known, given, wanted)
        for first in range(0, len(triples), block):
            rows = np.resize(
                np.arange(first, min(first + block, len(triples))), min(block, len(triples))
            )
            batch = triples[rows].astype(np.int32)
            others = _others(filters, batch, given, wanted)
            counts = count_better(
                model, embeddings, batch[:, given], batch[:, 1], batch[:, wanted], others,
                inverse=inverse, norm=norm,
            )  # fmt: skip
            real = min(block, len(triples) - first)
            for whole, part in zip((better, equal), jax.device_get(counts)):
                whole.append(part[:real])
    return np.concatenate(better), np.concatenate(equal)


def _answers_by_query(
    known: np.ndarray, given: int, wanted: int
) -> dict[tuple[int, int], np.ndarray]:
    """Sorted distinct answers of every (entity, relation)."""
    rows = np.unique(known[:, [given, 1, wanted]], axis=0)
    starts = np.flatnonzero(np.any(np.diff(rows[:, :2], axis=0, prepend=-1) != 0, axis=1))
    keys = map(tuple, rows[starts, :2].tolist())
    return dict(zip(keys, np.split(rows[:, 2], starts[1:])))


def _others(
    filters: dict[tuple[int, int], np.ndarray], triples: np.ndarray, given: int, wanted: int
) -> tuple[np.ndarray, np.ndarray]:
    """The other known answers of a block of queries, padded to a power of two."""
    empty = np.zeros(0, np.int64)
    lists = [filters.get((e, r), empty) for e, r in triples[:, [given, 1]].tolist()]
    lists = [others[others != true] for others, true in zip(lists, triples[:, wanted].tolist())]
    row = np.repeat(np.arange(len(lists), dtype=np.int32), [len(others) for others in lists])
    column = np.concatenate(lists).astype(np.int32)
    size = bucket(len(row))
    return pad(row, size), pad(column, size)
