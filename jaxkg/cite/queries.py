"""What query graphs execute to as cited answers.

An answer cites a walk for every branch that leads to it, and for every condition the walk to what
was compared, or one to everything that was counted. A count cites what it counted, a total the
numbers it adds up, a row of a table all that its cells tell of, an order the winner's value and the
runner-up's, a yes one of what was found, a no nothing: it says that the graph holds nothing of the
kind.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg import query as q
from jaxkg.answer import Answer
from jaxkg.cite.paths import cite_paths
from jaxkg.kg.queries.rules import value_kind
from jaxkg.kg.queries.sets import Derived, QuerySets, Result
from jaxkg.kg.queries.tables import Row
from jaxkg.kg.queries.values import KINDS
from jaxkg.kg.queries.windows import NONE, compares
from jaxkg.limits import shortened
from jaxkg.readings import column_words, say
from jaxkg.records import Link, RankedEntity, SupportingPath

CLOSED_WORLD = "assuming that the graph is complete"

COUNTED = " things counted"
"""How a note ends that tells of walks left out to what conditions and orders counted."""

_Walk = tuple[int, ...]
_SCORE = 1.0
"""Of every answer and path: what a query graph finds is so, or is not."""
_MOST = 1000
_MOST_COUNTED = 10


class _Cited:
    """Walks numbered as they come."""

    def __init__(self, sets: QuerySets, counted: int):
        self.sets = sets
        self.ids: dict[_Walk, str] = {}
        self.counted, self.room = 0, counted
        self.timeless = 0
        self._known: dict[tuple[int, tuple[str, ...]], list[_Walk]] = {}

    def cite(
        self, derived: Derived, nodes: Sequence[int], path: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Ids of the walks behind entities, and along a path from them."""
        walks: list[_Walk] = []
        for node in nodes:
            walks += self.walks(derived, node)
            walks += self.onwards(node, path) if path else ()
        return self._numbered(walks)

    def _numbered(self, candidates: Sequence[_Walk]) -> tuple[str, ...]:
        walks = dict.fromkeys(walk for walk in candidates if walk)
        return tuple(self.ids.setdefault(walk, f"p{len(self.ids) + 1}") for walk in walks)

    def walks(self, derived: Derived, node: int) -> list[_Walk]:
        """The walks behind one entity: one per branch, one per condition."""
        if isinstance(derived.query, q.Entities):
            return [()]
        place = int(np.searchsorted(derived.nodes, node))
        parts = derived.parts
        own: _Walk = ()
        if derived.steps is not None:
            own = tuple(step for step in derived.steps[place].tolist() if step >= 0)
        if isinstance(derived.query, q.Domain):
            return [(), own]  # two, so that a step away from the entity is not joined to it
        if isinstance(derived.query, q.Match):
            first = len(derived.query.path)
            return [*self.walks(parts[0], node), own[:first], own[first:]]
        if isinstance(derived.query, q.Quantifier):
            return [*self.walks(parts[0], node), *self._quantified(derived, node)]
        if isinstance(derived.query, q.Where | q.Extreme):
            behind = self.walks(parts[0], node)
            if own or derived.query.by != "count":
                return [*behind, own] if own else behind
            return behind + self.onwards(node, derived.query.path)
        if own:
            if isinstance(derived.query, q.Step) and derived.query.closure:
                own = self._whole(derived, own)
            behind = self.walks(parts[0], self._start(own[0]))
            walks = [behind[0] + own] if len(behind) == 1 else [*behind, own]
            return walks + self._times(derived, own[-1])
        holding = [part for part in parts if _holds(part, node)]
        if isinstance(derived.query, q.Intersection):
            return [walk for part in holding for walk in self.walks(part, node)]
        return self.walks(holding[0], node)

    def _times(self, derived: Derived, step: int) -> list[_Walk]:
        """What tells when a fact holds that was walked at a time; one without is counted."""
        if not (isinstance(derived.query, q.Step) and derived.query.during):
            return []
        times = self.sets.values.times
        walks = [(2 * row,) for row in times.citations(step >> 1)]
        self.timeless += not walks
        return walks

    def _whole(self, derived: Derived, last: _Walk) -> _Walk:
        """The whole walk of a closure from its last step, back to the source."""
        walk = last
        while not _holds(derived.parts[0], start := self._start(walk[0])):
            assert derived.steps is not None
            walk = (int(derived.steps[np.searchsorted(derived.nodes, start), 0]), *walk)
        return walk

    def _quantified(self, derived: Derived, node: int) -> list[_Walk]:
        """Walks to the ends that are in the set, and why they are; also to others that count."""
        query, within = derived.query, derived.parts[1]
        assert isinstance(query, q.Quantifier)
        walks: list[_Walk] = []
        for walk in self.onwards(node, query.path):
            if _holds(within, end := self._end(walk)):
                walks += [walk, *self.walks(within, end)]
            elif query.by == "outside":
                walks.append(walk)
        return walks

    def onwards(self, node: int, path: tuple[str, ...]) -> list[_Walk]:
        """One walk to every end of a path, while there is room."""
        key = node, path
        if key not in self._known:
            walks = self.sets.walks_along(*key)
            self._known[key] = walks[: max(self.room - self.counted, 0)]
            self.counted += len(walks)
        return self._known[key]

    def _start(self, step: int) -> int:
        head, _, tail = self.sets.kg.triples[step >> 1].tolist()
        return tail if step & 1 else head

    def cite_row(self, derived: Derived, query: q.Rows, row: Row, most: int) -> tuple[str, ...]:
        """Ids of the walks behind a row of a table, of the first `most` that it tells of."""
        candidates: list[_Walk] = []
        for member in row.members[:most].tolist():
            candidates += self.walks(derived, member)
            candidates += (w for w in self.onwards(member, query.per) if self._end(w) == row.key)
            for column in query.columns:
                candidates += self.onwards(member, column.path) if column.path else ()
        return self._numbered(candidates)

    def _end(self, walk: _Walk) -> int:
        return self._start(walk[-1] ^ 1)

    def paths(self) -> tuple[SupportingPath, ...]:
        """All walks cited so far."""
        longest = max(map(len, self.ids), default=0)
        steps = np.full((len(self.ids), longest), -1, np.int64)
        for row, walk in enumerate(self.ids):
            steps[row, : len(walk)] = walk
        inverse = (steps >= 0) & (steps & 1).astype(bool)
        ids, scores = list(self.ids.values()), [_SCORE] * len(steps)
        return tuple(cite_paths(self.sets.kg, steps >> 1, inverse, ids=ids, scores=scores))


