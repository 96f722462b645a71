"""What becomes of readings once they are ranked: tables in place, closures, sums and means.

Nothing else is known of these than the readings that they are like.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from jaxkg.kg.hierarchies import is_inclusion
from jaxkg.kg.queries.rules import refusal
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.query import (
    Column,
    Count,
    Domain,
    Exists,
    Extreme,
    Intersection,
    Query,
    Rows,
    Step,
    Total,
    Union,
)
from jaxkg.systems.reader.language.lexicon.cue_words import ADDING, KINDS, NEXT
from jaxkg.systems.reader.language.lexicon.units import UNITS, unit_of
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.labels import SAID, folded_words
from jaxkg.systems.reader.sets.quick import aligned
from jaxkg.systems.reader.views import Seen
from jaxkg.systems.reader.words import words
from jaxkg.words import is_blank

_LOOKED_AT = 8
"""Best readings that are looked at for a step of a hierarchy."""
_RARER = float(np.log(2))
"""By how much a reading with all that is below counts for less than the plain one."""
_EXTENDED = float(np.log(4))
"""By how much a reading counts for less than the table that extends it."""
_AMOUNTS = frozenset(words("units.amounts"))
"""Words of columns that say how many of something a row is of."""
_MUCH = ("how much", "wie viel")
_FEW = 20
"""Rows that are looked at for a name."""
_ALIKE = 1e-3
"""Scores that differ by less say the same of two readings."""


_WHICH = words("cues.things")
"""Words of a question that asks for the things, too."""


def in_place(seen: Seen) -> Seen:
    """The same with tables that answer by their rows, ranked as the readings that they extend.

    A table that explains more words than the best reading, of the same numbers or things, takes
    its place, and that reading the place of the table: nothing else is known of tables.

    Args:
        seen: readings, ranked; tables of numbers as if they answered by one.
    """
    readings = [
        entry._replace(result="") if isinstance(entry.query, Rows) else entry
        for entry in seen.found
    ]
    tables = [spot for spot, entry in enumerate(readings) if isinstance(entry.query, Rows)]
    if not tables:
        return seen
    best, scores, views = int(seen.scores.argmax()), seen.scores.copy(), seen.views.copy()
    extended = [spot for spot in tables if _extends(readings[spot], seen.found[best])]
    if extended and best not in tables:
        table = max(extended, key=lambda spot: scores[spot])
        pair = [best, table]
        scores[pair], views[pair] = scores[pair[::-1]], views[pair[::-1]]
        others = [spot for spot in range(len(readings)) if spot not in tables]
        below = [spot for spot in others if _extends(readings[table], seen.found[spot])]
        scores[below] = np.minimum(scores[below], scores[table] - _EXTENDED)
    return dataclasses.replace(seen, found=readings, scores=scores, views=views)


def _extends(table: Candidate, plain: Candidate) -> bool:
    """Whether a table tells what a reading does, of more things or per group."""
    query = table.query
    assert isinstance(query, Rows)
    if not plain.explained <= table.explained and not query.per:
        return False
    if isinstance(plain.query, Count):
        return table.shape == "count" or query.source == plain.query.source
    if isinstance(plain.query, Step):
        paths = [column.path for column in query.columns]
        if plain.query.source == query.source and plain.query.relations in paths:
            return len(paths) > 1
    numbers = query.per or query.order or any(column.by != "value" for column in query.columns)
    return bool(numbers) and table.measure in (plain.measure, *plain.relations)


def goes_on(query: Query) -> bool:
    """Whether the last step of a query graph is walked on and on."""
    node = query.source if isinstance(query, Count) else query
    return isinstance(node, Step) and node.closure == "+"


def with_closures(seen: Seen, sets: QuerySets, hierarchies: frozenset[str]) -> Seen:
    """Readings, and after them what those answer whose last step goes on and on.

    A plain step of a hierarchy is what most questions mean, so that it stays before its closure,
    which is offered where it finds more; of "kinds" all are meant, and a kind of a kind is one.

    Args:
        seen: all readings.
        sets: over the graph.
        hierarchies: names of its hierarchies.
    """
    if not hierarchies:
        return seen
    words = set(seen.asked.cues.words.folded)
    deep = bool(words & KINDS) and not words & NEXT
    further: list[tuple[Candidate, int, float]] = []
    for place in np.argsort(-seen.scores, kind="stable")[:_LOOKED_AT].tolist():
        plain = seen.found[place]
        if plain.result == "no" and (held := _held_deeper(plain, sets, hierarchies)) is not None:
            further.append((held[0], place, _RARER * held[1]))
            continue
        node = plain.query.source if isinstance(plain.query, Count) else plain.query
        if not isinstance(node, Step) or node.closure or node.during or plain.wanting:
            continue
        names = {name.removeprefix("^") for name in node.relations}
        if names <= hierarchies:
            query = dataclasses.replace(node, closure="+")
            ends = sets.derive(query).nodes
            if len(ends) > len(plain.ends):
                counted = isinstance(plain.query, Count)
                result = str(len(ends)) if counted else plain.result
                closed = Count(query) if counted else query
                deeper = plain._replace(query=closed, ends=ends, result=result)
                kinds = deep and all(is_inclusion(sets.kg, name) for name in names)
                further.append((deeper, place, _RARER if kinds else -_RARER))
    if not further:
        return seen
    readings, places, shifts = map(list, zip(*further))
    scores = (seen.scores[places] + np.array(shifts)).astype(seen.scores.dtype)
    return dataclasses.replace(
        seen,
        found=[*seen.found, *readings],
        views=np.concatenate([seen.views, seen.views[places]]),
        scores=np.concatenate([seen.scores, scores]),
    )


def _held_deeper(
    plain: Candidate, sets: QuerySets, hierarchies: frozenset[str]
) -> tuple[Candidate, bool] | None:
    """What a "no" becomes where a hierarchy leads there after all, and whether that is of kinds:
    a kind is of every wider one, so that the plain step's "no" is wrong."""
    query = plain.query
    if not isinstance(query, Exists) or not isinstance(query.source, Intersection):
        return None
    first, *others = query.source.parts
    if not isinstance(first, Step) or first.closure or first.during:
        return None
    names = {name.removeprefix("^") for name in first.relations}
    if not names <= hierarchies:
        return None
    deep = Exists(Intersection((dataclasses.replace(first, closure="+"), *others)))
    ends = sets.derive(deep.source).nodes
    if not len(ends):
        return None
    kinds = all(is_inclusion(sets.kg, name) for name in names)
    return plain._replace(query=deep, ends=ends, result="yes"), kinds


