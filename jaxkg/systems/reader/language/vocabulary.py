"""What a graph calls its things: names, classes, relations in words, and what its values are."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.codes import inverse_code
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.hierarchies import hierarchies
from jaxkg.kg.neighbourhood import Neighbourhood, distinct
from jaxkg.kg.other_names import are_names
from jaxkg.kg.queries.sets import NONE_KEY, order_keys
from jaxkg.kg.queries.values import Values
from jaxkg.readings.labels import TYPE_LABELS
from jaxkg.systems.reader.language.callers import callers
from jaxkg.systems.reader.language.class_words import (
    classes_below,
    role_of,
    says_kind,
    wider_codes,
)
from jaxkg.systems.reader.language.names import relation_wordings, spelt_out
from jaxkg.systems.reader.language.sorts import ROLES, Sort, general_sort, inferred_sorts
from jaxkg.words import is_blank, relation_words, singular

_BOTH_WAYS = re.compile(
    r"\b(married|spouse|wife|husband|sibling|brother|sister|twin|cousin|next to|"
    r"link(?:ed)? (?:to|with)|neighbou?rs?|adjacent|borders?|shares? \w+ with|"
    r"connected (?:to|with)|compatible with|"
    r"(?:goes|go) (?:\w+ )?with|interacts? with|cooperates? with|collaborat\w+ with|"
    r"kooperiert mit|verheiratet|geschwister|nachbar|friend|partner|similar to|related to)\b"
)
"""Labels of relations that hold both ways whichever way they are written."""
_META = re.compile(r"(rdf-schema#|22-rdf-syntax-ns#|/owl#|skos/core#)")
_TERM = re.compile(r"https?://\S*(rdf-schema#Class|/owl#Class|skos/core#Concept)$")
"""Classes of terms: what is of one is a thing of its own, where it is the class of nothing."""
_TYPED = re.compile(r"22-rdf-syntax-ns#type$")
_TRUE, _FALSE = ("true", "yes", "ja", "y", "x", "✓", "✔"), ("false", "no", "nein", "n")
_BITS = {"1", "0"}
"""What stands for true and false where a relation leads to both, and to nothing else."""
_HAVING, _MEMBERS = 2_000, 100
_TABLES = 20
"""Classes up to which those who have a relation are parted by them."""
_OF_CLASS = 0.9
"""Share of a relation's heads that are of the class with which its label begins."""
_SAMPLE = 400
"""Ends of a relation that are looked at to tell what they are."""


@dataclasses.dataclass(frozen=True)
class Relation:
    """A relation in words.

    Attributes:
        wordings: label first, then other labels.
        tails: what its tails are: "number", "date", "boolean" or "thing".
        role: "type", "alias", "size" of an amount's number, which is the amount's own; "" for an
            ordinary one.
    """

    wordings: tuple[str, ...]
    tails: str
    role: str = ""


