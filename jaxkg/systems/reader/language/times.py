"""Times of day as people say them: "9 to 11am", "six in the evening", "before noon"."""

from __future__ import annotations

import re

from jaxkg.kg.queries.literals import as_clock, clock_text
from jaxkg.systems.reader.language.grades import NUMERALS

_HOURS = {**NUMERALS, "one": 1, "eleven": 11, "twelve": 12, "elf": 11, "zwölf": 12}
_HOUR = rf"(?P<hour>\d{{1,2}}(?:[:.]\d\d)?|(?:{'|'.join(_HOURS)})\b)"
_HALF = r"(?:(?P<half>[ap])\.?m\b\.?|(?:in the|at) (?P<part>morning|afternoon|evening|night)\b)"
_BY_THE_CLOCK = r"(?:uhr\b|o['’]clock\b)"
_ALONE = r"(?<![\w:.,-])"
TIMES = (
    re.compile(
        rf"{_ALONE}(?P<from>\d{{1,2}})(?P<to> (?:and|to|until|till) | ?[-–] ?){_HOUR}\s*{_HALF}"
    ),
    re.compile(rf"{_ALONE}{_HOUR}\s*(?:{_BY_THE_CLOCK}?\s*{_HALF}|{_BY_THE_CLOCK})"),
    re.compile(rf"{_ALONE}(?P<hour>\d{{1,2}}:\d\d)(?![\w:])"),
    re.compile(
        r"\b(?P<before>at|before|after|by|to|until|till|from|since|than|and|or|um|vor|nach|ab|bis) "
        r"(?P<named>noon|midday|midnight|mittag|mitternacht)\b"
    ),
)
"""Patterns of small letters."""
_MIDNIGHT = ("midnight", "mitternacht")
_ENDS = ("before", "by", "to", "until", "till", "and", "vor", "bis")
"""Before the midnight that a day ends with."""


def time_written(match: re.Match[str]) -> str:
    """What one of `TIMES` matches with the time as a graph has it; what is none stays as it is.

    >>> [time_written(TIMES[1].match(said)) for said in ("six in the evening", "9.30 am", "13 pm")]
    ['18:00', '09:30', '13 pm']
    """
    found = match.groupdict()
    if named := found.get("named"):
        midnight = "24:00" if found["before"] in _ENDS else "00:00"
        return f"{found['before']} {midnight if named in _MIDNIGHT else '12:00'}"
    half = found.get("half") or ""
    if part := found.get("part"):
        half = "a" if part == "morning" else "p"
    hour = _HOURS.get(found["hour"], found["hour"])
    time = as_clock(f"{hour} {half}m" if half else f"{hour} uhr")
    if time is None:
        return match[0]
    told = clock_text(time[0])[:5]
    if not (first := found.get("from")):
        return told
    both = (as_clock(f"{first} {some}m") for some in (half, "a", "p"))
    before = next((some for some in both if some and some < time), None)
    return match[0] if before is None else f"{clock_text(before[0])[:5]}{found['to']}{told}"
