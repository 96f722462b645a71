"""Graphs on disk, opened without reading them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.array_folder import ArrayFolder, Layout, write_arrays
from jaxkg.kg.files.changes import read_changes
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable
from jaxkg.kg.triples import PackedTriples
from jaxkg.words import relation_words

FORMAT = "jaxkg-graph"
VERSION = 3
GRAPH_LAYOUT = Layout(
    FORMAT,
    VERSION,
    "saved graph",
    "name a graph file, a folder of files, or what `jaxkg kg build FILE -o FOLDER` saved",
)


def save_graph(
    graph: KnowledgeGraph,
    folder: str | os.PathLike[str],
    *,
    beside: Callable[[Path], object] | None = None,
) -> Path:
    """Write a graph to a folder, whole or not at all: it appears when all of it is written.

    A graph saved there before is replaced; anything else in the way is left alone.

    Args:
        beside: function that writes further files into the folder before it appears.

    Raises:
        JaxkgError: the folder is a file, or holds something other than a saved graph, or cannot be
            written.
    """
    packed = PackedTriples.of(graph.triples, graph.num_entities, graph.num_relations)
    arrays = {
        "first": packed.first, "relation": packed.relation, "tail": packed.tail,
        "alias_owners": graph.aliases.owners, "aliases": graph.aliases.names,
        "entity_ids": graph.entity_ids,
    }  # fmt: skip
    named = graph.entity_names is not graph.entity_ids
    if named:
        arrays["entity_names"] = graph.entity_names
    if graph.provenance is not None:
        arrays["provenance"] = graph.provenance
    own = ("relations", "relation_names", "meanings", "duplicates", "skipped", "fingerprint")
    notes = {word: getattr(graph, word) for word in (*own, "relation_fingerprint")} | {
        "entities": graph.num_entities, "triples": graph.num_triples, "has_names": named,
        "has_provenance": graph.provenance is not None, "widths": packed.widths,
    }  # fmt: skip
    return write_arrays(folder, arrays, notes, GRAPH_LAYOUT, beside=beside)


def open_graph(
    folder: str | os.PathLike[str],
    *,
    verify: bool | None = True,
    changed: bool = True,
    packed: bool = False,
) -> KnowledgeGraph:
    """Open a saved graph; its names stay on disk until they are read.

    Args:
        verify: read each byte and compare it with the saved SHA-256 (about a second per gigabyte).
            False checks the sizes of files and the shapes of arrays alone; None verifies small
            folders.
        changed: apply the additions and removals since the graph was saved.
        packed: leave the triples on disk, too, as `PackedTriples`.

    Raises:
        JaxkgError: no such folder, not a saved graph, written by a newer version, or damaged.
    """
    saved = ArrayFolder(folder, GRAPH_LAYOUT, verify=verify)
    meta = saved.meta
    try:
        tables = ["entity_ids", "aliases"]
        tables += ["entity_names"] if meta["has_names"] else []
        tables += ["provenance"] if meta["has_provenance"] else []
        # Before version 3 triples were one array.
        columns = ("first", "relation", "tail") if meta["version"] > 2 else ("triples",)
        stored = saved.load((*columns, "alias_owners"), tables, ascending="entity_ids")
        # Version 1 knew no names of relations.
        told = {name: tuple(names) for name, names in meta.get("relation_names", {}).items()}
        relations = tuple(meta["relations"])
        graph = KnowledgeGraph(
            entity_ids=stored["entity_ids"],
            entity_names=stored.get("entity_names", stored["entity_ids"]),
            relations=relations,
            triples=_triples(saved, [stored[name] for name in columns], packed),
            aliases=AliasTable(stored["alias_owners"], stored["aliases"]),
            provenance=stored.get("provenance"),
            duplicates=meta["duplicates"],
            skipped=tuple(meta["skipped"]),
            relation_labels=tuple(
                told[name][0] if name in told else relation_words(name) for name in relations
            ),
            relation_aliases=AliasTable.from_mapping(
                {row: told[name][1:] for row, name in enumerate(relations) if name in told}
            ),
            meanings=meta.get("meanings", {}),
        )
        differ = (
            (graph.num_entities, graph.num_triples) != (meta["entities"], meta["triples"])
            or graph.relation_fingerprint != meta["relation_fingerprint"]
            or (verify and graph.fingerprint != meta["fingerprint"])
        )
        if differ:
            raise JaxkgError(f"{saved.path}: damaged: its notes and arrays are of different graphs")
        # What was computed over every byte when the graph was saved need not be computed again.
        graph.__dict__["fingerprint"] = meta["fingerprint"]
    except (KeyError, TypeError, AttributeError) as error:
        raise JaxkgError(f"{saved.path}: damaged: {error!r}") from error
    changes = read_changes(saved.path, graph.fingerprint) if changed else None
    return graph if changes is None else changes.applied(graph)


def _triples(saved: ArrayFolder, columns: Sequence[np.ndarray], packed: bool) -> np.ndarray:
    if len(columns) == 1:
        return columns[0]
    try:
        triples = PackedTriples(*columns)
    except JaxkgError as error:
        raise JaxkgError(f"{saved.path}: damaged: {error}; save it again") from error
    if triples.widths != saved.meta["widths"]:
        raise JaxkgError(f"{saved.path}: damaged: its columns are not of the noted widths")
    return cast(np.ndarray, triples) if packed else np.asarray(triples)
