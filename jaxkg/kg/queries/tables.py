"""Tables: rows of things or of groups, with what columns tell of them, exactly."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from jaxkg.kg.neighbourhood import spread
from jaxkg.kg.queries.calculations import added, told_total
from jaxkg.kg.queries.literals import as_number
from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE, compares
from jaxkg.query import Column, Having, Rows

Reach = Callable[[np.ndarray, tuple[str, ...]], tuple[np.ndarray, np.ndarray]]
"""[n] entities, a path → of every end the place [P] in them, ascending, and the end [P]."""

_TOLD = 50
"""Things that a cell tells by name."""


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    """What a column tells of one row.

    Attributes:
        ends: [K] int32 entities, ascending: what it lists, or what has the least or largest value.
        number: of a count, a sum or a mean; None where there is none.
        unit: text of the number's unit.
    """

    ends: np.ndarray
    number: int | Decimal | None = None
    unit: str = ""

    def words(self, values: Values) -> str:
        """As it is shown; names that are too many are counted.

        >>> from jaxkg.kg import KnowledgeGraph
        >>> kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott")])
        >>> Cell(np.array([0, 1])).words(Values(kg)), Cell(np.zeros(0, int), 3).words(Values(kg))
        ('Alien; Scott', '3')
        """
        if self.number is not None:
            return told_total(self.number, self.unit)
        names = [values.kg.name(row) for row in self.ends[:_TOLD].tolist()]
        more = len(self.ends) - len(names)
        return "; ".join(names) + (f"; and {more:,} more" if more else "")


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """A row of a table.

    Attributes:
        key: the entity it is of: a thing, or what a group shares.
        members: [M] int32 entities that it tells of, ascending.
        cells: one for every column.
    """

    key: int
    members: np.ndarray
    cells: tuple[Cell, ...]


class Groups:
    """Entities in groups, and what columns tell of each.

    Attributes:
        key: [G] int32, what a group shares; the entity itself where there are no groups.
        member: [M] int32, the entities of all groups, end to end; first: [G + 1], where each
            begins.
    """

    def __init__(self, values: Values, query: Rows, source: np.ndarray, reach: Reach) -> None:
        """Group entities.

        Args:
            query: sound.
            source: [n] entities, each once.
            reach: walks paths.
        """
        self.values, self.query, self.reach = values, query, reach
        self._ends = functools.cache(self._ends_of)
        self.numbers, self.keys = functools.cache(self._numbers), functools.cache(self._keys)
        if not query.per:
            self.key = self.member = source
            self.first = np.arange(len(source) + 1)
            return
        place, key = reach(source, query.per)
        member = source[place]
        order = np.lexsort((member, key))
        self.member, key = member[order], key[order]
        starts = np.arange(len(key)) if query.top else np.flatnonzero(np.diff(key, prepend=-1))
        self.key = key[starts]
        self.first = np.append(starts, len(key))

    def _ends_of(self, path: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Group and end of every number, thing or date that a path leads to from each member."""
        group = np.repeat(np.arange(len(self.key)), np.diff(self.first))
        if not path:
            return group, self.member
        own, back = np.unique(self.member, return_inverse=True)
        place, ends = self.reach(own, path)
        low, high = np.searchsorted(place, back), np.searchsorted(place, back, "right")
        return np.repeat(group, high - low), ends[spread(low, high)]

    def _listed(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        """As `_ends`, each end once a group."""
        group, ends = self._ends(column.path)
        keys = np.unique(group.astype(np.int64) * self.values.kg.num_entities + ends)
        return np.divmod(keys, max(self.values.kg.num_entities, 1))

    def _numbers(self, column: Column) -> list[tuple[int | Decimal | None, str]]:
        """A count, a sum or a mean of every group, and its unit."""
        if column.by == "count":
            group, _ = self._listed(column)
            return [(n, "") for n in np.bincount(group, minlength=len(self.key)).tolist()]
        group, ends = self._ends(column.path)
        bounds = np.searchsorted(group, np.arange(len(self.key) + 1)).tolist()
        by = "mean" if column.by == "mean" else "sum"
        return [added(self.values, ends[a:b], by)[:2] for a, b in itertools.pairwise(bounds)]

    def _exact(self, column: Column) -> list[Fraction | None]:
        """The numbers of every group; means as they are before they are rounded."""
        if column.by != "mean":
            return [None if n is None else Fraction(n) for n, _ in self.numbers(column)]
        group, ends = self._ends(column.path)
        bounds = np.searchsorted(group, np.arange(len(self.key) + 1)).tolist()
        sums = (added(self.values, ends[a:b], "sum") for a, b in itertools.pairwise(bounds))
        return [None if n is None else Fraction(n) / int(there.sum()) for n, _, there in sums]

    def _keys(self, column: Column) -> np.ndarray:
        """[G] int64 by which a column orders the groups; NONE_KEY where it has nothing."""
        if column.by in ("count", "sum", "mean"):
            found = self._exact(column)
            place = {
                size: at for at, size in enumerate(sorted({n for n in found if n is not None}))
            }
            return np.array([NONE_KEY if n is None else place[n] for n in found], np.int64)
        kind = self.values.kind_along(column.path[-1:]) or "entity"
        group, ends = self._ends(column.path)
        key = order_keys(self.values, kind)[ends]
        group, key = group[key > NONE_KEY], key[key > NONE_KEY]
        # Of several values the foremost of the order counts.
        largest = column.by == "max" or (column.by == "value" and self.query.largest)
        best = np.full(len(self.key), NONE_KEY if largest else LAST_KEY)
        (np.maximum if largest else np.minimum).at(best, group, key)
        return np.where(best == LAST_KEY, NONE_KEY, best)

    def cells(self, column: Column, groups: Sequence[int]) -> list[Cell]:
        """What a column tells of some groups."""
        if column.by in ("count", "sum", "mean"):
            none, numbers = np.zeros(0, np.int32), self.numbers(column)
            return [Cell(none, *numbers[group]) for group in groups]
        group, ends = self._listed(column)
        if column.by != "value":
            kind = self.values.kind_along(column.path[-1:]) or "entity"
            best = order_keys(self.values, kind)[ends] == self.keys(column)[group]
            best &= self.keys(column)[group] > NONE_KEY
            group, ends = group[best], ends[best]
        low, high = (np.searchsorted(group, groups, side) for side in ("left", "right"))
        return [Cell(ends[a:b].astype(np.int32)) for a, b in zip(low.tolist(), high.tolist())]

    def kept(self) -> list[int]:
        """Groups that have what is demanded and stand where they are asked for, in order."""
        query = self.query
        keep = np.ones(len(self.key), bool)
        for one in query.having:
            keep &= self._has(one)
        groups = np.flatnonzero(keep)
        if not query.order:
            return groups.tolist()
        keys = self.keys(query.columns[query.order - 1])[groups]
        there = keys > NONE_KEY
        if query.top or query.last or query.first > 1:
            groups, keys, there = groups[there], keys[there], there[there]
        key = np.where(there, -keys if query.largest else keys, LAST_KEY)
        own = self.key[groups].astype(np.int64) if query.top else np.zeros(len(groups), np.int64)
        order = np.lexsort((key, own))
        groups, key, own = groups[order], key[order], own[order]
        # Places from 1 within what is ordered together; those of equal keys are shared.
        start = np.searchsorted(own, own)
        same = np.diff(key, prepend=-1).astype(bool) | np.diff(own, prepend=-1).astype(bool)
        run = np.cumsum(same) - 1
        opens = np.flatnonzero(same)
        ends = np.append(opens[1:], len(key))
        low, high = opens[run] - start + 1, ends[run] - start if len(key) else key
        last = query.top or query.last or len(key)
        return groups[(low <= last) & (high >= query.first)].tolist()

    def _has(self, one: Having) -> np.ndarray:
        column = self.query.columns[one.column - 1]
        if column.by in ("count", "sum", "mean"):
            wanted = as_number(one.value.text)
            assert wanted is not None  # refused before
            bound = (Fraction(wanted[0]),) * 2
            told = ((n, n) for n in self._exact(column))
            holds = [n[0] is not None and compares(one.comparison, n, bound) for n in told]
            return np.array(holds, bool)
        kind = self.values.kind_along(column.path[-1:]) or "entity"
        along = column.path[-1] if column.path else None
        window = self.values.window(kind, one.comparison, one.value, along=along)
        best = [cell.ends[:1].tolist() for cell in self.cells(column, range(len(self.key)))]
        ends = np.array([ends[0] if ends else -1 for ends in best], np.int64)
        return (ends >= 0) & window.holds(*self.values.keys_of(kind)[:, ends])


NONE_KEY = np.iinfo(np.int64).min
"""The order key of an entity without a value."""
LAST_KEY = np.iinfo(np.int64).max


def order_keys(values: Values, kind: str) -> np.ndarray:
    """[N] int64 by which a kind's values are ordered; NONE_KEY where there is none."""
    first, second = values.keys_of(kind).astype(np.int64)
    return np.where(first == NONE, NONE_KEY, first * (1 << 31) + second)


def table_rows(values: Values, query: Rows, source: np.ndarray, reach: Reach) -> tuple[Row, ...]:
    """The rows of a table, in order; see `Rows`.

    Args:
        query: sound.
        source: [n] int32, what its source denotes.
        reach: walks paths.
    """
    groups = Groups(values, query, source, reach)
    kept = groups.kept()
    told = zip(*(groups.cells(column, kept) for column in query.columns))
    members = (groups.member[groups.first[g] : groups.first[g + 1]] for g in kept)
    return tuple(
        Row(key, some, cells) for key, some, cells in zip(groups.key[kept].tolist(), members, told)
    )
