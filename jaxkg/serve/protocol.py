"""HTTP as uvicorn reads it, with an end to what a caller may leave open."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

LONGEST_HEAD = 64 * 1024
"""Bytes of a request before its body; one reading of the socket may bring a few more."""
HEAD_SECONDS = 10.0
"""For a request's head to arrive."""
TAKE_SECONDS = 60.0
"""For a caller to go on reading a reply that waits for it."""


class _Joining:
    """The transport of one reply: its head goes out with the beginning of its body.

    uvicorn writes them one after the other: a second system call, and a caller that wakes for
    nothing.
    """

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle, self._transport = cycle, cycle.transport
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """The first piece of a reply is its head; what comes before it invites the body."""
        if self._head is None and self._cycle.response_started:
            self._head = data
        elif self._head:
            self._transport.writelines((self._head, data))
            self._head = b""
        else:
            self._transport.write(data)

    def close(self) -> None:
        """No more is written."""
        if self._head:
            self._transport.write(self._head)
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""
        return self._transport.is_closing()


class Bounded(HttpToolsProtocol):
    """A connection that is closed where its other end is too slow or its request's head too long.

    The time for a request's body is the service's to limit: by then it knows what is asked.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._read = 0
        self._head_since: float | None = None
        self._stuck_since: float | None = None
        self._look: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Nothing has come yet."""
        super().connection_made(transport)
        self._head_since = self.loop.time()
        self._look = self.loop.call_later(HEAD_SECONDS, self._looked)

    def connection_lost(self, exc: Exception | None) -> None:
        """The other end is gone."""
        if self._look is not None:
            self._look.cancel()
        # uvicorn tells only the last of several requests in one go that nobody reads any more.
        self.pipeline.clear()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        cycle.transport = _Joining(cycle)  # type: ignore[assignment]
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        super().data_received(data)
        if self._head_since is not None:
            self._read += len(data)
            if self._read > LONGEST_HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        """The first bytes of a request."""
        super().on_message_begin()
        if self._head_since is None:
            self._read, self._head_since = 0, self.loop.time()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._head_since = None
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """The other end does not read."""
        self._stuck_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """It does again."""
        self._stuck_since = None
        super().resume_writing()

    def _looked(self) -> None:
        """Once every while: whether the other end does its part."""
        now = self.loop.time()
        if self._stuck_since is not None and now - self._stuck_since >= TAKE_SECONDS:
            self.transport.abort()
        elif self._head_since is not None and now - self._head_since >= HEAD_SECONDS:
            self.transport.close()
        else:
            self._look = self.loop.call_later(HEAD_SECONDS / 2, self._looked)


SETTINGS: dict[str, Any] = {
    "http": Bounded,
    # A caller's address is the one it calls from, whatever it says in a header.
    "proxy_headers": False,
    "server_header": False,
    "access_log": False,
    "log_level": "error",
    "timeout_graceful_shutdown": 30,
}
"""Of uvicorn, for this service."""
