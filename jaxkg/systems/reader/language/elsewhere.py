"""What a sample of a graph tells of a part of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.neighbourhood import distinct
from jaxkg.systems.reader.language.sorts import Sort

if TYPE_CHECKING:
    from jaxkg.systems.reader.language.vocabulary import Vocabulary


class Elsewhere:
    """A sample's vocabulary in the numbers of a part; what the sample has nothing of it leaves out.

    A part alone misleads: its three persons may all have a spouse, one of its titles be a number.

    Args:
        kg: the part.
        told: the vocabulary of the sample.
    """

    def __init__(self, kg: KnowledgeGraph, told: Vocabulary) -> None:
        self.told, self._kg = told, kg
        sampled = told.kg
        there = {name: row for row, name in enumerate(sampled.relations)}
        self.row = {at: there[name] for at, name in enumerate(kg.relations) if name in there}
        """Relations of the part as the sample numbers them."""
        self._here = {
            row + back * sampled.num_relations: at + back * kg.num_relations
            for at, row in self.row.items()
            for back in (0, 1)
        }
        """Relation codes of the part by those of the sample."""
        self._there = {code: other for other, code in self._here.items()}

    def kinds(self) -> dict[str, str | None]:
        """Of values, see `jaxkg.kg.queries.values.Values`."""
        known = self.told.values.relation_kinds
        return {self._kg.relations[at]: known.get(self._kg.relations[at]) for at in self.row}

    def units(self) -> dict[str, tuple[str, ...]]:
        """Of numbers, likewise."""
        known = self.told.values.units
        return {name: known[name] for name in self.kinds() if name in known}

    def symmetric(self, own: set[int]) -> set[int]:
        """Relations that hold both ways.

        Args:
            own: what the part takes for such.
        """
        told = {at for at, row in self.row.items() if row in self.told.symmetric}
        return told | (own - self.row.keys())

    def functional(self, code: int) -> bool | None:
        """See `Vocabulary`; None where the sample does not tell."""
        there = self._there.get(code)
        return None if there is None else self.told.functional(there)

    def class_words(self, kind: int) -> tuple[str, ...] | None:
        """See `Vocabulary`; None where the sample does not tell."""
        for row in self.told.kg.entity_ids.rows(self._kg.entity_ids[kind]):
            if row in self.told.classes:
                return self.told.class_words(row)
        return None

    def had(self, kind: int, sort: Sort | None) -> dict[int, float] | None:
        """See `Vocabulary`; None where the sample does not tell.

        Args:
            kind: class of the part.
            sort: that it is, where it is one.
        """
        if sort is not None:
            rows = [k for k, other in self.told.sorts.items() if other.names == sort.names]
        else:
            rows = self.told.kg.entity_ids.rows(self._kg.entity_ids[kind])
        for row in rows:
            if row in self.told.classes:
                shares = self.told.had(row).items()
                return {self._here[code]: share for code, share in shares if code in self._here}
        return None

    def sorts(self, domain: Callable[[int], np.ndarray]) -> list[Sort]:
        """The sample's sorts, with those of the part that are of them.

        Args:
            domain: entities that a relation code leaves.
        """

        def here(codes: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(self._here[code] for code in codes if code in self._here)

        found = []
        for sort in self.told.sorts.values():
            every = here(sort.every)
            if not every:  # most of a large schema are not here
                continue
            members = distinct(np.concatenate(list(map(domain, every))))
            if len(members):
                codes = here(sort.codes) or every
                found.append(dataclasses.replace(sort, codes=codes, members=members, every=every))
        return found
