"""What the statements of OWL, SKOS, RDF and Wikibase mean for a graph of facts.

A restriction is an edge: American, has topping, tomato topping. Lists are their members, things
that are the same are one thing, a reified statement is one of `jaxkg.kg.qualifiers`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

OWL: Final = "http://www.w3.org/2002/07/owl#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
DIRECT: Final = "http://wikiba.se/ontology#directClaim"
"""From a property of a Wikibase, which has the labels, to the relation of its plain facts."""

_CLASSES = (f"{RDFS}subClassOf", f"{OWL}equivalentClass", f"{RDF}type")
_VALUES = (f"{OWL}someValuesFrom", f"{OWL}hasValue", f"{OWL}onClass")
_PARTS = (f"{OWL}intersectionOf",)
_FIRST, _REST, _NIL = f"{RDF}first", f"{RDF}rest", f"{RDF}nil"
_SAME = (f"{OWL}sameAs", f"{SKOS}exactMatch", f"{OWL}equivalentProperty")
_ON = f"{OWL}onProperty"
_BUILT = frozenset(
    (*_VALUES, *_PARTS, _ON, _FIRST, _REST, f"{OWL}allValuesFrom", f"{OWL}unionOf", f"{OWL}oneOf")
    + tuple(f"{OWL}{word}" for word in ("complementOf", "members", "distinctMembers"))
    + tuple(f"{OWL}{kind}ardinality" for kind in ("c", "minC", "maxC"))
    + tuple(f"{OWL}{kind}QualifiedCardinality" for kind in ("min", "max"))
    + (f"{OWL}qualifiedCardinality", f"{OWL}onDataRange", f"{OWL}withRestrictions")
)
"""Predicates of which classes and lists are built."""
_ABOUT = (f"{RDF}subject", f"{RDF}predicate", f"{RDF}object")
_SAYS_NOTHING = frozenset(
    f"{OWL}{kind}"
    for kind in ("NamedIndividual", "Restriction", "AllDisjointClasses", "AllDifferent", "Axiom")
) | {f"{RDF}Statement", f"{RDF}List"}
"""Classes that say of a thing no more than how it is written down."""
_DECLARES = frozenset(
    f"{OWL}{kind}Property"
    for kind in (
        "Object", "Datatype", "Annotation", "Ontology", "Functional", "InverseFunctional",
        "Transitive", "Symmetric", "Asymmetric", "Reflexive", "Irreflexive", "Deprecated",
    )
) | {f"{RDF}Property", f"{RDFS}Datatype", f"{OWL}Ontology"}  # fmt: skip
"""Classes of what a vocabulary is written with, which are no things."""

_CLASS = (f"{OWL}Class", f"{RDFS}Class")

Triple = tuple[str, str, str]


class Vocabulary:
    """Keeps what is no fact by itself, and says at the end what it means.

    Attributes:
        direct: relations by the properties that have their labels.
        deprecated: terms that are said to be of no use any more.
        declared: properties and vocabularies that are described.
        classes: classes that are declared.
        typed: what is of any other class.
        statements: subject, predicate and object by statement.
    """

    def __init__(self) -> None:
        self.direct: dict[str, str] = {}
        self.deprecated: set[str] = set()
        self.declared: set[str] = set()
        self.classes: set[str] = set()
        self.typed: set[str] = set()
        self.statements: dict[str, Triple] = {}
        self.left_out: Counter[str] = Counter()
        self._built: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._to_blank: list[Triple] = []
        self._about: dict[str, dict[str, str]] = defaultdict(dict)
        self._same: dict[str, str] = {}

    def takes(self, subject: str, predicate: str, value: str) -> bool:
        """Take a statement; False where it is a fact as it stands."""
        if predicate in _BUILT and (subject.startswith("_:") or predicate != _FIRST):
            self._built[subject][predicate].append(value)
            return subject.startswith("_:") or value.startswith("_:") or value == _NIL
        if predicate in _SAME and not value.startswith('"'):
            first, second = self._root(subject), self._root(value)
            if first != second:
                self._same[second] = first
            return True
        if predicate in _ABOUT:
            self._about[subject][predicate] = value
            return False
        if predicate == DIRECT:
            self.direct[value] = subject
        if predicate == f"{OWL}deprecated" and value.startswith('"true"'):
            self.deprecated.add(subject)
        if predicate == f"{RDF}type":
            if value in _SAYS_NOTHING:
                return True
            others = self.classes if value in _CLASS else self.typed
            (self.declared if value in _DECLARES else others).add(subject)
            if subject.startswith("_:") and value.startswith(OWL):
                return True
        if value.startswith("_:"):
            self._to_blank.append((subject, predicate, value))
            return True
        return False

    def _root(self, term: str) -> str:
        while term in self._same:
            term = self._same[term]
        return term

    def same(self, named: dict[str, list[tuple[int, str]]]) -> dict[str, str]:
        """The term to keep by each that is the same as it: one that has a label, else the first."""
        groups: dict[str, list[str]] = defaultdict(list)
        for term in self._same:
            groups[self._root(term)].append(term)
        found: dict[str, str] = {}
        for root, others in groups.items():
            kept = next((term for term in (root, *others) if term in named), root)
            found |= {term: kept for term in (root, *others) if term != kept}
        return found

    def folded(self) -> Iterator[Triple]:
        """The facts that classes, lists and blank nodes stand for."""
        for node, ends in self._about.items():
            if len(ends) == len(_ABOUT):
                subject, predicate, value = (ends[word] for word in _ABOUT)
                self.statements[node] = subject, predicate, value
        for subject, predicate, value in self._to_blank:
            built = self._built.get(value)
            if built is None:
                yield subject, predicate, value
            elif predicate in _CLASSES:
                yield from self._meant(subject, predicate, value, set())
            elif _FIRST in built:
                for member in self._members(value):
                    yield subject, predicate, member
            else:
                self.left_out["classes that are built of others"] += 1

    def _meant(self, subject: str, predicate: str, node: str, seen: set[str]) -> Iterator[Triple]:
        """What a class without a name says of what is below it."""
        if node in seen:
            return
        seen.add(node)
        built = self._built.get(node)
        if built is None:
            yield subject, predicate, node
            return
        relation = next(iter(built.get(_ON, ())), "")
        values = [value for word in _VALUES for value in built.get(word, ())]
        for value in values if relation and not relation.startswith("_:") else ():
            if value in self._built:
                self.left_out["restrictions to classes that are built of others"] += 1
            else:
                yield subject, relation, value
        parts = [member for word in _PARTS for held in built.get(word, ())
                 for member in self._members(held)]  # fmt: skip
        above = _CLASSES[0] if predicate == _CLASSES[1] else predicate
        for part in parts:
            yield from self._meant(subject, above, part, seen)
        if not values and not parts:
            self.left_out["restrictions and classes that no fact says"] += 1

    def _members(self, node: str) -> list[str]:
        """The members of a list; a circle of them ends."""
        found, seen = list[str](), set[str]()
        while node in self._built and node not in seen:
            seen.add(node)
            built = self._built[node]
            found += built.get(_FIRST, ())
            node = next(iter(built.get(_REST, ())), _NIL)
        return found
