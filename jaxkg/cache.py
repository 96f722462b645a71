"""What can be made again is kept in the user's cache; whatever is wrong there, it is made anew."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from jaxkg.errors import JaxkgError

T = TypeVar("T")

_SUM = "sha256"
"""File in a kept folder: the SHA-256 of its other files."""


class CacheWarning(UserWarning):
    """Something could not be kept, or what was kept could not be used."""


def cache_folder() -> Path | None:
    """Where planners, vectors, replies and compiled programs are kept.

    Returns:
        The folder that `JAXKG_CACHE` names, else `jaxkg` in the user's cache; None where the user
        has no home folder.
    """
    if given := os.environ.get("JAXKG_CACHE"):
        return Path(given)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "jaxkg"
    try:
        return Path.home() / ".cache" / "jaxkg"
    except RuntimeError:
        return None


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are not there, for its owner alone."""
    if not folder.is_dir():
        if not folder.parent.exists():
            private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def nothing_kept(error: object) -> None:
    """Warn that the cache cannot be used."""
    warnings.warn(
        f"nothing is kept for the next time: {_why(error)}; JAXKG_CACHE names another folder",
        CacheWarning,
        stacklevel=3,
    )


def cache_for(name: str) -> Path | None:
    """The cache's folder of that name, made where it was not there.

    Returns:
        None, after a `CacheWarning`, where nothing can be written there.
    """
    folder = cache_folder()
    if folder is None:
        nothing_kept("there is no home folder")
        return None
    folder /= name
    probe = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        private_folder(folder)
        probe.write_bytes(bytes(4096))
        probe.unlink()
    except OSError as error:
        nothing_kept(error)
        with contextlib.suppress(OSError):
            probe.unlink()
        return None
    return folder


def forget_programs() -> None:
    """Remove compiled programs: which of them is damaged is not told."""
    folder = cache_folder()
    for program in (folder / "programs").glob("*") if folder else ():
        with contextlib.suppress(OSError):  # another process was first, or nothing can be removed
            program.unlink()


def kept(
    kind: str,
    key: str,
    *,
    opened: Callable[[Path], T],
    made: Callable[[], T],
    saved: Callable[[T, Path], object],
) -> T:
    """What is kept under a key, or made and kept.

    Args:
        kind: folder within the cache.
        key: name of its folder there.
        opened: reads it from a folder.
        made: makes it.
        saved: writes it to a folder that is not there yet.

    What is damaged, torn or of another version is thrown away and made again. Where it cannot be
    kept, a `CacheWarning` says so.
    """
    root = cache_folder()
    if root is None:
        nothing_kept("there is no home folder")
        return made()
    folder = root / kind / key
    try:
        if (folder / _SUM).read_text() == _sum(folder):
            return opened(folder)
    except (JaxkgError, OSError, ValueError):
        pass
    found = made()
    fresh = folder.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        private_folder(fresh.parent)
        saved(found, fresh)
        (fresh / _SUM).write_text(_sum(fresh))
        if folder.is_dir():
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)
        os.replace(fresh, folder)
    except (JaxkgError, OSError) as error:
        nothing_kept(error)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return found


def _sum(folder: Path) -> str:
    """SHA-256 of a folder's files, by name."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.name != _SUM:
            digest.update(f"{file.name}\0".encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _why(error: object) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'the cache'}: {error.strerror or error}"
    return str(error)
