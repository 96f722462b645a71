"""Folders of memory-mapped arrays: written whole or not at all, checked when opened.

Such a folder is `meta.json` (format, version, whatever the owner notes, size and SHA-256 of every
other file, and the SHA-256 of all this) and one `.npy` file per array; a table of names is two
arrays.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.textfile import existing
from jaxkg.kg.names import NameTable
from jaxkg.lock import abandoned, lived_in

CARD = "meta.json"
"""Says what a folder of arrays holds."""
SMALL = 256 << 20
"""Bytes up to which a folder is read through in a fraction of a second."""


class Layout(NamedTuple):
    """What a folder holds, to its reader and in messages."""

    format: str
    version: int
    what: str  # e.g. "saved graph"
    works: str  # what to open instead of something else


def write_arrays(
    folder: str | os.PathLike[str],
    arrays: Mapping[str, np.ndarray | NameTable] | Iterable[tuple[str, np.ndarray]],
    notes: Mapping[str, Any],
    layout: Layout,
    *,
    beside: Callable[[Path], object] | None = None,
) -> Path:
    """Write arrays and notes; a folder of the same format that was there is replaced.

    The folder appears by renaming once everything is on disk.

    Args:
        arrays, notes: what is in it; arrays that are made as they are written are one at a time
            in memory.
        beside: writes what else shall be in it, before it appears.

    Raises:
        JaxkgError: the folder is a file, holds something else, or cannot be written.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise JaxkgError(f"{folder}: is a file; a {layout.what} is a folder")
    if folder.is_dir() and any(folder.iterdir()):
        _read_meta(folder, layout, "to save one, choose a new or empty folder")
    unique = uuid.uuid4().hex
    fresh = folder.with_name(f".{folder.name}.{unique}.new")
    retired = folder.with_name(f".{folder.name}.{unique}.old")
    try:
        fresh.mkdir(parents=True)
        _clear_unfinished(folder)
        with lived_in(fresh):
            files = _write_files(fresh, arrays)
            meta = {"format": layout.format, "version": layout.version, **notes, "files": files}
            meta["sha256"] = _meta_sha256(meta)
            text = json.dumps(meta, ensure_ascii=False, indent=1)
            _synced(fresh / CARD, lambda file: file.write(text.encode()))
            if beside is not None:
                beside(fresh)
            if folder.exists() and not _exchanged(fresh, folder):
                os.replace(folder, retired)
            if fresh.exists() and not folder.exists():
                os.replace(fresh, folder)
    except OSError as error:
        if retired.exists() and not folder.exists():
            os.replace(retired, folder)
        # NumPy tells of a disk that fills up by the numbers it wrote alone.
        why = error.strerror or f"no room on the disk? {error}"
        raise JaxkgError(f"{folder}: cannot be written ({why})") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(retired, ignore_errors=True)
    return folder


