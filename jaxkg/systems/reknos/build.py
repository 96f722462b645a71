"""ReKnoS as the command builds it."""

from __future__ import annotations

from jaxkg.errors import JaxkgError
from jaxkg.systems.parts import Parts
from jaxkg.systems.ranked import ranked_from_parts
from jaxkg.systems.reknos.llm import LLMScorer
from jaxkg.systems.reknos.scorers import LabelScorer, PlannerScorer, RankerScorer
from jaxkg.systems.reknos.system import ReKnoS, ReKnoSSettings


def from_parts(parts: Parts) -> ReKnoS:
    """With the scorer that `scorer` names; a language model where there is one.

    Raises:
        JaxkgError: no such scorer.
    """
    named = parts.wishes.pop("scorer", "planner" if parts.backend is None else "llm")
    if named == "planner":
        scorer = PlannerScorer(parts.planner)
    elif named == "labels":
        scorer = LabelScorer(parts.kg.relations)
    elif named == "llm" and parts.backend is not None:
        scorer = LLMScorer(parts.backend, repair=parts.repair)
    elif named == "ranker":
        scorer = RankerScorer(ranked_from_parts(parts, "reknos with scorer=ranker"))
    else:
        raise JaxkgError(
            "the scorer of reknos is planner, labels, ranker with model=FOLDER, or llm with --llm "
            f"MODEL; not {named!r}"
        )
    parts.marks["scorer"] = named
    return ReKnoS.build(
        parts.kg,
        scorer,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=parts.settings(ReKnoSSettings),
    )
