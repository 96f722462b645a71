"""Super-relations: groups of relations that one step of a search treats as one.

Groups come from hierarchical names (`film.actor.film` belongs to `film.actor`) or from clustering
vectors of the labels. Reference: Wang et al., "Reasoning of large language models over knowledge
graphs with super-relations" (ReKnoS), Section 3.2. A `SuperProblem` is what a search is asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Self

import jax
import numpy as np
import numpy.typing as npt

from jaxkg.candidates import Revisit
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reknos.settings import ReKnoSSettings
from jaxkg.tensors import Capacities, TensorGraph

_MOST_CLUSTERED = 10_000
"""Agglomeration holds all pairs of labels: about 1 GB at this many."""

_TOLD = 4
"""Members that a cluster's name tells, where there are more than one more."""


@dataclasses.dataclass(frozen=True, eq=False)
class SuperRelations:
    """Which super-relation every relation code belongs to.

    Attributes:
        names: S unique names; an inverse super-relation is written `^name`.
        group: [2R] int32, super-relation of each relation code.
    """

    names: tuple[str, ...]
    group: np.ndarray

    def __post_init__(self) -> None:
        if self.group.dtype != np.int32 or self.group.ndim != 1 or len(self.group) % 2:
            raise JaxkgError(
                f"group must be [2R] int32, got {self.group.shape} {self.group.dtype}; one entry "
                "for each relation and one for each inverse"
            )
        if len(set(self.names)) != len(self.names):
            raise JaxkgError("two super-relations share a name")
        if set(self.group.tolist()) != set(range(len(self.names))):
            raise JaxkgError(
                f"the members of {len(self.names)} super-relations must be numbered by them, 0 to "
                f"{len(self.names) - 1}, each with a member at least"
            )
        self.group.setflags(write=False)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def num_relations(self) -> int:
        """R, inverses not counted."""
        return len(self.group) // 2

    @classmethod
    def by_name(cls, relations: Sequence[str], *, parts: int = 2) -> Self:
        """Group relations by the first parts of their names, a point between two.

        Args:
            relations: R names.
            parts: how many parts name the group; a name of no more parts is a group of its own.

        Example:
            >>> groups = SuperRelations.by_name(["film.actor.film", "film.actor.awards", "likes"])
            >>> groups.names, groups.group
            (('film.actor', 'likes', '^film.actor', '^likes'),
             array([0, 0, 1, 2, 2, 3], dtype=int32))
        """
        if parts < 1:
            raise JaxkgError(f"parts is how many parts of a name count, at least 1, not {parts}")
        heads = [".".join(name.split(".")[:parts]) for name in relations]
        names = list(dict.fromkeys(heads))
        place = {name: row for row, name in enumerate(names)}
        return cls._both_ways(names, [place[head] for head in heads])

    @classmethod
    def by_clusters(
        cls,
        relations: Sequence[str],
        vectors: npt.ArrayLike,
        *,
        distance: float = 0.8,
    ) -> Self:
        """Group relations whose label vectors are alike, by average-linkage agglomeration.

        Deterministic. A cluster's name tells its members, so that nobody who reads it takes one
        for all: the one nearest to the mean of all first (the paper's centre), the first among
        equals, and past the fourth how many more there are.

        Args:
            relations: R names.
            vectors: [R, D] label vectors of any encoder, none of them zero.
            distance: clusters are merged while their mean cosine distance is at most this.

        Raises:
            JaxkgError: the vectors do not fit the names, one is zero or not finite, or there are
                too many labels.

        Example:
            >>> groups = SuperRelations.by_clusters(
            ...     ["directed_by", "written_by", "genre"], [[1, 1, 0], [1, 0, 0], [0, 0, 1]])
            >>> groups.names[:2], groups.group[:3]
            (('directed_by / written_by', 'genre'), array([0, 0, 1], dtype=int32))
        """
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        table = np.asarray(vectors, np.float64)
        if table.ndim != 2 or len(table) != len(relations) or not len(table):
            raise JaxkgError(
                f"{len(relations)} relations require as many vectors, not {table.shape}"
            )
        if len(table) > _MOST_CLUSTERED:
            raise JaxkgError(
                f"{len(table):,} labels are too many to cluster (at most {_MOST_CLUSTERED:,}); "
                "group them by name"
            )
        length = np.linalg.norm(table, axis=1, keepdims=True)
        if not np.all(np.isfinite(length) & (length > 0)):
            worst = int(np.argmin(np.isfinite(length) & (length > 0)))
            raise JaxkgError(f"the vector of relation {relations[worst]!r} is zero or not finite")
        table = table / length
        if len(table) == 1:
            return cls._both_ways(list(relations), [0])
        apart = 1.0 - table @ table.T
        tree = linkage(squareform(apart, checks=False).clip(0.0), method="average")
        labels = fcluster(tree, t=distance, criterion="distance")
        _, first, label = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))  # clusters in the order of their first members
        cluster = order[label]
        names: list[str] = []
        for which in range(len(first)):
            rows = np.flatnonzero(cluster == which)
            likeness = table[rows] @ table[rows].mean(axis=0)
            # Rounding must not decide between members that are equally near.
            near = [int(row) for row in rows[np.argsort(-np.round(likeness, 9), kind="stable")]]
            more = [f"{len(near) - _TOLD} more"] if len(near) > _TOLD + 1 else []
            members = near[: _TOLD if more else _TOLD + 1]
            names.append(" / ".join([*(relations[row] for row in members), *more]))
        return cls._both_ways(names, cluster.tolist())

    @classmethod
    def _both_ways(cls, names: Sequence[str], group: Sequence[int]) -> Self:
        forward = np.asarray(group, np.int32)
        return cls(
            (*names, *("^" + name for name in names)),
            np.concatenate([forward, forward + np.int32(len(names))]),
        )

    def connections(self, triples: np.ndarray) -> np.ndarray:
        """The super-relation graph: which super-relation connects to which.

        R₁ connects to R₂ where some e₁ –r₁→ e₂ –r₂→ e₃ has r₁ in R₁ and r₂ in R₂; inverse relations
        are walked too, and e₃ may be e₁.

        Args:
            triples: [T, 3] (head, relation, tail) of the graph.

        Returns:
            [S, S] bool.

        Reference: ReKnoS, Definition 1.
        """
        from scipy.sparse import csr_array

        head, relation, tail = np.asarray(triples, np.int64).T
        nodes = int(max(head.max(initial=-1), tail.max(initial=-1))) + 1
        forward, inverse = self.group[relation], self.group[relation + self.num_relations]
        group = np.concatenate([forward, inverse])
        leaves, enters = np.concatenate([head, tail]), np.concatenate([tail, head])

        def incidence(node: np.ndarray) -> csr_array:
            pairs = np.unique(node * len(self) + group)
            shape = (max(nodes, 1), len(self))
            return csr_array((np.ones(len(pairs), np.int64), np.divmod(pairs, len(self))), shape)

        return (incidence(enters).T @ incidence(leaves)).toarray() > 0


