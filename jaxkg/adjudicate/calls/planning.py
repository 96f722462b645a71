"""Planning by one call: a question in, the relations to walk at each hop out.

Shrestha and Kim, Section III-A and Algorithm 1, line 2. The hop count is not told: the plan's own
length says it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    WithJsonSchema,
    model_validator,
)

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls import prompts_planning as prompts
from jaxkg.adjudicate.prompts import DATA_RULE, arrows, block, line
from jaxkg.adjudicate.requests import Message
from jaxkg.records import Usage
from jaxkg.words import TOPIC_WORD

STAGE = "plan"
_TYPED = re.compile(r"\)-\[(.*)\]->\(")
_ARROW = re.compile(r"\s*(->|<-|→|←)\s*")
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


def _walked(value: Any) -> list[list[str]]:
    """Hops of a line with arrows, `^` before what is walked backwards; or of lists, as above."""
    if not isinstance(value, str):
        hops = _hops(value)
        if not isinstance(hops, list) or not all(isinstance(n, str) for hop in hops for n in hop):
            raise ValueError("a way is a line of relations, each behind an arrow")
        return hops
    first, *rest = _ARROW.split(value.strip())
    pairs = list(zip(rest[::2], rest[1::2]))
    if first not in ("", prompts.TOPIC):
        pairs.insert(0, ("->", first))
    return [[("^" if arrow in ("<-", "←") else "") + name] for arrow, name in pairs if name]


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


class WayReply(BaseModel):
    """The reply's schema: one plan as a line, `-> takes <- taught by`."""

    reasoning: str = Field(
        default="",
        validation_alias=AliasChoices("reasoning", "rationale", "explanation", "thought"),
        description="one sentence: which way is walked",
    )
    hops: Annotated[Any, BeforeValidator(_walked), WithJsonSchema({"type": "string"})] = Field(
        validation_alias=AliasChoices("way", "hops", "plan", "path", "steps", "relations"),
    )

    @property
    def plans(self) -> list[list[list[str]]]:
        """The plan, if it has a hop."""
        return [self.hops] if self.hops else []


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A question to be planned.

    Attributes:
        question, question_id: of the question.
        hops: how many hops it takes, to be told as the paper does; None tells nothing.
        topics: names of the topic entities, where every plan starts.
        relations: what may be walked, one line each, as `TypedSchema.line` has them.
        masked: the question with `TOPIC_WORD` in place of what mentions a topic; "" for no mention.
        ways: the plans that exist, a line each, see `way_line`; empty where anything is allowed.
    """

    question: str
    question_id: str
    topics: tuple[str, ...]
    relations: tuple[str, ...]
    hops: int | None = None
    masked: str = ""
    ways: tuple[str, ...] = ()


def way_line(names: Sequence[str]) -> str:
    """A relation path as a line of a reply.

    >>> way_line(["takes", "^taught by"])
    '-> takes <- taught by'
    """
    return " ".join(
        ("<- " if name.startswith("^") else "-> ") + arrows(line(name.removeprefix("^")))
        for name in names
    )


def plan_relations(
    backend: Backend,
    wanted: Sequence[Wanted],
    *,
    hops: int,
    repair: bool = False,
    prompt: Literal["ours", "paper"] = "ours",
) -> list[Outcome[PlanReply]] | list[Outcome[WayReply]]:
    """Let a language model plan, one call a question.

    Nothing is held against the graph here: the names of a reply are words until
    `jaxkg.systems.llm_planned.schema` has matched them to relations.

    Args:
        backend: who answers.
        wanted: questions with topics and relations.
        hops: longest plan allowed.
        repair: allow one more call for a reply that cannot be read.
        prompt: "ours", a line for a plan, or Appendix A as it is "paper".

    Returns:
        One outcome per question, in order.

    Reference: Shrestha and Kim, Algorithm 1, line 2, and Appendix A.
    """
    if prompt == "paper":
        printed = [
            Prompted(
                messages=printed_prompt(each),
                schema=PlanReply,
                form=prompts.PAPER_FORM,
                question=each.question_id or each.question,
                offered=dict.fromkeys(
                    ("hops", "alternatives.hops"), relation_options(each.relations)
                ),
                most={"hops": hops, "alternatives.hops": hops, "alternatives": 2},
                stage=STAGE,
                max_tokens=REPLY_TOKENS + _REASON_TOKENS,
                reason="reasoning",
            )
            for each in wanted
        ]
        return ask(backend, printed, repair=repair)
    why = backend.manner.why
    lines = [_way_prompted(each, hops, why=why) for each in wanted]
    return ask(backend, lines, repair=repair)


def _way_prompted(wanted: Wanted, hops: int, *, why: bool = False) -> Prompted[WayReply]:
    return Prompted(
        messages=plan_prompt(wanted, hops=hops),
        schema=WayReply,
        form=prompts.PLAN_FORM_WHY if why else prompts.PLAN_FORM,
        question=wanted.question_id or wanted.question,
        stage=STAGE,
        max_tokens=REPLY_TOKENS + (_REASON_TOKENS if why else 0),
        alternatives=None if why else 1,
        reason="reasoning",
        offered={"way": wanted.ways},
    )


def weigh_ways(
    backend: Backend, wanted: Sequence[Wanted], *, hops: int
) -> list[tuple[list[float | None], Usage]]:
    """Log-probability of each way of each question, as a reply that could be no other.

    One batch of calls over a shared prefix, as many as there are ways.

    Returns:
        Of each question its ways' log-probabilities, None where a call failed or the endpoint
        tells none, and what it cost.
    """
    outcomes = iter(
        ask(
            backend,
            [
                _way_prompted(dataclasses.replace(each, ways=(way,)), hops)
                for each in wanted
                for way in each.ways
            ],
            repair=False,
        )
    )
    weighed = []
    for each in wanted:
        mine = [next(outcomes) for _ in each.ways]
        cost = sum((outcome.usage for outcome in mine), Usage())
        weighed.append(([_likelihood(*pair) for pair in zip(mine, each.ways)], cost))
    return weighed


def _likelihood(outcome: Outcome[WayReply], way: str) -> float | None:
    """Of a reply that is the way, and no other that an endpoint lets pass."""
    plans = outcome.value.plans if outcome.value else ()
    is_way = any(way_line(["|".join(names) for names in plan]) == way for plan in plans)
    return outcome.replies[-1].likelihood if is_way else None


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
    """The two turns; relations and question enter as delimited data, the topic's name as X."""
    asked = wanted.masked.replace(TOPIC_WORD, prompts.TOPIC)
    if TOPIC_WORD not in wanted.masked:
        asked = f"{wanted.question} ({prompts.TOPIC} is {'; '.join(wanted.topics)})"
    user = prompts.PLAN_USER.format(
        relations=arrows(block(map(line, wanted.relations))),
        question=block([asked], "question"),
    )
    system = prompts.PLAN_SYSTEM.replace("{hops}", str(hops))
    return Message("system", system), Message("user", user)
