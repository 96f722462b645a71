"""JSON that somebody else wrote, read within bounds: depth, size, digits.

Python's own reader ends in a RecursionError on deep brackets and in a plain ValueError on a number
of 4,301 digits; it takes NaN, lone surrogates, which no file can hold, and the last of two equal
keys without a word.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from jaxkg.errors import JaxkgError

DEEPEST: Final = 64
MOST_DIGITS: Final = 100
LARGEST: Final = 1 << 28

_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")


class OutOfBounds(ValueError):
    """JSON, perhaps, but not of a kind that is read here; says why."""


def read_json(
    text: str | bytes, where: str = "", *, strict: bool = True, largest: int = LARGEST
) -> Any:
    """The value that a text is.

    Args:
        text: UTF-8 where it is bytes; a byte order mark is skipped.
        where: file and line, for the message.
        strict: refuse NaN, infinities, lone surrogates and a key that comes twice. Otherwise
            surrogates become U+FFFD, the last of equal keys counts, and the rest is taken.
        largest: characters (or bytes) at most.

    Raises:
        JaxkgError: it is no JSON, is nested deeper than 64 levels, holds a whole number of more
            than 100 digits, is too large, or is refused as above.

    Example:
        >>> read_json('{"a": 1, "a": 2}', "x.json", strict=False)
        {'a': 2}
        >>> read_json('{"a": 1, "a": 2}', "x.json")
        Traceback (most recent call last):
        jaxkg.errors.JaxkgError: x.json: the key 'a' comes twice in one object
    """
    try:
        if len(text) > largest:
            raise OutOfBounds(f"larger than the {largest:,} characters that are read")
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        text = text.removeprefix("\ufeff")
        decoder = _STRICT if strict else _LAX
        value = decoder.decode(text)
        return bounded(value, text, strict=strict)
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg}, at character {error.pos + 1})"
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 (at byte {error.start + 1})"
    except RecursionError:
        problem = f"brackets are nested deeper than {DEEPEST}"
    except OutOfBounds as error:
        problem = str(error)
    raise JaxkgError(f"{where}: {problem}" if where else problem)


def first_value(text: str, start: int) -> tuple[Any, int]:
    """The value that starts at a character, and the position after it; not strict.

    Raises:
        ValueError: none starts there (`json.JSONDecodeError`), or it is beyond the bounds
            (`OutOfBounds`).
    """
    try:
        value, end = _LAX.raw_decode(text, start)
    except RecursionError:
        raise OutOfBounds(f"brackets are nested deeper than {DEEPEST}") from None
    return bounded(value, text, strict=False), end


def bounded(value: Any, text: str, *, strict: bool) -> Any:
    """A value that was read from a text, held to the bounds that the reader itself has not.

    Raises:
        OutOfBounds: it is nested too deeply, or `strict` and holds a lone surrogate.
    """
    if text.count("[") + text.count("{") > DEEPEST and _depth_over(value, DEEPEST):
        raise OutOfBounds(f"brackets are nested deeper than {DEEPEST}")
    if _ESCAPED_HALF.search(text) or _HALF.search(text):
        return _whole_values(value, strict)
    return value


def whole(text: str) -> str:
    """The text with every lone surrogate, which no file and no terminal takes, as U+FFFD.

    Example:
        >>> whole("Caf\\ud800").encode()
        b'Caf\\xef\\xbf\\xbd'
    """
    return _HALF.sub("\ufffd", text)


def _depth_over(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _whole_values(value: Any, strict: bool) -> Any:
    if isinstance(value, str):
        if strict and _HALF.search(value):
            raise OutOfBounds("a text holds half of a surrogate pair, which is no character")
        return whole(value)
    if isinstance(value, list):
        return [_whole_values(inner, strict) for inner in value]
    if isinstance(value, dict):
        return {
            _whole_values(key, strict): _whole_values(inner, strict) for key, inner in value.items()
        }
    return value


def whole_number(digits: str) -> int:
    """A whole number of at most 100 digits.

    Raises:
        OutOfBounds: it has more.
    """
    if len(digits) > MOST_DIGITS:
        raise OutOfBounds(f"a whole number has {len(digits):,} digits, more than {MOST_DIGITS}")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise OutOfBounds(f"a number is too large ({digits[:20]})")
    return number


def _no_constant(name: str) -> float:
    raise OutOfBounds(f"{name} is no JSON number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise OutOfBounds(f"the key {twice[:80]!r} comes twice in one object")
    return found


_LAX = json.JSONDecoder(parse_int=whole_number)
_STRICT = json.JSONDecoder(
    parse_int=whole_number,
    parse_float=_finite,
    parse_constant=_no_constant,
    object_pairs_hook=_once,
)
