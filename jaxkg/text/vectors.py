"""Vectors kept on disk: a text is encoded once for each model and revision."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.text.encoder import TextEncoder

_FORMAT = "jaxkg-vectors-1"
_KEPT_AT_A_TIME = 4096
"""Texts encoded between two writes: what a crash can cost at most."""


class CachedEncoder:
    """An encoder that remembers what it has encoded.

    The file says which model, revision and dimension its vectors are of, and takes no others:
    vectors of two models look alike and mean nothing to each other.

    Attributes:
        encoder: asked for what the file lacks.
        path: of the file, an SQLite database.
        name, revision, dimension: the encoder's.

    Example:
        >>> from jaxkg.text import HashingEncoder
        >>> encode = CachedEncoder(HashingEncoder(), "labels.vectors")  # doctest: +SKIP
    """

    def __init__(self, encoder: TextEncoder, path: str | os.PathLike[str]) -> None:
        """Open a file, or make one.

        Raises:
            JaxkgError: the file holds vectors of another encoder, or is no such file.
        """
        self.encoder = encoder
        self.path = Path(path)
        self.name, self.revision = encoder.name, encoder.revision
        self.dimension = encoder.dimension
        self.path.parent.mkdir(parents=True, exist_ok=True)
        mine = {
            "format": _FORMAT,
            "model": self.name,
            "revision": self.revision,
            "dimension": str(self.dimension),
        }
        with self._connection() as db:
            db.execute("CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT)")
            db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
            db.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", mine.items())
            kept = dict(db.execute("SELECT key, value FROM about"))
        if kept != mine:
            raise JaxkgError(
                f"{self.path} holds vectors of {_told(kept)}, the encoder is {_told(mine)}; "
                "give another file, or delete this one to encode anew"
            )

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts, those in the file without the encoder.

        Returns:
            [Q, D] float32.

        Raises:
            JaxkgError: the file is damaged, or the encoder fails.
        """
        distinct = list(dict.fromkeys(texts))
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in distinct]
        vectors = np.zeros((len(distinct), self.dimension), np.float32)
        missing = []
        with self._connection() as db:
            for place, key in enumerate(keys):
                row = db.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is None:
                    missing.append(place)
                    continue
                vector = np.frombuffer(row[0], "<f4")
                if len(vector) != self.dimension:
                    raise JaxkgError(f"{self.path} is damaged: delete it to encode anew")
                vectors[place] = vector
        for first in range(0, len(missing), _KEPT_AT_A_TIME):
            some = missing[first : first + _KEPT_AT_A_TIME]
            vectors[some] = self.encoder([distinct[place] for place in some])
            with self._connection() as db:
                db.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    ((keys[place], vectors[place].astype("<f4").tobytes()) for place in some),
                )
        place_of = {text: place for place, text in enumerate(distinct)}
        return vectors[np.fromiter((place_of[text] for text in texts), np.intp, len(texts))]

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction, closed again: nothing is held between calls."""
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=60)) as db, db:
                yield db
        except sqlite3.Error as error:
            raise JaxkgError(f"{self.path} is no file of vectors: {error}") from error


def _told(about: dict[str, str]) -> str:
    return (
        f"{about.get('model', '?')} revision {about.get('revision', '?')} "
        f"({about.get('dimension', '?')} numbers)"
    )
