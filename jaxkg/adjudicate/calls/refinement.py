"""Which relation patterns a question means, by one short call.

PathHD, Appendix K: the candidate patterns go in by number, the numbers of the few that fit come
out. The model can only choose among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate import prompts
from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.prompts import block, numbered
from jaxkg.adjudicate.requests import Message

STAGE = "refine"
REPLY_TOKENS = 48


class PatternReply(BaseModel):
    """The reply's schema."""

    patterns: list[int] = Field(
        validation_alias=AliasChoices("patterns", "indices", "schemas", "paths", "numbers"),
        description="numbers of the relation patterns that fit the question, best first",
    )


class Unrefined(NamedTuple):
    """A question with candidate patterns."""

    question: str
    question_id: str
    patterns: tuple[str, ...]  # in words, numbered from 1


def choose_patterns(
    backend: Backend, asked: Sequence[Unrefined], *, most: int
) -> list[Outcome[PatternReply]]:
    """Let a language model choose the `most` patterns that a question means, exactly one call each.

    Returns:
        One outcome per question, in order; a number may be of no pattern.

    Reference: PathHD, Appendix K.
    """
    system = Message("system", prompts.REFINE_SYSTEM.format(most=most))

    def user(each: Unrefined) -> Message:
        question, patterns = block([each.question], "question"), numbered(each.patterns)
        return Message("user", prompts.REFINE_USER.format(question=question, patterns=patterns))

    prompted = [
        Prompted(
            messages=(system, user(each)),
            schema=PatternReply,
            form=prompts.REFINE_FORM,
            question=each.question_id or each.question,
            stage=STAGE,
            max_tokens=REPLY_TOKENS,
            offered={"patterns": range(1, len(each.patterns) + 1)},
            most={"patterns": most},
        )
        for each in asked
    ]
    return ask(backend, prompted, repair=False)
