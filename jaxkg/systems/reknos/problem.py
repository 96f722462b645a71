"""What a super-relation search is asked to search."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxkg.candidates import Revisit
from jaxkg.kg import KnowledgeGraph
from jaxkg.systems.reknos.settings import ReKnoSSettings
from jaxkg.systems.reknos.super_relations import SuperRelations
from jaxkg.tensors import Capacities, TensorGraph


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
