"""Numbers and dates among names, as one number to compare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Kind = Literal["number", "date", "thing"]

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"(-?\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:[T ]\d{2}:\d{2}.*)?Z?")
_YEARS = range(1000, 2200)


def date_number(text: str) -> float | None:
    """A date of any precision as years and their fraction; None where it is none.

    >>> date_number("1990"), date_number("1990-07-01"), date_number("soon")
    (1990.0, 1990.5, None)
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = match[1], int(match[2] or 1), int(match[3] or 1)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return int(year) + (month - 1) / 12 + (day - 1) / 372


def plain_number(text: str) -> float | None:
    """A number; None where the text is none.

    >>> plain_number("12,5"), plain_number("n/a")
    (12.5, None)
    """
    match = _NUMBER.fullmatch(text.strip())
    return float(match[0].replace(",", ".")) if match else None


def kind_of_column(names: Sequence[str]) -> Kind:
    """What the ends of a relation are: nearly all of them numbers or dates, or things.

    Whole numbers that all look like years are dates.

    >>> kind_of_column(["1911", "2003"]), kind_of_column(["412", "2003"]), kind_of_column(["a"])
    ('date', 'number', 'thing')
    """
    if not names:
        return "thing"
    numbers = [plain_number(name) for name in names]
    known = [number for number in numbers if number is not None]
    if len(known) >= 0.9 * len(names):
        return "date" if all(n == int(n) and int(n) in _YEARS for n in known) else "number"
    dates = sum(date_number(name) is not None for name in names)
    return "date" if dates >= 0.9 * len(names) else "thing"


def number_of(name: str, kind: Kind) -> float | None:
    """A literal of a column as a number to compare."""
    return date_number(name) if kind == "date" else plain_number(name)
