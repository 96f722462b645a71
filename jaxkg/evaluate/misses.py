"""Why a question was missed: where on the way from its topic to the first answer it was lost.

`miss` reads that of any system's prediction line. `retrieval` asks the graph of what a search did
not retrieve: is the answer not there to be found, too far, or did the search go astray?

Reference: Wang et al., "Reasoning of large language models over knowledge graphs with
super-relations" (ReKnoS), Figure 2 and Table 10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from jaxkg.evaluate.runs.lines import status
from jaxkg.kg.distances import Distances

Retrieval: TypeAlias = Literal["retrieved", "path absent", "depth limit", "misdirection"]
KINDS: tuple[Retrieval, ...] = ("retrieved", "path absent", "depth limit", "misdirection")


Miss: TypeAlias = Literal["not_linked", "not_retrieved", "ranked_below", "withheld", "failed"]
MISSES: tuple[Miss, ...] = ("not_linked", "not_retrieved", "ranked_below", "withheld", "failed")


def miss(line: Mapping[str, Any]) -> Miss:
    """Where a question was lost whose first answer is wrong, or that has none.

    Args:
        line: as `prediction_line` makes it.

    Returns:
        "failed" where a call failed or its reply could not be read; "not_linked" where no topic was
        recognised and nothing was found without one; "withheld" where the answer was retrieved, or
        something to answer with was found too doubtful to look, and the question was abstained
        from; "ranked_below" where it was retrieved and other answers were put first;
        "not_retrieved" elsewhere.
    """
    outcome, plan = status(line), line.get("plan") or ()
    retrieved = line.get("gold_retrieved")
    if outcome not in ("answered", "abstained"):
        return "failed"
    if line.get("linked") is False and not plan and not retrieved:
        return "not_linked"
    if outcome == "answered":
        return "ranked_below" if retrieved else "not_retrieved"
    doubtful = bool(plan) and not any(some.get("used") for some in plan)
    return "withheld" if retrieved or doubtful else "not_retrieved"


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
