"""Walks read out of the back-pointers that frontiers carry."""

from collections.abc import Sequence

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL, Frontier


def edges_to(trail: Sequence[Frontier], hop: jax.Array, slot: jax.Array) -> jax.Array:
    """The edges walked to reach given slots.

    Args:
        trail: frontiers of hops 0 … L, linked by `parent`.
        hop: [K] int32 in [0, L], which frontier each slot is in.
        slot: [K] int32; NULL for none.

    Returns:
        [K, L] int32 edge ids in walking order, NULL past the end of a walk.

    >>> start, hop = (
    ...     Frontier(*(jnp.asarray([x]) for x in column), jnp.int32(1), jnp.bool_(False))
    ...     for column in ([0, 5, -1, -1, True], [0, 6, 3, 0, True])
    ... )
    >>> edges_to((start, hop), jnp.asarray([1, 0]), jnp.asarray([0, 0])).tolist()
    [[3], [-1]]
    """
    chex.assert_equal_shape([hop, slot])
    columns = []
    for level in range(len(trail) - 1, 0, -1):
        frontier = trail[level]
        here = (hop >= level) & (slot != NULL)
        index = jnp.clip(slot, 0, frontier.edge.shape[0] - 1)
        columns.append(jnp.where(here, frontier.edge[index], NULL))
        slot = jnp.where(here, frontier.parent[index], slot)
    if not columns:
        return jnp.zeros((*slot.shape, 0), jnp.int32)
    return jnp.stack(columns[::-1], axis=-1)
