"""Meaning by one call: a question in, a query graph out, as a flat list of numbered parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.planning import Wanted
from jaxkg.adjudicate.delimit import block, line
from jaxkg.adjudicate.prompts import DATA_RULE
from jaxkg.adjudicate.requests import Message

STAGE = "plan"

_SYSTEM = (
    "You say what a question means as a query over a knowledge graph: a numbered list of parts, "
    "beginning with 0, each made of earlier parts; the last part is the answer.\n"
    '- "entities": the entities named in `names`, a topic as it is listed.\n'
    '- "step": what any of `relations` leads to from the part in `of`.\n'
    '- "intersection", "union", "difference": of the parts in `of`; the first without the second.\n'
    '- "where": those of the part in `of` for which the path `relations` (one relation a hop, none '
    "for the entity itself) ends in something that compares with `value` by `comparison`, or for "
    "which the number of things it leads to does if `by_count`.\n"
    '- "extreme": the first `n` of the part in `of`, ordered by the value at the end of the path '
    "`relations`, or by how many things it leads to if `by_count`; the largest first if "
    "`largest`.\n"
    '- "count", "exists": how many the part in `of` has; whether it has any. Last part only.\n'
    '- "compared": whether the first part in `of` compares with the second by `comparison`; last '
    "part only.\n"
    "Use only the relations listed, each written exactly as it stands before the colon. A relation "
    "leads from subject to object; with ^ before its name it is walked the other way. Leave out "
    "what a part has no use for. Where the graph cannot answer, give no part.\n"
    'Example: "which film with <actor> came out first", starred_actors and release_year leading '
    'from films: {"operator": "entities", "names": ["<actor>"]}, {"operator": "step", "of": [0], '
    '"relations": ["^starred_actors"]}, {"operator": "extreme", "of": [1], "relations": '
    '["release_year"], "largest": false, "n": 1}.\n' + DATA_RULE
)
_USER = (
    "Relations, each with an example from the graph:\n{relations}\n\n"
    "Topics:\n{topics}\n\nQuestion:\n{question}"
)
_FORM = (
    "Reply with one JSON object and nothing else:\n"
    '{"reasoning": "<one sentence>", "parts": [{"operator": "...", "of": [], ...}, ...]}'
)


class QueryPart(BaseModel):
    """One operator over earlier parts."""

    operator: Literal[
        "entities", "step", "intersection", "union", "difference", "where", "extreme", "count",
        "exists", "compared",
    ]  # fmt: skip
    of: list[int] = Field(default=[], description="numbers of earlier parts")
    names: list[str] = []
    relations: list[str] = []
    comparison: str = Field(default="", description="=, !=, <, <=, >, >= or in (of dates)")
    value: str = ""
    largest: bool = True
    n: int = 1
    by_count: bool = False


class QueryReply(BaseModel):
    """The reply's schema."""

    reasoning: str = Field(default="", description="one sentence: what the query says")
    parts: list[QueryPart]


def ask_queries(
    backend: Backend,
    wanted: Sequence[Wanted],
    *,
    check: Callable[[int, QueryReply], str | None],
    repair: bool = False,
) -> list[Outcome[QueryReply]]:
    """Let a language model say what questions mean, one call a question.

    Args:
        backend: who answers.
        wanted: questions with topics and relations.
        check: of the i-th question's reply, what is wrong with it; such a reply counts as one that
            cannot be read.
        repair: allow one more call for a reply that cannot be read.

    Returns:
        One outcome per question, in order.
    """
    prompted = [
        Prompted(
            messages=query_prompt(each),
            schema=QueryReply,
            form=_FORM,
            check=lambda reply, place=place: check(place, reply),
            question=each.question_id or each.question,
            stage=STAGE,
        )
        for place, each in enumerate(wanted)
    ]
    return ask(backend, prompted, repair=repair)


def query_prompt(wanted: Wanted) -> tuple[Message, Message]:
    """The two turns; relations, topics and question enter as delimited data."""
    user = _USER.format(
        relations=block(map(line, wanted.relations)),
        topics=block(wanted.topics),
        question=block([wanted.question], "question"),
    )
    return Message("system", _SYSTEM), Message("user", user)
