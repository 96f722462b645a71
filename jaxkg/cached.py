"""Methods whose results stay with their object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Key = TypeVar("_Key")
_Result = TypeVar("_Result")


def cached_method(rule: Callable[[Any, _Key], _Result]) -> Callable[[Any, _Key], _Result]:
    """Return a method of one argument that works out each result once, and keeps it in its object.

    >>> class Words:
    ...     @cached_method
    ...     def letters(self, word: str) -> list[str]:
    ...         return list(word)
    >>> words = Words()
    >>> words.letters("ab") is words.letters("ab")
    True
    """
    name = f"{rule.__name__} by argument"

    @functools.wraps(rule)
    def method(self: Any, key: _Key) -> _Result:
        results = vars(self).setdefault(name, {})
        if key not in results:
            results[key] = rule(self, key)
        return results[key]

    return method
