"""The knowledge graph on the host: names, integers, and nothing of a device."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from jaxkg.errors import JaxkgError
from jaxkg.kg.encode import EncodedTriples, TripleEncoder, checked, used
from jaxkg.kg.names import AliasTable, NameTable, checked_names, digest_array, nearest
from jaxkg.words import is_name, relation_words


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class KnowledgeGraph:
    """A set of triples with stable entity ids and display names.

    Entities and relations are numbered by the code point order of their ids and names, and hold
    exactly what the triples mention. The same set of facts is therefore the same graph, array for
    array, in whatever order it was read or edited.

    Example:
        >>> graph = KnowledgeGraph.from_triples([
        ...     ("m.1", "directed_by", "m.9"), ("m.2", "directed_by", "m.9"),
        ... ], names={"m.1": "Kismet", "m.2": "Kismet", "m.9": "William Dieterle"})
        >>> graph.entity("m.9"), graph.relation_code("^directed_by"), graph.name(0)
        (2, 1, 'Kismet')
        >>> graph.find([0, 0], 0, [2, 1])
        array([ 0, -1])

    Attributes:
        entity_ids: N unique strings, ascending.
        entity_names: N display names; homonyms share a name and are kept apart by id.
        relations: R relation names, ascending.
        triples: [T, 3] int32 (head, relation, tail), unique, sorted by column, read-only. A graph
            that stays on disk has `PackedTriples`, which read in parts.
        aliases: other names, by entity index.
        provenance: where each triple was read (T strings, "" where unknown), if kept.
        duplicates: repeated triples that were merged.
        skipped: one message for each malformed line that was tolerated.
        relation_labels: R display names; default: the words of the relation's name.
        relation_aliases: further display names, such as other languages', by relation index.
        meanings: `says_back`, `hierarchy` and `symmetric` by relation, if declared.
    """

    entity_ids: NameTable
    entity_names: NameTable
    relations: tuple[str, ...]
    triples: np.ndarray
    aliases: AliasTable
    provenance: NameTable | None = None
    duplicates: int = 0
    skipped: tuple[str, ...] = ()
    relation_labels: tuple[str, ...] = ()
    relation_aliases: AliasTable = dataclasses.field(
        default_factory=lambda: AliasTable.from_mapping({})
    )
    meanings: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.triples.dtype != np.int32 or self.triples.shape[1:] != (3,):
            raise JaxkgError(
                f"triples must be [T, 3] int32, got {self.triples.shape} {self.triples.dtype}"
            )
        for table, length, what in (
            (self.entity_names, len(self.entity_ids), "display names for the entities"),
            (self.provenance, len(self.triples), "sources for the triples"),
            (self.relation_labels or None, len(self.relations), "display names for the relations"),
        ):
            if table is not None and len(table) != length:
                raise JaxkgError(f"{len(table)} {what}, of which there are {length}")
        if not self.relation_labels:
            labels = tuple(map(relation_words, self.relations))
            object.__setattr__(self, "relation_labels", labels)
        self.triples.setflags(write=False)

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[Sequence[str]],
        *,
        names: Mapping[str, str] | None = None,
        aliases: Mapping[str, Iterable[str]] | None = None,
        provenance: Iterable[str | None] | None = None,
        relation_names: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Build a graph from (head id, relation name, tail id) strings.

        Args:
            triples: the facts; repetitions are merged and counted.
            names: display name by entity id; an entity without one is shown by its id. Ids that no
                triple mentions are left out, here and in `aliases`.
            aliases: other names by entity id.
            provenance: where each of `triples` was read, one for one.
            relation_names: display names by relation, the one to show first.

        Raises:
            JaxkgError: a triple is not three non-blank strings, a name is blank, or `provenance`
                is shorter or longer than `triples`.
        """
        encoder = TripleEncoder()
        encoder.add_triples(triples, provenance)
        return cls.from_encoded(
            encoder.finish(), names=names, aliases=aliases, relation_names=relation_names
        )

    @classmethod
    def from_encoded(
        cls,
        table: EncodedTriples,
        *,
        names: Mapping[str, str] | None = None,
        aliases: Mapping[str, Iterable[str]] | None = None,
        skipped: Iterable[str] = (),
        relation_names: Mapping[str, Sequence[str]] | None = None,
        meanings: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Self:
        """Build a graph from the table of a `TripleEncoder`, as readers of files do."""
        ids = NameTable.from_names(table.entities, ascending=True)
        display = ids
        if names:
            shown = [names.get(entity, entity) for entity in table.entities]
            for entity, name in zip(table.entities, shown):
                if not isinstance(name, str) or not name.strip():
                    raise JaxkgError(
                        f"the display name of {entity!r} is {name!r}; leave it out, or give a "
                        "non-blank string"
                    )
            if shown != table.entities:
                display = NameTable.from_names(shown)
        others, rows = dict[int, list[str]](), {e: row for row, e in enumerate(table.entities)}
        for entity, also in (aliases or {}).items():
            listed = checked_names(f"the aliases of {entity!r}", also)
            others |= {rows[entity]: listed} if listed and entity in rows else {}
        labels = {
            name: checked_names(f"the names of the relation {name!r}", also)
            for name, also in (relation_names or {}).items()
        }
        told = [labels.get(name) or [relation_words(name)] for name in table.relations]
        return cls(
            entity_ids=ids,
            entity_names=display,
            relations=tuple(table.relations),
            triples=table.triples,
            aliases=AliasTable.from_mapping(others),
            provenance=None if table.sources is None else NameTable.from_names(table.sources),
            duplicates=table.duplicates,
            skipped=tuple(skipped),
            relation_labels=tuple(first for first, *_ in told),
            relation_aliases=AliasTable.from_mapping(dict(enumerate(t[1:] for t in told))),
            meanings={r: m for r, m in (meanings or {}).items() if m and r in table.relations},
        )

    @property
    def num_entities(self) -> int:
        """N."""
        return len(self.entity_ids)

    @property
    def num_relations(self) -> int:
        """R, inverses not counted."""
        return len(self.relations)

    @property
    def num_triples(self) -> int:
        """T."""
        return len(self.triples)

    def __repr__(self) -> str:
        counts = (
            (self.num_entities, "entity", "entities"),
            (self.num_relations, "relation", "relations"),
            (self.num_triples, "triple", "triples"),
        )
        told = (f"{n:,} {one if n == 1 else many}" for n, one, many in counts)
        return f"KnowledgeGraph({', '.join(told)})"

    def entity(self, entity_id: str) -> int:
        """Return the index of an entity, by its id.

        Raises:
            JaxkgError: unknown id; names the nearest ids, or the ids that carry it as a name.
        """
        rows = self.entity_ids.rows(entity_id)
        if rows:
            return rows[0]
        if named := self.entity_names.rows(entity_id):
            ids = ", ".join(repr(self.entity_ids[row]) for row in named[:5])
            raise JaxkgError(f"{entity_id!r} is a display name, not an id; the ids with it: {ids}")
        raise JaxkgError(f"no entity {entity_id!r}{nearest(entity_id, self.entity_ids.tolist())}")

    def relation_code(self, name: str) -> int:
        """Return the code of a relation: index r, or r + R for its inverse, written `^name`.

        Raises:
            JaxkgError: unknown relation; names the nearest ones.
        """
        inverse = name.startswith("^")
        row = self._relation_index.get(name[inverse:])
        if row is None:
            raise JaxkgError(f"no relation {name!r}{nearest(name, self.relations)}")
        return row + inverse * self.num_relations

    def relation_name(self, code: int) -> str:
        """Return the name of a relation code in [0, 2R); `^name` from R on.

        Raises:
            JaxkgError: the code is out of range.
        """
        if not 0 <= code < 2 * self.num_relations:
            raise JaxkgError(f"relation code {code} is not in [0, {2 * self.num_relations})")
        inverse, row = divmod(int(code), self.num_relations)
        return "^" * inverse + self.relations[row]

    def rows_of(self, relation: int) -> np.ndarray:
        """Return the rows of `triples` that have a relation, [F] int64, ascending.

        >>> kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c"), ("b", "s", "a")])
        >>> kg.rows_of(0)
        array([0, 1])
        """
        order, first = self._by_relation
        return order[first[relation] : first[relation + 1]]

    @functools.cached_property
    def _by_relation(self) -> tuple[np.ndarray, np.ndarray]:
        """[T] rows of triples by their relation; [R + 1] where each relation's begin."""
        relation = np.asarray(self.triples[:, 1])
        order = np.argsort(relation, kind="stable")
        return order, np.searchsorted(relation[order], np.arange(self.num_relations + 1))

    @functools.cached_property
    def _relation_index(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.relations)}

    def name(self, entity: int) -> str:
        """Return the display name of an entity index."""
        return self.entity_names[entity]

    def has_name(self, entity: int) -> bool:
        """Return whether the display name means anything to a reader, see `is_name`."""
        return is_name(self.name(entity))

    def triple(self, row: int) -> tuple[str, str, str]:
        """(head id, relation name, tail id) of a row of `triples`."""
        if not 0 <= row < self.num_triples:
            raise JaxkgError(f"triple {row} is not in [0, {self.num_triples})")
        head, relation, tail = self.triples[row].tolist()
        return self.entity_ids[head], self.relations[relation], self.entity_ids[tail]

    def row(self, triple: Sequence[str]) -> int:
        """Return the row of a triple by (head id, relation name, tail id); -1 if absent."""
        head, relation, tail = triple
        ends = self.entity_ids.rows(head) + self.entity_ids.rows(tail)
        code = self._relation_index.get(relation)
        return -1 if len(ends) < 2 or code is None else int(self.find(ends[0], code, ends[1]))

    def source(self, row: int) -> str | None:
        """Return where a row of `triples` was read; None if that is not known."""
        return (self.provenance[row] or None) if self.provenance is not None else None

    def find(
        self, heads: npt.ArrayLike, relations: npt.ArrayLike, tails: npt.ArrayLike
    ) -> np.ndarray:
        """Return the rows of triples, by their three integers.

        A code in [R, 2R) walks the triple backwards: `find(h, r + R, t)` is `find(t, r, h)`.

        Args:
            heads, tails: entity indices; relations: relation codes. Integers that broadcast.

        Returns:
            int64 rows of `triples`, -1 where the graph holds no such triple (an index out of range
            included), in the broadcast shape.
        """
        head, code, tail = np.broadcast_arrays(
            *(np.asarray(column, np.int64) for column in (heads, relations, tails))
        )
        inverse = code >= self.num_relations
        head, tail = np.where(inverse, tail, head), np.where(inverse, head, tail)
        code = np.where(inverse, code - self.num_relations, code)
        # Bisection compares the columns one by one: no packed key that could overflow, no index.
        low = np.zeros(head.shape, np.int64)
        high = np.full(head.shape, self.num_triples)
        for _ in range(self.num_triples.bit_length()):
            middle = np.minimum((low + high) // 2, self.num_triples - 1)
            h, r, t = np.moveaxis(self.triples[middle], -1, 0)
            before = (h < head) | ((h == head) & ((r < code) | ((r == code) & (t < tail))))
            searching = low < high
            low = np.where(searching & before, middle + 1, low)
            high = np.where(searching & ~before, middle, high)
        if not self.num_triples:
            return np.full(head.shape, -1)
        h, r, t = np.moveaxis(self.triples[np.minimum(low, self.num_triples - 1)], -1, 0)
        return np.where((h == head) & (r == code) & (t == tail), low, -1)

    def add(
        self,
        triples: Iterable[Sequence[str]] = (),
        *,
        names: Mapping[str, str] | None = None,
        aliases: Mapping[str, Iterable[str]] | None = None,
        provenance: Iterable[str | None] | None = None,
        relation_names: Mapping[str, Sequence[str]] | None = None,
    ) -> KnowledgeGraph:
        """Return a new graph with more triples, changed names or more aliases.

        Entity ids keep their strings; indices may move, as numbering follows the ids' order.

        Args:
            triples: (head id, relation, tail id); one the graph holds already counts as merged.
            names: new display names by id, also for entities that were there before.
            aliases: names to append by id.
            provenance: where each of `triples` was read, one for one.
            relation_names: new display names by relation.

        Raises:
            JaxkgError: as `from_triples`; or a name or alias is given to what is not in the new
                graph.
        """
        old = self.entity_ids.tolist()
        encoder = TripleEncoder()
        kept = None if self.provenance is None else self.provenance.tolist()
        encoder.add_table(old, self.relations, self.triples, kept)
        encoder.add_triples(triples, provenance)
        table = encoder.finish()
        known, relations = set(table.entities), set(table.relations)
        for entity in (*(names or ()), *(aliases or ()), *(relation_names or ())):
            if entity not in (relations if entity in (relation_names or ()) else known):
                raise JaxkgError(
                    f"a name is given for {entity!r}, which no triple mentions"
                    f"{nearest(entity, table.entities)}"
                )
        shown = dict(zip(old, self.entity_names)) | dict(names or {})
        others: dict[str, Iterable[str]] = {
            old[entity]: also for entity, also in self.aliases.items()
        }
        for entity, also in (aliases or {}).items():
            more = checked_names(f"the aliases of {entity!r}", also)
            others[entity] = [*others.get(entity, ()), *more]
        graph = KnowledgeGraph.from_encoded(
            table,
            names=shown,
            aliases=others,
            skipped=self.skipped,
            relation_names={**self.relation_names, **(relation_names or {})},
            meanings=self.meanings,
        )
        return dataclasses.replace(graph, duplicates=self.duplicates + graph.duplicates)

    def remove(self, triples: Iterable[Sequence[str]]) -> KnowledgeGraph:
        """Return a new graph without these triples.

        An entity or relation that no remaining triple mentions leaves the graph, its names and
        aliases with it: `graph.add(new).remove(new)` is `graph` again.

        Raises:
            JaxkgError: a triple is not in the graph; names the first such.
        """
        keep = np.ones(self.num_triples, bool)
        for number, triple in enumerate(checked(triples), start=1):
            if (row := self.row(triple)) < 0:
                raise JaxkgError(
                    f"triple {number} to remove, {tuple(triple)}, "
                    "is not in the graph; nothing was removed"
                )
            keep[row] = False
        return self.part(keep)

    def part(self, keep: np.ndarray) -> KnowledgeGraph:
        """Return the graph of the triples of a [T] bool mask, and of what these mention."""
        left = self.triples[keep]
        entities, rank = used(left[:, [0, 2]], self.num_entities)
        relations, relation_rank = used(left[:, 1], self.num_relations)
        columns = rank[left[:, 0]], relation_rank[left[:, 1]], rank[left[:, 2]]
        ids = self.entity_ids.take(entities)
        same = self.entity_names is self.entity_ids
        return KnowledgeGraph(
            entity_ids=ids,
            entity_names=ids if same else self.entity_names.take(entities),
            relations=tuple(self.relations[code] for code in relations),
            triples=np.stack(columns, axis=1),
            aliases=self.aliases.take(entities, rank),
            provenance=self.provenance and self.provenance.take(np.flatnonzero(keep)),
            duplicates=self.duplicates,
            skipped=self.skipped,
            relation_labels=tuple(self.relation_labels[code] for code in relations),
            relation_aliases=self.relation_aliases.take(relations, relation_rank),
            meanings=self.meanings,
        )

    @property
    def relation_names(self) -> dict[str, list[str]]:
        """Display names by relation, the one shown first; relations without one are left out."""
        named = {
            name: [self.relation_labels[row], *self.relation_aliases.get(row, ())]
            for row, name in enumerate(self.relations)
        }
        return {name: told for name, told in named.items() if told != [relation_words(name)]}

    @functools.cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of everything but the provenance."""
        digest = hashlib.sha256()
        relations = NameTable.from_names(self.relations)
        for table in (self.entity_ids, self.entity_names, relations, self.aliases.names):
            digest_array(digest, table.offsets, "<i8")
            digest_array(digest, table.blob, "u1")
        digest_array(digest, self.triples, "<i4")
        digest_array(digest, self.aliases.owners, "<i4")
        for told in filter(None, (self.relation_names, self.meanings)):
            digest.update(json.dumps(told, sort_keys=True).encode())
        return digest.hexdigest()

    @functools.cached_property
    def relation_fingerprint(self) -> str:
        """SHA-256 (hex) of the relation names in order: what a trained planner's codes mean."""
        return hashlib.sha256("\0".join(self.relations).encode()).hexdigest()
