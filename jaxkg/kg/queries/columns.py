"""How a column of texts writes its numbers and dates, which one text alone does not always tell.

"1.200" is more than a thousand beside "900", and "04/05/1987" is a day of April beside
"12/25/1987". Dates, times of day among them, are the intervals of `jaxkg.kg.queries.literals`;
texts are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from jaxkg.kg.queries.literals import as_date, as_day, as_truth
from jaxkg.words import relation_words, singular

NEARLY_ALL = 0.95
"""Of a column's texts, that have a value."""
_SOME = 60
_NOTHING = frozenset(
    ("n/a", "k.a.", "-", "–", "—", "#n/a", "#nv", "(none)", "(vacant)", "(unknown)", "(blank)")
)
_NOTHING_AMONG_VALUES = _NOTHING | {"nan", "null", "na"}

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "januar", "jan", "jänner"),
            ("february", "februar", "feb"),
            ("march", "märz", "mar", "mrz"),
            ("april", "apr"),
            ("may", "mai"),
            ("june", "juni", "jun"),
            ("july", "juli", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oktober", "oct", "okt"),
            ("november", "nov"),
            ("december", "dezember", "dec", "dez"),
        ),
        start=1,
    )
    for name in names
}
_DAY = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})|(\d\d)([./])(\d\d)\6(\d\d)")
_YEAR_FIRST = re.compile(r"(\d{4})([./])(\d{1,2})\2(\d{1,2})")
_DAY_FIRST = re.compile(
    r"(\d{1,2})(?:(?:st|nd|rd|th|\.)?\s+|[/-])([^\W\d_]{3,})(?:\.?,?\s+|[/-])(\d{4}|\d\d)"
)
_MONTH_FIRST = re.compile(r"([^\W\d_]{3,})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")
_MONTH_ALONE = re.compile(r"([^\W\d_]{3,})\.?,?\s+(\d{4})")
_ABOUT = re.compile(r"(?:abt|est|cal|bef|aft|about|circa|ca\.?|c\.|um)\s+", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:bet|from)\s+(\S.*?)\s+(?:and|to)\s+(\S.*)", re.IGNORECASE)
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?:\d{6}(?:\.\d+)?Z?)?")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},\s+", re.IGNORECASE)
_TIME = re.compile(
    r",?\s+\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?"
    r"(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?",
    re.IGNORECASE,
)
_LONGEST_DATE = 48
_THIS_CENTURY = 69
"""Years of two digits below it are of the 2000s, as POSIX has it."""

_MONEY = r"[$€£¥₹]|CHF|EUR|USD|GBP|JPY|SEK|NOK|DKK|PLN|CZK|CAD|AUD"
_TIMES = {
    **dict.fromkeys(("k", "K"), 1_000),
    **dict.fromkeys(("m", "M", "Mio", "Mio.", "million"), 1_000_000),
    **dict.fromkeys(("b", "B", "bn", "Mrd", "Mrd.", "billion"), 1_000_000_000),
}
_BOUND = re.compile(r"\s*[<>≤≥]=?\s*[\d.]")
_SCALE = "|".join(map(re.escape, sorted(_TIMES, key=len, reverse=True)))
_NUMBER = re.compile(
    rf"([+-]?)(?:({_MONEY})\s*)?([+-]?\d[\d.,'’\u00a0\u202f]*|[+-]?\.\d+)([eE][+-]?\d{{1,3}})?"
    rf"\s*(?:({_SCALE})?\s*({_MONEY})|([^\W\d_][^\d\s]{{0,11}}|%|°[CF]?))?"
)
_HOURS = re.compile(
    r"(?P<h>\d+)\s?(?:h|hrs?|hours?|std)\.?,?\s?(?:and |und )?"
    r"(?P<m>\d+)\s?(?:m|mins?|minutes?|minuten)\.?",
    re.IGNORECASE,
)
_ISO = re.compile(r"P(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?)?")
_RATE = re.compile(
    rf"((?:{_MONEY}).*\d\S*|.*(?:{_MONEY}))\s*(?:/|\b(?:per|an?|each|pro|je)\b)[^\d]*\d?"
)
"""Money for each of something: "£95 a month", "41 EUR per m2", "€12/night"."""
_BEHIND = re.compile(r"(\d[\d.,]*)-|\((\d[\d.,]*)\)")
"""Negative numbers as accounts write them."""
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:['’\u00a0\u202f]\d{3})+(?:[.,]\d+)?")
_GROUPS = re.compile(r"['’\u00a0\u202f]")
_POINTED = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|0|[1-9]\d*)(?:\.\d+)?|[+-]?\.\d+")
_COMMAED = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+|0|[1-9]\d*)(?:,\d+)?")