def summed(seen: Seen, find: Candidates, sets: QuerySets) -> Seen:
    """A question's readings, numbers added up where it asks for that; ranked as what they are like,
    for nothing else is known of sums."""
    cues = seen.asked.cues
    if not (cues.adds or cues.count or _says_sum(cues.words.folded) or _asks_much(seen.asked)):
        return seen
    found = [added_up(seen.asked, one, find, sets) for one in seen.found]
    kept = _apart(found, seen.scores)
    return _only(dataclasses.replace(seen, found=found), kept)


def counted(seen: Seen) -> Seen:
    """A question's readings without sets that other readings count, where it asks how many there
    are: to list them is no answer."""
    cues = seen.asked.cues
    if not cues.count or not _WHICH.isdisjoint(cues.words.folded):
        return seen
    sets = {one.query.source for one in seen.found if isinstance(one.query, Count)}
    kept = np.array([one.query not in sets for one in seen.found], bool)
    return _only(seen, kept)


def _only(seen: Seen, kept: np.ndarray) -> Seen:
    """The same with some of its readings, [C] bool."""
    return dataclasses.replace(
        seen,
        found=[*itertools.compress(seen.found, kept)],
        views=seen.views[kept],
        scores=seen.scores[kept],
    )


def added_up(asked: Asked, candidate: Candidate, find: Candidates, sets: QuerySets) -> Candidate:
    """A reading with its numbers added up, where the question asks for their sum or mean.

    "The average fee of acts from Leeds" is read as "the highest fee of acts from Leeds" would be,
    or as "the fee of acts from Leeds"; of either, all numbers are taken. So are those of rows
    without names where it is asked how many: the "hours" of a month each. Of "the chemist of the
    sample with the highest yield" those of each chemist are, where "the highest average" is asked.

    Args:
        asked: the question.
        candidate: any reading.
        find, sets: over the graph.

    Returns:
        The reading as it is where there is nothing to add up, or one number alone.
    """
    if (amount := _amount(asked, candidate, find)) and refusal(sets.values, amount) is None:
        total = sets.execute(amount)
        return candidate._replace(query=amount, ends=total.rows, result=total.words)
    if candidate.result or candidate.wanting:
        return candidate
    if (groups := _groups(asked, candidate)) and refusal(sets.values, groups) is None:
        return candidate._replace(query=groups, ends=sets.execute(groups).rows)
    query = _total(asked, candidate, find)
    if query is None or refusal(sets.values, query) is not None:
        return candidate
    if says_adding(asked, find, find.kg.relation_code(query.path[0])):
        return candidate
    result = sets.execute(query)
    if result.number is None or (len(result.rows) < 2 and len(candidate.ends) < 2):
        return candidate
    nameless = all(is_blank(find.kg.entity_ids[row]) for row in result.rows)
    if asked.cues.count and not (asked.cues.adds or nameless or candidate.topics):
        return candidate  # the rooms of each house, not of all
    return candidate._replace(query=query, ends=result.rows, result=result.words)


