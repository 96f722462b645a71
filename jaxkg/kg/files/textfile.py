"""Text files as users have them: compressed, in blocks, with faults that are told in one line."""

from __future__ import annotations

import codecs
import contextlib
import functools
import gzip
import io
import itertools
import os
import re
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.kg.names import nearest

Progress = Callable[[int, int], None]
"""Told now and then what is done and what there is in all: bytes on disk, or rows of Parquet."""

_BLOCK = 1 << 17
"""Bytes at a time. Few rows alive at once read twice as fast: there is less to collect."""
_CLIP = 120
LONGEST_LINE = 1 << 24
"""Characters."""
_LAYERS = 3
_FREE = 48 << 20
_MOST = 1 << 38
_RATIO = 50
PACKED = (".gz", ".zst", ".zip")
"""What the name of a packed file ends in, after the end that tells its format."""
_ZIP = b"PK\x03\x04"
_MARKED = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""What a file in UTF-16 begins with, and none in UTF-8."""
_NOT_1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_ZSTD = b"\x28\xb5\x2f\xfd"


_RECODED: ContextVar[dict[str, None] | None] = ContextVar("_RECODED", default=None)


@contextlib.contextmanager
def guessed_encodings() -> Iterator[dict[str, None]]:
    """Read text within that is no UTF-8 as cp1252, where it may be; gives the names of such files,
    which whoever reads them tells."""
    names: dict[str, None] = {}
    token = _RECODED.set(names)
    try:
        yield names
    finally:
        _RECODED.reset(token)


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
    place = "this folder" if folder == Path() else folder
    raise JaxkgError(f"{path}: no such file; looked in {place}{nearest(wanted, entries)}")


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


@functools.cache
def toml_beside(module: str) -> dict[str, Any]:
    """The TOML file that lies beside a module and is called as it is."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))


