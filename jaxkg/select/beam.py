"""What a search keeps: the best partial paths, their best edges, a walk that proves each answer."""

from collections.abc import Callable
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import edges_to, running_sum, top_in_group
from jaxkg.types import NULL, Frontier


class Choice(NamedTuple):
    """The continuations that live on, best first."""

    parent: jax.Array  # [B, W] int32, which of the question's paths is continued
    action: jax.Array  # [B, W] int32, how
    score: jax.Array  # [B, W] float32, -inf where there are fewer than W
    valid: jax.Array  # [B, W] bool


def choose(scores: jax.Array, *, width: int, margin: float | jax.Array = float("inf")) -> Choice:
    """Keep the best continuations of every question.

    Args:
        scores: [B, W', A] float32, the score of continuing path w by action a; -inf where that
            cannot be.
        width: W, continuations kept; static.
        margin: those that score this much less than the question's best are dropped.

    Returns:
        W continuations a question. Ties go to the earlier path, then to the smaller action. A
        question without any finite score keeps nothing.

    >>> best = choose(jnp.asarray([[[-1.0, -3.0], [-2.0, -jnp.inf]]]), width=2)
    >>> best.parent.tolist(), best.action.tolist(), best.score.tolist()
    ([[0, 1]], [[0, 0]], [[-1.0, -2.0]])
    """
    chex.assert_rank(scores, 3)
    batch, paths, actions = scores.shape
    flat = scores.reshape(batch, paths * actions)
    if width > flat.shape[1]:
        flat = jnp.pad(flat, ((0, 0), (0, width - flat.shape[1])), constant_values=-jnp.inf)
    score, place = jax.lax.top_k(flat, width)
    # Not a slice of `score`: XLA would sort the whole row for it instead of selecting, 40 times
    # slower where there are thousands of relations.
    best = jnp.max(score, axis=1, keepdims=True)
    valid = jnp.isfinite(score) & (score >= best - margin)
    place = jnp.where(valid, place, 0).astype(jnp.int32)
    return Choice(
        parent=place // actions,
        action=place % actions,
        score=jnp.where(valid, score, -jnp.inf),
        valid=valid,
    )


def best_in_rows(
    row: jax.Array,
    valid: jax.Array,
    score: Callable[[jax.Array], jax.Array],
    *,
    num_rows: int,
    most: int,
) -> jax.Array:
    """The best-scored slots of every row.

    A row that has no more than may stay keeps them all, and nobody scores them: most rows are such,
    while a hub's edges are many.

    Args:
        row: [F] int32 in [0, num_rows) where valid.
        valid: [F] bool.
        score: from [F] int32 slots, those to score first and NULL after them, to [F] float32;
            finite.
        num_rows: number of rows; static.
        most: slots that stay in a row; static.

    Returns:
        [F] bool; ties go to the earlier slot.

    Reference: Shrestha and Kim, "Efficient multi-hop question answering over knowledge graphs via
    LLM planning and embedding-guided search", Algorithm 2, line 8.

    >>> row, scores = jnp.asarray([0, 0, 0, 1]), jnp.asarray([0.1, 0.3, 0.2, 0.0])
    >>> best_in_rows(row, jnp.ones(4, bool), lambda s: scores[s], num_rows=2, most=2).tolist()
    [False, True, True, True]
    """
    chex.assert_rank(row, 1)
    chex.assert_equal_shape([row, valid])
    size = row.shape[0]
    safe = jnp.where(valid, row, num_rows)
    count = jnp.zeros(num_rows + 1, jnp.int32).at[safe].add(1)
    crowded = valid & (count[safe] > most)
    place = running_sum(crowded.astype(jnp.int32)) - 1
    slot = jnp.full(size, NULL, jnp.int32)
    slot = slot.at[jnp.where(crowded, place, size)].set(
        jnp.arange(size, dtype=jnp.int32), mode="drop"
    )
    best = top_in_group(row[slot], score(slot), slot != NULL, num_groups=num_rows, k=most).ravel()
    stays = jnp.where(best == NULL, size, slot[best])
    return (valid & ~crowded).at[stays].set(True, mode="drop")


class Witnessed(NamedTuple):
    """Answer nodes, a walk for each."""

    row: jax.Array  # [K] int32
    node: jax.Array  # [K] int32
    edges: jax.Array  # [K, L] int32, NULL past the end of the walk
    valid: jax.Array  # [K] bool


def witness_paths(trail: tuple[Frontier, ...], masks: tuple[jax.Array, ...]) -> Witnessed:
    """One walk for every answer of every row.

    Args:
        trail: L + 1 frontiers linked by `parent`, hop 0 first.
        masks: [F] bool per hop, the slots that are answers.

    Returns:
        K slots, the concatenated slots of hops 1 … L.

    >>> start, hop = (
    ...     Frontier(*(jnp.asarray([x]) for x in column), jnp.int32(1), jnp.bool_(False))
    ...     for column in ([0, 5, -1, -1, True], [0, 6, 3, 0, True])
    ... )
    >>> found = witness_paths((start, hop), (jnp.asarray([False]), jnp.asarray([True])))
    >>> found.node.tolist(), found.edges.tolist()
    ([6], [[3]])
    """
    chex.assert_equal(len(trail), len(masks))
    hops = range(1, len(trail))
    slot = [jnp.arange(trail[hop].row.shape[0], dtype=jnp.int32) for hop in hops]
    hop = [jnp.full(trail[hop].row.shape, hop, jnp.int32) for hop in hops]
    return Witnessed(
        row=jnp.concatenate([trail[hop].row for hop in hops]),
        node=jnp.concatenate([trail[hop].node for hop in hops]),
        edges=edges_to(trail, jnp.concatenate(hop), jnp.concatenate(slot)),
        valid=jnp.concatenate([masks[hop] for hop in hops]),
    )
