"""Memory that compiling took and nobody needs any more."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def give_back() -> None:
    """Hand free memory back to the system, where its allocator can (glibc's)."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another allocator, another system
        return
    trim(0)


def giving_back(
    run: Callable[P, R], compiled: Callable[[], int], free: Callable[[], None] = give_back
) -> Callable[P, R]:
    """The same function; memory is given back after each call in which programs were compiled.

    Compiling one takes 100 to 300 MB of small pieces, which the allocator keeps for the next one:
    a process that compiles a few and then answers for days would hold them all the while.

    Args:
        run: what may compile.
        compiled: programs so far.
        free: gives memory back.
    """
    before = compiled()

    @functools.wraps(run)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal before
        try:
            return run(*args, **kwargs)
        finally:
            if (now := compiled()) != before:
                before = now
                free()

    return call
