"""Who may ask, how much, and how often."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable

from jaxkg.errors import JaxkgError

LOOPBACK = ("127.0.0.1", "::1", "localhost")

_MOST_CALLERS = 10_000
"""Callers whose rate is remembered; the one seen longest ago is forgotten first."""


def checked_token(host: str, token: str | None) -> str | None:
    """The token that callers must show; None where only this machine can call.

    Raises:
        JaxkgError: another machine could call and no token was set, or it is no use as one.
    """
    if token is not None and (len(token) < 16 or not token.isascii() or not token.isprintable()):
        raise JaxkgError("a token is at least 16 printable ASCII characters")
    if token is None and host not in LOOPBACK:
        raise JaxkgError(
            f"--host {host} can be reached from other machines: set a token in JAXKG_TOKEN "
            "(at least 16 characters), or serve on 127.0.0.1"
        )
    return token


def allowed(token: str | None, header: str | None) -> bool:
    """Whether an Authorization header shows the token; compared in constant time."""
    if token is None:
        return True
    shown = (header or "").removeprefix("Bearer ")
    return hmac.compare_digest(shown.encode("utf-8", "replace"), token.encode())


class Rate:
    """A bucket of requests for each caller, filled again at a steady rate.

    Args:
        per_second: requests a second in the long run; 0 does not limit.
        burst: requests at once.
        clock: seconds, never going back.
    """

    def __init__(
        self, per_second: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ):
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._level: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Seconds until this caller may ask again; 0 takes one request out of its bucket.

        >>> rate = Rate(1.0, 2, clock=lambda: 10.0)
        >>> rate.wait("me"), rate.wait("me"), rate.wait("me"), rate.wait("you")
        (0.0, 0.0, 1.0, 0.0)
        """
        if self._per_second <= 0:
            return 0.0
        now = self._clock()
        level, then = self._level.pop(caller, (float(self._burst), now))
        level = min(float(self._burst), level + (now - then) * self._per_second)
        wait = 0.0 if level >= 1 else (1 - level) / self._per_second
        self._level[caller] = (level - 1 if not wait else level, now)
        if len(self._level) > _MOST_CALLERS:
            self._level.popitem(last=False)
        return wait
