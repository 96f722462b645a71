"""A graph of arrays as a store: in memory, or mapped from a folder and never read whole."""

from __future__ import annotations

import bisect
import functools
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.array_folder import ArrayFolder, Layout, write_arrays
from jaxkg.kg.files.store import GRAPH_LAYOUT, open_graph, save_graph
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import spread
from jaxkg.kg.stores.around import SAMPLED, empty_graph, runs_of_rows, sample_graph
from jaxkg.kg.stores.labels import Hashes, LabelIndex
from jaxkg.kg.stores.store import Described, Facts, Runs
from jaxkg.kg.triples import PART, PackedTriples, offsets

INDEX = "index"
_SAMPLE = "sample"
"""Folder within a saved graph's."""
INDEX_LAYOUT = Layout("jaxkg-index", 2, "index of a graph", "make it anew: `jaxkg kg index FOLDER`")
_ARRAYS = ("back", "back_relation", "back_first", "keys", "owners", "words", "word_owners")
_READ_WHOLE = 20_000
"""Facts of an entity in one direction that are read to count them; of more, the bounds of each
relation are bisected."""
_NAMESAKES = 30
_CHUNK = 1 << 18


class GraphIndex(NamedTuple):
    """What is computed once of a graph.

    Attributes:
        back: [T] uint32 or int64, rows of triples by tail, then relation.
        back_relation: [T] uint16 or int32, their relations.
        back_first: [N + 1] uint32 or int64, where each tail's begin in `back`.
        labels: of names and aliases.
    """

    back: np.ndarray
    back_relation: np.ndarray
    back_first: np.ndarray
    labels: LabelIndex


def _index(arrays: Mapping[str, np.ndarray]) -> GraphIndex:
    back, relation, first, *labels = (arrays[name] for name in _ARRAYS)
    return GraphIndex(back, relation, first, LabelIndex(*labels))