def _clear_unfinished(folder: Path) -> None:
    """Remove what killed processes left of saves of this name; what is still written stays."""
    left = re.compile(rf"\.{re.escape(folder.name)}\.[0-9a-f]{{32}}\.new")
    for path in folder.parent.iterdir():
        if left.fullmatch(path.name) and abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def _exchanged(one: Path, two: Path) -> bool:
    """Let two folders take each other's name in one step; False where the system knows none.

    Between two renames a process that is killed would leave no folder at all.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # not on Linux
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename(here, os.fsencode(one), here, os.fsencode(two), exchange) == 0


class ArrayFolder:
    """A folder that `write_arrays` wrote, its arrays left on disk until they are read.

    Attributes:
        path: the folder.
        meta: its notes.
    """

    def __init__(
        self, folder: str | os.PathLike[str], layout: Layout, *, verify: bool | None = True
    ) -> None:
        """Open and check; without `verify`, of the arrays their sizes alone.

        None verifies a folder of at most `SMALL` bytes.

        Raises:
            JaxkgError: no such folder, of another format or a newer version, or damaged.
        """
        self.path = existing(folder)
        self.layout = layout
        self.meta = _read_meta(self.path, layout, layout.works)
        recorded = self.meta.get("sha256")  # folders of earlier versions have none
        if recorded is not None and recorded != _meta_sha256(self.meta):
            raise JaxkgError(
                f"{self.path / CARD}: damaged: its SHA-256 is not the recorded one; save it again"
            )
        try:
            if verify is None:
                verify = sum(each["bytes"] for each in self.meta["files"].values()) <= SMALL
            for name, recorded in self.meta["files"].items():
                sha256 = recorded["sha256"] if verify else None
                _check(self.path / name, layout.what, recorded["bytes"], sha256)
        except (KeyError, TypeError, AttributeError) as error:
            raise JaxkgError(f"{self.path / CARD}: damaged: {error!r}") from error

    def load(
        self, arrays: Iterable[str], tables: Iterable[str], *, ascending: str | None = None
    ) -> dict[str, Any]:
        """Everything the folder holds, mapped into memory.

        Args:
            arrays, tables: names of its arrays and of its tables of names.
            ascending: the table whose names are in ascending order.

        Raises:
            JaxkgError: the folder lists other files, or one is damaged.
        """
        arrays, tables = list(arrays), list(tables)
        parts = [f"{table}.{part}" for table in tables for part in ("blob", "offsets")]
        listed = {f"{name}.npy" for name in (*arrays, *parts)}
        if odd := listed ^ set(self.meta["files"]):
            raise JaxkgError(
                f"{self.path / CARD}: damaged: its list of files is not that of a "
                f"{self.layout.what} ({', '.join(sorted(odd)[:3])})"
            )
        loaded: dict[str, Any] = {name: self._array(name) for name in arrays}
        return loaded | {name: self._names(name, name == ascending) for name in tables}

    def _array(self, name: str) -> np.ndarray:
        path = self.path / f"{name}.npy"
        try:
            # A plain view of the map: indexing a memmap object itself costs microseconds.
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError) as error:
            raise JaxkgError(f"{path}: damaged ({error}); save it again") from error

    def _names(self, name: str, ascending: bool) -> NameTable:
        blob, offsets = self._array(f"{name}.blob"), self._array(f"{name}.offsets")
        try:
            return NameTable(blob, offsets, ascending=ascending)
        except JaxkgError as error:
            raise JaxkgError(f"{self.path / name}: damaged: {error}; save it again") from error


def _write_files(
    folder: Path, arrays: Mapping[str, np.ndarray | NameTable] | Iterable[tuple[str, np.ndarray]]
) -> dict[str, dict[str, Any]]:
    files = {}
    for name, array in arrays.items() if isinstance(arrays, Mapping) else arrays:
        parts = {name: array}
        if isinstance(array, NameTable):
            parts = {f"{name}.blob": array.blob, f"{name}.offsets": array.offsets}
        for part, column in parts.items():
            path = folder / f"{part}.npy"
            _synced(path, functools.partial(np.save, arr=column, allow_pickle=False))
            files[path.name] = {"bytes": path.stat().st_size, "sha256": _sha256(path)}
    return files


def _synced(path: Path, write: Callable[[Any], None]) -> None:
    with open(path, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def _read_meta(folder: Path, layout: Layout, works: str) -> dict[str, Any]:
    path, what = folder / CARD, layout.what
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        held = sorted(entry.name for entry in folder.iterdir())[:3] if folder.is_dir() else []
        shown = f"it holds {', '.join(held)}, ..." if held else "it is empty"
        shown = "it is a file, no folder" if folder.is_file() else shown
        raise JaxkgError(f"{folder}: not a {what} ({shown}); {works}") from error
    except (OSError, ValueError) as error:
        raise JaxkgError(f"{path}: damaged or not a {what}'s ({error}); {works}") from error
    if not isinstance(meta, dict) or meta.get("format") != layout.format:
        raise JaxkgError(f"{folder}: not a {what} ({CARD} is of something else); {works}")
    version = meta.get("version")
    if not isinstance(version, int):
        raise JaxkgError(f"{path}: damaged: its version is {version!r}; save it again")
    if version > layout.version:
        raise JaxkgError(
            f"{folder}: a {what} of version {version}; this jaxkg reads up to {layout.version}: "
            "upgrade jaxkg, or save it again with this one"
        )
    return meta


def _check(path: Path, what: str, size: int, sha256: str | None) -> None:
    if not path.exists():
        raise JaxkgError(f"{path}: missing from the {what}; save it again")
    actual = path.stat().st_size
    if actual != size:
        raise JaxkgError(f"{path}: damaged: {actual} bytes, {size} when saved; save it again")
    if sha256 is not None and _sha256(path) != sha256:
        raise JaxkgError(f"{path}: damaged: its SHA-256 is not the recorded one; save it again")


def _meta_sha256(meta: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in meta.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
