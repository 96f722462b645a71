"""Walks from a set of things along the relations that it has."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from jaxkg.deadline import check
from jaxkg.kg.neighbourhood import distinct, spread
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import Entities, Node, Step
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.labels import SAID
from jaxkg.systems.reader.sets.quick import (
    Further,
    aligned,
    further_scores,
    joined,
    quick_scores,
)
from jaxkg.systems.reader.settings import ReaderSettings
from jaxkg.words import is_blank

FURTHEST = 30
"""Paths of three relations that are walked on from."""
_SCORED = 4_096
"""Readings of very many that are held at once to find the best."""
_AT_ONCE = 200_000
"""Edges that are walked at once; a set that has more is walked alone."""
_TELLING = 20
"""Ends that tell which classes all have."""
_KEPT = 10_000
"""Sets of nodes whose classes are kept: questions of one graph meet the same ones."""


class Walks:
    """Finds what lies around sets of things, and scores it quickly.

    Args:
        vocabulary: of the graph.
        settings: how much is looked at.
    """

    def __init__(self, vocabulary: Vocabulary, settings: ReaderSettings) -> None:
        self.vocabulary, self.kg, self.settings = vocabulary, vocabulary.kg, settings
        self._shared_classes = SharedClasses(vocabulary)

    @functools.cached_property
    def sets(self) -> QuerySets:
        """Executes query graphs over the graph."""
        return QuerySets(self.kg, self.vocabulary.values, self.vocabulary.around)

    def wordings(self, code: int) -> tuple[str, ...]:
        """A relation code in words; its direction is told elsewhere."""
        return self.vocabulary.wordings(code)

    def ends_classes(self, ends: np.ndarray) -> tuple[int, ...]:
        """Classes that all of the ends have, as far as the first of them tell."""
        return self._shared_classes.of(ends)

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
        return self.vocabulary.around.ends(nodes, self._same)

    def marked(self, asked: Asked, found: Iterable[Candidate]) -> list[Candidate]:
        """With quick scores, in the same order."""
        some = list(found)
        if not some:
            return []
        kinds = [self.end_classes(candidate) for candidate in some]
        loose = {kind for one, ends in zip(some, kinds) for kind in (*ends, *one.between)}
        asked.alignment.prepare(map(self.vocabulary.class_words, loose))
        scores = quick_scores(asked, some, kinds, self.vocabulary).tolist()
        return [one._replace(quick=score) for one, score in zip(some, scores)]

    def scored(self, asked: Asked, found: Iterable[Candidate]) -> list[Candidate]:
        """With quick scores, best first."""
        return ranked(self.marked(asked, found))

    def best(self, asked: Asked, found: Iterable[Candidate], most: int) -> list[Candidate]:
        """The best of very many by their quick scores, which are not all held at once."""
        kept: list[Candidate] = []
        rest = iter(found)
        while some := list(itertools.islice(rest, _SCORED)):
            kept = ranked([*kept, *self.marked(asked, some)])[:most]
        return kept

    def paths(
        self, asked: Asked, start: Candidate, hops: int, most: int | None = None
    ) -> list[Candidate]:
        """Relation paths from a start, which is an answer only where a walk leads to nothing else.

        The best of each length are walked on from, so that the whole stays small.

        Args:
            asked: the question.
            start: where they start.
            hops: relations of the longest.
            most: paths of each length that are wanted, the best; None for all.
        """
        level, found = [start], []
        around = self.vocabulary.around
        alone = isinstance(start.query, Entities)
        labels = ((c, aligned(asked, c, self.vocabulary)) for c in self.vocabulary.alias_codes)
        names = [c for c, label in labels if label.best_lex >= SAID]  # "what is the acronym of ..."
        for hop in range(hops):
            check()
            best = level[: self.settings.expanded if hop < 3 else FURTHEST]
            walked = [path for path in best if around.degree(path.ends) <= self.settings.edges]
            asked.cut |= len(walked) < len(best)
            # There and back over a number or date, "of the same year", is too much to guess.
            walked = [p for p in walked if not p.relations or self._leads_on(p.last)]
            further = self._further(start, walked, names)
            if not len(further):
                break
            asked.alignment.prepare(map(self.wordings, np.unique(further.code).tolist()))
            through = [self._walked_through(path) for path in walked]
            kinds, kinds_at = self._shared_classes.of_each(further)
            loose = {kind for some in (*kinds, *(p.between for p in through)) for kind in some}
            asked.alignment.prepare(map(self.vocabulary.class_words, loose))
            scores = further_scores(asked, through, further, kinds, kinds_at, self.vocabulary)
            order = np.argsort(-scores, kind="stable")
            wanted = order[self._answering(asked, further)[order]][:most]
            onward = order[self._leading_on(further.code)[order]][: self.settings.expanded]
            made = {
                place: self.walked(
                    through[further.path[place]],
                    int(further.code[place]),
                    further.ends_of(place),
                    returns=not alone or bool(further.home[place]),
                    quick=float(scores[place]),
                )
                for place in np.union1d(wanted, onward).tolist()
            }
            found += [made[place] for place in np.sort(wanted).tolist()]
            level = [made[place] for place in onward.tolist()]
        return found

    def _further(
        self, start: Candidate, walked: Sequence[Candidate], names: Sequence[int]
    ) -> Further:
        """What walked paths come to with one more relation that a question may mean; `names`: to
        other names, that it does mean."""
        parts, total = [], self.kg.num_relations
        for low, high in _in_parts([self.vocabulary.around.degree(p.ends) for p in walked]):
            path, code, first, ends = self.vocabulary.around.ends_of_each(
                [p.ends for p in walked[low:high]], self._same
            )
            size = np.diff(first, append=len(ends))
            parts.append(Further(path + low, code, first, size, ends, np.zeros(len(path), bool)))
        further = joined(parts)
        further = further.but(start.ends) if isinstance(start.query, Entities) else further
        later = np.array([bool(path.relations) for path in walked], np.int64)[further.path]
        aside = self._aside[later, further.code]
        aside &= ~np.isin(further.code, names)
        last = np.array([path.last if path.relations else -1 for path in walked])[further.path]
        # A walk that ends where it started may be asked for: "her son's mother".
        turned = (last >= 0) & (np.abs(further.code - last) == total)
        aside |= further.home & (turned | self._both_ways[further.code])
        # From a fact's one end over what is said of it to its other end is the fact itself.
        aside |= np.isin(last - total, self._ends_stated) & np.isin(further.code, self._ends_stated)
        if not isinstance(start.query, Entities):  # the largest match is known to be a match
            aside |= np.isin(further.first, self.ends_classes(start.ends))
        if start.shape == "filter" and not self._leads_on(start.measure):
            aside |= further.code == start.measure
        return further.some(~aside)

    def _walked_through(self, path: Candidate) -> Candidate:
        """A path that is walked on from: what it comes to is what further ones walk through."""
        if not (path.relations or path.classes or path.measure >= 0):
            return path
        nameless = bool(path.relations) and self.joins_others(int(path.ends[0]))
        between = (*path.between, *self.ends_classes(path.ends))
        return path._replace(between=between, through=path.through + nameless)

    def walked(
        self, path: Candidate, code: int, ends: np.ndarray, *, returns: bool = True, **fields: float
    ) -> Candidate:
        """A path with one more relation, and other fields of it."""
        first = tuple((mention, (*codes, code)) for mention, codes in path.legs[:1])
        return path._replace(
            query=self.step(path.node, code, returns=returns),
            ends=ends,
            relations=(*path.relations, code),
            last=code,
            legs=first + path.legs[1:],
            **fields,
        )

    def _answering(self, asked: Asked, further: Further) -> np.ndarray:
        """[S] bool, see `answers`."""
        first = further.first
        for node in distinct(first[self._joins[first] < 0]).tolist():
            self._joins[node] = self.joins_others(node)
        shown = self._joins[first] == 0
        for node in distinct(first[~shown]).tolist():
            if self._asked_for(asked, node):
                shown |= first == node
        total = self.kg.num_relations
        for code in distinct(further.code[~shown & (further.code >= total)]).tolist():
            if self.vocabulary.parts(code - total):
                shown |= further.code == code
        return shown

    def _leading_on(self, codes: np.ndarray) -> np.ndarray:
        """[S] bool, see `_leads_on`."""
        some, at = np.unique(codes, return_inverse=True)
        return np.array([self._leads_on(code) for code in some.tolist()], bool)[at]

    @functools.cached_property
    def _joins(self) -> np.ndarray:
        """[N] int8: see `joins_others`, -1 for what was not looked at."""
        return np.full(self.kg.num_entities, -1, np.int8)

    @functools.cached_property
    def _both_ways(self) -> np.ndarray:
        """[2 R] bool: codes of relations that hold both ways, which are walked ahead."""
        both = np.zeros(2 * self.kg.num_relations, bool)
        both[list(self.vocabulary.symmetric)] = True
        return both

    @functools.cached_property
    def _same(self) -> np.ndarray:
        """[2 R] the code that each counts as: one that holds both ways has one."""
        same = np.arange(2 * self.kg.num_relations)
        both = np.flatnonzero(self._both_ways)
        same[both + self.kg.num_relations] = both
        return same

    def _leads_on(self, code: int) -> bool:
        """Whether a relation code leads to things: not to values, nor to true and false."""
        thing = self.vocabulary.ends_kind(code) == "thing"
        return thing and self.vocabulary.truths(code) is None

    def answers(self, asked: Asked, found: Candidate) -> bool:
        """Whether what is found may be asked for: not nodes that join, unless of a kind named, or
        put in order to be added up."""
        if found.result or not len(found.ends) or asked.adds(found):
            return True
        if not self.joins_others(int(found.ends[0])):
            return True
        return self._asked_for(asked, int(found.ends[0]))

    def _asked_for(self, asked: Asked, joining: int) -> bool:
        """Whether nodes like one that joins others may be asked for."""
        kinds = self.vocabulary.kinds_of(joining)
        is_named = not named_classes(asked).isdisjoint(kinds)
        if not self.kg.has_name(joining):  # the rows of a table are counted, whatever they are
            is_plain = self.vocabulary.sorts.keys() >= set(kinds)
            is_row = is_named or (is_plain and is_blank(self.kg.entity_ids[joining]))
            return is_row and asked.cues.count
        return is_named or asked.cues.count

    def joins_others(self, entity: int) -> bool:
        """Whether a node but joins others, as a row of sales does; not a person who has no id."""
        if self.kg.has_name(entity) and is_blank(self.kg.entity_ids[entity]):
            *_, number = self.kg.name(entity).split()
            return number.isdecimal() or entity in self._statements
        return not self.kg.has_name(entity)

    @functools.cached_property
    def _statements(self) -> frozenset[int]:
        """Nodes of which something is said of a fact."""
        return frozenset(self.vocabulary.values.statements.node.tolist())

    @functools.cached_property
    def _ends_stated(self) -> list[int]:
        """Relations from statements to the ends of facts that the graph has, all of them."""
        statements = self.vocabulary.values.statements
        ends = statements.relations[::2] if (statements.fact >= 0).all() else ()
        return list(map(self.kg.relation_code, ends))

    @functools.cached_property
    def _aside(self) -> np.ndarray:
        """[2, 2 R] bool: codes that no question means first, and later on: over a class to all of
        its kind, over another name, over what is said of relations; to a class from what was
        walked to."""
        total, types = self.kg.num_relations, self.vocabulary.type_codes
        aside = np.zeros((2, 2 * total), bool)
        aside[:, [code + total for code in types]] = True
        for code in range(2 * total):
            aside[:, code] |= self.vocabulary.role(code) in ("alias", "size")
        aside[1, types] = True
        aside[:, self.vocabulary.of_schema] = True
        return aside


class SharedClasses:
    """Classes that all of some ends have, as far as the first of them tell.

    Questions may be read side by side.

    Args:
        vocabulary: of the graph.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._of_all = functools.lru_cache(_KEPT)(self._in_common)
        self._met: list[tuple[int, ...]] = []
        self._places: dict[tuple[int, ...], int] = {}
        self._alone = threading.Lock()

    def of(self, ends: np.ndarray) -> tuple[int, ...]:
        """Of ends [n]; none where there are no ends."""
        if not self._vocabulary.classes or not len(ends):
            return ()
        return self._of_all(tuple(ends[:_TELLING].tolist()))

    def of_each(self, further: Further) -> tuple[list[tuple[int, ...]], np.ndarray]:
        """Of what each of S paths comes to: the different ones, and [S] which of them."""
        if not self._vocabulary.classes:
            return [()], np.zeros(len(further), np.int64)
        told = np.minimum(further.size, _TELLING)
        some = further.ends[spread(further.start, further.start + told)]
        for node in distinct(some[self._of_node[some] < 0]).tolist():
            self._of_node[node] = self._place(self._in_common((node,)))
        rows, starts = self._of_node[some], np.cumsum(told) - told
        at = np.minimum.reduceat(rows, starts)
        for place in np.flatnonzero(at < np.maximum.reduceat(rows, starts)).tolist():
            at[place] = self._place(self.of(further.ends_of(place)))
        used, at = np.unique(at, return_inverse=True)
        return [self._met[place] for place in used.tolist()], at

    @functools.cached_property
    def _of_node(self) -> np.ndarray:
        """[N] int32: place among the classes that were met, -1 for what was not looked at."""
        return np.full(self._vocabulary.kg.num_entities, -1, np.int32)

    def _place(self, kinds: tuple[int, ...]) -> int:
        with self._alone:
            if kinds not in self._places:
                self._met.append(kinds)
                self._places[kinds] = len(self._met) - 1
            return self._places[kinds]

    def _in_common(self, ends: tuple[int, ...]) -> tuple[int, ...]:
        of = [set(self._vocabulary.kinds_of(end)) for end in ends]
        return tuple(set.intersection(*of))


def _in_parts(edges: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of sets that are walked at once, by how many edges each has."""
    low = walked = 0
    for place, some in enumerate(edges):
        if place > low and walked + some > _AT_ONCE:
            yield low, place
            low, walked = place, 0
        walked += some
    yield low, len(edges)


def ranked(found: Iterable[Candidate]) -> list[Candidate]:
    """By their quick scores, best first."""
    return sorted(found, key=lambda candidate: -candidate.quick)


def named_classes(asked: Asked) -> set[int]:
    """Classes that the question names."""
    return {mention.kind for mention in asked.classes}
