"""Host to device: a knowledge graph as sorted, padded edge tables."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.tensors.buckets import bucket, pad
from jaxkg.types import Graph

if TYPE_CHECKING:
    from jax.sharding import Mesh

    from jaxkg.kg import KnowledgeGraph


_DENSE_LOOKUP = 1 << 22
"""Most (node, relation) pairs that get a table of their own (16 MB of int32)."""


@dataclasses.dataclass(frozen=True)
class TensorGraph:
    """A graph on the device beside what the host needs to read results back.

    Attributes:
        graph: the padded tensors.
        triple_of_edge: [E] int32 on the host: row of the triple an edge came from. An edge whose
            relation code is R or more walks its triple from tail to head.
        head, relation, tail: [E] int32 host copies of the edge table, for reading paths back.
    """

    graph: Graph
    triple_of_edge: np.ndarray
    head: np.ndarray
    relation: np.ndarray
    tail: np.ndarray


def tensor_graph(kg: KnowledgeGraph, *, mesh: Mesh | None = None) -> TensorGraph:
    """Sort a graph's triples and their inverses into padded tensors on the device.

    Args:
        kg: any graph with at least one triple.
        mesh: devices to divide the tensors among, see `place_graph`; default: one device.

    Returns:
        Tensors with E, U and N rounded up to buckets, so graphs of similar size share programs.

    Raises:
        JaxkgError: the graph has no triples, or more than 2^30 of them.
    """
    return edge_tables(np.asarray(kg.triples), kg.num_entities, kg.num_relations, mesh=mesh)


def edge_tables(
    triples: np.ndarray, num_entities: int, num_relations: int, *, mesh: Mesh | None = None
) -> TensorGraph:
    """As `tensor_graph`, from a [T, 3] int32 array of unique (head, relation, tail)."""
    triples, count = np.asarray(triples, np.int32), len(triples)
    if count == 0:
        raise JaxkgError("the graph has no triples; nothing can be asked of it")
    if count >= 2**30:
        raise JaxkgError(f"{count:,} triples: edge ids are 32-bit, so at most 2^30 - 1 fit")
    head = np.concatenate([triples[:, 0], triples[:, 2]])
    relation = np.concatenate([triples[:, 1], triples[:, 1] + num_relations])
    tail = np.concatenate([triples[:, 2], triples[:, 0]])
    order = np.lexsort((tail, relation, head))
    head, relation, tail = head[order], relation[order], tail[order]
    triple = (order % count).astype(np.int32)

    edges, nodes = 2 * count, bucket(num_entities)
    starts = np.flatnonzero(opening(head, relation))
    runs = bucket(len(starts))
    run_start = np.full(runs + 1, edges, np.int32)
    run_start[: len(starts)] = starts
    run_offsets = np.searchsorted(head[starts], np.arange(nodes + 1)).astype(np.int32)
    most = int(np.diff(run_offsets).max())
    codes = 2 * num_relations
    edge_start = np.zeros(0, np.int32)
    if nodes * codes <= _DENSE_LOOKUP:
        key = head.astype(np.int64) * codes + relation
        edge_start = np.searchsorted(key, np.arange(nodes * codes + 1)).astype(np.int32)

    padded_edges = bucket(edges)
    host = [pad(column, padded_edges) for column in (head, relation, tail, triple)]
    columns: dict[str, Any] = {
        "head": host[0],
        "relation": host[1],
        "tail": host[2],
        "offsets": np.searchsorted(head, np.arange(nodes + 1)).astype(np.int32),
        "run_relation": pad(relation[starts], runs),
        "run_start": run_start,
        "run_offsets": run_offsets,
        "edge_start": edge_start,
    }
    graph = Graph(**columns, num_relations=num_relations, lookup_steps=most.bit_length())
    if mesh is None:
        graph = jax.device_put(graph)
    else:
        from jaxkg.tensors.mesh import place_graph

        graph = place_graph(graph, mesh)
    return TensorGraph(graph, host[3], host[0], host[1], host[2])


def opening(head: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """Which of these sorted edges begin a run, [E] bool."""
    opens = np.ones(len(head), bool)
    opens[1:] = (head[1:] != head[:-1]) | (relation[1:] != relation[:-1])
    return opens
