"""PRoH's beam: which neighbouring hyperedges of a question's paths live on."""

from typing import Literal, NamedTuple, TypeAlias

import chex
import jax
import jax.numpy as jnp

from jaxkg.ops import first_of_each, top_in_group
from jaxkg.types import NULL

Merge: TypeAlias = Literal["none", "max", "sum"]
"""What becomes of directions of one question that lead to the same hyperedge: all are kept, or the
best alone, with its own score or with the sum of all."""


class HyperBeam(NamedTuple):
    """W paths of hyperedges for each of B questions."""

    path: jax.Array  # [B, W, L] int32 hyperedges, NULL past the end
    score: jax.Array  # [B, W] float32, -inf for an empty place
    length: jax.Array  # [] int32, hyperedges of each path

    @property
    def last(self) -> jax.Array:
        """[B * W] int32, the hyperedge each path has come to; 0 for an empty place."""
        edge = jax.lax.dynamic_index_in_dim(self.path, self.length - 1, axis=2, keepdims=False)
        return jnp.maximum(edge, 0).reshape(-1)

    @property
    def open(self) -> jax.Array:
        """[B * W] bool, False for an empty place."""
        return jnp.isfinite(self.score).reshape(-1)


def start_beam(
    row: jax.Array,
    edge: jax.Array,
    score: jax.Array,
    valid: jax.Array,
    *,
    num_questions: int,
    width: int,
    depth: int,
) -> HyperBeam:
    """Paths of one hyperedge.

    Args:
        row, edge: [F] int32; score: [F] float32; valid: [F] bool, the hyperedges to start from.
        num_questions, width: B, W; static.
        depth: steps to come; L = depth + 1; static.

    Returns:
        The W best of every question, best first; ties go to the earlier slot.
    """
    slot = top_in_group(row, score, valid, num_groups=num_questions, k=width)
    there, safe = slot != NULL, jnp.maximum(slot, 0)
    path = jnp.full((num_questions, width, depth + 1), NULL, jnp.int32)
    path = path.at[:, :, 0].set(jnp.where(there, edge[safe], NULL))
    return HyperBeam(path, jnp.where(there, score[safe], -jnp.inf), jnp.ones((), jnp.int32))


def leads_back(beam: HyperBeam, parent: jax.Array, edge: jax.Array) -> jax.Array:
    """Which directions return to a hyperedge of their own path.

    Args:
        beam: where the search is.
        parent: [C] int32 place in [0, B * W); edge: [C] int32.

    Returns:
        [C] bool.
    """
    chex.assert_equal_shape([parent, edge])
    walked = beam.path.reshape(-1, beam.path.shape[2])[parent]
    return jnp.any(walked == edge[:, None], axis=1)


def keep_directions(
    beam: HyperBeam,
    parent: jax.Array,
    edge: jax.Array,
    score: jax.Array,
    valid: jax.Array,
    *,
    width: int,
    merge: Merge = "max",
) -> HyperBeam:
    """Extend the beam by its best directions.

    Args:
        beam: where the search is; length below L.
        parent: [C] int32 place in [0, B * W) each direction leaves.
        edge: [C] int32 hyperedge it leads to.
        score: [C] float32, finite where valid.
        valid: [C] bool.
        width: directions kept for a question; static.
        merge: see `Merge`; static.

    Returns:
        Paths one hyperedge longer, best first. Ties go to the earlier slot.

    Reference: PRoH, Alg. 3, RankSelectDirections.
    """
    chex.assert_equal_shape([parent, edge, score, valid])
    questions, places, _ = beam.path.shape
    row = parent // places
    if merge != "none":
        score, valid = _merged(row, edge, score, valid, merge)
    slot = top_in_group(row, score, valid, num_groups=questions, k=width)
    there, safe = slot != NULL, jnp.maximum(slot, 0)
    path = beam.path.reshape(questions * places, -1)[parent[safe]]
    path = path.at[:, :, beam.length].set(edge[safe])
    return HyperBeam(
        jnp.where(there[:, :, None], path, NULL),
        jnp.where(there, score[safe], -jnp.inf),
        beam.length + 1,
    )


def _merged(
    row: jax.Array, edge: jax.Array, score: jax.Array, valid: jax.Array, merge: Merge
) -> tuple[jax.Array, jax.Array]:
    """The best slot of each (row, edge), with its own score or the sum of all."""
    size = row.shape[0]
    group = jnp.where(valid, first_of_each((row, edge), valid), size)
    best = jax.ops.segment_max(jnp.where(valid, score, -jnp.inf), group, size + 1)
    slots = jnp.arange(size, dtype=jnp.int32)
    is_best = valid & (score == best[group])
    first = jnp.full(size + 1, size, jnp.int32).at[group].min(jnp.where(is_best, slots, size))
    if merge == "sum":
        total = jax.ops.segment_sum(jnp.where(valid, score, 0.0), group, size + 1)
        score = total[group]
    return score, valid & (first[group] == slots)
