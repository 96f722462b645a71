"""Why retrieval missed: the answer is not there to be found, too far, or the search went astray.

Reference: Wang et al., "Reasoning of large language models over knowledge graphs with
super-relations" (ReKnoS), Figure 2 and Table 10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias

from jaxkg.kg.distances import Distances

Retrieval: TypeAlias = Literal["retrieved", "path absent", "depth limit", "misdirection"]
KINDS: tuple[Retrieval, ...] = ("retrieved", "path absent", "depth limit", "misdirection")


def retrieval(
    distances: Distances,
    topics: Collection[int],
    gold: Collection[int],
    extracted: Collection[int],
    *,
    limit: int,
) -> Retrieval:
    """What became of one question's retrieval.

    Args:
        distances: of the graph.
        topics: entities the search started from.
        gold: gold answers that are entities of the graph.
        extracted: entities that the search retrieved.
        limit: longest path it could take.

    Returns:
        "retrieved" where a gold answer was extracted; "path absent" where no path leads from a
        topic to a gold answer (or one side is empty); "depth limit" where the shortest is longer
        than `limit`; "misdirection" where it was within the limit.
    """
    if set(gold) & set(extracted):
        return "retrieved"
    hops = distances.hops(topics, gold) if gold and topics else None
    if hops is None:
        return "path absent"
    return "depth limit" if hops > limit else "misdirection"


def breakdown(kinds: Iterable[Retrieval]) -> dict[str, float]:
    """Retrieval rate, and the kinds of misses as shares of all misses.

    Example:
        >>> breakdown(["retrieved", "retrieved", "misdirection", "depth limit"])
        {'retrieval_rate': 0.5, 'path absent': 0.0, 'depth limit': 0.5, 'misdirection': 0.5}
    """
    counts = Counter(kinds)
    asked = sum(counts.values())
    missed = asked - counts["retrieved"]
    shares: dict[str, float] = {"retrieval_rate": counts["retrieved"] / max(asked, 1)}
    for kind in KINDS[1:]:
        shares[kind] = counts[kind] / max(missed, 1)
    return shares
