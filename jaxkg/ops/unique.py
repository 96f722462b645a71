"""Uniqueness without sorting: equal keys find their first occurrence through a hash table."""

from collections.abc import Sequence

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL


def _mix(keys: Sequence[jax.Array], salt: jax.Array) -> jax.Array:
    """A 32-bit hash of several int32 columns (multiply-xorshift rounds)."""
    state = jnp.full(keys[0].shape, 0x9E3779B9, jnp.uint32) ^ (salt * jnp.uint32(0x85EBCA6B))
    for key in keys:
        state = (state ^ key.astype(jnp.uint32)) * jnp.uint32(0xCC9E2D51)
        state = (state ^ (state >> 15)) * jnp.uint32(0x2C1B3C6D)
    state = (state ^ (state >> 12)) * jnp.uint32(0x297A2D39)
    return state ^ (state >> 15)


def first_of_each(keys: Sequence[jax.Array], valid: jax.Array) -> jax.Array:
    """For every slot, the first valid slot that has the same keys.

    Sorting groups equal keys in O(F log F) and moves every payload column; here each slot writes
    its index into a hash table with `min` and reads back who won. Slots that lose to a different
    key try again under another hash until none is left: the first round settles most, and every
    round settles at least one key, so the loop ends.

    Args:
        keys: one or more [F] int32 columns; two slots are equal where all columns are.
        valid: [F] bool; other slots take no part.

    Returns:
        [F] int32 index of the first equal slot (its own index for the first), NULL where not valid.
    """
    size = valid.shape[0]
    for key in keys:
        chex.assert_shape(key, (size,))
        chex.assert_type(key, jnp.int32)
    table_size = 1 << max(4, (4 * size - 1).bit_length() - 1)
    slots = jnp.arange(size, dtype=jnp.int32)

    def unsettled(state):
        return jnp.any(state[1])

    def settle(state):
        first, pending, salt = state
        place = (_mix(keys, salt) & jnp.uint32(table_size - 1)).astype(jnp.int32)
        table = jnp.full(table_size, size, jnp.int32)
        table = table.at[jnp.where(pending, place, table_size)].min(slots, mode="drop")
        winner = jnp.minimum(table[place], size - 1)
        same = pending
        for key in keys:
            same &= key[winner] == key
        return jnp.where(same, winner, first), pending & ~same, salt + 1

    start = (jnp.full(size, NULL, jnp.int32), valid, jnp.uint32(0))
    return jax.lax.while_loop(unsettled, settle, start)[0]
