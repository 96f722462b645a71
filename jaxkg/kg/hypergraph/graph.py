"""The knowledge hypergraph on the host and on disk: hyperedges over any number of entities."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.array_folder import ArrayFolder, Layout, write_arrays
from jaxkg.kg.names import NameTable, nearest

NULL = -1
"""Marks a hyperedge that comes from no chunk."""


@dataclasses.dataclass(frozen=True)
class Chunk:
    """A stretch of source text that hyperedges were read from.

    Attributes:
        id: unique within the hypergraph.
        title: of the document; may be empty.
        text: the words.
    """

    id: str
    title: str
    text: str


@dataclasses.dataclass(frozen=True)
class Hyperedge:
    """One n-ary fact.

    Attributes:
        name: what it says: a sentence, or the name of a relation.
        entities: entity ids in the fact's own order; one may stand there twice.
        kind: "fact" (the name is a sentence), "relation" (the name is a relation between the
            entities), "passage" (the entities of one text), "synonym", or any word of one's own.
        chunk: id of the chunk it was read from.
    """

    name: str
    entities: tuple[str, ...]
    kind: str = "fact"
    chunk: str | None = None


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class KnowledgeHypergraph:
    """Hyperedges with their entities, the entities' descriptions, and the source text.

    Entities are numbered by the code point order of their ids; hyperedges and chunks keep the order
    in which they were given. Equal hyperedges (name, entities, kind, chunk) are held once.

    Example:
        >>> graph = KnowledgeHypergraph.from_edges([
        ...     Hyperedge("Mario + Rabbids is by Nintendo and Ubisoft", ("m", "n", "u")),
        ...     Hyperedge("Ubisoft was at E3 2021", ("u", "e3")),
        ... ], names={"m": "Mario + Rabbids", "n": "Nintendo", "u": "Ubisoft", "e3": "E3 2021"})
        >>> graph
        KnowledgeHypergraph(4 entities, 2 hyperedges, 0 chunks)
        >>> graph.edges_of(graph.entity("u")).tolist()
        [0, 1]

    Attributes:
        entity_ids: N unique strings, ascending.
        entity_names: N display names.
        descriptions: N texts, "" where there is none.
        edge_names: H strings, see `Hyperedge.name`.
        kinds: the kinds that occur, in order of code.
        edge_kind: [H] int8 code into `kinds`.
        edge_chunk: [H] int32 row of the chunk, -1 for none.
        offsets: [H+1] int64, where each hyperedge's entities start in `members`.
        members: [M] int32 entity rows, hyperedge by hyperedge, in the facts' own order.
        chunk_ids, chunk_titles, chunk_texts: C strings each.
        duplicates: repeated hyperedges that were merged.
    """

    entity_ids: NameTable
    entity_names: NameTable
    descriptions: NameTable
    edge_names: NameTable
    kinds: tuple[str, ...]
    edge_kind: np.ndarray
    edge_chunk: np.ndarray
    offsets: np.ndarray
    members: np.ndarray
    chunk_ids: NameTable
    chunk_titles: NameTable
    chunk_texts: NameTable
    duplicates: int = 0

    def __post_init__(self) -> None:
        edges, entities, chunks = len(self.edge_names), len(self.entity_ids), len(self.chunk_ids)
        for array, dtype, length, what in (
            (self.edge_kind, np.int8, edges, "edge_kind"),
            (self.edge_chunk, np.int32, edges, "edge_chunk"),
            (self.offsets, np.int64, edges + 1, "offsets"),
            (self.members, np.int32, int(self.offsets[-1]) if len(self.offsets) else 0, "members"),
        ):
            if array.dtype != dtype or array.shape != (length,):
                raise JaxkgError(
                    f"{what} must be [{length}] {np.dtype(dtype)}, got {array.shape} {array.dtype}"
                )
            array.setflags(write=False)
        for table, length, what in (
            (self.entity_names, entities, "display names for the entities"),
            (self.descriptions, entities, "descriptions of the entities"),
            (self.chunk_titles, chunks, "titles of the chunks"),
            (self.chunk_texts, chunks, "texts of the chunks"),
        ):
            if len(table) != length:
                raise JaxkgError(f"{len(table)} {what}, of which there are {length}")
        for array, low, high, what in (
            (self.members, 0, entities, "an entity"),
            (self.edge_chunk, NULL, chunks, "a chunk"),
            (self.edge_kind, 0, len(self.kinds), "a kind"),
        ):
            if len(array) and not (low <= int(array.min()) and int(array.max()) < high):
                raise JaxkgError(f"a hyperedge names {what} outside [{low}, {high})")
        if self.offsets[0] != 0 or np.any(np.diff(self.offsets) < 1):
            raise JaxkgError("every hyperedge joins at least one entity")

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Hyperedge],
        *,
        names: Mapping[str, str] | None = None,
        descriptions: Mapping[str, str] | None = None,
        chunks: Iterable[Chunk] = (),
    ) -> Self:
        """Build a hypergraph.

        Args:
            edges: the facts; repetitions are merged and counted.
            names: display name by entity id; an entity without one is shown by its id. Names and
                descriptions of entities that no hyperedge joins are left out.
            descriptions: what each entity is, by id.
            chunks: the source texts; all are kept, also those nothing was read from.

        Raises:
            JaxkgError: a hyperedge is blank, joins nothing or names a chunk that is not given, or
                two chunks share an id.
        """
        texts = list(chunks)
        chunk_row: dict[str, int] = {}
        for row, chunk in enumerate(texts):
            if chunk_row.setdefault(chunk.id, row) != row:
                raise JaxkgError(f"two chunks have the id {chunk.id!r}; ids must be unique")
        seen: dict[Hyperedge, int] = {}
        given = 0
        for given, edge in enumerate(edges, start=1):
            _refuse_bad(edge, given, chunk_row)
            seen.setdefault(edge, len(seen))
        kinds = {kind: code for code, kind in enumerate(dict.fromkeys(e.kind for e in seen))}
        if len(kinds) > 127:
            raise JaxkgError(f"{len(kinds)} kinds of hyperedges; at most 127 fit")
        ids = sorted({entity for edge in seen for entity in edge.entities})
        row_of = {entity: row for row, entity in enumerate(ids)}
        arity = np.fromiter((len(edge.entities) for edge in seen), np.int64, len(seen))
        offsets = np.zeros(len(seen) + 1, np.int64)
        np.cumsum(arity, out=offsets[1:])
        named, described = names or {}, descriptions or {}
        table = NameTable.from_names(ids, ascending=True)
        shown = [named.get(entity, entity) for entity in ids]
        return cls(
            entity_ids=table,
            entity_names=table if shown == ids else NameTable.from_names(shown),
            descriptions=NameTable.from_names(described.get(entity, "") for entity in ids),
            edge_names=NameTable.from_names(edge.name for edge in seen),
            kinds=tuple(kinds),
            edge_kind=np.fromiter((kinds[edge.kind] for edge in seen), np.int8, len(seen)),
            edge_chunk=np.fromiter(
                (NULL if e.chunk is None else chunk_row[e.chunk] for e in seen), np.int32, len(seen)
            ),
            offsets=offsets,
            members=np.fromiter(
                (row_of[entity] for edge in seen for entity in edge.entities),
                np.int32,
                int(offsets[-1]),
            ),
            chunk_ids=NameTable.from_names(chunk.id for chunk in texts),
            chunk_titles=NameTable.from_names(chunk.title for chunk in texts),
            chunk_texts=NameTable.from_names(chunk.text for chunk in texts),
            duplicates=given - len(seen),
        )

    @property
    def num_entities(self) -> int:
        """N."""
        return len(self.entity_ids)

    @property
    def num_edges(self) -> int:
        """H."""
        return len(self.edge_names)

    @property
    def num_chunks(self) -> int:
        """C."""
        return len(self.chunk_ids)

    def __repr__(self) -> str:
        counts = (
            (self.num_entities, "entity", "entities"),
            (self.num_edges, "hyperedge", "hyperedges"),
            (self.num_chunks, "chunk", "chunks"),
        )
        parts = (f"{n:,} {singular if n == 1 else many}" for n, singular, many in counts)
        return f"KnowledgeHypergraph({', '.join(parts)})"

    def entity(self, entity_id: str) -> int:
        """Row of an entity by its id.

        Raises:
            JaxkgError: there is none; names the nearest ids.
        """
        rows = self.entity_ids.rows(entity_id)
        if not rows:
            raise JaxkgError(
                f"no entity {entity_id!r}{nearest(entity_id, self.entity_ids.tolist())}"
            )
        return rows[0]

    def name(self, entity: int) -> str:
        """Display name of an entity row."""
        return self.entity_names[entity]

    def entities_of(self, edge: int) -> np.ndarray:
        """[n] int32 entity rows of a hyperedge, in its own order."""
        return self.members[self.offsets[edge] : self.offsets[edge + 1]]

    def edges_of(self, entity: int) -> np.ndarray:
        """[n] int32 hyperedges that join an entity, ascending."""
        starts, edges = self.incidence
        return edges[starts[entity] : starts[entity + 1]]

    @functools.cached_property
    def incidence(self) -> tuple[np.ndarray, np.ndarray]:
        """Hyperedges by entity: [N+1] int64 starts and [M'] int32 hyperedges, each once."""
        edge = np.repeat(np.arange(self.num_edges, dtype=np.int64), np.diff(self.offsets))
        pairs = np.unique(self.members * np.int64(self.num_edges) + edge)
        entity, edge = np.divmod(pairs, max(1, self.num_edges))
        starts = np.searchsorted(entity, np.arange(self.num_entities + 1))
        return starts.astype(np.int64), edge.astype(np.int32)

    def kind(self, edge: int) -> str:
        """Kind of a hyperedge."""
        return self.kinds[self.edge_kind[edge]]

    def rows_of_kind(self, kind: str) -> np.ndarray:
        """[n] int64 hyperedges of a kind; none where it does not occur."""
        code = self.kinds.index(kind) if kind in self.kinds else NULL
        return np.flatnonzero(self.edge_kind == code)

    def chunk(self, row: int) -> Chunk:
        """A chunk by its row."""
        return Chunk(self.chunk_ids[row], self.chunk_titles[row], self.chunk_texts[row])

    def hyperedge(self, edge: int) -> Hyperedge:
        """A hyperedge by its row.

        Raises:
            JaxkgError: there is no such row.
        """
        if not 0 <= edge < self.num_edges:
            raise JaxkgError(f"hyperedge {edge} is not in [0, {self.num_edges})")
        chunk = int(self.edge_chunk[edge])
        return Hyperedge(
            name=self.edge_names[edge],
            entities=tuple(self.entity_ids[row] for row in self.entities_of(edge)),
            kind=self.kind(edge),
            chunk=None if chunk == NULL else self.chunk_ids[chunk],
        )

    def tell(self, edge: int) -> str:
        """A hyperedge in words.

        >>> graph = KnowledgeHypergraph.from_edges([
        ...     Hyperedge("is between", ("1", "2", "3"), "relation"),
        ... ], names={"1": "Bonn", "2": "Köln", "3": "Koblenz"})
        >>> graph.tell(0)
        'is between: Bonn; Köln; Koblenz'
        """
        name = self.edge_names[edge]
        if self.kind(edge) == "fact":
            return name
        return f"{name}: {'; '.join(self.name(row) for row in self.entities_of(edge))}"

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of everything the hypergraph says."""
        digest = hashlib.sha256()
        for table in (
            self.entity_ids,
            self.entity_names,
            self.descriptions,
            self.edge_names,
            NameTable.from_names(self.kinds),
            self.chunk_ids,
            self.chunk_titles,
            self.chunk_texts,
        ):
            digest.update(table.offsets.astype("<i8").tobytes())
            digest.update(table.blob.tobytes())
        for array in (self.edge_kind, self.edge_chunk, self.offsets, self.members):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()

    def stats(self) -> dict[str, Any]:
        """Counts that tell whether it was read as meant; ready for JSON."""
        arity, counts = np.unique(np.diff(self.offsets), return_counts=True)
        degree = np.diff(self.incidence[0])
        busiest = np.argsort(-degree, kind="stable")[:5].tolist()
        return {
            "entities": self.num_entities,
            "hyperedges": self.num_edges,
            "chunks": self.num_chunks,
            "kinds": {kind: len(self.rows_of_kind(kind)) for kind in self.kinds},
            "arity": dict(zip(arity.tolist(), counts.tolist())),
            "described": int(np.count_nonzero(np.diff(self.descriptions.offsets))),
            "busiest": [[self.name(row), int(degree[row])] for row in busiest],
            "duplicates": self.duplicates,
        }


def _refuse_bad(edge: Hyperedge, number: int, chunks: Mapping[str, int]) -> None:
    sound = bool(edge.entities) and all(
        isinstance(text, str) and text.strip() for text in (edge.name, edge.kind, *edge.entities)
    )
    if not sound:
        raise JaxkgError(
            f"hyperedge {number} needs a name, a kind and at least one entity id, all non-blank "
            f"strings; got {edge}"
        )
    if edge.chunk is not None and edge.chunk not in chunks:
        raise JaxkgError(
            f"hyperedge {number} ({edge.name!r}) comes from chunk {edge.chunk!r}, which is not "
            f"among the {len(chunks)} chunks given{nearest(edge.chunk, list(chunks))}"
        )


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


def open_hypergraph(folder: str | os.PathLike[str]) -> KnowledgeHypergraph:
    """Open a saved hypergraph, every byte of which must be as it was saved.

    Args:
        folder: as given to `save_hypergraph`.

    Raises:
        JaxkgError: no such folder, not a saved hypergraph, of a newer version, or damaged.
    """
    saved = ArrayFolder(folder, _LAYOUT, verify=True)
    meta = saved.meta
    try:
        named = ("entity_names",) if meta["has_names"] else ()
        stored = saved.load(_ARRAYS, ("entity_ids", *named, *_TABLES), ascending="entity_ids")
        stored.setdefault("entity_names", stored["entity_ids"])
        graph = KnowledgeHypergraph(
            kinds=tuple(meta["kinds"]), duplicates=meta["duplicates"], **stored
        )
        counts = graph.num_entities, graph.num_edges, graph.num_chunks
        if counts != (meta["entities"], meta["hyperedges"], meta["chunks"]):
            raise JaxkgError(f"{saved.path}: damaged: its notes and arrays are of different graphs")
        graph.__dict__["fingerprint"] = meta["fingerprint"]
    except (KeyError, TypeError) as error:
        raise JaxkgError(f"{saved.path}: damaged: {error!r}") from error
    return graph
