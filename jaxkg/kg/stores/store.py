"""What every store of a graph can do; entities are numbers that the store alone gives a meaning."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph


class Runs(NamedTuple):
    """The facts of entities, counted by relation and direction before any is fetched."""

    node: np.ndarray
    """[K] int64, the entity."""
    relation: np.ndarray
    """[K] int64, row of the store's relations."""
    inverse: np.ndarray
    """[K] bool, the entity is the tail of these facts."""
    size: np.ndarray
    """[K] int64, how many."""

    def take(self, rows: np.ndarray) -> Runs:
        """Some of them."""
        return Runs(*(column[rows] for column in self))

    @classmethod
    def joined(cls, parts: Iterable[Runs]) -> Runs:
        """Those of several, end to end."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts)))

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, bool, int]]) -> Runs:
        """From (node, relation, inverse, count) rows."""
        table = np.array(rows, np.int64).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1], table[:, 2].astype(bool), table[:, 3])


class Facts(NamedTuple):
    """Facts that were fetched."""

    triples: np.ndarray
    """[T, 3] int64: head, row of the relation, tail."""
    rows: np.ndarray
    """[T] int64, the store's own number of each fact; -1 where it numbers none."""


@dataclasses.dataclass(frozen=True)
class Described:
    """Entities in words.

    Attributes:
        ids, names: one of each for every entity asked about.
        aliases: other names, by place in the list asked about.
    """

    ids: list[str]
    names: list[str]
    aliases: dict[int, tuple[str, ...]]


class Store(Protocol):
    """A graph of which a part at a time is fetched."""

    @property
    def title(self) -> str:
        """What to call it."""
        ...

    @property
    def schema(self) -> KnowledgeGraph:
        """A graph of all its relations, and without any triple."""
        ...

    @property
    def closed(self) -> bool:
        """Whether `schema` has all relations; where it has not, none can be coded for a model."""
        ...

    @property
    def numbered(self) -> bool:
        """Whether its facts have numbers of their own."""
        ...

    @property
    def count(self) -> int | None:
        """How many facts it has; None where it does not tell."""
        ...

    def named(self, names: Sequence[str]) -> list[list[int]]:
        """For each, the entity with this id, else all so named."""
        ...

    def search(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text, entities whose name or alias it may be; those it is not may be among."""
        ...

    def near(self, text: str) -> list[int]:
        """Entities whose names are spelt much like this; none where the store cannot tell."""
        ...

    def worded(self, text: str) -> list[int]:
        """Entities whose names have every word of this; none where the store cannot tell, nor of
        words that thousands of names have."""
        ...

    def runs(self, nodes: np.ndarray) -> Runs:
        """How many facts each of these has, by relation and direction."""
        ...

    def fetch(self, runs: Runs) -> Facts:
        """The facts of these runs; a fact of two of them may come twice."""
        ...

    def everything(self) -> Facts:
        """All facts; for a graph that is small."""
        ...

    def some(self, most: int) -> np.ndarray:
        """[K, 3] int64, about so many facts from all over the graph."""
        ...

    def described(self, nodes: np.ndarray) -> Described:
        """Ids, names and aliases."""
        ...

    def sources(self, rows: np.ndarray) -> list[str] | None:
        """Where facts were read, by number; None where that is not known of any."""
        ...

    def holds(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        """Whether it has each of these (head id, relation, tail id)."""
        ...

    def troubles(self) -> list[str]:
        """What did not come though it was asked for, in words, since this was last called."""
        ...

    def stats(self) -> dict[str, Any]:
        """What it looks like in numbers, as far as it tells."""
        ...
