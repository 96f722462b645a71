"""Text files as users have them: compressed, in blocks, with faults that are told in one line."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import itertools
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.kg.names import nearest

Progress = Callable[[int, int], None]
"""Told now and then what is done and what there is in all: bytes on disk, or rows of Parquet."""

_BLOCK = 1 << 17
"""Bytes at a time. Few rows alive at once read twice as fast: there is less to collect."""
_CLIP = 120
PACKED = (".gz", ".zst")
"""What the name of a packed file ends in, after the end that tells its format."""
_ZSTD = b"\x28\xb5\x2f\xfd"


class BadLines:
    """Counts malformed lines: tolerates `allowed` of them, then gives up.

    Attributes:
        allowed: how many to tolerate.
        messages: one per line tolerated so far.
    """

    def __init__(self, allowed: int = 0):
        if allowed < 0:
            raise JaxkgError(f"skip_bad must be 0 or more, got {allowed}")
        self.allowed = allowed
        self.messages: list[str] = []

    def note(self, path: Path, line: int, text: str, why: str, expected: str) -> None:
        """Take one malformed line.

        Raises:
            JaxkgError: it is one more than tolerated.
        """
        shown = text if len(text) <= _CLIP else text[:_CLIP] + "..."
        message = f"{path}:{line}: {why}: {shown!r}; expected {expected}"
        if len(self.messages) < self.allowed:
            self.messages.append(message)
            return
        if self.allowed:
            raise JaxkgError(
                f"more than skip_bad={self.allowed} bad lines; the last: {message}; "
                f"the first: {self.messages[0]}"
            )
        raise JaxkgError(message)


def existing(path: str | os.PathLike[str]) -> Path:
    """The path, if there is something there.

    Raises:
        JaxkgError: there is not; names the nearest entries of the nearest folder that exists.
    """
    path = Path(path)
    if path.exists():
        return path
    folder, wanted = path.parent, path.name
    while not folder.is_dir() and folder != folder.parent:
        folder, wanted = folder.parent, folder.name
    entries = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    raise JaxkgError(f"{path}: no such file; looked in {folder}{nearest(wanted, entries)}")


def plain_name(path: Path) -> str:
    """A file's name without the ends of packing.

    >>> plain_name(Path("data/kb.tsv.gz"))
    'kb.tsv'
    """
    name = path.name
    while name.lower().endswith(PACKED):
        name = name[: name.rindex(".")]
    return name


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format, in small letters."""
    return Path(plain_name(path)).suffix.lower()


@contextlib.contextmanager
def open_bytes(path: Path, on_progress: Progress | None = None) -> Iterator[IO[bytes]]:
    """Open a file, unpacking it where it starts like gzip or zstd data, whatever its name.

    Raises:
        JaxkgError: it cannot be opened, or its gzip data breaks off or is damaged.
    """
    try:
        with open(path, "rb") as raw:
            magic = raw.read(4)
            raw.seek(0)
            watched = io.BufferedReader(_Watched(raw, on_progress), _BLOCK) if on_progress else raw
            if magic == _ZSTD:
                with _unpacked(path, watched) as unpacked:
                    yield unpacked
                return
            if magic[:2] != b"\x1f\x8b":
                yield watched
                return
            with gzip.GzipFile(fileobj=watched) as unpacked:
                yield cast(IO[bytes], unpacked)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise JaxkgError(f"{path}: damaged or incomplete gzip data ({error})") from error
    except OSError as error:
        raise JaxkgError(f"{path}: cannot be read ({error.strerror or error})") from error


def _unpacked(path: Path, file: IO[bytes]) -> IO[bytes]:
    """A file packed by zstd."""
    try:
        import pyarrow
    except ModuleNotFoundError as error:
        raise JaxkgError(f"{path}: zstd data; {how_to_install('parquet')}") from error
    return io.BufferedReader(pyarrow.CompressedInputStream(file, "zstd"))  # pyright: ignore


class _Watched(io.RawIOBase):
    """A file that reports how far it was read."""

    def __init__(self, raw: IO[bytes], on_progress: Progress):
        self._raw, self._tell = raw, on_progress
        self._size = os.fstat(raw.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._tell(self._raw.tell(), self._size)
        return len(data)


def line_blocks(
    path: Path, *, encoding: str = "utf-8", on_progress: Progress | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The lines of a text file in blocks: (number of the first, lines).

    Lines end at a line feed and come without it (a carriage return before it stays); a byte order
    mark is dropped.

    Raises:
        JaxkgError: the bytes are not text in `encoding`; says where, and which encoding would do.
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError as error:
        raise JaxkgError(f"no text encoding {encoding!r}; common ones: utf-8, cp1252") from error
    number, read, rest = 1, 0, ""
    with open_bytes(path, on_progress) as file:
        while chunk := file.read(_BLOCK):
            text = rest + _decode(decoder, chunk, path, encoding, read, number)
            if not read:
                text = text.removeprefix("\ufeff")
            read += len(chunk)
            *lines, rest = text.split("\n")
            if lines:
                yield number, lines
                number += len(lines)
        rest += _decode(decoder, b"", path, encoding, read, number)
        if rest:
            yield number, [rest]


def line_at(path: Path, number: int, encoding: str = "utf-8") -> str:
    """One line of a text file, for a message; bytes that are no text become `\\ufffd`."""
    with open_bytes(path) as file:
        line = next(itertools.islice(file, number - 1, None), b"")
    return line.decode(encoding, errors="replace").rstrip("\r\n")


def _decode(
    decoder: codecs.IncrementalDecoder,
    chunk: bytes,
    path: Path,
    encoding: str,
    read: int,
    number: int,
) -> str:
    try:
        return decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError as error:
        # The decoder may have kept the start of a character from the chunk before.
        offset = read + len(chunk) - len(error.object) + error.start
        line = number + error.object[: error.start].count(b"\n")
        marked = not read and error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        candidates = (*(["utf-16"] if marked else []), "cp1252", "latin-1")
        works = next(name for name in candidates if _reads(error.object, name))
        raise JaxkgError(
            f"{path}:{line}: byte {offset} (0x{error.object[error.start]:02x}) is not "
            f"{encoding} text ({error.reason}); the encoding is perhaps {works!r}, or "
            "whatever the file was written in"
        ) from error


def _reads(data: bytes, encoding: str) -> bool:
    try:
        # Incremental: the block may end inside a character.
        codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return False
    return True
