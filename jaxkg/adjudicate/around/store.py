"""The file that keeps replies: sqlite, one row per request, safe with several processes.

Version 1: table `replies(key, asked, reply, error, stored)`. `key` is the SHA-256 of `asked`, the
request as canonical JSON; `reply` is JSON; `error` is the kind of failure, null for a reply.
Write-ahead logging lets readers and a writer work side by side, and what was stored outlives a
killed process.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from jaxkg.adjudicate.requests import Reply
from jaxkg.errors import JaxkgError

_VERSION = 1
_PATIENCE = 30.0  # seconds to wait for another process's write
_AT_ONCE = 500  # keys of one query; sqlite allows 999
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, asked TEXT NOT NULL, reply TEXT NOT NULL, error TEXT, stored REAL NOT NULL
)
"""
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
# A reply is never replaced: what was paid first is what every later run reads. A failure is.
_PUT = """
INSERT INTO replies VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
SET reply = excluded.reply, error = excluded.error, stored = excluded.stored
WHERE replies.error IS NOT NULL
"""


class ReplyStore:
    """Replies by request key, in one file. May be used from several threads."""

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        """Open the file, and make it (and its folder) where it is not there.

        Raises:
            JaxkgError: it cannot be opened, holds something else, or is another version's.
        """
        self.path = Path(path)
        if read_only and not self.path.is_file():
            raise JaxkgError(f"{self.path}: no such file of recorded replies")
        try:
            if not read_only:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = _opened(self.path, read_only)
        except (OSError, sqlite3.Error) as error:
            raise JaxkgError(f"{self.path}: cannot open it to keep replies: {error}") from error
        self._lock = threading.Lock()

    def get(self, keys: Sequence[str]) -> dict[str, Reply]:
        """What is stored under these keys, failures included; `cached` is set."""
        found: dict[str, Reply] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = list(keys[start : start + _AT_ONCE])
            marks = ",".join("?" * len(some))
            with self._use() as database:
                rows = database.execute(
                    f"SELECT key, reply FROM replies WHERE key IN ({marks})", some
                ).fetchall()
            for key, reply in rows:
                found[key] = dataclasses.replace(Reply(**json.loads(reply)), cached=True)
        return found

    def put(self, key: str, asked: str, reply: Reply) -> None:
        """Store a reply; on return it outlives the process."""
        content = json.dumps(vars(reply))
        with self._use() as database:
            database.execute(_PUT, (key, _text(asked), content, reply.error, time.time()))

    def __len__(self) -> int:
        with self._use() as database:
            return database.execute("SELECT count(*) FROM replies").fetchone()[0]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._database
        except sqlite3.Error as error:
            raise JaxkgError(f"{self.path}: the file of replies fails: {error}") from error


def _opened(path: Path, read_only: bool) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    database = sqlite3.connect(
        address, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in database.execute(_TABLES)}
        if version != _VERSION and (version or tables - {"replies"} or read_only):
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


def _set_up(database: sqlite3.Connection) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            # Changing the journal is refused at once while another process opens the file too.
            database.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    # In this mode a commit survives the end of the process; a power cut may cost the last ones.
    database.execute("PRAGMA synchronous = NORMAL")
    # Copying the log into the file waits for the disk: every 40 MB rather than every 4.
    database.execute("PRAGMA wal_autocheckpoint = 10000")
    database.execute(_TABLE)
    database.execute(f"PRAGMA user_version = {_VERSION}")


def _text(asked: str) -> str:
    """Lone surrogates, which sqlite cannot store, written as escapes."""
    return asked.encode("utf-8", "backslashreplace").decode("utf-8")
