"""What a caller may look up in a graph beside asking it questions; every reply carries triples.

Replies are plain dictionaries, ready for JSON. Lists are capped, and say how many were left out.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxkg.cite import cite_path
from jaxkg.cite.selects import Selects
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph, Linker, find_topics
from jaxkg.kg.link.folding import key_words, loose_form
from jaxkg.kg.link.name_search import NameSearch
from jaxkg.kg.link.topics import entity_rows, masked_texts
from jaxkg.kg.neighbourhood import Neighbourhood
from jaxkg.kg.typed_schema import Encode, TypedSchema
from jaxkg.limits import LIMITS, looked_at, shortened
from jaxkg.records import Question
from jaxkg.words import TOPIC_WORD

WORDED = 0.95
"""Score of an entity that has the words asked for among those of its name; misspelt is less."""
UNSTATED = "what the graph does not state is unknown, not false"
LONGEST_PATH = 4
"""Triples of a path between two entities, at most."""

_MOST_EDGES = 200_000
"""Edges looked at for one search of paths; a search that would see more stops and says so."""


class NotThere(JaxkgError):
    """What was asked for is not in the graph."""


class Lookups(abc.ABC):
    """What may be looked up in a graph, however that is held.

    Attributes:
        encode: tells which relations and columns are like a question's words.
    """

    encode: Encode | None = None

    def entities(self, name: str, *, limit: int = 20) -> dict[str, Any]:
        """Entities by id, name or alias; by words of these; misspelt ones too. Best first.

        Raises:
            JaxkgError: the name is blank.
        """
        if not name.strip():
            raise JaxkgError("name an entity: q=Alien")
        if len(name) > LIMITS.name:
            raise JaxkgError(f"a name has at most {LIMITS.name:,} characters, not {len(name):,}")
        scores = self._found(name)
        first = list(scores)[:limit]
        return {
            "entities": [
                {**fields, "score": round(scores[row], 4)}
                for fields, row in zip(self._told(first), first)
            ],
            "left_out": len(scores) - len(first),
        }

    @abc.abstractmethod
    def entity(self, name: str, *, limit: int = 20) -> dict[str, Any]:
        """One entity: its names, and its facts by relation, `limit` of each.

        Raises:
            NotThere: the graph has no such entity, or several; names them.
        """

    @abc.abstractmethod
    def paths(self, start: str, end: str, *, hops: int = 3, limit: int = 10) -> dict[str, Any]:
        """Shortest walks between two entities, edges taken in either direction.

        Args:
            start, end: ids or names.
            hops: most triples of a walk, 1 to 4.
            limit: most walks.

        Raises:
            NotThere: see `entity`.
            JaxkgError: `hops` is out of range.
        """

    @abc.abstractmethod
    def check(self, head: str, relation: str, tail: str) -> dict[str, Any]:
        """Whether a claim stands in the graph, and by which triples.

        Args:
            head, tail: ids or names; homonyms all count.
            relation: its name, its label, or `^name` for the inverse.

        Returns:
            `supported`, its `triples`, and under `instead` what the graph says of the head and the
            relation where the claim is not there. A graph that lacks a fact does not deny it.

        Raises:
            NotThere: the graph has no such entity or relation.
        """

    @abc.abstractmethod
    def schema(self, *, limit: int = 200) -> dict[str, Any]:
        """Relations, most frequent first, each with a count and, of a whole graph, an example."""

    def typed(self, question: str) -> dict[str, Any]:
        """The relations that a question may need, as `(class)-[relation]->(class)`, likeliest
        first; see `TypedSchema.projected`.

        Raises:
            JaxkgError: the graph lies in a store and is not read whole.
        """
        raise JaxkgError("the schema of a store is listed whole; leave the question out")

    @property
    def selects(self) -> Selects:
        """The graph as tables that SELECTs are written over.

        Raises:
            JaxkgError: the graph lies in a store and is not read whole.
        """
        raise JaxkgError("SELECTs are answered over graphs that are read whole, not in a store")

    def tables(self, question: str = "") -> dict[str, Any]:
        """Definitions of the tables; of a question, with the columns that it may need.

        Raises:
            JaxkgError: see `selects`.
        """
        tables = self.selects.tables(question, self.encode)
        every = sum(len(table.columns) for table in self.selects.tables())
        return {
            "tables": [table.definition() for table in tables],
            "columns_left_out": every - sum(len(table.columns) for table in tables),
        }

    @abc.abstractmethod
    def _known(self, name: str) -> list[int]:
        """Entities of an id, a name or an alias."""

    @abc.abstractmethod
    def _found(self, name: str) -> dict[int, float]:
        """Entities by how well they are named so, best first, misspelt ones too."""

    @abc.abstractmethod
    def _nearest(self, name: str) -> list[str]:
        """Names like a name that nobody has."""

    @abc.abstractmethod
    def _told(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Id, name and degree of entities."""

    def _one(self, name: str) -> int:
        rows = self._rows(name)
        if len(rows) > 1:
            ids = ", ".join(repr(fields["id"]) for fields in self._told(rows[:5]))
            raise NotThere(f"{name!r} is the name of {len(rows)} entities; take an id: {ids}")
        return rows[0]

    def _rows(self, name: str) -> list[int]:
        if rows := self._known(name):
            return rows
        near = [shortened(other) for other in self._nearest(looked_at(name))[:3]]
        hint = f"; nearest: {', '.join(map(repr, near))}" if near else ""
        raise NotThere(f"the graph has no entity {shortened(name)!r}{hint}")

    def _ends(self, start: str, end: str, hops: int) -> list[int]:
        if not 1 <= hops <= LONGEST_PATH:
            raise JaxkgError(f"hops is 1 to {LONGEST_PATH}, not {hops}")
        return [self._one(start), self._one(end)]


