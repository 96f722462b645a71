"""Units of what is measured: "an hour" against a relation of minutes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxkg.systems.reader.words import lines, words
from jaxkg.words import singular

_ENDINGS = frozenset(words("units.endings"))
_SUM_WORDS = frozenset(map(singular, words("units.sums")))


def _units() -> dict[str, tuple[str, float]]:
    found = {}
    for line in lines("units.units"):
        kind, _, groups = line.partition(":")
        for group in groups.split(";"):
            names, _, size = group.partition("=")
            found |= {name: (kind, float(size)) for name in names.split()}
    return found


UNITS = _units()
"""What a unit measures, and how large it is, by its names."""


def is_unit(word: str) -> bool:
    """Whether a word is a unit of what is measured.

    >>> is_unit("litres"), is_unit("kwh"), is_unit("rooms")
    (True, True, False)
    """
    return word in UNITS or word in _ENDINGS


def unit_of(wordings: Sequence[str]) -> str:
    """The unit that a label names, "" without one.

    >>> unit_of(("set length (mins)",)), unit_of(("weight kg",)), unit_of(("minute book",))
    ('mins', 'kg', '')
    """
    for wording in wordings:
        words = re.findall(r"[^\W\d_]+", wording.lower())
        # It ends the label, or starts it in the plural: "lead time days", "minutes of play".
        first = [word for word in words[:1] if word.endswith("s")]
        if found := next((word for word in (*words[-1:], *first) if word in UNITS), ""):
            return found
    return ""


def same_measure(unit: str, other: str) -> bool:
    """Whether two units measure the same.

    >>> same_measure("hour", "mins"), same_measure("hour", "kg"), same_measure("hour", "")
    (True, False, False)
    """
    return unit in UNITS and other in UNITS and UNITS[unit][0] == UNITS[other][0]


def measures(unit: str, wordings: Sequence[str]) -> bool:
    """Whether a label may be of what is measured in a unit: the same unit, or a sum of money.

    >>> measures("hour", ("length (mins)",)), measures("quid", ("bill",)), measures("quid", ("kg",))
    (True, True, False)
    """
    other = unit_of(wordings)
    if not other and UNITS[unit][0] == "money":
        words = (word for label in wordings for word in re.findall(r"[^\W\d_]+", label.lower()))
        return not _SUM_WORDS.isdisjoint(map(singular, words))
    return same_measure(unit, other)


def in_unit(amount: str, unit: str, other: str) -> str:
    """An amount of one unit in another; as it is where they do not measure the same.

    >>> in_unit("1.5", "hour", "mins"), in_unit("3", "hour", "kg"), in_unit("2020-05", "h", "mins")
    ('90', '3', '2020-05')
    """
    number = amount.replace(".", "", 1).isdigit()
    if not number or not same_measure(unit, other) or UNITS[unit] == UNITS[other]:
        return amount
    return f"{float(amount) * UNITS[unit][1] / UNITS[other][1]:.10g}"


def without_unit(label: str) -> str:
    """A label of several words without the unit that ends it, "" where none does.

    >>> without_unit("height cm"), without_unit("price (EUR)"), without_unit("opening hours")
    ('height', 'price', '')
    """
    before, _, last = label.rpartition(" ")
    return before if last.strip("()[]").lower() in _ENDINGS else ""
