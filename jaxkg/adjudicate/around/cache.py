"""A backend that asks the disk first, and one that asks nothing else.

Which request of a shared file of replies is under way is marked, so that no two processes pay for
it.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxkg.adjudicate.around.store import ReplyStore
from jaxkg.adjudicate.backend import Backend, Closing, Wrapper
from jaxkg.adjudicate.endpoint.prices import Rates
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request, digest
from jaxkg.errors import JaxkgError

try:
    import fcntl
except ImportError:  # not on Windows, where two processes may pay twice
    fcntl = None

_PATIENCE = 600.0  # seconds to wait for another process's reply before asking as well
_PAUSE = 0.05


class Claims:
    """Locks on requests by key, one byte each of a file beside the replies.

    The system drops the locks of a process that dies, so none is ever stale. Threads of one process
    do not hold each other off: equal requests of a batch are sent once anyway.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use a file, made where it is not there; where that cannot be, every claim is granted."""
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._file: int | None = None
        if fcntl is not None:
            try:
                self._file = os.open(Path(path), os.O_RDWR | os.O_CREAT, 0o600)
            except OSError:
                self._file = None

    def take(self, key: str, *, enough: Callable[[], bool]) -> bool:
        """Claim a request, waiting for whoever has it until `enough` says that there is a reply.

        Returns:
            False where there is a reply now.
        """
        end = time.monotonic() + _PATIENCE
        while not self._taken(key):
            if enough():
                return False
            if time.monotonic() > end:
                return True
            time.sleep(_PAUSE)
        if enough():
            self.drop(key)
            return False
        return True

    def drop(self, key: str) -> None:
        """Let go of a request that is answered, or never will be."""
        with self._lock:
            if key in self._held and self._file is not None and fcntl is not None:
                self._held.discard(key)
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = None
            self._held.clear()

    def _taken(self, key: str) -> bool:
        with self._lock:
            if self._file is None or fcntl is None:
                return True
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
            except (BlockingIOError, PermissionError):  # taken, in the words of two systems
                return False
            except OSError:  # a file system without locks
                return True
            self._held.add(key)
            return True


def _place(key: str) -> int:
    return int(key[:12], 16)


_CONTEXT = "context of {}"


class Cache(Wrapper):
    """Keeps every reply on disk, keyed by the whole request, the moment it arrives.

    A reply is stored before anyone reads it, so nothing that was paid for is lost to a crash, and a
    run that is started again asks only what is missing. Failures are kept for `Replay` but asked
    again. Equal requests of one batch are sent once; one that another process has under way with
    the same file is waited for, where calls cost anything.
    """

    def __init__(
        self, inner: Backend, path: str | os.PathLike[str], *, retry: bool = False
    ) -> None:
        """Wrap a backend; `path` is made where it is not there.

        Args:
            inner: who answers.
            path: the file. Where it cannot be written, replies are not kept, with a warning.
            retry: ask again, once, what has a stored reply that cannot be read.

        Raises:
            JaxkgError: the file is somebody else's.
        """
        super().__init__(inner)
        self.store = ReplyStore(path)
        self._retry = retry
        self._retried: set[str] = set()
        self._noted = False
        free = self.rates is not None and not self.rates.price(1e6, 1e6)
        self._claims = None if free else Claims(f"{self.store.path}.lock")

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order, stored or new."""
        asked = [request.asked(self.model) for request in requests]
        keys = [digest(text) for text in asked]
        stored = self.store.get(list(dict.fromkeys(keys)))
        replies: list[Reply | None] = [None] * len(requests)
        places: dict[str, list[int]] = {}  # of each request that is sent
        unread: set[str] = set()  # of them, those with a reply that cannot be read
        for index, key in enumerate(keys):
            hit = stored.get(key)
            again = self._retry and key not in self._retried
            if again and hit and hit.error is None and not _readable(requests[index], hit):
                unread.add(key)
            if hit is None or hit.error is not None or key in unread:
                places.setdefault(key, []).append(index)
                continue
            reason = admit(index) if admit else None
            replies[index] = Reply.held_back(reason) if reason else hit
            if on_reply:
                on_reply(index, replies[index] or hit)
        sent = list(places)
        if sent and not self._noted and (context := self.context) is not None:
            self.store.note(_CONTEXT.format(self.model), str(context))
            self._noted = True
        self._retried |= unread
        elsewhere: dict[str, Reply] = {}  # replies that another process got meanwhile

        def arrived(number: int, reply: Reply) -> None:
            key = sent[number]
            first = places[key][0]
            if key in elsewhere:
                reply = elsewhere[key]
            elif reply.error != "budget":
                better = key in unread and _readable(requests[first], reply)
                self.store.put(key, asked[first], reply, replace=better)
            if self._claims:
                self._claims.drop(key)
            for copy, index in enumerate(places[key]):
                again = copy > 0 and reply.error is None
                replies[index] = dataclasses.replace(reply, cached=True) if again else reply
                if on_reply:
                    on_reply(index, replies[index] or reply)

        def may_send(number: int) -> str | None:
            key = sent[number]
            if reason := admit(places[key][0]) if admit else None:
                return reason

            def answered() -> bool:
                found = self.store.get([key]).get(key)
                if found is not None and found.error is None and key not in unread:
                    elsewhere[key] = found
                return key in elsewhere

            if self._claims and not self._claims.take(key, enough=answered):
                return "another process got the reply"
            return None

        self.inner.complete(
            [requests[places[key][0]] for key in sent], admit=may_send, on_reply=arrived
        )
        return [reply for reply in replies if reply is not None]

    def close(self) -> None:
        """Close the file and the wrapped backend."""
        super().close()
        self.store.close()
        if self._claims:
            self._claims.close()


