"""ReKnoS as the command builds it."""

from __future__ import annotations

from jaxkg.errors import JaxkgError
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.parts import Built, Parts
from jaxkg.systems.reknos.llm import LLMScorer
from jaxkg.systems.reknos.scorers import LabelScorer, PlannerScorer
from jaxkg.systems.reknos.system import ReKnoS, ReKnoSSettings


def from_parts(parts: Parts) -> Built:
    """With the scorer that `scorer` names; a language model where there is one.

    With `judge=paths` a model that does not score decides at the end which of the paths found
    answer, in one call.

    Raises:
        JaxkgError: no such scorer.
    """
    named = parts.wishes.get("scorer", "planner" if parts.backend is None else "llm")
    encoder = parts.encoder if "encoder" in parts.wishes else None
    settings = parts.settings(ReKnoSSettings, "scorer", "encoder")
    if named == "planner":
        scorer = PlannerScorer(parts.planner)
    elif named == "labels":
        scorer = LabelScorer(parts.kg.relations, encoder)
    elif named == "llm" and parts.backend is not None:
        scorer = LLMScorer(
            parts.backend,
            settings.criteria,
            settings.always_score,
            repair=parts.repair,
            form=settings.form,
        )
    else:
        raise JaxkgError(
            f"the scorer of reknos is planner, labels, or llm with --llm MODEL; not {named!r}"
        )
    built = ReKnoS.build(
        parts.kg,
        scorer,
        encoder=encoder,
        tensors=parts.tensors,
        linker=parts.linker,
        settings=settings,
    )
    marks = parts.marks(settings, scorer=named)
    if parts.backend is None or named == "llm" or not parts.judges_paths:
        return Built(built, marks)
    return Built(AdjudicatedQA(built, parts.backend, repair=parts.repair), marks)
