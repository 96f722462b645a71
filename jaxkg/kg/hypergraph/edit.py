"""New hypergraphs from old ones: hyperedges added, near names joined as synonyms.

Read with the module's name: `edit.add(graph, edges)`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np

from jaxkg.kg.encode import used
from jaxkg.kg.hypergraph.graph import NULL, Hyperedge, KnowledgeHypergraph
from jaxkg.kg.names import NameTable


def add(graph: KnowledgeHypergraph, edges: Iterable[Hyperedge]) -> KnowledgeHypergraph:
    """A new hypergraph with more hyperedges at the end, of its chunks or of none.

    Rows of hyperedges and chunks stay; rows of entities may move, as they follow the ids.

    Raises:
        JaxkgError: as `KnowledgeHypergraph.from_edges`.
    """
    given = list(edges)
    # Chunks are lent to the new hyperedges, which may come from them.
    lent = [
        graph.chunk(rows[0])
        for id in dict.fromkeys(e.chunk for e in given if e.chunk is not None)
        if (rows := graph.chunk_ids.rows(id))
    ]
    new = KnowledgeHypergraph.from_edges(given, chunks=lent)
    fresh = np.fromiter((not _holds(graph, new.hyperedge(i)) for i in range(new.num_edges)), bool)
    repeated = int(np.count_nonzero(~fresh)) + new.duplicates
    new = _kept(new, fresh)

    old_ids = graph.entity_ids.tolist()
    ids = sorted({*old_ids, *new.entity_ids.tolist()})
    row_of = {entity: row for row, entity in enumerate(ids)}
    shown = dict(zip(old_ids, graph.entity_names))
    texts = dict(zip(old_ids, graph.descriptions))
    chunk_row = {id: row for row, id in enumerate(graph.chunk_ids)}
    chunk_map = np.asarray([*(chunk_row[id] for id in new.chunk_ids), NULL], np.int32)
    kinds = tuple(dict.fromkeys((*graph.kinds, *new.kinds)))
    kind_map = np.asarray([kinds.index(kind) for kind in new.kinds], np.int8)
    table = NameTable.from_names(ids, ascending=True)
    names_now = [shown.get(entity, entity) for entity in ids]
    return KnowledgeHypergraph(
        entity_ids=table,
        entity_names=table if names_now == ids else NameTable.from_names(names_now),
        descriptions=NameTable.from_names(texts.get(entity, "") for entity in ids),
        edge_names=NameTable.from_names([*graph.edge_names, *new.edge_names]),
        kinds=kinds,
        edge_kind=np.concatenate([graph.edge_kind, kind_map[new.edge_kind]]),
        edge_chunk=np.concatenate([graph.edge_chunk, chunk_map[new.edge_chunk]]),
        offsets=np.concatenate([graph.offsets, graph.offsets[-1] + new.offsets[1:]]),
        members=np.concatenate(
            [_ranks(old_ids, row_of)[graph.members], _ranks(new.entity_ids, row_of)[new.members]]
        ),
        chunk_ids=graph.chunk_ids,
        chunk_titles=graph.chunk_titles,
        chunk_texts=graph.chunk_texts,
        duplicates=graph.duplicates + repeated,
    )


def _kept(graph: KnowledgeHypergraph, keep: np.ndarray) -> KnowledgeHypergraph:
    """The hypergraph of some of its hyperedges, and of the entities and kinds these have."""
    if keep.all():
        return graph
    arity = np.diff(graph.offsets)
    members = graph.members[np.repeat(keep, arity)]
    entities, rank = used(members, graph.num_entities)
    codes = list(dict.fromkeys(graph.edge_kind[keep].tolist()))
    kind_rank = np.zeros(max(1, len(graph.kinds)), np.int8)
    kind_rank[codes] = np.arange(len(codes))
    ids = graph.entity_ids.take(entities)
    same = graph.entity_names is graph.entity_ids
    offsets = np.zeros(np.count_nonzero(keep) + 1, np.int64)
    np.cumsum(arity[keep], out=offsets[1:])
    return dataclasses.replace(
        graph,
        entity_ids=ids,
        entity_names=ids if same else graph.entity_names.take(entities),
        descriptions=graph.descriptions.take(entities),
        edge_names=graph.edge_names.take(np.flatnonzero(keep)),
        kinds=tuple(graph.kinds[code] for code in codes),
        edge_kind=kind_rank[graph.edge_kind[keep]],
        edge_chunk=graph.edge_chunk[keep],
        offsets=offsets,
        members=rank[members],
    )


def _holds(graph: KnowledgeHypergraph, edge: Hyperedge) -> bool:
    rows = graph.entity_ids.rows(edge.entities[0])
    return bool(rows) and any(graph.hyperedge(e) == edge for e in graph.edges_of(rows[0]).tolist())


def _ranks(ids: Iterable[str], row_of: Mapping[str, int]) -> np.ndarray:
    return np.asarray([row_of[entity] for entity in ids], np.int32)


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
