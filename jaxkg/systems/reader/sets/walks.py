"""Walks from a set of things along the relations that it has."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np

from jaxkg.query import Entities, Node, Step
from jaxkg.systems.reader.language.kin import kin_told
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.quick import quick_scores
from jaxkg.words import is_blank

FURTHEST = 30
"""Paths of three relations that are walked on from."""
_TELLING = 20
"""Ends that tell which classes all have."""
_NODES, _DEGREE = 4, 500
"""Sets of nodes up to which, with their edges, it is kept what lies around them."""
_KEPT = 10_000
"""Sets of nodes of which something is kept: questions of one graph meet the same ones."""


class Walks:
    """Finds what lies around sets of things, and scores it quickly.

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
        return [one._replace(quick=score) for one, score in zip(some, scores)]

    def scored(self, asked: Asked, found: Iterable[Candidate]) -> list[Candidate]:
        """With quick scores, best first."""
        return ranked(self.marked(asked, found))

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
            best = level[: self._expanded if hop < 3 else FURTHEST]
            walked = [path for path in best if around.degree(path.ends) <= self._edges]
            asked.cut |= len(walked) < len(best)
            reaching = [self.reached(path.ends) for path in walked]
            asked.alignment.prepare(map(self.wordings, set().union(*reaching)))
            for path, reached in zip(walked, reaching):
                if path.relations and not self._leads_on(path.last):
                    # There and back over a number or date: "of the same year" is too much to guess.
                    continue
                aside = self._aside[bool(path.relations)]
                named = path.relations or path.classes or path.measure >= 0
                between = self.ends_classes(path.ends) if named else ()
                nameless = bool(path.relations) and self.joins_others(int(path.ends[0]))
                for code, ends in reached.items():
                    if code in aside or (code == path.measure and not self._leads_on(code)):
                        continue
                    left = ends[~np.isin(ends, topics)] if len(topics) > 1 else ends[ends != topics]
                    home = not len(left) and self._leads_home(path, code)
                    if not len(left) and not home:
                        continue
                    left = ends if home else left
                    query = self.step(path.node, code, returns=not alone or home)
                    longer.append(
                        path._replace(
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
            found += [c for c in longer if self.answers(asked, c)]
            level = ranked(c for c in longer if self._leads_on(c.last))
        return found

    def _leads_on(self, code: int) -> bool:
        """Whether a relation code leads to things: not to values, nor to true and false."""
        thing = self.vocabulary.ends_kind(code) == "thing"
        return thing and self.vocabulary.truths(code) is None

    def answers(self, asked: Asked, found: Candidate) -> bool:
        """Whether what is found may be asked for: not nodes that join, unless of a kind named."""
        if found.result or not len(found.ends) or not self.joins_others(int(found.ends[0])):
            return True
        if not self.kg.has_name(int(found.ends[0])):
            return False
        return asked.cues.count or not named_classes(asked).isdisjoint(
            self.vocabulary.kinds_of(int(found.ends[0]))
        )

    def joins_others(self, entity: int) -> bool:
        """Whether a node but joins others, as a row of sales does."""
        return not self.kg.has_name(entity) or is_blank(self.kg.entity_ids[entity])

    def kin(self, asked: Asked, start: Candidate) -> list[Candidate]:
        """The kin that the question names by a word of its own: "parents", "grandchildren"."""
        found = []
        told = kin_told(asked.cues.words.folded, asked.alignment.masked)
        for steps in told if self.vocabulary.kin else ():
            if not all(self.vocabulary.kin[step] for step in steps):
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
                    start._replace(query=node, ends=ends, relations=(code,), last=code, legs=legs)
                )
        return found

    def _leads_home(self, path: Candidate, code: int) -> bool:
        """Whether a walk that ends where it started may be asked for: "her son's mother"."""
        turned = bool(path.relations) and abs(code - path.last) == self.kg.num_relations
        return not turned and code not in self.vocabulary.symmetric

    @functools.cached_property
    def _aside(self) -> tuple[frozenset[int], frozenset[int]]:
        """Codes that no question means first, and later on: over a class to all of its kind, over
        another name; to a class from what was walked to."""
        total = self.kg.num_relations
        names = [code for code in range(2 * total) if self.vocabulary.role(code) == "alias"]
        types = self.vocabulary.type_codes
        first = frozenset([*names, *(code + total for code in types)])
        return first, first.union(types)


def ranked(found: Iterable[Candidate]) -> list[Candidate]:
    """By their quick scores, best first."""
    return sorted(found, key=lambda candidate: -candidate.quick)


def named_classes(asked: Asked) -> set[int]:
    """Classes that the question names."""
    return {mention.kind for mention in asked.classes}
