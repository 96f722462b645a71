"""How much of a question, of a name and of what they lead to is looked at: one record for all.

Every bound is far above what people ask. What is cut is told in the notes of the answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TypeVar

from jaxkg.errors import JaxkgError

Row = TypeVar("Row")


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits on one question, whichever system answers it.

    Attributes:
        question: characters.
        words: of a question that are read; the rest is left out.
        word: letters of a word that are compared with other words.
        sentence: words of a text that are encoded as one sentence.
        phrases: short phrases of a question that are encoded, each for itself.
        name: characters of a name, label or topic that are looked at and printed.
        topics: given topics, equal ones once.
        mentions: of things in a question that are walked on from, the surest; of more than these,
            equal ones once.
        pairs: of these that are joined with each other, the surest.
        classes: classes that a question names.
        bounds: numbers and dates of a question that something is compared with.
        candidates: query graphs with operators that are scored quickly.
        rows: query graphs that are ranked, each a row of views.
    """

    question: int = 4_000
    words: int = 600
    word: int = 100
    sentence: int = 100
    phrases: int = 100
    name: int = 1_000
    topics: int = 64
    mentions: int = 16
    pairs: int = 32
    classes: int = 16
    bounds: int = 8
    candidates: int = 20_000
    rows: int = 400


LIMITS = Limits()
"""Those that hold everywhere."""


def checked_length(text: str) -> str:
    """A question that is not too long.

    Raises:
        JaxkgError: it has more characters than are read.

    >>> checked_length("who directed Alien?")
    'who directed Alien?'
    """
    if len(text) > LIMITS.question:
        raise JaxkgError(
            f"a question has at most {LIMITS.question:,} characters, not {len(text):,}; ask of "
            "less at a time"
        )
    return text


def looked_at(name: str) -> str:
    """As much of a name as is looked at: whole words, where there are any.

    >>> looked_at("Alien"), len(looked_at("La " * 1000)), len(looked_at("L" * 5000))
    ('Alien', 998, 1000)
    """
    if len(name) <= LIMITS.name:
        return name
    first = name[: LIMITS.name + 1]
    whole = first.rpartition(" ")[0]
    return whole or first[: LIMITS.name]


def shortened(name: str) -> str:
    """As much of a name as is printed.

    >>> shortened("Alien"), shortened("L" * 5000)[-3:]
    ('Alien', 'LL…')
    """
    return name if len(name) <= LIMITS.name else looked_at(name) + "…"


def first_ones(given: Iterable[Row], most: int, what: str) -> tuple[list[Row], list[str]]:
    """The first different ones, and a note of how many were left out.

    >>> first_ones(["a", "b", "a", "c"], 2, "topics")
    (['a', 'b'], ['3 topics: the first 2 are looked at'])
    """
    found = list(dict.fromkeys(given))
    return found[:most], cut(len(found), most, what)


def cut(count: int, most: int, what: str, which: str = "first") -> list[str]:
    """A note that there are more than are looked at, where there are.

    >>> cut(40, 32, "pairs of names", "surest"), cut(3, 32, "pairs")
    (['40 pairs of names: the surest 32 are looked at'], [])
    """
    return [f"{count:,} {what}: the {which} {most:,} are looked at"] if count > most else []


def longer(names: Sequence[str]) -> list[str]:
    """A note of names of which only the beginning is looked at, where there are any.

    >>> longer(["Alien", "L" * 5000])
    ['1 name is longer than 1,000 characters: its beginning is looked at']
    """
    count = sum(len(name) > LIMITS.name for name in names)
    if not count:
        return []
    told = ("name is", "its") if count == 1 else ("names are", "their")
    return [
        f"{count:,} {told[0]} longer than {LIMITS.name:,} characters: {told[1]} beginning is "
        "looked at"
    ]
