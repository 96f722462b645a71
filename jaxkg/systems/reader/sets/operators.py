"""Counts, unions and exceptions around sets of things, and what is measured of them."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxkg.query import Count, Difference, Domain, Entities, Node, Union
from jaxkg.systems.reader.sets.candidates import Asked, Candidate, Candidates
from jaxkg.systems.reader.sets.measured import Measured
from jaxkg.systems.reader.sets.whether import Whether

_BASES = 40
_NAMED = 0.75
"""Score from which on a mention is what a question is about."""
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
        self.whether = Whether(candidates)

    def all(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """Candidates with operators; those without remain, too."""
        cues, measured = asked.cues, self.measured
        made: list[Candidate] = []
        bases = self._bases(found)
        openly = not any(mention.score >= _NAMED for mention in asked.mentions)
        if cues.either or cues.except_at is not None or cues.negated is not None:
            made += self._unions(asked, found)
            made += self._exceptions(asked, found)
            made += self._lacking(asked, bases)
        grade = cues.extreme or cues.comparative
        if grade is not None:
            made += measured.compared(asked)
        having: list[Candidate] = []
        if openly and (grade is not None or cues.bounds):
            having = measured.having(asked, ordered=True, measure=grade.measured if grade else "")
        if cues.bounds:
            filtered = [
                f for base in (*having, *bases) for b in cues.bounds
                for f in measured.bounded(asked, base, b)
            ]  # fmt: skip
            made += filtered
            bases = [*self.find.scored(asked, filtered)[:20], *bases]
        if grade is not None and (cues.extreme is not None or not cues.bounds):
            if openly and not grade.measure:
                having += measured.having(asked)
            made += [e for base in (*having, *bases) for e in measured.extremes(asked, base, grade)]
        if cues.count:
            counted = [*bases, *self.find.scored(asked, made)[:20]]
            made += [self._count(asked, base) for base in counted if self._countable(base)]
        if cues.yesno:
            made += self.whether.all(asked, found, self._about_topics(asked))
        return made

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
        return made

    def _bases(self, found: list[Candidate]) -> list[Candidate]:
        things = [c for c in found if c.last < 0 or self.vocabulary.ends_kind(c.last) == "thing"]
        classes = [c for c in things if c.shape == "class"]
        return [*classes, *[c for c in things if c.shape != "class"][:_BASES]]

    def _countable(self, base: Candidate) -> bool:
        """Not what can but be one: the referee of a match."""
        once = all(self.vocabulary.functional(code) for code in base.relations)
        alone = base.shape == "path" and len(base.topics) == 1 and once and not base.classes
        return not base.result and base.shape != "extreme" and not alone

    def _count(self, asked: Asked, base: Candidate) -> Candidate:
        return dataclasses.replace(
            base,
            query=Count(base.node),
            shape="count",
            result=str(len(base.ends)),
        )

    def _unions(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """The same said of either of two topics."""
        made = []
        if not asked.cues.either:
            return made
        paths = [c for c in found if c.shape == "path" and len(c.topics) == 1][:80]
        for a in paths:
            for b in paths:
                if (
                    a.topics[0][0] < b.topics[0][0]
                    and a.relations == b.relations
                    and a.classes == b.classes
                ):
                    made.append(
                        dataclasses.replace(
                            a,
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
        outside = [i for i, m in enumerate(asked.mentions) if m.first > at]
        made = []
        for i in outside:
            bases = [c for c in found if not c.result and all(m != i for m, _ in c.topics)][:30]
            for base in bases:
                for o, option in enumerate(asked.mentions[i].options):
                    if (
                        cues.except_at is not None
                        and option.entity in base.ends
                        and len(base.ends) > 1
                    ):
                        made.append(
                            self._without(
                                base,
                                (i, o),
                                Entities((self.kg.entity_ids[option.entity],)),
                                np.array([option.entity]),
                                (),
                            )
                        )
            if cues.negated is not None:
                paths = [
                    c
                    for c in found
                    if c.shape == "path"
                    and [m for m, _ in c.topics] == [i]
                    and len(c.relations) == 1
                ]
                for base in bases:
                    for path in paths[:10]:
                        made.append(
                            self._without(
                                base, path.topics[0], path.node, path.ends, path.relations
                            )
                        )
        return [c for c in made if len(c.ends)]

    def _lacking(self, asked: Asked, bases: list[Candidate]) -> list[Candidate]:
        """Those of a set that have nothing of a relation: "which stops have no shelter"."""
        total, made = self.kg.num_relations, []
        at = max(p for p in (asked.cues.except_at, asked.cues.negated, 0) if p is not None)
        if any(mention.first > at for mention in asked.mentions):
            return []
        for having in self.measured.having(asked):
            assert isinstance(having.query, Domain)
            code = self.kg.relation_code(having.query.relations[0])
            fit = self.measured.fit(asked, code, "")
            for base in bases[:10]:
                left = np.setdiff1d(base.ends, having.ends)
                if fit >= _SPOKEN_OF and 0 < len(left) < len(base.ends):
                    made.append(
                        dataclasses.replace(
                            base,
                            query=Difference(base.node, having.query),
                            ends=left,
                            shape="except",
                            measure=code % total,
                            fit=fit,
                        )
                    )
        return made

    def _without(
        self,
        base: Candidate,
        topic: tuple[int, int],
        query: Node,
        ends: np.ndarray,
        relations: tuple[int, ...],
    ) -> Candidate:
        return dataclasses.replace(
            base,
            query=Difference(base.node, query),
            ends=np.setdiff1d(base.ends, ends),
            topics=(*base.topics, topic),
            relations=(*base.relations, *(r for r in relations if r not in base.relations)),
            shape="except",
        )
