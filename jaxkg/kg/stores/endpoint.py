"""A SPARQL 1.1 endpoint over HTTP: one request at a time, patiently, and never more than allowed.

How it waits, what it reads at most and what it hides are those of `jaxkg.adjudicate.endpoint`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import os
import re
import sqlite3
import threading
import time
import weakref
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from jaxkg.cache import cache_for, nothing_kept
from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.settings import Checked, Count, CountOrZero, NotNegative, Positive
from jaxkg.words import one_line

_LONGEST_GET = 4_000
"""Characters of an address; servers refuse longer ones, and keep no reply to a POST."""
_LARGEST = 1 << 28
"""Bytes of a reply, unpacked."""
_JSON = "application/sparql-results+json"
_FOR_GOOD = re.compile(r"Virtuoso (37|42)\d{3} Error")
"""Faults of a query, which Virtuoso tells by 500: asked again, they come again."""


@dataclasses.dataclass(frozen=True)
class EndpointSettings(Checked):
    """How an endpoint is asked.

    Attributes:
        timeout: seconds for one whole reply.
        retries: of what fails for the moment.
        batch: entities named in one query.
        page: rows asked for in one query.
        requests: sent in all by one process; what would be further is left out, and told.
        pause: seconds between requests.
        keep: replies in the user's cache, for as many hours; 0 keeps none.
    """

    timeout: Positive = 60.0
    retries: CountOrZero = 4
    batch: Count = 200
    page: Count = 10_000
    requests: Count = 5_000
    pause: NotNegative = 0.0
    keep: NotNegative = 24.0


class Rows(NamedTuple):
    """The solutions of a query: RDF terms by variable, as SPARQL's JSON has them."""

    rows: list[dict[str, dict[str, str]]]
    whole: bool
    """False where the endpoint says that there are more: HTTP 206, or Virtuoso's limit of time."""


class _Reply(NamedTuple):
    body: bytes
    json: Mapping[str, Any]
    whole: bool


class Spent(JaxkgError):
    """No further request may be sent."""


class Unsorted(JaxkgError):
    """More rows would have to be sorted for LIMIT and OFFSET than Virtuoso does (SR353)."""


