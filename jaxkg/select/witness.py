"""Answers with the walk that proves each, read from the back-pointers of a trail."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import edges_to
from jaxkg.types import Frontier


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
