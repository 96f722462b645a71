"""How files are written: whole or not at all, and regular files only."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from jaxkg.errors import JaxkgError, how_to_install

_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.tmp")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def regular_file(path: str | os.PathLike[str]) -> Path:
    """Where a file of this name lies or would lie, links followed: something that may be written.

    Returns:
        The path without symbolic links.

    Raises:
        JaxkgError: a folder, device, pipe or socket is there; the file may not be written; its
            folder is not there.
    """
    named, target = os.fspath(path), Path(os.path.realpath(path))
    try:
        found = target.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise JaxkgError(
                f"{named}: there is no folder {target.parent} to write it to"
            ) from None
        return target
    except OSError as error:
        raise JaxkgError(f"{named}: cannot be written ({error.strerror})") from error
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise JaxkgError(f"{named}: is {kind}; name a regular file or one that is not there yet")
    if not os.access(target, os.W_OK):
        raise JaxkgError(f"{named}: cannot be written (Permission denied)")
    return target


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to, which takes its name when the `with` ends well.

    Until then the bytes lie beside it under another name; they are on the disk before they are
    renamed. What was there stays, and nothing is left behind, where the body or the disk fails. A
    link goes on pointing to where it points, and a file keeps its permissions.

    Raises:
        JaxkgError: as `regular_file`, or the file cannot be written.

    Example:
        >>> with writing("answers.txt") as file:  # doctest: +SKIP
        ...     file.write(b"Ridley Scott")
    """
    named, target = os.fspath(path), regular_file(path)
    # A name of its own length: the target's may be as long as the file system allows.
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        if str(error.filename) not in ("None", str(temporary)):
            raise  # the body's own, of another file
        raise JaxkgError(f"{named}: cannot be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)


def unfinished(name: str) -> bool:
    """Whether a file's name is one that `writing` gives until the end, left by a killed process.

    >>> unfinished(f".{'0' * 16}.tmp"), unfinished("planner.tmp")
    (True, False)
    """
    return _UNFINISHED.fullmatch(name) is not None


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes as `writing` does.

    Raises:
        JaxkgError: as `writing`.
    """
    with writing(path) as file:
        file.write(content)


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write text as UTF-8, one line (without its end) at a time.

    Raises:
        JaxkgError: as `writing`, or a line holds a lone surrogate, which UTF-8 cannot say.
    """
    with writing(path) as file:
        file.writelines(_encoded(path, f"{line}\n") for line in lines)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8; line ends stay as they are.

    Raises:
        JaxkgError: as `write_lines`.
    """
    write_bytes(path, _encoded(path, text))


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write JSON for people to read, with a line end.

    Raises:
        JaxkgError: as `write_lines`.
    """
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_npz(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Write arrays by name; objects are refused.

    Raises:
        JaxkgError: as `writing`.
        ValueError: an array of objects.
    """
    named = {name: np.asarray(array) for name, array in arrays.items()}
    with writing(path) as file:
        np.savez(file, allow_pickle=False, **named)


def read_npz(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Arrays by name, as `write_npz` wrote them; objects are never unpickled."""
    # np.load leaves a damaged file open where it opened it itself.
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def write_tensors(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], about: Mapping[str, str]
) -> None:
    """Write a safetensors file: arrays, bfloat16 included, and a few words about them.

    Raises:
        JaxkgError: as `writing`, or the library is absent.
    """
    try:
        from safetensors.numpy import save
    except ImportError as error:
        raise JaxkgError(
            f"{os.fspath(path)}: needs safetensors: {how_to_install('text')}"
        ) from error
    write_bytes(path, save(dict(arrays), metadata=dict(about)))


def _encoded(path: str | os.PathLike[str], text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise JaxkgError(f"{os.fspath(path)}: not written: not Unicode text: {error}") from error


def digest_of(arrays: Iterable[np.ndarray]) -> str:
    """SHA-256 of arrays with their shapes and dtypes, in hexadecimal."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape}{array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
