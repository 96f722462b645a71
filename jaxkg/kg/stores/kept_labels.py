"""All names at an endpoint, kept in a folder: for an endpoint that has no index of its own."""

from __future__ import annotations

import os

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.store import save_graph
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.stores.arrays import ArrayStore, save_index
from jaxkg.kg.stores.sparql import SparqlStore


def save_labels(store: SparqlStore, folder: str | os.PathLike[str]) -> int:
    """Read all names at an endpoint and keep them: a saved graph of entities and no facts.

    Returns:
        How many entities have a name.

    Raises:
        JaxkgError: the endpoint fails or does not give all of them; or see `save_graph`.
    """
    names = store.names()
    if troubles := store.troubles():
        raise JaxkgError(f"not all names were read: {'; '.join(troubles)}")
    ids = sorted(names)
    kg = KnowledgeGraph(
        entity_ids=NameTable.from_names(ids, ascending=True),
        entity_names=NameTable.from_names([names[id][0] for id in ids]),
        relations=(_source(store),),
        triples=np.empty((0, 3), np.int32),
        aliases=AliasTable.from_mapping({row: names[id][1:] for row, id in enumerate(ids)}),
    )
    save_graph(kg, folder, beside=lambda path: save_index(path, kg))
    return len(ids)


def open_labels(store: SparqlStore, folder: str | os.PathLike[str]) -> ArrayStore:
    """The names kept of this endpoint; nothing is read but what is looked up.

    Raises:
        JaxkgError: there are none, or they are of another endpoint, graph or language.
    """
    labels = ArrayStore.open(folder)
    if labels.kg.num_triples or labels.kg.relations != (_source(store),):
        of = "a graph" if labels.kg.num_triples else ", ".join(labels.kg.relations)
        raise JaxkgError(f"{os.fspath(folder)}: of {of}, not names of {_source(store)}")
    return labels


def _source(store: SparqlStore) -> str:
    """Where names were read, and which."""
    asked = store.patterns
    return " ".join(
        [store.title, asked.graph or "", f"@{asked.language}", *asked.labels, *asked.aliases]
    )