_QUANTITIES = frozenset(
    ("temp", "temperature", "height", "price", "cost", "weight", "power", "count", "capacity")
    + ("elevation", "altitude", "length", "width", "depth", "distance", "area", "population")
    + ("salary", "revenue", "turnover", "budget", "mass", "speed", "volume", "amount")
    + ("temperatur", "höhe", "preis", "kosten", "gewicht", "leistung", "anzahl", "länge", "breite")
    + ("tiefe", "fläche", "einwohner", "gehalt", "umsatz", "kapazität")
)
_WHEN = frozenset(("year", "date", "since", "until", "came", "when", "jahr", "seit"))
_IN_UNIT = re.compile(
    r"[(\[]\s*(?:in\s+)?(?:°[CFK]?|[%$€£¥KCF]|[mcdk]?m[²³23]?|[kmµ]?g|t|lbs?|ft|in|mi|ha|[mch]?l|hp|"
    r"PS|[kMGT]?Wh?|[kM]?V|m?A|[kM]?Hz|[kM]?J|km/h|mph|m/s|h|min|s|days?|hours?|CHF|EUR|USD|GBP|"
    r"bar|[kMGT]i?B|people|seats)\s*[)\]]"
)


class Column(NamedTuple):
    """The values of texts.

    Attributes:
        values: one for each text: of a number its unit and size, of a date its first and last day,
            else the truth value; None where a text has none of that kind.
        told: what was taken for it where it could be something else, in words; else "".
    """

    values: list[Any]
    told: str = ""


def is_nothing(text: str, *, among_values: bool = True) -> bool:
    """Whether a text says that nothing is known; `nan`, `null` and `NA` do so among values."""
    return text.strip().casefold() in (_NOTHING_AMONG_VALUES if among_values else _NOTHING)


def is_bound(text: str) -> bool:
    """Whether a text says that a number lies below or above what could be measured.

    >>> is_bound("<0.5"), is_bound(">= 100 mg"), is_bound("0.5"), is_bound("<none>")
    (True, True, False, False)
    """
    return _BOUND.match(text) is not None


def looks(kind: str, text: str) -> bool:
    """Whether a text may be one of a column of "number", "date" or "boolean"; it may be missing."""
    if is_nothing(text):
        return True
    if kind == "date":
        return any(_days(text))
    if kind == "number":
        is_number = _NUMBER.fullmatch(_plain(text)) is not None or _span(text) is not None
        return is_number or is_bound(text)
    return as_truth(text) is not None


