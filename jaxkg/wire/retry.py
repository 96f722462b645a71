"""Which failures are worth another attempt, and how long to wait before it."""

from __future__ import annotations

import dataclasses
import email.utils
import random
import time
from collections.abc import Mapping
from typing import Literal, TypeAlias

FailureKind: TypeAlias = Literal[
    "bad_request",  # 400, 422 and any other 4xx: the endpoint cannot serve this request
    "authentication",  # 401: no key, or a wrong one
    "permission",  # 403: the key may not use this model
    "not_found",  # 404: no such model or address
    "rate_limit",  # 429 after every retry, or a quota that is used up
    "server",  # 5xx after every retry
    "timeout",  # no whole reply in time after every retry
    "connection",  # nothing listens there, or the connection broke, after every retry
    "protocol",  # status 200, but the body is not a chat completion
    "refused",  # the model declined, or a content filter cut it
    "budget",  # not sent: a cap was reached
    "unparsed",  # a reply came, and neither it nor its repair could be read
]

TRANSIENT: frozenset[FailureKind] = frozenset({"rate_limit", "server", "timeout", "connection"})
"""The only failures that are tried again; any other would fail the same way."""

_SPENT = ("insufficient_quota", "billing_hard_limit_reached")

_NAMED: dict[int, FailureKind] = {
    401: "authentication",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "server",
    429: "rate_limit",
}


@dataclasses.dataclass(frozen=True)
class Fault:
    """A failed attempt: its kind, in words, and what the endpoint says about waiting."""

    kind: FailureKind
    detail: str
    wait: float | None = None
    again: bool = False


def named(status: int) -> FailureKind:
    """Kind of failure of an HTTP status.

    Example:
        >>> named(429), named(503), named(422)
        ('rate_limit', 'server', 'bad_request')
    """
    return _NAMED.get(status, "server" if status >= 500 else "bad_request")


def from_status(status: int, detail: str, *, code: str | None, headers: Mapping[str, str]) -> Fault:
    """The fault an HTTP error is; a used-up quota is not worth waiting for."""
    kind = named(status)
    again = kind in TRANSIENT and code not in _SPENT
    return Fault(kind, f"{status}: {detail}", retry_after(headers), again)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds an endpoint asks to wait; None where it does not say, or not readably.

    Reads `retry-after-ms`, and `Retry-After` as seconds or as an HTTP date.

    Example:
        >>> retry_after({"retry-after": "2"}), retry_after({"retry-after": "soon"})
        (2.0, None)
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError):
                continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


@dataclasses.dataclass(frozen=True)
class Backoff:
    """Waits between attempts: doubling, with jitter, and at least as long as the endpoint asks.

    Attributes:
        retries: attempts after the first.
        first: seconds before the first retry, doubled for each one after.
        longest: seconds; a longer wait that the endpoint asks for ends the attempts instead.
    """

    retries: int = 4
    first: float = 0.5
    longest: float = 60.0

    def wait(self, attempt: int, fault: Fault) -> float | None:
        """Seconds to wait after the failed attempt (1 is the first); None to give up."""
        if not fault.again or attempt > self.retries:
            return None
        # Jitter spreads the retries of a whole batch, which failed at one moment.
        own = min(self.longest, self.first * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)
        if fault.wait is None:
            return own
        if fault.wait > self.longest:
            return None
        # "0" is no wish to be asked five times in a row.
        return max(own, fault.wait * random.uniform(1.0, 1.1))
