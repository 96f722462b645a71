"""Selections within the groups of a flat list."""

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops.ragged import SMALL, running_sum
from jaxkg.types import NULL

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
