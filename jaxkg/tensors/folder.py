"""A saved graph on a mesh, each process reading the ranges of nodes that its own devices hold."""

from __future__ import annotations

import os

import numpy as np
from jax.sharding import Mesh

from jaxkg.errors import JaxkgError
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.tensors.buckets import bucket
from jaxkg.tensors.graph import opening
from jaxkg.tensors.mesh import graph_of_ranges
from jaxkg.types import Graph


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
