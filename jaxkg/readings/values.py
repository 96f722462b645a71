"""Values and how they compare, in words."""

from __future__ import annotations

import re

from jaxkg.query import Comparison, Value
from jaxkg.readings.labels import bare, quoted
from jaxkg.words import one_line

ORDERS = {
    "number": {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"},
    "date": {"<": "before", "<=": "no later than", ">": "after", ">=": "no earlier than"},
}
COUNTS = {
    "=": "exactly", "!=": "other than", "<": "fewer than", "<=": "at most", ">": "more than",
    ">=": "at least",
}  # fmt: skip
ORDERED = {
    (True, False): "largest",
    (False, False): "smallest",
    (True, True): "latest",
    (False, True): "earliest",
}
"""What comes first, by whether it is the largest and whether it is a date."""
_WORDS = {
    "number": {"=": "exactly", "!=": "not exactly", **ORDERS["number"]},
    "date": {"=": "just", "!=": "not in", "in": "in", **ORDERS["date"]},
}
_OTHERS = {"=": "", "!=": "not", "in": "in", **ORDERS["number"]}
_NUMBER = re.compile(r"([+-]?[\d.,]*\d(?:[eE][+-]?\d+)?) ?([^\s\d\"\[\]?]\S{0,11})?")


def compared_with(comparison: Comparison, value: Value) -> str:
    """What a value is compared with, and how.

    >>> compared_with("<", Value("date", "1990")), compared_with(">=", Value("number", "5", "km"))
    ('before 1990', 'at least 5 km')
    """
    text = one_line(value.text)
    if value.kind == "number":
        told = number_words(value)
    elif value.kind == "date":
        told = text if text and bare(text) == text else quoted(text)
    elif value.kind == "boolean" and text in ("true", "false"):
        told = text
    else:
        language = f" in the language {quoted(value.language)}" if value.language else ""
        told = f"the {value.kind} {quoted(text)}{language}"
    return f"{compared_words(comparison, value.kind)} {told}".lstrip()


def compared_words(comparison: Comparison, kind: str = "entity") -> str:
    """How something compares: of a kind of values, or of entities.

    >>> compared_words("!="), compared_words(">", "date")
    ('not', 'after')
    """
    return _WORDS.get(kind, _OTHERS).get(comparison, comparison)


def number_words(value: Value) -> str:
    """A number with its unit, said once where its text has it, too.

    >>> number_words(Value("number", "182 cm", "cm"))
    '182 cm'
    """
    text, unit = one_line(value.text), one_line(value.unit)
    found = _NUMBER.fullmatch(text)
    if found is None or (unit and (found[2] or unit) != unit):
        return quoted(text) + (f" {quoted(unit)}" if unit else "")
    unit = unit or found[2] or ""
    plain = not unit or _NUMBER.fullmatch(f"1 {unit}")
    return f"{found[1]} {unit if plain else quoted(unit)}".rstrip()
