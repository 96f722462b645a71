"""Planned search as the command builds it."""

from __future__ import annotations

from jaxkg.kg.typed_schema import MOST
from jaxkg.systems.llm_planned.selects import LLMSelects
from jaxkg.systems.llm_planned.steps import LLMSteps
from jaxkg.systems.llm_planned.system import LLMPlannedQA, LLMPlannedSettings
from jaxkg.systems.parts import Built, Parts


def from_parts(parts: Parts) -> Built:
    """The system that asks a model as `ask` says."""
    planned = _planned(parts)
    ways = {"steps": LLMSteps, "sql": LLMSelects}
    asked = ways.get(planned.settings.ask)
    return Built(asked(planned) if asked else planned, parts.marks(planned.settings))


def _planned(parts: Parts) -> LLMPlannedQA:
    """The linker, the schema and the model that all ways of asking share."""
    assert parts.backend is not None
    # Few relations are all offered, in an order that needs no weights.
    wanted = "encoder" in parts.wishes or parts.kg.num_relations > MOST
    own = ("encoder",) if wanted else ()
    encoder = parts.encoder if wanted else None
    return parts.over(
        LLMPlannedQA.build,
        parts.backend,
        settings=parts.settings(LLMPlannedSettings, *own, repair=parts.repair),
        on_trace=parts.traces.append,
        encoder=encoder,
    )
