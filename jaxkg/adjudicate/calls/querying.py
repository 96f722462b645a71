"""Meaning by one call: a question in, a query graph out, an operation a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.calls.planning import Wanted, relation_options
from jaxkg.adjudicate.prompts import DATA_RULE, arrows, block, line
from jaxkg.adjudicate.requests import Message

STAGE = "plan"
_TOKENS, _LINES = 160, 10
_CLASS = re.compile(r"\((.+?)\)(?=-\[|$)")
_ENDS = re.compile(r"->\((number|date)\)$")
_WALKS = ("->", "<-", "most ->", "most <-", "fewest ->", "fewest <-")
_ORDERS = ("->", "largest", "smallest", "sum", "mean")
_COMBINES = ("and", "or", "except")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FREE = (
    "^(where|table|largest [0-9]|smallest [0-9]|(none|only|all|exactly [0-9]) of|->[+]|<-[+]) "
    '[^"]+$'
)
"""Lines with a value in them, or several columns."""

_SYSTEM = (
    "You write what a question means as a query over a knowledge graph: what it begins with, a "
    "topic that is listed or all (CLASS), everything of a class; then lines, each one operation on "
    "what comes before it. Give no line that the question does not need.\n"
    "-> RELATION: go from subjects to objects. <- RELATION: go from objects to subjects. "
    "->+ RELATION: go on and on, to all above or below. -> RELATION in 2015: what held then.\n"
    "largest RELATION, smallest RELATION: keep the one with the largest or smallest value; "
    "largest 3 RELATION keeps three.\n"
    "most -> RELATION, fewest <- RELATION: keep the one that the relation leads most or fewest "
    "things from.\n"
    "where RELATION > VALUE: keep those whose value compares so (=, !=, <, <=, >, >=). "
    "where RELATION = NAME: keep those related to a name; where <- RELATION = NAME the other way.\n"
    "and TOPIC, or TOPIC, except all (CLASS): combine with what begins anew here and goes on in "
    "the lines that follow.\n"
    "none of -> RELATION: keep those whose relation leads to nothing that the lines that follow "
    "give; only of: to that alone; all of: to all of that; exactly 2 of: to as many of it.\n"
    "minus, divided by, days since, years since: of one number or date and the one that the lines "
    "that follow give.\n"
    "count, exists, sum RELATION, mean RELATION: last line only.\n"
    "table COLUMN; COLUMN: last line only, a row for each thing; table per RELATION: COLUMN; "
    "COLUMN, a row for each group. A column is RELATION, count, or count, sum, mean, min or max "
    "of RELATION. Further parts: largest 3 COLUMN, where COLUMN > 5, top 2 (of each group).\n"
    "Relations are listed as (subject)-[RELATION]->(object). Use only these, written as they stand "
    "in the brackets. Where the graph cannot answer, give no line.\n"
    "Examples, with (student)-[takes]->(course), (course)-[taught by]->(teacher), "
    "(course)-[credits]->(number):\n"
    'what does Ada Quill take: {"begin": "Ada Quill", "lines": ["-> takes"]}\n'
    'which course of Ada Quill has the most credits: {"begin": "Ada Quill", "lines": ["-> takes", '
    '"largest credits"]}\n'
    'how many students take a course of Bo Marsh with more than 4 credits: {"begin": "Bo Marsh", '
    '"lines": ["<- taught by", "where credits > 4", "<- takes", "count"]}\n'
    'which courses are there: {"begin": "all (course)", "lines": []}\n'
    'which teacher teaches the most courses: {"begin": "all (teacher)", "lines": ["most <- taught '
    'by"]}\n' + DATA_RULE
)
_USER = "Relations:\n{relations}\n\nTopics:\n{topics}\n\nQuestion:\n{question}"
_FORM = (
    "Reply with one JSON object and nothing else:\n"
    '{"begin": "<topic or class>", "lines": ["<line>", ...]}'
)


class QueryReply(BaseModel):
    """The reply's schema; where nothing is said to begin with, the first line says it."""

    begin: str = Field(default="", validation_alias=AliasChoices("begin", "start", "topic"))
    lines: list[str] = Field(
        validation_alias=AliasChoices("lines", "query", "steps", "parts"),
        description="one operation each, in order",
    )

    @property
    def query(self) -> list[str]:
        """What it begins with, and the lines."""
        return [self.begin, *self.lines] if self.begin.strip() else self.lines


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
            max_tokens=_TOKENS,
            offered={"begin": beginnings(each), "lines": line_options(each)},
            patterns={"lines": _FREE},
            most={"lines": _LINES},
        )
        for place, each in enumerate(wanted)
    ]
    return ask(backend, prompted, repair=repair)


def beginnings(wanted: Wanted) -> tuple[str, ...]:
    """What a query can begin with.

    >>> beginnings(Wanted("which?", "q", ("Ann",), ("(student)-[takes]->(course)",)))
    ('Ann', 'all (student)', 'all (course)')
    """
    classes = dict.fromkeys(kind for each in wanted.relations for kind in _CLASS.findall(each))
    kinds = (kind for kind in classes if kind not in ("number", "date"))
    return (*wanted.topics, *(f"all ({kind})" for kind in kinds))


def line_options(wanted: Wanted) -> tuple[str, ...]:
    """The lines that name what is there: what a reply is made of, those of `_FREE` aside.

    A relation that leads to a value is ordered and compared by it, with the question's own numbers;
    another one is walked, counted, or held against a topic.

    >>> relations = ("(student)-[takes]->(course)", "(student)-[age]->(number)")
    >>> options = line_options(Wanted("who over 9?", "q", ("Ann",), relations))
    >>> options[:3], options[7], "largest age" in options, "largest takes" in options
    (('-> takes', '<- takes', 'most -> takes'), 'where <- takes = Ann', True, False)
    """
    numbers = dict.fromkeys(_NUMBER.findall(wanted.question))
    lines: list[str] = []
    for each, name in zip(wanted.relations, relation_options(wanted.relations)[::2], strict=True):
        if _ENDS.search(each):
            lines += (f"{operation} {name}" for operation in _ORDERS)
            lines += (f"where {name} {sign} {n}" for n in numbers for sign in ("=", ">", "<"))
        else:
            lines += (f"{operation} {name}" for operation in _WALKS)
            lines += (f"where {way}{name} = {t}" for t in wanted.topics for way in ("", "<- "))
    again = (f"{word} {start}" for word in _COMBINES for start in beginnings(wanted))
    return (
        *lines,
        *again,
        *("count", "exists", *_COMBINES),
        *("minus", "divided by", "days since", "years since"),
    )


def query_prompt(wanted: Wanted) -> tuple[Message, Message]:
    """The two turns; relations, topics and question enter as delimited data."""
    user = _USER.format(
        relations=arrows(block(map(line, wanted.relations))),
        topics=block(wanted.topics or ("none; begin with a class",)),
        question=block([wanted.question], "question"),
    )
    return Message("system", _SYSTEM), Message("user", user)