def _amount(asked: Asked, candidate: Candidate, find: Candidates) -> Total | None:
    """The sum of the amounts that rows without names have each, where the rows would be counted:
    "how many lamps were sold". None where the rows are what is asked for, "how many sales"."""
    query, noun, words = candidate.query, asked.cues.noun, asked.cues.words.folded
    if not asked.cues.count or not noun or not isinstance(query, Count):
        return None
    if (unit := words[noun[-1]]) in UNITS:  # "how many litres are in F2"
        codes = [
            code
            for code in find.vocabulary.around.ends(candidate.ends)
            if code < find.kg.num_relations and _in_one(unit, find.wordings(code))
        ]
        return Total(query.source, (find.kg.relation_name(codes[0]),)) if len(codes) == 1 else None
    if not all(is_blank(find.kg.entity_ids[row]) for row in candidate.ends[:_FEW].tolist()):
        return None
    kinds = find.end_classes(candidate)
    if any(kind.last in noun and kind.kind in kinds for kind in asked.classes):
        return None
    named = frozenset(words[place] for place in noun)
    code = _amounts(find, candidate.ends, named | _AMOUNTS)
    return None if code < 0 else Total(query.source, (find.kg.relation_name(code),), "sum")


def _in_one(unit: str, wordings: Sequence[str]) -> bool:
    """Whether a label names the same unit, perhaps in other words."""
    return UNITS.get(unit_of(wordings)) == UNITS[unit]


def _amounts(find: Candidates, rows: np.ndarray, named: frozenset[str]) -> int:
    """The one relation of rows that says how many of something each is of; -1 without one.

    Args:
        named: words that its label has; it has no others where several have some.
    """
    whole: dict[int, bool] = {}
    for code in find.vocabulary.around.ends(rows):
        if code < find.kg.num_relations and find.vocabulary.ends_kind(code) == "number":
            labels = [{*folded_words(label)} for label in find.wordings(code)]
            if not all(map(named.isdisjoint, labels)):
                whole[code] = any(map(named.issuperset, labels))
    codes = [code for code, alone in whole.items() if alone or len(whole) == 1]
    return codes[0] if len(codes) == 1 else -1