class Endpoint:
    """Sends queries to a SPARQL endpoint.

    Attributes:
        url: of the endpoint.
        settings: see `EndpointSettings`.
        sent: requests so far.
    """

    def __init__(self, url: str, settings: EndpointSettings = EndpointSettings()) -> None:
        """Nothing is sent yet. JAXKG_SPARQL_USER and JAXKG_SPARQL_PASSWORD are sent where set.

        Raises:
            JaxkgError: the address is none, or carries a password.
        """
        from jaxkg.wire.redact import Secrets, checked_key, secret_segments

        self.url = _checked(url)
        self.settings, self.sent = settings, 0
        user = checked_key(os.environ.get("JAXKG_SPARQL_USER", ""), "JAXKG_SPARQL_USER")
        password = checked_key(os.environ.get("JAXKG_SPARQL_PASSWORD", ""), "JAXKG_SPARQL_PASSWORD")
        self._login = (user, password) if user or password else None
        self._secrets = Secrets([password, *secret_segments(self.url)])
        self.title = self._secrets.hide(self.url)
        self._lock = threading.Lock()
        self._last = float("-inf")
        self._client: Any = None
        folder = cache_for("endpoints") if settings.keep else None
        which = hashlib.sha256(f"{self.url}\n{user}".encode()).hexdigest()[:24]
        self._kept = None if folder is None else Kept(folder / f"{which}.sqlite", settings.keep)

    def select(self, query: str, *, fresh: bool = False) -> Rows:
        """The solutions of a SELECT query.

        Args:
            query: SPARQL 1.1.
            fresh: ask, whatever is kept.

        Raises:
            Spent: as many requests were sent as may be.
            JaxkgError: the endpoint fails, refuses, or answers with something else.
        """
        reply, whole = self._reply(query, fresh)
        results = reply.get("results", {})
        rows = results.get("bindings") if isinstance(results, dict) else None
        if not isinstance(rows, list):
            raise JaxkgError(f"{self.title}: no SPARQL results to {one_line(query)[:120]!r}")
        return Rows(rows, whole)

    def _reply(self, query: str, fresh: bool) -> tuple[Mapping[str, Any], bool]:
        with self._lock:
            if self._kept is not None and not fresh and (body := self._kept.get(query)):
                return read_json(body, str(self._kept.path), strict=False), True
            reply = self._patiently(query)
            if self._kept is not None and reply.whole:
                self._kept.put(query, reply.body)
            return reply.json, reply.whole

    def _patiently(self, query: str) -> _Reply:
        from jaxkg.wire.retry import Backoff

        backoff, attempt = Backoff(retries=self.settings.retries), 0
        while True:
            attempt += 1
            if self.sent >= self.settings.requests:
                raise Spent(
                    f"{self.title}: stopped after {self.sent:,} requests, which is all that "
                    f"--endpoint requests={self.sent} allows"
                )
            if (early := self._last + self.settings.pause - time.monotonic()) > 0:
                time.sleep(early)
            self.sent += 1
            reply = self._once(query)
            self._last = time.monotonic()
            if isinstance(reply, _Reply):
                return reply
            wait = backoff.wait(attempt, reply)
            if wait is None:
                tried = f" (tried {attempt} times)" if attempt > 1 else ""
                raise JaxkgError(f"{self.title}: {self._secrets.hide(reply.detail)}{tried}")
            time.sleep(wait)

    def _once(self, query: str) -> Any:
        """A `_Reply`, or the `Fault` of one request."""
        import httpx

        from jaxkg.wire.deadline import Deadline, Overdue, TooLarge
        from jaxkg.wire.retry import Fault, from_status

        if self._client is None:
            self._deadline = Deadline(self.settings.timeout, packed=_LARGEST, plain=_LARGEST)
            self._client = httpx.Client(
                auth=self._login,
                headers={
                    "accept": _JSON,
                    "accept-encoding": "gzip, deflate",
                    "user-agent": f"jaxkg/{_version()} (graph questions)",
                },
                timeout=self.settings.timeout,
                follow_redirects=self._login is None,
                max_redirects=3,
            )
            self._deadline.watch(self._client)
            weakref.finalize(self, self._client.close)
        self._deadline.start()
        asked: Any = {"method": "GET", "url": self.url}
        if len(query) <= _LONGEST_GET:
            asked["url"] += f"{'&' if '?' in self.url else '?'}{urlencode({'query': query})}"
        if max(len(query), len(asked["url"])) > _LONGEST_GET:
            asked = {"method": "POST", "url": self.url, "data": {"query": query}}
        try:
            with self._client.stream(**asked) as response:
                body = b"".join(_bounded(response.iter_bytes()))
                status, headers = response.status_code, response.headers
        except (Overdue, httpx.TimeoutException):
            return Fault("timeout", f"no whole reply in {self.settings.timeout:g} s", again=True)
        except (TooLarge, MemoryError) as error:
            if isinstance(error, TooLarge) and str(error):
                return Fault("protocol", str(error))
            raise JaxkgError(
                f"{self.title}: a reply of more than {_LARGEST:,} bytes; --endpoint page=1000 asks "
                "for less at a time"
            ) from None
        except (httpx.TooManyRedirects, httpx.UnsupportedProtocol, httpx.DecodingError) as error:
            return Fault("protocol", f"{type(error).__name__}: {error}")
        except (httpx.HTTPError, OSError) as error:
            said = str(error) or type(error).__name__
            return Fault("connection", f"cannot be reached, or hung up: {said}", again=True)
        if status not in (200, 206):
            detail = one_line(body[:500].decode(errors="replace"))[:300]
            return self._refused(from_status(status, detail, code=None, headers=headers), status)
        kind = headers.get("content-type", "").partition(";")[0].strip()
        if "json" not in kind:
            start = one_line(body[:80].decode(errors="replace"))
            raise JaxkgError(
                f"{self.title}: answers with {kind or 'no type'} ({start!r}), not with SPARQL "
                "results; is it the address of the query endpoint, as http://host:port/query?"
            )
        try:
            content = read_json(body, self.title, strict=False)
        except JaxkgError as error:
            if body.rstrip().endswith(b"}"):
                raise
            return Fault("connection", f"half a reply ({error})", again=True)
        if not isinstance(content, dict):
            raise JaxkgError(f"{self.title}: the reply is JSON, but not a SPARQL result")
        # Virtuoso tells of its limit of time by a header, and by 206 where it is told to.
        return _Reply(body, content, status == 200 and headers.get("x-sql-state") != "S1TAT")

    def _refused(self, fault: Any, status: int) -> Any:
        if status in (401, 403):
            who = "who asks" if self._login is None else "the user or password"
            raise JaxkgError(
                f"{self.title}: does not accept {who} ({status}); set JAXKG_SPARQL_USER and "
                "JAXKG_SPARQL_PASSWORD"
            )
        if "Error SR353" in fault.detail:
            raise Unsorted(f"{self.title}: {fault.detail}")
        return dataclasses.replace(fault, again=False) if _FOR_GOOD.search(fault.detail) else fault


class Kept:
    """Replies in a file of the user's cache, for some hours; whatever is wrong there, without."""

    def __init__(self, path: Path, hours: float) -> None:
        self.path, self.hours = path, hours
        self._usable = True

    def get(self, query: str) -> bytes | None:
        """The reply kept to a query; None where there is none, or it is too old."""
        row = self._run(
            "SELECT reply FROM replies WHERE key = ? AND stored > ?",
            (_key(query), time.time() - 3600 * self.hours),
        )
        try:
            return None if row is None else zlib.decompress(row[0])
        except (zlib.error, TypeError):
            return None

    def put(self, query: str, reply: bytes) -> None:
        """Keep a reply."""
        row = (_key(query), zlib.compress(reply, 1), time.time())
        self._run("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", row)

    def _run(self, statement: str, values: tuple[Any, ...]) -> Any:
        """The first row of a statement's result."""
        if not self._usable:
            return None
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as database, database:
                database.execute("PRAGMA synchronous = OFF")
                database.execute(
                    "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, reply BLOB, "
                    "stored REAL)"
                )
                return database.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            self._usable = False
            nothing_kept(f"{self.path}: {error}")
            return None


def _key(query: str) -> bytes:
    return hashlib.sha256(query.encode()).digest()


def _bounded(parts: Iterator[bytes]) -> Iterator[bytes]:
    total = 0
    for part in parts:
        total += len(part)
        if total > _LARGEST:
            raise MemoryError
        yield part


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        sound = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        parts, sound = None, False
    if parts is None or not sound:
        raise JaxkgError(f"sparql:{url[:200]}: no address; write it sparql:http://host:port/query")
    if parts.username or parts.password:
        raise JaxkgError(
            "the endpoint's address carries a user name or password, which would be written to "
            "logs; set JAXKG_SPARQL_USER and JAXKG_SPARQL_PASSWORD"
        )
    return url.strip()


def _version() -> str:
    try:
        return importlib.metadata.version("jaxkg")
    except importlib.metadata.PackageNotFoundError:
        return "0"
