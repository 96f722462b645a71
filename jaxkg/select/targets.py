"""Which of the edges walked bring their targets along: the best few of every path."""

from collections.abc import Callable

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import running_sum, top_in_group
from jaxkg.types import NULL


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