class Room:
    """Capacities of the steps of a search, learnt from batch to batch.

    Steps of one name share theirs.
    """

    def __init__(self, first: int | None = None, limit: int = 1 << 22) -> None:
        """Start with `first` slots (None: as many as a step expects); take `limit` at most."""
        self._first, self._limit = first, limit
        self._known: dict[tuple[str, int], Capacities] = {}

    def of(self, step: str, *slots: int, last: int = 1) -> Capacities:
        """Of a step that expects to want so many slots; its largest table has `last` times them."""
        limit = max(1, self._limit // last)
        first = tuple(min(self._first or size, limit) for size in slots)
        return self._known.setdefault((step, len(slots)), Capacities(first, limit))


@dataclasses.dataclass(frozen=True, eq=False)
class SuperProblem:
    """A graph, its super-relations, and the rules of a search along them.

    Attributes:
        kg, tensors: the graph.
        groups: the super-relations, S of them.
        settings: knobs.
        revisit: which nodes a path may return to.
        group: [2R] int32 super-relation of each relation code, on the device.
        connections: [S, S] bool super-relation graph where the settings want it.
        named: [N] bool, nodes with a name of their own, see `KnowledgeGraph.has_name`.
        room: capacities learnt so far.
    """

    kg: KnowledgeGraph
    tensors: TensorGraph
    groups: SuperRelations
    settings: ReKnoSSettings
    revisit: Revisit
    group: jax.Array
    connections: jax.Array | None
    named: jax.Array
    room: Room = dataclasses.field(default_factory=Room)

    @classmethod
    def of(
        cls,
        kg: KnowledgeGraph,
        tensors: TensorGraph,
        groups: SuperRelations,
        settings: ReKnoSSettings,
        revisit: Revisit,
    ) -> SuperProblem:
        """Put it on the device."""
        connections = None
        if settings.connection == "graph":
            connections = groups.connections(kg.triples)
        named = np.zeros(tensors.graph.num_nodes, bool)
        named[: kg.num_entities] = [kg.has_name(i) for i in range(kg.num_entities)]
        arrays = jax.device_put((groups.group, connections, named))
        return cls(kg, tensors, groups, settings, revisit, *arrays)