def _made(kg: KnowledgeGraph) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of an index; who keeps none of them never holds all."""
    yield from zip(_ARRAYS[:3], _backwards(kg))
    yield from zip(_ARRAYS[3:], vars(_labels(kg)).values())


def _backwards(kg: KnowledgeGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = kg.num_entities
    triples = PackedTriples.of(kg.triples, count, kg.num_relations)
    tail, relation = triples.tail, triples.relation
    back_first = offsets(tail, count)
    back, back_relation = np.empty(len(tail), back_first.dtype), np.empty_like(relation)
    # Some tails at a time, so that what is sorted fits into memory.
    starts = np.arange(0, len(tail), PART << 1).astype(back_first.dtype)
    cuts = np.unique([*np.searchsorted(back_first, starts, "right") - 1, count])
    for low, high in itertools.pairwise(cuts.tolist()):
        rows = np.flatnonzero((tail >= low) & (tail < high))
        place = slice(int(back_first[low]), int(back_first[high]))
        back[place] = rows[np.lexsort((relation[rows], tail[rows]))]
        back_relation[place] = relation[back[place]]
    return back, back_relation, back_first


def _labels(kg: KnowledgeGraph) -> LabelIndex:
    hashes, count = Hashes(), kg.num_entities
    for start in range(0, count, _CHUNK):
        end = min(start + _CHUNK, count)
        hashes.add(kg.entity_names[start:end], np.arange(start, end))
    for start in range(0, len(kg.aliases.names), _CHUNK):
        end = min(start + _CHUNK, len(kg.aliases.names))
        hashes.add(kg.aliases.names[start:end], kg.aliases.owners[start:end])
    return hashes.index()


def save_index(folder: str | os.PathLike[str], kg: KnowledgeGraph) -> None:
    """Write the index of a saved graph into its folder.

    Raises:
        JaxkgError: it cannot be written.
    """

    def sampled(fresh: Path) -> None:
        # Read all over the graph: later every process would touch most of its pages to do so.
        if kg.num_triples > SAMPLED:
            arrays = ArrayFolder(fresh, INDEX_LAYOUT, verify=False).load(_ARRAYS, ())
            save_graph(sample_graph(ArrayStore(kg, _index(arrays))), fresh / _SAMPLE)

    write_arrays(
        Path(folder) / INDEX,
        _made(kg),
        {"fingerprint": kg.fingerprint},
        INDEX_LAYOUT,
        beside=sampled,
    )


def has_index(folder: str | os.PathLike[str]) -> bool:
    """Whether a saved graph has one."""
    return (Path(folder) / INDEX / "meta.json").is_file()


def facts_of(folder: str | os.PathLike[str]) -> int:
    """How many facts a saved graph has, by its notes alone.

    Raises:
        JaxkgError: as `ArrayFolder`.
    """
    return int(ArrayFolder(folder, GRAPH_LAYOUT, verify=False).meta["triples"])


class ArrayStore:
    """A graph of arrays, asked for a part at a time; see `Store`.

    Example:
        >>> kg = KnowledgeGraph.from_triples([("Alien", "by", "Scott"), ("Legend", "by", "Scott")])
        >>> store = ArrayStore(kg)
        >>> store.search(["legend"]), store.runs(np.array([2])).size.tolist()
        ([[1]], [2])
    """

    closed = True
    numbered = True

    def __init__(
        self, kg: KnowledgeGraph, index: GraphIndex | None = None, title: str = ""
    ) -> None:
        """Take a graph, and its index where that is there already."""
        self.kg = kg
        self.title = title or "the graph"
        self.sample: KnowledgeGraph | None = None
        self.index = index or _index(dict(_made(kg)))
        self.triples = PackedTriples.of(kg.triples, kg.num_entities, kg.num_relations)
        self._hubs: dict[tuple[int, bool], list[tuple[int, int, int]]] = {}

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> ArrayStore:
        """A saved graph with its index; but for small ones nothing is read but what is asked for.

        Raises:
            JaxkgError: no such folder, no index in it, or one of another graph; damaged.
        """
        if not has_index(folder):
            raise JaxkgError(
                f"{os.fspath(folder)}: no saved graph with an index; `jaxkg kg build --index` "
                "makes one, `jaxkg kg index FOLDER` adds it"
            )
        kg = open_graph(folder, verify=None, changed=False, packed=True)
        saved = ArrayFolder(Path(folder) / INDEX, INDEX_LAYOUT, verify=None)
        if (
            not isinstance(kg.triples, PackedTriples)
            or saved.meta["version"] < INDEX_LAYOUT.version
        ):
            raise JaxkgError(f"{saved.path}: of an earlier jaxkg; {INDEX_LAYOUT.works}")
        index = _index(saved.load(_ARRAYS, ()))
        if saved.meta.get("fingerprint") != kg.fingerprint:
            raise JaxkgError(f"{saved.path}: of another graph; {INDEX_LAYOUT.works}")
        store = cls(kg, index, str(folder))
        if kg.num_triples > SAMPLED:
            store.sample = open_graph(saved.path / _SAMPLE)
        return store

    @property
    def schema(self) -> KnowledgeGraph:
        """See `Store`; its fingerprint is the graph's."""
        return self._schema

    @functools.cached_property
    def _schema(self) -> KnowledgeGraph:
        kg = self.kg
        schema = empty_graph(kg.relations, kg.relation_labels, kg.relation_aliases)
        schema.__dict__["fingerprint"] = kg.fingerprint
        return schema

    def named(self, names: Sequence[str]) -> list[list[int]]:
        kg, labels = self.kg, self.index.labels
        return [
            list(kg.entity_ids.rows(name))
            or [row for row in labels.rows(name).tolist() if self._name(row) == name]
            for name in names
        ]

    def search(self, texts: Sequence[str]) -> list[list[int]]:
        """See `Store`; of many namesakes those with most facts."""
        return [self._first_few(self.index.labels.rows(text)) for text in texts]

    def near(self, text: str) -> list[int]:
        """See `Store`: those that share a rarer word and most letters."""
        return self.index.labels.near(text, self._name)

    def worded(self, text: str) -> list[int]:
        return self.index.labels.worded(text).tolist()

    def _name(self, row: int) -> str:
        self._sound(np.array([row]), self.kg.num_entities, f"{INDEX}/owners.npy")
        return self.kg.name(row)

    def _sound(self, numbers: np.ndarray, count: int, file: str) -> np.ndarray:
        """These numbers, which are below a count; a mapped file is not read before it is used.

        Raises:
            JaxkgError: one is not.
        """
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
            raise JaxkgError(
                f"{self.title}: damaged: {file} has a number past the {count:,} there are; build "
                f"it again (`jaxkg kg stats {self.title} --verify` reads every file)"
            )
        return numbers

    def _first_few(self, rows: np.ndarray) -> list[int]:
        if len(rows) > _NAMESAKES and self.kg.num_triples:
            spans = (self._span(inverse, rows) for inverse in (False, True))
            degree = sum(end - start for start, end in spans)
            rows = np.sort(rows[np.argsort(-degree, kind="stable")[:_NAMESAKES]])
        return rows.tolist()

    def runs(self, nodes: np.ndarray) -> Runs:
        parts = []
        for inverse in (False, True):
            start, end = self._span(inverse, nodes)
            few = end - start <= _READ_WHOLE
            places = spread(start[few], end[few])
            relation = self._known(np.asarray(self._relation(inverse)[places], np.int64), inverse)
            owner = np.repeat(nodes[few], end[few] - start[few])
            parts.append(runs_of_rows(owner, relation, inverse))
            many = [
                (int(node), relation, inverse, high - low)
                for node, a, b in zip(nodes[~few], start[~few].tolist(), end[~few].tolist())
                for relation, low, high in self._bounds(a, b, inverse)
            ]
            self._known(np.array([relation for _, relation, _, _ in many], np.int64), inverse)
            parts.append(Runs.of(many))
        return Runs.joined(parts)

    def fetch(self, runs: Runs) -> Facts:
        parts = [np.empty(0, np.int64)]
        for inverse in (False, True):
            is_side = runs.inverse == inverse
            nodes = np.unique(runs.node[is_side])
            start, end = self._span(inverse, nodes)
            small = end - start <= _READ_WHOLE
            places = spread(start[small], end[small])
            owner = np.repeat(nodes[small], end[small] - start[small])
            wanted = _keys(runs.node[is_side], runs.relation[is_side])
            keys = _keys(owner, self._relation(inverse)[places])
            parts.append(self._rows(places[np.isin(keys, wanted)], inverse))
            hubs = dict(zip(nodes[~small].tolist(), zip(start[~small], end[~small])))
            for node, code in zip(runs.node[is_side].tolist(), runs.relation[is_side].tolist()):
                if node in hubs:
                    a, b = hubs[node]
                    low, high = self._bound(int(a), int(b), code, inverse)
                    parts.append(self._rows(np.arange(low, high), inverse))
        rows = np.unique(np.concatenate(parts))
        return Facts(self._facts(rows), rows)

    @property
    def count(self) -> int:
        return self.kg.num_triples

    def everything(self) -> Facts:
        return Facts(self._facts(slice(None)), np.arange(self.kg.num_triples))

    def some(self, most: int) -> np.ndarray:
        """See `Store`; evenly spaced."""
        return self._facts(slice(None, None, -(-self.kg.num_triples // most) or 1))

    def _facts(self, rows: np.ndarray | slice) -> np.ndarray:
        triples = np.asarray(self.triples[rows], np.int64)
        self._known(triples[:, 1], False)
        self._sound(triples[:, 2], self.kg.num_entities, "tail.npy")
        return triples

    def _known(self, relations: np.ndarray, inverse: bool) -> np.ndarray:
        file = f"{INDEX}/back_relation.npy" if inverse else "relation.npy"
        return self._sound(relations, self.kg.num_relations, file)

    def _span(self, inverse: bool, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the facts of some nodes begin and end."""
        self._sound(nodes, self.kg.num_entities, f"{INDEX}/owners.npy")
        first = self.index.back_first if inverse else self.triples.first
        start, end = first[nodes].astype(np.int64), first[nodes + 1].astype(np.int64)
        file = f"{INDEX}/back_first.npy" if inverse else "first.npy"
        self._sound(end, self.kg.num_triples + 1, file)
        self._sound(end - start, self.kg.num_triples + 1, file)
        return start, end

    def _rows(self, places: np.ndarray, inverse: bool) -> np.ndarray:
        if not inverse:
            return places
        rows = np.asarray(self.index.back[places], np.int64)
        return self._sound(rows, self.kg.num_triples, f"{INDEX}/back.npy")

    def _relation(self, inverse: bool) -> np.ndarray:
        return self.index.back_relation if inverse else self.triples.relation

    def _bound(self, start: int, end: int, code: int, inverse: bool) -> tuple[int, int]:
        places, key = range(start, end), self._relation(inverse).__getitem__
        low = bisect.bisect_left(places, code, key=key)
        return start + low, start + bisect.bisect_right(places, code, low, key=key)

    def _bounds(self, start: int, end: int, inverse: bool) -> list[tuple[int, int, int]]:
        """(relation, first, last) of each relation of a hub."""
        known = (start, inverse)
        if known not in self._hubs:
            relation, bounds = self._relation(inverse), []
            while start < end:
                code = int(relation[start])
                high = self._bound(start, end, code, inverse)[1]
                bounds.append((code, start, high))
                start = high
            self._hubs[known] = bounds
        return self._hubs[known]

    def described(self, nodes: np.ndarray) -> Described:
        kg = self.kg
        self._sound(nodes, kg.num_entities, f"{INDEX}/owners.npy")
        ids = kg.entity_ids.take(nodes).tolist()
        names = ids if kg.entity_names is kg.entity_ids else kg.entity_names.take(nodes).tolist()
        owners, sought = kg.aliases.owners, np.asarray(nodes, np.int32)
        low, high = np.searchsorted(owners, sought), np.searchsorted(owners, sought, "right")
        with_aliases = np.flatnonzero(high > low).tolist()
        return Described(
            ids, names, {row: tuple(kg.aliases.names[low[row] : high[row]]) for row in with_aliases}
        )

    def sources(self, rows: np.ndarray) -> list[str] | None:
        provenance = self.kg.provenance
        return None if provenance is None else provenance.take(rows).tolist()

    def holds(self, triples: Sequence[tuple[str, str, str]]) -> list[bool]:
        return [self.kg.row(triple) >= 0 for triple in triples]

    def troubles(self) -> list[str]:
        """See `Store`; arrays have none."""
        return []

    def stats(self) -> dict[str, Any]:
        """See `Store`; what takes a whole pass over names is left out."""
        kg = self.kg
        forward, backward = np.diff(self.triples.first), np.diff(self.index.back_first)
        degree = forward + backward
        counts = np.diff(offsets(self.triples.relation, kg.num_relations))
        hub = int(np.argmax(degree)) if len(degree) else None
        return {
            "entities": kg.num_entities,
            "relations": kg.num_relations,
            "triples": kg.num_triples,
            "aliases": len(kg.aliases.names),
            "degree": {
                "median": None if hub is None else float(np.median(degree)),
                "max": None if hub is None else int(degree[hub]),
                "hub": None if hub is None else kg.entity_ids[hub],
            },
            "relation_counts": {
                kg.relations[row]: int(counts[row]) for row in np.argsort(-counts, kind="stable")
            },
        }


def _keys(node: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """One int64 of a node and a relation."""
    return (np.asarray(node, np.int64) << 31) | relation