@contextlib.contextmanager
def extra(path: Path | str, why: str, name: str) -> Iterator[None]:
    """Tell how to install the extra that what is imported within is of.

    Raises:
        JaxkgError: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise JaxkgError(f"{path}: {why}; {how_to_install(name)}") from error


@contextlib.contextmanager
def open_bytes(path: Path, on_progress: Progress | None = None) -> Iterator[io.BufferedReader[Any]]:
    """Open a file, unpacking it where it starts like gzip or zstd data, whatever its name, and
    where it is a zip archive of one file and called so.

    Layers are unpacked up to the third. What is unpacked is bounded: beyond 48 MiB it may be 50
    times as large as the file, and 256 GiB at most.

    Raises:
        JaxkgError: it cannot be opened, its packed data breaks off or is damaged, or it is beyond
            these bounds.
    """
    try:
        with contextlib.ExitStack() as stack:
            raw = stack.enter_context(open(path, "rb"))
            file: io.BufferedReader[Any] = raw
            size = os.fstat(raw.fileno()).st_size
            if on_progress:
                watched = _Observed(raw, lambda _: on_progress(raw.tell(), size))
                file = io.BufferedReader(watched, _BLOCK)
            layers = 0
            while unpack := _unpacker(path, file.peek(4)[:4]):
                if layers == _LAYERS:
                    raise JaxkgError(f"{path}: packed more than {_LAYERS} times; unpack it first")
                file = _bounded(path, stack.enter_context(unpack(file)), size)
                layers += 1
            yield file
    except zipfile.BadZipFile as error:
        raise JaxkgError(f"{path}: a damaged zip archive ({error})") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise JaxkgError(f"{path}: damaged or incomplete gzip data ({error})") from error
    except OSError as error:
        raise JaxkgError(f"{path}: cannot be read ({error.strerror or error})") from error


def _unpacker(path: Path, magic: bytes) -> Callable[[IO[bytes]], Any] | None:
    """What unpacks a file that begins so."""
    if magic == _ZSTD:
        with extra(path, "zstd data", "parquet"):
            import pyarrow
        return lambda file: pyarrow.CompressedInputStream(file, "zstd")
    if magic[:2] == b"\x1f\x8b":
        return lambda file: gzip.GzipFile(fileobj=file)
    if magic == _ZIP and len(inside := members(path)) == 1:
        return lambda file: zipfile.ZipFile(file).open(inside[0])
    return None


def members(path: Path) -> list[str]:
    """The files of a zip archive that is called so; none of another file.

    Raises:
        JaxkgError: it is damaged, or encrypted.
    """
    if path.suffix.lower() != ".zip":
        return []
    try:
        with zipfile.ZipFile(path) as archive:
            files = [one for one in archive.infolist() if not one.is_dir()]
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise JaxkgError(f"{path}: no zip archive, or a damaged one ({error})") from error
    if any(one.flag_bits & 1 for one in files):
        raise JaxkgError(f"{path}: an encrypted zip archive; unpack it first")
    return [one.filename for one in files if not one.filename.startswith("__MACOSX/")]


class _Observed(io.RawIOBase):
    """A file that tells how many bytes are read of another."""

    def __init__(self, file: Any, tell: Callable[[int], object]):
        self._file, self._tell = file, tell

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._tell(len(data))
        return len(data)


def _bounded(path: Path, file: Any, size: int) -> io.BufferedReader:
    """What is unpacked of a file, refused where a small file becomes a huge one."""
    total = 0

    def refuse(count: int) -> None:
        nonlocal total
        total += count
        if total > _MOST or total > max(_FREE, _RATIO * size):
            raise JaxkgError(
                f"{path}: {size:,} packed bytes are more than {total:,} unpacked; more than "
                f"{_RATIO} times as many are not read: unpack it first, if it is sound"
            )

    return io.BufferedReader(_Observed(file, refuse), _BLOCK)


def text_chunks(
    path: Path, *, encoding: str = "utf-8", on_progress: Progress | None = None
) -> Iterator[str]:
    """The text of a file in parts; a byte order mark is dropped, one of UTF-16 obeyed. See
    `guessed_encodings`, too.

    Raises:
        JaxkgError: the bytes are not text in `encoding`; says where, and which encoding would do.
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError as error:
        raise JaxkgError(f"no text encoding {encoding!r}; common ones: utf-8, cp1252") from error
    number, read, plain, recoded = 1, 0, encoding == "utf-8", _RECODED.get()

    def decoded(chunk: bytes) -> str:
        nonlocal decoder, plain
        try:
            text = decoder.decode(chunk, final=not chunk)
            plain = plain and text.isascii()
            return text
        except UnicodeDecodeError as error:
            above = error.object[: error.start]
            fits = plain and above.isascii() and not _NOT_1252.search(error.object)
            if fits and recoded is not None and b"\0" not in error.object:
                recoded[path.name], plain = None, False
                decoder = codecs.getincrementaldecoder("cp1252")()
                return decoder.decode(error.object)
            # The decoder may have kept the start of a character from the chunk before.
            offset = read + len(chunk) - len(error.object) + error.start
            mixed = "; but what stands above it reads as utf-8: is it of two encodings?"
            mixed = mixed if any(byte > 127 for byte in above) else ""
            works = "latin-1" if _NOT_1252.search(error.object) else "cp1252"
            raise JaxkgError(
                f"{path}:{number + above.count(10)}: byte {offset} "
                f"(0x{error.object[error.start]:02x}) is not {encoding} text ({error.reason}); the "
                f"encoding is perhaps {works!r}, or whatever the file was written in{mixed}"
            ) from error

    with open_bytes(path, on_progress) as file:
        if encoding == "utf-8" and file.peek(2)[:2] in _MARKED:
            encoding = "utf-16"
            decoder = codecs.getincrementaldecoder(encoding)()
        while chunk := file.read(_BLOCK):
            text = decoded(chunk)
            number += text.count("\n")
            yield text if read else text.removeprefix("\ufeff")
            read += len(chunk)
        yield decoded(b"")


def line_blocks(
    path: Path, *, encoding: str = "utf-8", on_progress: Progress | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The lines of a text file in blocks: (number of the first, lines).

    Lines end at a line feed and come without it (a carriage return before it stays), or at a
    carriage return where the first block has no line feed.

    Raises:
        JaxkgError: as `text_chunks`; or a line is longer than 16 million characters.
    """
    number, rest, held = 1, list[str](), 0
    end = "\n"
    for place, text in enumerate(text_chunks(path, encoding=encoding, on_progress=on_progress)):
        if not place and "\n" not in text and "\r" in text.rstrip("\r"):
            end = "\r"
        first, *others = text.split(end)
        rest.append(first)
        held += len(first)
        if held > LONGEST_LINE:
            raise JaxkgError(
                f"{path}:{number}: a line of more than {LONGEST_LINE:,} characters; is it text, a "
                "line a record?"
            )
        if others:
            lines = ["".join(rest), *others[:-1]]
            yield number, lines
            number += len(lines)
            rest, held = [others[-1]], len(others[-1])
    if held:
        yield number, ["".join(rest)]


def line_at(path: Path, number: int, encoding: str = "utf-8") -> str:
    """One line of a text file, for a message; bytes that are no text become `\\ufffd`."""
    with open_bytes(path) as file:
        line = next(itertools.islice(file, number - 1, None), b"")
    return line.decode(encoding, errors="replace").rstrip("\r\n")
