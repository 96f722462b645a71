"""A limit on the whole of an HTTP reply: its seconds, and its bytes.

HTTP clients time the gaps between bytes. An endpoint that sends a blank, a header or a "102
Processing" now and then would never run into that, so everything is read against the clock.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterator
from typing import Any

from jaxkg.deadline import left

LARGEST_REPLY = 1 << 24
"""Bytes of a reply at most."""
_LARGEST_PACKED = LARGEST_REPLY >> 8  # of one that is compressed though nobody asked for it
_CODINGS = frozenset(("gzip", "x-gzip", "deflate"))
"""Codings whose expansion is bounded by their bytes, a thousand times at most; one at a time."""
LONGEST_STREAM = 10
"""Times the seconds of a silence that a whole stream may take."""


class Overdue(Exception):
    """The reply is not whole in time."""


class TooLarge(Exception):
    """The reply is larger than it may be, or packed so that nothing bounds what it may become."""


class Deadline:
    """Ends the replies of an HTTP client when this thread's time is up, or they grow too large.

    Works with every client of the httpx family: call `watch` once, `start` before each request.
    """

    def __init__(
        self, seconds: float, *, packed: int = _LARGEST_PACKED, plain: int = LARGEST_REPLY
    ) -> None:
        """Take the seconds of a reply or of a stream's silence, and the bytes of one at most.

        `packed` is for a reply that comes compressed.
        """
        self._seconds, self._packed, self._plain = seconds, packed, plain
        self._local = threading.local()

    def start(self, seconds: float | None = None) -> None:
        """Start this thread's clock, which ends with that of the question at the latest.

        Args:
            seconds: in place of the usual ones.

        Raises:
            OutOfTime: the question's is up.
        """
        now, rest = time.monotonic(), left()
        self._local.seconds = self._seconds if seconds is None else seconds
        self._local.last = now + min(LONGEST_STREAM * self._local.seconds, rest)
        self.heard()

    def heard(self) -> None:
        """Start it anew: a part of a stream came. The whole has an end all the same."""
        self._local.end = min(time.monotonic() + self._local.seconds, self._local.last)

    def left(self) -> float:
        """Seconds this thread has left.

        Raises:
            Overdue: none.
        """
        seconds = self._local.end - time.monotonic()
        if seconds <= 0:
            raise Overdue
        return seconds

    def watch(self, client: Any) -> None:
        """Have a client's connections and the bodies of its replies held to the limits."""
        client.event_hooks = {"response": [self._watch_body]}
        for transport in (client._transport, *client._mounts.values()):
            # No option says so: the clients let one choose neither the reader of headers nor its
            # clock. A test fails where a release of theirs moves it; bodies are watched anyway.
            pool: Any = getattr(transport, "_pool", None)
            if hasattr(pool, "_network_backend"):
                pool._network_backend = _OnClock(pool._network_backend, self)

    def _watch_body(self, response: Any) -> None:
        named = response.headers.get("content-encoding", "").lower().split(",")
        codings = [coding for coding in map(str.strip, named) if coding not in ("", "identity")]
        if len(codings) > 1 or not _CODINGS.issuperset(codings):
            told = ", ".join(codings)
            raise TooLarge(f"the reply comes packed as {told!r}; gzip or deflate, once, is read")
        kind = _watched_kind(type(response.stream))
        most = self._packed if codings else self._plain
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = kind(response.stream, self, most, events)


class _OnClock:
    """A client's way to the network, or a connection, on the clock of whichever thread uses it."""

    def __init__(self, inner: Any, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def connect_tcp(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["timeout"] = self._deadline.left()
        return _OnClock(self._inner.connect_tcp(*args, **kwargs), self._deadline)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left())

    def start_tls(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["timeout"] = self._deadline.left()
        return _OnClock(self._inner.start_tls(*args, **kwargs), self._deadline)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@functools.cache
def _watched_kind(stream_type: type) -> Any:
    # The client insists on its own kind of stream, and which library that comes from depends on
    # the release of the openai package.
    kind: Any = next(base for base in stream_type.__mro__ if base.__name__ == "SyncByteStream")

    class Watched(kind):
        def __init__(self, stream: Any, deadline: Deadline, most: int, events: bool) -> None:
            self._stream, self._deadline = stream, deadline
            self._most, self._events = most, events

        def __iter__(self) -> Iterator[bytes]:
            total = 0
            for part in self._stream:
                self._deadline.left()
                total += len(part)
                if total > self._most:
                    raise TooLarge
                if self._events and b"data:" in part:  # a comment that keeps a line open is silence
                    self._deadline.heard()
                yield part

        def close(self) -> None:
            self._stream.close()

    return Watched
