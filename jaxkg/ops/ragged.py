"""Ragged expansion: lists of unequal length laid end to end in a fixed number of slots."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp


class Ragged(NamedTuple):
    """Where each slot of a flat list comes from."""

    row: jax.Array  # [C] int32, index of the list a slot belongs to; clamped where not valid
    position: jax.Array  # [C] int32, place within that list
    valid: jax.Array  # [C] bool
    needed: jax.Array  # [] int32, total length of all lists; at most 2^31 - 1
    overflow: jax.Array  # [] bool, True where `needed` > C


_INT32_MAX = 2**31 - 1


def expand_ragged(lengths: jax.Array, *, capacity: int) -> Ragged:
    """Lay lists of the given lengths end to end.

    Args:
        lengths: [F] int32, non-negative; 0 for a list that is empty or masked out.
        capacity: number of slots C; static.

    Returns:
        A `Ragged` whose slots run through list 0, then list 1, and so on. With overflow the first
        `capacity` slots are filled unless the total exceeds 2^31 - 1, where nothing is valid.
    """
    chex.assert_rank(lengths, 1)
    chex.assert_type(lengths, jnp.int32)
    # An int32 running sum wraps on hubs of hubs; a float total tells (to 1 part in 10^4) when.
    total = jnp.sum(lengths.astype(jnp.float32))
    wraps = total > 2.0e9
    ends = jnp.cumsum(lengths)
    starts = ends - lengths
    needed = jnp.where(wraps, _INT32_MAX, ends[-1])
    # A slot belongs to the last list that starts at or before it: empty lists share their start
    # with the next one and so never come last.
    opened = jnp.zeros(capacity, jnp.int32).at[starts].add(1, mode="drop")
    row = jnp.clip(jnp.cumsum(opened) - 1, 0, lengths.shape[0] - 1)
    slots = jnp.arange(capacity, dtype=jnp.int32)
    return Ragged(
        row=row,
        position=slots - starts[row],
        valid=(slots < needed) & ~wraps,
        needed=needed,
        overflow=needed > capacity,
    )
