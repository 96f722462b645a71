"""One writer a folder: a lock that the system drops when its process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import warnings
from pathlib import Path

from jaxkg.errors import JaxkgError

try:
    import fcntl
except ImportError:  # not on Windows, where nothing holds a second writer off
    fcntl = None

LOCK = ".lock"


class FolderLock:
    """The right to write in a folder, held from its making until `close`."""

    def __init__(self, folder: Path) -> None:
        """Take the lock; its file stays behind and says nothing by being there.

        Raises:
            JaxkgError: somebody else has it.
        """
        self._file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
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