class Vocabulary:
    """The words of a graph.

    Attributes:
        kg: the graph.
        around: its edges by node.
        values: its numbers and dates.
        relations: R relations in words.
        labels: wordings of ordinary relations, of all the graph where this is a part of one.
        classes: entity index of each class, with the entities of that class; the sorts of what
            has no class follow, numbered from the number of entities on.
        sorts: these sorts.
        under: the classes below a class, itself among them, where there are any.
        type_codes: relation codes that lead to a class; wider_codes, to a wider class; alias_codes,
            to another name.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.around = Neighbourhood(kg)
        # Of a part of a larger graph, what it cannot tell of itself.
        sample = getattr(kg, "sample", None)
        self._elsewhere = None if sample is None else Elsewhere(kg, _vocabulary_of(sample))
        elsewhere = self._elsewhere
        units = elsewhere.units() if elsewhere else {}
        self.values = Values(kg, elsewhere and elsewhere.kinds(), units)
        self.values.units |= units
        triples = np.asarray(kg.triples)
        heads = np.bincount(triples[:, 0], minlength=kg.num_entities) > 0
        self._but_names = are_names(kg.relations, triples, kg.num_entities)
        self.relations: list[Relation] = []
        for code in range(kg.num_relations):
            rows = self.kg.rows_of(code)
            ends = triples[rows, 2]
            wordings = relation_wordings(kg, code, rows=bool(heads[ends].all()), ends=ends)
            tails = self.values.relation_kinds.get(kg.relations[code], "thing")
            # A "type" that leads to owl:Class, too, is that of RDF, however much classes tell.
            typed = not TYPE_LABELS.isdisjoint(wording.lower() for wording in wordings)
            terms = distinct(ends).tolist() if typed else []
            standard = bool(_TYPED.search(kg.relations[code]))
            standard |= any(_TERM.match(kg.entity_ids[end]) for end in terms)
            role = role_of(wordings, triples, rows, known=standard)
            self.relations.append(Relation(wordings, tails, role))
        self._keep_types()
        for amount in self.values.amounts.values():
            one = self.relations[amount.number]
            if len(amount.size) == len(self.kg.rows_of(amount.number)):
                self.relations[amount.number] = dataclasses.replace(one, role="size")
        self.labels = [relation.wordings for relation in self.relations if not relation.role]
        self.labels += self._elsewhere.told.labels if self._elsewhere else []
        self.type_codes = [c for c, r in enumerate(self.relations) if r.role == "type"]
        self.classes: dict[int, np.ndarray] = {}
        grouped: dict[int, list[np.ndarray]] = defaultdict(list)
        for kind, members in self._classes_told():
            if not _META.search(kg.entity_ids[kind]):
                grouped[kind].append(members)
        types = [c for c in self.type_codes if kg.relations[c] in self.hierarchies]
        self.wider_codes = wider_codes([one.wordings for one in self.relations], types)
        self.under, self._wider = classes_below(triples, self.wider_codes, set(grouped))
        some = {kind: (kind,) for kind in grouped} | self.under
        for kind, below in some.items():
            rows = [members for k in below for members in grouped.get(k, ())]
            self.classes[kind] = distinct(np.concatenate(rows))
        self.relations = [
            self._without_class(relation, triples[self.kg.rows_of(code), 0])
            for code, relation in enumerate(self.relations)
        ]
        self.sorts: dict[int, Sort] = {}
        self._of_sort = self._by_member()
        self._kinds: dict[int, tuple[int, ...]] = {}
        self.symmetric = {
            code
            for code, relation in enumerate(self.relations)
            if relation.tails == "thing"
            and any(_BOTH_WAYS.search(wording.lower()) for wording in relation.wordings)
            and self._alike_ends(triples[self.kg.rows_of(code)[:_SAMPLE]])
        }
        if self._elsewhere:
            self.symmetric = self._elsewhere.symmetric(self.symmetric)
        self.alias_codes = [c for c, r in enumerate(self.relations) if r.role == "alias"]
        self.sorts = dict(enumerate(self._inferred(), start=kg.num_entities))
        self._of_sort = self._by_member()
        self._kinds.clear()
        self.classes |= {kind: sort.members for kind, sort in self.sorts.items()}

    @functools.cached_property
    def hierarchies(self) -> frozenset[str]:
        """Relations that may be walked on and on."""
        return frozenset(hierarchies(self.kg))

    def _without_class(self, relation: Relation, heads: np.ndarray) -> Relation:
        """The same relation with its label less the class of its heads: "state population"."""
        label = relation.wordings[0]
        first, _, rest = label.partition(" ")
        if relation.role or not rest or not len(heads):
            return relation
        said = singular(first.lower())
        alike = [kind for kind in self.classes if singular(self.kg.name(kind).lower()) == said]
        if any(np.isin(heads, self.classes[kind]).mean() >= _OF_CLASS for kind in alike):
            wordings = dict.fromkeys((label, rest, *relation.wordings))
            return dataclasses.replace(relation, wordings=tuple(wordings))
        return relation

    def _by_member(self) -> tuple[np.ndarray, np.ndarray]:
        """Entities of sorts, ascending, and the sort of each; an entity may be of several."""
        parts = [(sort.members, np.full(len(sort.members), k)) for k, sort in self.sorts.items()]
        none = np.empty(0, np.int64)
        members, of = map(np.concatenate, zip((none, none), *parts))
        order = np.argsort(members, kind="stable")
        return members[order], of[order]

    def _inferred(self) -> list[Sort]:
        if self._elsewhere:
            return self._elsewhere.sorts(self.domain)
        typed = np.zeros(self.kg.num_entities, bool)
        for kind, members in self.classes.items():
            typed[members] = True
            typed[kind] = True
        plain = [c for c, r in enumerate(self.relations) if not r.role]
        things = [c + self.kg.num_relations for c in plain if self.ends_kind(c) == "thing"]
        return inferred_sorts(self.kg, [*plain, *things], self.domain, self.wordings, typed)

    @property
    def every_sort(self) -> list[Sort]:
        """The sorts of all the graph where this is a part of one."""
        return list((self._elsewhere.told if self._elsewhere else self).sorts.values())

    def inverse(self, code: int) -> int:
        """The code of a relation walked the other way."""
        return inverse_code(code, self.kg.num_relations)

    def wordings(self, code: int) -> tuple[str, ...]:
        """A relation code in words; its direction is told elsewhere."""
        return self.relations[code % self.kg.num_relations].wordings

    @functools.cached_property
    def wordings_known(self) -> frozenset[str]:
        """All wordings of relations."""
        return frozenset(wording for relation in self.relations for wording in relation.wordings)

    @functools.cached_property
    def is_value(self) -> np.ndarray:
        """[N] bool: entities that are but numbers or dates at the end of a relation."""
        mask = np.zeros(self.kg.num_entities, bool)
        for are_values in (True, False):
            for code, relation in enumerate(self.relations):
                if (relation.tails != "thing") == are_values:
                    mask[self.kg.triples[self.kg.rows_of(code), 2]] = are_values
        return mask

    @functools.cached_property
    def is_other_name(self) -> np.ndarray:
        """[N] bool: entities that are but other names of entities."""
        named = np.zeros(self.kg.num_entities, np.int64)
        for code in self.alias_codes:
            np.add.at(named, self.kg.triples[self.kg.rows_of(code), 2], 1)
        return (named > 0) & (named == self.degree)

    @functools.cached_property
    def callers(self) -> tuple[np.ndarray, np.ndarray]:
        """See `jaxkg.systems.reader.language.callers.callers`."""
        told = [not one.role and one.tails == "thing" for one in self.relations]
        labels = {code: self.wordings(code) for code in np.flatnonzero(told).tolist()}
        return callers(self.kg, labels, self.degree, self.type_codes)

    @functools.cached_property
    def degree(self) -> np.ndarray:
        """[N] facts of each entity, those of itself twice."""
        ends = np.asarray(self.kg.triples)[:, ::2]
        return np.bincount(ends.ravel(), minlength=self.kg.num_entities)

    @functools.cached_property
    def predicates(self) -> np.ndarray:
        """[K] entities that stand for relations in statements, and for nothing else."""
        statements = self.values.statements
        if not len(statements.node):
            return np.empty(0, np.int64)
        code = self.kg.relation_code(statements.relations[1])
        tails = self.kg.triples[self.kg.rows_of(code), 2]
        named = np.bincount(tails, minlength=self.kg.num_entities)
        return np.flatnonzero((named > 0) & (named == self.degree))

    @functools.cached_property
    def is_relation(self) -> np.ndarray:
        """[N] bool: relations that stand among the entities."""
        mask = np.zeros(self.kg.num_entities, bool)
        mask[self.predicates] = True
        for kind, members in self._meta_classes():
            if not _TERM.search(self.kg.entity_ids[kind]):
                mask[members] = True
        return mask

    @functools.cached_property
    def is_schema(self) -> np.ndarray:
        """[N] bool: relations and classes that stand among the entities."""
        mask = self.is_relation.copy()
        mask[[kind for kind in self.classes if kind not in self.sorts]] = True
        mask[[kind for kind, _ in self._meta_classes()]] = True
        return mask

    def _meta_classes(self) -> Iterator[tuple[int, np.ndarray]]:
        """Classes that standards have for relations and classes, each with what is of it."""
        for kind, members in self._classes_told():
            if _META.search(self.kg.entity_ids[kind]):
                yield kind, members

    def _classes_told(self) -> Iterator[tuple[int, np.ndarray]]:
        """Classes, each with what a relation that leads to them says is of it."""
        triples = np.asarray(self.kg.triples)
        for code in self.type_codes:
            rows = self.kg.rows_of(code)
            rows = rows[np.argsort(triples[rows, 2], kind="stable")]
            cuts = np.flatnonzero(np.diff(triples[rows, 2])) + 1
            for some in np.split(rows, cuts) if len(rows) else ():
                yield int(triples[some[0], 2]), triples[some, 0]

    @functools.cached_property
    def of_schema(self) -> list[int]:
        """Codes of relations that say something of relations alone: the relation of a statement,
        "domain"."""
        codes = [code for code in range(self.kg.num_relations) if self._is_of_relations(code)]
        codes += map(self.kg.relation_code, self.values.statements.relations[1:2])
        return [*codes, *map(self.inverse, codes)]

    def _is_of_relations(self, code: int) -> bool:
        """Whether every head of a relation is a relation."""
        heads = self.kg.triples[self.kg.rows_of(code), 0]
        known = code not in self.type_codes and len(heads) > 0
        return known and all(self.is_relation[some].all() for some in (heads[:1], heads))

    def _alike_ends(self, some: np.ndarray) -> bool:
        """Whether heads and tails of triples are of one class, or the graph has no classes."""
        if not self.classes:
            return True
        of = self.kinds_of
        return any(set(of(head)) & set(of(tail)) for head, _, tail in some.tolist())

    def surfaces(
        self, rows: Sequence[int] | None = None, aliases: Sequence[int] = ()
    ) -> list[tuple[str, int, bool]]:
        """(name, entity, whether it is another name) of what a question may mention.

        Args:
            rows: of these entities alone; None for everything.
            aliases: rows of the graph's aliases, beside these.
        """
        if rows is None:
            rows, aliases = range(self.kg.num_entities), range(len(self.kg.aliases.names))
        names, owners = self.kg.entity_names, self.kg.aliases.owners
        every = names.tolist() if len(rows) == len(names) else [names[row] for row in rows]
        pairs = zip(every, map(int, rows))
        found = [(name, row, False) for name, row in pairs if row not in self._but_names]
        others = self.kg.aliases.names
        found += [(others[row], int(owners[row]), True) for row in aliases]
        callers, bearers = self.callers
        there = np.isin(callers, np.asarray(rows, np.int64))
        pairs = zip(callers[there].tolist(), bearers[there].tolist())
        found += [(self.kg.name(caller), bearer, True) for caller, bearer in pairs]
        for code in self.alias_codes:
            if len(rows) == self.kg.num_entities:
                pairs = self.kg.triples[self.kg.rows_of(code)][:, ::2].tolist()
            else:
                back = code + self.kg.num_relations
                pairs = zip(
                    *(p.tolist() for p in self.around.pairs(np.array(rows, np.int64), back)[::-1])
                )
            found += [(self.kg.name(tail), head, True) for head, tail in pairs]
        return found

    @cached_method
    def had(self, kind: int) -> dict[int, float]:
        """Relation codes that entities of a class have, with the share that has each."""
        told = self._elsewhere and self._elsewhere.had(kind, self.sorts.get(kind))
        if told is not None:
            return told
        some = self.classes[kind][:_HAVING]
        codes = [code for code in self.around.ends(some) if not self.role(code)]
        return {c: float(np.isin(some, self.domain(c)).mean()) for c in codes}

    def kinds_of(self, node: int) -> tuple[int, ...]:
        """Classes of an entity, or its sorts."""
        if node not in self._kinds:
            told: dict[int, None] = {}
            for code in self.type_codes:
                rows = self.around.triples(node, code)
                told.update(dict.fromkeys(self.kg.triples[rows, 2].tolist()))
            for kind in tuple(told):
                told.update(dict.fromkeys(self._wider.get(kind, ())))
            kinds = [kind for kind in told if kind in self.classes]
            members, of = self._of_sort
            low, high = np.searchsorted(members, [node, node + 1])
            kinds += of[low:high].tolist()
            self._kinds[node] = tuple(kinds)
        return self._kinds[node]

    @cached_method
    def class_words(self, kind: int) -> tuple[str, ...]:
        """A class in words: its names, and "person" or "place" where its entities are such."""
        if kind in self.sorts:
            return self.sorts[kind].words
        if self._elsewhere and (told := self._elsewhere.class_words(kind)):
            return told
        words = [relation_words(n) for n in self.class_names(kind)]
        names = [*words, *map(spelt_out, words)]
        codes = self.around.ends(self.classes[kind][:_MEMBERS])
        general = general_sort(self.kg, list(codes), self.wordings)
        return tuple(dict.fromkeys([*names, general] if general else names))

    def general(self, kind: int) -> str:
        """ "person" or "place" where the entities of a class are such, else ""."""
        last = self.class_words(kind)[-1]
        return last if last in ("person", "place") else ""

    @cached_method
    def parts(self, code: int) -> frozenset[int]:
        """Classes that part those who have a relation to things of a class, as tables part the rows
        that refer to others; none where one is of two or of none, and of very many classes."""
        heads, tails = (self._class_of[self.domain(c)] for c in (code, self.inverse(code)))
        parts = frozenset(distinct(heads).tolist())
        apart = 1 < len(parts) <= _TABLES and min(parts) >= 0 and (tails[:1] != -1).all()
        return parts if apart else frozenset()

    @functools.cached_property
    def _class_of(self) -> np.ndarray:
        """[N] the class of each entity, no sort; -1 without one, -2 of several."""
        only = np.full(self.kg.num_entities, -1, np.int64)
        for kind, members in self.classes.items():
            if kind not in self.sorts:
                only[members] = np.where(only[members] == -1, kind, -2)
        return only

    def is_of_persons(self, kind: int) -> bool:
        """Whether the entities of a class are persons, as their relations or its names say."""
        words = " ".join(self.class_words(kind)).split()
        return any(ROLES.get(singular(word)) == "person" for word in words)

    @functools.cached_property
    def kind_words(self) -> frozenset[str]:
        """The words of all classes' names, in the singular; not of sorts, which labels name."""
        names = [
            n for kind in self.classes if kind not in self.sorts for n in self.class_names(kind)
        ]
        return frozenset(singular(word) for name in names for word in relation_words(name).split())

    def class_names(self, kind: int) -> tuple[str, ...]:
        """Names of a class; the words of a sort."""
        if kind in self.sorts:
            return self.sorts[kind].words
        return (self.kg.name(kind), *self.kg.aliases.get(kind, ()))

    def ends_kind(self, code: int) -> str:
        """What a relation code leads to, see `Relation`."""
        return self.relations[code].tails if code < self.kg.num_relations else "thing"

    def _keep_types(self) -> None:
        """Make ordinary what is called "type" of things that are a something else, or of rows
        without names: the type of a sensor, which is a sensor."""
        types = [c for c, relation in enumerate(self.relations) if relation.role == "type"]
        heads = {code: distinct(self.kg.triples[self.kg.rows_of(code), 0]) for code in types}
        whole = [code for code in types if says_kind(self.relations[code].wordings)]
        for code in types:
            sorted_so = any(np.isin(heads[code], heads[other]).all() for other in whole)
            nameless = all(is_blank(self.kg.entity_ids[head]) for head in heads[code])
            if (
                code not in whole
                and (sorted_so or nameless)
                and not _TYPED.search(self.kg.relations[code])
            ):
                self.relations[code] = dataclasses.replace(self.relations[code], role="")

    def role(self, code: int) -> str:
        """Role of a relation code, see `Relation`."""
        return self.relations[code % self.kg.num_relations].role

    @functools.cached_property
    def clocks(self) -> frozenset[int]:
        """Relation codes that lead to times of day."""
        return frozenset(map(self.kg.relation_code, self.values.clocks))

    def orders(self, code: int) -> bool:
        """Whether a relation code leads to numbers of one unit, or to dates."""
        kind = self.ends_kind(code)
        units = self.values.units.get(self.kg.relation_name(code), ())
        return kind == "date" or (kind == "number" and len(units) == 1)

    @cached_method
    def order_keys(self, kind: str) -> np.ndarray:
        """[N] int64, see `jaxkg.kg.queries.sets.order_keys`."""
        return order_keys(self.values, kind)

    def measured(self, nodes: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
        """(entity, end) for each value of a relation of numbers or dates that these have."""
        source, ends = self.around.pairs(nodes, code)
        there = self.order_keys(self.ends_kind(code))[ends] != NONE_KEY
        return source[there], ends[there]

    @cached_method
    def truths(self, code: int) -> tuple[int, int] | None:
        """The entities for true and for false that a relation code leads to, -1 for one that it
        never does; None where it leads to anything else."""
        if code >= self.kg.num_relations or not len(self.kg.rows_of(code)):
            return None
        ends = np.unique(self.kg.triples[self.kg.rows_of(code), 2])
        names = {self.kg.name(end).lower(): end for end in ends[:3].tolist()}
        if len(ends) < 3 and names.keys() == _BITS:
            return names["1"], names["0"]
        if len(ends) > 2 or not names.keys() <= {*_TRUE, *_FALSE}:
            return None
        true, false = (
            next((names[word] for word in some if word in names), -1) for some in (_TRUE, _FALSE)
        )
        return true, false

    @cached_method
    def functional(self, code: int) -> bool:
        """Whether a relation code leads from everything to one thing at most."""
        told = self._elsewhere and self._elsewhere.functional(code)
        if told is not None:
            return told
        relation = code % self.kg.num_relations
        both = relation in self.symmetric
        return not both and len(self.domain(code)) == len(self.kg.rows_of(relation)) > 0

    @cached_method
    def domain(self, code: int) -> np.ndarray:
        """[K] entities that a relation code leaves, ascending."""
        back, relation = divmod(code, self.kg.num_relations)
        return distinct(self.kg.triples[self.kg.rows_of(relation), 2 if back else 0])


class Elsewhere:
    """A sample's vocabulary in the numbers of a part; what the sample has nothing of it leaves out.

    A part alone misleads: its three persons may all have a spouse, one of its titles be a number.

    Args:
        kg: the part.
        told: the vocabulary of the sample.
    """

    def __init__(self, kg: KnowledgeGraph, told: Vocabulary) -> None:
        self.told, self._kg = told, kg
        sampled = told.kg
        there = {name: row for row, name in enumerate(sampled.relations)}
        self.row = {at: there[name] for at, name in enumerate(kg.relations) if name in there}
        """Relations of the part as the sample numbers them."""
        self._here = {
            row + back * sampled.num_relations: at + back * kg.num_relations
            for at, row in self.row.items()
            for back in (0, 1)
        }
        """Relation codes of the part by those of the sample."""
        self._there = {code: other for other, code in self._here.items()}

    def kinds(self) -> dict[str, str | None]:
        """Of values, see `jaxkg.kg.queries.values.Values`."""
        known = self.told.values.relation_kinds
        return {self._kg.relations[at]: known.get(self._kg.relations[at]) for at in self.row}

    def units(self) -> dict[str, tuple[str, ...]]:
        """Of numbers, likewise."""
        known = self.told.values.units
        return {name: known[name] for name in self.kinds() if name in known}

    def symmetric(self, own: set[int]) -> set[int]:
        """Relations that hold both ways.

        Args:
            own: what the part takes for such.
        """
        told = {at for at, row in self.row.items() if row in self.told.symmetric}
        return told | (own - self.row.keys())

    def functional(self, code: int) -> bool | None:
        """See `Vocabulary`; None where the sample does not tell."""
        there = self._there.get(code)
        return None if there is None else self.told.functional(there)

    def class_words(self, kind: int) -> tuple[str, ...] | None:
        """See `Vocabulary`; None where the sample does not tell."""
        for row in self.told.kg.entity_ids.rows(self._kg.entity_ids[kind]):
            if row in self.told.classes:
                return self.told.class_words(row)
        return None

    def had(self, kind: int, sort: Sort | None) -> dict[int, float] | None:
        """See `Vocabulary`; None where the sample does not tell.

        Args:
            kind: class of the part.
            sort: that it is, where it is one.
        """
        if sort is not None:
            rows = [k for k, other in self.told.sorts.items() if other.names == sort.names]
        else:
            rows = self.told.kg.entity_ids.rows(self._kg.entity_ids[kind])
        for row in rows:
            if row in self.told.classes:
                shares = self.told.had(row).items()
                return {self._here[code]: share for code, share in shares if code in self._here}
        return None

    def sorts(self, domain: Callable[[int], np.ndarray]) -> list[Sort]:
        """The sample's sorts, with those of the part that are of them.

        Args:
            domain: entities that a relation code leaves.
        """

        def here(codes: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(self._here[code] for code in codes if code in self._here)

        found = []
        for sort in self.told.sorts.values():
            every = here(sort.every)
            if not every:  # most of a large schema are not here
                continue
            members = distinct(np.concatenate(list(map(domain, every))))
            if len(members):
                codes = here(sort.codes) or every
                found.append(dataclasses.replace(sort, codes=codes, members=members, every=every))
        return found


@functools.lru_cache(maxsize=2)
def _vocabulary_of(sample: KnowledgeGraph) -> Vocabulary:
    """The vocabulary of a sample, made once for all parts."""
    return Vocabulary(sample)
