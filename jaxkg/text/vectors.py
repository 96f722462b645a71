"""Vectors kept on disk: a text is encoded once for each model and revision."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from jaxkg.cache import nothing_kept, private_folder
from jaxkg.errors import JaxkgError
from jaxkg.text.encoder import Change, TextEncoder, encoder_changed

_FORMAT = "jaxkg-vectors-2"  # since 2, a vector is followed by its CRC-32
_KEPT_AT_A_TIME = 4096
"""Texts encoded between two writes: what a crash can cost at most."""


class VectorFileError(JaxkgError):
    """The file of vectors cannot be used, whatever the encoder can do."""


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
            VectorFileError: it holds vectors of another encoder, is no such file, or cannot be
                made.
        """
        self.encoder = encoder
        self.path = Path(path)
        self.name, self.revision = encoder.name, encoder.revision
        self.dimension = encoder.dimension
        try:
            private_folder(self.path.parent)
        except OSError as error:
            raise VectorFileError(f"{self.path}: cannot be made ({error.strerror})") from error
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
            stored = dict(db.execute("SELECT key, value FROM about"))
        if stored != mine:
            raise VectorFileError(
                f"{self.path} holds vectors of {_told(stored)}, the encoder is {_told(mine)}; "
                "give another file, or delete this one to encode anew"
            )

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts, those in the file without the encoder.

        Returns:
            [Q, D] float32.

        Raises:
            VectorFileError: the file is damaged.
            JaxkgError: the encoder fails.
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
                vector, crc = row[0][:-4], row[0][-4:]
                if len(vector) != 4 * self.dimension or crc != _crc(vector):
                    raise VectorFileError(f"{self.path} is damaged: delete it to encode anew")
                vectors[place] = np.frombuffer(vector, "<f4")
        for first in range(0, len(missing), _KEPT_AT_A_TIME):
            batch = missing[first : first + _KEPT_AT_A_TIME]
            vectors[batch] = self.encoder([distinct[place] for place in batch])
            rows = [(place, vectors[place].astype("<f4").tobytes()) for place in batch]
            with self._connection() as db:
                db.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    ((keys[place], stored + _crc(stored)) for place, stored in rows),
                )
        place_of = {text: place for place, text in enumerate(distinct)}
        return vectors[np.fromiter((place_of[text] for text in texts), np.intp, len(texts))]

    def changed(self, change: Change) -> TextEncoder | None:
        """The encoder with low-rank changes, its vectors in a file beside; None where it takes
        none."""
        encoder = encoder_changed(self.encoder, change)
        return encoder and CachedEncoder(encoder, file_of_vectors(self.path.parent, encoder))

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction, closed again: nothing is held between calls."""
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=60)) as db, db:
                yield db
        except sqlite3.Error as error:
            raise VectorFileError(f"{self.path} is no file of vectors: {error}") from error


def _crc(stored: bytes) -> bytes:
    return zlib.crc32(stored).to_bytes(4, "little")


def _told(about: dict[str, str]) -> str:
    return (
        f"{about.get('model', '?')} revision {about.get('revision', '?')} "
        f"({about.get('dimension', '?')} numbers)"
    )


def file_of_vectors(folder: Path, encoder: TextEncoder) -> Path:
    """Where the vectors of an encoder are kept in a folder."""
    digest = hashlib.sha256(f"{encoder.name} {encoder.revision}".encode()).hexdigest()
    return folder / f"{digest[:16]}.sqlite"


class KeptVectors:
    """An encoder whose vectors stay in the user's cache as long as that works.

    A damaged file is thrown away and made anew; where none can be written, texts are encoded every
    time and a `CacheWarning` says so.

    Attributes:
        encoder: what encodes.
        path: of the file; None where nothing is kept.
    """

    def __init__(self, encoder: TextEncoder, path: Path) -> None:
        self.encoder = encoder
        self.path: Path | None = path
        self.name, self.revision = encoder.name, encoder.revision
        self.dimension = encoder.dimension
        self._kept: CachedEncoder | None = None

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts; [Q, D] float32."""
        for _ in range(2):
            if self.path is None:
                break
            try:
                self._kept = self._kept or CachedEncoder(self.encoder, self.path)
                return self._kept(texts)
            except VectorFileError as error:
                self._kept = None
                try:
                    self.path.unlink(missing_ok=True)
                except OSError:
                    nothing_kept(error)
                    break
        self.path = None
        return self.encoder(texts)

    def changed(self, change: Change) -> TextEncoder | None:
        """The encoder with low-rank changes, its vectors kept beside; None where it takes none."""
        encoder = encoder_changed(self.encoder, change)
        if encoder is None or self.path is None:
            return encoder
        return KeptVectors(encoder, file_of_vectors(self.path.parent, encoder))
