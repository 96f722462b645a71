"""The best of *all* relation sequences, without encoding one of them.

Binding with a unitary symbol is an isometry, so

    sim(q, a * b * c * d) = <unbind(b, unbind(a, q)), c * d>:

the query is bound with every *prefix*, the *suffixes* are encoded without a query, and one matrix
product scores all pairs. R^L paths cost R^ceil(L/2) bindings of the suffixes, B R^floor(L/2) of the
queries, and one multiply-add per path and float, at the speed of a matrix product. Both sides are
made in blocks, and of each block of scores only what beats the running top-k is looked at, so the
R^L scores never exist at once.

Where it holds: the candidates must be products of symbols of an isometric algebra, because only
then are their norms known beforehand. Queries may be anything; Eq. 5 is not linear in the query,
but the query's norms are divided out once. Candidates that are bundles need `similarity_matrix`.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra
from jaxkg.score.hdc.similarity import Packed, inner, pack, query_rows
from jaxkg.score.hdc.symbols import encode_paths
from jaxkg.types import NULL

MAX_LENGTH = 4
"""Two hops on each side; beyond that even 100 relations make more paths than can be scored."""

_ROUNDING = {"float32": 0.0, "bfloat16": 2.0**-7 + 2.0**-16}
"""Largest relative error of a dot product of two rounded unit vectors (Cauchy-Schwarz)."""


class RankedPaths(NamedTuple):
    """The best relation sequences per query, best first."""

    paths: jax.Array  # [B, K, L] int32, NULL past a path's end
    score: jax.Array  # [B, K] float32, -inf where there are fewer than K sequences
    certified: jax.Array  # [B] bool: no sequence left out can beat the last one, rounding included


class _Side(NamedTuple):
    """The prefixes (rows) or suffixes (columns) of one block of scores."""

    first: jax.Array  # [N] int32, first relation
    last: jax.Array  # [N] int32, last relation
    allowed: jax.Array  # [N] bool


@functools.partial(
    jax.jit,
    static_argnames=(
        "algebra", "k", "max_length", "min_length", "metric", "precision", "slack", "rows",
        "columns",
    ),
)  # fmt: skip
def exhaustive(
    algebra: Algebra,
    table: jax.Array,
    queries: jax.Array,
    *,
    k: int = 3,
    max_length: int = 3,
    min_length: int = 1,
    offset: jax.Array | None = None,
    starts: jax.Array | None = None,
    follows: jax.Array | None = None,
    metric: str = "block",
    precision: str = "float32",
    slack: int = 29,
    rows: int = 4096,
    columns: int | None = None,
) -> RankedPaths:
    """Score every relation sequence of the given lengths and keep the k best of each query.

    With `precision` "bfloat16" or "int8" the sweep is done on rounded tables; the k + slack best of
    it are scored again in float32, and the k best of those are returned. `certified` says whether
    that provably equals the float32 result: the k-th score is above the last kept one by more than
    the largest possible rounding error. It is not computed for int8 (always False there): measure
    the recall instead.

    Args:
        algebra: isometric.
        table: `[R, *shape]` symbols; sequences are rows of indices into it.
        queries: `[B, *shape]`; bundles are fine.
        k: sequences kept per query.
        max_length, min_length: hops, 1 to 4.
        offset: `[max_length]` added to the score of every path of 1, 2, ... hops, e.g. the length
            term of PathHD, Eq. 6.
        starts: `[B, R]` bool, relations a path of query b may begin with (those its topic has);
            all allowed if None.
        follows: `[R, R]` bool, entry [r, s] True where s may follow r (the relation-schema graph);
            all allowed if None.
        metric: "block" (Eq. 5) or "flat" cosine.
        precision: of the tables in the sweep: "float32", "bfloat16" or "int8".
        slack: how many more than k are rescored when the sweep is rounded.
        rows, columns: target size of a block of scores; memory is about
            8 F (rows + columns) + 8 rows columns bytes. At four hops a block has at least B R rows.
            None takes 1,024 columns on a CPU, whose caches hold them, and 16,384 elsewhere.

    Returns:
        RankedPaths with `L = max_length`. Sequences of equal score come in no particular order.

    Raises:
        JaxkgError: the algebra is not isometric, or a length or size is out of range.
    """
    if not algebra.isometric:
        raise JaxkgError(
            f"products in {algebra.name} do not keep their norm, so scores do not factor: "
            "use encode_trie and similarity_matrix"
        )
    if not 1 <= min_length <= max_length <= MAX_LENGTH:
        raise JaxkgError(
            f"lengths must satisfy 1 <= min_length <= max_length <= {MAX_LENGTH}, "
            f"got {min_length} and {max_length}"
        )
    if columns is None:
        columns = 1024 if jax.default_backend() == "cpu" else 16_384
    if min(k, rows, columns) < 1 or slack < 0:
        raise JaxkgError("exhaustive needs k, rows, columns >= 1 and slack >= 0")
    batch = queries.shape[0]
    flat = query_rows(algebra, queries, metric)
    keep = k if precision == "float32" else k + slack
    best = RankedPaths(
        jnp.full((batch, keep, max_length), NULL, jnp.int32),
        jnp.full((batch, keep), -jnp.inf),
        jnp.ones((batch,), bool),
    )
    offset = jnp.zeros((max_length,)) if offset is None else offset.astype(jnp.float32)
    unit = algebra.unflatten(flat)
    for length in range(min_length, max_length + 1):
        best = _sweep(
            algebra, table, unit, best, length, offset[length - 1], (starts, follows), precision,
            (rows, columns),
        )  # fmt: skip
    if precision == "float32":
        return best
    return _rescore(algebra, table, flat, best, k, offset, precision)


def _sweep(
    algebra: Algebra,
    table: jax.Array,
    queries: jax.Array,
    best: RankedPaths,
    length: int,
    offset: jax.Array,
    limits: tuple[jax.Array | None, jax.Array | None],
    precision: str,
    block: tuple[int, int],
) -> RankedPaths:
    """Merge all sequences of one length into `best`."""
    (starts, follows), (rows, columns) = limits, block
    relations, batch = table.shape[0], queries.shape[0]
    before, after = length // 2, length - length // 2
    width, row_blocks = _split(relations, before, rows // batch)
    # One hop after the split: the table itself, whole.
    height, column_blocks = (relations, 1) if after == 1 else _split(relations, after, columns)
    padded = (before and row_blocks * width != relations) or (
        after == 2 and column_blocks * height != relations
    )
    flat_table = jax.vmap(algebra.flatten)(table)
    # Entries of products are as large as those of symbols, so one scale serves every suffix.
    peak = jnp.max(jnp.abs(flat_table))
    packed_table = pack(flat_table, precision, peak=peak)

    def suffixes(index: jax.Array) -> tuple[_Side, Packed]:
        if after == 1:
            return _side(index, height, relations, 1, follows), packed_table
        side = _side(index, height, relations, 2, follows)
        start = table[_outer(index, height, relations)[0]]
        vectors = algebra.flatten(algebra.bind(start[:, None], table[None]))
        vectors = vectors.reshape(height * relations, algebra.floats)
        return side, pack(vectors, precision, peak=peak)

    def prefixes(index: jax.Array) -> tuple[_Side, Packed]:
        bound = queries[:, None]
        if before:
            start = table[_outer(index, width, relations)[0]]
            bound = algebra.unbind_left(start[None], bound)
        if before == 2:
            bound = algebra.unbind_left(table[None, None], bound[:, :, None])
        vectors = algebra.flatten(bound).reshape(-1, algebra.floats)
        return _side(index, width, relations, before, follows), pack(vectors, precision)

    def row_step(best: RankedPaths, index: jax.Array) -> tuple[RankedPaths, None]:
        left, left_rows = prefixes(index)

        def column_step(best: RankedPaths, index: jax.Array) -> tuple[RankedPaths, None]:
            right, right_rows = suffixes(index)
            score = inner(left_rows, right_rows).reshape(batch, -1, right.first.shape[0]) + offset
            allowed = (left.allowed[:, None] & right.allowed[None, :])[None]
            if follows is not None and before:
                allowed &= follows[left.last][:, right.first][None]
            if starts is not None:
                allowed &= starts[:, left.first, None] if before else starts[:, None, right.first]
            if padded or starts is not None or follows is not None:
                score = jnp.where(allowed, score, -jnp.inf)
            peak = jnp.max(score, axis=-1)
            improves = jnp.any(peak > best.score[:, -1:])
            merged = jax.lax.cond(
                improves,
                lambda: _merge(best, score, peak, left, right, before, after),
                lambda: best,
            )
            return merged, None

        return jax.lax.scan(column_step, best, jnp.arange(column_blocks))

    return jax.lax.scan(row_step, best, jnp.arange(row_blocks))[0]


def _split(relations: int, hops: int, target: int) -> tuple[int, int]:
    """(first relations per block, number of blocks) for about `target` sequences a block."""
    if hops == 0:
        return 1, 1
    per_first = 1 if hops == 1 else relations
    wanted = max(1, min(relations, target // per_first))
    blocks = -(-relations // wanted)
    return -(-relations // blocks), blocks


def _outer(index: jax.Array, width: int, relations: int) -> tuple[jax.Array, jax.Array]:
    """First relations of block `index`: `[width]` int32, clamped, and which of them are real."""
    ids = index * width + jnp.arange(width, dtype=jnp.int32)
    return jnp.minimum(ids, relations - 1), ids < relations


def _side(
    index: jax.Array, width: int, relations: int, hops: int, follows: jax.Array | None
) -> _Side:
    ids, real = _outer(index, width, relations)
    if hops < 2:
        return _Side(ids, ids, real)
    first = jnp.repeat(ids, relations, total_repeat_length=width * relations)
    last = jnp.tile(jnp.arange(relations, dtype=jnp.int32), width)
    allowed = jnp.repeat(real, relations, total_repeat_length=width * relations)
    return _Side(first, last, allowed if follows is None else allowed & follows[first, last])


def _merge(
    best: RankedPaths,
    score: jax.Array,
    peak: jax.Array,
    left: _Side,
    right: _Side,
    before: int,
    after: int,
) -> RankedPaths:
    """Fold a block `score` [B, P, S] with row maxima `peak` [B, P] into the running best."""
    keep = best.score.shape[1]
    # The keep best scores lie in the keep rows with the highest maxima.
    row = jax.lax.top_k(peak, min(keep, peak.shape[1]))[1]
    within = jnp.take_along_axis(score, row[:, :, None], axis=1).reshape(score.shape[0], -1)
    value, place = jax.lax.top_k(within, min(keep, within.shape[1]))
    row = jnp.take_along_axis(row, place // score.shape[2], axis=1)
    column = place % score.shape[2]
    hops = [left.first[row], left.last[row]][:before]
    hops += [right.first[column], right.last[column]][:after]
    path = jnp.stack(hops, axis=-1)
    padding = best.paths.shape[2] - len(hops)
    path = jnp.pad(path, ((0, 0), (0, 0), (0, padding)), constant_values=NULL)
    path = jnp.where(jnp.isneginf(value)[:, :, None], NULL, path)
    merged, order = jax.lax.top_k(jnp.concatenate([best.score, value], axis=1), keep)
    paths = jnp.concatenate([best.paths, path], axis=1)
    return best._replace(paths=jnp.take_along_axis(paths, order[:, :, None], axis=1), score=merged)


def _rescore(
    algebra: Algebra,
    table: jax.Array,
    flat: jax.Array,
    best: RankedPaths,
    k: int,
    offset: jax.Array,
    precision: str,
) -> RankedPaths:
    """Score the kept paths again in float32 and return the k best."""

    def one(paths: jax.Array, query: jax.Array) -> jax.Array:
        rows = jax.vmap(algebra.flatten)(encode_paths(algebra, table, paths))
        return jnp.sum(rows * query[None], axis=-1)

    length = jnp.sum(best.paths != NULL, axis=-1)
    exact = jax.vmap(one)(best.paths, flat) + offset[jnp.maximum(length - 1, 0)]
    exact = jnp.where(length > 0, exact, -jnp.inf)
    score, order = jax.lax.top_k(exact, k)
    paths = jnp.take_along_axis(best.paths, order[:, :, None], axis=1)
    if precision == "int8":
        return RankedPaths(paths, score, jnp.zeros_like(best.certified))
    norm = jnp.sqrt(jnp.sum(flat**2, axis=-1) * algebra.energy)
    accumulation = algebra.floats * 2.0**-24
    bound = norm * (_ROUNDING[precision] + accumulation)
    # Everything left out scored at most the last kept one in the sweep.
    return RankedPaths(paths, score, score[:, -1] >= best.score[:, -1] + bound)
