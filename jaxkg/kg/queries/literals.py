"""Texts of literals as numbers, dates and truth values, exactly.

A date is the interval of its days, as two integers year * 10000 + month * 100 + day: "1990" runs
from 19900101 to 19901231, "1990-05" to 19900531 (every month to 31, which no later day precedes).
A time of day is such an interval, too, of one second: hour * 10000 + minute * 100 + second, beyond
all days, so that times compare with times alone.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBERS = frozenset(
    ("integer", "decimal", "float", "double", "int", "long", "short", "byte")
    + ("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger")
    + ("unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte")
)
DATES = frozenset(["gYear", "gYearMonth", "date", "dateTime", "dateTimeStamp", "time"])
CLOCK = 2_000_000_000
"""What times of day are counted from, later than any day."""

_LITERAL = re.compile(r'"(.*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)?', re.DOTALL)
_DATE = re.compile(
    r"(-?\d{4,5})(?:-(\d\d)(?![:\d]))?(?:-(\d\d)(?![:\d]))?"
    r"(?P<time>[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:UTC|GMT|[+-]\d\d(?:\d\d)?))?)?"
    r"(?:Z|[+-]\d\d:\d\d)?"
)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?"
    r"(?:\s*(?:(?P<half>[ap])\.?m\.?|uhr|h))?(?:Z|[+-]\d\d:\d\d)?"
    r"|(?:[.h](?P<minutes>\d\d))?\s*(?:(?P<noon>[ap])\.?m\.?|uhr|o'clock)|h(?P<past>\d\d))",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"([$€£¥]?)([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[+-]?\.\d+)([eE][+-]?\d{1,3})?"
    r"\s*([^\W\d_][^\d\s]{0,11}|[%$€£¥]|°[CF]?)?"
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Literal(NamedTuple):
    """An RDF literal: its text, and its language or datatype where it has one."""

    text: str
    language: str
    datatype: str


def literal(term: str) -> Literal | None:
    """The parts of a literal as N-Triples writes it; None for any other entity id.

    >>> literal('"1941"^^<http://www.w3.org/2001/XMLSchema#gYear>').datatype.rpartition("#")[2]
    'gYear'
    """
    if not term.startswith('"') or not (found := _LITERAL.fullmatch(term)):
        return None
    return Literal(found[1], found[2] or "", found[3] or "")


def as_date(text: str) -> tuple[int, int] | None:
    """First and last day of a year, a month or a day, whose time of day is dropped, as its zone is;
    or a time of no day.

    >>> as_date("1990"), as_date("1990-05"), as_date("1990-05-02T10:00:00Z"), as_date("1990-13")
    ((19900101, 19901231), (19900501, 19900531), (19900502, 19900502), None)
    >>> as_date("1990-05-02 10:00:00.25 UTC"), as_date("1990-05-02 10:00:00+0100")
    ((19900502, 19900502), (19900502, 19900502))
    """
    if not (found := _DATE.fullmatch(text.strip())):
        return as_clock(text)
    year, month, day = int(found[1]), int(found[2] or 0), int(found[3] or 0)
    if found[2] is None:
        return None if found["time"] else (year * 10000 + 101, year * 10000 + 1231)
    if not 1 <= month <= 12 or (found["time"] and found[3] is None):
        return None
    first = year * 10000 + month * 100
    if found[3] is None:
        return first + 1, first + 31
    return (first + day, first + day) if 1 <= day <= _DAYS[month - 1] else None


def as_clock(text: str) -> tuple[int, int] | None:
    """A time of day, twice; with seconds also one after midnight, as timetables count on: 25:10:00.

    >>> as_clock("16:05") == as_clock("4:05 pm") == (CLOCK + 160500, CLOCK + 160500)
    True
    >>> as_clock("9 Uhr") == as_clock("09:00:00Z"), as_clock("9"), as_clock("9.50"), as_clock("2:1")
    (True, None, None, None)
    """
    if not (found := _CLOCK.fullmatch(text.strip())):
        return None
    hour, half = int(found["hour"]), (found["half"] or found["noon"] or "").lower()
    minute = int(found["minute"] or found["minutes"] or found["past"] or 0)
    second = int(found["second"] or 0)
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + 12 * (half == "p")
    if minute > 59 or second > 59 or (not found["second"] and (hour, minute) > (24, 0)):
        return None
    time = CLOCK + hour * 10000 + minute * 100 + second
    return time, time


def clock_text(time: int) -> str:
    """A time of day as ISO 8601 has it.

    >>> clock_text(CLOCK + 160500)
    '16:05:00'
    """
    hour, rest = divmod(time - CLOCK, 10000)
    return f"{hour:02}:{rest // 100:02}:{rest % 100:02}"


def as_day(year: str, month: str | int, day: str) -> tuple[int, int] | None:
    """A day as the interval that it is; None where there is no such day.

    >>> as_day("1987", 6, "14"), as_day("1987", "14", "6")
    ((19870614, 19870614), None)
    """
    if not 1 <= int(month) <= 12 or not 1 <= int(day) <= _DAYS[int(month) - 1]:
        return None
    date = int(year) * 10000 + int(month) * 100 + int(day)
    return date, date


def as_number(text: str) -> tuple[Decimal, str] | None:
    """A number and the text of its unit; digits that begin with 00 or 0 are a name, not a number.

    >>> as_number("1,250.5 km"), as_number("$3"), as_number("007"), as_number("Apollo 13")
    ((Decimal('1250.5'), 'km'), (Decimal('3'), '$'), None, None)
    """
    if not (found := _NUMBER.fullmatch(text.strip())) or (found[1] and found[4]):
        return None
    digits = found[2].replace(",", "")
    if re.match(r"[+-]?0\d", digits):
        return None
    return Decimal(digits + (found[3] or "")), found[1] or found[4] or ""


def as_truth(text: str) -> bool | None:
    """A truth value.

    >>> as_truth("true"), as_truth("False"), as_truth("maybe")
    (True, False, None)
    """
    return {"true": True, "false": False}.get(text.strip().lower())