def _holds(derived: Derived, node: int) -> bool:
    place = int(np.searchsorted(derived.nodes, node))
    return place < len(derived.nodes) and int(derived.nodes[place]) == node


def query_answer(
    sets: QuerySets,
    query: q.Query,
    result: Result,
    *,
    question: str = "",
    topics: Sequence[Link] = (),
    most: int = _MOST,
) -> Answer:
    """A result as an answer with its walks, which `jaxkg.cite.check` derives again.

    Args:
        sets: over the graph.
        query: the query graph.
        result: what it executed to.
        question, topics: of the answer.
        most: how many of what was counted, or found, get their walks spelt out, and ten times as
            many of what conditions and orders counted; the rest is told.

    Example:
        >>> from jaxkg.kg import KnowledgeGraph
        >>> sets = QuerySets(KnowledgeGraph.from_triples([("Alien", "by", "Scott")]))
        >>> query = q.Count(q.Step(q.Entities(("Scott",)), ("^by",)))
        >>> answer = query_answer(sets, query, sets.execute(query))
        >>> answer.entities[0].name, answer.paths[0].sentence
        ('1', 'Alien, by: Scott')
    """
    kg, cited = sets.kg, _Cited(sets, _MOST_COUNTED * most)
    notes: list[str] = []
    reading = say(kg, query)
    entities: list[RankedEntity] = []
    abstained = None
    rows = result.rows.tolist()
    if result.kind == "entities":
        kind = value_kind(sets.values, query) or "entity"
        for place, row in enumerate(rows):
            ids = cited.cite(result.derived[0], [row]) if place < most else ()
            entities.append(RankedEntity(kg.entity_ids[row], kg.name(row), _SCORE, ids, kind))
        notes += _too_many(len(rows), most)
        notes += _runner_up(cited, query, result)
        if not rows:
            abstained = f"the graph holds nothing of this kind: {reading}"
    elif isinstance(query, q.Rows):
        entities, lacking = _table(cited, query, result, most)
        members = sum(len(row.members) for row in result.table)
        notes += _too_many(members, most)
        if lacking:
            notes.append(f"{lacking:,} of {len(result.derived[0].nodes):,} are in no group")
        if not rows:
            abstained = f"the graph holds no row of this kind: {reading}"
    elif isinstance(query, q.Compared):
        ids, missing = _compared(cited, query, result, most)
        if missing:
            abstained = f"nothing to compare: {missing} leads to no value"
        else:
            entities.append(RankedEntity(result.words, result.words, _SCORE, ids, "truth"))
            longest = max(len(derived.nodes) for derived in result.derived)
            if isinstance(query.left, q.Count):
                notes.append(f"both numbers hold {CLOSED_WORLD}")
                notes += _too_many(longest, most)
    elif isinstance(query, q.Calculation):
        if result.number is None:
            abstained = f"{result.note}: {reading}"
        else:
            ids, longest = _both(cited, query, result, most)
            entities.append(RankedEntity(result.words, result.words, _SCORE, ids, "total"))
            notes += [result.note] if result.note else []
            notes += _too_many(longest, most)
    elif isinstance(query, q.Total):
        if rows:
            of = result.derived[0]
            ids = cited.cite(of, rows[:most], query.path)
            entities.append(RankedEntity(result.words, result.words, _SCORE, ids, "total"))
            notes += _too_many(len(rows), most)
            if lacking := len(of.nodes) - len(rows):
                notes.append(f"{lacking:,} of {len(of.nodes):,} have no number and add nothing")
        else:
            abstained = f"the graph holds no number to add up: {reading}"
    else:
        ids = cited.cite(result.derived[0], rows[: most if result.kind == "number" else 1])
        kind = "count" if result.kind == "number" else "truth"
        entities.append(RankedEntity(result.words, result.words, _SCORE, ids, kind))
        if result.kind == "number":
            notes += _too_many(len(rows), most)
        if not rows:
            notes.append(f"the graph has no answer, {CLOSED_WORLD}")
    if cited.timeless:
        notes.append(f"{cited.timeless:,} facts have no time; they are assumed to hold then")
    notes += [note + COUNTED for note in _too_many(cited.counted, cited.room)]
    return Answer(
        question,
        topics=tuple(topics),
        entities=tuple(entities),
        paths=cited.paths(),
        abstained=abstained,
        notes=tuple(notes),
        reading=reading,
        query=q.query_to_dict(query),
        columns=column_words(kg, query) if isinstance(query, q.Rows) else (),
    )


