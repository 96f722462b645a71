"""Values that a question compares with: "before 1925", "at most 12 km", "on 3 May 2021"."""

from __future__ import annotations

import dataclasses
import re

from jaxkg.kg.link.folding import Words
from jaxkg.kg.queries.literals import as_clock, clock_text
from jaxkg.query import Comparison
from jaxkg.systems.reader.language.grades import NUMERALS
from jaxkg.systems.reader.language.lexicon.cue_words import CLIPPED_MONTHS, MONTHS, VALUE_CUES
from jaxkg.systems.reader.language.lexicon.units import UNITS

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


_AGED = re.compile(r"\b(?:older|younger|newer|älter|jünger) (?:than|als)\b")
_SCALES = {"thousand": 3, "tausend": 3, "k": 3, "million": 6, "millionen": 6, "billion": 9}
_SCALES |= {"hundred": 2, "hundert": 2}
_SCALES |= {"milliarde": 9, "milliarden": 9}
_THOUSANDS = re.compile(r"\b\d{1,3}(?:,\d{3})+(?![\d,])")
_SCALED = re.compile(rf"(\d+(?:[.,]\d+)?)\s*({'|'.join(_SCALES)})\b")
_MONTH = {name: at for names in MONTHS for at, name in enumerate(names, start=1)}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_MONTH |= {name: at for names in CLIPPED_MONTHS for at, name in enumerate(names, start=1)}
_CLIPPED = "|".join(sorted(_MONTH, key=len, reverse=True))
_TEENS = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ZEHNER = "zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert"
_COUNT_WORDS = {"one": 1, "einen": 1, **NUMERALS, "dozen": 12, "century": 100}
_COUNT_WORDS |= {word: n for n, word in enumerate(_TEENS.split(), start=11)}
_COUNT_WORDS |= {w: 10 * n for s in (_TENS, _ZEHNER) for n, w in enumerate(s.split(), start=1)}
_UNIT = "|".join(unit for unit in sorted(UNITS, key=len, reverse=True) if unit.isalpha())
_HAS_UNIT = re.compile(rf"[\s-]?({_UNIT})\b|\s?([€$£])")
_SIGN = re.compile(r"[€$£]")
_BEFORE_COUNTS = (
    "than|over|above|under|below|exceeds?|least|most|exactly|precisely|only|"
    "upwards of|in excess of|als|mindestens|höchstens|genau|nur"
)
_COUNTED = re.compile(
    rf"\b((?:{_BEFORE_COUNTS}) )"
    rf"(?:an? )?({'|'.join(_COUNT_WORDS)})(?:[ -](one|{'|'.join(NUMERALS)}))?"
    rf"(?: ({'|'.join(_SCALES)}))?\b"
)
_SPOKEN_UNIT = "|".join(unit for unit in UNITS if unit.isalpha() and len(unit) > 2)
_ONE = re.compile(rf"\b((?:{_BEFORE_COUNTS}) )an?(?= (?:{_SPOKEN_UNIT})\b)")
_HYPHENED = re.compile(rf"(?<![\w-])({'|'.join(_COUNT_WORDS)})-(?=[a-z]{{3}})")
_ORDINAL_WORDS = "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
_ORDINALS = {word: n for n, word in enumerate(_ORDINAL_WORDS.split(), start=16)}
_DECADE_WORDS = "twenties thirties forties fifties sixties seventies eighties nineties"
_DECADES = {word: 1920 + 10 * n for n, word in enumerate(_DECADE_WORDS.split())}
_DURING = r"\b(?:(?:in|during|from|of|im|in den|aus dem|aus den)\s+)?(?:(?:the|den)\s+)?"
_CENTURY = re.compile(
    rf"{_DURING}(?P<n>\d{{1,2}}|{'|'.join(_ORDINALS)})(?:st|nd|rd|th|\.)?[\s-]+(?:century|jahrhundert)\b"
)
_DECADE = re.compile(
    rf"{_DURING}(?P<n>\d{{3}}0(?=['’]?s\b|er\b)|{'|'.join(_DECADES)})(?:['’]?s|er(?: jahre?n?)?)?\b"
)
_WRITTEN = (
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<m>{_CLIPPED})\.?,?\s+(?P<y>\d{{4}})\b"),
    re.compile(rf"\b(?P<m>{_CLIPPED})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b"),
    re.compile(r"\b(?P<d>\d{1,2})\.(?P<n>\d{1,2})\.(?P<y>\d{4})\b"),
    re.compile(rf"\b(?P<m>{_CLIPPED})\.?\s+(?P<y>\d{{4}})\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<m>{_NAMES})\b"),
    re.compile(rf"\b(?P<m>{_NAMES})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)\b"),
    re.compile(rf"\b(?P<w>before|after|in|since|until|by|vor|nach|im|seit|bis)\s+(?P<m>{_NAMES})\b"),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Bound:
    """A value to compare with.

    Attributes:
        comparison: how; `low` and `high` are the texts, the second of a range alone.
        low, high: numbers, dates as 1990, 1990-05, 1990-05-02, --05 or --05-02 for a month or a
            day of no year, or times of day as 16:30.
        words: places of its words.
        aged: whether "older" or "younger" says it.
        unit: that is named after it, "" without one.
        measured: relations that stand right before it, () without one: "store 3".
    """

    comparison: Comparison
    low: str
    high: str = ""
    words: tuple[int, ...] = ()
    aged: bool = False
    unit: str = ""
    measured: tuple[int, ...] = ()

    @property
    def for_numbers(self) -> Comparison:
        """The comparison of numbers: older than a year is before it, than an age above it."""
        turned: dict[str, Comparison] = {"<": ">", ">": "<"}
        return turned.get(self.comparison, self.comparison) if self.aged else self.comparison


