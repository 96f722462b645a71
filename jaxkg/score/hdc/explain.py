"""Why a path scored what it did, by unbinding.

PathHD, Sec. 2.3, says unbinding lets one "inspect the contribution of individual relations". Done
naively it does not: unbind all other hops from the query and compare what is left with the hop's
own symbol, and, the trace being cyclic, *every hop* gives the same number, the path's score. What
the unbound query does tell is how well every *other* relation would have done in that place. From
those counterfactuals a fair share per hop follows.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.score.hdc.algebra import Algebra
from jaxkg.score.hdc.similarity import query_rows
from jaxkg.score.hdc.symbols import encode
from jaxkg.types import NULL


class HopContributions(NamedTuple):
    """A path's score, told hop by hop: baseline + sum(share) = score."""

    share: jax.Array  # [L] float32, 0 past the path's end
    baseline: jax.Array  # [] float32, mean score of all paths of that length
    score: jax.Array  # [] float32, similarity of the query to the path


def hop_contributions(
    algebra: Algebra, table: jax.Array, query: jax.Array, path: jax.Array
) -> HopContributions:
    """Shapley values of the hops: how much knowing each relation adds to the score.

    Not knowing a hop means the average over all relations there; since binding is linear in each
    symbol, that is binding with the average symbol, so the mean over R^n paths costs one encoding.
    2^L encodings in all, L <= 4.

    Args:
        algebra: isometric.
        table: `[R, *shape]`.
        query: `[*shape]`.
        path: `[L]` int32, NULL past its end.

    Returns:
        HopContributions. A hop whose relation could be any other without changing the score has
        share 0; a hop that makes the score worse than the average relation would is negative.

    Raises:
        JaxkgError: the algebra is not isometric.
    """
    _need_isometric(algebra)
    hops, relations = path.shape[0], table.shape[0]
    valid = path != NULL
    weights = jnp.full((relations,), 1 / relations)
    own = table[jnp.maximum(path, 0)]
    average = jnp.broadcast_to(algebra.bundle(table, weights)[None], own.shape)
    known = np.array(list(itertools.product([False, True], repeat=hops)))  # [2^L, L]
    unit = query_rows(algebra, query[None])[0]

    def value(chosen: jax.Array) -> jax.Array:
        mask = chosen.reshape(-1, *(1 for _ in algebra.shape))
        return jnp.dot(algebra.flatten(encode(algebra, jnp.where(mask, own, average), valid)), unit)

    values = jax.vmap(value)(jnp.asarray(known))
    # Hops past the end change nothing, so their share comes out 0 and they dilute no other.
    share = jnp.asarray(_shapley_matrix(known)) @ values
    return HopContributions(jnp.where(valid, share, 0.0), values[0], values[-1])


def _shapley_matrix(known: np.ndarray) -> np.ndarray:
    """`[L, 2^L]` weights that turn the values of all subsets into Shapley values."""
    hops = known.shape[1]
    size = known.sum(axis=1)
    weight = np.array(
        [math.factorial(s) * math.factorial(max(hops - 1 - s, 0)) for s in range(hops + 1)]
    )
    matrix = np.zeros((hops, len(known)), np.float32)
    for hop in range(hops):
        joined = known[:, hop]
        matrix[hop, joined] = weight[size[joined] - 1]
        matrix[hop, ~joined] = -weight[size[~joined]]
    return matrix / math.factorial(hops)


def _need_isometric(algebra: Algebra) -> None:
    if not algebra.isometric:
        raise JaxkgError(
            f"unbinding in {algebra.name} is not exact, so it cannot separate hops: "
            "use an isometric algebra"
        )
