"""Executable query graphs around the topics of a question, none of them empty."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.deadline import check
from jaxkg.kg.neighbourhood import distinct, spread
from jaxkg.query import Domain, Entities, Intersection, Node, Step, Where
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.walks import FURTHEST, Walks, named_classes, ranked

_CLASSES = 2_000
"""Classes up to which all are compared with the words of a question."""
_MEANT = 0.5
"""Likeness from which on a class keeps what is found to its own: "apartments", flats."""
_PEOPLE = 4
"""Classes of people that a "who" may keep to where it names none."""
_BEST, _SHORT, _NEXT = 120, 60, 30
"""Paths that are kept to classes, those of two relations that are joined, and those of one that
are joined with what two topics share; the best first."""
_PAIRED = 150
"""Joins of two topics, the best first."""
_MET = 15
"""Joins of two topics that are walked on from, the best first."""
_LIKELY = 0.45
"""Likeness from which on a sort may be meant that the question does not name."""


class Candidates(Walks):
    """Finds readings; see `Candidate`."""

    def all(self, asked: Asked) -> list[Candidate]:
        """Paths, classes and joins; operators are put around them by `Operators`."""
        paths: list[list[Candidate]] = []
        hops, most = self.settings.hops, self.settings.looked_at
        hops += asked.alignment.groups > hops  # a question that says more may ask for more
        for place in range(len(asked.mentions)):
            starts = self.topics(asked, place)
            some = [path for start in starts for path in self.paths(asked, start, hops, most)]
            paths.append(self._wanted(ranked(some)))
        joins = [*self.joins(asked, paths), *self._met(asked)]
        singles = [c for some in paths for c in some]
        alike = self._near(asked)
        classes = [self.class_set(kind) for kind in sorted({*named_classes(asked), *alike})]
        best = ranked([*joins, *singles])
        kinds = named_classes(asked) or {kind for kind in alike if alike[kind] >= _MEANT}
        if asked.cues.wants == "person":  # "everybody at Quill" is nothing else that is of Quill
            kinds = kinds or self._people
        parted = self._parted(best[:_BEST], kinds)
        kept = self.scored(asked, [*self.with_classes(kinds, best[:_BEST]), *parted])
        # "How high is the wooden church?": a step on from what a topic and a class pick out.
        further = [path for one in kept[:FURTHEST] for path in self.paths(asked, one, 1)]
        walked = {(path.legs, path.ends.tobytes()) for path in singles}
        kept += [path for path in further if (path.legs, path.ends.tobytes()) not in walked]
        from_classes = self.from_classes(asked, classes)
        every = self.marked(asked, classes)
        return ranked([*best[:most], *kept, *every, *from_classes])

    def _parted(self, paths: list[Candidate], kinds: set[int]) -> list[Candidate]:
        """What one relation leads back to, a class at a time, but for those of `kinds`: of a stage
        both gigs and sponsors may tell."""
        parted, total = [], self.kg.num_relations
        for path in paths:
            if path.last >= total and not path.classes:
                parts = self.vocabulary.parts(path.last - total)
                parted += self.with_classes(set(parts - kinds), [path])
        return parted

    def _wanted(self, paths: list[Candidate]) -> list[Candidate]:
        """Those of one topic that something is made of, of its paths, the best first."""
        short = [path for path in paths if len(path.relations) - path.through <= 2]
        near = [path for path in short if len(path.relations) <= 1]
        some = (*paths[: max(_BEST, self.settings.looked_at)], *short[:_SHORT], *near[:_NEXT])
        wanted = set(map(id, some))
        return [path for path in paths if id(path) in wanted]

    def topics(self, asked: Asked, place: int | None = None) -> Iterator[Candidate]:
        """Whom each mention, or the one at a place, may name, as paths of no relations yet."""
        for topic, entity in asked.options:
            if place is None or place == topic[0]:
                check()
                yield Candidate(
                    Entities((self.kg.entity_ids[entity],)),
                    np.array([entity]),
                    topics=(topic,),
                    explained=frozenset(asked.mentions[topic[0]].beside),
                    legs=((topic[0], ()),),
                )

    def rows(self, asked: Asked, place: int) -> list[Candidate]:
        """What joins a topic to others, by its place: the rows of sales that a customer is in."""
        found = []
        for topic in self.topics(asked, place):
            if self.vocabulary.around.degree(topic.ends) > self.settings.edges:
                asked.cut = True
                continue
            for code, rows in self.reached(topic.ends).items():
                if self.joins_others(int(rows[0])) and not self.vocabulary.role(code):
                    found.append(self.walked(topic, code, rows))
        return self.marked(asked, found)

    def row_sets(self, asked: Asked) -> list[Candidate]:
        """What joins each topic to others, and what several topics, and classes, have in common."""
        if asked.rows is not None:
            return asked.rows
        each = [self.rows(asked, place) for place in range(len(asked.mentions))]
        sets = [*itertools.chain.from_iterable(each)]
        level = (self._meet(each[one], each[two]) for one, two in asked.pairs)
        while met := self.best(asked, itertools.chain.from_iterable(level), _MET):
            check()
            sets += met
            level = (
                self._meet([one], others) for one in met for others in each[one.topics[-1][0] + 1 :]
            )
        classes = self.with_classes(named_classes(asked), sets)
        asked.rows = [*sets, *self.marked(asked, classes)]
        return asked.rows

    def _met(self, asked: Asked) -> list[Candidate]:
        """What is said where topics are joined: what one of them played in the other."""
        if len(asked.mentions) < 2 and not named_classes(asked):
            return []
        sets = self.row_sets(asked)
        joins = ranked(rows for rows in sets if len(rows.topics) + len(rows.classes) > 1)
        return [path for join in joins[:_MET] for path in self.paths(asked, join, 1)]

    def joins(self, asked: Asked, paths: list[list[Candidate]]) -> list[Candidate]:
        """Sets that two or three topics share, and what one or two steps on from them is."""
        short = [[p for p in some if len(p.relations) - p.through <= 2][:_SHORT] for some in paths]
        met = (self._meet(short[one], short[two]) for one, two in asked.pairs)
        pairs = self.best(asked, itertools.chain.from_iterable(met), _PAIRED)
        triples: list[Iterator[Candidate]] = []
        if len(paths) > 2:
            for third in range(len(paths)):
                outer = [p for p in pairs[:40] if all(m != third for m, _ in p.topics)]
                near = [p for p in paths[third] if len(p.relations) <= 1][:_NEXT]
                triples.append(self._meet(outer, near))
        most = max(_BEST, self.settings.looked_at)
        joined = [*pairs, *self.best(asked, itertools.chain.from_iterable(triples), most)]
        joined = ranked(joined)[:most]
        further = [f for join in joined[:15] for f in self.paths(asked, join, 1)]
        return [*joined, *further]

    def _meet(self, left: list[Candidate], right: list[Candidate]) -> Iterator[Candidate]:
        """What two sets share, of those that share anything, in the order of the sets."""
        every = np.concatenate([np.zeros(0, np.int64), *(b.ends for b in right)])
        sizes = np.array([len(b.ends) for b in right], np.int64)
        order = np.argsort(every, kind="stable")
        every, of = every[order], np.repeat(np.arange(len(right)), sizes)[order]
        for a in left:
            if a.last >= 0 and self.vocabulary.ends_kind(a.last) != "thing":
                continue
            low, high = (np.searchsorted(every, a.ends, side) for side in ("left", "right"))
            for b in map(right.__getitem__, distinct(of[spread(low, high)]).tolist()):
                both = np.intersect1d(a.ends, b.ends, assume_unique=True)
                shared = a.relations == b.relations and len(a.topics) == 1
                yield Candidate(
                    query=Intersection((a.node, b.node)),
                    ends=both,
                    # "Films with A and B" names the relation once.
                    relations=a.relations if shared else (*a.relations, *b.relations),
                    topics=(*a.topics, *b.topics),
                    between=(*a.between, *b.between),
                    shape="join",
                    explained=a.explained | b.explained,
                    last=a.last,
                    legs=(*a.legs, *b.legs),
                )

    def class_query(self, kind: int) -> Domain | Step:
        """All entities of a class, or of a sort."""
        if kind in self.vocabulary.sorts:
            return Domain(tuple(map(self.kg.relation_name, self.vocabulary.sorts[kind].codes)))
        own: Node = Entities((self.kg.entity_ids[kind],))
        if kind in self.vocabulary.under:
            own = Step(own, self._back(self.vocabulary.wider_codes), closure="*")
        return Step(own, self._back(self._types(kind)))

    @cached_method
    def _types(self, kind: int) -> list[int]:
        """The relation that leads to a class from all of it; else all that lead there."""
        if len(self.vocabulary.type_codes) == 1:
            return self.vocabulary.type_codes
        kinds, back = self.vocabulary.under.get(kind, (kind,)), self.vocabulary.inverse
        ends = self.vocabulary.around.ends(np.array(kinds))
        codes = [code for code in self.vocabulary.type_codes if back(code) in ends]
        size = len(self.vocabulary.classes[kind])
        whole = [code for code in codes if len(ends[back(code)]) == size]
        return whole[:1] or codes

    def _back(self, codes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.kg.relation_name(self.vocabulary.inverse(code)) for code in codes)

    @functools.cached_property
    def _people(self) -> set[int]:
        """A few classes of people."""
        named = (kind for kind in self.vocabulary.classes if kind not in self.vocabulary.sorts)
        people = (kind for kind in named if self.vocabulary.general(kind) == "person")
        return set(itertools.islice(people, _PEOPLE))

    def _near(self, asked: Asked) -> dict[int, float]:
        """Classes that the question may mean though it does not name them, with their likeness."""
        if len(self.vocabulary.classes) > _CLASSES:
            return {}
        told = asked.alignment.closeness(list(self._class_words.values())).tolist()
        close, sorts = dict(zip(self._class_words, told)), self.vocabulary.sorts
        near = [kind for kind in close if kind not in sorts or close[kind] >= _LIKELY]
        return {kind: close[kind] for kind in sorted(near, key=lambda kind: -close[kind])[:3]}

    @functools.cached_property
    def _class_words(self) -> dict[int, tuple[str, ...]]:
        return {kind: self.vocabulary.class_words(kind) for kind in self.vocabulary.classes}

    def having(self, code: int) -> Candidate:
        """Everything that has a relation."""
        query = Domain((self.kg.relation_name(code),))
        return Candidate(query, self.vocabulary.domain(code), shape="class")

    def class_set(self, kind: int) -> Candidate:
        """Everything of a class or a sort."""
        ends, query = self.vocabulary.classes[kind], self.class_query(kind)
        return Candidate(query=query, ends=ends, classes=(kind,), shape="class")

    def with_classes(self, kinds: set[int], found: list[Candidate]) -> list[Candidate]:
        """The same, kept to one of some classes."""
        kept = []
        for candidate in found:
            for kind in sorted(kinds):
                both = _within(candidate.ends, self.vocabulary.classes[kind])
                if 0 < len(both) < len(candidate.ends):
                    query = self._kept_to(candidate.node, kind)
                    kept.append(candidate._replace(query=query, ends=both, classes=(kind,)))
        return kept

    def _kept_to(self, node: Node, kind: int) -> Where | Intersection:
        """Those of a set that are of a class; whatever of several relations says so."""
        plain = kind not in self.vocabulary.sorts and kind not in self.vocabulary.under
        if plain and len(codes := self._types(kind)) == 1:
            name = self.kg.relation_name(codes[0])
            return Where(node, (name,), "=", self.kg.entity_ids[kind])
        return Intersection((node, self.class_query(kind)))

    def from_classes(self, asked: Asked, classes: list[Candidate]) -> list[Candidate]:
        """What a step from everything of a class leads to: "the languages of the doctors"."""
        if asked.mentions:
            return []
        named = named_classes(asked)
        hops = [1 + (some.classes[0] in named) for some in classes]
        return [p for some, most in zip(classes, hops) for p in self.paths(asked, some, most)]


class Finder:
    """Finds readings of one kind.

    Args:
        find: what finds the sets that they are made of.
    """

    def __init__(self, find: Candidates) -> None:
        self.find, self.kg, self.vocabulary = find, find.kg, find.vocabulary


def _within(ends: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Those of some ends that are of many ascending members; ascending."""
    place = np.minimum(np.searchsorted(members, ends), len(members) - 1)
    return np.sort(ends[members[place] == ends])
