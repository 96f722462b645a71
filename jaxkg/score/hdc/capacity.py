"""Near-orthogonality and capacity: the bounds, and simulations to hold them against.

PathHD, Prop. 1 and Cor. 1, leave the constant c open ("depending only on the sub-Gaussian proxy").
For products of symbols that differ from the query by an independent uniform factor it is:

| algebra | c | why |
|---|---|---|
| bipolar, mix | 1/2 | Hoeffding, d signs (its App. D) |
| FHRR | 1 | E exp(t cos phi) = I_0(t) <= exp(t^2 / 4) |
| GHRR, Haar | 1 | moments of tr U, U Haar on U(m), are at most those of a complex Gaussian |
| GHRR, diagonal | 1/m | d/m phases that are not zero |

For Haar blocks: E |tr U|^(2k) counts the permutations of k without an increasing run longer than m
(Rains 1998), so it is at most k!, hence E exp(t Re tr U) <= exp(t^2 / 4) and, averaging D blocks
over m, Pr(|sim| >= eps) <= 2 exp(-d eps^2) with d = D m^2. So c is not "absolute" across the
families, and per stored float no operator has more capacity than another: d complex entries (2d
floats) with c = 1 equal 2d real ones with c = 1/2.

Where the claim does not hold as printed, each shown by `distractor_similarity`:

- "any distractor z != z_q" (Prop. 1), "differs in at least one relation" (Thm. 1): a distractor
  that permutes the query's relations has similarity 1 in every commutative algebra, and mean 1/m^2
  for two swapped neighbours in Haar GHRR, at any d. Lemma 1 needs a relation that occurs a
  different number of times.
- Gaussian HRR and real element-wise products are not sub-Gaussian in d: with s shared relations
  their variance is 2^s / d and 3^s / d.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra
from jaxkg.score.hdc.similarity import similarity_matrix
from jaxkg.score.hdc.symbols import encode_paths

KINDS = ("random", "near", "permuted")


def concentration(algebra: Algebra) -> float:
    """c in Pr(|sim| >= eps) <= 2 exp(-c d eps^2) (PathHD, Eq. 8).

    A theorem for bipolar, mix, FHRR and Haar or diagonal GHRR. For Householder blocks it is the
    value of the Haar ones that their products approach (0.8 was measured for single symbols of four
    reflections, 1.0 for three-hop paths); for Gaussian HRR and real products it is that of
    single symbols, which their products exceed.
    """
    complex_entries = algebra.floats == 2 * algebra.dimension
    return algebra.coordinates / algebra.dimension if complex_entries else 0.5


def false_match_bound(
    dimension: int, epsilon: float, *, distractors: int = 1, c: float = 1.0
) -> float:
    """Pr(some |sim| >= epsilon) <= 2 M exp(-c d epsilon^2), at most 1 (PathHD, Eq. 8 and 9).

    Example:
        >>> round(false_match_bound(4096, 0.05, distractors=100), 4)
        0.0071
    """
    return min(1.0, 2 * distractors * math.exp(-c * dimension * epsilon**2))


def noise_ceiling(
    dimension: int, *, distractors: int, delta: float = 0.05, c: float = 1.0
) -> float:
    """The epsilon that no distractor exceeds, with probability 1 - delta (Eq. 9 solved for it)."""
    return math.sqrt(math.log(2 * distractors / delta) / (c * dimension))


def distractor_similarity(
    algebra: Algebra,
    *,
    relations: int = 64,
    length: int = 3,
    distractors: int = 256,
    trials: int = 16,
    kind: str = "random",
    key: jax.Array,
) -> jax.Array:
    """Similarities of random query paths to random distractors, with a fresh table per trial.

    Args:
        relations: R, size of each table.
        length: hops of query and distractors; the query uses distinct relations.
        distractors: M.
        trials: tables.
        kind: "random": independent paths, redrawn relations that the query does not use (no
            shared factor); "near": the query with one hop replaced by an unused relation;
            "permuted": the query's relations in an order that differs at two hops or more.
        key: of everything.

    Returns:
        `[trials, M]` float32.

    Raises:
        JaxkgError: an unknown kind, or fewer than length + 1 relations, or (for "permuted") fewer
            than two hops.
    """
    if kind not in KINDS:
        raise JaxkgError(f"kind {kind!r} is unknown: use one of {', '.join(KINDS)}")
    if relations <= length or (kind == "permuted" and length < 2):
        raise JaxkgError(
            f"distractors of kind {kind!r} need more relations than hops and, if permuted, two "
            f"hops; got relations={relations}, length={length}"
        )

    def trial(key: jax.Array) -> jax.Array:
        key_table, key_path, key_hop = jax.random.split(key, 3)
        table = algebra.random((relations,), key=key_table)
        # Names do not matter, so the query is always 0, 1, 2, ...
        query = jnp.arange(length, dtype=jnp.int32)
        fresh = jax.random.randint(key_path, (distractors, length), length, relations)
        if kind == "random":
            paths = fresh
        elif kind == "near":
            hop = jax.random.randint(key_hop, (distractors, 1), 0, length)
            paths = jnp.where(query[None] == hop, fresh, query[None])
        else:
            # Swap two different positions of the query.
            i = jax.random.randint(key_path, (distractors, 1), 0, length)
            j = (i + jax.random.randint(key_hop, (distractors, 1), 1, length)) % length
            paths = jnp.where(query[None] == i, j, jnp.where(query[None] == j, i, query[None]))
        encoded = encode_paths(algebra, table, paths)
        return similarity_matrix(algebra, encode_paths(algebra, table, query[None]), encoded)[0]

    return jax.lax.map(trial, jax.random.split(key, trials))