def _table(
    cited: _Cited, query: q.Rows, result: Result, most: int
) -> tuple[list[RankedEntity], int]:
    """A row an answer, and how many entities of the source are in no group."""
    values, kg, source = cited.sets.values, cited.sets.kg, result.derived[0]
    entities, room = [], most
    for row in result.table:
        ids = cited.cite_row(source, query, row, room)
        room = max(room - len(row.members), 0)
        of = int(row.members[0]) if query.top else row.key
        cells = [cell.words(values) for cell in row.cells]
        shown = (kg.name(row.key), *cells) if query.top else tuple(cells)
        kind = next((k for k in KINDS[:3] if values.keys_of(k)[0, of] != NONE), "entity")
        entities.append(RankedEntity(kg.entity_ids[of], kg.name(of), _SCORE, ids, kind, shown))
    there = cited.sets.reached(source.nodes, query.per)[0]
    return entities, len(source.nodes) - len(np.unique(there))


def _too_many(count: int, most: int) -> list[str]:
    return [f"walks are cited for {most:,} of {count:,}"] if count > most else []


def _runner_up(cited: _Cited, query: q.Query, result: Result) -> list[str]:
    """A note on what comes next in an order, and its walks among the cited."""
    if not isinstance(query, q.Extreme) or not len(result.rows):
        return []
    further = dataclasses.replace(query, n=len(result.rows) + 1)
    derived = cited.sets.derive(further)
    others = np.setdiff1d(derived.nodes, result.rows).tolist()
    if not others:
        return ["there is no runner-up"]
    row = others[0]
    ids = ", ".join(cited.cite(derived, [row]))
    kg = cited.sets.kg
    note = f"runner-up: {shortened(kg.name(row))}"
    place = int(np.searchsorted(derived.nodes, row))
    if derived.ends is not None and query.path:
        note += f", {shortened(kg.name(int(derived.ends[place])))}"
    elif derived.keys is not None and query.by == "count":
        note += f", {int(derived.keys[place])}"
    more = f" and {len(others) - 1:,} with as much" if len(others) > 1 else ""
    return [f"{note}{more} ({ids})" if ids else note + more]


