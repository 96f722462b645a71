"""Which request of a shared file of replies is under way, so that no two processes pay for it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

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
