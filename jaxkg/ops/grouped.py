"""Selections within the groups of a flat list."""

import chex
import jax
import jax.numpy as jnp

from jaxkg.types import NULL


def top_in_group(
    group: jax.Array, score: jax.Array, valid: jax.Array, *, num_groups: int, k: int
) -> jax.Array:
    """The k best slots of every group, best first.

    k rounds of one scatter-max and one scatter-min: for the small k of a beam that is several
    times cheaper than sorting the list, and the list need not be grouped.

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
