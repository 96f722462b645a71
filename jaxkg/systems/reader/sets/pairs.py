"""Which things have more of something than others, or as much, and which have all of a set."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxkg.kg.queries.calculations import calculated, told_total
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.sets import compared
from jaxkg.kg.queries.windows import NONE
from jaxkg.query import (
    Calculation,
    Compared,
    Comparison,
    Count,
    Entities,
    Extreme,
    Match,
    Node,
    Quantifier,
    Step,
    inverse,
)
from jaxkg.systems.reader.language.bounds import Bound
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.language.lexicon.cue_words import ALONE, COMPARING, EACH, EVERY
from jaxkg.systems.reader.language.lexicon.units import UNITS
from jaxkg.systems.reader.language.topics import Mention
from jaxkg.systems.reader.sets.alignment import SPEAKS
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.measured import LARGEST, MANY, MeasuredFinder

_TIMES = {"times", "mal"}
_SETS = 10
"""Sets that are looked in for those with more than one thing has, the best first."""
_SPOKEN = 3
"""Pairs of relations, the likeliest, whose values are compared."""
_PATHS = 20
"""Paths, the best, of which it is counted what else they lead to."""


class SpokenPair(NamedTuple):
    """Two relations to values of one kind that a question speaks of.

    Attributes:
        codes: of the relations, in the order of the words.
        words: places of the words.
        fit: how well the words agree with the relation that they agree with less, in [0, 1].
    """

    codes: tuple[int, int]
    words: frozenset[int]
    fit: float


class PairFinder(MeasuredFinder):
    """Finds two values of one thing to compare."""

    def spoken_pairs(
        self, asked: Asked, codes: Sequence[int], after: int | None = None
    ) -> list[SpokenPair]:
        """The likeliest pairs of relations of values that something has both of.

        Args:
            asked: the question.
            codes: of the relations.
            after: place of the word that compares: what only one relation is spoken of behind is
                compared with the relation most like it, "below their reorder level".
        """
        found, kind, domain = [], self.vocabulary.ends_kind, self.vocabulary.domain
        pairs = [
            (one, other)
            for one, other in itertools.combinations(self.measured.near(asked, codes), 2)
            if kind(one) == kind(other) and _meet(domain(one), domain(other))
        ]
        labels_apart = {pair: dict(self._apart(pair)) for pair in pairs}
        asked.alignment.prepare(text for told in labels_apart.values() for text in told.values())
        for pair in pairs:
            labels = labels_apart[pair].items()
            told = [(code, *self._spoken(asked, wordings)) for code, wordings in labels]
            covers = np.stack([cover for _, _, cover in told])
            own = (covers >= SPEAKS) & (covers == covers.max(axis=0))
            own &= own.sum(axis=0) == 1  # what speaks of both tells neither
            said = [(code, fit, np.flatnonzero(some)) for (code, fit, _), some in zip(told, own)]
            said.sort(key=lambda each: each[2].max(initial=-1))
            (one, fit, words), (other, least, further) = said
            both = frozenset([*words.tolist(), *further.tolist()])
            if len(words):
                found.append(SpokenPair((one, other), both, min(fit, least)))
            elif after is not None and further.max(initial=-1) > after:
                vectors = asked.alignment.vectors([self.find.wordings(c)[0] for c in pair])
                like = float(vectors[0] @ vectors[1]) if vectors.shape[1] else 0.0
                found.append(SpokenPair((one, other), both, least * max(0.0, like)))
        return sorted(found, key=lambda pair: -pair.fit)[:_SPOKEN]

    def _spoken(self, asked: Asked, labels: tuple[str, ...]) -> tuple[float, np.ndarray]:
        """How well words speak of a relation, and [words] how surely each does."""
        aligned = asked.alignment.of(labels)
        said = asked.alignment.said(labels)
        return (1.0, aligned.lex) if said else (aligned.fit, aligned.cover)

    def _apart(self, pair: tuple[int, int]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Two relations with their wordings, without the words that both have: the "shipped date"
        and the "required date"."""
        words = [{w for label in self.find.wordings(c) for w in label.split()} for c in pair]
        for code in pair:
            labels = self.find.wordings(code)
            parts = (
                " ".join(w for w in label.split() if w not in words[0] & words[1])
                for label in labels
            )
            yield code, tuple(part or label for part, label in zip(parts, labels))