def looks_like(kind: str, name: Callable[[int], str], rows: Sequence[int], others: int) -> bool:
    """Whether a column, of a long one a sample, looks like one of a kind; most are of names.

    Of 60 names evenly spaced, half; of all of a short column all but a twentieth.

    Args:
        name: the text of a row.
        rows: with a text.
        others: how many rows beside them are known to have a value.
    """
    short = others > 0 or len(rows) <= 2 * _SOME
    some = rows if short else rows[:: len(rows) // _SOME]
    left = (1 - NEARLY_ALL) * (len(rows) + others) if short else len(some) / 2
    for row in some:
        left -= not looks(kind, name(row))
        if left < 0:
            return False
    return True


def names_in_disguise(numbers: Collection[tuple[str, Decimal]]) -> bool:
    """Asteroids, "1124 Stroobantia", are no numbers: nearly each would have a unit of its own."""
    return len({unit for unit, _ in numbers}) > 1 + len(numbers) // 4


def read_column(kind: str, texts: Sequence[str]) -> Column:
    """The values of a column's texts as "number", "date" or "boolean".

    A day is before its month, unless some text has it the other way round. A comma or a point with
    three digits behind it parts thousands where the others of the column say so.

    >>> read_column("number", ["1.200 m", "900 m"]).values
    [('m', Decimal('1200')), ('m', Decimal('900'))]
    >>> read_column("date", ["22-Jan-24 11:11 AM", "2024/01/22"]).values
    [(20240122, 20240122), (20240122, 20240122)]
    >>> read_column("date", ["04/05/1987", "12/25/1987"]).values
    [(19870405, 19870405), (19871225, 19871225)]
    >>> read_column("date", ["ABT 1830", "BET 1830 AND 1832", "MAY 1822", "20240211"]).values
    [(18300101, 18301231), (18300101, 18321231), (18220501, 18220531), (20240211, 20240211)]
    >>> read_column("number", ["2 h 30 min", "PT1H5M", "45 min"]).values
    [('min', Decimal('150')), ('min', Decimal('65')), ('min', Decimal('45'))]
    """
    if kind == "number":
        return _numbers(texts)
    return _dates(texts) if kind == "date" else Column(list(map(as_truth, texts)))


def likely_column(texts: Sequence[str]) -> Column | None:
    """A column's dates or numbers; None where half of a sample of 60 are neither, as of names."""
    some = texts[:: len(texts) // _SOME + 1]
    for kind in ("date", "number"):
        if 2 * sum(looks(kind, text) for text in some) > len(some):
            column = read_column(kind, texts)
            if any(value is not None for value in column.values):
                return column
    return None


def is_value(text: str) -> bool:
    """Whether a text by itself is a date, or a number without a unit or of money."""
    found = _number(text)
    return any(_days(text)) or (found is not None and found.bare)


def all_values(texts: Sequence[str]) -> bool:
    """Whether texts are numbers, or dates, all but a twentieth; those that tell nothing aside."""
    told = [text for text in texts if text.strip() and not is_nothing(text)]
    for kind in ("date", "number"):
        values = [value for value in read_column(kind, told).values if value is not None]
        if told and len(values) >= NEARLY_ALL * len(told):
            return kind == "date" or not names_in_disguise(values)
    return False


def all_days(texts: Sequence[str]) -> bool:
    """Whether each of some texts is a day or a time of day, a year or a month no longer.

    >>> all_days(["2024-01-11", "3 May 2024"]), all_days(["07:30"]), all_days(["2024", "2025"])
    (True, True, False)
    """
    days = read_column("date", texts).values
    return bool(days) and all(day is not None and day[0] == day[1] for day in days)


def of_quantity(relation: str) -> bool:
    """Whether a relation is called as what is measured, so that its numbers are no years.

    >>> of_quantity("Max temp (°C)"), of_quantity("Founded"), of_quantity("year of a price")
    (True, False, False)
    """
    words = {word.strip(".,()[]") for word in relation_words(relation).casefold().split()}
    if words & _WHEN:
        return False
    single = {word.removesuffix("s") for word in words}
    return bool((words | single) & _QUANTITIES) or _IN_UNIT.search(relation) is not None


def are_counts(relation: str, texts: Sequence[str]) -> bool:
    """Whether numbers of four digits are no years: of what is in the plural, and some far away.

    >>> are_counts("Tickets sold", ["1900", "1105"]), are_counts("Tickets sold", ["1900", "2005"])
    (True, False)
    >>> are_counts("completed in", ["1283", "1105"])
    False
    """
    words = relation_words(relation).casefold().split()
    several = any(word.isascii() and singular(word) != word for word in words)
    years = [int(text) for text in map(str.strip, texts) if text.isdecimal() and len(text) == 4]
    return several and _WHEN.isdisjoint(words) and any(not 1700 < year < 2040 for year in years)


def _days(text: str) -> list[tuple[int, int] | None]:
    """What a text is with its day first and with its month first; none where it is no date."""
    text = text.strip()
    if len(text) > _LONGEST_DATE or (len(text) == 5 and text.isdecimal()):
        return []
    if date := as_date(text):
        return [date, date]
    if match := _COMPACT.fullmatch(text):
        date = as_day(match[1], int(match[2]), match[3])
        return [date, date] if date else []
    if text[:1].isalpha():
        if match := _BETWEEN.fullmatch(text):
            first, last = map(_days, match.groups())
            ends = [*first[:1], *last[1:]]
            between = (ends[0][0], ends[1][1]) if len(ends) == 2 and ends[0] and ends[1] else None
            return [between, between] if between else []
        text = _ABOUT.sub("", text, count=1)
        if date := as_date(text):
            return [date, date]
    text = _WEEKDAY.sub("", text, count=1)
    if ":" in text and (time := _TIME.search(text)) and time.end() == len(text):
        text = text[: time.start()]  # its time of day is dropped
    if not text[-1:].isdecimal() or not text[0].isalnum():
        return []
    if found := _DAY.fullmatch(text):
        first, _, second, year = filter(None, found.groups())
        days = [as_day(_full(year), second, first), as_day(_full(year), first, second)]
        return days if any(days) else []
    if found := _YEAR_FIRST.fullmatch(text):
        year, _, month, day = found.groups()
    elif found := _DAY_FIRST.fullmatch(text):
        day, month, year = found.groups()
    elif found := _MONTH_FIRST.fullmatch(text):
        month, day, year = found.groups()
    elif match := _MONTH_ALONE.fullmatch(text):
        number = _MONTHS.get(match[1].casefold(), 0)
        date = as_date(f"{match[2]}-{number:02d}") if number else None
        return [date, date] if date else []
    else:
        return []
    number = int(month) if month.isdecimal() else _MONTHS.get(month.casefold(), 0)
    date = as_day(_full(year), number, day)
    return [date, date] if date else []


def _full(year: str) -> str:
    """A year of two digits with its century."""
    return year if len(year) > 2 else f"{20 if int(year) < _THIS_CENTURY else 19}{year}"


def _dates(texts: Sequence[str]) -> Column:
    both = list(map(_days, texts))
    day_first = any(days and days[1] is None for days in both)
    month_first = any(days and days[0] is None for days in both)
    way = int(month_first and not day_first)
    told = ""
    if day_first == month_first:
        # By points it is always the day that comes first.
        either = (
            text for text, days in zip(texts, both) if days and all(days) and days[0] != days[1]
        )
        if text := next((text for text in either if "." not in text), ""):
            told = f"{text!r} and the like taken as day, month, year"
    return Column([days[way] if days else None for days in both], told)


def _numbers(texts: Sequence[str]) -> Column:
    read = list(map(_number, texts))
    found = [number for number in read if number is not None]
    pointed = any(number.comma is None for number in found)
    commaed = any(number.point is None for number in found)
    told = ""
    if not pointed and not commaed and (dotted := [n for n in found if "." in n.digits]):
        whole = [n for n in found if n.digits.isdecimal()]
        # No program writes a float that ends in 0, and hardly anyone three digits beside none.
        thousands = any(n.digits.endswith("0") for n in dotted) or any(
            len(n.digits) >= 3 for n in whole
        )
        if commaed := bool(whole) and thousands and not any("," in n.digits for n in found):
            told = f"{dotted[0].text!r} taken as {dotted[0].comma:f}"
    return Column([number and number.value(pointed, commaed) for number in read], told)


class _Number(NamedTuple):
    """A number as it reads with a decimal point and with a decimal comma."""

    text: str
    digits: str
    point: Decimal | None
    comma: Decimal | None
    unit: str

    @property
    def bare(self) -> bool:
        """Without a unit, money aside."""
        return not self.unit or re.fullmatch(_MONEY, self.unit) is not None

    def value(self, pointed: bool, commaed: bool) -> tuple[str, Decimal] | None:
        """Unit and size beside numbers that have a decimal point, or a comma, for certain."""
        if self.point is None or self.comma is None or self.point == self.comma:
            size = self.comma if self.point is None else self.point
        elif pointed and commaed:
            size = None  # either of them
        else:
            size = self.comma if commaed else self.point
        return None if size is None else (self.unit, size)


def _plain(text: str) -> str:
    """A number with its sign before it, of money without what it is for.

    >>> _plain("965,00-"), _plain("(1,200.00)"), _plain("£95 a month")
    ('-965,00', '-1,200.00', '£95')
    """
    text = text.strip()
    if found := _BEHIND.fullmatch(text):
        return f"-{found[1] or found[2]}"
    rate = _RATE.fullmatch(text) if len(text) < _SOME else None
    return rate[1].strip() if rate else text


def _span(text: str) -> _Number | None:
    """A time in hours and minutes, or as ISO 8601 writes it, in minutes."""
    text = text.strip()
    match = _HOURS.fullmatch(text) or (text[:1] == "P" and _ISO.fullmatch(text)) or None
    if match is None or not any(match.groups()):
        return None
    parts = {part: Decimal(text or 0) for part, text in match.groupdict().items()}
    size = parts.get("d", 0) * 1440 + parts["h"] * 60 + parts["m"]
    return _Number(text, f"{size:f}", size, size, "min")


def _number(text: str) -> _Number | None:
    if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0"):
        size = Decimal(text)
        return _Number(text, text, size, size, "")  # as most are written
    if not (found := _NUMBER.fullmatch(_plain(text))):
        return _span(text)
    sign, before, digits, power, scale, after, unit = found.groups()
    if before and (after or (unit and unit not in _TIMES)):
        return None
    times = _TIMES.get((unit if before else scale) or "", 1)
    if (sign and digits[0] in "+-") or (_GROUPS.search(digits) and not _GROUPED.fullmatch(digits)):
        return None
    digits = sign + _GROUPS.sub("", digits)

    def scaled(written: str) -> Decimal:
        number = Decimal(written + (power or ""))
        return number if times == 1 else number * times  # a product is rounded to 28 digits

    point = scaled(digits.replace(",", "")) if _POINTED.fullmatch(digits) else None
    comma = digits.replace(".", "").replace(",", ".") if _COMMAED.fullmatch(digits) else None
    if point is None and comma is None:
        return None
    return _Number(
        text,
        digits.lstrip("+-"),
        point,
        None if comma is None else scaled(comma),
        before or after or unit or "",
    )
