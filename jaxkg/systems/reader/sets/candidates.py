"""Executable query graphs around the topics of a question, none of them empty."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from jaxkg.query import (
    Domain,
    Entities,
    Intersection,
    Node,
    Step,
    Where,
)
from jaxkg.systems.reader.language.kin import kin_steps
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.quick import class_aligned, quick_scores

_FURTHEST = 30
"""Paths of three relations that are walked on from."""
_CLASSES = 2_000
"""Classes up to which all are compared with the words of a question."""
_MEANT = 0.5
"""Likeness from which on a class keeps what is found to its own: "apartments", flats."""
_TELLING = 20
"""Ends that tell which classes all have."""
_NODES, _DEGREE = 4, 500
"""Sets of nodes up to which, with their edges, it is kept what lies around them."""
_KEPT = 10_000
"""Sets of nodes of which something is kept: questions of one graph meet the same ones."""
_LIKELY = 0.45
"""Likeness from which on a sort may be meant that the question does not name."""


class Candidates:
    """Finds readings; see `Candidate`.

    Args:
        vocabulary: of the graph.
        hops, edges, expanded, looked_at: see `ReaderSettings`.
    """

    def __init__(
        self, vocabulary: Vocabulary, *, hops: int, edges: int, expanded: int, looked_at: int
    ) -> None:
        self.vocabulary = vocabulary
        self.kg = vocabulary.kg
        self._hops, self._edges = hops, edges
        self._expanded, self._looked_at = expanded, looked_at
        self._known_ends = functools.lru_cache(_KEPT)(self._ends)
        self._shared_classes = functools.lru_cache(_KEPT)(self._classes_of_all)

    def wordings(self, code: int) -> tuple[str, ...]:
        """A relation code in words; its direction is told elsewhere."""
        return self.vocabulary.wordings(code)

    def told(self, code: int) -> str:
        """A relation code by its name, or by the word for several."""
        named = code < 2 * self.kg.num_relations
        return self.kg.relation_name(code) if named else self.wordings(code)[0]

    def ends_classes(self, ends: np.ndarray) -> tuple[int, ...]:
        """Classes that all of the ends have, as far as the first of them tell."""
        if not self.vocabulary.classes or not len(ends):
            return ()
        return self._shared_classes(tuple(ends[:_TELLING].tolist()))

    def _classes_of_all(self, ends: tuple[int, ...]) -> tuple[int, ...]:
        of = [set(self.vocabulary.kinds_of(end)) for end in ends]
        return tuple(set.intersection(*of))

    def end_classes(self, candidate: Candidate) -> tuple[int, ...]:
        """Classes of what a reading leads to, or would lead to."""
        if candidate.wanting and candidate.last >= 0:
            return self.ends_classes(
                self.vocabulary.domain(self.vocabulary.inverse(candidate.last))
            )
        return self.ends_classes(candidate.ends)

    def step(self, node: Node, code: int, *, returns: bool = True) -> Step:
        """One more relation; one that holds both ways is walked both ways."""
        name = self.kg.relation_name(code)
        both = (name, f"^{name}") if code in self.vocabulary.symmetric else (name,)
        return Step(node, both, returns)

    def reached(self, nodes: np.ndarray) -> dict[int, np.ndarray]:
        """Where each relation code leads to; one that holds both ways has one code."""
        around = self.vocabulary.around
        if len(nodes) <= _NODES and around.degree(nodes) <= _DEGREE:
            return self._known_ends(tuple(nodes.tolist()))
        return self._ends(nodes)

    def _ends(self, nodes: Sequence[int] | np.ndarray) -> dict[int, np.ndarray]:
        found = self.vocabulary.around.ends(np.asarray(nodes, np.int64))
        for code in self.vocabulary.symmetric:
            back = found.pop(code + self.kg.num_relations, None)
            if back is not None:
                found[code] = np.union1d(found.get(code, back), back)
        return found

    def marked(self, asked: Asked, found: Iterable[Candidate]) -> list[Candidate]:
        """With quick scores, in the same order."""
        some = list(found)
        if not some:
            return []
        kinds = [self.end_classes(candidate) for candidate in some]
        loose = {kind for one, ends in zip(some, kinds) for kind in (*ends, *one.between)}
        asked.alignment.prepare(map(self.vocabulary.class_words, loose))
        scores = quick_scores(asked, some, kinds, self.vocabulary).tolist()
        return [dataclasses.replace(one, quick=score) for one, score in zip(some, scores)]

    def scored(self, asked: Asked, found: Iterable[Candidate]) -> list[Candidate]:
        """With quick scores, best first."""
        return ranked(self.marked(asked, found))

    def all(self, asked: Asked) -> list[Candidate]:
        """Paths, classes and joins; operators are put around them by `Operators`."""
        paths: list[list[Candidate]] = []
        hops = self._hops
        hops += asked.alignment.groups > hops  # a question that says more may ask for more
        for place, mention in enumerate(asked.mentions):
            some: list[Candidate] = []
            for at, option in enumerate(mention.options):
                start = Candidate(
                    Entities((self.kg.entity_ids[option.entity],)),
                    np.array([option.entity]),
                    topics=((place, at),),
                    explained=frozenset(mention.beside),
                    legs=((place, ()),),
                )
                some += self.paths(asked, start, hops)
                for kin in self.marked(asked, self.kin(asked, start)):
                    some += [kin, *self.paths(asked, kin, 2)]
            if asked.cues.same:
                some = [path for path in some if self._there_and_back(path)] or some
            paths.append(ranked(some))
        joins = self.joins(asked, paths)
        singles = [c for some in paths for c in some]
        near = self._near(asked)
        classes = [self.class_set(kind) for kind in sorted({*_named(asked), *near})]
        best = ranked([*joins, *singles])
        kinds = _named(asked) or {kind for kind in near if near[kind] >= _MEANT}
        kept = self.scored(asked, self.with_classes(kinds, best[:120]))
        # "How high is the wooden church?": a step on from what a topic and a class pick out.
        kept += [path for one in kept[:_FURTHEST] for path in self.paths(asked, one, 1)]
        from_classes = self.from_classes(asked, classes)
        every = self.marked(asked, classes)
        return ranked([*best[: self._looked_at], *kept, *every, *from_classes])

    def paths(self, asked: Asked, start: Candidate, hops: int) -> list[Candidate]:
        """Relation paths from a start, which is an answer only where a walk leads to nothing else.

        The best of each length are walked on from, so that the whole stays small.
        """
        level, found = [start], []
        around = self.vocabulary.around
        alone = isinstance(start.query, Entities)
        topics = start.ends if alone else np.full(1, -1)
        for hop in range(hops):
            longer: list[Candidate] = []
            best = level[: self._expanded if hop < 3 else _FURTHEST]
            walked = [path for path in best if around.degree(path.ends) <= self._edges]
            asked.cut |= len(walked) < len(best)
            reaching = [self.reached(path.ends) for path in walked]
            asked.alignment.prepare(map(self.wordings, set().union(*reaching)))
            for path, reached in zip(walked, reaching):
                named = path.relations or path.classes or path.measure >= 0
                between = self.ends_classes(path.ends) if named else ()
                nameless = bool(path.relations) and not self.kg.has_name(int(path.ends[0]))
                for code, ends in reached.items():
                    if self._aside(code, path):
                        continue
                    left = ends[~np.isin(ends, topics)] if len(topics) > 1 else ends[ends != topics]
                    home = not len(left) and self._leads_home(path, code)
                    if not len(left) and not home:
                        continue
                    left = ends if home else left
                    query = self.step(path.node, code, returns=not alone or home)
                    longer.append(
                        dataclasses.replace(
                            path,
                            query=query,
                            ends=left,
                            relations=(*path.relations, code),
                            last=code,
                            between=(*path.between, *between),
                            through=path.through + nameless,
                            legs=tuple((m, (*codes, code)) for m, codes in path.legs[:1])
                            + path.legs[1:],
                        )
                    )
            longer = self.marked(asked, longer)
            found += [c for c in longer if self.kg.has_name(int(c.ends[0]))]
            level = ranked(c for c in longer if self.vocabulary.ends_kind(c.last) == "thing")
        return found

    def kin(self, asked: Asked, start: Candidate) -> list[Candidate]:
        """The kin that the question names by a word of its own: "parents", "grandchildren"."""
        found = []
        for place, word in enumerate(asked.cues.words.folded):
            steps = kin_steps(word) if self.vocabulary.kin else ""
            told = all(self.vocabulary.kin[step] for step in steps)
            if not steps or not told or place in asked.alignment.masked:
                continue
            node, ends = start.node, start.ends
            for step in steps:
                codes = self.vocabulary.kin[step]
                node = Step(node, tuple(map(self.kg.relation_name, codes)), returns=False)
                reached = self.vocabulary.around.ends(ends)
                ends = np.unique(np.concatenate([reached.get(code, ends[:0]) for code in codes]))
                ends = np.setdiff1d(ends, start.ends)
            code = self.vocabulary.kin_code(steps)
            if len(ends):
                legs = tuple((mention, (code,)) for mention, _ in start.legs)
                found.append(
                    dataclasses.replace(
                        start, query=node, ends=ends, relations=(code,), last=code, legs=legs
                    )
                )
        return found

    def _leads_home(self, path: Candidate, code: int) -> bool:
        """Whether a walk that ends where it started may be asked for: "her son's mother"."""
        turned = bool(path.relations) and abs(code - path.last) == self.kg.num_relations
        return not turned and code not in self.vocabulary.symmetric

    def _there_and_back(self, path: Candidate) -> bool:
        """Whether a path goes on to what shares something with where it came from."""
        turned = self.kg.num_relations
        return any(abs(a - b) == turned for a, b in itertools.pairwise(path.relations))

    def _aside(self, code: int, path: Candidate) -> bool:
        """Steps no question means: over a class to all of its kind, over another name."""
        role = self.vocabulary.role(code)
        if role == "alias" or (
            role == "type" and (code >= self.kg.num_relations or path.relations)
        ):
            return True
        # There and back over a number or date: "things of the same year" is too much to guess.
        return bool(path.relations) and self.vocabulary.ends_kind(path.last) != "thing"

    def joins(self, asked: Asked, paths: list[list[Candidate]]) -> list[Candidate]:
        """Sets that two or three topics share, and what one or two steps on from them is."""
        pairs: list[Candidate] = []
        for one, two in itertools.combinations(range(len(paths)), 2):
            left = [p for p in paths[one] if len(p.relations) <= 2][:60]
            right = [p for p in paths[two] if len(p.relations) <= 2][:60]
            pairs += self._meet(left, right)
        pairs = self.scored(asked, pairs)[:150]
        triples: list[Candidate] = []
        if len(paths) > 2:
            for third in range(len(paths)):
                outer = [p for p in pairs[:40] if all(m != third for m, _ in p.topics)]
                triples += self._meet(
                    outer, [p for p in paths[third] if len(p.relations) <= 1][:30]
                )
        joined = ranked([*pairs, *self.marked(asked, triples)])
        further = [f for join in joined[:15] for f in self.paths(asked, join, 1)]
        return [*joined, *further]

    def _meet(self, left: list[Candidate], right: list[Candidate]) -> list[Candidate]:
        found = []
        for a, b in itertools.product(left, right):
            if a.last >= 0 and self.vocabulary.ends_kind(a.last) != "thing":
                continue
            both = np.intersect1d(a.ends, b.ends, assume_unique=True)
            if len(both):
                shared = a.relations == b.relations and len(a.topics) == 1
                found.append(
                    Candidate(
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
                )
        return found

    def class_query(self, kind: int) -> Domain | Step:
        """All entities of a class, or of a sort."""
        if kind in self.vocabulary.sorts:
            return Domain(tuple(map(self.kg.relation_name, self.vocabulary.sorts[kind].codes)))
        codes = self.vocabulary.type_codes
        return Step(
            Entities(
                tuple(self.kg.entity_ids[k] for k in self.vocabulary.under.get(kind, (kind,)))
            ),
            tuple(self.kg.relation_name(code + self.kg.num_relations) for code in codes),
        )

    def _near(self, asked: Asked) -> dict[int, float]:
        """Classes that the question may mean though it does not name them, with their likeness."""
        groups = {kind: self.vocabulary.class_words(kind) for kind in self.vocabulary.classes}
        if len(groups) > _CLASSES:
            return {}
        asked.alignment.prepare(groups.values())
        aligned = {kind: class_aligned(asked, kind, self.vocabulary) for kind in groups}
        close = {kind: max(a.best_sem, a.best_lex) for kind, a in aligned.items()}
        sorts = self.vocabulary.sorts
        near = [kind for kind in groups if kind not in sorts or close[kind] >= _LIKELY]
        return {kind: close[kind] for kind in sorted(near, key=lambda kind: -close[kind])[:3]}

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
        codes = [self.kg.relation_name(code) for code in self.vocabulary.type_codes]
        for candidate in found:
            for kind in sorted(kinds):
                both = _within(candidate.ends, self.vocabulary.classes[kind])
                if 0 < len(both) < len(candidate.ends):
                    node = candidate.node
                    kept.append(
                        dataclasses.replace(
                            candidate,
                            query=Intersection((node, self.class_query(kind)))
                            if kind in self.vocabulary.sorts or kind in self.vocabulary.under
                            else Where(node, (codes[0],), "=", self.kg.entity_ids[kind]),
                            ends=both,
                            classes=(kind,),
                        )
                    )
        return kept

    def from_classes(self, asked: Asked, classes: list[Candidate]) -> list[Candidate]:
        """What a step from everything of a class leads to: "the languages of the doctors"."""
        if asked.mentions:
            return []
        named = _named(asked)
        hops = [1 + (some.classes[0] in named) for some in classes]
        return [p for some, most in zip(classes, hops) for p in self.paths(asked, some, most)]


def ranked(found: Iterable[Candidate]) -> list[Candidate]:
    """By their quick scores, best first."""
    return sorted(found, key=lambda candidate: -candidate.quick)


def _named(asked: Asked) -> set[int]:
    """Classes that the question names."""
    return {mention.kind for mention in asked.classes}


def _within(ends: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Those of some ends that are of many ascending members; ascending."""
    place = np.minimum(np.searchsorted(members, ends), len(members) - 1)
    return np.sort(ends[members[place] == ends])
