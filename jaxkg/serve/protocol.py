"""HTTP as uvicorn reads it, with an end to what a caller may leave open."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import json
import os
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from jaxkg.serve.replies import HEADERS

try:
    import resource
except ImportError:  # not on Windows
    resource = None

LONGEST_HEAD = 64 * 1024
"""Bytes of a request before its body; one reading of the socket may bring a few more."""
HEAD_SECONDS = 10.0
"""For a request's head to arrive."""
BODY_SECONDS = 10.0
"""For its body, and as long again as `BODY_RATE` takes for what has come of it."""
BODY_RATE = 16 * 1024
"""Bytes a second of a body, at least."""
LONGEST_BODY_SECONDS = 120.0
"""For a whole body, whatever its rate."""
TAKE_SECONDS = 60.0
"""For a caller to go on reading a reply that waits for it."""
GRACE_SECONDS = 24.0
"""From the signal that stops the service to its end, whatever still runs."""


def _descriptors() -> int:
    """Files and connections that the process may have open; 8,192 where more are allowed."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else 1024
    return soft if 0 < soft < 8192 else 8192


MOST_CONNECTIONS = _descriptors() // 2
"""Open at a time; the rest is for files."""
MOST_OF_ONE = MOST_CONNECTIONS * 3 // 4
"""Connections of one address."""


class _Joining:
    """The transport of one reply: its head goes out with the beginning of its body.

    uvicorn writes them one after the other: a second system call, and a caller that wakes for
    nothing.
    """

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle, self._transport = cycle, cycle.transport
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """The first piece of a reply is its head; what comes before it invites the body.

        A head that was asked for alone has nothing to wait for.
        """
        is_alone = self._cycle.scope["method"] == "HEAD"
        if self._head is None and self._cycle.response_started and not is_alone:
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

    Where there are too many, of all callers or of one, those that have waited longest for their
    caller go first; one whose request is whole stays until it is answered.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._read = 0
        self._part = "head"  # what is waited for; empty while a whole request is there
        self._since = 0.0
        self._stuck_since: float | None = None
        self._look: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Nothing has come yet."""
        super().connection_made(transport)
        self._wait_for("head")
        self._look = self.loop.call_later(self._interval(), self._looked)
        self._make_room()

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

    @property
    def is_busy(self) -> bool:
        """Whether a whole request is being answered."""
        cycle = self._answering
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _make_room(self) -> None:
        """Close one connection where there are too many."""
        there = [
            each
            for each in self.connections
            if isinstance(each, Bounded) and not each.transport.is_closing()
        ]
        host = self.client and self.client[0]
        crowd = [each for each in there if (each.client and each.client[0]) == host]
        if len(crowd) <= MOST_OF_ONE:
            if len(there) <= MOST_CONNECTIONS:
                return
            crowd = there
        idle = [each for each in crowd if each is not self and not each.is_busy]
        min(idle, key=lambda each: each._since, default=self).transport.abort()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        cycle.transport = _Joining(cycle)  # type: ignore[assignment]
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        if self._part:
            self._read += len(data)
        super().data_received(data)
        if self._part == "head" and self._read > LONGEST_HEAD and not self.transport.is_closing():
            self._refuse(400, "the head of the request is too long")

    def send_400_response(self, msg: str) -> None:
        """What is no request."""
        self._refuse(400, msg)

    def on_message_begin(self) -> None:
        """The first bytes of a request."""
        super().on_message_begin()
        if not self._part:
            self._wait_for("head")

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._wait_for("body")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there."""
        self._wait_for("")
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The other end does not read."""
        self._stuck_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """It does again."""
        self._stuck_since = None
        super().resume_writing()

    def _wait_for(self, part: str) -> None:
        self._part, self._since, self._read = part, self.loop.time(), 0

    def _refuse(self, status: int, words: str) -> None:
        """Reply to what never gets to the service, and close."""
        body = json.dumps({"error": words}).encode() + b"\n"
        lines = [b"HTTP/1.1 " + (b"408 Request Timeout" if status == 408 else b"400 Bad Request")]
        lines += [name + b": " + value for name, value in HEADERS]
        lines += [b"content-type: application/json", b"content-length: %d" % len(body)]
        self.transport.write(b"\r\n".join([*lines, b"connection: close", b"", body]))
        self.transport.close()

    def _interval(self) -> float:
        return min(HEAD_SECONDS, BODY_SECONDS) / 2

    def _looked(self) -> None:
        """Once every while: whether the other end does its part."""
        now = self.loop.time()
        if self.is_busy:  # the next request is not read on before
            self._since = now
        waited = now - self._since
        bodies = min(BODY_SECONDS + self._read / BODY_RATE, LONGEST_BODY_SECONDS)
        if self._stuck_since is not None and now - self._stuck_since >= TAKE_SECONDS:
            self.transport.abort()
        elif self._part == "head" and waited >= HEAD_SECONDS:
            self.transport.close()
        elif self._part == "body" and waited >= bodies:
            if self.cycle is self._answering and not self.cycle.response_started:
                self._refuse(408, "the request did not arrive in time")
            self.transport.close()
        else:
            self._look = self.loop.call_later(self._interval(), self._looked)


class Stopping(uvicorn.Server):
    """A server that has ended so many seconds after the signal to stop, whatever still runs."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The signal: what was taken is finished, within limits."""
        if not self.should_exit:
            end_within(GRACE_SECONDS)
        super().handle_exit(sig, frame)


def end_within(seconds: float) -> None:
    """Give the process so long to end by itself; then it is ended, whatever holds the interpreter.

    Only the exit code tells: 1.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=open(os.devnull, "w"))  # noqa: SIM115


SETTINGS: dict[str, Any] = {
    "http": Bounded,
    # A caller's address is the one it calls from, whatever it says in a header.
    "proxy_headers": False,
    "server_header": False,
    "access_log": False,
    "log_level": "error",
    "timeout_graceful_shutdown": 15,
    # Connections that are taken in one go come on top of those that are open.
    "backlog": max(8, MOST_CONNECTIONS // 4),
}
"""Of uvicorn, for this service."""


def run(app: Any, **settings: Any) -> None:
    """Serve until a signal."""
    with contextlib.suppress(KeyboardInterrupt):
        Stopping(uvicorn.Config(app, **{**SETTINGS, **settings})).run()
