"""Host to device: a knowledge hypergraph as two CSR tables."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import jax
import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.tensors.buckets import bucket, pad
from jaxkg.types import Hypergraph

if TYPE_CHECKING:
    from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph

_STEPS = 4
_FLOORS = {"members": 1024, "edges": 256, "nodes": 512}
"""What small hypergraphs are padded to: a few passages each, they share their programs."""


@dataclasses.dataclass(frozen=True)
class TensorHypergraph:
    """A hypergraph on the device beside what the host needs to read results back.

    Attributes:
        graph: the padded tensors.
        node_of_entity: [N] int32 on the host: the node each entity became. Merged synonyms share
            one, the entity of the lowest row.
        degree: [N] int32 on the host, hyperedges of each node.
    """

    graph: Hypergraph
    node_of_entity: np.ndarray
    degree: np.ndarray


def tensor_hypergraph(
    graph: KnowledgeHypergraph, *, merged: np.ndarray | None = None, skip: tuple[str, ...] = ()
) -> TensorHypergraph:
    """Both CSR tables of a hypergraph, in buckets, on the device.

    Args:
        graph: with at least one hyperedge.
        merged: [N] int32, a representative for each entity (see `kg.synonyms.merged_entities`);
            None keeps all apart.
        skip: kinds of hyperedges that take no part; their rows stay, without members.

    Raises:
        JaxkgError: no hyperedge is left, or there are more than 2^31 - 1 memberships.
    """
    keep = np.ones(graph.num_edges, bool)
    for kind in skip:
        keep[graph.rows_of_kind(kind)] = False
    arity = np.diff(graph.offsets)
    edge = np.repeat(np.arange(graph.num_edges, dtype=np.int64), arity)
    members = np.asarray(graph.members)
    if not keep.all():
        edge, members = edge[keep[edge]], members[keep[edge]]
    return hyperedge_tables(edge, members, graph.num_edges, graph.num_entities, merged=merged)


def hyperedge_tables(
    edge: np.ndarray,
    node: np.ndarray,
    num_edges: int,
    num_nodes: int,
    *,
    merged: np.ndarray | None = None,
) -> TensorHypergraph:
    """As `tensor_hypergraph`, from [M] hyperedge and [M] node of each membership.

    Raises:
        JaxkgError: there are no memberships, or more than 2^31 - 1.
    """
    if merged is None:
        merged = np.arange(num_nodes, dtype=np.int32)
    by_edge = np.unique(edge.astype(np.int64) * num_nodes + merged[node])
    count = len(by_edge)
    if not 0 < count < 2**31:
        raise JaxkgError(f"{count:,} memberships of hyperedges; between 1 and 2^31 - 1 fit")
    edge, node = (column.astype(np.int32) for column in np.divmod(by_edge, num_nodes))
    by_node = np.argsort(node, kind="stable")
    size = bucket(count, steps=_STEPS, floor=_FLOORS["members"])
    edges = bucket(num_edges, steps=_STEPS, floor=_FLOORS["edges"])
    nodes = bucket(num_nodes, steps=_STEPS, floor=_FLOORS["nodes"])
    incident_offsets = _starts(node, nodes)
    graph = Hypergraph(
        member=jax.device_put(pad(node, size)),
        member_offsets=jax.device_put(_starts(edge, edges)),
        incident=jax.device_put(pad(edge[by_node], size)),
        incident_offsets=jax.device_put(incident_offsets),
    )
    return TensorHypergraph(graph, merged, np.diff(incident_offsets)[:num_nodes])


def _starts(owner: np.ndarray, size: int) -> np.ndarray:
    """[size + 1] int32, first entry of each owner; owners in any order."""
    starts = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=size), out=starts[1:])
    return starts
