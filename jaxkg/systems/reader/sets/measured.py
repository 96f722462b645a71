"""Sets kept, ordered and compared by numbers, dates and counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.queries.sets import foremost
from jaxkg.query import Comparison, Difference, Domain, Extreme, Node, Value, Where
from jaxkg.systems.reader.language.bounds import Bound
from jaxkg.systems.reader.language.cues import Cues
from jaxkg.systems.reader.language.grades import NUMERALS, Grade
from jaxkg.systems.reader.language.lexicon.cue_words import STOP
from jaxkg.systems.reader.language.lexicon.units import in_unit, measures, same_measure, unit_of
from jaxkg.systems.reader.sets.alignment import Alignment
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Finder
from jaxkg.words import singular

_COMPARES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "=": np.equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_COUNTED = 100
"""Numbers that may be said of how many there are."""
_OPEN = 12
"""Relations, the nearest to the words, of which everything that has them is looked at."""
LARGEST = 200_000
"""Entities of a set that is put in order, or whose values are compared, at most."""
_LOOKED_AT = 20
_ALONE = 4
"""Numbers of a question that stand alone; more are a list of no meaning that is known."""
MANY = 2_000
"""Entities of a set whose relations are looked at."""
_NEAR = 0.25
"""Fit from which on what has a relation may be meant, beside those whose values are compared."""
_IN_UNIT = 0.6
"""Fit of a relation that may be of what a unit measures."""
_WHOLE = 0.8
"""Share of a label's words from which on a question says all of it."""
SPOKEN_OF = 0.5
"""Fit from which on a relation is taken as named."""


