"""The file that keeps replies: sqlite, one row per request, safe with several processes.

Version 1: table `replies(key, asked, reply, error, stored)`, and `about(name, value)` with what a
replay must know. `key` is the SHA-256 of `asked`, the request as canonical JSON; `reply` is JSON;
`error` is the kind of failure, null for a reply. Write-ahead logging lets readers and a writer work
side by side, and what was stored outlives a killed process.

An archive is such a file under gzip: to be read, never written to; `pack` makes one.

To keep replies is a help and no condition: a file that cannot be read or written, or no longer can,
is told of once, and replies are then not kept. Only a file that is somebody else's is an error.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import sqlite3
import tempfile
import threading
import time
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path

from jaxkg.adjudicate.requests import Reply
from jaxkg.cache import private_folder
from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.storage import writing

_VERSION = 1
_MAGIC = b"SQLite format 3\x00"
_PACKED = b"\x1f\x8b"  # gzip
_LARGEST = 1 << 28
"""Bytes that an archive may unpack to."""
_PATIENCE = 30.0  # seconds to wait for another process's write
_AT_ONCE = 500  # keys of one query; sqlite allows 999
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, asked TEXT NOT NULL, reply TEXT NOT NULL, error TEXT, stored REAL NOT NULL
)
"""
_ABOUT = "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_REPLACE = """
INSERT INTO replies VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
SET reply = excluded.reply, error = excluded.error, stored = excluded.stored
"""
# A reply is never replaced: what was paid first is what every later run reads. A failure is.
_PUT = f"{_REPLACE} WHERE replies.error IS NOT NULL"


class ReplyStore:
    """Replies by request key, in one file. May be used from several threads.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        """Open the file, and make it (and its folder) where it is not there.

        A damaged file is put aside under another name, with a warning.

        Raises:
            JaxkgError: it holds something else, or is another version's; or, `read_only`, it
                cannot be read.
        """
        self.path = Path(path)
        self._read_only = read_only
        self._lock = threading.Lock()
        self._damaged: set[str] = set()  # keys whose rows cannot be read
        self._database: sqlite3.Connection | None = None
        if read_only and not self.path.is_file():
            raise JaxkgError(f"{self.path}: no such file of recorded replies")
        try:
            if not read_only:
                private_folder(self.path.parent)
            self._database = self._opened()
        except (OSError, sqlite3.Error) as error:
            if read_only or _is_foreign(self.path):
                raise JaxkgError(f"{self.path}: cannot open it to save replies: {error}") from error
            self._give_up(error)

    def get(self, keys: Sequence[str]) -> dict[str, Reply]:
        """What is stored under these keys, failures included; `cached` is set.

        A row that is damaged counts as none.
        """
        found: dict[str, Reply] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = list(keys[start : start + _AT_ONCE])
            marks = ",".join("?" * len(some))
            query = f"SELECT key, reply FROM replies WHERE key IN ({marks})"
            for key, row in self._run(query, some):
                reply = _reply(row)
                if reply is None:
                    self._damaged.add(key)
                else:
                    found[key] = dataclasses.replace(reply, cached=True)
        return found

    def put(self, key: str, asked: str, reply: Reply, *, replace: bool = False) -> None:
        """Store a reply; on return it outlives the process.

        Args:
            key, asked: of the request.
            reply: what came.
            replace: also in place of a reply that is there already.
        """
        content = json.dumps(vars(reply))
        query = _REPLACE if replace or key in self._damaged else _PUT
        # Lone surrogates, which sqlite cannot store, are written as escapes.
        text = asked.encode("utf-8", "backslashreplace").decode("utf-8")
        self._run(query, (key, text, content, reply.error, time.time()))
        self._damaged.discard(key)

    def pack(self, path: str | os.PathLike[str]) -> None:
        """Write an archive of all that is stored; the same replies give the same bytes.

        Raises:
            JaxkgError: they are more than an archive may unpack to.
        """
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder, "replies")
            self._run("VACUUM INTO ?", (str(plain),))
            if (size := plain.stat().st_size) > _LARGEST:
                raise JaxkgError(f"{self.path}: {size:,} bytes are too many for an archive")
            with writing(path) as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
                packed.write(plain.read_bytes())

    def note(self, name: str, value: str) -> None:
        """Store something about the run, in place of what was stored under that name."""
        self._run("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def noted(self, name: str) -> str | None:
        """What was stored under a name; None where nothing was."""
        if not self._run(f"{_TABLES} AND name = 'about'", ()):
            return None
        rows = self._run("SELECT value FROM about WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def __len__(self) -> int:
        return sum(count for (count,) in self._run("SELECT count(*) FROM replies", ()))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database is not None:
                self._database.close()

    def _run(self, query: str, values: Sequence[object]) -> list[tuple]:
        """Rows of a query; none once the file has failed."""
        with self._lock:
            if self._database is None:
                return []
            try:
                try:
                    return self._database.execute(query, values).fetchall()
                except sqlite3.DatabaseError as error:
                    if type(error) is not sqlite3.DatabaseError or self._read_only:
                        raise
                    self._database.close()
                    self._database = _made_anew(self.path)
                    return self._database.execute(query, values).fetchall()
            except sqlite3.ProgrammingError as error:
                raise JaxkgError(f"{self.path}: the file of replies is closed") from error
            except (OSError, sqlite3.Error) as error:
                if self._read_only:
                    raise JaxkgError(f"{self.path}: the file of replies fails: {error}") from error
                self._database.close()
                self._give_up(error)
                return []

    def _give_up(self, error: BaseException) -> None:
        self._database = None
        words = f"{self.path}: replies are neither read from it nor kept from here on: {error}"
        warnings.warn(words, stacklevel=1)

    def _opened(self) -> sqlite3.Connection:
        try:
            return _opened(self.path, self._read_only)
        except sqlite3.DatabaseError as error:
            # Its subclasses say that the file is locked, read-only or the disk full.
            damaged = type(error) is sqlite3.DatabaseError and not self._read_only
            if not damaged or _is_foreign(self.path):
                raise
        return _made_anew(self.path)


def _unpacked(path: Path) -> sqlite3.Connection | None:
    """An archive in memory; None of a file that is none."""
    with open(path, "rb") as file:
        if file.read(len(_PACKED)) != _PACKED:
            return None
    try:
        with gzip.open(path) as file:
            content = bytearray(file.read(_LARGEST + 1))
    except (EOFError, OSError, zlib.error) as error:
        raise JaxkgError(f"{path}: a damaged archive of replies: {error}") from error
    if len(content) > _LARGEST or not content.startswith(_MAGIC):
        raise JaxkgError(
            f"{path}: no archive of replies: it unpacks to other content, or to more than "
            f"{_LARGEST:,} bytes"
        )
    content[18:20] = b"\x01\x01"  # no write-ahead log, which nothing in memory has
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    database.deserialize(bytes(content))
    return database


def _opened(path: Path, read_only: bool) -> sqlite3.Connection:
    database = _unpacked(path) if read_only else None
    if not read_only:  # what is asked and replied is its owner's; sqlite would let everyone read
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if database is None:
        address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
        database = sqlite3.connect(
            address, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in database.execute(_TABLES)}
        if version != _VERSION and (version or tables - {"replies", "about"} or read_only):
            raise JaxkgError(
                f"{path}: not a file of recorded replies that this jaxkg reads (format {version}, "
                f"wanted {_VERSION}): name another file"
            )
        if not read_only:
            _set_up(database)
    except BaseException:
        database.close()
        raise
    return database


def _made_anew(path: Path) -> sqlite3.Connection:
    """A new file in place of a damaged one, with the rows that could be read."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    for end in ("-wal", "-shm"):
        if (beside := Path(f"{path}{end}")).exists():
            beside.rename(f"{aside}{end}")
    path.rename(aside)
    database, rescued = _opened(path, False), 0
    old = sqlite3.connect(f"{aside.absolute().as_uri()}?mode=ro", uri=True)
    try:
        for row in old.execute("SELECT key, asked, reply, error, stored FROM replies"):
            database.execute(_PUT, row)
            rescued += 1
    except sqlite3.Error as error:
        warnings.warn(
            f"{path}: the file of replies was damaged ({error}) and is now {aside.name}; "
            f"a new one holds the {rescued} replies that could be read",
            stacklevel=1,
        )
    finally:
        old.close()
    return database


def _set_up(database: sqlite3.Connection) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            # Changing the journal is refused at once while another process opens the file too.
            database.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if time.monotonic() > deadline or "locked" not in str(error):
                raise
            time.sleep(0.01)
    # In this mode a commit survives the end of the process; a power cut may cost the last ones.
    database.execute("PRAGMA synchronous = NORMAL")
    # Copying the log into the file waits for the disk: every 40 MB rather than every 4.
    database.execute("PRAGMA wal_autocheckpoint = 10000")
    database.execute(_TABLE)
    database.execute(_ABOUT)
    database.execute(f"PRAGMA user_version = {_VERSION}")


def _reply(row: object) -> Reply | None:
    """A stored reply; None where the row is damaged."""
    try:
        reply = Reply(**read_json(str(row), strict=False))
    except (JaxkgError, TypeError):
        return None
    texts = (reply.text, reply.detail, reply.finish)
    numbers = (reply.prompt_tokens, reply.completion_tokens, reply.seconds, reply.attempts)
    sound = all(isinstance(text, str) for text in texts)
    sound &= all(isinstance(number, int | float) and number >= 0 for number in numbers)
    sound &= reply.error is None or isinstance(reply.error, str)
    try:
        told = tuple((str(token), float(value)) for token, value in reply.alternatives)
    except (TypeError, ValueError):
        return None
    reply = dataclasses.replace(reply, alternatives=told)
    for number in (reply.price, reply.likelihood):
        sound &= number is None or isinstance(number, int | float)
    return reply if sound else None


def _is_foreign(path: Path) -> bool:
    """True for a file that was never of ours."""
    try:
        with open(path, "rb") as file:
            start = file.read(len(_MAGIC))
    except OSError:
        return path.is_dir()
    return bool(start) and start != _MAGIC
