"""What a round of query graph execution does on the device, for many query graphs at once.

Sets come as flat lists of (row, node), a row being one operator of one query graph; what a path
leads to from every entity of a set comes as (pair, node), a pair being one entity of one set.
"""

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import first_of_each
from jaxkg.types import NULL


@jax.jit
def combine(
    row: jax.Array, node: jax.Array, weight: jax.Array, least: jax.Array, most: jax.Array
) -> jax.Array:
    """Intersections, unions and differences: the nodes whose weights add up as wanted.

    Args:
        row: [F] int32 in [0, R).
        node: [F] int32, NULL for an empty slot; once for every part that holds it.
        weight: [F] int32, 1, and more than any number of parts in what a difference leaves out.
        least, most: [R] int32, sums that are kept, ends included.

    Returns:
        [F] bool, one slot of every (row, node) that is kept.

    Example:
        >>> one = jnp.array([1])
        >>> combine(jnp.array([0, 0, 0]), jnp.array([4, 7, 4]), jnp.array([1, 1, 1]), 2 * one,
        ...     2 * one).tolist()
        [True, False, False]
    """
    chex.assert_equal_shape([row, node, weight])
    size = row.shape[0]
    valid = node != NULL
    row = jnp.clip(row, 0, least.shape[0] - 1)
    first = first_of_each((row, node), valid)
    total = jnp.zeros(size, jnp.int32)
    total = total.at[jnp.where(valid, first, size)].add(weight, mode="drop")
    leads = first == jnp.arange(size, dtype=jnp.int32)
    return valid & leads & (total >= least[row]) & (total <= most[row])


@jax.jit
def keep_where(
    keys: jax.Array,
    pair: jax.Array,
    node: jax.Array,
    kind: jax.Array,
    window: jax.Array,
    negate: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Conditions: of every pair, an end that compares as wanted, or how many ends it has.

    Args:
        keys: [kinds, 2, N] int32, see `jaxkg.kg.queries.values`; the least int32 for none.
        pair: [F] int32 in [0, P).
        node: [F] int32 end of the pair's path, NULL for an empty slot.
        kind: [P] int32, which keys are compared; NULL compares the number of ends.
        window: [P, 4] int32, bounds of the first and of the second key, ends included.
        negate: [P] bool, keep what is out of bounds instead.

    Returns:
        keep [P] bool, the first end that compares as wanted [P] int32 (a slot; NULL where there is
        none, or the number was compared), number of ends [P].
    """
    chex.assert_equal_shape([pair, node])
    size, pairs = pair.shape[0], kind.shape[0]
    valid = node != NULL
    pair = jnp.clip(pair, 0, pairs - 1)
    ends = jnp.zeros(pairs, jnp.int32).at[jnp.where(valid, pair, pairs)].add(1, mode="drop")
    node, of = jnp.maximum(node, 0), jnp.maximum(kind[pair], 0)
    first, second = keys[of, 0, node], keys[of, 1, node]
    held = valid & _within(first, second, window[pair], negate[pair])
    held &= (first != jnp.iinfo(jnp.int32).min) & (kind[pair] != NULL)
    slot = _first_slot(pair, held, pairs, size)
    return jnp.where(kind == NULL, _within(ends, ends, window, negate), slot != NULL), slot, ends


@jax.jit
def keep_foremost(
    order: jax.Array,
    pair: jax.Array,
    node: jax.Array,
    row: jax.Array,
    kind: jax.Array,
    largest: jax.Array,
    most: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Orders: the foremost pairs of every row, by their best end or by how many ends they have.

    Args:
        order: [kinds, N] int32, place of every node's value among all of its kind; NULL for none.
        pair: [F] int32 in [0, P).
        node: [F] int32 end of the pair's path, NULL for an empty slot.
        row: [P] int32 in [0, P), ascending; NULL past the last pair.
        kind: [P] int32, which values order the pairs; NULL counts the ends.
        largest: [P] bool, the same for all pairs of a row.
        most: [P] int32, pairs to keep of each row; ties with the last are kept.

    Returns:
        keep [P] bool, best end [P] int32 (a slot; NULL where a pair has none), number of ends [P].
    """
    chex.assert_equal_shape([pair, node])
    size, pairs = pair.shape[0], row.shape[0]
    valid = node != NULL
    pair = jnp.clip(pair, 0, pairs - 1)
    safe = jnp.where(valid, pair, pairs)
    ends = jnp.zeros(pairs, jnp.int32).at[safe].add(1, mode="drop")
    counts = kind[pair] == NULL
    value = order[jnp.maximum(kind[pair], 0), jnp.maximum(node, 0)]
    sign = jnp.where(largest, -1, 1).astype(jnp.int32)
    worst = jnp.iinfo(jnp.int32).max
    key = jnp.where(valid & (value != NULL) & ~counts, sign[pair] * value, worst)
    best = jnp.full(pairs, worst, jnp.int32).at[safe].min(key, mode="drop")
    slot = _first_slot(pair, valid & (key == best[pair]) & (key != worst), pairs, size)
    best = jnp.where(kind == NULL, sign * ends, best)
    best = jnp.where(row == NULL, worst, best)

    # Of the pairs of a row in order, the one at place `most` is the last to be kept.
    group = jnp.where(row == NULL, pairs - 1, row)
    sorted_pairs = jnp.lexsort((best, group))
    ordered, group = best[sorted_pairs], group[sorted_pairs]
    places = jnp.arange(pairs, dtype=jnp.int32)
    opens = jnp.full(pairs, pairs, jnp.int32).at[group].min(places)
    there = ordered != worst
    counted = jnp.zeros(pairs, jnp.int32).at[group].add(there.astype(jnp.int32))
    last = opens[group] + jnp.minimum(most[sorted_pairs], counted[group]) - 1
    bound = ordered[jnp.clip(last, 0, pairs - 1)]
    kept = there & (ordered <= bound) & (counted[group] > 0)
    return jnp.zeros(pairs, bool).at[sorted_pairs].set(kept), slot, ends


def _within(first: jax.Array, second: jax.Array, bounds: jax.Array, negate: jax.Array):
    inside = (first >= bounds[:, 0]) & (first <= bounds[:, 1])
    inside &= (second >= bounds[:, 2]) & (second <= bounds[:, 3])
    return inside != negate


def _first_slot(pair: jax.Array, held: jax.Array, pairs: int, size: int) -> jax.Array:
    slots = jnp.arange(size, dtype=jnp.int32)
    found = jnp.full(pairs, size, jnp.int32).at[pair].min(jnp.where(held, slots, size))
    return jnp.where(found < size, found, NULL)


PROGRAMS = (combine, keep_where, keep_foremost)
"""For counting what was compiled."""
