"""Readings that say something of facts: when they hold, and what else is told of them."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxkg.deadline import check
from jaxkg.errors import JaxkgError
from jaxkg.kg.qualifiers import Statements
from jaxkg.kg.queries.literals import CLOCK, as_date
from jaxkg.query import Comparison, Entities, Intersection, Node, Step, Value, Where, inverse
from jaxkg.systems.reader.language.bounds import Bound
from jaxkg.systems.reader.language.cues import Cues
from jaxkg.systems.reader.language.lexicon.cue_words import NOW
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates, Finder

_PATHS = 40
"""Paths, the best, whose facts are looked at."""
_YEAR = re.compile(r"1\d{3}|20\d\d")


class Facts(Finder):
    """Readings that demand or return what is said of the last fact of a path.

    Args:
        find: what finds the paths.
        today: the date that "now" is; "" takes the machine's.

    Raises:
        JaxkgError: that is no date.
    """

    def __init__(self, find: Candidates, today: str = "") -> None:
        super().__init__(find)
        if today and ((days := as_date(today)) is None or days[0] >= CLOCK):
            raise JaxkgError(f"today={today}: no date; write it as 2015-03-01")
        self.today = today

    @property
    def statements(self) -> Statements:
        """What is said of facts."""
        return self.vocabulary.values.statements

    @functools.cached_property
    def _stated(self) -> tuple[np.ndarray, np.ndarray]:
        """Statements about facts of the graph, and these facts."""
        known = self.statements.fact >= 0
        return self.statements.node[known], self.statements.fact[known]

    @functools.cached_property
    def _timed(self) -> set[int]:
        """Relations of which some fact has a time."""
        return set(self.kg.triples[self.vocabulary.values.times.fact, 1].tolist())

    @functools.cached_property
    def _qualifiers(self) -> dict[int, list[int]]:
        """What is said of the facts of each relation: relation codes."""
        nodes, facts = self._stated
        about = np.full(self.kg.num_entities, -1)
        about[nodes] = self.kg.triples[facts, 1]
        of = about[self.kg.triples[:, 0]]
        own = {self.kg.relation_code(name) for name in self.statements.relations}
        pairs = np.unique(np.column_stack([of, self.kg.triples[:, 1]])[of >= 0], axis=0).tolist()
        readings: dict[int, list[int]] = {}
        for relation, code in pairs:
            if code not in own and not self.vocabulary.role(code):
                readings.setdefault(relation, []).append(code)
        return readings

    @functools.cached_property
    def _predicates(self) -> dict[int, str]:
        """What each relation is called by as an entity, for its statements to point at."""
        nodes, facts = self._stated
        relations, first = np.unique(self.kg.triples[facts, 1], return_index=True)
        code = self.kg.relation_code(self.statements.relations[1])
        ends = (
            self.kg.triples[self.vocabulary.around.triples(node, code), 2] for node in nodes[first]
        )
        return {r: self.kg.entity_ids[int(end[0])] for r, end in zip(relations.tolist(), ends)}

    def with_today(self, cues: Cues) -> Cues:
        """Cues of which "now" is a date, where some fact has a time."""
        words = enumerate(cues.words.folded)
        places = tuple(spot for spot, word in words if word in NOW)
        if not (places and self._timed):
            return cues
        today = self.today or datetime.date.today().isoformat()
        bounds = (*cues.bounds, Bound("in", today, "", places))
        return dataclasses.replace(cues, bounds=bounds, used=cues.used.union(places))

    def all(self, asked: Asked, readings: Sequence[Candidate]) -> list[Candidate]:
        """Readings of what is said of the facts that paths end with.

        Args:
            asked: the question.
            readings: readings, the best first.
        """
        if not len(self.statements.node):
            return []
        paths = [path for path in readings if self._has_facts(path)][:_PATHS]
        results: list[Candidate] = []
        for path in paths:
            check()
            if path.last % self.kg.num_relations in self._timed:
                for bound in self._dates(asked):
                    results += self._at(path, bound)
            results += self._told(asked, path)
        return self.find.marked(asked, results)

    def _has_facts(self, path: Candidate) -> bool:
        """Whether a path ends with a step of whose facts something is said."""
        if path.result or path.wanting or not isinstance(path.query, Step):
            return False
        plain = len(path.query.relations) == 1 and path.last >= 0
        return plain and path.last % self.kg.num_relations in self._qualifiers

    def _dates(self, asked: Asked) -> Iterator[Bound]:
        """The times that a question tells."""
        for bound in asked.cues.bounds:
            days = None if bound.high or bound.unit else as_date(bound.low)
            if days is not None and days[0] < CLOCK:
                yield bound

    def _numbers(self, asked: Asked) -> Iterator[Bound]:
        """Numbers that are told of a fact, also those that stand alone: "played 429 matches"."""
        yield from asked.cues.bounds
        taken = {place for mention in asked.mentions for place in mention.words} | asked.cues.used
        taken |= {place for bound in asked.cues.bounds for place in bound.words}
        for place, word in enumerate(asked.cues.words.folded):
            if word.isdigit() and place not in taken:
                yield Bound("=", word, "", (place,))

    def _at(self, path: Candidate, bound: Bound) -> Iterator[Candidate]:
        """The same at a time; before or after one, by when its facts began or ended."""
        words, value = frozenset(bound.words), Value("date", bound.low)
        times = self.vocabulary.values.times.relations
        if bound.comparison in ("in", "="):
            query = dataclasses.replace(path.node, during=value)
            held = list(self._made(path, query, explained=path.explained | words))
            # What was the case but is no fact of the graph any more.
            for name in () if held else times["at"]:
                held += self._kept(path, name, "in", value, words)
            yield from held
            return
        ended = bound.comparison == "<=" and times["to"]
        for name in times["to"] if ended else (*times["from"], *times["at"]):
            yield from self._kept(path, name, bound.comparison, value, words)

    def _told(self, asked: Asked, path: Candidate) -> Iterator[Candidate]:
        """What is told of the facts, and those of which something is told that is named."""
        used = {mention for mention, _ in path.topics}
        others = [(topic, entity) for topic, entity in asked.options if topic[0] not in used]
        for code in self._qualifiers[path.last % self.kg.num_relations]:
            name, kind = self.kg.relation_name(code), self.vocabulary.ends_kind(code)
            said = asked.alignment.said(self.find.wordings(code)) is not None
            if said or (kind == "date" == asked.cues.wants):
                more = {"relations": (*path.relations, code), "last": code}
                yield from self._made(path, Step(self._about(path), (name,)), **more)
                for topic, entity in others:
                    if entity in path.ends:
                        entry = Step(self._about(path, self.kg.entity_ids[entity]), (name,))
                        topics = (*path.topics, topic)
                        yield from self._made(path, entry, topics=topics, **more)
            tails = self.vocabulary.domain(self.vocabulary.inverse(code))
            for topic, entity in others:
                if entity in tails and entity not in path.ends:
                    fields = {"topics": (*path.topics, topic), "measure": code, "fit": float(said)}
                    yield from self._kept(path, name, "=", self.kg.entity_ids[entity], **fields)
            for bound in self._numbers(asked) if kind == "number" else ():
                dated = not said and _YEAR.fullmatch(bound.low)
                if not (bound.high or dated) and bound.comparison != "in":
                    value = Value("number", bound.low)
                    fields = {"measure": code, "fit": 1.0, "shape": "filter"}
                    words = frozenset(bound.words)
                    yield from self._kept(path, name, bound.comparison, value, words, **fields)

    def _kept(
        self,
        path: Candidate,
        name: str,
        how: Comparison,
        value: Value | str,
        words: frozenset[int] = frozenset(),
        **fields: Any,
    ) -> Iterator[Candidate]:
        """What a path leads to by those facts of which something told compares as wanted."""
        subject, _, object_ = self.statements.relations
        onward = subject if path.last >= self.kg.num_relations else object_
        query = Step(Where(self._about(path), (name,), how, value), (onward,))
        yield from self._made(path, query, explained=path.explained | words, **fields)

    def _about(self, path: Candidate, other: str = "") -> Node:
        """The statements about the facts that a path ends with; of one end of it alone."""
        assert isinstance(path.query, Step)
        subject, predicate, object_ = self.statements.relations
        back, code = divmod(path.last, self.kg.num_relations)
        start, end = (object_, subject) if back else (subject, object_)
        parts = [
            Step(Entities((self._predicates[code],)), (inverse(predicate),)),
            Step(path.query.source, (inverse(start),)),
        ]
        parts += [Step(Entities((other,)), (inverse(end),))] if other else []
        return Intersection(tuple(parts))

    def _made(self, path: Candidate, query: Node, **fields: Any) -> Iterator[Candidate]:
        """A reading of what a query graph finds, where that is anything."""
        ends = self.find.sets.derive(query).nodes
        if len(ends):
            yield path._replace(query=query, ends=ends.astype(np.int64), **fields)