def _total(asked: Asked, candidate: Candidate, find: Candidates) -> Total | None:
    query, grade = candidate.query, asked.cues.extreme
    by = asked.cues.adds or ("sum" if _is_summed(asked, candidate, find) else "")
    if by != "sum" and by != "mean":
        return None
    if isinstance(query, Extreme):
        whole = grade is not None and bool(grade.adds) and query.by == "value" and query.n == 1
        return Total(query.source, query.path, by) if whole and len(query.path) == 1 else None
    parts = query.parts if isinstance(query, Union) else (query,)
    steps = [part for part in parts if isinstance(part, Step) and len(part.relations) == 1]
    relations = {step.relations for step in steps}
    if len(steps) < len(parts) or len(relations) > 1 or (grade is not None and not grade.adds):
        return None
    sources = tuple(step.source for step in steps)
    return Total(sources[0] if len(sources) == 1 else Union(sources), steps[0].relations, by)


def _groups(asked: Asked, candidate: Candidate) -> Rows | None:
    """The first of what things lead to, by the sum or the mean of their numbers, where the reading
    has the first of their numbers: "which chemist has the highest average yield"."""
    by, grade, step = asked.cues.adds, asked.cues.extreme, candidate.query
    if grade is None or grade.adds or not isinstance(step, Step) or len(step.relations) > 1:
        return None
    first = step.source
    if not isinstance(first, Extreme) or first.by != "value" or len(first.path) > 1:
        return None
    if by != "sum" and by != "mean":
        return None
    column = Column(first.path, by)
    ordered = {"order": 1, "largest": first.largest, "last": first.n}
    return Rows(first.source, (column,), step.relations, **ordered)


def _is_summed(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether it is asked how many there are of what rows have numbers of, "how many hours were
    spent on Atlas", or for a sum that a column has of each: "the total of the open bills"."""
    noun, code, words = asked.cues.noun, candidate.last, asked.cues.words.folded
    if not 0 <= code < find.kg.num_relations or find.vocabulary.ends_kind(code) != "number":
        return False
    labels = [folded_words(label) for label in find.wordings(code)]
    if asked.cues.count and not all(map(_AMOUNTS.isdisjoint, labels)):
        return True
    if (asked.cues.count or _asks_much(asked)) and _is_of_rows(candidate, find):
        return True
    label = aligned(asked, code, find.vocabulary)
    if label.best_lex < SAID:
        return False
    if asked.cues.count:  # a row has "hours", and is a "rating"
        return bool(noun) and any(words[noun[-1]] in label for label in labels)
    return _says_sum(words) and any(map(_says_sum, labels))


def _asks_much(asked: Asked) -> bool:
    """Whether it is asked how much of something there is."""
    return asked.cues.words.text.lower().startswith(_MUCH)


def _is_of_rows(candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to amounts of several things around a topic, one each."""
    several = len(candidate.ends) > 1 and find.vocabulary.functional(candidate.last)
    return candidate.shape == "path" and several and bool(candidate.topics)


def _says_sum(words: Sequence[str]) -> bool:
    return any(ADDING.get(word) == "sum" for word in words)


def unadded(asked: Asked, candidate: Candidate) -> bool:
    """Whether a reading takes "the total fee" for the highest: it was read so to be added up."""
    return asked.adds(candidate) and not isinstance(candidate.query, Total | Rows)


def says_adding(asked: Asked, find: Candidates, code: int) -> bool:
    """Whether the label of a relation says itself that its values are what is asked for: sums, or
    averages."""
    labels = map(folded_words, find.wordings(code))
    return any(ADDING.get(word) == asked.cues.adds for words in labels for word in words)


def _apart(found: Sequence[Candidate], scores: np.ndarray) -> np.ndarray:
    """[C] bool: readings but for sums over a part of what has a number, where the question tells
    that part by nothing from all of it; the first of all is the first of many a part, too."""
    whole: dict[tuple[str, ...], float] = {}
    kept = np.ones(len(found), bool)
    sums = [(at, one.query) for at, one in enumerate(found) if isinstance(one.query, Total)]
    for at, query in sums:
        if query.source == Domain(query.path):
            whole[query.path] = max(scores[at], whole.get(query.path, -np.inf))
    for at, query in sums:
        part = isinstance(query.source, Domain) and query.source != Domain(query.path)
        kept[at] = not part or scores[at] > whole.get(query.path, -np.inf) + _ALIKE
    return kept
