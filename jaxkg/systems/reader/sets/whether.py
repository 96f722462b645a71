"""Questions of yes and no."""

from __future__ import annotations

import numpy as np

from jaxkg.query import Entities, Exists, Intersection
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import directions

_SAID = 0.8
"""Share of a relation's words that the question has, from which on it is taken as named."""
_NAMED, _LEFT = 0.5, 0.5
"""The same where nothing else is said, and how little of any word may be left unexplained."""
_LOOKED_AT, _JOINS, _EXIST = 120, 20, 30
_MEMBERS = 100
_ALIKE_WORDS = "same both share shares shared and together common as also too und beide auch wie"
_ALIKE = frozenset(_ALIKE_WORDS.split())
"""Words without which nobody asks whether two have something of the same."""


class Whether:
    """Readings that are answered by yes or no.

    Args:
        candidates: what finds the sets.
    """

    def __init__(self, candidates: Candidates) -> None:
        self.find = candidates
        self.kg = candidates.kg
        self.vocabulary = candidates.vocabulary
        self._codes: dict[int, set[int]] = {}

    def all(
        self, asked: Asked, found: list[Candidate], filtered: list[Candidate]
    ) -> list[Candidate]:
        """All of them.

        Args:
            asked: the question.
            found: readings without operators.
            filtered: those with a bound on a value.
        """
        words = asked.cues.words.folded
        alike = asked.cues.same or not _ALIKE.isdisjoint(words)
        made = self._stands(asked, found) + (self._shares(found) if alike else [])
        if asked.cues.plainly and len(asked.mentions) == 1:
            made += self._has(asked) + self._is_a(asked)
        made += [
            self._exists(c, len(c.ends) > 0) for c in filtered if len(c.relations) <= len(c.topics)
        ]
        made += self._true(asked, found)
        # What says true or false is not there for being said: "was it paid?".
        joins = [
            c for c in found[:_LOOKED_AT]
            if c.shape == "join" and self.vocabulary.truths(c.last) is None
            and (alike or len(c.relations) == len(c.topics) or len(c.topics) < 2)
        ]  # fmt: skip
        made += [self._exists(c, True) for c in joins[:_EXIST]]
        return made

    def _exists(self, base: Candidate, holds: bool) -> Candidate:
        return base._replace(
            query=Exists(base.node),
            shape="yesno",
            result="yes" if holds else "no",
        )

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
            for i, mention in enumerate(asked.mentions):
                if i in topics:
                    continue
                for o, option in enumerate(mention.options):
                    node = option.entity
                    if not near & self.codes(node):
                        continue
                    both = (path.node, Entities((self.kg.entity_ids[node],)))
                    holds = node in path.ends
                    reading = path._replace(
                        query=Intersection(both),
                        ends=np.array([node]) if holds else np.zeros(0, np.int64),
                        topics=(*path.topics, (i, o)),
                    )
                    made.append(self._exists(reading, holds))
        return made

    def _has(self, asked: Asked) -> list[Candidate]:
        """Whether a topic has anything of a relation, where nothing else is said: "is it rented?"

        One that has nothing of it is answered only where others of its class have some.
        """
        made = []
        if asked.cues.bounds:
            return made
        for o, option in enumerate(asked.mentions[0].options):
            topic = Entities((self.kg.entity_ids[option.entity],))
            own = self.vocabulary.around.ends(np.array([option.entity]))
            kinds = self.vocabulary.kinds_of(option.entity)
            told = {p for m in asked.classes if m.kind in kinds for p in range(m.first, m.last + 1)}
            aside = sorted({*asked.mentions[0].words, *told})
            for code in self.codes(option.entity):
                if self.vocabulary.role(code) or self.vocabulary.truths(code):
                    continue
                aligned = asked.alignment.of(self.find.wordings(code))
                left = np.delete(asked.alignment.content - aligned.cover, aside)
                if aligned.best_lex < _NAMED or left.max(initial=0.0) > _LEFT:
                    continue
                ends = own.get(code, np.zeros(0, np.int64))
                reading = Candidate(
                    self.find.step(topic, code),
                    ends,
                    relations=(code,),
                    topics=((0, o),),
                    last=code,
                    legs=((0, (code,)),),
                )
                told = directions(asked, reading, self.find)[0]
                # No day has been closed: "has it been closed?" can ask for the day alone.
                valued = self.vocabulary.ends_kind(code) != "thing"
                ahead = code < self.kg.num_relations
                if told > 0 or (ahead and (told == 0 or valued)):
                    made.append(self._exists(reading, len(ends) > 0))
        return made

    def _is_a(self, asked: Asked) -> list[Candidate]:
        """Whether a topic is of a class, where nothing else is said: "is it a cat?"."""
        made = []
        content = np.delete(asked.alignment.content, asked.mentions[0].words)
        for named in asked.classes:
            told = {*range(named.first, named.last + 1)} - set(asked.mentions[0].words)
            if not told or named.kind in self.vocabulary.sorts or content.sum() > len(told):
                continue
            whole = self.find.class_set(named.kind)
            for o, option in enumerate(asked.mentions[0].options):
                if not self.vocabulary.kinds_of(option.entity):
                    continue  # nothing is told of what it is
                holds = option.entity in whole.ends
                topic = Entities((self.kg.entity_ids[option.entity],))
                reading = whole._replace(
                    query=Intersection((whole.node, topic)),
                    ends=np.array([option.entity][:holds]),
                    topics=((0, o),),
                )
                made.append(self._exists(reading, holds))
        return made

    def _near(self, asked: Asked, code: int) -> set[int]:
        """Relation codes of which one leaves whatever a step may be asked to lead to.

        Without classes, a relation that the words name may lead to what anything there is like.
        """
        back = self.vocabulary.inverse(code)
        letters = asked.alignment.of(self.find.wordings(code)).best_lex
        if self.vocabulary.type_codes or letters < _SAID:
            return {back}
        alike = self.vocabulary.around.ends(self.vocabulary.domain(back)[:_MEMBERS])
        return {back, *(some for some in alike if not self.vocabulary.role(some))}

    def codes(self, node: int) -> set[int]:
        """Relation codes that leave an entity, or another one of its class."""
        if node not in self._codes:
            around = self.vocabulary.around
            found = set(around.ends(np.array([node])))
            for kind in self.vocabulary.kinds_of(node):
                found |= set(around.ends(self.vocabulary.classes[kind][:_MEMBERS]))
            for code in self.vocabulary.symmetric:
                if found & {code, code + self.kg.num_relations}:
                    found |= {code, code + self.kg.num_relations}
            self._codes[node] = found
        return self._codes[node]

    def _shares(self, found: list[Candidate]) -> list[Candidate]:
        """Whether two topics share what the same path leads to; where they do, it is a join."""
        singles = [c for c in found if c.shape == "path" and len(c.relations) == 1][:_LOOKED_AT]
        made = []
        for a in singles:
            for b in singles:
                if a.relations != b.relations or a.topics[0][0] >= b.topics[0][0]:
                    continue
                if self.vocabulary.functional(self.vocabulary.inverse(a.last)):
                    continue  # no match has two home teams: it goes without saying
                both = np.intersect1d(a.ends, b.ends)
                if not len(both):
                    reading = a._replace(
                        query=Intersection((a.node, b.node)),
                        ends=both,
                        topics=(*a.topics, *b.topics),
                        legs=(*a.legs, *b.legs),
                    )
                    made.append(self._exists(reading, False))
        return made
