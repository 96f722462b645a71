"""A query graph one step at a time: each call chooses among what the graph really has."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.prompts import DATA_RULE, arrows, block, line
from jaxkg.adjudicate.requests import Message

STAGE = "step"
STOP = "0. stop: what is reached is the answer"
NO_STEP = "0. none of these helps"
_TOKENS = 32

_SYSTEM = (
    "You answer a question by walking a knowledge graph, one step at a time. You are told the "
    "question, what is reached so far and numbered steps. A step that follows a relation is "
    "written (from)-[relation]->(to), in the relation's own direction, where `them` or a name is "
    "what is reached so far; behind the colon stands how many it leads to, and some of them. "
    "Choose the one step that leads towards the answer, or 0 where what is reached already is the "
    "answer. Reply with its number.\n"
    'Example: the question is "which of the courses that Ada Quill takes has the most credits".\n'
    "Reached: Ada Quill\n"
    "1. (Ada Quill)-[advised by]->(teacher): 1, Bo Marsh\n"
    "2. (Ada Quill)-[takes]->(course): 3, Algebra; Optics; Logic\n"
    'Reply: {"step": 2}\n'
    "Reached: the takes of Ada Quill: 3, Algebra; Optics; Logic\n"
    "0. stop: what is reached is the answer\n"
    "1. (them)-[credits]->(number): 3, 4; 6; 8\n"
    "2. the one of them with the largest credits: Optics\n"
    "3. (student)-[takes]->(them): 5, Cy Bell; Di Fenn\n"
    'Reply: {"step": 2}\n'
    "Reached: the one of the takes of Ada Quill with the largest credits: 1, Optics\n"
    "0. stop: what is reached is the answer\n"
    "1. (them)-[credits]->(number): 1, 8\n"
    'Reply: {"step": 0}\n' + DATA_RULE
)
_USER = "Question:\n{question}\n\nReached:\n{reached}\n\nSteps:\n{steps}"
_FORM = 'Reply with one JSON object and nothing else:\n{"step": <number>}'


class StepReply(BaseModel):
    """The reply's schema; 0 or the number of a step."""

    step: int = Field(validation_alias=AliasChoices("step", "number", "choice", "answer"))


@dataclasses.dataclass(frozen=True)
class Steps:
    """A question at the point where a step is to be chosen.

    Attributes:
        question, question_id: of the question.
        reached: what is reached so far, in words.
        steps: what may be chosen, in words.
        stops: whether what is reached can be the answer.
    """

    question: str
    question_id: str
    reached: str
    steps: tuple[str, ...]
    stops: bool


def choose_steps(
    backend: Backend, asked: Sequence[Steps], *, repair: bool = False
) -> list[Outcome[StepReply]]:
    """Let a language model choose a step for each question, one call a question.

    Args:
        backend: who answers.
        asked: questions with what is reached and what may be chosen.
        repair: allow one more call for a reply that cannot be read.

    Returns:
        One outcome per question, in order; a step is 0 or the number of one that was offered.
    """
    prompted = [
        Prompted(
            messages=step_prompt(each),
            schema=StepReply,
            check=functools.partial(_outside, len(each.steps)),
            form=_FORM,
            question=each.question_id or each.question,
            stage=STAGE,
            max_tokens=_TOKENS,
            offered={"step": range(len(each.steps) + 1)},
        )
        for each in asked
    ]
    return ask(backend, prompted, repair=repair)


def step_prompt(asked: Steps) -> tuple[Message, Message]:
    """The two turns; everything from question and graph enters as delimited data."""
    numbered = (f"{n}. {line(step)}" for n, step in enumerate(asked.steps, start=1))
    user = _USER.format(
        question=block([asked.question], "question"),
        reached=block([asked.reached]),
        steps=arrows(block([STOP if asked.stops else NO_STEP, *numbered])),
    )
    return Message("system", _SYSTEM), Message("user", user)


def _outside(most: int, reply: StepReply) -> str | None:
    if 0 <= reply.step <= most:
        return None
    return f"{reply.step} is no step offered; give 0 to {most}"
