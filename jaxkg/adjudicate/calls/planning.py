"""Planning by one call: a question in, the relations to walk at each hop out.

Shrestha and Kim, Section III-A and Algorithm 1, line 2. The hop count is not told: the plan's own
length says it.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, model_validator

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls import prompts_planning as prompts
from jaxkg.adjudicate.prompts import DATA_RULE, arrows, block, line
from jaxkg.adjudicate.requests import Message

STAGE = "plan"
_TYPED = re.compile(r"\)-\[(.*)\]->\(")
REPLY_TOKENS = 96
_REASON_TOKENS = 64


def _hops(value: Any) -> Any:
    """Hops however they are nested: a name alone, `{"hop": 1, "relations": [...]}`."""
    if not isinstance(value, list):
        return value
    return [list(_names(hop)) for hop in value]


def _names(part: Any) -> Iterator[Any]:
    """The names of a hop; numbers beside them are the model's count of hops."""
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _names(inner)
    elif not isinstance(part, int):
        yield part


Hops = Annotated[list[list[str]], BeforeValidator(_hops)]


class RelationPlan(BaseModel):
    """Another plan."""

    hops: Hops

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        return {"hops": value} if isinstance(value, list) else value


class PlanReply(BaseModel):
    """The reply's schema; small models may leave out all but the hops."""

    reasoning: str = Field(
        default="",
        validation_alias=AliasChoices("reasoning", "rationale", "explanation", "thought"),
        description="one sentence: which way the plan walks",
    )
    hops: Hops = Field(
        validation_alias=AliasChoices("hops", "plan", "path", "steps", "relations"),
        description="for each hop in order the one or two relations to walk; empty for no plan",
    )
    alternatives: list[RelationPlan] = Field(
        default=[],
        validation_alias=AliasChoices("alternatives", "other_plans"),
        description="other plans the question may mean, best first; usually none",
    )

    @property
    def plans(self) -> list[list[list[str]]]:
        """All plans, best first; those without a hop left out."""
        return [hops for hops in (self.hops, *(p.hops for p in self.alternatives)) if hops]


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A question to be planned.

    Attributes:
        question, question_id: of the question.
        hops: how many hops it takes, to be told as the paper does; None tells nothing.
        topics: names of the topic entities, where every plan starts.
        relations: what may be walked, one line each, as `TypedSchema.line` has them.
    """

    question: str
    question_id: str
    topics: tuple[str, ...]
    relations: tuple[str, ...]
    hops: int | None = None


def plan_relations(
    backend: Backend,
    wanted: Sequence[Wanted],
    *,
    hops: int,
    repair: bool = False,
    max_tokens: int = REPLY_TOKENS,
    prompt: Literal["ours", "paper"] = "ours",
) -> list[Outcome[PlanReply]]:
    """Let a language model plan, one call a question.

    Nothing is held against the graph here: the names of a reply are words until
    `jaxkg.systems.llm_planned.schema` has matched them to relations.

    Args:
        backend: who answers.
        wanted: questions with topics and relations.
        hops: longest plan allowed.
        repair: allow one more call for a reply that cannot be read.
        max_tokens: longest reply.
        prompt: "ours", or Appendix A as it is "paper".

    Returns:
        One outcome per question, in order.

    Reference: Shrestha and Kim, Algorithm 1, line 2, and Appendix A.
    """
    why = backend.manner.why or prompt == "paper"
    asks = printed_prompt if prompt == "paper" else functools.partial(plan_prompt, hops=hops)
    prompted = [
        Prompted(
            messages=asks(each),
            schema=PlanReply,
            form=prompts.PLAN_FORM_WHY if why else prompts.PLAN_FORM,
            question=each.question_id or each.question,
            stage=STAGE,
            max_tokens=max_tokens + (_REASON_TOKENS if why else 0),
            offered=dict.fromkeys(("hops", "alternatives.hops"), relation_options(each.relations)),
            most={"hops": hops, "alternatives.hops": hops, "alternatives": 2},
            reason="reasoning",
        )
        for each in wanted
    ]
    return ask(backend, prompted, repair=repair)


def relation_options(relations: Sequence[str]) -> tuple[str, ...]:
    """What a hop may be: the relation in each line's brackets, else what it begins with; both ways.

    >>> relation_options(["(film)-[written_by]->(person)", "has_genre: Alien → Horror"])
    ('written_by', '^written_by', 'has_genre', '^has_genre')
    """
    lines = [arrows(line(each)) for each in relations]
    typed = ((_TYPED.search(each), each.partition(": ")[0]) for each in lines)
    names = dict.fromkeys(match[1] if match else name for match, name in typed)
    return tuple(way + name for name in names for way in ("", "^"))


def printed_prompt(wanted: Wanted) -> tuple[Message, Message]:
    """Appendix A to the letter in the user's turn; the hop count is told where it is known."""
    told = "" if wanted.hops is None else prompts.PAPER_HOPS.format(max_hops=wanted.hops)
    user = prompts.PAPER_USER.format(
        available_relations=", ".join(relation_options(wanted.relations)[::2]),
        question=line(wanted.question),
        hops=told,
    )
    return Message("system", DATA_RULE), Message("user", user)


def plan_prompt(wanted: Wanted, *, hops: int) -> tuple[Message, Message]:
    """The two turns; relations, topics and question enter as delimited data."""
    user = prompts.PLAN_USER.format(
        relations=arrows(block(map(line, wanted.relations))),
        topics=block(wanted.topics),
        question=block([wanted.question], "question"),
    )
    return Message("system", prompts.PLAN_SYSTEM.format(hops=hops)), Message("user", user)
