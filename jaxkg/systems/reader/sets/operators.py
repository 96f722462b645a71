"""Counts, extremes, comparisons, bounds, unions and exceptions around sets of things."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from jaxkg.query import (
    Compared,
    Comparison,
    Count,
    Difference,
    Entities,
    Extreme,
    Node,
    Union,
    Value,
    Where,
)
from jaxkg.systems.reader.language.cues import Bound
from jaxkg.systems.reader.language.literals import date_number, plain_number
from jaxkg.systems.reader.sets.candidates import Asked, Candidate, Candidates
from jaxkg.systems.reader.sets.whether import Whether

_BASES = 40


class Operators:
    """Puts operators around candidates where the wording asks for them.

    Args:
        candidates: what finds the sets.
    """

    def __init__(self, candidates: Candidates) -> None:
        self.find = candidates
        self.kg = candidates.kg
        self.vocabulary = candidates.vocabulary
        self.whether = Whether(candidates)

    def all(self, asked: Asked, found: list[Candidate]) -> list[Candidate]:
        """Candidates with operators; those without remain, too."""
        cues = asked.cues
        made: list[Candidate] = []
        bases = self._bases(found)
        if cues.either or cues.except_at is not None or cues.negated is not None:
            made += self._unions(asked, found)
            made += self._exceptions(asked, found)
        if cues.comparative is not None or cues.extreme is not None:
            made += self._compared(asked)
        if cues.bounds:
            filtered = [
                f for base in bases for b in cues.bounds for f in self._bounded(asked, base, b)
            ]
            made += filtered
            bases = [*self.find.scored(asked, filtered)[:20], *bases]
        if cues.extreme is not None or (cues.comparative is not None and not cues.bounds):
            made += [e for base in bases for e in self._extremes(asked, base)]
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
                    made += self._bounded(asked, topic, bound, empty=True)
        return made

    def _bases(self, found: list[Candidate]) -> list[Candidate]:
        things = [c for c in found if c.last < 0 or self.vocabulary.ends_kind(c.last) == "thing"]
        classes = [c for c in things if c.shape == "class"]
        return [*classes, *[c for c in things if c.shape != "class"][:_BASES]]

    def _countable(self, base: Candidate) -> bool:
        return not base.result and base.shape != "extreme"

    def _count(self, asked: Asked, base: Candidate) -> Candidate:
        return dataclasses.replace(
            base,
            query=Count(base.node),
            shape="count",
            result=str(len(base.ends)),
        )

    def _measures(self, nodes: np.ndarray) -> Iterator[int]:
        """Relations of numbers or dates that these entities have."""
        for code in self.vocabulary.around.ends(nodes[:2_000]):
            if self.vocabulary.ends_kind(code) != "thing":
                yield code

    def _fit(
        self, asked: Asked, code: int, measure: str, word: int
    ) -> tuple[float, frozenset[int]]:
        """How well a gradable word agrees with a relation of values; the words it explains."""
        relation = self.vocabulary.relations[code]
        aligned = asked.alignment.of(relation.wordings)
        fit = max(aligned.best_lex, (aligned.best_sem - 0.2) / 0.6)
        if measure:
            parts = {part for w in relation.wordings for part in w.lower().split()}
            if parts & set(measure.split()):
                fit = 1.0
            else:
                vectors = asked.alignment.vectors((*relation.wordings, measure))
                if vectors.shape[1]:
                    fit = max(fit, float((vectors[:-1] @ vectors[-1]).max()))
            dated = "date" in measure.split()
            if relation.tails == "date" and not dated:
                fit = min(fit, 0.3)
            elif relation.tails == "date" and dated:
                fit = max(fit, 0.7)
            elif dated:
                fit = min(fit, 0.5)
        return min(1.0, max(0.0, fit)), frozenset({word})

    def _extremes(self, asked: Asked, base: Candidate) -> Iterator[Candidate]:
        if len(base.ends) < 2:
            return
        largest, measure, word = asked.cues.extreme or asked.cues.comparative or (True, "", 0)
        for code in self._measures(base.ends):
            values = self.vocabulary.numbers(base.ends, code)
            best = {node: (max if largest else min)(some) for node, some in values.items()}
            if len(best) < 2:
                continue
            top = (max if largest else min)(best.values())
            fit, told = self._fit(asked, code, measure, word)
            yield dataclasses.replace(
                base,
                query=Extreme(base.node, (self.kg.relation_name(code),), largest),
                ends=np.array(sorted(node for node, value in best.items() if value == top)),
                shape="extreme",
                measure=code,
                fit=fit,
                explained=base.explained | told,
            )
        if not measure or measure == "":
            yield from self._most(asked, base, largest, word)

    def _most(self, asked: Asked, base: Candidate, largest: bool, word: int) -> Iterator[Candidate]:
        """Which has the most of something."""
        if len(base.ends) > 2_000:
            return
        for code in self.vocabulary.around.ends(base.ends):
            if self.vocabulary.ends_kind(code) != "thing" or self.vocabulary.role(code):
                continue
            source, _ = self.vocabulary.around.pairs(base.ends, code)
            nodes, counts = np.unique(source, return_counts=True)
            if not largest:
                counts = np.array([(source == node).sum() for node in base.ends])
                nodes = base.ends
            top = counts.max() if largest else counts.min()
            fit, told = self._fit(asked, code % self.kg.num_relations, "", word)
            yield dataclasses.replace(
                base,
                query=Extreme(base.node, (self.kg.relation_name(code),), largest, by="count"),
                ends=nodes[counts == top],
                shape="extreme",
                measure=code % self.kg.num_relations,
                fit=fit,
                explained=base.explained | told,
            )

    def _bounded(
        self, asked: Asked, base: Candidate, bound: Bound, *, empty: bool = False
    ) -> Iterator[Candidate]:
        for code in self._measures(base.ends):
            dated = self.vocabulary.ends_kind(code) == "date"
            if not dated and bound.comparison == "in":
                continue
            keep = _keeper(bound, dated)
            if keep is None:
                continue
            values = self.vocabulary.numbers(base.ends, code)
            kept = sorted(node for node, some in values.items() if any(map(keep, some)))
            if not kept and not empty:
                continue
            grade = asked.cues.comparative
            fit, _ = self._fit(asked, code, grade[1] if grade else "", bound.words[0])
            yearly = (
                date_number(bound.low) is not None
                and len(bound.low) >= 4
                and 1000 <= float(bound.low[:4]) < 2200
            )
            fit = max(fit, 0.45 if dated else 0.3) if dated == yearly else 0.5 * fit
            yield dataclasses.replace(
                base,
                query=self._where(base, code, bound, dated),
                ends=np.array(kept, np.int64),
                shape="filter",
                measure=code,
                fit=fit,
                explained=base.explained | frozenset(bound.words),
            )

    def _where(self, base: Candidate, code: int, bound: Bound, dated: bool) -> Where:
        path, kind = (self.kg.relation_name(code),), "date" if dated else "number"
        comparison: Comparison = "in" if bound.comparison == "in" else bound.comparison  # type: ignore[assignment]
        where = Where(base.node, path, comparison, Value(kind, bound.low))
        return Where(where, path, "<=", Value(kind, bound.high)) if bound.high else where

    def _compared(self, asked: Asked) -> list[Candidate]:
        """Which of two, and whether one is more than the other."""
        cues = asked.cues
        grade = cues.comparative or cues.extreme
        if grade is None or len(asked.mentions) < 2:
            return []
        largest, measure, word = grade
        made = []
        pairs = list(zip(range(len(asked.mentions)), range(1, len(asked.mentions))))
        for one, two in pairs:
            for a, left in enumerate(asked.mentions[one].options):
                for b, right in enumerate(asked.mentions[two].options):
                    both = np.array(sorted({left.entity, right.entity}))
                    if len(both) < 2:
                        continue
                    for code in self._measures(both):
                        values = self.vocabulary.numbers(both, code)
                        if len(values) < 2:
                            continue
                        first, second = max(values[left.entity]), max(values[right.entity])
                        fit, told = self._fit(asked, code, measure, word)
                        ids = tuple(
                            self.kg.entity_ids[node] for node in (left.entity, right.entity)
                        )
                        name = self.kg.relation_name(code)
                        either = cues.either or not cues.yesno
                        comparison: Comparison = ">" if largest else "<"
                        query = (
                            Extreme(Entities(ids), (name,), largest)
                            if either
                            else Compared(
                                self.find.step(Entities(ids[:1]), code),
                                comparison,
                                self.find.step(Entities(ids[1:]), code),
                            )
                        )
                        holds = first > second if largest else first < second
                        ends = (
                            both
                            if first == second
                            else np.array([left.entity if holds else right.entity])
                        )
                        made.append(
                            Candidate(
                                query=query,
                                ends=ends,
                                topics=((one, a), (two, b)),
                                shape="compare",
                                result="" if either else "yes" if holds else "no",
                                measure=code,
                                fit=fit,
                                explained=told,
                            )
                        )
        return made

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


def _keeper(bound: Bound, dated: bool) -> Callable[[float], bool] | None:
    """The test of a bound on numbers; a year or month means the whole of it."""
    if dated:
        low, high = date_number(bound.low), date_number(bound.high or bound.low)
        if low is None or high is None:
            return None
        parts = (bound.high or bound.low).count("-")
        end = high + (1.0, 1 / 12, 1 / 372)[parts] - 1e-6
        start_end = low + (1.0, 1 / 12, 1 / 372)[bound.low.count("-")] - 1e-6
    else:
        low, high = plain_number(bound.low), plain_number(bound.high or bound.low)
        if low is None or high is None:
            return None
        end, start_end = high, low
    if bound.high:
        return lambda v: low <= v <= end
    tests = {
        "<": lambda v: v < low,
        "<=": lambda v: v <= start_end,
        ">": lambda v: v > start_end,
        ">=": lambda v: v >= low,
        "in": lambda v: low <= v <= start_end,
        "=": lambda v: low <= v <= start_end,
    }
    return tests[bound.comparison]
