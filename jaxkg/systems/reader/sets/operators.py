"""Counts, unions and exceptions around sets of things, and what is measured of them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from jaxkg.query import Count, Difference, Domain, Entities, Extreme, Node, Union
from jaxkg.systems.reader.language.topics import Mention
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.holding import Holding
from jaxkg.systems.reader.sets.matched import Matched
from jaxkg.systems.reader.sets.measured import Measured
from jaxkg.systems.reader.sets.pairs import Pairs
from jaxkg.systems.reader.sets.whether import Whether

_BASES = 40
_HELD = 10
_EITHER, _BOTH = 60, 10
_LEFT_OF = 60
"""Sets that something may be left out of, the best first."""
_WALKED_ON = 8
"""Extremes and bounded sets that are walked on from, the best first."""
_LEADERS = 4
_NAMED = 0.75
"""Score from which on a mention is what a question is about."""
_NEITHER = {"neither", "weder"}
_NOBODY = {"nobody", "none", "niemand"}
_DO = {"do", "does", "did", "can", "will"}
_TIMES = {"times", "mal"}
_SAID = 0.8
"""Likeness of letters from which on a class is taken as named: "repaired", a repair."""
_FEW = 200
"""Relations up to which every one of a graph is looked at."""
_SPOKEN_OF = 0.6
"""Fit from which on a relation is taken as named."""


class Operators:
    """Puts operators around candidates where the wording asks for them.

    Args:
        candidates: what finds the sets.
    """

    def __init__(self, candidates: Candidates) -> None:
        self.find = candidates
        self.kg = candidates.kg
        self.vocabulary = candidates.vocabulary
        self.measured = Measured(candidates)
        self.holding = Holding(self.measured)
        self.pairs = Pairs(self.measured)
        self.matched = Matched(self.measured)
        self.whether = Whether(candidates)

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
        said = [*bases[:_HELD], *about[:_HELD], *spoken]
        held = [f for base in said for f in self.holding.all(asked, base) if len(f.ends)]
        best = self.find.scored(asked, held)[:_BOTH]
        held += [f for base in best for f in self.holding.too(asked, base) if len(f.ends)]
        made += held
        if cues.either or denies:
            unions = self._unions(asked, found)
            made += unions
            some = [f for those in (unions, held) for f in self.find.scored(asked, those)[:_BOTH]]
            made += self._exceptions(asked, [*some, *found])
            made += self._lacking(asked, bases)
        grade = cues.extreme or cues.comparative
        if cues.some and openly and grade is None and len({m.kind for m in asked.classes}) < 2:
            made += self._having_some(asked, bases)
        if grade is not None:
            made += [*self.pairs.all(asked), *self.pairs.beyond(asked, bases)]
        if openly and not cues.yesno:
            made += self.matched.alike(asked)
        made += self.matched.alone(asked, found)
        having: list[Candidate] = []
        if openly and (grade is not None or cues.bounds):
            having = measured.having(asked, ordered=True, measure=grade.measured if grade else "")
            if cues.bounds or (grade is not None and not grade.measure):
                having += measured.having(asked)
        if grade is not None or cues.bounds:
            having += [r for at in range(len(asked.mentions)) for r in self.find.rows(asked, at)]
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
            made += twice
            bases = [*self.find.scored(asked, [*filtered, *twice])[:20], *bases]
        if grade is not None and (cues.extreme is not None or not cues.bounds):
            made += [e for base in (*having, *bases) for e in measured.extremes(asked, base, grade)]
        made += self._onwards(asked, made)
        if cues.count:
            counted = [*bases, *self.find.scored(asked, made)[:20]]
            made += [self._count(asked, base) for base in counted if self._countable(base)]
            made += self._times(asked)
        if not found and not made:  # "what's out on loan"
            made += measured.having(asked)
        if cues.yesno:
            joins = [c for c in found[:_EITHER] if c.shape == "join"][:_BOTH]
            true = [f for base in joins for f in self.holding.all(asked, base)]
            made += self.whether.all(asked, found, [*self._about_topics(asked), *true])
        return made

    def _having_some(self, asked: Asked, bases: list[Candidate]) -> list[Candidate]:
        """What has anything of a relation: "which books were printed by somebody"."""
        short = [base for base in bases if len(base.relations) <= 1]
        kept = [f for base in short[:_HELD] for f in self.holding.some(asked, base)]
        return [*self.measured.having(asked), *kept]

    def _onwards(self, asked: Asked, made: list[Candidate]) -> list[Candidate]:
        """What a step or two lead to from what a value picks out: "who wrote the longest book"."""
        picked = [c for c in made if c.shape in ("extreme", "filter") and not c.result]
        best = self.find.scored(asked, picked)[:_WALKED_ON]
        return [path for one in best for path in self.find.paths(asked, one, 2)]

    def _about_topics(self, asked: Asked) -> list[Candidate]:
        """Bounds on the values of the topics themselves, also those that do not hold."""
        made = []
        for i, mention in enumerate(asked.mentions):
            for o, option in enumerate(mention.options):
                topic = Candidate(
                    query=Entities((self.kg.entity_ids[option.entity],)),
                    ends=np.array([option.entity]),
                    topics=((i, o),),
                )
                for bound in asked.cues.bounds:
                    made += self.measured.bounded(asked, topic, bound, empty=True)
                made += self.holding.all(asked, topic)
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
        """Not what can but be one: the referee of a match."""
        once = all(self.vocabulary.functional(code) for code in base.relations)
        alone = base.shape == "path" and len(base.topics) == 1 and once and not base.classes
        return not base.result and not isinstance(base.node, Extreme) and not alone

    def _count(self, asked: Asked, base: Candidate) -> Candidate:
        return base._replace(
            query=Count(base.node),
            shape="count",
            result=str(len(base.ends)),
        )

    def _times(self, asked: Asked) -> list[Candidate]:
        """How many times something happened to a topic: the rows that have it."""
        said = {at for at in asked.cues.noun if asked.cues.words.folded[at] in _TIMES}
        if not said:
            return []
        rows = (r for at in range(len(asked.mentions)) for r in self.find.rows(asked, at))
        return [self._count(asked, r)._replace(explained=r.explained | said) for r in rows]

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
                    made.append(
                        a._replace(
                            query=Union((a.node, b.node)),
                            ends=np.union1d(a.ends, b.ends),
                            topics=(*a.topics, *b.topics),
                            shape="union",
                            legs=(*a.legs, *b.legs),
                        )
                    )
        return made

    def _exceptions(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """A set without a thing, or without what another path leads to."""
        cues = asked.cues
        at = cues.except_at if cues.except_at is not None else cues.negated
        if at is None:
            return []
        made = []
        paths = [c for c in found if c.shape == "path" and len(c.relations) == len(c.topics) == 1]
        for i in _left_out(asked.mentions, at):
            apart = [c for c in found if not c.result and all(m != i for m, _ in c.topics)]
            own = [path for path in paths if path.topics[0][0] == i][:10]
            longer = {p.relations: p for p in found if p.shape == "path" and _alone(p, i)}
            # "Which warden has no park with a pond": of all wardens, not those of such a park.
            denied = [*longer.values()][:_HELD] if cues.except_at is None else []
            made += [
                self._without(base, path.topics, path.node, path.ends, path.relations)
                for path in denied
                for base in self._alike([path])
            ]
            classes = [*(c for c in apart if c.shape == "class"), *self._alike(own)]
            bases = [*classes, *(c for c in apart if c.shape != "class")][:_LEFT_OF]
            for base in bases if cues.except_at is not None else ():
                for o, option in enumerate(asked.mentions[i].options):
                    if option.entity in base.ends and len(base.ends) > 1:
                        one = Entities((self.kg.entity_ids[option.entity],))
                        ends = np.array([option.entity])
                        made.append(self._without(base, ((i, o),), one, ends, ()))
            both = self._neither(own, [p for p in paths if p.topics[0][0] > i][:_BASES])
            words = set(cues.words.folded)
            # "Which are not in English or Latin".
            neither = _NEITHER & words or (bool(both) and cues.either and cues.except_at is None)
            for base in bases:
                alike = [longer[base.relations]] if base.relations in longer else []
                for path in both if neither else [*own, *alike]:
                    others = {m for m, _ in path.topics}
                    if self._comparable(base, path) and all(
                        m not in others for m, _ in base.topics
                    ):
                        made.append(
                            self._without(base, path.topics, path.node, path.ends, path.relations)
                        )
        return [c for c in made if len(c.ends) or c.wanting]

    def _alike(self, paths: list[Candidate]) -> list[Candidate]:
        """Everything that has the relation of a path: "who works neither in A nor in B"."""
        codes = dict.fromkeys(self.vocabulary.inverse(path.last) for path in paths)
        return list(map(self.find.having, codes))

    def _neither(self, own: list[Candidate], others: list[Candidate]) -> list[Candidate]:
        """What the same relation leads to from either: "neither A nor B"."""
        return [
            a._replace(
                query=Union((a.node, b.node)),
                ends=np.union1d(a.ends, b.ends),
                topics=(*a.topics, *b.topics),
            )
            for a in own
            for b in others
            if a.relations == b.relations
        ]

    def _comparable(self, one: Candidate, other: Candidate) -> bool:
        """Whether two sets are of one sort, so that the one may be taken from the other."""
        if len(np.intersect1d(one.ends, other.ends)):
            return True
        kinds = self.find.ends_classes(one.ends)
        return bool(set(kinds) & set(self.find.ends_classes(other.ends))) or not kinds

    def _lacking(self, asked: Asked, bases: list[Candidate]) -> list[Candidate]:
        """Those of a set that have nothing of a relation: "which stops have no shelter"."""
        total, made = self.kg.num_relations, []
        at = max(p for p in (asked.cues.except_at, asked.cues.negated, 0) if p is not None)
        if any(mention.first > at for mention in asked.mentions):
            return []
        words = asked.cues.words.folded
        # "What does nobody take" asks for what is not taken, "who takes nothing" for who does not.
        subject = words[at] in _NOBODY or (at > 0 and words[at - 1] in _DO)
        # "Customers without a delivery": of customers, what leads to deliveries; "who does not
        # drive a tractor" asks for no tractor.
        of = {mention.kind for mention in asked.classes if mention.last < at}
        lacked = {mention.kind for mention in asked.classes} - of
        some, others = map(self._members, (of, lacked))
        if of:
            bases = [base for base in bases if np.isin(base.ends, some).all()] or bases

        def unlikely(having: Candidate) -> tuple[bool, bool]:
            missed = bool(of) and not len(np.intersect1d(having.ends, some))
            missed |= not of and len(np.intersect1d(having.ends, others)) > 0
            return missed, self._back(having) != subject

        havings = sorted(self._havings(asked, of), key=unlikely)
        spoken = {}
        for having in havings:
            code = self.kg.relation_code(_domain_of(having).relations[0])
            spoken[code] = max(self.measured.fit(asked, code, ""), self._led_to(asked, code, of))
        # "Who led a trial but did not discover anything": of those that a relation picks out.
        picked = asked.cues.except_at is not None and not (of and lacked)
        leaders = [h for h, fit in zip(havings, spoken.values()) if fit >= _SPOKEN_OF]
        bases = [*bases[:10], *(leaders[:_LEADERS] if picked else ())]
        for having, (code, fit) in zip(havings, spoken.items()):
            if fit >= _SPOKEN_OF and all(other.measure != code % total for other in made):
                own = self._own_sort(having) if lacked and not of else []
                sets = own or bases if lacked else [*own, *bases]
                made += self._left(sets, having, code % total, fit)
        if not made:  # those of its own sort: "what was never amended"
            for having in havings:
                code = self.kg.relation_code(_domain_of(having).relations[0])
                fit = self.measured.fit(asked, code, "")
                made += self._left(self._own_sort(having), having, code % total, fit)
        return made

    def _members(self, kinds: set[int]) -> np.ndarray:
        """[K] entities of some classes, ascending."""
        found = [self.vocabulary.classes[kind] for kind in sorted(kinds)]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def _own_sort(self, having: Candidate) -> list[Candidate]:
        """Classes that all of a set have."""
        return list(map(self.find.class_set, self.find.ends_classes(having.ends)))

    def _led_to(self, asked: Asked, code: int, of: set[int]) -> float:
        """Fit of a relation by the class that it leads to: "who is in no guild"; not by those
        that something is said of."""
        ends = self.vocabulary.domain(self.vocabulary.inverse(code))
        led = set(self.find.ends_classes(ends)) - of
        named = {mention.kind for mention in asked.classes}
        told = (asked.alignment.letters(self.vocabulary.class_words(kind))[1] for kind in led)
        return _SPOKEN_OF if named & led or max(told, default=0.0) >= _SAID else 0.0

    def _havings(self, asked: Asked, of: set[int]) -> list[Candidate]:
        """Everything that has a relation, of those that the words or a class speak of."""
        found = {_domain_of(c).relations[0]: c for c in self.measured.having(asked)}
        total = self.kg.num_relations
        for code in range(2 * total) if total <= _FEW else ():
            name = self.kg.relation_name(code)
            meant = self._led_to(asked, code, of)
            if name not in found and meant and not self.vocabulary.role(code):
                found[name] = self.find.having(code)
        return list(found.values())

    def _left(
        self, bases: list[Candidate], having: Candidate, measure: int, fit: float
    ) -> list[Candidate]:
        """What of some sets has nothing of a relation, where some have."""
        made = []
        others = (base for base in bases if base.query != having.query)
        for base in others if fit >= _SPOKEN_OF else ():
            left = np.setdiff1d(base.ends, having.ends)
            if len(left) < len(base.ends) and (len(left) or not base.relations):
                without = Difference(base.node, _domain_of(having))
                reading = base._replace(query=without, ends=left, shape="except")
                none = float(not len(left))
                made.append(reading._replace(measure=measure, fit=fit, wanting=none))
        return made

    def _back(self, having: Candidate) -> bool:
        return self.kg.relation_code(_domain_of(having).relations[0]) >= self.kg.num_relations

    def _without(
        self,
        base: Candidate,
        topics: tuple[tuple[int, int], ...],
        query: Node,
        ends: np.ndarray,
        relations: tuple[int, ...],
    ) -> Candidate:
        left = np.setdiff1d(base.ends, ends)
        return base._replace(
            query=Difference(base.node, query),
            ends=left,
            wanting=float(base.whole_class and not len(left)),
            topics=(*base.topics, *topics),
            relations=(*base.relations, *(r for r in relations if r not in base.relations)),
            shape="except",
        )


def _alone(path: Candidate, mention: int) -> bool:
    """Whether a path of two steps starts from one mention."""
    return len(path.relations) == 2 and [m for m, _ in path.topics] == [mention]


def _left_out(mentions: Sequence[Mention], at: int) -> list[int]:
    """What a "not" speaks of: what comes after it, else what it stands after, "that B doesn't"."""
    after = [i for i, mention in enumerate(mentions) if mention.first > at]
    before = [i for i, mention in enumerate(mentions) if mention.last < at]
    return after or (before[-1:] if len(before) > 1 else [])


def _domain_of(having: Candidate) -> Domain:
    assert isinstance(having.query, Domain)
    return having.query
