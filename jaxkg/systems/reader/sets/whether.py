"""Questions of yes and no."""

from __future__ import annotations

import numpy as np

from jaxkg.query import Entities, Exists, Intersection
from jaxkg.systems.reader.language.cached import cached_method
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Finder
from jaxkg.systems.reader.sets.labels import SAID

_LOOKED_AT, _JOINS, _EXIST = 120, 20, 30
_MEMBERS = 100
_ALIKE_WORDS = "same both share shares shared and together common as also too und beide auch wie"
_ALIKE = frozenset(_ALIKE_WORDS.split())
"""Words without which nobody asks whether two have something of the same."""


class Whether(Finder):
    """Readings that are answered by yes or no."""

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
        alike = not _ALIKE.isdisjoint(words)
        made = self._stands(asked, found)
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
