"""JSON as language models write it.

Beyond JSON it takes single-quoted strings, typographic quotes around strings, unquoted keys,
trailing commas, `//` comments, Python's True, False and None, and raw line breaks in strings.
Nothing is evaluated, and nesting is bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from jaxkg.foreign_json import OutOfBounds, first_value, whole_number

_DEEPEST = 64
_MOST_STRAYS = 100  # brackets of prose: a text with more of them is no reply worth more time
_BLANK = re.compile(r"(?:\s+|//[^\n]*)*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_OPENING = re.compile(r"[{\[]")


class NotJson(ValueError):
    """What stands there is no JSON."""


class CutOff(NotJson):
    """The text ends inside a value, or a value in it is nested or counts without end."""


def values(text: str) -> Iterator[Any]:
    """Every outermost object and array in a text, in order.

    Raises:
        CutOff: one that is opened is never closed; those before it have been yielded. Its inner
            parts are not: half a reply is not a reply.

    Example:
        >>> list(values("Sure! {'answers': ['A',],} Note: [1]"))
        [{'answers': ['A']}, [1]]
    """
    position = strays = 0
    while strays < _MOST_STRAYS and (opening := _OPENING.search(text, position)):
        try:
            value, position = read(text, opening.start())
        except CutOff:
            raise
        except NotJson:
            position, strays = opening.start() + 1, strays + 1
            continue
        yield value


def read(text: str, start: int = 0) -> tuple[Any, int]:
    """The value that starts there and the position after it.

    Raises:
        CutOff: the text ends inside it.
        NotJson: none starts there.
    """
    try:
        try:
            return first_value(text, start)
        except json.JSONDecodeError:
            return _value(text, start, 0)
    except OutOfBounds as error:
        raise CutOff(str(error)) from None


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise CutOff(f"brackets are nested deeper than {_DEEPEST}")
    at = _skip(text, at)
    char = text[at]
    if char == "{":
        return _object(text, at + 1, depth)
    if char == "[":
        return _array(text, at + 1, depth)
    if char in _CLOSING:
        return _string(text, at)
    if number := _NUMBER.match(text, at):
        digits = number.group()
        whole = digits.lstrip("-").isdigit()
        return whole_number(digits) if whole else float(digits), number.end()
    word = _WORD.match(text, at)
    if word and word.group().casefold() in _WORDS:
        return _WORDS[word.group().casefold()], word.end()
    raise NotJson(f"no value at character {at}")


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = _skip(text, at)
        if text[at] == "}":
            return found, at + 1
        if text[at] in _CLOSING:
            key, at = _string(text, at)
        elif word := _WORD.match(text, at):
            key, at = word.group(), word.end()
        else:
            raise NotJson(f"no key at character {at}")
        at = _skip(text, at)
        if text[at] != ":":
            raise NotJson(f"no colon at character {at}")
        found[key], at = _value(text, at + 1, depth + 1)
        at = _after(text, at, "}")


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = _skip(text, at)
        if text[at] == "]":
            return found, at + 1
        value, at = _value(text, at, depth + 1)
        found.append(value)
        at = _after(text, at, "]")


def _after(text: str, at: int, closing: str) -> int:
    """Past the comma behind an item, or at the bracket that closes."""
    at = _skip(text, at)
    if text[at] == ",":
        return at + 1
    if text[at] == closing:
        return at
    raise NotJson(f"neither a comma nor {closing} at character {at}")


def _string(text: str, at: int) -> tuple[str, int]:
    closing, parts = _CLOSING[text[at]], []
    at += 1
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            escaped = text[at + 1]
            digits = text[at + 2 : at + 6]
            if escaped == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                parts.append(chr(int(digits, 16)))
                at += 6
            else:
                parts.append(_ESCAPES.get(escaped, escaped))
                at += 2
        elif char == closing and not _apostrophe(text, at):
            return _paired("".join(parts)), at + 1
        else:
            parts.append(char)
            at += 1
    raise CutOff("the text ends inside a string")


def _paired(text: str) -> str:
    """The text with the two halves of an escaped character outside the first plane joined."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _apostrophe(text: str, at: int) -> bool:
    """True for the mark in `'Schindler's List'`: letters on both sides, and the string goes on."""
    if text[at] not in "'’":
        return False
    before, after = text[at - 1], text[at + 1 : at + 2]
    return before.isalnum() and after.isalnum()


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    at = blank.end() if blank else at
    if at >= len(text):
        raise CutOff("the text ends inside a value")
    return at