class Pairs(PairFinder):
    """Readings that compare two topics, or a set with one."""

    def all(self, asked: Asked) -> list[Candidate]:
        """Which of two, and whether one is more than the other."""
        cues = asked.cues
        grade = cues.comparative or cues.extreme
        if grade is None or len(asked.mentions) < 2:
            return []
        made = []
        for one, two in zip(range(len(asked.mentions)), range(1, len(asked.mentions))):
            for a, left in self._named(asked.mentions[one]):
                for b, right in self._named(asked.mentions[two]):
                    if left != right:
                        made += self._pair(asked, grade, ((one, a), (two, b)), (left, right))
        return made

    def _named(self, mention: Mention) -> Iterator[tuple[int, int]]:
        """Places and entities of options, but for things that another one calls, whose row does."""
        callers, bearers = self.vocabulary.callers
        called = bearers[np.isin(callers, [option.entity for option in mention.options])]
        for at, option in enumerate(mention.options):
            if option.entity not in called:
                yield at, option.entity

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
        for path in self._measures_of(grade, pair):
            code, names = path[-1], tuple(map(self.kg.relation_name, path))
            counts = not self.vocabulary.orders(code)
            steps: list[Node] = [Entities((one,)) for one in ids]
            rows = [np.array([node]) for node in pair]
            for step in path:
                rows = [self.vocabulary.around.ends(some).get(step, both[:0]) for some in rows]
                steps = [self.find.step(side, step) for side in steps]
            if counts:
                largest = grade.largest
                found = [len(some) for some in rows]
                question = Compared(Count(steps[0]), ">" if largest else "<", Count(steps[1]))
                first = Extreme(Entities(ids), names, largest, by="count")
            else:
                largest = self.measured.largest(grade, code)
                keys = self.vocabulary.order_keys(self.vocabulary.ends_kind(code))
                found = [(max if largest else min)(keys[some]) for some in rows]
                question = Compared(steps[0], ">" if largest else "<", steps[1])
                first = Extreme(Entities(ids), names, largest)
            if asked.cues.wants == "number" and not asked.cues.yesno:
                order = (0, 1) if largest else (1, 0)
                nodes = [Count(step) if counts else step for step in steps]
                yield from self._reckoned(
                    asked,
                    tuple(nodes[at] for at in order),
                    [rows[at] for at in order],
                    topics=topics,
                    measure=code % self.kg.num_relations,
                    fit=self.measured.fit(asked, code, grade.measured),
                    explained=grade.words,
                )
                continue
            if counts and either and len(set(found)) < 2:
                continue  # each has as many: one supplier
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

    def _measures_of(self, grade: Grade, pair: tuple[int, int]) -> Iterator[tuple[int, ...]]:
        """Paths by which two things compare: to numbers and days that both have, or the one row
        that tells of each, and to things that are counted."""
        vocabulary = self.vocabulary
        one, two = (vocabulary.around.relations(node) for node in pair)
        for code in one.keys() | two.keys():
            if vocabulary.orders(code):
                if code in one and code in two:
                    yield (code,)
                continue
            thing = vocabulary.ends_kind(code) == "thing" and not vocabulary.role(code)
            if thing and not (grade.measure or vocabulary.functional(code)):
                yield (code,)
            if thing and code >= self.kg.num_relations and one.get(code) == two.get(code) == 1:
                facts = [vocabulary.around.triples(node, code)[0] for node in pair]
                rows = self.kg.triples[facts, 0].tolist()
                here, there = (vocabulary.around.relations(row) for row in rows)
                further = here.keys() & there.keys()
                yield from ((code, measure) for measure in further if vocabulary.orders(measure))

    def within(self, asked: Asked) -> Iterator[Candidate]:
        """What two values of a topic, or of the row that tells of it, differ by, of which both are
        spoken of: "how many days are there between the issue and the return of A12"."""
        if asked.cues.wants != "number" or asked.cues.yesno:
            return
        for start in self._tellers(asked):
            ends = self.vocabulary.around.ends(start.ends)
            codes = [code for code in ends if self.vocabulary.orders(code)]
            for pair in self.spoken_pairs(asked, codes):
                dated = self.vocabulary.ends_kind(pair.codes[0]) == "date"
                # The time from one to the other; what one is more than the other.
                codes = pair.codes[::-1] if dated else pair.codes
                yield from self._reckoned(
                    asked,
                    tuple(self.find.step(start.node, code) for code in codes),
                    [ends[code] for code in codes],
                    topics=start.topics,
                    relations=(*start.relations, *codes),
                    measure=codes[0] % self.kg.num_relations,
                    fit=pair.fit,
                    explained=pair.words,
                )

    def _tellers(self, asked: Asked) -> Iterator[Candidate]:
        """Each topic, and the one row that tells of it."""
        for topic in self.find.topics(asked):
            yield topic
            for code, rows in self.vocabulary.around.ends(topic.ends).items():
                if code >= self.kg.num_relations and len(rows) == 1:
                    yield self.find.walked(topic, code, rows)

    def _reckoned(
        self,
        asked: Asked,
        nodes: tuple[Node | Count, ...],
        found: Sequence[np.ndarray],
        explained: frozenset[int],
        **fields: Any,
    ) -> Iterator[Candidate]:
        """A reading of what two values differ by, or of how often one is the other."""
        dated = not isinstance(nodes[0], Count) and all(
            self.vocabulary.values.keys_of("date")[0][rows].max(initial=NONE) != NONE
            for rows in found
        )
        by = "years" if dated else "difference"
        words = asked.cues.words.folded
        for spot, word in enumerate(words):
            if dated and word in UNITS and UNITS[word] == UNITS["days"]:
                by, explained = "days", explained | {spot}
            elif not dated and word in _TIMES:
                by, explained = "ratio", explained | {spot}
        query = Calculation(nodes[0], by, nodes[1])
        if refusal(self.vocabulary.values, query) is not None:
            return
        number, unit, _ = calculated(self.vocabulary.values, query, found)
        if number is not None:
            result = told_total(number, unit)
            yield Candidate(
                query, np.union1d(*found), shape="compare", result=result, explained=explained,
                **fields,
            )  # fmt: skip

    def beyond(self, asked: Asked, bases: Sequence[Candidate]) -> Iterator[Candidate]:
        """Those with more of something than a thing that is named: "who earns less than Ann".

        Args:
            asked: the question.
            bases: sets to look in, beside everything that has such a value.
        """
        grade = asked.cues.comparative
        if grade is None or not asked.cues.beyond:
            return
        later = (i for i, m in enumerate(asked.mentions) if m.first > max(grade.words))
        first = next(later, None)
        if first is None:
            return
        apart = [base for base in bases if all(m != first for m, _ in base.topics)][:_SETS]
        for topic in self.find.topics(asked, first):
            for code, ends in self.vocabulary.around.ends(topic.ends).items():
                kind = self.vocabulary.ends_kind(code)
                if not self.vocabulary.orders(code) or (kind == "date" and grade.counts):
                    continue
                fit = self.measured.fit(asked, code, grade.measured)
                if grade.measured[:4] == "date" != kind and fit < 1:
                    continue  # nothing has fewer seats "before" another
                largest = self.measured.largest(grade, code)
                keys = self.vocabulary.order_keys(kind)[ends]
                own = self.kg.name(int(ends[keys.argmax() if largest else keys.argmin()]))
                everything = self.find.having(code)
                for base in (everything, *apart):
                    kept = self.measured.kept(base, code, Bound(">" if largest else "<", own))
                    # Nothing is larger than the largest, whatever else comes after it.
                    if kept is not None and (len(kept[1]) or base is everything):
                        yield self.measured.those(
                            base,
                            *kept,
                            code,
                            fit=fit,
                            explained=base.explained | grade.words,
                            topics=(*base.topics, *topic.topics),
                            wanting=float(not len(kept[1])),
                        )


