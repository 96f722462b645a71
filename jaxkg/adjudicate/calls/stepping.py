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
STOP = "stop"
_ENOUGH = "what is reached is the answer"
_NO_STEP = "none of these helps"
_TOKENS = 48

_SYSTEM = (
    "You answer a question by walking a knowledge graph, one step at a time. You are told the "
    "question, what is reached so far and the steps from there. A step that follows a relation is "
    "written (from)-[relation]->(to), in the relation's own direction, where `them` or a name is "
    "what is reached so far; behind the colon stands how many it leads to, and some of them. "
    "Choose the one step that leads towards the answer, or stop where what is reached already is "
    "the answer.\n"
    'Example: the question is "which of the courses that Ada Quill takes has the most credits".\n'
    "Reached: Ada Quill\n"
    "(Ada Quill)-[advised by]->(teacher): 1, Bo Marsh\n"
    "(Ada Quill)-[takes]->(course): 3, Algebra; Optics; Logic\n"
    'Reply: {"step": "(Ada Quill)-[takes]->(course)"}\n'
    "Reached: the takes of Ada Quill: 3, Algebra; Optics; Logic\n"
    "stop: what is reached is the answer\n"
    "(them)-[credits]->(number): 3, 4; 6; 8\n"
    "the one of them with the largest credits: Optics\n"
    "(student)-[takes]->(them): 5, Cy Bell; Di Fenn\n"
    'Reply: {"step": "the one of them with the largest credits"}\n'
    "Reached: the one of the takes of Ada Quill with the largest credits: 1, Optics\n"
    "stop: what is reached is the answer\n"
    "(them)-[credits]->(number): 1, 8\n"
    'Reply: {"step": "stop"}\n' + DATA_RULE
)
_USER = "Question:\n{question}\n\nReached:\n{reached}\n\nSteps:\n{steps}"
_FORM = 'Reply with one JSON object and nothing else:\n{"step": "<step>"}'


class StepReply(BaseModel):
    """The reply's schema: "stop" or a step as it is written, without what it leads to."""

    step: str = Field(validation_alias=AliasChoices("step", "number", "choice", "answer"))


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

    @property
    def names(self) -> tuple[str, ...]:
        """What a reply may be, "stop" first; what a step leads to only where two are else alike."""
        whole = [arrows(line(step)) for step in self.steps]
        short = [step.partition(": ")[0] for step in whole]
        return (STOP, *(s if short.count(s) == 1 else w for s, w in zip(short, whole)))

    def place(self, reply: StepReply) -> int | None:
        """0 or the number of a step; None for what was not offered."""
        names, said = self.names, arrows(line(reply.step))
        if said.isdecimal() and int(said) < len(names):
            return int(said)
        forms = (said, said.partition(": ")[0])
        return next((names.index(form) for form in forms if form in names), None)


def choose_steps(
    backend: Backend, asked: Sequence[Steps], *, repair: bool = False
) -> list[Outcome[StepReply]]:
    """Let a language model choose a step for each question, one call a question.

    Returns:
        One outcome per question, in order; a step is one that was offered, see `Steps.place`.
    """
    prompted = [
        Prompted(
            messages=step_prompt(each),
            schema=StepReply,
            check=functools.partial(_outside, each),
            form=_FORM,
            question=each.question_id or each.question,
            stage=STAGE,
            max_tokens=_TOKENS,
            offered={"step": each.names},
        )
        for each in asked
    ]
    return ask(backend, prompted, repair=repair)


def step_prompt(asked: Steps) -> tuple[Message, Message]:
    """The two turns; everything from question and graph enters as delimited data."""
    user = _USER.format(
        question=block([asked.question], "question"),
        reached=block([asked.reached]),
        steps=arrows(block([f"{STOP}: {_ENOUGH if asked.stops else _NO_STEP}", *asked.steps])),
    )
    return Message("system", _SYSTEM), Message("user", user)


def _outside(asked: Steps, reply: StepReply) -> str | None:
    if asked.place(reply) is not None:
        return None
    return f"{line(reply.step)[:80]!r} is no step offered"
