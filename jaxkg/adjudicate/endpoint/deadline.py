"""A limit on the whole of an HTTP reply.

HTTP clients time the gaps between bytes. An endpoint that sends a blank now and then to keep the
connection open would never run into that, so the body is read against the clock as well.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterator
from typing import Any


class Overdue(Exception):
    """The reply is not whole in time."""


class Deadline:
    """Ends the replies of an HTTP client when this thread's time is up.

    Works with every client of the httpx family: install it as a hook on responses, and call `start`
    before each request.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._local = threading.local()

    def start(self) -> None:
        """Start this thread's clock."""
        self._local.end = time.monotonic() + self._seconds

    def hook(self, response: Any) -> None:
        """Have a response, whose body is still to come, read against the clock."""
        kind = _watched_kind(type(response.stream))
        response.stream = kind(response.stream, self._local.end)


@functools.cache
def _watched_kind(stream_type: type) -> Any:
    # The client insists on its own kind of stream, and which library that comes from depends on
    # the release of the openai package.
    kind: Any = next(base for base in stream_type.__mro__ if base.__name__ == "SyncByteStream")

    class Watched(kind):
        def __init__(self, stream: Any, end: float) -> None:
            self._stream, self._end = stream, end

        def __iter__(self) -> Iterator[bytes]:
            for part in self._stream:
                if time.monotonic() > self._end:
                    raise Overdue
                yield part

        def close(self) -> None:
            self._stream.close()

    return Watched
