"""Facts read out of passages by a language model: hyperedges first, then what they join.

Reference: PRoH, Section 4.1; HyperGraphRAG's construction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.prompts_proh import EXTRACT_SYSTEM, EXTRACT_USER
from jaxkg.adjudicate.prompts import block, document
from jaxkg.adjudicate.requests import Message

STAGE = "extract"
REPLY_TOKENS = 1024


class ExtractedEntity(BaseModel):
    """Something a fact joins."""

    name: str = Field(validation_alias=AliasChoices("name", "entity", "entity_name"))
    description: str = Field(
        default="", validation_alias=AliasChoices("description", "desc", "entity_description")
    )


class ExtractedFact(BaseModel):
    """One fact of a passage."""

    fact: str = Field(
        validation_alias=AliasChoices("fact", "hyperedge", "knowledge_segment", "sentence"),
        description="a complete sentence",
    )
    entities: list[ExtractedEntity] = Field(description="the things that take part in it")


class Extraction(BaseModel):
    """The facts of a passage."""

    facts: list[ExtractedFact] = Field(
        validation_alias=AliasChoices("facts", "hyperedges"), description="empty for none"
    )


@dataclasses.dataclass(frozen=True)
class Source:
    """A passage to be read: its id (what the calls are charged to), title and text."""

    id: str
    title: str
    text: str


def _prompted(passage: Source) -> Prompted[Extraction]:
    user = EXTRACT_USER.format(title=block([passage.title]), passage=document(passage.text))
    return Prompted(
        messages=(Message("system", EXTRACT_SYSTEM), Message("user", user)),
        schema=Extraction,
        question=passage.id,
        stage=STAGE,
        max_tokens=REPLY_TOKENS,
    )


def extract(
    backend: Backend,
    passages: Sequence[Source],
    *,
    batch_size: int = 64,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Outcome[Extraction]]:
    """Read every passage.

    A backend with a cache resumes where it stopped: what was read before is not paid again.

    Args:
        backend: who answers.
        passages: any number.
        batch_size: requests in flight at once, at most.
        on_progress: told passages done and in all.

    Returns:
        One outcome per passage, in order; a failure is an outcome with its kind. Once a budget has
        held a passage back, the ones after it are held back too.
    """
    outcomes: list[Outcome[Extraction]] = []
    for first in range(0, len(passages), batch_size):
        some = passages[first : first + batch_size]
        outcomes += ask(backend, [_prompted(passage) for passage in some])
        if on_progress:
            on_progress(len(outcomes), len(passages))
    return outcomes
