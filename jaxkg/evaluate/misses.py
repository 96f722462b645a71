"""Why a question was missed: where on the way from its topic to the first answer it was lost.

`miss` reads that of any system's prediction line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from jaxkg.evaluate.runs.lines import status

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
    doubtful = bool(plan) and not any(path.get("used") for path in plan)
    return "withheld" if retrieved or doubtful else "not_retrieved"
