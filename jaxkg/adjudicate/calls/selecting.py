"""Meaning by one call: a question in, a SELECT over one table of the graph out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from pydantic import AliasChoices, BaseModel, Field

from jaxkg.adjudicate.ask import Outcome, Prompted, ask
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.prompts import DATA_RULE, block
from jaxkg.adjudicate.requests import Message

STAGE = "select"
_TOKENS = 160

_SYSTEM = (
    "You write one SQL SELECT over one table that answers a question. There are no joins: each "
    "table already has the columns of what its rows refer to. Choose the table whose rows the "
    "question is about, and select only what is asked for. Write names as the tables have them. "
    "Dates grow: the oldest, the first and who is there longest have the "
    "smallest date (ASC). If no column has what is asked for, reply with an empty string.\n"
    "Examples, with CREATE TABLE loan (name, student, student_town, device, lent, due, back), "
    "CREATE TABLE device (name, maker, price, shelf) and CREATE TABLE student (name, town, born, "
    "enrolled):\n"
    "what does the Orion lamp cost: "
    """{"sql": "SELECT price FROM device WHERE name = 'Orion lamp'"}\n"""
    'who has something that came back late: {"sql": "SELECT student FROM loan WHERE back > due"}\n'
    "what came back in January 2024: "
    """{"sql": "SELECT device FROM loan WHERE back LIKE '2024-01%'"}\n"""
    'how many loans are still out: {"sql": "SELECT COUNT(*) FROM loan WHERE back IS NULL"}\n'
    "the dearest device on shelf B2: "
    """{"sql": "SELECT name FROM device WHERE shelf = 'B2' ORDER BY price DESC LIMIT 1"}\n"""
    'the oldest student: {"sql": "SELECT name FROM student ORDER BY born ASC LIMIT 1"}\n'
    'who has been here longest: {"sql": "SELECT name FROM student ORDER BY enrolled ASC LIMIT 1"}\n'
    'how much dearer is the Orion lamp than the Fox stand: {"sql": "SELECT (SELECT price FROM '
    "device WHERE name = 'Orion lamp') - (SELECT price FROM device WHERE name = 'Fox stand')\"}\n"
    'which student borrows most often: {"sql": "SELECT student FROM loan GROUP BY student ORDER BY '
    'COUNT(*) DESC LIMIT 1"}\n'
    """has Ada Quill borrowed a camera: {"sql": "SELECT COUNT(*) > 0 FROM loan WHERE student """
    """= 'Ada Quill' AND device LIKE '%camera%'"}\n"""
    'what colour is the Orion lamp: {"sql": ""}\nwho mended the Film camera: {"sql": ""}\n'
    + DATA_RULE
)
_USER = "Tables:\n{tables}\n\nNames in the question:\n{names}\n\nQuestion:\n{question}"
_FORM = 'Reply with one JSON object and nothing else:\n{"sql": "<SELECT, or empty>"}'


class SelectReply(BaseModel):
    """The reply's schema."""

    sql: str = Field(validation_alias=AliasChoices("sql", "query", "select"))


@dataclasses.dataclass(frozen=True)
class SelectWanted:
    """A question that a SELECT is wanted for.

    Attributes:
        question, question_id: what is asked, and what calls are charged to.
        tables: their definitions, a line each.
        names: what the question names, with the columns that each stands in.
        pattern: what a reply may be, see `jaxkg.kg.queries.select_pattern`.
    """

    question: str
    question_id: str
    tables: tuple[str, ...]
    names: tuple[str, ...]
    pattern: str


def ask_selects(
    backend: Backend,
    wanted: Sequence[SelectWanted],
    *,
    check: Callable[[int, SelectReply], str | None],
    repair: bool = False,
) -> list[Outcome[SelectReply]]:
    """Let a language model write a SELECT for each question, one call a question.

    A reply of which `check` says that something is wrong, told the question's place, counts as one
    that cannot be read.

    Returns:
        One outcome per question, in order.
    """
    prompted = [
        Prompted(
            messages=select_prompt(each),
            schema=SelectReply,
            form=_FORM,
            check=lambda reply, place=place: check(place, reply),
            question=each.question_id or each.question,
            stage=STAGE,
            max_tokens=_TOKENS,
            alternatives=1,
            patterns={"sql": each.pattern},
        )
        for place, each in enumerate(wanted)
    ]
    return ask(backend, prompted, repair=repair)


def select_prompt(wanted: SelectWanted) -> tuple[Message, Message]:
    """The two turns; tables, names and question enter as delimited data."""
    user = _USER.format(
        tables=block(wanted.tables),
        names=block(wanted.names or ("none",)),
        question=block([wanted.question], "question"),
    )
    return Message("system", _SYSTEM), Message("user", user)
