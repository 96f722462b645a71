"""Hypergraphs on disk, opened without reading them."""

from __future__ import annotations

import os
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.array_folder import ArrayFolder, Layout, write_arrays
from jaxkg.kg.hypergraph.graph import KnowledgeHypergraph

HYPERGRAPH_FORMAT = "jaxkg-hypergraph"
VERSION = 1
_LAYOUT = Layout(
    HYPERGRAPH_FORMAT, VERSION, "saved hypergraph", "open the folder given to save_hypergraph"
)

_TABLES = ("descriptions", "edge_names", "chunk_ids", "chunk_titles", "chunk_texts")
_ARRAYS = ("edge_kind", "edge_chunk", "offsets", "members")


def save_hypergraph(graph: KnowledgeHypergraph, folder: str | os.PathLike[str]) -> Path:
    """Write a hypergraph to a folder, whole or not at all; one saved there before is replaced.

    Raises:
        JaxkgError: the folder is a file, holds something else, or cannot be written.
    """
    named = graph.entity_names is not graph.entity_ids
    arrays = {name: getattr(graph, name) for name in (*_TABLES, *_ARRAYS)}
    arrays["entity_ids"] = graph.entity_ids
    if named:
        arrays["entity_names"] = graph.entity_names
    notes = {
        "entities": graph.num_entities,
        "hyperedges": graph.num_edges,
        "chunks": graph.num_chunks,
        "kinds": graph.kinds,
        "duplicates": graph.duplicates,
        "has_names": named,
        "fingerprint": graph.fingerprint,
    }
    return write_arrays(folder, arrays, notes, _LAYOUT)


def open_hypergraph(folder: str | os.PathLike[str], *, verify: bool = True) -> KnowledgeHypergraph:
    """Open a saved hypergraph; its arrays stay on disk until they are read.

    Args:
        folder: as given to `save_hypergraph`.
        verify: read every byte and compare it with the recorded SHA-256; False takes the sizes.

    Raises:
        JaxkgError: no such folder, not a saved hypergraph, of a newer version, or damaged.
    """
    saved = ArrayFolder(folder, _LAYOUT, verify=verify)
    meta = saved.meta
    try:
        named = ("entity_names",) if meta["has_names"] else ()
        stored = saved.load(_ARRAYS, ("entity_ids", *named, *_TABLES), ascending="entity_ids")
        stored.setdefault("entity_names", stored["entity_ids"])
        graph = KnowledgeHypergraph(
            kinds=tuple(meta["kinds"]),
            duplicates=meta["duplicates"],
            **stored,
        )
        counts = graph.num_entities, graph.num_edges, graph.num_chunks
        if counts != (meta["entities"], meta["hyperedges"], meta["chunks"]):
            raise JaxkgError(f"{saved.path}: damaged: its notes and arrays are of different graphs")
        graph.__dict__["fingerprint"] = meta["fingerprint"]
    except (KeyError, TypeError) as error:
        raise JaxkgError(f"{saved.path}: damaged: {error!r}") from error
    return graph
