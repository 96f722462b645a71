"""Which of two things has more of something."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxkg.kg.queries.sets import compared
from jaxkg.query import Compared, Count, Entities, Extreme
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.measured import Measured


class Pairs:
    """Readings that compare two topics.

    Args:
        measured: what compares values.
    """

    def __init__(self, measured: Measured) -> None:
        self.measured = measured
        self.find = measured.find
        self.kg = measured.kg
        self.vocabulary = measured.vocabulary

    def all(self, asked: Asked) -> list[Candidate]:
        """Which of two, and whether one is more than the other."""
        cues = asked.cues
        grade = cues.comparative or cues.extreme
        if grade is None or len(asked.mentions) < 2:
            return []
        made = []
        for one, two in zip(range(len(asked.mentions)), range(1, len(asked.mentions))):
            for a, left in enumerate(asked.mentions[one].options):
                for b, right in enumerate(asked.mentions[two].options):
                    if left.entity != right.entity:
                        topics = ((one, a), (two, b))
                        made += self._pair(asked, grade, topics, (left.entity, right.entity))
        return made

    def _pair(
        self,
        asked: Asked,
        grade: Grade,
        topics: tuple[tuple[int, int], ...],
        pair: tuple[int, int],
    ) -> Iterator[Candidate]:
        both = np.array(sorted(pair))
        either = asked.cues.either or not asked.cues.yesno
        ids = tuple(self.kg.entity_ids[node] for node in pair)
        around = [self.vocabulary.around.relations(node) for node in pair]
        for code in around[0].keys() | around[1].keys():
            name = self.kg.relation_name(code)
            counts = not self.vocabulary.orders(code)
            if counts and (
                grade.measure
                or self.vocabulary.ends_kind(code) != "thing"
                or self.vocabulary.role(code)
            ):
                continue
            if not counts and not (code in around[0] and code in around[1]):
                continue
            sides = [Entities((one,)) for one in ids]
            rows = [self.vocabulary.around.ends(np.array([n])).get(code, both[:0]) for n in pair]
            steps = [self.find.step(side, code) for side in sides]
            if counts:
                largest = grade.largest
                found = [len(some) for some in rows]
                question = Compared(Count(steps[0]), ">" if largest else "<", Count(steps[1]))
                first = Extreme(Entities(ids), (name,), largest, by="count")
            else:
                largest = self.measured.largest(grade, code)
                keys = self.vocabulary.order_keys(self.vocabulary.ends_kind(code))
                found = [(max if largest else min)(keys[some]) for some in rows]
                question = Compared(steps[0], ">" if largest else "<", steps[1])
                first = Extreme(Entities(ids), (name,), largest)
            best = (max if largest else min)(found)
            result = ""
            if not either:
                told = compared(question, rows[0], rows[1], self.vocabulary.values)
                result = "yes" if told else "no"
            yield Candidate(
                query=first if either else question,
                ends=np.array(sorted(n for n, key in zip(pair, found) if key == best)),
                topics=topics,
                shape="compare",
                result=result,
                measure=code % self.kg.num_relations,
                fit=self.measured.fit(asked, code, grade.measured),
                explained=grade.words,
            )
