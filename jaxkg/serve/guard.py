"""Who may ask, how much, and how often: one guard before every service.

A browser carries requests of any page to a service on loopback. So a request is let in only under
a name of the service's own (a page cannot rebind its name to it), and from a page only where that
page is the service's own or named.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hmac
import ipaddress
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jaxkg.errors import JaxkgError
from jaxkg.serve.gather import Busy
from jaxkg.serve.replies import HEADERS, Refused, error_reply

log = logging.getLogger("jaxkg.serve")

LOOPBACK = ("127.0.0.1", "::1", "localhost")

_MOST_CALLERS = 10_000
"""Callers whose rate is remembered; the one seen longest ago is forgotten first."""
_WRONG_TOKENS = 20
"""Of one caller a second; more are slowed."""
_LONGEST_PAUSE = 1.0
"""Seconds that a caller whose address has shown wrong tokens waits at most; more is refused."""
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/?#@\[\]]+))(?::\d+)?")
_ORIGIN = re.compile(r"https?://([^\s/?#@]+)")


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


def shows(token: str, header: bytes) -> bool:
    """Whether an Authorization header shows the token; compared in constant time.

    >>> shows("a-long-enough-token", b"bearer a-long-enough-token")
    True
    """
    scheme, _, shown = header.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(shown.strip(), token.encode())


@dataclasses.dataclass(frozen=True)
class Names:
    """The names that a service is asked under, and the pages that may ask it.

    Attributes:
        hosts: names of the service beside those of loopback, without a port; of `0.0.0.0` and
            `::`, every address in figures is one.
        origins: of pages that are let in beside the service's own, as `https://kg.example.org`.

    Raises:
        JaxkgError: one is no name or no origin.
    """

    hosts: Collection[str] = ()
    origins: Sequence[str] = ()

    def __post_init__(self) -> None:
        for host in self.hosts:
            if not _HOST.fullmatch(f"[{host}]" if ":" in host else host):
                raise JaxkgError(f"--allow-host {host}: name a host, without a port")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise JaxkgError(f"--allow-origin {origin}: an origin is like https://example.org")

    def is_own(self, host: str) -> bool:
        """Whether a Host header names the service.

        >>> Names().is_own("localhost:8137"), Names().is_own("example.org")
        (True, False)
        """
        match = _HOST.fullmatch(host)
        name = (match[1] or match[2]).lower().removesuffix(".") if match else ""
        if name in LOOPBACK or name in map(str.lower, self.hosts):
            return True
        return not {"0.0.0.0", "::"}.isdisjoint(self.hosts) and _is_address(name)

    def is_welcome(self, origin: str, site: str, host: str) -> bool:
        """Whether a request comes from no page, or from one of the service's own or a named one.

        Args:
            origin, site, host: headers Origin, Sec-Fetch-Site and Host; empty without.
        """
        if not origin:
            return site in ("", "none", "same-origin")
        match = _ORIGIN.fullmatch(origin)
        return origin in self.origins or (match is not None and match[1].lower() == host.lower())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """An ASGI application that lets in to another, and puts the same headers on every reply.

    Args:
        app: what is guarded.
        names: it is asked under, and from.
        token: that callers must show; None lets everyone in, see `checked_token`.
        rate: of requests of one caller.
        public: paths that are under no guard but that of the host's name.
        count: is called with every request's scope and status.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        names: Names | None = None,
        token: str | None = None,
        rate: Rate | None = None,
        public: Collection[str] = (),
        count: Callable[[Scope, int], None] = lambda scope, status: None,
    ):
        self.app = app
        self._names = names or Names()
        self._token = token
        self._rate = rate or Rate(0.0, 1)
        self._public = public
        self._count = count
        self._wrong = Rate(_WRONG_TOKENS, _WRONG_TOKENS)
        self._warned = -60.0
        if self._names.origins:
            from starlette.middleware.cors import CORSMiddleware

            self.app = CORSMiddleware(
                app,
                allow_origins=self._names.origins,
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["*"],
                expose_headers=["Mcp-Session-Id"],
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in, or refuse in one line."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def reply(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"])
                there = {name for name, _ in message["headers"]}
                more = [header for header in HEADERS if header[0] not in there]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        try:
            await self._check(scope)
        except (Refused, Busy) as error:
            await error_reply(error)(scope, receive, reply)
        else:
            await self.app(scope, receive, reply)

    async def _check(self, scope: Scope) -> None:
        """Let in, or not.

        Raises:
            Refused: the host's name is none of the service's, a page may not ask, or no token is
                shown.
            Busy: the caller asks too often, or its address has shown too many wrong tokens.
        """
        head = dict(scope["headers"])
        host, origin = head.get(b"host", b"").decode("latin-1"), head.get(b"origin", b"")
        if not self._names.is_own(host):
            raise Refused(421, f"{host!r} is no name of this service: --allow-host names more")
        if scope["path"] in self._public:
            return
        site = head.get(b"sec-fetch-site", b"").decode("latin-1")
        if not self._names.is_welcome(page := origin.decode("latin-1"), site, host):
            raise Refused(403, f"a page of {page or site} may not ask: --allow-origin names those")
        preflight = scope["method"] == "OPTIONS" and b"access-control-request-method" in head
        if self._token is not None and preflight:  # a browser shows no token then
            return
        caller = scope["client"][0] if scope["client"] else ""
        self._rate.take(caller)
        if self._token is not None:
            await self._check_token(self._token, head.get(b"authorization", b""), caller)

    async def _check_token(self, token: str, header: bytes, caller: str) -> None:
        """Compare; a caller whose address has just shown many wrong ones has to wait before."""
        pause = self._wrong.take(caller, longest=_LONGEST_PAUSE)
        if pause:
            if time.monotonic() - self._warned >= 60:
                self._warned = time.monotonic()
                log.warning("%s has shown many wrong tokens; it is slowed", caller)
            await asyncio.sleep(pause)
        if not shows(token, header):
            raise Refused(401, "show the token: Authorization: Bearer …")
        self._wrong.put_back(caller)


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

    def take(self, caller: str, *, longest: float = 0.0) -> float:
        """Take one request out of this caller's bucket, or out of what will come in.

        Args:
            caller: its address.
            longest: seconds it may be ahead of what has come in.

        Returns:
            Seconds to wait before the request is there.

        Raises:
            Busy: it would be longer; nothing is taken.

        >>> rate = Rate(1.0, 2, clock=lambda: 10.0)
        >>> [rate.take("me", longest=1.0) for _ in range(3)]
        [0.0, 0.0, 1.0]
        """
        if self._per_second <= 0:
            return 0.0
        now = self._clock()
        level, then = self._level.pop(caller, (float(self._burst), now))
        level = min(float(self._burst), level + (now - then) * self._per_second)
        wait = max(0.0, (1 - level) / self._per_second)
        is_too_long = wait > longest + 1e-9
        self._level[caller] = (level if is_too_long else level - 1, now)
        if len(self._level) > _MOST_CALLERS:
            self._level.popitem(last=False)
        if is_too_long:
            raise Busy(wait - longest)
        return wait

    def put_back(self, caller: str) -> None:
        """Put one request back that was taken."""
        level, then = self._level.get(caller, (float(self._burst), self._clock()))
        self._level[caller] = (min(float(self._burst), level + 1), then)
