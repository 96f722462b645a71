"""Readings that are tables: several things told of each of a set, or numbers per group."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxkg.deadline import check
from jaxkg.query import Column, Entities, Extreme, Having, Node, Rows, Value, Where
from jaxkg.systems.reader.language.grades import PLACES, Grade
from jaxkg.systems.reader.language.lexicon.cue_words import (
    BASE_FORMS,
    BY,
    COMPARATIVE,
    EACH,
    GRADABLE,
    POSSESSIVE,
    STOP,
)
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.measured import MANY, SPOKEN_OF, MeasuredFinder

_SETS = 12
"""Sets, the best, of which columns are told."""
_ALIKE = 0.65
"""Cosine from which on a phrase says a label in other words."""
_NEAR = 3
"""Words after an "each" within which stands what each row is of."""
_TO = {"to", "through", "until", "bis", "and", "und"}
_NTH = re.compile(r"(\d{1,4})(?:st|nd|rd|th)")
_NUMBER_OF = {("how", "many"), ("number", "of"), ("wie", "viele"), ("anzahl", "der")}
_JOINED = re.compile(r",|;|&|\b(?:and|und|sowie|plus|as well as)\b", re.IGNORECASE)


class _Part(NamedTuple):
    """What a column may tell: a path, the words that say so, and how."""

    path: tuple[int, ...]
    words: frozenset[int]
    by: str = "value"


class Tables(MeasuredFinder):
    """Makes tables of readings of one set that explain different words."""

    def all(self, asked: Asked, readings: Sequence[Candidate]) -> list[Candidate]:
        """Tables, where the wording joins several columns or tells of each.

        Args:
            asked: the question.
            readings: other readings, the best first.
        """
        words = asked.cues.words.folded
        joins = not {*EACH, *POSSESSIVE}.isdisjoint(words) or _JOINED.search(asked.cues.words.text)
        nth, each = self._places(asked), self._before_groups(asked)
        grade, adds = asked.cues.extreme, asked.cues.adds in ("sum", "mean")
        adds &= grade is not None and not (grade.adds or grade.counts)
        if asked.cues.yesno or not (joins or nth or adds or each is not None):
            return []
        bases = self._bases(asked, readings) if joins or nth else ()
        results = [table for base in bases for table in self._listed(asked, base)]
        if each is not None:
            results += self._grouped(asked, each, readings)
        results += self._first_in_sum(asked) if adds else ()
        if nth is not None:
            first, last, said = nth
            for base in map(self.find.class_set, (entry.kind for entry in asked.classes)):
                results += self._ordered(asked, base, [()], said, first=first, last=last)
        results += self._counted(asked, readings)
        return self.find.marked(asked, results)

    def _before_groups(self, asked: Asked) -> int | None:
        """The place of the word before what each row is of: "per", or "by" of an average."""
        adds = asked.cues.adds in ("sum", "mean") or asked.cues.count
        words = EACH | BY if adds else EACH
        return next((p for p, word in enumerate(asked.cues.words.folded) if word in words), None)

    def _bases(self, asked: Asked, readings: Sequence[Candidate]) -> Iterator[Candidate]:
        """Sets that columns may be told of: topics, classes, and what is found of things."""
        for topic in self.find.topics(asked):
            if topic.topics[0][1] < 2:
                yield topic._replace(explained=frozenset())
        yield from map(self.find.class_set, dict.fromkeys(entry.kind for entry in asked.classes))
        yield from self._sets(asked, readings)

    def _sets(self, asked: Asked, readings: Sequence[Candidate]) -> Iterator[Candidate]:
        """The best readings that lead to things, and to some of a class."""
        sets = (
            entry
            for entry in readings
            if not (entry.result or entry.wanting or entry.whole_class or asked.adds(entry))
            and (entry.last < 0 or self.vocabulary.ends_kind(entry.last) == "thing")
        )
        yield from itertools.islice(sets, _SETS)

    def _taken(self, asked: Asked, base: Candidate) -> set[int]:
        """Places of words that a set itself explains."""
        taken = {place for m, _ in base.topics for place in asked.mentions[m].words}
        taken |= base.explained
        for mention in asked.classes:
            if mention.kind in base.classes or mention.kind in self.find.end_classes(base):
                taken.update(mention.words)
        for code in base.relations:
            taken |= self._said(asked, code)
        return taken

    def _said(self, asked: Asked, code: int) -> frozenset[int]:
        """Places of words that say a relation."""
        wordings = self.find.wordings(code)
        if (said := asked.alignment.said(wordings)) is not None:
            return said
        alike = asked.alignment.of(wordings).sem >= _ALIKE
        return frozenset(np.flatnonzero(alike).tolist())

    def _columns(self, asked: Asked, base: Candidate) -> list[_Part]:
        """One column for each place of the words that speak of what these things have."""
        check()
        taken, total = self._taken(asked, base), self.kg.num_relations
        reached = self.vocabulary.around.ends(base.ends[:MANY])
        ways: list[tuple[tuple[float, ...], _Part]] = []
        for code, ends in reached.items():
            if self.vocabulary.role(code) == "type":
                continue
            share = asked.alignment.letters(self.find.wordings(code))[1]
            # What others say of these is said by all its words, or by the class of the others.
            ahead = code < total or (share == 1 and bool(base.classes))
            words = self._said(asked, code) - taken if ahead else frozenset[int]()
            thing = bool(base.classes) and self.vocabulary.ends_kind(code) == "thing"
            for mention in asked.classes if thing else ():
                if not words and mention.kind in self.find.ends_classes(ends):
                    words = frozenset(mention.words) - taken
            had = len(np.intersect1d(base.ends[:MANY], self.vocabulary.domain(code)))
            if words:
                ways.append(((code >= total, -share, -had), _Part((code,), words)))
        used: set[int] = set()
        columns = []
        for _, way in sorted(ways, key=lambda way: way[0]):
            if used.isdisjoint(way.words):
                used |= way.words
                columns.append(way)
        return sorted(columns, key=lambda way: min(way.words))

    def _listed(self, asked: Asked, base: Candidate) -> Iterator[Candidate]:
        """A row of several columns for each of a set; of one, where each is asked for."""
        columns = self._columns(asked, base)
        words = asked.cues.words.folded
        runs: list[list[_Part]] = []
        for entry in columns:
            last = max(runs[-1][-1].words) if runs else -1
            if runs and self._beside(asked, last, min(entry.words), bool(base.classes)):
                runs[-1].append(entry)
            else:
                runs.append([entry])
        named = [entry for entry in asked.classes if entry.kind in base.classes]
        each = {spot for spot, word in enumerate(words) if word in EACH}
        for run in runs:
            first = min(run[0].words)
            linked = {first - 1} if words[first - 1] in POSSESSIVE and first else set()
            linked |= {spot for entry in named for spot in each if 0 < entry.first - spot <= 2}
            if len(run) > 1 or (linked and base.classes):
                said = frozenset().union(linked, *(entry.words for entry in run))
                yield self._table(base, run, said)

    def _beside(self, asked: Asked, last: int, first: int, most: int) -> bool:
        """Whether two words are told in one breath: "name, price and the town they are from"."""
        words, between = asked.cues.words, range(last + 1, first)
        names = {place for mention in asked.mentions for place in mention.words}
        says = sum(asked.cues.content[spot] >= 1 or spot in names for spot in between)
        gap = words.text[words.spans[last][1] : words.spans[first][0]]
        return says <= most and (_JOINED.search(gap) is not None or not gap.strip())

    def _table(self, base: Candidate, run: Sequence[_Part], said: frozenset[int]) -> Candidate:
        names = [tuple(map(self.kg.relation_name, entry.path)) for entry in run]
        query = Rows(base.node, tuple(Column(path) for path in names))
        explained = base.explained | said
        if not isinstance(base.query, Entities):
            return base._replace(query=query, explained=explained)
        # Of one thing it answers by what the columns say, as each of their paths would.
        code = run[0].path[0]
        around = self.vocabulary.around.ends(base.ends)
        ends = np.unique(np.concatenate([around[entry.path[0]] for entry in run]))
        legs = ((base.topics[0][0], (code,)),)
        fields = {"relations": (code,), "last": code, "legs": legs}
        return base._replace(query=query, explained=explained, ends=ends, **fields)

    def _grouped(
        self, asked: Asked, each: int, readings: Sequence[Candidate]
    ) -> Iterator[Candidate]:
        """Numbers for each of a class, or for each thing that a relation leads to."""
        after = range(each + 1, each + 1 + _NEAR)
        for mention in asked.classes:
            if mention.first in after[:2]:
                rows = self.find.class_set(mention.kind)
                said = frozenset((each, *mention.words))
                yield from self._per_thing(asked, rows, said)
                yield from self._first_of_each(asked, mention.kind, (), said)
        kinds = dict.fromkeys(m.kind for m in asked.classes if m.first not in after)
        some = (base for base in self._sets(asked, readings) if base.topics)
        for base in itertools.chain(map(self.find.class_set, kinds), some):
            taken = self._taken(asked, base) if base.topics else set[int]()
            for code in self.vocabulary.around.ends(base.ends[:MANY]):
                words = self._said(asked, code)
                if words and words <= set(after) - taken and not self.vocabulary.role(code):
                    yield from self._per_end(asked, base, code, words | {each})

    def _first_in_sum(self, asked: Asked) -> Iterator[Candidate]:
        """The first of a class by a sum or a mean: "the top 3 suppliers by average price"."""
        grade = asked.cues.extreme
        assert grade is not None
        for mention in asked.classes:
            rows = self.find.class_set(mention.kind)
            for table in self._per_thing(asked, rows, grade.words.union(mention.words)):
                query = table.query
                assert isinstance(query, Rows)
                own = tuple(column for column in query.columns if column.by in ("sum", "mean"))
                if len(own) == 1 and not query.having:
                    ordered = {"order": 1, "largest": grade.largest, "last": grade.most}
                    first = dataclasses.replace(query, columns=own, **ordered)
                    yield table._replace(query=first, ends=self.find.sets.execute(first).rows)

    def _per_thing(
        self, asked: Asked, rows: Candidate, said: frozenset[int]
    ) -> Iterator[Candidate]:
        """Numbers of what paths lead to from each thing of a class."""
        wanted = self._wanted(asked)
        paths = list(self._paths(rows))
        columns: list[_Part] = []
        for by, words, grade in wanted:
            best = self._best(asked, paths, by, words, grade, said)
            columns += [best] if best is not None and best not in columns else []
        if columns:
            yield from self._numbers(asked, rows, columns, (), said)

    def _per_end(
        self, asked: Asked, base: Candidate, code: int, said: frozenset[int]
    ) -> Iterator[Candidate]:
        """Numbers of the things of a class that lead to the same."""
        columns: list[_Part] = []
        codes = [(code,) for code in self.vocabulary.around.ends(base.ends[:MANY])]
        for by, words, grade in self._wanted(asked):
            if by == "count":
                kinds = base.classes or self.find.end_classes(base)
                own = {p for m in asked.classes if m.kind in kinds for p in (m.first, m.last)}
                own |= {p for m, _ in base.topics for p in asked.mentions[m].words}
                columns += [_Part((), words | own, "count")] if words & own else []
            else:
                best = self._best(asked, codes, by, words, grade, said, one=bool(base.topics))
                columns += [best] if best is not None else []
        name = (self.kg.relation_name(code),)
        if columns:
            yield from self._numbers(asked, base, columns, name, said)
        if base.classes:
            yield from self._first_of_each(asked, base.classes[0], name, said)

    def _wanted(self, asked: Asked) -> list[tuple[str, frozenset[int], Grade | None]]:
        """The numbers that are asked for: how, their words, and what a superlative measures."""
        words, readings = asked.cues.words.folded, []
        grades = (asked.cues.extreme, asked.cues.comparative)
        graded = {spot for entry in grades if entry is not None for spot in entry.words}
        for spot, pair in enumerate(itertools.pairwise(words)):
            if pair in _NUMBER_OF and spot not in graded:
                noun = next((n for n in range(spot + 2, len(words)) if words[n] not in STOP), spot)
                readings.append(("count", frozenset((spot, spot + 1, noun)), None))
        if asked.cues.adds in ("sum", "mean"):
            grade = asked.cues.extreme
            spot = grade.words if grade is not None and grade.adds else frozenset()
            readings.append((asked.cues.adds, spot, None))
        for spot, word in enumerate(words):
            if word in GRADABLE and word not in BASE_FORMS and not COMPARATIVE.search(word):
                largest, measure = GRADABLE[word]
                grade = Grade(largest, measure, frozenset({spot}))
                readings.append(("max" if largest else "min", grade.words, grade))
        return readings

    def _paths(self, rows: Candidate) -> Iterator[tuple[int, ...]]:
        """Paths of a step or two from things of a class."""
        for code, ends in self.vocabulary.around.ends(rows.ends[:MANY]).items():
            if self.vocabulary.role(code):
                continue
            yield (code,)
            if self.vocabulary.ends_kind(code) == "thing" and len(ends) <= MANY * 10:
                back = self.vocabulary.inverse(code)
                for further in self.vocabulary.around.ends(ends[:MANY]):
                    if further != back and not self.vocabulary.role(further):
                        yield (code, further)

    def _best(
        self,
        asked: Asked,
        paths: Sequence[tuple[int, ...]],
        by: str,
        words: frozenset[int],
        grade: Grade | None,
        said: frozenset[int],
        *,
        one: bool = False,
    ) -> _Part | None:
        """The path whose ends are counted or measured, the shortest that its words speak of.

        Args:
            one: also where each thing has one number at most.
        """
        best: tuple[float, _Part] | None = None
        for path in paths:
            kind, fit, places = self.vocabulary.ends_kind(path[-1]), 0.0, frozenset[int]()
            if by == "count" and kind == "thing":
                places = (self._said(asked, path[-1]) | self._led_to(asked, path)) & words
                fit = float(bool(places))
            elif by != "count" and self.vocabulary.orders(path[-1]) and (grade or kind != "date"):
                fit = self.measured.fit(asked, path[-1], grade.measured if grade else "")
                places = self._said(asked, path[-1]) - said
            several = one or by == "count" or not all(map(self.vocabulary.functional, path))
            score = fit - 0.1 * len(path)
            if several and fit >= SPOKEN_OF and (best is None or score > best[0]):
                how = by
                if grade is not None:
                    how = "max" if self.measured.largest(grade, path[-1]) else "min"
                best = score, _Part(path, words | places, how)
        return best and best[1]

    def _led_to(self, asked: Asked, path: tuple[int, ...]) -> frozenset[int]:
        """Places of words that name a class of what a path leads to."""
        ends = self.vocabulary.domain(self.vocabulary.inverse(path[-1]))
        kinds = set(self.find.ends_classes(ends))
        named = (m for m in asked.classes if m.kind in kinds)
        return frozenset(place for m in named for place in m.words)

    def _numbers(
        self,
        asked: Asked,
        base: Candidate,
        columns: Sequence[_Part],
        per: tuple[str, ...],
        said: frozenset[int],
    ) -> Iterator[Candidate]:
        """A table of numbers; also of those rows alone whose number is within a bound."""
        results = [Column(tuple(map(self.kg.relation_name, c.path)), c.by) for c in columns]  # pyright: ignore
        query = Rows(base.node, tuple(results), per)
        ends = base.ends
        if per:
            ends = np.unique(self.vocabulary.around.pairs(ends, self.kg.relation_code(per[0]))[1])
        counts = any(column.by == "count" for column in columns)
        last = columns[0].path[-1:] or (self.kg.relation_code(per[0]),)
        words = base.explained.union(said, *(column.words for column in columns))
        table = base._replace(
            query=query,
            ends=ends,
            shape="count" if counts else "extreme",
            result=str(len(ends)) if counts else "",
            relations=columns[0].path or last,
            measure=last[0] % self.kg.num_relations,
            fit=1.0,
            explained=words,
        )
        yield table
        for bound in asked.cues.bounds:
            if not bound.high and bound.comparison != "in" and bound.low.isdigit():
                for number, column in enumerate(columns, start=1):
                    if column.by in ("count", "sum", "mean"):
                        entry = Having(number, bound.comparison, Value("number", bound.low))
                        more = dataclasses.replace(query, having=(entry,))
                        yield table._replace(query=more, explained=words | set(bound.words))

    def _ordered(
        self,
        asked: Asked,
        base: Candidate,
        ways: Sequence[tuple[str, ...]],
        said: frozenset[int],
        **places: Any,
    ) -> Iterator[Candidate]:
        """The things of a class, or of its groups, in the order of what a superlative measures."""
        grade = asked.cues.extreme
        if grade is None or grade.adds or grade.counts:
            return
        for code in self.vocabulary.around.ends(base.ends[:MANY]):
            fit = self.vocabulary.orders(code) and self.measured.fit(asked, code, grade.measured)
            if fit < SPOKEN_OF:
                continue
            column, largest = (
                Column((self.kg.relation_name(code),)),
                self.measured.largest(grade, code),
            )
            fields = {"shape": "extreme", "measure": code, "fit": 1.0}
            for way in ways:
                query = Rows(base.node, (column,), way, order=1, largest=largest, **places)
                yield base._replace(query=query, explained=said | grade.words, **fields)

    def _first_of_each(
        self, asked: Asked, kind: int, per: tuple[str, ...], said: frozenset[int]
    ) -> Iterator[Candidate]:
        """The first few of each group: "the two cheapest dishes per restaurant"."""
        grade = asked.cues.extreme
        if (
            grade is None
            or grade.adds
            or sum(entry[2] is not None for entry in self._wanted(asked)) > 1
        ):
            return  # "the cheapest and the dearest" are two columns
        kinds = [kind] if per else dict.fromkeys(m.kind for m in asked.classes if m.kind != kind)
        for base in map(self.find.class_set, kinds):
            reached = self.vocabulary.around.ends(base.ends[:MANY])
            ways = [per] if per else [
                (self.kg.relation_name(code),) for code, ends in reached.items()
                if kind in self.find.ends_classes(ends)
            ]  # fmt: skip
            yield from self._ordered(asked, base, ways, said, top=grade.most)

    def _places(self, asked: Asked) -> tuple[int, int, frozenset[int]] | None:
        """The first and the last of the places that are asked for: "6th to 10th"."""
        words = asked.cues.words.folded
        for spot, (entry, to, other) in enumerate(zip(words, words[1:], words[2:])):
            ends = _place(entry), _place(other)
            if to in _TO and 0 < ends[0] < ends[1]:
                return ends[0], ends[1], frozenset(range(spot, spot + 3))
        return None

    def _counted(self, asked: Asked, readings: Sequence[Candidate]) -> Iterator[Candidate]:
        """What a number of things picks out, with that number: "which has the most, how many"."""
        numbers = [words for by, words, _ in self._wanted(asked) if by == "count"]
        for entry in readings if numbers else ():
            query: Node = entry.node if not entry.result else Entities(())
            if not isinstance(query, Extreme | Where) or query.by != "count":
                continue
            own = self._taken(asked, entry._replace(explained=frozenset()))
            for words in numbers:
                if own.isdisjoint(words):
                    table = Rows(query, (Column(query.path, "count"),))
                    yield entry._replace(query=table, explained=entry.explained | words)


def _place(word: str) -> int:
    """The number of an ordinal; 0 of other words."""
    match = _NTH.fullmatch(word)
    return int(match[1]) if match else PLACES.get(word, 0)
