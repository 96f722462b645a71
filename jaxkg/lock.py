"""One writer a folder: locks that the system drops when their process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from jaxkg.errors import JaxkgError

try:
    import fcntl
except ImportError:  # not on Windows, where nothing holds a second writer off
    fcntl = None

LOCK = ".lock"
_YOUNG = 60.0
"""Seconds in which whoever makes a folder has long locked it."""


class FolderLock:
    """The right to write in a folder, held from its making until `close`.

    Attributes:
        certain: nobody else has it; False where the system knows no locks.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock; its file stays behind and says nothing by being there.

        Raises:
            JaxkgError: somebody else has it.
        """
        self._file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        self.certain = fcntl is not None
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._file)
            raise JaxkgError(
                f"{folder}: another process is writing in this folder (process {holder}); wait "
                "for it, or name another folder"
            ) from None
        except OSError as error:
            self.certain = False
            warnings.warn(
                f"{folder}: cannot be locked ({error.strerror}): let nothing else write here",
                stacklevel=2,
            )
        with contextlib.suppress(OSError):  # a full disk: the lock holds, only nobody is named
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Let go; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


@contextlib.contextmanager
def lived_in(folder: Path) -> Iterator[None]:
    """A folder of one's own that is not `abandoned` until this ends, under whatever name."""
    held = os.open(folder, os.O_RDONLY) if fcntl is not None else -1
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        if held >= 0:
            os.close(held)


def abandoned(folder: Path) -> bool:
    """Whether nobody lives in a folder that was made with `lived_in`; False where none can tell."""
    try:
        if fcntl is None or time.time() - folder.stat().st_mtime < _YOUNG:
            return False
        held = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(held)
    except OSError:
        return False
    return True
