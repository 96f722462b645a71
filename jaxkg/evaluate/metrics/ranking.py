"""Filtered link prediction: ranks from counts, ties three ways, and the metrics over ranks.

Reference: Berrendorf et al., On the Ambiguity of Rank-Based Evaluation of Entity Alignment or Link
Prediction Methods, 2020, for the three ranks; Bordes et al., Translating Embeddings, 2013, for the
filtered setting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.metrics.intervals import Estimate, ratio_estimates

HITS_AT = (1, 3, 10)


class Ranks(NamedTuple):
    """Ranks of the true entities, 1 is best.

    Attributes:
        optimistic: [n] float64, ahead of every tie.
        realistic: [n] float64, the mean of the other two: the expected rank under random ties.
        pessimistic: [n] float64, behind every tie.
    """

    optimistic: np.ndarray
    realistic: np.ndarray
    pessimistic: np.ndarray


def ranks(better: npt.ArrayLike, equal: npt.ArrayLike) -> Ranks:
    """Ranks from counts over the filtered candidates.

    Args:
        better: [n] int, candidates that score higher than the true entity.
        equal: [n] int, *other* candidates that score the same. A constant scorer over N
            candidates has better 0 and equal N - 1: rank 1, (N + 1) / 2 and N.

    Filtered means that candidates which form another known fact with the query were left out of
    both counts.

    >>> ranks([0, 2], [0, 4]).realistic
    array([1., 5.])
    """
    ahead, tied = np.asarray(better), np.asarray(equal)
    for name, counts in (("better", ahead), ("equal", tied)):
        if counts.ndim != 1 or (counts.size and not np.issubdtype(counts.dtype, np.integer)):
            raise JaxkgError(f"{name} must be [n] integers, got {counts.shape} {counts.dtype}")
    if len(ahead) != len(tied):
        raise JaxkgError(f"{len(ahead)} counts of better candidates, {len(tied)} of equal ones")
    if (ahead < 0).any() or (tied < 0).any():
        raise JaxkgError("counts of better and equal candidates cannot be negative")
    first = ahead + 1.0
    return Ranks(first, first + tied / 2, first + tied)


def link_prediction(better: npt.ArrayLike, equal: npt.ArrayLike) -> dict[str, Estimate]:
    """Mean rank, mean reciprocal rank and hits at 1, 3 and 10, each with ties three ways.

    Args:
        better: [n] int, as in `ranks`, one entry a query. Concatenate head and tail queries for
            the usual "both", or give one side for its own numbers.
        equal: [n] int, likewise.

    Returns:
        Estimates named `mean_rank_optimistic`, `mrr_realistic`, `hits_at_10_pessimistic` and so
        on. Compare systems by the realistic ones: a constant scorer is perfect optimistically.
    """
    columns: dict[str, np.ndarray] = {}
    for kind, rank in ranks(better, equal)._asdict().items():
        columns[f"mean_rank_{kind}"] = rank
        columns[f"mrr_{kind}"] = 1 / rank
        for k in HITS_AT:
            columns[f"hits_at_{k}_{kind}"] = (rank <= k).astype(np.float64)
    values = np.stack(list(columns.values()), axis=1)
    return dict(zip(columns, ratio_estimates(values, np.ones_like(values))))
