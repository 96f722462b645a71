"""Symbols that carry meaning: relations with similar labels get similar hypervectors.

With random symbols every wrong path scores noise around 0, so the order of near misses says
nothing (PathHD's case studies rank 0.2567, 0.2524, 0.2479). Here a label vector h is projected to
random coordinates W h / bandwidth, and those move a symbol along its group: for GHRR
A = U exp(S), S skew-Hermitian, with a random unitary U that all relations of a group share. Then

- two symbols are as similar as a Gaussian kernel says, exp(-|h - h'|^2 / (2 bandwidth^2)): exactly
  so in expectation for FHRR; for GHRR closely while the bandwidth is at least |h|, then wider than
  said, by a factor that grows towards sqrt(m) (the exponential of a large S turns slowly in the
  directions that do not commute with it);
- **order survives** at every bandwidth, since U stands between the hops: the similarity of two
  paths is close to the *product over hops* of the kernels. exp(S) alone would not do: symbols near
  the identity commute;
- a large bandwidth makes all relations alike, a small one makes them random.

An inverse relation needs a symbol of its own, not the inverse of the forward one: with A^-1 every
walk "r, then r backwards" is the identity, and all of them are the same path. Put forward and
inverse relations into different groups instead.

From relation sequences to hypervectors.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxkg.score.hdc.algebra import Algebra
from jaxkg.types import NULL


def label_symbols(
    algebra: Algebra,
    vectors: jax.Array,
    *,
    bandwidth: float | jax.Array,
    groups: jax.Array | None = None,
    key: jax.Array,
) -> jax.Array:
    """Symbols from label vectors; differentiable in `vectors` and `bandwidth`.

    Args:
        algebra: any; a commutative one keeps the meaning and still loses the order.
        vectors: `[R, E]` float32 label embeddings, used as they are; subtract their mean first,
            and give them unit norm if only directions count.
        bandwidth: distance between label vectors at which similarity has fallen to exp(-1/2). For
            GHRR it must be at least about 0.02 |h|; below that, `algebra.random` is what it means.
        groups: `[R]` int32, relations of different groups are unrelated whatever their labels (the
            direction of a relation, say); one group if None.
        key: of the projection and the shared symbols: the same key places a question's text, or a
            relation added later, in the same space.

    Returns:
        `[R, *shape]`.
    """
    coordinates = label_coordinates(algebra, vectors, bandwidth=bandwidth, key=key)
    return symbols_at(algebra, coordinates, groups=groups, key=key)


def label_coordinates(
    algebra: Algebra, vectors: jax.Array, *, bandwidth: float | jax.Array, key: jax.Array
) -> jax.Array:
    """The random projection of `label_symbols` alone: W h / bandwidth.

    Args:
        algebra, vectors, bandwidth, key: see `label_symbols`.

    Returns:
        `[R, G]` float32, for `symbols_at` with the same key.
    """
    key_projection, _ = jax.random.split(key)
    projection = jax.random.normal(key_projection, (algebra.coordinates, vectors.shape[1]))
    return vectors.astype(jnp.float32) @ projection.T / bandwidth


def symbols_at(
    algebra: Algebra, coordinates: jax.Array, *, groups: jax.Array | None = None, key: jax.Array
) -> jax.Array:
    """The symbols of `label_symbols` from their coordinates.

    Args:
        coordinates: `[R, G]` from `label_coordinates`.
        groups, key: see `label_symbols`.

    Returns:
        `[R, *shape]`.
    """
    _, key_shared = jax.random.split(key)
    if groups is None:
        return jax.vmap(lambda g: algebra.smooth(g, key=key_shared))(coordinates)

    def one(g: jax.Array, group: jax.Array) -> jax.Array:
        return algebra.smooth(g, key=jax.random.fold_in(key_shared, group))

    return jax.vmap(one)(coordinates, groups)


def project_text(algebra: Algebra, vectors: jax.Array, *, key: jax.Array) -> jax.Array:
    """The text-projection query (PathHD, Eq. 2): N_block(P h), P from N(0, 1/d_t).

    The paper's P has d real rows for a vector in C^d; here it has F = 2d, so that imaginary parts
    are drawn too. A fixed random P knows nothing of how the relations got their symbols: with
    random symbols the similarity of such a query to every path is noise of mean 0. To compare text
    with relations, give both to `label_symbols` with one key.

    Args:
        vectors: `[B, E]` sentence vectors.
        key: of P.

    Returns:
        `[B, *shape]`, block-normalised; blocks are not unitary, so these are queries, not symbols.
    """
    width = vectors.shape[1]
    matrix = jax.random.normal(key, (algebra.floats, width)) / jnp.sqrt(float(width))
    return algebra.normalize(algebra.unflatten(vectors.astype(jnp.float32) @ matrix.T))


def encode(algebra: Algebra, symbols: jax.Array, valid: jax.Array | None = None) -> jax.Array:
    """Bind a sequence left to right (PathHD, Eq. 3 and 4).

    The paper normalises the result blockwise; for an isometric algebra that changes nothing, so it
    is done for the others only.

    Args:
        symbols: `[L, *shape]`, in order.
        valid: `[L]` bool, False leaves a position out; all True if None.

    Returns:
        `[*shape]`; the identity where nothing is valid.
    """
    if valid is not None:
        mask = valid.reshape(-1, *(1 for _ in algebra.shape))
        symbols = jnp.where(mask, symbols, algebra.identity()[None])
    if symbols.shape[0] == 0:
        return algebra.identity()
    bound = symbols[0]
    for position in range(1, symbols.shape[0]):
        bound = algebra.bind(bound, symbols[position])
    return bound if algebra.isometric else algebra.normalize(bound)


def encode_paths(algebra: Algebra, table: jax.Array, paths: jax.Array) -> jax.Array:
    """Encode relation paths given as rows of indices.

    Args:
        table: `[R, *shape]` symbols of the relations.
        paths: `[N, L]` int32, NULL past a path's end.

    Returns:
        `[N, *shape]`; an empty path is the identity.
    """

    def one(path: jax.Array) -> jax.Array:
        return encode(algebra, table[jnp.maximum(path, 0)], path != NULL)

    return jax.vmap(one)(paths)


def encode_bundle(
    algebra: Algebra, table: jax.Array, paths: jax.Array, weights: jax.Array
) -> jax.Array:
    """A query over several plans: the weighted bundle of their encodings.

    One plan with weight 1 is the paper's plan-based query (PathHD, Sec. 2.2 (i)). The inner product
    of the bundle with a path is the weighted sum of the plans' similarities to it.

    Args:
        table: `[R, *shape]`.
        paths: `[P, L]` int32, NULL past a path's end.
        weights: `[P]` float; 0 for padding.

    Returns:
        `[*shape]`, not normalised.
    """
    return algebra.bundle(encode_paths(algebra, table, paths), weights)