def _readable(request: Request, reply: Reply) -> bool:
    return reply.error is None and (request.reads is None or request.reads(reply))


class Kept(Wrapper):
    """Answers what a file of replies has; what it has not is held back, and calls nothing."""

    def __init__(self, inner: Backend, store: ReplyStore) -> None:
        """Take the backend whose model, context and manner count, and its replies."""
        super().__init__(inner)
        self.store = store

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order; error "budget" where there is none."""
        keys = [request.key(self.model) for request in requests]
        stored = self.store.get(list(dict.fromkeys(keys)))
        replies = [stored.get(key) or Reply.held_back("no reply is kept") for key in keys]
        for index, reply in enumerate(replies):
            if on_reply:
                on_reply(index, reply)
        return replies


def kept_of(backend: Backend) -> Kept | None:
    """A backend that only knows what this one keeps of replies; None where it keeps none."""
    layer = backend
    while isinstance(layer, Wrapper) and not isinstance(layer, Cache):
        layer = layer.inner
    return Kept(backend, layer.store) if isinstance(layer, (Cache, Replay)) else None


class Replay(Closing):
    """Answers from a file of recorded replies alone; calls nothing, needs no key.

    Failures that were recorded are replayed too, so a run reports the same again.
    """

    rates: Rates | None = None

    def __init__(self, path: str | os.PathLike[str], model: str) -> None:
        """Open the file for reading; `model` is the one that was asked.

        Raises:
            JaxkgError: no such file, or not one of recorded replies.
        """
        self.model = model
        self.store = ReplyStore(path, read_only=True)
        noted = self.store.noted(_CONTEXT.format(model))
        # Prompts were cut to it, and must be so again.
        self._context = int(noted) if noted and noted.isdecimal() else None

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """The recorded replies, in order.

        Raises:
            JaxkgError: a request was never recorded.
        """
        keys = [request.key(self.model) for request in requests]
        stored = self.store.get(list(dict.fromkeys(keys)))
        missing = [request for request, key in zip(requests, keys) if key not in stored]
        if missing:
            first = missing[0]
            raise JaxkgError(
                f"{self.store.path}: {len(missing)} of {len(requests)} requests to {self.model!r} "
                f"were never recorded, the first of stage {first.stage!r}, question "
                f"{first.question!r}; run once with the model and this file as the cache"
            )
        replies: list[Reply] = []
        for index, key in enumerate(keys):
            reason = admit(index) if admit else None
            replies.append(Reply.held_back(reason) if reason else stored[key])
            if on_reply:
                on_reply(index, replies[-1])
        return replies

    def close(self) -> None:
        """Close the file."""
        self.store.close()
