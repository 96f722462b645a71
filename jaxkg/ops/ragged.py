"""Lists of unequal length laid end to end in a fixed number of slots, and choices within each."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL


class Ragged(NamedTuple):
    """Where each slot of a flat list comes from."""

    row: jax.Array  # [C] int32, index of the list a slot belongs to; clamped where not valid
    position: jax.Array  # [C] int32, place within that list
    valid: jax.Array  # [C] bool
    needed: jax.Array  # [] int32, total length of all lists; at most 2^31 - 1
    overflow: jax.Array  # [] bool, True where `needed` > C


_INT32_MAX = 2**31 - 1

SMALL = 1 << 13
"""Slots up to which microseconds saved are not worth a larger program: the capacities that one
question gets stay below, so that what a first answer compiles is small."""


def running_sum(values: jax.Array) -> jax.Array:
    """Inclusive sums of a [F] array.

    Sums of blocks of eight, then of the blocks' totals: on a CPU several times faster than
    `cumsum`, and less than half the program of `associative_scan`. `cumsum` is less still.

    >>> running_sum(jnp.asarray([3, 0, 1, 2])).tolist()
    [3, 3, 4, 6]
    """
    return jnp.cumsum(values) if values.shape[0] <= SMALL else _by_blocks(values)


def _by_blocks(values: jax.Array) -> jax.Array:
    size = values.shape[0]
    if size <= 64:
        return jnp.cumsum(values)
    blocks = jnp.pad(values, (0, -size % 8)).reshape(-1, 8)
    for shift in (1, 2, 4):
        blocks += jnp.pad(blocks, ((0, 0), (shift, 0)))[:, :8]
    totals = blocks[:, -1]
    before = _by_blocks(totals) - totals
    return (blocks + before[:, None]).reshape(-1)[:size]


def expand_ragged(lengths: jax.Array, *, capacity: int) -> Ragged:
    """Lay lists of the given lengths end to end.

    Args:
        lengths: [F] int32, non-negative; 0 for a list that is empty or masked out.
        capacity: number of slots C; static.

    Returns:
        A `Ragged` whose slots run through list 0, then list 1, and so on. With overflow the first
        `capacity` slots are filled unless the total exceeds 2^31 - 1, where nothing is valid.

    >>> flat = expand_ragged(jnp.asarray([2, 0, 1]), capacity=4)
    >>> flat.row[:3].tolist(), flat.position[:3].tolist(), flat.valid.tolist(), int(flat.needed)
    ([0, 0, 2], [0, 1, 0], [True, True, True, False], 3)
    """
    chex.assert_rank(lengths, 1)
    chex.assert_type(lengths, jnp.int32)
    ends = running_sum(lengths)
    # The running sum wraps on hubs of hubs. No length exceeds 2^31 - 1, so the first end past that
    # is below 2^32 and reads as a negative number.
    wraps = jnp.any(ends < 0)
    starts = ends - lengths
    needed = jnp.where(wraps, _INT32_MAX, ends[-1])
    # A slot belongs to the last list that starts at or before it: empty lists share their start
    # with the next one and so never come last.
    opened = jnp.zeros(capacity, jnp.int32).at[starts].add(1, mode="drop")
    row = jnp.clip(running_sum(opened) - 1, 0, lengths.shape[0] - 1)
    slots = jnp.arange(capacity, dtype=jnp.int32)
    return Ragged(
        row=row,
        position=slots - starts[row],
        valid=(slots < needed) & ~wraps,
        needed=needed,
        overflow=needed > capacity,
    )


class Stretches(NamedTuple):
    """Valid slots of rows, their holes closed: those of row r are
    `slot[first[r] : first[r] + length[r]]`."""

    slot: jax.Array  # [F] int32, valid slots in order, 0 past them
    first: jax.Array  # [R] int32
    length: jax.Array  # [R] int32


def stretches(row: jax.Array, valid: jax.Array, *, num_rows: int) -> Stretches:
    """Close the holes, so that the slots of a row are one stretch.

    Args:
        row: [F] int32 in [0, R), ascending.
        valid: [F] bool.
        num_rows: R; static.

    >>> found = stretches(
    ...     jnp.asarray([0, 0, 2]), jnp.asarray([False, True, True]), num_rows=3
    ... )
    >>> found.slot.tolist(), found.first.tolist(), found.length.tolist()
    ([1, 2, 0], [0, 1, 1], [1, 0, 1])
    """
    size = row.shape[0]
    place = jnp.where(valid, running_sum(valid.astype(jnp.int32)) - 1, size)
    slot = jnp.zeros(size, jnp.int32)
    slot = slot.at[place].set(jnp.arange(size, dtype=jnp.int32), mode="drop")
    length = jnp.zeros(num_rows, jnp.int32)
    length = length.at[jnp.where(valid, row, num_rows)].add(1, mode="drop")
    return Stretches(slot, jnp.cumsum(length) - length, length)


_SAMPLED = 8
"""Of a long list every eighth slot says which others may be among the best."""

_ROUNDS = 4
"""Fewer rounds than these cost less than finding out what can be left out of them."""


def top_in_group(
    group: jax.Array, score: jax.Array, valid: jax.Array, *, num_groups: int, k: int
) -> jax.Array:
    """The k best slots of every group, best first.

    k rounds of one scatter-max and one scatter-min: for the small k of a beam that is several
    times cheaper than sorting the list, and the list need not be grouped. A long list is sampled
    first: only what is no worse than the k-th best of every eighth slot takes part, an eighth of
    the list at a time.

    Args:
        group: [F] int32 in [0, num_groups) where valid.
        score: [F] float32, finite where valid.
        valid: [F] bool.
        num_groups: number of groups G; static.
        k: slots kept per group; static.

    Returns:
        [G, k] int32 slots, NULL where a group has fewer; ties go to the earlier slot.

    >>> group, score = jnp.asarray([0, 1, 0, 0]), jnp.asarray([0.1, 0.9, 0.5, 0.3])
    >>> top_in_group(group, score, jnp.ones(4, bool), num_groups=2, k=2).tolist()
    [[2, 3], [1, -1]]
    """
    chex.assert_rank(group, 1)
    chex.assert_equal_shape([group, score, valid])
    size = group.shape[0]
    if size <= SMALL or k < _ROUNDS or 2 * _SAMPLED * num_groups * k > size:
        return _by_rounds(group, score, valid, num_groups, k)
    few = size // _SAMPLED
    safe = jnp.where(valid, group, 0)

    def among_the_best():
        some = slice(None, None, _SAMPLED)
        sampled = _by_rounds(group[some], score[some], valid[some], num_groups, k)[:, -1]
        floor = jnp.where(sampled == NULL, -jnp.inf, score[_SAMPLED * sampled])
        return valid & (score >= floor[safe])

    many = jnp.sum(valid, dtype=jnp.int32) > few
    better = jax.lax.cond(many, among_the_best, lambda: valid)
    place = running_sum(better.astype(jnp.int32)) - 1
    rows = jnp.repeat(jnp.arange(num_groups, dtype=jnp.int32), k)
    slots = jnp.arange(size, dtype=jnp.int32)

    def merge(state):
        best, done = state
        chosen = jnp.full(few, NULL, jnp.int32)
        here = jnp.where(better & (place >= done), place - done, few)
        chosen = chosen.at[here].set(slots, mode="drop")
        # Those kept so far stand first, so ties still go to the earlier slot.
        both = jnp.concatenate([best.ravel(), chosen])
        owner = jnp.concatenate([rows, safe[chosen]])
        picked = _by_rounds(owner, score[both], both != NULL, num_groups, k)
        return jnp.where(picked == NULL, NULL, both[picked]), done + few

    start = (jnp.full((num_groups, k), NULL, jnp.int32), jnp.int32(0))
    return jax.lax.while_loop(lambda state: state[1] <= place[-1], merge, start)[0]


def _by_rounds(
    group: jax.Array, score: jax.Array, valid: jax.Array, num_groups: int, k: int
) -> jax.Array:
    """k rounds of one scatter-max and one scatter-min over all slots."""
    size = group.shape[0]
    slots = jnp.arange(size, dtype=jnp.int32)
    safe = jnp.where(valid, group, num_groups)

    def pick(open_, _):
        masked = jnp.where(open_, score, -jnp.inf)
        best = jax.ops.segment_max(masked, safe, num_groups + 1)
        candidate = open_ & (masked == best[safe])
        first = jnp.full(num_groups + 1, size, jnp.int32)
        first = first.at[safe].min(jnp.where(candidate, slots, size))
        return open_ & (slots != first[safe]), first[:num_groups]

    _, picked = jax.lax.scan(pick, valid, length=k)
    return jnp.where(picked < size, picked, NULL).T