def plain_values(lower: str) -> tuple[str, list[int]]:
    """A text with the dates and numbers in it written one way, and where each letter stood.

    >>> plain_values("over 1,250 on may 3, 2021")[0]
    'over 1250 on 2021-05-03'
    >>> plain_values("less than an hour")[0]
    'less than 1 hour'
    """
    found: list[tuple[int, int, str]] = []
    for pattern in (
        *TIMES,
        *_WRITTEN,
        _THOUSANDS,
        _SCALED,
        _COUNTED,
        _ONE,
        _HYPHENED,
    ):
        for match in pattern.finditer(lower):
            if all(match.end() <= a or b <= match.start() for a, b, _ in found):
                found.append((*match.span(), _written(match)))
    text, places, last = "", [], 0
    for start, end, plain in sorted(found):
        text += lower[last:start] + plain
        places += [*range(last, start), *([start] * (len(plain) - 1)), end - 1]
        last = end
    return text + lower[last:], [*places, *range(last, len(lower))]


def _written(match: re.Match[str]) -> str:
    found = match.groupdict()
    if match.re in TIMES:
        return time_written(match)
    if "m" in found or "n" in found:
        month = int(found["n"]) if found.get("n") else _MONTH[found["m"]]
        if "w" in found:
            return f"{found['w']} --{month:02d}"
        day = f"-{int(found['d']):02d}" if found.get("d") else ""
        if "y" not in found:
            return f"--{month:02d}{day}"
        return f"{found['y']}-{month:02d}{day}"
    if match.re is _SCALED:
        return f"{float(match[1].replace(',', '')) * 10 ** _SCALES[match[2]]:.0f}"
    if match.re is _HYPHENED:
        return f"{_COUNT_WORDS[match[1]]}-"
    if match.re is _ONE:
        return f"{match[1]}1"
    if match.re is _COUNTED:
        number = _COUNT_WORDS[match[2]] + _COUNT_WORDS.get(match[3], 0)
        return f"{match[1]}{number * 10 ** _SCALES.get(match[4], 0)}"
    return match[0].replace(",", "")


def _period(match: re.Match[str]) -> tuple[str, str]:
    """First and last year of a century or decade."""
    text = match["n"]
    if match.re is _DECADE:
        first = _DECADES[text] if text in _DECADES else int(text)
        return str(first), str(first + 9)
    last = 100 * (_ORDINALS[text] if text in _ORDINALS else int(text))
    return f"{last - 99:04d}", f"{last:04d}"


def read_bounds(lower: str, words: Words, used: set[int]) -> list[Bound]:
    """The values that a question compares with.

    Args:
        lower: the question in small letters.
        words: of the question.
        used: places of cues; those found are added.
    """
    plain, places = plain_values(lower)
    found: list[Bound] = []
    taken: set[int] = set()
    for pattern in (_CENTURY, _DECADE):
        for match in pattern.finditer(plain):
            at = words_in(words, places[match.start()], places[match.end() - 1] + 1)
            taken.update(at)
            found.append(Bound(">=", *_period(match), tuple(at)))
    for pattern, comparison in VALUE_CUES:
        for match in re.finditer(pattern, plain):
            at = words_in(words, places[match.start()], places[match.end() - 1] + 1)
            if taken & set(at):
                continue
            values = [group.replace(",", ".") for group in match.groups() if group]
            aged = bool(_AGED.search(match[0]))
            named = _HAS_UNIT.match(plain, match.end())
            unit = (named[1] or named[2]) if named else ""
            if not unit and (sign := _SIGN.search(match[0])):
                unit = sign[0]
            taken.update(at)
            if comparison == "range":
                found.append(Bound(">=", values[0], values[1], tuple(at), unit=unit))
            else:
                bound = Bound(comparison, values[0], "", tuple(at), aged, unit)  # pyright: ignore
                found.append(bound)
    for match in re.finditer(
        r"(?<![\w-])(?:\d{4}-\d\d(?:-\d\d)?|--\d\d(?:-\d\d)?)(?![\w-])", plain
    ):
        at = words_in(words, places[match.start()], places[match.end() - 1] + 1)
        if not taken & set(at):
            taken.update(at)
            found.append(Bound("in", match[0], "", tuple(at)))
    used.update(taken)
    return found


def words_in(words: Words, start: int, end: int) -> list[int]:
    """Places of the words that a stretch of the text touches."""
    return [i for i, (a, b) in enumerate(words.spans) if a < end and b > start]