class Matched(PairFinder):
    """Readings that compare two relations of one thing, or count where one leads."""

    def alike(self, asked: Asked) -> Iterator[Candidate]:
        """Things of which two relations that are named lead to the same, or one to more than the
        other: "films directed by somebody who acted in them", "sold for more than the estimate"."""
        bases = [self.find.class_set(kind) for kind in dict.fromkeys(m.kind for m in asked.classes)]
        for base in bases:
            own = {p for m in asked.classes if m.kind in base.classes for p in m.words}
            reached = self.vocabulary.around.ends(base.ends[:MANY])
            things = [c for c in reached if self.vocabulary.ends_kind(c) == "thing"]
            codes = [c for c in things if not self.vocabulary.role(c)]
            said = {
                code: places - own
                for code in codes
                if (places := asked.alignment.said(self.find.wordings(code)))
            }
            for pair in itertools.combinations(said, 2):
                words = [said[code] for code in pair]
                alike = np.intersect1d(reached[pair[0]], reached[pair[1]])
                if len(alike) and all(words) and not frozenset.intersection(*words):
                    first, second = sorted(pair, key=lambda code: min(said[code]))
                    yield from self._match(base, first, "=", second, frozenset.union(*words))
        grade = asked.cues.comparative
        if (compares := self._comparing(asked)) is not None:
            codes = [c for c in range(self.kg.num_relations) if self.vocabulary.orders(c)]
            for pair in self.spoken_pairs(asked, codes, after=compares[1]):
                first, second = pair.codes
                how: Comparison = compares[0]
                if grade is not None:
                    how = ">" if self.measured.largest(grade, first) else "<"
                domain = self.vocabulary.domain(first)
                some = [base for base in bases if _meet(base.ends, domain)]
                words = pair.words | {compares[1]}
                for base in some or [self.find.having(first)]:
                    if len(base.ends) <= LARGEST:
                        yield from self._match(base, first, how, second, words, pair.fit)

    def _comparing(self, asked: Asked) -> tuple[Comparison, int] | None:
        """How two values of one thing are compared, if the relation does not tell, and the word
        that says so: "less than", "below"."""
        grade, spots = asked.cues.comparative, enumerate(asked.cues.words.folded)
        if asked.cues.bounds or asked.cues.yesno:
            return None
        if grade is not None and grade.words:
            return ">", max(grade.words)
        return next(((COMPARING[word], spot) for spot, word in spots if word in COMPARING), None)

    def _match(
        self,
        base: Candidate,
        first: int,
        how: Comparison,
        second: int,
        words: frozenset[int],
        fit: float = 1.0,
    ) -> Iterator[Candidate]:
        paths = ((self.kg.relation_name(code),) for code in (first, second))
        query = Match(base.node, next(paths), how, next(paths))
        if refusal(self.vocabulary.values, query) is None:
            if how != "=":  # both are spoken of, as what a path leads to
                base = base._replace(relations=(*base.relations, first, second))
            yield from self._kept(base, query, first, words, fit)

    def quantified(self, asked: Asked, readings: Sequence[Candidate]) -> Iterator[Candidate]:
        """What leads to what is named and to nothing else of it, to all of it, or to so many:
        "pizzas with only vegetables", "who sat every exam of May", "with exactly two Greek gods".
        """
        folded = asked.cues.words.folded
        spots = [
            (spot, frozenset((spot,)))
            for spot, word in enumerate(folded)
            if (word in ALONE or (spot and word in EACH | EVERY)) and spot not in asked.cues.used
        ]
        bounds = [b for b in asked.cues.bounds if b.low.isdecimal() and not (b.high or b.unit)]
        paths = (
            entry for entry in readings if entry.last >= 0 and not (entry.result or entry.wanting)
        )
        for path in itertools.islice(paths, _PATHS) if spots or bounds else ():
            query = path.query
            if not isinstance(query, Step) or query.closure or len(query.relations) != 1:
                continue
            ends = self.find.sets.derive(query.source).nodes
            back = Quantifier(query, (inverse(query.relations[0]),), query.source)
            for spot, words in spots:
                if folded[spot] in ALONE:
                    meant = dataclasses.replace(back, by="outside")
                    yield from self._kept(path, meant, path.last, words)
                elif len(ends) > 1 and self._speaks_of(asked, spot, path.last, ends):
                    meant = dataclasses.replace(back, by="missing")
                    yield from self._kept(path, meant, path.last, words)
            for bound in bounds if len(ends) > 1 else ():
                if bound.comparison != "in":
                    meant = dataclasses.replace(back, comparison=bound.comparison, n=int(bound.low))
                    yield from self._kept(path, meant, path.last, frozenset(bound.words))

    def _speaks_of(self, asked: Asked, spot: int, code: int, ends: np.ndarray) -> bool:
        """Whether the next word but one at most says a relation, or a class of what it is of."""
        kinds = set(self.find.ends_classes(ends))
        said = {m.first for m in asked.classes if m.kind in kinds}
        said |= asked.alignment.said(self.find.wordings(code)) or frozenset()
        return not said.isdisjoint((spot + 1, spot + 2))

    def _kept(
        self, base: Candidate, query: Node, code: int, words: frozenset[int], fit: float = 1.0
    ) -> Iterator[Candidate]:
        ends = self.find.sets.derive(query).nodes.astype(np.int64)
        if 0 < len(ends) < len(base.ends):
            fields = {"fit": fit, "explained": base.explained | words}
            yield self.measured.those(base, query, ends, code, **fields)


def _meet(these: np.ndarray, others: np.ndarray) -> bool:
    """Whether some of the first of ascending entities are among others."""
    place = np.searchsorted(others, some := these[:MANY])
    return (
        bool((others[np.minimum(place, len(others) - 1)] == some).any()) if len(others) else False
    )
