"""Uniqueness without sorting: equal keys find their first occurrence through a hash table."""

from collections.abc import Sequence

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops.ragged import SMALL, running_sum
from jaxkg.types import NULL

_TABLE = 4
"""Hash table entries per slot: one in eight distinct keys loses its first round, few its second."""

_FEW = 8
"""Once at most 1/8 of the slots are unsettled they are gathered, and later rounds are cheap."""


_SPARSE = 32
"""Places of a filter a key: one in 32 keys that are not in it passes, or fewer."""


def _mix(keys: Sequence[jax.Array], salt: int | jax.Array) -> jax.Array:
    """A 32-bit hash of several int32 columns (multiply, add, xorshift)."""
    state = jnp.full(keys[0].shape, salt, jnp.uint32) * jnp.uint32(0x9E3779B9)
    for key in keys:
        state = (state + key.astype(jnp.uint32)) * jnp.uint32(0x2C1B3C6D)
        state = state ^ (state >> 15)
    return state * jnp.uint32(0x297A2D39)


def _settle(
    keys: Sequence[jax.Array], first: jax.Array, pending: jax.Array, salt: int | jax.Array
) -> tuple[jax.Array, jax.Array]:
    """One round: pending slots race for a table entry; those whose key won it are settled."""
    size = pending.shape[0]
    bits = (_TABLE * size - 1).bit_length()
    slots = jnp.arange(size, dtype=jnp.int32)
    place = (_mix(keys, salt) >> (32 - bits)).astype(jnp.int32)
    table = jnp.full(1 << bits, size, jnp.int32)
    table = table.at[jnp.where(pending, place, 1 << bits)].min(slots, mode="drop")
    winner = jnp.minimum(table[place], size - 1)
    same = pending
    for key in keys:
        same &= key[winner] == key
    return jnp.where(same, winner, first), pending & ~same


def first_of_each(keys: Sequence[jax.Array], valid: jax.Array) -> jax.Array:
    """For every slot, the first valid slot that has the same keys.

    Sorting groups equal keys in O(F log F) and moves every payload column; here each slot writes
    its index into a hash table with `min` and reads back who won. Slots that lose to a different
    key try again under another hash until none is left: the first round settles most, and every
    round settles at least one key, so the rounds end.

    Args:
        keys: one or more [F] int32 columns; two slots are equal where all columns are.
        valid: [F] bool; other slots take no part.

    Returns:
        [F] int32 index of the first equal slot (its own index for the first), NULL where not valid.

    >>> valid = jnp.asarray([True, True, False, True])
    >>> first_of_each([jnp.asarray([7, 5, 7, 7])], valid).tolist()
    [0, 1, -1, 0]
    """
    size = valid.shape[0]
    for key in keys:
        chex.assert_shape(key, (size,))
        chex.assert_type(key, jnp.int32)
    nothing = jnp.full(size, NULL, jnp.int32)
    # On a GPU a round takes as long as its launches, however few slots are left.
    if size <= SMALL or jax.default_backend() != "cpu":
        return _settle_down_to(keys, nothing, valid, 0)[0]
    few = max(1, size // _FEW)
    first, pending = _settle_down_to(keys, nothing, valid, few)
    # Equal keys are pending together, so the gathered slots settle among themselves.
    place = running_sum(pending.astype(jnp.int32)) - 1
    slots = jnp.arange(size, dtype=jnp.int32)
    chosen = jnp.full(few, size, jnp.int32)
    chosen = chosen.at[jnp.where(pending, place, few)].set(slots, mode="drop")
    slot = jnp.minimum(chosen, size - 1)
    settled, _ = _settle_down_to([key[slot] for key in keys], nothing[:few], chosen < size, 0)
    return first.at[chosen].set(slot[jnp.maximum(settled, 0)], mode="drop")


def _settle_down_to(
    keys: Sequence[jax.Array], first: jax.Array, pending: jax.Array, few: int
) -> tuple[jax.Array, jax.Array]:
    """Rounds under ever new hashes until at most `few` slots are pending."""

    def body(state):
        first, pending, _, salt = state
        first, pending = _settle(keys, first, pending, salt)
        return first, pending, jnp.sum(pending, dtype=jnp.int32), salt + jnp.uint32(1)

    start = (first, pending, jnp.sum(pending, dtype=jnp.int32), jnp.uint32(0))
    first, pending, *_ = jax.lax.while_loop(lambda state: state[2] > few, body, start)
    return first, pending


def sieve(size: int) -> jax.Array:
    """An empty Bloom filter of one hash for `size` keys, small enough for caches: [S] bool."""
    return jnp.zeros(1 << (_SPARSE * size - 1).bit_length(), bool)


def put_in(sieve: jax.Array, keys: Sequence[jax.Array], valid: jax.Array) -> jax.Array:
    """The filter with more keys: one or more [F] int32 columns, those that are valid."""
    return sieve.at[jnp.where(valid, _place(sieve, keys), sieve.size)].set(True, mode="drop")


def may_hold(sieve: jax.Array, keys: Sequence[jax.Array]) -> jax.Array:
    """Which keys may be in a filter: [F] bool, False only where a key certainly is not.

    >>> keys = [jnp.asarray([7, 5])]
    >>> may_hold(put_in(sieve(2), keys, jnp.asarray([True, True])), keys).tolist()
    [True, True]
    """
    return sieve[_place(sieve, keys)]


def _place(sieve: jax.Array, keys: Sequence[jax.Array]) -> jax.Array:
    return (_mix(keys, 0) >> (33 - sieve.size.bit_length())).astype(jnp.int32)
