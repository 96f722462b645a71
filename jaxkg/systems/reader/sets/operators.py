"""Counts, unions, exceptions, yes and no around sets of things, and what is measured of them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.query import Count, Difference, Entities, Exists, Extreme, Intersection, Node, Union
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates, Finder
from jaxkg.systems.reader.sets.holding import Holding, done
from jaxkg.systems.reader.sets.labels import SAID
from jaxkg.systems.reader.sets.measured import Measured
from jaxkg.systems.reader.sets.pairs import Matched, Pairs

_BASES = 40
_HELD = 10
_EITHER, _BOTH = 60, 10
_LEFT_OF = 60
"""Sets that something may be left out of, the best first."""
_WALKED_ON = 8
"""Extremes and bounded sets that are walked on from, the best first."""
_NAMED = 0.75
"""Score from which on a mention is what a question is about."""
_NEITHER = {"neither", "weder"}
_LOOKED_AT, _JOINS, _EXIST = 120, 20, 30
_MEMBERS = 100
_ALIKE_WORDS = "same both share shares shared and together common as also too und beide auch wie"
_ALIKE = frozenset(_ALIKE_WORDS.split())
"""Words without which nobody asks whether two have something of the same."""


class Operators(Finder):
    """Puts operators around candidates where the wording asks for them."""

    def __init__(self, find: Candidates) -> None:
        super().__init__(find)
        self.measured = Measured(find)
        self.holding = Holding(self.measured)
        self.pairs = Pairs(self.measured)
        self.matched = Matched(self.measured)
        self.whether = Whether(find)

    def all(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """Candidates with operators; those without remain, too."""
        cues, measured = asked.cues, self.measured
        made: list[Candidate] = []
        bases = self._bases(found)
        openly = not any(mention.score >= _NAMED for mention in asked.mentions)
        denies = cues.except_at is not None or cues.negated is not None
        about = [base for base in bases[_HELD:] if base.topics]
        about.sort(key=lambda base: len(base.relations))
        spoken = self.holding.spoken_of(asked) if openly or denies else []
        rows = self.find.row_sets(asked) if asked.mentions and self.holding.is_said(asked) else []
        said = [*bases[:_HELD], *about[:_HELD], *spoken, *rows[:_HELD]]
        held = [f for base in said for f in self.holding.all(asked, base) if len(f.ends)]
        made += [*held, *self.holding.lacking(asked, [*spoken, *bases[:_HELD]])]
        verbs = done(asked, self.find)
        made += self.holding.done(verbs, bases[:_HELD])
        if cues.either or denies:
            unions = self._unions(asked, found)
            made += unions
            some = [f for those in (unions, held) for f in self.find.scored(asked, those)[:_BOTH]]
            made += self._exceptions(asked, [*some, *found])
        grade = cues.extreme or cues.comparative
        if grade is not None:
            made += [*self.pairs.all(asked), *self.pairs.beyond(asked, bases)]
        made += self.pairs.within(asked)
        if openly and not cues.yesno:
            made += self.matched.alike(asked)
        made += self.matched.quantified(asked, found)
        having: list[Candidate] = []
        if openly and (grade is not None or cues.bounds):
            having = measured.having(asked, ordered=True, measure=grade.measured if grade else "")
            if cues.bounds or (grade is not None and not grade.measure):
                having += measured.having(asked)
        if grade is not None or cues.bounds:
            having += self.find.row_sets(asked)
        if cues.bounds:
            filtered = [
                f for base in (*having, *bases) for b in cues.bounds
                for f in (*measured.bounded(asked, base, b), *measured.counted(asked, base, b))
            ]  # fmt: skip
            made += filtered
            twice = [
                f for one in self.find.scored(asked, filtered)[:20] for b in cues.bounds
                if not one.explained >= set(b.words) for f in measured.bounded(asked, one, b)
            ]  # fmt: skip
            best = self.find.scored(asked, filtered)[:_WALKED_ON]
            made += [f for one in best for f in self.holding.all(asked, one) if len(f.ends)]
            made += [*twice, *self.holding.lacking(asked, best)]
            bases = [*self.find.scored(asked, [*filtered, *twice])[:20], *bases]
        if grade is not None and (cues.extreme is not None or not cues.bounds):
            sets = [*having, *bases]
            first = [e for base in sets for e in measured.extremes(asked, base, grade)]
            made += [*first, *self._nested(asked, sets, grade)]
        made += self._onwards(asked, made)
        if cues.count:
            counted = [*bases, *self.find.scored(asked, made)[:20]]
            made += [self._count(base) for base in counted if self._countable(base)]
        if not found and not made:  # "what's out on loan"
            made += measured.having(asked)
        if cues.yesno:
            joins = [c for c in found[:_EITHER] if c.shape == "join"][:_BOTH]
            true = [f for base in joins for f in self.holding.all(asked, base)]
            made += self.whether.all(asked, found, [*self._about_topics(asked), *true], verbs)
        return made

    def _onwards(self, asked: Asked, made: list[Candidate]) -> list[Candidate]:
        """What a step or two lead to from what a value picks out: "who wrote the longest book"."""
        picked = [c for c in made if c.shape in ("extreme", "filter") and not c.result]
        picked = [c for c in picked if not asked.adds(c)]
        best = self.find.scored(asked, picked)[:_WALKED_ON]
        return [path for one in best for path in self.find.paths(asked, one, 2)]

    def _nested(self, asked: Asked, bases: list[Candidate], outer: Grade) -> list[Candidate]:
        """The first of what a second superlative picks out: "the largest city of the smallest
        state"."""
        inner = asked.cues.inner
        if inner is None or asked.nested is None:
            return []
        whole, part = asked.nested
        best = self.find.scored(asked, self._foremost(asked, bases, inner, part))[:_WALKED_ON]
        sets = [path for first in best for path in self.find.paths(asked, first, 1)]
        return self._foremost(asked, sets, outer, whole)

    def _foremost(
        self, asked: Asked, bases: list[Candidate], grade: Grade, kinds: frozenset[int]
    ) -> list[Candidate]:
        """The first of sets of some classes."""
        return [
            extreme
            for base in bases
            if kinds & set(self.find.ends_classes(base.ends))
            for extreme in self.measured.extremes(asked, base, grade, least=1)
        ]

    def _about_topics(self, asked: Asked) -> list[Candidate]:
        """Bounds on the values of the topics themselves, or of their rows, also those that do not
        hold."""
        made = []
        for start in self.find.topics(asked):
            topic = start._replace(explained=frozenset(), legs=())
            for bound in asked.cues.bounds:
                made += self.measured.bounded(asked, topic, bound, empty=True)
            made += self.holding.all(asked, topic)
        rows = self.find.row_sets(asked)[:_HELD] if asked.cues.bounds and asked.mentions else []
        for base, bound in itertools.product(rows, asked.cues.bounds):
            made += self.measured.bounded(asked, base, bound, empty=True)
        return made

    def _bases(self, found: list[Candidate]) -> list[Candidate]:
        things = [c for c in found if c.last < 0 or self.vocabulary.ends_kind(c.last) == "thing"]
        classes = [c for c in things if c.shape == "class"]
        whole = [c for c in classes if c.whole_class]
        walked = [c for c in classes if c.relations]
        others = [c for c in things if c.shape != "class"]
        # What one step leads to, though better readings walk further.
        near = [c for c in others[_BASES:] if len(c.relations) < 2]
        return [*whole, *walked, *others[:_BASES], *near]

    def _countable(self, base: Candidate) -> bool:
        """Not what can but be one, the referee of a match, nor values."""
        if base.last >= 0 and self.vocabulary.ends_kind(base.last) != "thing":
            return False
        once = all(self.vocabulary.functional(code) for code in base.relations)
        alone = base.shape == "path" and len(base.topics) == 1 and once and not base.classes
        return not base.result and not isinstance(base.node, Extreme) and not alone

    def _count(self, base: Candidate) -> Candidate:
        return base._replace(query=Count(base.node), shape="count", result=str(len(base.ends)))

    def _unions(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """The same said of either of two topics."""
        made = []
        if not asked.cues.either:
            return made
        paths: dict[int, list[Candidate]] = defaultdict(list)
        for path in found:  # a long name must not crowd out a short one
            if path.shape == "path" and len(path.topics) == 1:
                paths[path.topics[0][0]].append(path)
        for one, two in asked.pairs:
            for a, b in itertools.product(paths[one][:_EITHER], paths[two][:_EITHER]):
                if a.relations == b.relations and a.classes == b.classes:
                    made.append(_either(a, b)._replace(shape="union", legs=(*a.legs, *b.legs)))
        return made

    def _exceptions(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """A set without a thing, or without what another path leads to."""
        cues = asked.cues
        at = cues.except_at if cues.except_at is not None else cues.negated
        if at is None:
            return []
        made = []
        paths = [c for c in found if c.shape == "path" and len(c.topics) == 1]
        # A step, or two over the rows of what links two tables.
        paths = [c for c in paths if len(c.relations) - c.through == 1 or self._links(c)]
        for i in _left_out(asked, at):
            apart = [c for c in found if not c.result and all(m != i for m, _ in c.topics)]
            own = [path for path in paths if path.topics[0][0] == i][:10]
            longer = {p.relations: p for p in found if p.shape == "path" and _alone(p, i)}
            classes = [*(c for c in apart if c.shape == "class"), *self._alike(own)]
            bases = [*classes, *(c for c in apart if c.shape != "class")][:_LEFT_OF]
            for base in bases if cues.except_at is not None else ():
                for topic in self.find.topics(asked, i):
                    if topic.ends[0] in base.ends and len(base.ends) > 1:
                        made.append(self._without(base, topic.topics, topic.node, topic.ends, ()))
            # What the same relation leads to from either: "neither A nor B".
            others = [path for path in paths if path.topics[0][0] > i][:_BASES]
            both = [_either(a, b) for a in own for b in others if a.relations == b.relations]
            words = set(cues.words.folded)
            # "Which are not in English or Latin".
            neither = _NEITHER & words or (bool(both) and cues.either and cues.except_at is None)
            for base in bases:
                alike = [longer[base.relations]] if base.relations in longer else []
                for path in both if neither else [*own, *alike]:
                    topics = {m for m, _ in path.topics}
                    named = (m for m, _ in base.topics)
                    if topics.isdisjoint(named) and self._comparable(base, path):
                        made.append(
                            self._without(base, path.topics, path.node, path.ends, path.relations)
                        )
        return [c for c in made if len(c.ends) or c.wanting]

    def _links(self, path: Candidate) -> bool:
        """Whether a path goes back over one relation and ahead over another: a row has both."""
        total = self.kg.num_relations
        return len(path.relations) == 2 and path.relations[0] >= total > path.relations[1]

    def _alike(self, paths: list[Candidate]) -> list[Candidate]:
        """Everything that has the relation of a path: "who works neither in A nor in B"."""
        codes = dict.fromkeys(self.vocabulary.inverse(path.last) for path in paths)
        return list(map(self.find.having, codes))

    def _comparable(self, one: Candidate, other: Candidate) -> bool:
        """Whether two sets are of one sort, so that the one may be taken from the other."""
        kinds = self.find.ends_classes(one.ends)
        if not kinds or not set(kinds).isdisjoint(self.find.ends_classes(other.ends)):
            return True
        return len(np.intersect1d(one.ends, other.ends, assume_unique=True)) > 0

    def _without(
        self,
        base: Candidate,
        topics: tuple[tuple[int, int], ...],
        query: Node,
        ends: np.ndarray,
        relations: tuple[int, ...],
    ) -> Candidate:
        left = np.setdiff1d(base.ends, ends, assume_unique=True)
        return base._replace(
            query=Difference(base.node, query),
            ends=left,
            wanting=float(base.whole_class and not len(left)),
            topics=(*base.topics, *topics),
            relations=(*base.relations, *(r for r in relations if r not in base.relations)),
            shape="except",
        )


def _either(a: Candidate, b: Candidate) -> Candidate:
    """What either of two readings leads to, as the first of them."""
    return a._replace(
        query=Union((a.node, b.node)),
        ends=np.union1d(a.ends, b.ends),
        topics=(*a.topics, *b.topics),
    )


def _alone(path: Candidate, mention: int) -> bool:
    """Whether a path of two steps starts from one mention."""
    return len(path.relations) == 2 and [m for m, _ in path.topics] == [mention]


def _left_out(asked: Asked, at: int) -> list[int]:
    """What a "not" speaks of: what comes after it, else what it stands after, "that B doesn't"."""
    after = [i for i, mention in enumerate(asked.mentions) if mention.first > at]
    before = [i for i, mention in enumerate(asked.mentions) if mention.last < at]
    return after or (before[-1:] if len(before) > 1 or asked.cues.goes_on(at) else [])


class Whether(Finder):
    """Readings that are answered by yes or no."""

    def all(
        self,
        asked: Asked,
        found: list[Candidate],
        filtered: list[Candidate],
        verbs: Mapping[int, frozenset[int]],
    ) -> list[Candidate]:
        """All of them.

        Args:
            asked: the question.
            found: readings without operators.
            filtered: those with a bound on a value.
            verbs: from `done`.
        """
        words = asked.cues.words.folded
        alike = not _ALIKE.isdisjoint(words)
        made = self._stands(asked, found)
        made += [
            self._exists(c, len(c.ends) > 0) for c in filtered if len(c.relations) <= len(c.topics)
        ]
        made += [*self._true(asked, found), *self._done(asked, verbs)]
        # What says true or false is not there for being said: "was it paid?".
        joins = [
            c for c in found[:_LOOKED_AT]
            if c.shape == "join" and self.vocabulary.truths(c.last) is None
            and (alike or len(c.relations) == len(c.topics) or len(c.topics) < 2)
        ]  # fmt: skip
        made += [self._exists(c, True) for c in joins[:_EXIST]]
        return made

    def _exists(self, base: Candidate, holds: bool) -> Candidate:
        result = "yes" if holds else "no"
        return base._replace(query=Exists(base.node), shape="yesno", result=result)

    def _true(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """Whether a topic's value of true and false is true, in whatever words it is asked for."""
        made: list[Candidate] = []
        if asked.cues.negated is not None:
            return made
        for path in found:
            if path.shape != "path" or path.last < 0 or len(path.ends) != 1:
                continue
            told = self.vocabulary.truths(path.last)
            if told is None or told[0] < 0:
                continue
            true = Entities((self.kg.entity_ids[told[0]],))
            holds = int(path.ends[0]) == told[0]
            reading = path._replace(
                query=Intersection((path.node, true)),
                ends=path.ends if holds else np.zeros(0, np.int64),
            )
            made.append(self._exists(reading, holds))
        return made

    def _done(self, asked: Asked, verbs: Mapping[int, frozenset[int]]) -> Iterator[Candidate]:
        """Whether a topic has a day of what was done to it, as others of its kind have: "was O-102
        cancelled"."""
        for code, places in verbs.items():
            peers = self.find.ends_classes(self.vocabulary.domain(code)[:_LOOKED_AT])
            for topic in self.find.topics(asked):
                _, ends = self.vocabulary.around.pairs(topic.ends, code)
                if len(ends) or not {*peers}.isdisjoint(self.find.ends_classes(topic.ends)):
                    path = self.find.walked(topic, code, ends)
                    path = path._replace(explained=path.explained | places)
                    yield self._exists(path, len(ends) > 0)

    def _stands(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """Whether a topic stands where a path from another one leads."""
        made = []
        paths = [
            c for c in found if c.shape == "path" and len(c.topics) == 1 and len(c.relations) <= 2
        ]
        # "Is she the goalkeeper of Rovers": of what two others lead to.
        joins = [c for c in found if c.shape == "join" and len(c.relations) == len(c.topics) == 2]
        for path in [*joins[:_JOINS], *paths[:_LOOKED_AT]]:
            near = self._near(asked, path.last)
            topics = {mention for mention, _ in path.topics}
            for topic, node in asked.options:
                if topic[0] in topics or not near & self.codes(node):
                    continue
                both = (path.node, Entities((self.kg.entity_ids[node],)))
                holds = node in path.ends
                reading = path._replace(
                    query=Intersection(both),
                    ends=np.array([node]) if holds else np.zeros(0, np.int64),
                    topics=(*path.topics, topic),
                )
                made.append(self._exists(reading, holds))
        return made

    def _near(self, asked: Asked, code: int) -> set[int]:
        """Relation codes of which one leaves whatever a step may be asked to lead to.

        Without classes, a relation that the words name may lead to what anything there is like.
        """
        back = self.vocabulary.inverse(code)
        letters = asked.alignment.of(self.find.wordings(code)).best_lex
        if self.vocabulary.type_codes or letters < SAID:
            return {back}
        alike = self.vocabulary.around.ends(self.vocabulary.domain(back)[:_MEMBERS])
        return {back, *(some for some in alike if not self.vocabulary.role(some))}

    @cached_method
    def codes(self, node: int) -> set[int]:
        """Relation codes that leave an entity, or another one of its class."""
        around = self.vocabulary.around
        found = set(around.ends(np.array([node])))
        for kind in self.vocabulary.kinds_of(node):
            found |= set(around.ends(self.vocabulary.classes[kind][:_MEMBERS]))
        for code in self.vocabulary.symmetric:
            if found & {code, code + self.kg.num_relations}:
                found |= {code, code + self.kg.num_relations}
        return found
