"""Long lists of names as two flat arrays, so that millions of them open in no time.

A Python list of ten million strings costs gigabytes and seconds to load; here the UTF-8 bytes and
the offsets stay on disk (memory-mapped) and a name is decoded when it is read.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, overload

import numpy as np

from jaxkg.errors import JaxkgError

_PART = 1 << 22


class NameTable(Sequence[str]):
    """An immutable sequence of strings over a UTF-8 blob.

    Example:
        >>> table = NameTable.from_names(["Kismet", "Amélie", "Kismet"])
        >>> table[1], table.rows("Kismet"), "Alien" in table
        ('Amélie', (0, 2), False)

    Attributes:
        blob: [bytes] uint8, all names end to end.
        offsets: [n + 1] int64, where each name starts in `blob`.
        ascending: True where the names are unique and in code point order; look-ups then bisect
            and need no index.
    """

    def __init__(self, blob: np.ndarray, offsets: np.ndarray, *, ascending: bool = False):
        if blob.dtype != np.uint8 or offsets.dtype != np.int64 or len(offsets) < 1:
            raise JaxkgError(
                f"a name table needs uint8 bytes and int64 offsets, got {blob.dtype} and "
                f"{offsets.dtype} (length {len(offsets)})"
            )
        if offsets[0] != 0 or offsets[-1] != len(blob):
            raise JaxkgError(
                f"name table offsets run from {offsets[0]} to {offsets[-1]}, "
                f"but there are {len(blob)} bytes"
            )
        self.blob = blob
        self.offsets = offsets
        self.ascending = ascending
        blob.setflags(write=False)
        offsets.setflags(write=False)

    @classmethod
    def from_names(cls, names: Iterable[str], *, ascending: bool = False) -> Self:
        """Pack strings.

        Raises:
            JaxkgError: a string holds a lone surrogate, which no UTF-8 file can.
        """
        names = list(names)
        try:
            encoded = list(map(str.encode, names))
        except UnicodeEncodeError as error:
            raise JaxkgError(
                f"the name {error.object!r} holds a lone surrogate at character {error.start}; "
                "names must be valid Unicode"
            ) from error
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        blob = np.frombuffer(b"".join(encoded), np.uint8)
        return cls(blob, offsets, ascending=ascending)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._decode(row) for row in range(*index.indices(len(self)))]
        row, count = int(index), len(self.offsets) - 1
        if row < 0:
            row += count
        if not 0 <= row < count:
            raise IndexError(f"row {index} of a table of {count} names")
        return self._decode(row)

    def _decode(self, row: int) -> str:
        letters, starts = self._views
        try:
            return str(letters[starts[row] : starts[row + 1]], "utf-8")
        except UnicodeDecodeError as error:
            raise JaxkgError(f"the name in row {row} is damaged: {error}; save it again") from error

    @functools.cached_property
    def _views(self) -> tuple[memoryview, memoryview]:
        # Read in a quarter of the time that slices of arrays take.
        return self.blob.data, self.offsets.data

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.rows(name))

    def __repr__(self) -> str:
        return f"NameTable({len(self):,} names)"

    def tolist(self) -> list[str]:
        """All names, decoded in one pass.

        Raises:
            JaxkgError: the table is of a damaged file.
        """
        try:
            text = self.blob.tobytes().decode()
        except UnicodeDecodeError as error:
            raise JaxkgError(f"a name is damaged: {error}; save it again") from error
        offsets = self.offsets
        if len(text) != len(self.blob):
            # A character starts at every byte that is not a UTF-8 continuation byte.
            starts = np.zeros(len(self.blob) + 1, np.int64)
            np.cumsum((self.blob & 0xC0) != 0x80, out=starts[1:])
            offsets = starts[offsets]
        bounds = offsets.tolist()
        return [text[a:b] for a, b in itertools.pairwise(bounds)]

    def rows(self, name: str) -> tuple[int, ...]:
        """Every row that holds `name`, ascending; empty where none does."""
        if not self.ascending:
            return tuple(self._index.get(name, ()))
        # UTF-8 sorts as its characters do.
        wanted, (letters, starts) = name.encode("utf-8", "surrogatepass"), self._views
        low = bisect.bisect_left(
            range(len(self)), wanted, key=lambda row: bytes(letters[starts[row] : starts[row + 1]])
        )
        return (low,) if low < len(self) and self._decode(low) == name else ()

    @functools.cached_property
    def _index(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for row, name in enumerate(self.tolist()):
            index.setdefault(name, []).append(row)
        return index

    @functools.cached_property
    def shared(self) -> np.ndarray:
        """[n] bool, the names that another row bears too."""
        if self.ascending:
            return np.zeros(len(self), bool)
        hashes = np.fromiter(map(hash, self.tolist()), np.int64, len(self))
        _, name, count = np.unique(hashes, return_inverse=True, return_counts=True)
        return count[name] > 1

    def take(self, rows: np.ndarray) -> NameTable:
        """The names of `rows` ([n] integers), in that order, as a table of its own.

        Raises:
            JaxkgError: the table is of a damaged file.
        """
        rows = np.asarray(rows, np.int64)
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        if ((starts < 0) | (ends < starts) | (ends > len(self.blob))).any():
            raise JaxkgError("where names begin is damaged; save it again")
        lengths = ends - starts
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        source = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        ascending = self.ascending and bool(np.all(np.diff(rows) > 0))
        return NameTable(np.asarray(self.blob)[source], offsets, ascending=ascending)


class AliasTable(Mapping[int, tuple[str, ...]]):
    """Other names of entities: a read-only mapping from entity index to names.

    Attributes:
        owners: [aliases] int32, the entity of each alias, ascending.
        names: the aliases, row for row.
    """

    def __init__(self, owners: np.ndarray, names: NameTable):
        if owners.dtype != np.int32 or len(owners) != len(names):
            raise JaxkgError(
                f"an alias table needs one int32 owner per name, got {len(owners)} "
                f"{owners.dtype} owners for {len(names)} names"
            )
        self.owners = owners
        self.names = names
        owners.setflags(write=False)

    @classmethod
    def from_mapping(cls, aliases: Mapping[int, Iterable[str]]) -> Self:
        """Pack a dictionary; repeated aliases of one entity are kept once."""
        pairs = [
            (entity, name) for entity in sorted(aliases) for name in dict.fromkeys(aliases[entity])
        ]
        owners = np.fromiter((entity for entity, _ in pairs), np.int32, len(pairs))
        return cls(owners, NameTable.from_names(name for _, name in pairs))

    def take(self, rows: np.ndarray, rank: np.ndarray) -> AliasTable:
        """The aliases of `rows` ([n] ascending), each owner numbered anew by `rank[owner]`."""
        owned = np.flatnonzero(np.isin(self.owners, rows))
        return AliasTable(rank[self.owners[owned]], self.names.take(owned))

    def __getitem__(self, entity: int) -> tuple[str, ...]:
        low, high = np.searchsorted(self.owners, np.array([entity, entity + 1], np.int32))
        if low == high:
            raise KeyError(entity)
        return tuple(self.names[low:high])

    def __iter__(self) -> Iterator[int]:
        return iter(np.unique(self.owners).tolist())

    def __len__(self) -> int:
        return len(np.unique(self.owners))

    def __repr__(self) -> str:
        return f"AliasTable({len(self.names):,} aliases of {len(self):,} entities)"


class NameCollector:
    """Gathers names of entities while a file is read.

    The first label of an id is its display name; further ones, and aliases, are its other names.

    Attributes:
        display: display name by id.
        aliases: other names by id, as first seen.
        relations: names by relation, the one to show first.
    """

    def __init__(self) -> None:
        self.display: dict[str, str] = {}
        self.aliases: dict[str, dict[str, None]] = {}
        self.relations: dict[str, list[str]] = {}

    def label(self, entity: str, name: str) -> None:
        """Take a display name."""
        if self.display.setdefault(entity, name) != name:
            self.alias(entity, name)

    def alias(self, entity: str, name: str) -> None:
        """Take another name."""
        self.aliases.setdefault(entity, {})[name] = None


def nearest(wanted: str, names: Iterable[str]) -> str:
    """The end of an error message: `; nearest: 'a', 'b'`, or nothing where none is near."""
    from rapidfuzz import fuzz, process

    close = process.extract(wanted, names, scorer=fuzz.ratio, limit=3, score_cutoff=60)
    return f"; nearest: {', '.join(repr(name) for name, _, _ in close)}" if close else ""


def checked_names(what: str, also: Iterable[str]) -> list[str]:
    """The names as a list.

    Raises:
        JaxkgError: they are not a list of non-blank names; `what` says of what.
    """
    listed = [] if isinstance(also, str) else list(also)
    if isinstance(also, str) or not all(isinstance(name, str) and name.strip() for name in listed):
        raise JaxkgError(f"{what} must be a list of non-blank names, got {also!r}")
    return listed


def digest_array(digest: Any, array: np.ndarray, kind: str) -> None:
    """Take an array's bytes, a part at a time: it may be mapped, and larger than memory."""
    for start in range(0, len(array), _PART):
        digest.update(array[start : start + _PART].astype(kind).tobytes())
