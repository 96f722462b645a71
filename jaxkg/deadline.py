"""A limit on the time of a question, checked inside the work itself, so that the work ends.

Whoever asks opens a `TimeLimit`; the long loops of every system call `check`. Nothing is
interrupted in the middle of a step, and without a limit `check` costs next to nothing.
"""

from __future__ import annotations

import math
import time
from contextvars import ContextVar, Token

from jaxkg.errors import JaxkgError


class OutOfTime(JaxkgError):
    """A question took longer than it may."""


class TimeLimit:
    """A limit on the time of what runs inside `with`, in this thread or task.

    Of several, one inside the other, the first that ends counts. Another thread may end it early
    by `stop`.

    Args:
        seconds: from now on; None for no limit, so that only `stop` ends it.

    Raises:
        JaxkgError: seconds are not above 0.

    >>> with TimeLimit(1e-9):
    ...     check()
    Traceback (most recent call last):
        ...
    jaxkg.deadline.OutOfTime: the question took longer than 1e-09 s, and was stopped
    """

    def __init__(self, seconds: float | None = None) -> None:
        if seconds is not None and not seconds > 0:
            raise JaxkgError(f"a limit of time is above 0 seconds, not {seconds:g}")
        self.seconds = math.inf if seconds is None else seconds
        self._end = time.monotonic() + self.seconds
        self._stopped = ""
        self._outer: TimeLimit | None = None
        self._token: Token[TimeLimit | None] | None = None

    def stop(self, why: str = "the question was stopped") -> None:
        """End it now, from any thread."""
        self._stopped = why

    def left(self) -> float:
        """Seconds that are left, infinite without a limit.

        Raises:
            OutOfTime: none.
        """
        if self._stopped:
            raise OutOfTime(self._stopped)
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise OutOfTime(f"the question took longer than {self.seconds:g} s, and was stopped")
        return seconds if self._outer is None else min(seconds, self._outer.left())

    def __enter__(self) -> TimeLimit:
        self._outer = _limit.get()
        self._token = _limit.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _limit.reset(self._token)


_limit: ContextVar[TimeLimit | None] = ContextVar("limit", default=None)


def check() -> None:
    """Go on, unless the time of the question that this thread works for is up.

    Raises:
        OutOfTime: it is.
    """
    limit = _limit.get()
    if limit is not None:
        limit.left()


def left() -> float:
    """Seconds that the question has left, infinite without a limit.

    Raises:
        OutOfTime: none.
    """
    limit = _limit.get()
    return math.inf if limit is None else limit.left()
