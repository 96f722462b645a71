"""What became of a search's retrieval: was the answer not there to be found, too far, or astray?

Reference: Wang et al., "Reasoning of large language models over knowledge graphs with
super-relations" (ReKnoS), Figure 2 and Table 10.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import spread

Retrieval: TypeAlias = Literal["retrieved", "path absent", "depth limit", "misdirection"]
KINDS: tuple[Retrieval, ...] = ("retrieved", "path absent", "depth limit", "misdirection")


class Distances:
    """Breadth-first distances over a graph, its triples walked both ways.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "r", "b"), ("d", "r", "e")])
        >>> far = Distances(kg)
        >>> far.hops([0], [2]), far.hops([0], [0]), far.hops([0], [3])
        (2, 0, None)
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        head, tail = kg.triples[:, 0], kg.triples[:, 2]
        start, end = np.concatenate([head, tail]), np.concatenate([tail, head])
        order = np.argsort(start, kind="stable")
        self._neighbours = end[order]
        self._offsets = np.searchsorted(start[order], np.arange(kg.num_entities + 1))

    def hops(self, sources: Collection[int], targets: Collection[int]) -> int | None:
        """Triples on a shortest walk from a source to a target; None where there is none."""
        wanted = np.zeros(len(self._offsets) - 1, bool)
        wanted[list(targets)] = True
        frontier = np.unique(np.asarray(list(sources), np.int64))
        seen = np.zeros(len(wanted), bool)
        seen[frontier] = True
        hops = 0
        while len(frontier):
            if wanted[frontier].any():
                return hops
            first, last = self._offsets[frontier], self._offsets[frontier + 1]
            reached = self._neighbours[spread(first, last)]
            frontier = np.unique(reached[~seen[reached]]).astype(np.int64)
            seen[frontier] = True
            hops += 1
        return None


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


def retrieval_similarity(
    encode: Callable[[Sequence[str]], np.ndarray], retrieved: Sequence[str], gold: Sequence[str]
) -> float:
    """R-S: the cosine of what was retrieved and the gold evidence, each taken as one text.

    The vector of a set is the mean of its texts' vectors. NaN without gold, 0 where nothing was
    retrieved.

    Args:
        encode: texts to vectors of length 1.
        retrieved, gold: texts.

    Reference: PRoH, Section 5, after HyperGraphRAG; the encoder and the mean are ours.
    """
    if not gold:
        return math.nan
    if not retrieved:
        return 0.0
    one, other = (np.mean(encode(list(some)), axis=0) for some in (retrieved, gold))
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0
