"""Readings that lead nowhere: what others of a topic's sort have, and the topic has not."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from jaxkg.query import Intersection
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Finder

_KEPT = 20
"""Readings that are kept, those best explained."""
_NEAR = 8
"""Steps from each topic, the best, that are joined."""
_LEAST = 0.05
"""Share of a sort from which on a relation is taken as one that its members have."""


class Wanting(Finder):
    """Finds readings without an answer, so that a detour to one has a rival.

    "When was Ada born?" is not asking when her friends were, also where the graph knows that alone.
    """

    def all(self, asked: Asked) -> list[Candidate]:
        """One step from each topic along what it lacks."""
        lacking: list[Candidate] = []
        if asked.cues.yesno:
            return lacking
        around = self.vocabulary.around
        for topic in self.find.topics(asked):
            entity = int(topic.ends[0])
            own = around.relations(entity)
            for code, share in self._of_sort(entity).items():
                both = code in self.vocabulary.symmetric
                if not (code in own or (both and self.vocabulary.inverse(code) in own)):
                    none = np.zeros(0, np.int64)
                    lacks = self.find.walked(topic, code, none, returns=False, wanting=share)
                    lacking.append(lacks)
        asked.alignment.prepare([self.find.wordings(c.last) for c in lacking])
        return self.find.scored(asked, lacking)[:_KEPT]

    def joins(self, asked: Asked, plain: Sequence[Candidate]) -> list[Candidate]:
        """What two topics would share and do not: no ferry goes from the one to the other.

        Args:
            asked: the question.
            plain: readings, the best first.
        """
        if asked.cues.yesno or asked.cues.either or len(asked.mentions) < 2:
            return []
        is_person = self.vocabulary.is_of_persons
        who = asked.cues.wants == "person" and any(map(is_person, self.vocabulary.classes))
        near: dict[int, list[Candidate]] = defaultdict(list)
        back = self.find.kg.num_relations
        for path in plain:
            if path.shape == "path" and len(path.relations) == 1 and path.last >= back:
                near[path.topics[0][0]].append(path)
        empty = []
        for first, second in asked.pairs:
            for a, b in itertools.product(near[first][:_NEAR], near[second][:_NEAR]):
                kinds = set(self.find.ends_classes(a.ends)) & set(self.find.ends_classes(b.ends))
                if who and not any(map(is_person, kinds)):
                    continue  # who wrote with both is no article
                if kinds and not np.intersect1d(a.ends, b.ends, assume_unique=True).size:
                    empty.append(
                        a._replace(
                            query=Intersection((a.node, b.node)),
                            ends=np.zeros(0, np.int64),
                            relations=(*a.relations, *b.relations),
                            topics=(*a.topics, *b.topics),
                            shape="join",
                            explained=a.explained | b.explained,
                            legs=(*a.legs, *b.legs),
                            wanting=1.0,
                        )
                    )
        return self.find.scored(asked, empty)[:_KEPT]

    def _of_sort(self, entity: int) -> dict[int, float]:
        """Relation codes that many of an entity's class or sort have, with their share; not those
        that lead from statements to the facts they are about."""
        found: dict[int, float] = {}
        stated = self.vocabulary.values.statements.relations
        aside = {self.find.kg.relation_code(name) for name in stated}
        for kind in self.vocabulary.kinds_of(entity):
            for code, share in self.vocabulary.had(kind).items():
                if share >= _LEAST and code % self.find.kg.num_relations not in aside:
                    found[code] = max(share, found.get(code, 0.0))
        return found
