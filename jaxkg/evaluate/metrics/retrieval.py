"""Retrieval metrics of one question: was the evidence among the k best?

They judge what was retrieved, whether or not an answer was given in the end. A question without
the gold side in question (paths, answers, support) gives NaN and is counted apart.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence

from jaxkg.errors import JaxkgError


def path_recall_at_k(
    gold_paths: Collection[Sequence[str]],
    ranked: Sequence[Sequence[str]],
    k: int,
    *,
    directed: bool = True,
) -> float:
    """1 where a gold relation path is among the k best distinct ones.

    Args:
        gold_paths: relation paths, an inverse relation written `^name`.
        ranked: relation paths, best first; a repeated one counts once.
        k: how many to look at, at least 1.
        directed: False where gold paths leave the direction open (WebQSP, CWQ): `^` is ignored.

    >>> path_recall_at_k([("^directed_by",)], [("directed_by",), ("^directed_by",)], 1)
    0.0
    """
    _check(k)
    if not gold_paths:
        return math.nan
    best = list(dict.fromkeys(relation_path_key(path, directed) for path in ranked))[:k]
    return float(any(relation_path_key(path, directed) in best for path in gold_paths))


def answer_recall_at_k(gold: Collection[Hashable], reached: Sequence[Hashable], k: int) -> float:
    """1 where a gold answer is reached by one of the k best paths.

    Args:
        gold: keys of the gold answers.
        reached: key of the entity each path ends in, best path first.
        k: how many paths to look at, at least 1.
    """
    _check(k)
    return float(any(key in gold for key in reached[:k])) if gold else math.nan


def support_recall_at_k(gold: Collection[Hashable], ranked: Sequence[Hashable], k: int) -> float:
    """Share of the gold supporting passages or triples among the k best distinct ones retrieved.

    >>> support_recall_at_k({"p1", "p2"}, ["p7", "p1", "p2"], 2)
    0.5
    """
    _check(k)
    if not gold:
        return math.nan
    best = list(dict.fromkeys(ranked))[:k]
    return len(set(gold) & set(best)) / len(set(gold))


def relation_path_key(path: Sequence[str], directed: bool) -> tuple[str, ...]:
    """A relation path as a key, without its `^` where direction is left open."""
    return tuple(path) if directed else tuple(step.removeprefix("^") for step in path)


def _check(k: int) -> None:
    if k < 1:
        raise JaxkgError(f"k must be at least 1, not {k}")