class Measured(Finder):
    """Readings that compare values or counts."""

    def largest(self, grade: Grade, code: int) -> bool:
        """Whether a gradable word asks for the largest values of a relation."""
        relation = self.vocabulary.relations[code]
        return grade.sign(relation.wordings, relation.tails)

    def _codes(self, nodes: np.ndarray) -> Iterator[int]:
        """Relations of numbers or dates that can be put in order and that these entities have."""
        for code in self.vocabulary.around.ends(nodes[:MANY]):
            if self._measures(code):
                yield code

    def _measures(self, code: int) -> bool:
        """Whether a relation leads to what can be put in order, and to more than 0 and 1."""
        size = self.vocabulary.role(code) == "size"
        return self.vocabulary.orders(code) and self.vocabulary.truths(code) is None and not size

    def fit(self, asked: Asked, code: int, measure: str) -> float:
        """How well a gradable word agrees with a relation of values."""
        relation = self.vocabulary.relations[code % self.kg.num_relations]
        aligned = asked.alignment.of(relation.wordings)
        fit = max(aligned.best_lex, (aligned.best_sem - 0.2) / 0.6)
        if measure:
            parts = {part for w in relation.wordings for part in w.lower().split()}
            if parts & set(measure.split()):
                return 1.0
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
        return min(1.0, max(0.0, fit))

    def measured_in(self, code: int, unit: str) -> bool:
        """Whether a relation, by its label or by its values, is of what a unit measures."""
        values = self.vocabulary.values.units.get(self.kg.relation_name(code), ())
        return measures(unit, self.find.wordings(code)) or any(
            same_measure(unit, value.lower()) for value in values
        )

    def near(self, asked: Asked, codes: Sequence[int], measure: str = "") -> list[int]:
        """The relations among these that the words speak of, nearest first."""
        asked.alignment.prepare([self.find.wordings(code) for code in codes])
        fits = {code: self.fit(asked, code, measure) for code in codes}
        return sorted(codes, key=lambda code: -fits[code])[:_OPEN]

    def numbers_alone(self, cues: Cues, alignment: Alignment, names: Set[int]) -> Iterator[Bound]:
        """Numbers that stand alone beside a relation that has such a value, or that are values of
        one relation: "with 3 bedrooms", "pays 39"; not the "3" of the "3 cheapest".

        Args:
            cues: of the question.
            alignment: of its words.
            names: places of words that are names.
        """
        taken = names | cues.used
        folded = cues.words.folded
        digits = {place for place, word in enumerate(folded) if word.isdecimal()}
        parts = {place for place in digits if {place - 1, place + 1} & digits}  # of "20,000"
        alone = {
            place: str(int(word)) if word.isdecimal() else str(NUMERALS[word])
            for place, word in enumerate(folded)
            if place not in taken | parts and (word.isdecimal() or word in NUMERALS)
        }
        for place, number in alone.items() if len(alone) <= _ALONE else ():
            before = next((p for p in range(place - 1, -1, -1) if folded[p] not in STOP), place)
            near = {before, place + 1, place + 2}
            codes = [c for c in range(self.kg.num_relations) if self._has(c, number)]
            said = {code: alignment.said(self.find.wordings(code)) or () for code in codes}
            beside = any(not near.isdisjoint(places) for places in said.values())
            if beside or (len(codes) == 1 and len(number) > 1):
                measured = tuple(code for code in codes if place - 1 in said[code])
                yield Bound("=", number, words=(place,), measured=measured)

    def _has(self, code: int, number: str) -> bool:
        """Whether anything that a relation leads to is a number."""
        if self.vocabulary.ends_kind(code) != "number":
            return False
        values, name = self.vocabulary.values, self.kg.relation_name(code)
        try:
            window = values.window("number", "=", Value("number", number), along=name)
        except JaxkgError:
            return False  # its numbers are in several units
        return bool(window.holds(*values.keys_of("number")[:, values.ends_of(name)]).any())

    def having(self, asked: Asked, *, ordered: bool = False, measure: str = "") -> list[Candidate]:
        """Everything that has a relation, of those nearest to the words.

        Args:
            asked: the question.
            ordered: relations of values in order alone, and not both ends of others.
            measure: what is measured.
        """
        total = self.kg.num_relations
        codes = [c for c in range(total) if not self.vocabulary.role(c)]
        if ordered:
            codes = [c for c in codes if self.vocabulary.orders(c)]
        near = self.near(asked, codes, measure)
        if not ordered:
            near = [c for c in near if self.fit(asked, c, measure) >= _NEAR]
            # Of a class that is called as a relation is, all are meant, not those that it leads to.
            named = (w for kind in asked.classes for w in self.vocabulary.class_words(kind.kind))
            classes = set(map(singular, named))
            near += [
                c + total
                for c in near
                if self.vocabulary.ends_kind(c) == "thing"
                and classes.isdisjoint(map(singular, self.find.wordings(c)))
            ]
        found = map(self.find.having, near)
        return [some for some in found if 0 < len(some.ends) <= LARGEST]

    def extremes(
        self, asked: Asked, base: Candidate, grade: Grade, *, least: int = 2
    ) -> Iterator[Candidate]:
        """The first of a set of at least so many."""
        if len(base.ends) < least:
            return
        for code in self._own(base) or self._codes(base.ends):
            yield from self._first(asked, base, grade, code, least)
        if not grade.measure:
            yield from self._most(asked, base, grade)

    def _own(self, base: Candidate) -> list[int]:
        """Of everything that has a relation of values, this relation."""
        return [code for code in self._domain(base) if self._measures(code)]

    def _domain(self, base: Candidate) -> list[int]:
        """Of everything that has relations, these."""
        if not isinstance(base.query, Domain) or base.classes:
            return []
        return [self.kg.relation_code(name) for name in base.query.relations]

    def _first(
        self, asked: Asked, base: Candidate, grade: Grade, code: int, least: int
    ) -> Iterator[Candidate]:
        kind = self.vocabulary.ends_kind(code)
        dated = kind == "date"
        if (grade.counts and kind == "date") or not grade.measures(self.find.wordings(code), dated):
            return  # there is no "most" of dates
        if self._beside(asked, base, code):
            return
        nodes, ends = self.vocabulary.measured(base.ends, code)
        if len(np.unique(nodes)) < least:
            return
        keys = self.vocabulary.order_keys(kind)[ends]
        largest = self.largest(grade, code)
        path = (self.kg.relation_name(code),)
        source = base.node
        if base.shape == "class" and len(np.setdiff1d(self.vocabulary.domain(code), nodes)) == 0:
            source = Domain(path)  # says the same in fewer words
        yield self._placed(
            base._replace(
                measure=code,
                fit=self.fit(asked, code, grade.measured),
                explained=base.explained | grade.words,
                # "The most orders" speaks of what is counted, not of what is put in order.
                graded=() if grade.counts else self.find.ends_classes(base.ends),
            ),
            Extreme(source, path, largest),
            grade,
            *_best(nodes, keys, largest),
        )

    def _placed(
        self, base: Candidate, query: Extreme, grade: Grade, nodes: np.ndarray, keys: np.ndarray
    ) -> Candidate:
        """The first n, or the n-th alone, of nodes with a key each."""
        query = dataclasses.replace(query, n=grade.most)
        ends, node = nodes[foremost(keys, query)], query
        if grade.nth and grade.most > 1:
            before = dataclasses.replace(query, n=grade.most - 1)
            ends = np.setdiff1d(ends, nodes[foremost(keys, before)])
            node = Difference(query, before)
        picked = len(base.relations)
        return base._replace(query=node, ends=np.sort(ends), shape="extreme", picked=picked)

    def _most(self, asked: Asked, base: Candidate, grade: Grade) -> Iterator[Candidate]:
        """Which has the most of something."""
        if len(base.ends) > 2_000:
            return
        for code in self._domain(base) or self.vocabulary.around.ends(base.ends):
            if self.vocabulary.ends_kind(code) != "thing" or self.vocabulary.role(code):
                continue
            source, counted = self.vocabulary.around.pairs(base.ends, code)
            nodes, counts = np.unique(source, return_counts=True)
            if not grade.largest:
                counts = np.array([(source == node).sum() for node in base.ends])
                nodes = base.ends
            if len(nodes) < 2 or (counts.max() < 2 and counts.min() == counts.max()):
                continue  # several that have as many are all first
            yield self._placed(
                base._replace(
                    measure=code % self.kg.num_relations,
                    fit=self.fit(asked, code, ""),
                    explained=base.explained | grade.words,
                    graded=self.find.ends_classes(counted[:_LOOKED_AT]),
                ),
                Extreme(base.node, (self.kg.relation_name(code),), grade.largest, by="count"),
                grade,
                nodes,
                counts,
            )

    def bounded(
        self, asked: Asked, base: Candidate, bound: Bound, *, empty: bool = False
    ) -> Iterator[Candidate]:
        """Those of a set whose value is within bounds; `empty` also where there are none."""
        for code in self._own(base) or self._codes(base.ends):
            other = bound.measured and code not in bound.measured
            if other or self._beside(asked, base, code):
                continue
            kept = self.kept(base, code, bound)
            if kept is None or not (len(kept[1]) or empty):
                continue
            where, ends = kept
            grade = asked.cues.comparative
            fit = self.fit(asked, code, grade.measured if grade else "")
            dated = self.vocabulary.ends_kind(code) == "date"
            yearly = bound.low[:4].isdigit() and 1000 <= int(bound.low[:4]) < 2200
            yearly |= ":" in bound.low
            fit = max(fit, 0.45 if dated else 0.3) if dated == yearly else 0.5 * fit
            if bound.unit:
                fit = max(fit, _IN_UNIT) if self.measured_in(code, bound.unit) else 0.5 * fit
            if base.shape == "filter":
                fit = min(fit, base.fit)
            explained = base.explained | frozenset(bound.words)
            yield self.those(base, where, ends, code, fit=fit, explained=explained)

    def _beside(self, asked: Asked, base: Candidate, code: int) -> bool:
        """Whether a set leaves out some of those that have a value for no reason that is said."""
        if not isinstance(base.query, Domain) or base.classes or self._own(base):
            return False
        own, domain = self.kg.relation_code(base.query.relations[0]), self.vocabulary.domain(code)
        if own >= self.kg.num_relations:
            # Cars that are somebody's "usual car", where others have a value, too.
            if asked.alignment.letters(self.find.wordings(own))[1] >= _WHOLE:
                return False
        elif self.fit(asked, own, "") >= SPOKEN_OF:
            return False
        kinds = self.find.ends_classes(base.ends)
        return bool(set(kinds) & set(self.find.ends_classes(domain)))

    def counted(self, asked: Asked, base: Candidate, bound: Bound) -> Iterator[Candidate]:
        """Those of a set that have so many of something: "captains of more than one ship"."""
        number = bound.comparison in _COMPARES and not bound.high and bound.low.isdigit()
        number &= not (bound.unit or bound.measured)
        if not number or int(bound.low) > _COUNTED:
            return
        value = Value("number", str(int(bound.low)))  # "007" says 7
        for code in self.vocabulary.around.ends(base.ends[:MANY]):
            thing = self.vocabulary.ends_kind(code) == "thing" and not self.vocabulary.role(code)
            if not thing or self.vocabulary.functional(code):
                continue
            source, counted = self.vocabulary.around.pairs(base.ends, code)
            counts = np.bincount(np.searchsorted(base.ends, source), minlength=len(base.ends))
            kept = base.ends[_COMPARES[bound.comparison](counts, int(bound.low))]
            if 0 < len(kept) < len(base.ends):
                name = self.kg.relation_name(code)
                yield self.those(
                    base,
                    Where(base.node, (name,), bound.comparison, value, by="count"),
                    kept,
                    code,
                    fit=self.fit(asked, code, ""),
                    graded=self.find.ends_classes(counted[:_LOOKED_AT]),
                    explained=base.explained | frozenset(bound.words),
                )

    def those(
        self, base: Candidate, query: Node, ends: np.ndarray, code: int, **told: Any
    ) -> Candidate:
        """Those of a set that a relation picks out."""
        picked, measure = len(base.relations), code % self.kg.num_relations
        return base._replace(
            query=query, ends=ends, shape="filter", picked=picked, measure=measure, **told
        )

    def kept(self, base: Candidate, code: int, bound: Bound) -> tuple[Where, np.ndarray] | None:
        """The condition and who fulfils it; None where the bound does not compare with these."""
        name, kind = self.kg.relation_name(code), self.vocabulary.ends_kind(code)
        values = self.vocabulary.values
        nodes, ends = self.vocabulary.measured(base.ends, code)
        keys = values.keys_of(kind)[:, ends]
        comparison: Comparison = bound.for_numbers if kind == "number" else bound.comparison
        if kind == "date" and comparison == "=" and len(bound.low) < 10 and ":" not in bound.low:
            comparison = "in"  # a year has days
        node: Node = base.node
        parts: list[tuple[Comparison, str]] = [(comparison, self._said(bound, bound.low, code))]
        if bound.high:
            parts.append(("<=", self._said(bound, bound.high, code)))
        for how, text in parts:
            value = Value("date" if kind == "date" else "number", text)
            try:
                window = values.window(kind, how, value, along=name)
            except JaxkgError:
                return None  # no date, or no number
            node = Where(node, (name,), how, value)
            # Of several values of one entity, one is enough for each condition.
            nodes_kept = np.unique(nodes[window.holds(*keys)])
            there = np.isin(nodes, nodes_kept)
            nodes, keys = nodes[there], keys[:, there]
        assert isinstance(node, Where)
        return node, np.unique(nodes).astype(np.int64)

    def _said(self, bound: Bound, text: str, code: int) -> str:
        """A value as a relation has it: in its unit; a month without a year is of the year that
        all its dates share, a day also of the one that alone has it."""
        if not text.startswith("--"):
            return in_unit(text, bound.unit, unit_of(self.find.wordings(code)))
        relation = code % self.kg.num_relations
        keys = self.vocabulary.values.keys_of("date")[0]
        days = keys[self.vocabulary.values.ends_of(self.kg.relations[relation])]
        days = days[days > 0]
        month, _, day = text[2:].partition("-")
        if day and len(there := days[days % 10000 == int(month + day)]):
            days = there
        years = np.unique(days // 10000)
        return f"{years[0]}{text[1:]}" if len(years) == 1 else text


class MeasuredFinder(Finder):
    """Finds readings for which values are compared.

    Args:
        measured: what compares them.
    """

    def __init__(self, measured: Measured) -> None:
        super().__init__(measured.find)
        self.measured = measured


def _best(nodes: np.ndarray, keys: np.ndarray, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The foremost key of each node."""
    order = np.lexsort((-keys if largest else keys, nodes))
    nodes, first = np.unique(nodes[order], return_index=True)
    return nodes, keys[order][first]
