"""The folder that `build_big` works in, and goes on in where a build before it was stopped."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self

from jaxkg import kg
from jaxkg.errors import JaxkgError
from jaxkg.lock import FolderLock
from jaxkg.storage import write_json

_END = ".build"
"""End of the folders' names."""
_RECORD = "reading.json"


class Reading(NamedTuple):
    """What reading found, once it has ended."""

    facts: int
    """Rows of them, repeated ones counted."""
    names: int
    """Rows of them."""
    skipped: list[str]
    """One message for each bad line that was tolerated."""


def signature(files: Iterable[Path], *about: object) -> str:
    """What tells whether two builds make the same graph of the same files.

    A file is told by its path, size and times, of which one is the system's own: it changes with
    every change of the file, whatever the file's date is set to.

    Args:
        files: that are read, in order.
        about: whatever else the graph depends on.

    Returns:
        A SHA-256 in hexadecimal.

    Raises:
        OSError: a file is gone.
    """
    stats = ((str(path.absolute()), path.stat()) for path in files)
    stamps = [(path, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for path, s in stats]
    return hashlib.sha256(repr((stamps, about)).encode("utf-8", "surrogatepass")).hexdigest()


def code_digest() -> str:
    """SHA-256 of the modules that read and sort graphs: of a version, or of a working copy."""
    digest = hashlib.sha256()
    for module in sorted(Path(kg.__file__).parent.rglob("*.py")):
        digest.update(module.read_bytes())
    return digest.hexdigest()


class WorkFolder:
    """A folder beside a graph to be, held by one build at a time.

    Attributes:
        path: of the folder.
        reading: what a build of the same signature found that was stopped later; None where there
            was none, until `keep`.
        stays: whether an error leaves it too, where reading has ended.
    """

    stays = False

    def __init__(self, target: Path, signature: str) -> None:
        """Take over what was left of a build of this signature, or begin anew.

        Whatever else was left of builds of this target, and is held by nobody, is removed.

        Raises:
            OSError: no folder can be made there.
        """
        self.reading: Reading | None = None
        self._target, self._signature = target, signature
        for left in sorted(target.parent.glob(f".{glob.escape(target.name)}.*{_END}")):
            try:
                lock = FolderLock(left)
            except (JaxkgError, OSError):
                continue  # at work, or just removed
            # The lock comes first: whoever had it before may have removed everything.
            reading = _kept(left, signature) if lock.certain and self.reading is None else None
            if reading is None:
                _remove(left, lock)
            else:
                self.path, self._lock, self.reading = left, lock, reading
        if self.reading is None:
            self._make()

    def keep(self, reading: Reading) -> Reading:
        """Say that reading has ended: a build that is stopped from now on is gone on with.

        Raises:
            JaxkgError: the disk is full.
        """
        write_json(self.path / _RECORD, {"signature": self._signature, **reading._asdict()})
        self.reading = reading
        return reading

    def empty(self) -> None:
        """Begin anew, in another folder."""
        _remove(self.path, self._lock)
        self.reading = None
        self._make()

    def _make(self) -> None:
        beside, name = self._target.parent, f".{self._target.name}."
        self.path = Path(tempfile.mkdtemp(prefix=name, suffix=_END, dir=beside))
        self._lock = FolderLock(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove the folder; after an interruption it stays where reading has ended."""
        stays = kind is not None and (self.stays or not issubclass(kind, Exception))
        if stays and self.reading is not None:
            self._lock.close()
        else:
            _remove(self.path, self._lock)


def _kept(folder: Path, signature: str) -> Reading | None:
    """What reading found where it ended for a build of this signature."""
    try:
        record = json.loads((folder / _RECORD).read_bytes())
        if record.pop("signature") == signature:
            return Reading(**record)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # none, or damaged: as good as none
    return None


def _remove(folder: Path, lock: FolderLock) -> None:
    # A folder half removed by a process that is killed is not gone on with.
    with contextlib.suppress(OSError):
        (folder / _RECORD).unlink()
    # Nobody takes over what is being removed: the lock goes last. Again, where open files stay.
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()
    shutil.rmtree(folder, ignore_errors=True)
