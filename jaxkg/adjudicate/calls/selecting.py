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

_LARGEST = 320
"""Tokens of a reply, and of one by a model that may write more."""

_RULES = (
    "You write one SQL SELECT over one table that answers a question. There are no joins: each "
    "table already has the columns of what its rows refer to. Choose the table whose rows the "
    "question is about, and select only what is asked for. Write names as the tables have them. "
    "Dates grow: the oldest, the first and who is there longest have the "
    "smallest date (ASC). If no column has what is asked for, reply with an empty string.\n"
)
_FREE_RULES = (
    "You write one SQL SELECT that answers a question about somebody's data. Each table already "
    "has the columns of what its rows refer to, so there are no joins; what only another table "
    "knows is reached by column IN (SELECT column FROM table WHERE ...). A cell may hold several "
    "values: =, IN and LIKE mean any of them, and COUNT(column) with GROUP BY name counts them. "
    "What is read: SELECT, WHERE, AND, OR, NOT, IN, LIKE, BETWEEN, IS NULL, comparisons with a "
    "value, with another column of the row, or with (SELECT ...); GROUP BY one column, HAVING, "
    "ORDER BY, LIMIT, OFFSET, COUNT, SUM, AVG, MIN, MAX, DISTINCT, UNION, INTERSECT, EXCEPT, names "
    'in "double quotes". What is not: functions, CASE, arithmetic in a row, an inner SELECT that '
    "names columns of the outer one. "
    "Texts compare in any case. Numbers compare as plain numbers and dates as '2024-01-31', "
    "however the examples of a column are written. Where a column shows only some of its values "
    "(...), compare by LIKE with the part that you are sure of. Select only what is asked for, and "
    "things by their names. If the tables do not say what is asked, reply with an empty string "
    "rather than with something near it.\n"
)
_EXAMPLES = (
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
)
_FREE_EXAMPLE = (
    "which lamps has nobody from Ely borrowed: "
    """{"sql": "SELECT name FROM device WHERE name LIKE '%lamp%' AND name NOT IN """
    """(SELECT device FROM loan WHERE student_town = 'Ely')"}\n"""
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
        pattern: what a reply may be, see `jaxkg.kg.queries.select_pattern`; empty of a model that
            may write any SELECT, which is told what of SQL is read instead.
    """

    question: str
    question_id: str
    tables: tuple[str, ...]
    names: tuple[str, ...]
    pattern: str = ""


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
            max_tokens=_TOKENS if each.pattern else _LARGEST,
            alternatives=1,
            patterns={"sql": each.pattern} if each.pattern else {},
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
    free = _FREE_RULES + _EXAMPLES + _FREE_EXAMPLE
    system = (_RULES + _EXAMPLES if wanted.pattern else free) + DATA_RULE
    return Message("system", system), Message("user", user)
