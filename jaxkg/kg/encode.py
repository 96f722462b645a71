"""Columns of strings to a sorted table of integers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxkg.errors import JaxkgError


class EncodedTriples(NamedTuple):
    """What `TripleEncoder.finish` returns."""

    entities: list[str]
    """Entity ids in code point order."""
    relations: list[str]
    """Relation names in code point order."""
    triples: np.ndarray
    """[T, 3] int32, (head, relation, tail), unique and sorted."""
    sources: list[str] | None
    """Where each triple was read; distinct sources of a repeated triple are joined by "; "."""
    duplicates: int
    """Repetitions that were merged."""


class TripleEncoder:
    """Takes triples in batches, keeps integers, and numbers them at the end.

    Only the distinct names stay in memory as strings.

    Example:
        >>> encoder = TripleEncoder()
        >>> encoder.add(["b", "a", "b"], ["r", "r", "r"], ["c", "b", "c"])
        >>> table = encoder.finish()
        >>> table.entities, table.triples.tolist(), table.duplicates
        (['a', 'b', 'c'], [[0, 0, 1], [1, 0, 2]], 1)
    """

    def __init__(self) -> None:
        self._entities: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._chunks: list[np.ndarray] = [np.empty((0, 3), np.int32)]
        self._sources: list[str] = []
        self._rows = 0

    def __len__(self) -> int:
        """Triples taken so far, repetitions included."""
        return self._rows

    @property
    def entities(self) -> Iterable[str]:
        """Entity ids taken so far."""
        return self._entities.keys()

    @property
    def relations(self) -> Iterable[str]:
        """Relation names taken so far."""
        return self._relations.keys()

    def rename_relations(self, names: Mapping[str, str]) -> None:
        """Give every relation another name; `names` must keep different relations different."""
        self._relations = {names[name]: code for name, code in self._relations.items()}

    def merge(self, same: Mapping[str, str]) -> None:
        """Take entities for others: what was read as a key is what was read as its value."""
        kept: dict[str, int] = {}
        codes = np.empty(len(self._entities), np.int32)
        for name, code in self._entities.items():
            codes[code] = kept.setdefault(same.get(name, name), len(kept))
        self._entities = kept
        for chunk in self._chunks:
            chunk[:, ::2] = codes[chunk[:, ::2]]

    def leave_out(self, heads: Collection[str]) -> int:
        """Forget the triples of these heads, and what only these have; returns how many."""
        codes = [self._entities[name] for name in heads if name in self._entities]
        table = np.concatenate(self._chunks)
        stays = ~np.isin(table[:, 0], codes)
        self._only_sources(np.flatnonzero(stays))
        self._only_used(table[stays])
        self._only_related()
        return len(stays) - self._rows

    def tails(self, first: int = 0, last: int | None = None) -> Iterator[tuple[str, list[str]]]:
        """Each relation taken so far with the distinct tails that it has.

        Args:
            first, last: only in the triples from `first` up to `last`, as they were taken.
        """
        table = np.concatenate(self._chunks)[first:last]
        names, pairs = list(self._entities), np.unique(_pairs(table))
        codes, ends = pairs >> 32, pairs & 0xFFFFFFFF
        for relation, code in self._relations.items():
            start, end = np.searchsorted(codes, [code, code + 1])
            if start < end:
                yield relation, [names[tail] for tail in ends[start:end].tolist()]

    @property
    def heads(self) -> set[str]:
        """What triples taken so far are of."""
        names = list(self._entities)
        return {names[code] for code in np.unique(np.concatenate(self._chunks)[:, 0]).tolist()}

    def pairs(self, relation: str) -> list[tuple[str, str]]:
        """Head and tail of each fact of a relation."""
        table, names = np.concatenate(self._chunks), list(self._entities)
        rows = table[table[:, 1] == self._relations[relation]]
        return [(names[head], names[tail]) for head, _, tail in rows.tolist()]

    def said(self, first: int, last: int) -> dict[str, dict[str, set[str]]]:
        """What is said in the triples from `first` up to `last`, as they were taken: tails by
        relation and head."""
        entities, relations = list(self._entities), list(self._relations)
        relations_said: dict[str, dict[str, set[str]]] = {}
        for head, relation, tail in np.concatenate(self._chunks)[first:last].tolist():
            of = relations_said.setdefault(relations[relation], {})
            of.setdefault(entities[head], set()).add(entities[tail])
        return relations_said

    def rename_within(self, names: Mapping[str, str], first: int, last: int) -> None:
        """Give relations other names in the triples from `first` up to `last` alone."""
        table = np.concatenate(self._chunks)
        codes = _codes(list(names.values()), self._relations)
        moved = np.arange(len(self._relations), dtype=np.int32)
        moved[[self._relations[name] for name in names]] = codes
        table[first:last, 1] = moved[table[first:last, 1]]
        self._chunks = [table]
        self._only_related()

    def split(
        self,
        parts: Mapping[tuple[str, str], Sequence[str]],
        first: int = 0,
        last: int | None = None,
    ) -> None:
        """Take (relation, tail) for several tails each, or none, in the places of the one.

        Args:
            first, last: only in the triples from `first` up to `last`, as they were taken.
        """
        table = np.concatenate(self._chunks)
        keys = np.array([
            self._relations[relation] << 32 | self._entities[tail] for relation, tail in parts
        ])  # fmt: skip
        order = np.argsort(keys)
        ends = _codes([end for some in parts.values() for end in some], self._entities)
        sizes = np.array([len(some) for some in parts.values()])
        firsts = np.cumsum(sizes) - sizes
        own = _pairs(table)
        place = order[np.minimum(np.searchsorted(keys[order], own), len(keys) - 1)]
        parted = keys[place] == own
        parted[:first] = False
        parted[len(parted) if last is None else last :] = False
        counts = np.where(parted, sizes[place], 1)
        rows = np.repeat(np.arange(len(table)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.minimum(firsts[place[rows]] + within, len(ends) - 1)
        ends = ends if len(ends) else np.zeros(1, np.int32)  # nothing is taken from it
        tails = np.where(parted[rows], ends[np.maximum(at, 0)], table[rows, 2])
        table = np.stack([table[rows, 0], table[rows, 1], tails], axis=1).astype(np.int32)
        self._only_sources(rows)
        self._only_used(table)

    def ends(self, first: int = 0, last: int | None = None) -> set[str]:
        """The heads and tails of the triples from `first` up to `last`, as they were taken."""
        names = list(self._entities)
        codes = np.unique(np.concatenate(self._chunks)[first:last, ::2])
        return {names[code] for code in codes.tolist()}

    def rename_ends(
        self, names: Mapping[str, str], first: int = 0, last: int | None = None
    ) -> None:
        """Take entities for others in the triples from `first` up to `last` alone; see `merge`."""
        table = np.concatenate(self._chunks)
        codes = _codes(list(names.values()), self._entities)
        moved = np.arange(len(self._entities), dtype=np.int32)
        moved[[self._entities[name] for name in names]] = codes
        table[first:last, ::2] = moved[table[first:last, ::2]]
        self._only_used(table)

    def _only_used(self, table: np.ndarray) -> None:
        """Keep these triples and the entities that they have."""
        left, rank = used(table[:, ::2].ravel(), len(self._entities))
        names = list(self._entities)
        self._entities = {names[code]: row for row, code in enumerate(left.tolist())}
        table[:, ::2] = rank[table[:, ::2]]
        self._chunks, self._rows = [table], len(table)

    def _only_sources(self, rows: np.ndarray) -> None:
        """Take the sources of these rows, in their order, where there are any."""
        if self._sources:
            self._sources += [""] * (self._rows - len(self._sources))
            self._sources = [self._sources[row] for row in rows.tolist()]

    def _only_related(self) -> None:
        """Keep the relations that triples have."""
        table = np.concatenate(self._chunks)
        left, rank = used(table[:, 1], len(self._relations))
        names = list(self._relations)
        self._relations = {names[code]: row for row, code in enumerate(left.tolist())}
        table[:, 1] = rank[table[:, 1]]
        self._chunks = [table]

    def add(
        self,
        heads: Sequence[str],
        relations: Sequence[str],
        tails: Sequence[str],
        sources: Sequence[str] | None = None,
    ) -> None:
        """Take a batch of triples, one per position of the columns."""
        table = np.empty((len(heads), 3), np.int32)
        table[:, 0] = _codes(heads, self._entities)
        table[:, 1] = _codes(relations, self._relations)
        table[:, 2] = _codes(tails, self._entities)
        self._take(table, sources)

    def add_arrow(self, columns: Sequence[Any]) -> bool:
        """Take a batch of Arrow columns as they are; False where each row has to be looked at."""
        return False

    def add_triples(
        self, triples: Iterable[Sequence[str]], sources: Iterable[str | None] | None = None
    ) -> None:
        """Take (head, relation, tail) rows as a caller gives them.

        Raises:
            JaxkgError: a row is not three non-blank strings, or there are more or fewer sources
                than rows.
        """
        rows = list(checked(triples))
        told = None
        if sources is not None:
            told = [source or "" for source in sources]
            if len(told) != len(rows):
                raise JaxkgError(f"{len(told)} provenance entries for {len(rows)} triples")
        if rows:
            self.add(*zip(*rows), sources=told)

    def add_table(
        self,
        entities: Sequence[str],
        relations: Sequence[str],
        triples: np.ndarray,
        sources: Sequence[str] | None = None,
    ) -> None:
        """Take triples that are integers already: `triples` [T, 3] indexes the two lists."""
        entity = _codes(entities, self._entities)
        relation = _codes(relations, self._relations)
        head, code, tail = np.asarray(triples).T
        self._take(np.stack([entity[head], relation[code], entity[tail]], axis=1), sources)

    def _take(self, table: np.ndarray, sources: Sequence[str] | None) -> None:
        if sources is not None:
            # Batches before this one came without sources: theirs are blank.
            self._sources += [""] * (self._rows - len(self._sources))
            self._sources += sources
        self._rows += len(table)
        self._chunks.append(table)

    def finish(self) -> EncodedTriples:
        """Number the names in code point order, sort the triples, merge repetitions."""
        refuse_inverses(self._relations)
        entities, entity_rank = _ranked(self._entities)
        relations, relation_rank = _ranked(self._relations)
        table = np.concatenate(self._chunks)
        table[:, 0] = entity_rank[table[:, 0]]
        table[:, 1] = relation_rank[table[:, 1]]
        table[:, 2] = entity_rank[table[:, 2]]
        # lexsort is stable: of equal triples the one read first stays first.
        order = np.lexsort((table[:, 2], table[:, 1], table[:, 0]))
        table = table[order]
        first = np.ones(len(table), bool)
        first[1:] = np.any(table[1:] != table[:-1], axis=1)
        starts = np.flatnonzero(first)
        sources = self._merged_sources(order, starts) if self._sources else None
        triples = np.ascontiguousarray(table[starts])
        return EncodedTriples(entities, relations, triples, sources, len(table) - len(triples))

    def _merged_sources(self, order: np.ndarray, starts: np.ndarray) -> list[str]:
        self._sources += [""] * (self._rows - len(self._sources))
        rows = order.tolist()
        merged = [self._sources[rows[start]] for start in starts.tolist()]
        ends = np.append(starts[1:], len(order))
        for group in np.flatnonzero(ends - starts > 1).tolist():
            said = (self._sources[row] for row in rows[starts[group] : ends[group]])
            merged[group] = "; ".join(dict.fromkeys(source for source in said if source))
        return merged


def refuse_inverses(relations: Iterable[str]) -> None:
    """Refuse relation names that would read as inverses.

    Raises:
        JaxkgError: a name starts with `^`.
    """
    for name in relations:
        if name.startswith("^"):
            raise JaxkgError(
                f"the relation {name!r} starts with '^', which marks the inverse of a relation; "
                "rename it"
            )


def checked(triples: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Pass rows through that are three non-blank strings.

    Raises:
        JaxkgError: at the first row that is not.
    """
    for number, triple in enumerate(triples, start=1):
        if (
            isinstance(triple, str)
            or len(triple) != 3
            or not all(isinstance(part, str) and part.strip() for part in triple)
        ):
            raise JaxkgError(
                f"triple {number} is {triple!r}; expected three non-blank strings "
                "(head, relation, tail)"
            )
        yield triple


def used(indices: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct indices, ascending, and each one's int32 rank among them ([size])."""
    mask = np.zeros(size, bool)
    mask[indices] = True
    return np.flatnonzero(mask), np.cumsum(mask, dtype=np.int32) - np.int32(1)


def _pairs(table: np.ndarray) -> np.ndarray:
    """[T] int64: relation and tail of each triple as one number, the relation above."""
    return table[:, 1].astype(np.int64) << 32 | table[:, 2]


def _codes(names: Sequence[str], index: dict[str, int]) -> np.ndarray:
    for name in dict.fromkeys(names):
        index.setdefault(name, len(index))
    return np.fromiter(map(index.__getitem__, names), np.int32, len(names))


def _ranked(index: dict[str, int]) -> tuple[list[str], np.ndarray]:
    names = sorted(index)
    rank = np.empty(len(names), np.int32)
    rank[np.fromiter(map(index.__getitem__, names), np.int64, len(names))] = np.arange(len(names))
    return names, rank
