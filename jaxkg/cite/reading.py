"""What the graph says of the triples a walk takes, and the walk told in words."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.limits import shortened
from jaxkg.records import Citation
from jaxkg.words import is_name, one_line, told_apart

_NEIGHBOURS = 3
"""Most neighbours that describe a node without a name."""

Fact = tuple[str, str, str, str, str, str | None]
"""Head, relation, tail, name of the head, name of the tail, source."""


def walked_relation(citation: Citation) -> str:
    """The relation as the walk takes it, an inverse one written `^name`."""
    return f"^{citation.relation}" if citation.inverse else citation.relation


class Reading:
    """Some triples of a graph, each of their names decoded once.

    Attributes:
        kg: the graph.
        facts: what stands at each row.
        unnamed: ids of the entities without a name.
    """

    def __init__(self, kg: KnowledgeGraph, rows: np.ndarray):
        """Reads `rows` ([n] integers, in range)."""
        rows = np.unique(rows)
        columns = kg.triples[rows]
        entities, place = np.unique(columns[:, ::2], return_inverse=True)
        ids = kg.entity_ids.take(entities).tolist()
        same = kg.entity_names is kg.entity_ids
        names = ids if same else kg.entity_names.take(entities).tolist()
        has_name = [is_name(name) for name in names]
        sources: Sequence[str | None] = [None] * len(rows)
        if kg.provenance is not None:
            sources = [source or None for source in kg.provenance.take(rows).tolist()]
        shown = [one_line(shortened(name)) for name in names]
        bearers = Counter(shown)
        shared = kg.entity_names.shared[entities].tolist()
        clear = [
            named and bearers[name] == 1 and not homonym
            for named, name, homonym in zip(has_name, shown, shared)
        ]
        self.kg = kg
        self.facts: dict[int, Fact] = {}
        self.unnamed = {entity for entity, named in zip(ids, has_name) if not named}
        self._homonyms = {
            entity for entity, named, also in zip(ids, has_name, shared) if named and also
        }
        self._words = {kg.relations[c]: one_line(kg.relation_labels[c]) for c in set(columns[:, 1])}
        # Most walks are of triples that need no second look: both ends have a name of their own.
        self._clauses: dict[int, str] = {}
        for row, (head, tail), code, source in zip(
            rows.tolist(), place.reshape(-1, 2).tolist(), columns[:, 1].tolist(), sources
        ):
            relation = kg.relations[code]
            self.facts[row] = ids[head], relation, ids[tail], names[head], names[tail], source
            if clear[head] and clear[tail]:
                self._clauses[row] = f"{shown[head]}, {self._words[relation]}: {shown[tail]}"

    def tell(self, citations: Sequence[Citation]) -> str:
        """The sentence of a connected walk over the triples read; see `jaxkg.cite.cite_path`."""
        clauses = self._clauses
        try:
            return "; ".join([clauses[citation.triple] for citation in citations])
        except KeyError:
            return self._told_with_care(citations)

    def _told_with_care(self, citations: Sequence[Citation]) -> str:
        nodes = [citations[0].start, *(citation.end for citation in citations)]
        ids = [entity for entity, _ in nodes]
        shown = [
            f"{one_line(shortened(name))} [{one_line(shortened(entity))}]"
            if entity in self._homonyms
            else text
            for (entity, name), text in zip(nodes, told_apart(nodes))
        ]
        for end, beside in ((0, 1), (-1, -2)):
            if ids[end] in self.unnamed:
                shown[end] += self._description(ids[end], ids[beside])
        words = [self._words[citation.relation] for citation in citations]
        inverse = [citation.inverse for citation in citations]
        named = [place for place in range(1, len(citations)) if ids[place] not in self.unnamed]
        clauses = [
            _clause(shown[first : last + 1], words[first:last], inverse[first:last])
            for first, last in itertools.pairwise([0, *named, len(citations)])
        ]
        return "; ".join(clauses)

    def _description(self, entity: str, beside: str) -> str:
        """Named neighbours of a node without a name, other than the one the walk shows anyway."""
        facts = _facts_around(self.kg, self.kg.entity(entity), self.kg.entity(beside))
        neighbours = list(itertools.islice(facts, _NEIGHBOURS + 1))
        if len(neighbours) > _NEIGHBOURS:
            neighbours[_NEIGHBOURS:] = ["…"]
        return f" ({', '.join(neighbours)})" if neighbours else ""


def _clause(nodes: Sequence[str], words: Sequence[str], inverse: Sequence[bool]) -> str:
    """A stretch of a walk between named nodes; the nodes inside it have no name."""
    turns = [place for place in range(1, len(words)) if inverse[place] != inverse[place - 1]]
    if not turns:
        order = -1 if inverse[0] else 1
        head, *_, tail = nodes[::order]
        return f"{head}, {', '.join(words[::order])}: {tail}"
    if len(turns) == 1:
        first, second = words[: turns[0]], words[turns[0] :]
        if inverse[0]:
            first = first[::-1]
            return (
                f"one entry with {', '.join(first)}: {nodes[0]} "
                f"and {', '.join(second)}: {nodes[-1]}"
            )
        second = second[::-1]
        return (
            f"{nodes[0]}, {', '.join(first)}, and {nodes[-1]}, {', '.join(second)}: the same entry"
        )
    # Several turns leave several nodes to speak of; only their ids tell those apart.
    return "; ".join(
        _clause(nodes[place : place + 2], words[place : place + 1], inverse[place : place + 1])
        for place in range(len(words))
    )


def _facts_around(kg: KnowledgeGraph, entity: int, beside: int) -> Iterator[str]:
    """Facts about an entity whose other end has a name and is not `beside`, in words."""
    heads = kg.triples[:, 0]
    row = bisect.bisect_left(heads, entity)
    any_fact = False
    while row < len(heads) and heads[row] == entity:
        _, code, other = kg.triples[row].tolist()
        if other != beside and kg.has_name(other):
            any_fact = True
            yield f"{one_line(kg.relation_labels[code])}: {one_line(shortened(kg.name(other)))}"
        row += 1
    if any_fact:
        return
    # Triples are sorted by head, so what points here takes a look at all of them.
    for row in np.flatnonzero(kg.triples[:, 2] == entity).tolist():
        other, code, _ = kg.triples[row].tolist()
        if other != beside and kg.has_name(other):
            yield f"{one_line(kg.relation_labels[code])} of {one_line(shortened(kg.name(other)))}"
