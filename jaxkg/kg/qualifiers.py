"""What is said of a fact: roles, weights, dates, sources, whatever the format they come from.

A fact that something is said about stays a fact, and has a node beside it, a statement:

    Keanu Reeves  acted in  The Matrix
    _:acted_in_7  subject    Keanu Reeves
    _:acted_in_7  predicate  acted in
    _:acted_in_7  object     The Matrix
    _:acted_in_7  role       Neo

RDF's statements about statements, Wikidata's qualifiers and the properties of relations in property
graphs are all kept so. A statement is a blank node and is shown as what it states.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Final

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph

SUBJECT: Final = "subject"
PREDICATE: Final = "predicate"
OBJECT: Final = "object"
"""What leads from a statement to the fact that it is about: its ends, and its relation as an entity
called by the relation's name."""

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@dataclasses.dataclass(frozen=True, eq=False)
class Statements:
    """The statements of a graph and the facts that they are about.

    Attributes:
        node: [S] int32 entities, ascending.
        fact: [S] int64 rows of triples; -1 where the fact itself is not in the graph.
        relations: names of the three relations that lead to a fact's ends and its relation, as the
            graph has them; none where it has no statements.
    """

    node: np.ndarray
    fact: np.ndarray
    relations: tuple[str, ...] = ()

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> Statements:
        """Find them: what has a subject, a predicate and an object, one of each.

        >>> kg = KnowledgeGraph.from_triples([
        ...     ("Keanu", "acted in", "Matrix"), ("_:1", "subject", "Keanu"),
        ...     ("_:1", "predicate", "acted in"), ("_:1", "object", "Matrix"),
        ...     ("_:1", "role", "Neo")])
        >>> found = Statements.of(kg)
        >>> [kg.entity_ids[node] for node in found.node], [kg.triple(row) for row in found.fact]
        (['_:1'], [('Keanu', 'acted in', 'Matrix')])
        """
        none = cls(np.zeros(0, np.int32), np.zeros(0, np.int64))
        for prefix in ("", _RDF):
            names = [prefix + name for name in (SUBJECT, PREDICATE, OBJECT)]
            if not set(names) <= set(kg.relations):
                continue
            ends = [_single(kg, kg.relation_code(name)) for name in names]
            node = functools.reduce(np.intersect1d, [some[0] for some in ends])
            head, said, tail = (end[np.searchsorted(who, node)] for who, end in ends)
            code = np.full(kg.num_entities, -1)
            for row in np.unique(said).tolist():
                for name in (kg.entity_ids[row], kg.name(row)):
                    if name in kg.relations:
                        code[row] = kg.relation_code(name)
                        break
            about = node[code[said] >= 0], code[said] >= 0
            if len(about[0]):
                fact = kg.find(head, code[said], tail)
                return cls(about[0].astype(np.int32), fact[about[1]], tuple(names))
        return none


def _single(kg: KnowledgeGraph, code: int) -> tuple[np.ndarray, np.ndarray]:
    """Heads that a relation leads from to one tail alone, and these tails."""
    rows = np.flatnonzero(kg.triples[:, 1] == code)
    heads, first, count = np.unique(kg.triples[rows, 0], return_index=True, return_counts=True)
    return heads[count == 1], kg.triples[rows[first[count == 1]], 2]
