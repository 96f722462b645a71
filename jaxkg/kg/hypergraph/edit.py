"""New hypergraphs from old ones: hyperedges added, near names joined as synonyms.

Read with the module's name: `edit.add(graph, edges)`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable

import numpy as np

from jaxkg.kg.hypergraph.graph import Chunk, Hyperedge, KnowledgeHypergraph


def add(graph: KnowledgeHypergraph, edges: Iterable[Hyperedge]) -> KnowledgeHypergraph:
    """A new hypergraph with more hyperedges at the end, of its chunks or of none.

    Rows of hyperedges and chunks stay; rows of entities may move, as they follow the ids.

    Raises:
        JaxkgError: as `KnowledgeHypergraph.from_edges`.
    """
    new, chunks = list(edges), [Chunk(id, "", "") for id in graph.chunk_ids]
    KnowledgeHypergraph.from_edges(new, chunks=chunks)  # refuses a bad one by its number
    ids, chunk_ids = graph.entity_ids.tolist(), [*graph.chunk_ids, None]
    members = [ids[row] for row in graph.members.tolist()]
    bounds = itertools.pairwise(graph.offsets.tolist())
    kinds, places = graph.edge_kind.tolist(), graph.edge_chunk.tolist()
    old = (
        Hyperedge(name, tuple(members[first:last]), graph.kinds[kind], chunk_ids[place])
        for name, kind, place, (first, last) in zip(graph.edge_names, kinds, places, bounds)
    )
    grown = KnowledgeHypergraph.from_edges(
        itertools.chain(old, new),
        names=dict(zip(ids, graph.entity_names)),
        descriptions=dict(zip(ids, graph.descriptions)),
        chunks=chunks,
    )
    return dataclasses.replace(
        grown,
        chunk_titles=graph.chunk_titles,
        chunk_texts=graph.chunk_texts,
        duplicates=graph.duplicates + grown.duplicates,
    )


SYNONYM = "synonym"


def components(pairs: np.ndarray, count: int) -> np.ndarray:
    """Groups of things that chains of pairs connect.

    Args:
        pairs: [P, 2] integers in [0, count).
        count: number of things.

    Returns:
        [count] int32, for each the smallest of its group.

    Reference: PRoH, Section 4.1, connected components of the similarity subgraph.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not count:
        return np.zeros(0, np.int32)
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    ones = np.ones(len(pairs), np.int8)
    matrix = coo_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    number, label = connected_components(matrix, directed=False)
    smallest = np.full(number, count, np.int32)
    np.minimum.at(smallest, label, np.arange(count, dtype=np.int32))
    return smallest[label]


def synonym_edges(
    graph: KnowledgeHypergraph, representative: np.ndarray, *, largest: int = 50
) -> list[Hyperedge]:
    """A hyperedge "synonym" for every group of two or more.

    Args:
        graph: the entities.
        representative: [N] int32, see `components`.
        largest: bigger groups are chains of accidents, not synonyms, and get none.
    """
    order = np.argsort(representative, kind="stable")
    starts = np.flatnonzero(np.diff(representative[order], prepend=-1))
    groups = np.split(order, starts[1:]) if len(order) else []
    return [
        Hyperedge(
            f"other names of {graph.name(int(group[0]))}",
            tuple(graph.entity_ids[int(row)] for row in group),
            SYNONYM,
        )
        for group in groups
        if 1 < len(group) <= largest
    ]


def merged_entities(graph: KnowledgeHypergraph) -> np.ndarray:
    """The representative of each entity under the hypergraph's synonym hyperedges.

    Returns:
        [N] int32, its own row for an entity without synonyms.

    Reference: PRoH, Section 4.2: synonymous entities are merged for a question.
    """
    pairs = [np.zeros((0, 2), np.int64)]
    for edge in graph.rows_of_kind(SYNONYM).tolist():
        group = graph.entities_of(edge).astype(np.int64)
        pairs.append(np.stack([np.full(len(group) - 1, group[0]), group[1:]], axis=1))
    return components(np.concatenate(pairs), graph.num_entities)
