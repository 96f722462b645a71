"""Strict metrics of one question: sets and rankings of answer keys, compared for equality.

A key is whatever stands for one answer; `jaxkg.evaluate.metrics.matching` makes them out of
ids and names. A question without gold answers has no right answer to find: every function here
gives NaN for it, and the report counts such questions apart.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence

COUNTED = ("tp", "fp", "fn")
STRICT = ("hits_at_1", "hit_any", "exact_set", "precision", "recall", "f1", "micro_f1")


def confusion(
    gold: Collection[Hashable], predicted: Collection[Hashable]
) -> tuple[float, float, float]:
    """True positives, false positives and false negatives, as sets; three NaNs without gold.

    Summed over questions they give `micro_f1` = 2 TP / (2 TP + FP + FN).

    >>> confusion(["a", "b"], ["b", "b", "c"])
    (1.0, 1.0, 1.0)
    """
    if not gold:
        return math.nan, math.nan, math.nan
    right, answers = set(gold), set(predicted)
    hits = len(right & answers)
    return float(hits), float(len(answers) - hits), float(len(right) - hits)


def hits_at_1(gold: Collection[Hashable], ranked: Sequence[tuple[Hashable, float]]) -> float:
    """Chance that the top-ranked answer is gold, ties broken at random.

    The ranking is the authority: the tied group is the run of answers at its head that share the
    first one's score, so a system that scores everything alike is credited with its precision.

    Args:
        gold: keys of the gold answers.
        ranked: (key, score), best first. A key that comes twice counts once, where it comes first.

    Returns:
        Share of the tied group that is gold, in [0, 1]; 0 without predictions; NaN without gold.

    >>> hits_at_1({"a"}, [("a", 0.9), ("b", 0.9), ("c", 0.1)])
    0.5
    """
    if not gold:
        return math.nan
    if not ranked:
        return 0.0
    best = ranked[0][1]
    tied: dict[Hashable, None] = {}
    for key, score in ranked:
        if score != best:
            break
        tied[key] = None
    return sum(key in gold for key in tied) / len(tied)


def hit_any(gold: Collection[Hashable], predicted: Collection[Hashable]) -> float:
    """1 where any predicted answer is gold."""
    right, _, _ = confusion(gold, predicted)
    return right if math.isnan(right) else float(right > 0)


def exact_set(gold: Collection[Hashable], predicted: Collection[Hashable]) -> float:
    """1 where the predicted set equals the gold set."""
    right, wrong, missed = confusion(gold, predicted)
    return right if math.isnan(right) else float(wrong == 0 and missed == 0)


def precision(gold: Collection[Hashable], predicted: Collection[Hashable]) -> float:
    """Share of the predicted set that is gold; 0 without predictions."""
    right, wrong, _ = confusion(gold, predicted)
    return right / max(right + wrong, 1.0)


def recall(gold: Collection[Hashable], predicted: Collection[Hashable]) -> float:
    """Share of the gold set that was predicted."""
    right, _, missed = confusion(gold, predicted)
    return right / (right + missed)


def f1(gold: Collection[Hashable], predicted: Collection[Hashable]) -> float:
    """Harmonic mean of the question's precision and recall (the macro F1 is its mean)."""
    right, wrong, missed = confusion(gold, predicted)
    return 2 * right / (2 * right + wrong + missed)


def strict_scores(
    gold: Collection[Hashable], ranked: Sequence[tuple[Hashable, float]]
) -> dict[str, float]:
    """All of the above by name, and `tp`, `fp`, `fn`."""
    predicted = {key for key, _ in ranked}
    scores: dict[str, float] = dict(zip(COUNTED, confusion(gold, predicted)))
    scores["hits_at_1"] = hits_at_1(gold, ranked)
    for function in (hit_any, exact_set, precision, recall, f1):
        scores[function.__name__] = function(gold, predicted)
    return scores