def _both(
    cited: _Cited, query: q.Calculation, result: Result, most: int
) -> tuple[tuple[str, ...], int]:
    """Ids of the walks to both sides of a calculation, and how many of a side there are."""
    values, ids, longest = cited.sets.values, list[str](), 0
    for side, derived in zip((query.left, query.right), result.derived):
        rows = derived.nodes
        if not isinstance(side, q.Count):
            kind = value_kind(values, side) or "entity"
            rows = rows[values.keys_of(kind)[0][rows] != NONE][:1]
        longest = max(longest, len(rows))
        ids += cited.cite(derived, rows[:most].tolist())
    return tuple(dict.fromkeys(ids)), longest


def _compared(
    cited: _Cited, query: q.Compared, result: Result, most: int
) -> tuple[tuple[str, ...], str]:
    """Ids of the walks to what decided a comparison, and what is missing for one."""
    both = result.derived
    values, kg = cited.sets.values, cited.sets.kg
    counts = isinstance(query.left, q.Count)
    if not counts:
        for side, derived in zip((query.left, query.right), both):
            kind = value_kind(values, side) or "entity"
            there = values.keys_of(kind)[0][derived.nodes] != NONE
            if not there.any():
                return (), say(kg, side)
    pair = None if counts else _deciding(cited.sets, query, both, bool(result.truth))
    rows = [[p] for p in pair] if pair else [derived.nodes[:most].tolist() for derived in both]
    ids = [i for side, of in zip(rows, both) for i in cited.cite(of, side)]
    return tuple(dict.fromkeys(ids)), ""


def _deciding(
    sets: QuerySets, query: q.Compared, both: Sequence[Derived], truth: bool
) -> tuple[int, int] | None:
    """One entity of each side that compare as wanted; None where no pair does."""
    if not truth:
        return None
    kind = value_kind(sets.values, query.left) or "entity"
    keys = sets.values.keys_of(kind).astype(np.int64)
    left = both[0].nodes[keys[0][both[0].nodes] != NONE]
    a, b = keys[:, left]
    for right in both[1].nodes.tolist():
        c, d = keys[:, right].tolist()
        if c == NONE:
            continue
        held = compares(query.comparison, (a, b), (c, d))
        if held.any():
            return int(left[np.argmax(held)]), right
    return None
