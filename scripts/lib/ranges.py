"""A graph in ranges: read so from a saved one, what a process holds of it, what a hop exchanges."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from jaxkg.errors import JaxkgError
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.ops.ranges import AXIS, Ranged
from jaxkg.tensors.buckets import bucket
from jaxkg.tensors.graph import opening
from jaxkg.tensors.mesh import graph_of_ranges
from jaxkg.types import NULL, Graph


def graph_from_folder(folder: str | os.PathLike[str], mesh: Mesh) -> tuple[Graph, int]:
    """A graph too large for one device, or one machine, divided by ranges of nodes over "graph".

    Of the folder are read: of the nodes of these ranges the facts that begin and that end there,
    and where the facts of some nodes begin. Names and what was changed since stay where they are.

    Args:
        folder: with an index, as `jaxkg kg build --index` makes one; the same to all processes.
        mesh: from `device_mesh`, over one process or several.

    Returns:
        As `place_graph` of the whole graph's tensors; and how many rows of facts this process read,
        one that both begins and ends here being two.

    Raises:
        JaxkgError: no saved graph with an index, no facts, or 2^30 of them or more.
    """
    store = ArrayStore.open(folder)
    triples, index = store.triples, store.index
    entities, relations = store.kg.num_entities, store.kg.num_relations
    if not 0 < len(triples) < 2**30:
        raise JaxkgError(f"{folder}: {len(triples):,} facts; edge ids want 1 to 2^30 - 1 of them")
    rows_read = 0

    def edges_before(node: int) -> int:
        node = min(node, entities)
        return int(triples.first[node]) + int(index.back_first[node])

    def read(low: int, high: int) -> dict[str, np.ndarray]:
        nonlocal rows_read
        top = min(high, entities)
        first, back = (
            column[low : top + 1].astype(np.int64) for column in (triples.first, index.back_first)
        )
        out, into = slice(first[0], first[-1]), slice(back[0], back[-1])
        node = np.arange(low, top, dtype=np.int32)
        head = np.concatenate([np.repeat(node, np.diff(column)) for column in (first, back)])
        inverse = index.back_relation[into].astype(np.int32) + relations
        relation = np.concatenate([triples.relation[out].astype(np.int32), inverse])
        tail = np.concatenate([triples.tail[out], triples[index.back[into], 0]])
        rows_read += len(head)
        order = np.lexsort((tail, relation, head))
        head, relation, tail = head[order], relation[order], tail[order]
        starts = np.flatnonzero(opening(head, relation))
        base = edges_before(low)
        bounds = np.arange(low, top + 1)
        part = {
            "offsets": first + back,
            "run_offsets": np.searchsorted(head[starts], bounds),
        }
        # Padding nodes have no edges.
        more = (0, high - top)
        part = {name: np.pad(column, more, mode="edge") for name, column in part.items()}
        part |= {"head": head, "relation": relation, "tail": tail}
        part |= {"run_relation": relation[starts], "run_start": np.append(starts, len(head)) + base}
        return part

    graph = graph_of_ranges(mesh, bucket(entities), edges_before, read, num_relations=relations)
    return graph, rows_read


class Resident(NamedTuple):
    """What the devices of this process hold of a graph in ranges."""

    edges: int
    """Facts and their inverses: over all ranges twice the facts of the graph."""
    facts: int
    """Different facts: one is held where its head is and where its tail is."""
    bytes: int
    """Of all columns, padding included."""


def resident(graph: Graph) -> Resident:
    """Count it, from the shards that this process can address."""
    columns = [column for column in vars(graph).values() if isinstance(column, Ranged)]
    stored = sum(shard.data.nbytes for c in columns for shard in c.rows.addressable_shards)

    def held(name: str) -> np.ndarray:
        shards = getattr(graph, name).rows.addressable_shards
        return np.concatenate([*{s.index[0].start: np.asarray(s.data)[0] for s in shards}.values()])

    head, relation, tail = map(held, ("head", "relation", "tail"))
    there = head != NULL
    # An inverse whose other end is held, too, is of a fact that was counted.
    again = (relation >= graph.num_relations) & np.isin(tail, head[there])
    return Resident(int(there.sum()), int((there & ~again).sum()), stored)


def exchanged_bytes(function: Callable[..., Any], *arguments: Any) -> int:
    """What one call exchanges over "graph", counted from the program.

    A device of S sends and receives 2 (S - 1) / S times this where sums go around a ring.

    Args:
        function, arguments: as called; nothing is computed.

    Returns:
        Bytes of all that is added up over the devices. Of a loop that ends when it is done, one
        pass; of branches, the largest.
    """
    return _summed(jax.make_jaxpr(function)(*arguments).jaxpr)


def _summed(program: Any) -> int:
    total = 0
    for step in program.eqns:
        if step.primitive.name.startswith("psum") and AXIS in step.params["axes"]:
            total += sum(v.aval.size * v.aval.dtype.itemsize for v in step.invars)
            continue
        inner = [
            _summed(getattr(part, "jaxpr", part))
            for value in step.params.values()
            for part in (value if isinstance(value, tuple | list) else (value,))
            if hasattr(getattr(part, "jaxpr", part), "eqns")
        ]
        some = max(inner, default=0) if step.primitive.name == "cond" else sum(inner)
        total += some * step.params.get("length", 1) if step.primitive.name == "scan" else some
    return total
