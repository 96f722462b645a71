"""A saved graph changed where it lies: nothing is rebuilt, and the next answer sees it.

Read with the module's name: `edit.add(folder, kg)`, `edit.remove(folder, kg)`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.array_folder import ArrayFolder
from jaxkg.kg.files.changes import Changes, Triple, change_graph
from jaxkg.kg.files.store import open_graph, save_graph
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.stores.arrays import INDEX, INDEX_LAYOUT, has_index, save_index
from jaxkg.lock import FolderLock


class Edited(NamedTuple):
    """What a change did.

    Attributes:
        facts: that were added or removed.
        merged: that were there before.
        relations: that are new to the graph, or that have no fact any more.
    """

    facts: int
    merged: int
    relations: tuple[str, ...]


def add(folder: str | os.PathLike[str], kg: KnowledgeGraph) -> Edited:
    """Add a graph's facts, names and aliases to a saved graph.

    Args:
        folder: of the saved graph.
        kg: what to add; an entity is the same where its id is.

    Raises:
        JaxkgError: no saved graph there, another process is changing it, or it cannot be written.
    """
    saved = open_graph(folder, verify=False, changed=False, packed=True)
    counts = [0, 0]
    fresh: list[str] = []

    def change(changes: Changes) -> dict[str, Any]:
        triples = [kg.triple(row) for row in range(kg.num_triples)]
        there = _there(saved, changes, triples)
        rows = [row for row, held in enumerate(there) if not held]
        counts[:] = len(rows), len(triples) - len(rows)
        known = {*saved.relations, *(relation for _, relation, _ in changes.added)}
        fresh[:] = sorted({triples[row][1] for row in rows} - known)
        named = [row for row in range(kg.num_entities) if kg.name(row) != kg.entity_ids[row]]
        return {
            "add": [triples[row] for row in rows],
            "sources": [kg.source(row) or "" for row in rows] if kg.provenance else [],
            "names": {kg.entity_ids[row]: kg.name(row) for row in named},
            "aliases": {kg.entity_ids[row]: list(also) for row, also in kg.aliases.items()},
        }

    change_graph(folder, lambda: _fingerprint(folder, saved), change)
    return Edited(counts[0], counts[1], tuple(fresh))


def remove(folder: str | os.PathLike[str], kg: KnowledgeGraph) -> Edited:
    """Remove a graph's facts from a saved graph; all of them or none.

    Raises:
        JaxkgError: as `add`; or one of them is not in the saved graph.
    """
    saved = open_graph(folder, verify=False, changed=False, packed=True)
    triples = [kg.triple(row) for row in range(kg.num_triples)]

    def change(changes: Changes) -> dict[str, Any]:
        for fact, held in zip(triples, _there(saved, changes, triples)):
            if not held:
                raise JaxkgError(f"{fact} is not in {os.fspath(folder)}; nothing was removed")
        return {"remove": triples}

    change_graph(folder, lambda: _fingerprint(folder, saved), change)
    now = open_graph(folder, verify=False) if saved.num_triples < 1_000_000 else None
    gone = () if now is None else tuple(sorted({*kg.relations} - {*now.relations}))
    return Edited(len(triples), 0, gone)


def compact(folder: str | os.PathLike[str], *, indexed: bool = False) -> KnowledgeGraph:
    """Save a graph anew with its changes in it; the folder is the old one or the new one, whole.

    Args:
        folder: of the saved graph.
        indexed: with an index, also where it has none.

    Raises:
        JaxkgError: as `add`, or the graph is damaged.
    """
    open_graph(folder, verify=False, changed=False, packed=True)
    lock = FolderLock(Path(folder))
    try:
        graph = open_graph(folder)
        indexed = indexed or has_index(folder)
        index = (lambda fresh: save_index(fresh, graph)) if indexed else None
        save_graph(graph, folder, beside=index)
    finally:
        lock.close()
    return graph


def verify(folder: str | os.PathLike[str]) -> None:
    """Read every byte of a saved graph and of its index, and compare it with what was recorded.

    Raises:
        JaxkgError: no such folder, or a file is damaged; says which.
    """
    open_graph(folder, packed=True)
    if has_index(folder):
        ArrayFolder(Path(folder) / INDEX, INDEX_LAYOUT)


def _there(saved: KnowledgeGraph, changes: Changes, triples: Sequence[Triple]) -> list[bool]:
    """Whether the graph as it is now has each of these facts."""
    return [
        fact in changes.added or (fact not in changes.removed and saved.row(fact) >= 0)
        for fact in triples
    ]


def _fingerprint(folder: str | os.PathLike[str], saved: KnowledgeGraph) -> str:
    """That of the graph saved there.

    Raises:
        JaxkgError: it was saved anew since it was opened.
    """
    now = open_graph(folder, verify=False, changed=False, packed=True).fingerprint
    if now != saved.fingerprint:
        raise JaxkgError(f"{os.fspath(folder)}: was saved anew just now; try again")
    return now
