"""Folders of memory-mapped arrays: written whole or not at all, checked when opened.

Such a folder is `meta.json` (format, version, whatever the owner notes, size and SHA-256 of every
other file) and one `.npy` file per array; a table of names is two arrays.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.kg.names import NameTable
from jaxkg.kg.textfile import existing
from jaxkg.records import JaxkgError

_META = "meta.json"


def write_arrays(
    folder: str | os.PathLike[str],
    arrays: Mapping[str, np.ndarray | NameTable],
    notes: Mapping[str, Any],
    *,
    format: str,
    version: int,
) -> Path:
    """Write arrays and notes; a folder of the same format that was there is replaced.

    Raises:
        JaxkgError: the folder is a file, holds something else, or cannot be written.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise JaxkgError(f"{folder}: is a file; choose a folder")
    if folder.is_dir() and any(folder.iterdir()):
        _read_meta(folder, format, version, "choose a new or empty folder")
    unique = uuid.uuid4().hex
    fresh = folder.with_name(f".{folder.name}.{unique}.new")
    retired = folder.with_name(f".{folder.name}.{unique}.old")
    try:
        fresh.mkdir(parents=True)
        files = _write_files(fresh, arrays)
        meta = {"format": format, "version": version, **notes, "files": files}
        with open(fresh / _META, "w", encoding="utf-8") as file:
            json.dump(meta, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        if folder.exists():
            os.replace(folder, retired)
        os.replace(fresh, folder)
    except OSError as error:
        if retired.exists() and not folder.exists():
            os.replace(retired, folder)
        raise JaxkgError(f"{folder}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(retired, ignore_errors=True)
    return folder


class ArrayFolder:
    """A folder that `write_arrays` wrote, its arrays left on disk until they are read.

    Attributes:
        path: the folder.
        meta: its notes.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, format: str, version: int, verify: bool = False
    ) -> None:
        """Open and check sizes; with `verify`, every byte's SHA-256.

        Raises:
            JaxkgError: no such folder, of another format or a newer version, or damaged.
        """
        self.path = existing(folder)
        self.meta = _read_meta(self.path, format, version, "open a folder this was saved to")
        try:
            for name, recorded in self.meta["files"].items():
                _check(self.path / name, recorded["bytes"], recorded["sha256"] if verify else None)
        except (KeyError, TypeError, AttributeError) as error:
            raise JaxkgError(f"{self.path / _META}: damaged: {error!r}") from error

    def array(self, name: str) -> np.ndarray:
        """An array, mapped into memory.

        Raises:
            JaxkgError: it is not there, or damaged.
        """
        path = self.path / f"{name}.npy"
        if path.name not in self.meta["files"]:
            raise JaxkgError(f"{self.path / _META}: damaged: it lists no {path.name}")
        try:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError) as error:
            raise JaxkgError(f"{path}: damaged ({error}); save it again") from error

    def names(self, name: str, *, ascending: bool = False) -> NameTable:
        """A table of names.

        Raises:
            JaxkgError: it is not there, or damaged.
        """
        blob, offsets = self.array(f"{name}.blob"), self.array(f"{name}.offsets")
        try:
            return NameTable(blob, offsets, ascending=ascending)
        except JaxkgError as error:
            raise JaxkgError(f"{self.path / name}: damaged: {error}; save it again") from error


def _write_files(
    folder: Path, arrays: Mapping[str, np.ndarray | NameTable]
) -> dict[str, dict[str, Any]]:
    flat: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if isinstance(array, NameTable):
            flat |= {f"{name}.blob": array.blob, f"{name}.offsets": array.offsets}
        else:
            flat[name] = array
    files = {}
    for name, array in flat.items():
        path = folder / f"{name}.npy"
        _synced(path, functools.partial(np.save, arr=array, allow_pickle=False))
        files[path.name] = {"bytes": path.stat().st_size, "sha256": _sha256(path)}
    return files


def _synced(path: Path, write: Callable[[Any], None]) -> None:
    with open(path, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def _read_meta(folder: Path, format: str, version: int, works: str) -> dict[str, Any]:
    path = folder / _META
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise JaxkgError(f"{folder}: no {format} folder (it has no {_META}); {works}") from error
    except (OSError, ValueError) as error:
        raise JaxkgError(f"{path}: damaged ({error}); {works}") from error
    if not isinstance(meta, dict) or meta.get("format") != format:
        told = meta.get("format") if isinstance(meta, dict) else None
        raise JaxkgError(f"{folder}: not a {format} folder but {told!r}; {works}")
    if not isinstance(meta.get("version"), int):
        raise JaxkgError(f"{path}: damaged: its version is {meta.get('version')!r}")
    if meta["version"] > version:
        raise JaxkgError(
            f"{folder}: {format} of version {meta['version']}; this jaxkg reads up to {version}: "
            "upgrade jaxkg, or save it again with this one"
        )
    return meta


def _check(path: Path, size: int, sha256: str | None) -> None:
    if not path.exists():
        raise JaxkgError(f"{path}: missing; save it again")
    actual = path.stat().st_size
    if actual != size:
        raise JaxkgError(f"{path}: damaged: {actual} bytes, {size} when saved; save it again")
    if sha256 is not None and _sha256(path) != sha256:
        raise JaxkgError(f"{path}: damaged: its SHA-256 is not the recorded one; save it again")


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