@dataclasses.dataclass(frozen=True)
class Facts(Lookups):
    """A graph to look things up in.

    Example:
        >>> from jaxkg.kg import demo_graph
        >>> facts = Facts.of(demo_graph())
        >>> facts.check("Alien", "directed_by", "Ridley Scott")["supported"]
        True
    """

    kg: KnowledgeGraph
    linker: Linker
    around: Neighbourhood
    encode: Encode | None = None

    @classmethod
    def of(
        cls, kg: KnowledgeGraph, linker: Linker | None = None, encode: Encode | None = None
    ) -> Facts:
        """Put the parts together; `encode` tells which relations are like a question's words."""
        return cls(kg, linker or Linker(kg), Neighbourhood(kg), encode)

    def entity(self, name: str, *, limit: int = 20) -> dict[str, Any]:
        """See `Lookups`."""
        row = self._one(name)
        relations = []
        for code, count in self.around.relations(row).items():
            facts = self._facts(row, code, limit)
            told = {"count": count, "facts": facts, "left_out": count - len(facts)}
            relations.append(self._relation(code) | told)
        return {
            **self._told([row])[0],
            "aliases": list(self.kg.aliases.get(row, ())),
            "relations": relations,
        }

    def paths(self, start: str, end: str, *, hops: int = 3, limit: int = 10) -> dict[str, Any]:
        """See `Lookups`."""
        source, target = self._ends(start, end, hops)
        before, complete = self._levels(source, target, hops)
        walks = _walks_back(before, target, source, limit + 1)
        inverse_from = self.kg.num_relations
        paths = [
            cite_path(
                self.kg,
                [row for row, _ in walk],
                [code >= inverse_from for _, code in walk],
                id=f"p{number}",
                score=1.0 / len(walk),
            )
            for number, walk in enumerate(walks[:limit], start=1)
        ]
        return {
            "paths": [dataclasses.asdict(path) for path in paths],
            "more": len(walks) > limit,
            "complete": complete,
        }

    def check(self, head: str, relation: str, tail: str) -> dict[str, Any]:
        """See `Lookups`."""
        codes = self.codes(relation)
        heads, tails = self._rows(head), self._rows(tail)
        places = self.kg.find(
            np.asarray(heads)[:, None, None], np.asarray(codes)[:, None], np.asarray(tails)
        )
        rows = np.unique(places[places >= 0])
        others = () if len(rows) else itertools.product(heads, codes)
        instead = [fact for row, code in others for fact in self._facts(row, code, 10)]
        return {
            "supported": bool(len(rows)),
            "triples": [self._fact(row) for row in rows],
            "instead": instead[:10],
            "assumption": UNSTATED,
        }

    def schema(self, *, limit: int = 200) -> dict[str, Any]:
        """See `Lookups`."""
        return {
            "entities": self.kg.num_entities,
            "triples": self.kg.num_triples,
            "relations": self._by_frequency[:limit],
            "left_out": max(0, self.kg.num_relations - limit),
        }

    def typed(self, question: str) -> dict[str, Any]:
        """See `Lookups`."""
        [topics] = find_topics(self.linker, [Question("q", question)])
        [text] = masked_texts([Question("q", question)], [topics])
        schema = self._typed_schema
        relations = schema.projected(text.replace(TOPIC_WORD, " "), topics.entities, self.encode)
        return {
            "topics": [self.kg.entity_ids[node] for node in topics.entities],
            "relations": [
                {"relation": self.kg.relations[relation], "typed": schema.line(relation)}
                for relation in relations
            ],
            "left_out": self.kg.num_relations - len(relations),
        }

    @functools.cached_property
    def selects(self) -> Selects:  # type: ignore[override]
        """See `Lookups`."""
        return Selects(self.kg)

    @functools.cached_property
    def _typed_schema(self) -> TypedSchema:
        return TypedSchema(self.kg)

    @functools.cached_property
    def _by_frequency(self) -> list[dict[str, Any]]:
        counts = np.bincount(self.kg.triples[:, 1], minlength=self.kg.num_relations)
        order = np.argsort(-counts, kind="stable")
        examples = dict(zip(*np.unique(self.kg.triples[:, 1], return_index=True)))
        return [
            {
                **self._relation(int(code)),
                "count": int(counts[code]),
                "example": self._fact(examples[code]) if code in examples else None,
            }
            for code in order
        ]

    def _levels(self, source: int, target: int, hops: int):
        """Breadth first from the source: what leads to each node, by the hop that found it."""
        before: dict[int, list[tuple[int, int, int]]] = {source: []}
        frontier, seen = np.array([source]), 0
        for _ in range(hops):
            seen += self.around.degree(frontier)
            if seen > _MOST_EDGES:
                return before, False
            fresh: dict[int, list[tuple[int, int, int]]] = {}
            for origin, code, end, row in zip(*(c.tolist() for c in self.around.edges(frontier))):
                if end not in before:
                    fresh.setdefault(end, []).append((origin, row, code))
            before.update(fresh)
            if target in before or not fresh:
                break
            frontier = np.array(sorted(fresh))
        return before, True

    def _known(self, name: str) -> list[int]:
        return list(entity_rows(self.kg, name))

    def _found(self, name: str) -> dict[int, float]:
        scores: dict[int, float] = dict.fromkeys(self._known(name), 1.0)
        linked = self.linker.linked(name, (0, len(name)))
        misspelt = {row for link, row in linked if link.method == "fuzzy"}
        for link, row in linked:
            if row not in misspelt:
                scores.setdefault(row, link.score)
        for row in self._worded(name):
            scores.setdefault(row, WORDED)
        for link, row in linked:
            scores.setdefault(row, link.score)
        return scores

    def _worded(self, name: str) -> list[int]:
        """Entities with a name or alias that has all these words, or words that begin so.

        Whole words come first, then names of few words, then entities of many facts.
        """
        words = [word for word in map(loose_form, ([each] for each in key_words(name))) if word]
        if not words:
            return []
        first: dict[int, tuple[int, int]] = {}
        owners = np.arange(self.kg.num_entities), np.asarray(self.kg.aliases.owners)
        for owner, search in zip(owners, self._searches):
            for rank, whole in enumerate((True, False)):
                rows = functools.reduce(
                    np.intersect1d, [search.rows(word, whole=whole) for word in words]
                )
                ranked = zip(owner[rows].tolist(), search.words(rows).tolist())
                for row, count in ranked:
                    first[row] = min(first.get(row, (rank, count)), (rank, count))
        rows = list(first)
        nodes = np.array(rows, np.int64)
        degree = dict(zip(rows, self.around.degrees(nodes).tolist()))
        return sorted(rows, key=lambda row: (first[row], -degree[row], row))

    @functools.cached_property
    def _searches(self) -> tuple[NameSearch, NameSearch]:
        return NameSearch(self.kg.entity_names), NameSearch(self.kg.aliases.names)

    def _nearest(self, name: str) -> list[str]:
        return [link.name for link in self.linker.link(name, (0, len(name)))] if name else []

    def codes(self, relation: str) -> list[int]:
        """Codes of a relation by its name or label.

        Raises:
            NotThere: the graph has no such relation.
        """
        inverse, name = relation.startswith("^"), relation.removeprefix("^")
        if name in self.kg.relations:
            return [self.kg.relation_code(relation)]
        wanted = name.casefold().strip()
        codes = [r for r, label in enumerate(self.kg.relation_labels) if label.casefold() == wanted]
        if not codes:
            known = ", ".join(self.kg.relations[:8])
            raise NotThere(f"the graph has no relation {relation!r}; it has {known} …")
        return [code + inverse * self.kg.num_relations for code in codes]

    def _told(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        ids, degree = self.kg.entity_ids, self.around.degree
        return [{"id": ids[r], "name": self.kg.name(r), "degree": degree(r)} for r in rows]

    def _relation(self, code: int) -> dict[str, Any]:
        label = self.kg.relation_labels[code % self.kg.num_relations]
        return {"relation": self.kg.relation_name(code), "label": label}

    def _facts(self, row: int, code: int, most: int) -> list[dict[str, Any]]:
        triples, inverse = self.around.triples(row, code)[:most], code >= self.kg.num_relations
        return [self._fact(triple, inverse) for triple in triples]

    def _fact(self, row: Any, inverse: bool = False) -> dict[str, Any]:
        [fact] = cite_path(self.kg, [int(row)], [inverse], id="f", score=1.0).citations
        return dataclasses.asdict(fact)


def _walks_back(
    before: dict[int, list[tuple[int, int, int]]], node: int, source: int, limit: int
) -> list[list[tuple[int, int]]]:
    """Walks from the source to a node as (row of the triple, relation code), in walking order."""
    if node == source or node not in before:
        return []
    walks: list[list[tuple[int, int]]] = []
    for origin, row, code in before[node]:
        heads = [[]] if origin == source else _walks_back(before, origin, source, limit)
        walks += [[*head, (row, code)] for head in heads]
        if len(walks) >= limit:
            break
    return walks[:limit]
