"""Readings that no question means, where there are others: what is asked for is of another kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaxkg.query import Rows
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import inverse_legs, is_crossed, is_dispossessed
from jaxkg.systems.reader.sets.labels import SAID
from jaxkg.systems.reader.sets.quick import aligned

WHICH = frozenset(["which", "what", "many", "welche", "welcher", "welches", "viele"])


_WORDS, _FEW = 8, 3
"""Words of a name beyond which it is a text; ends of a reading that are looked at."""
_AS_WELL = 0.3
"""How much less another measure may fit a comparison."""

_Unfit = Callable[[Asked, Candidate, Candidates], bool]


def fitting(asked: Asked, found: list[Candidate], find: Candidates) -> list[Candidate]:
    """The readings that may be meant; of each sort that is not, all where there are no others.

    Args:
        asked: the question.
        found: its readings.
        find: what found them.
    """
    kept = _but(is_crossed, asked, _owned(asked, found, find), find)
    if not asked.cues.yesno:
        kept = _valued(asked, _but(_taken_in, asked, kept, find), find)
    if asked.cues.comparative is not None:
        kept = _measured_so(kept)
    if asked.cues.extreme is not None:
        kept = _measured_by_what_follows(asked, asked.cues.extreme, kept, find)
    rules = {
        _met_once: not asked.cues.yesno and bool(asked.said_twice),
        _of_another_order: asked.cues.extreme is not None,
        _graded_once: asked.nested is not None,
        _counts_the_given: asked.cues.count,
        _rated: asked.cues.count and bool(asked.cues.noun),
        _of_another_class: bool(asked.cues.noun),
        _is_other_row: bool(asked.cues.noun),
        _tells_in_sentences: bool(asked.cues.noun),
        _is_what_is_named: asked.cues.wants in ("person", "place", "date"),
    }
    for rule in filter(rules.get, rules):
        kept = _but(rule, asked, kept, find)
    return kept


def _measured_so(readings: list[Candidate]) -> list[Candidate]:
    """Not those with more of something else, where none has more of what is measured: "which towns
    are larger than the largest one"."""
    filters = [reading for reading in readings if reading.shape == "filter"]
    least = max((each.fit for each in filters if each.wanting), default=0.0) - _AS_WELL
    return [each for each in readings if each.shape != "filter" or each.fit >= least]


def _measured_by_what_follows(
    asked: Asked, grade: Grade, readings: list[Candidate], find: Candidates
) -> list[Candidate]:
    """Not what is first by another measure, where one stands behind the grade: "the highest
    temperature"."""
    after = max(grade.words, default=-1) + 1
    if grade.counts or not 0 < after < len(asked.cues.content):
        return readings
    measures = {reading.measure for reading in readings if reading.shape == "extreme"} - {-1}
    labels = {code: aligned(asked, code, find.vocabulary) for code in measures}
    named = {c for c in labels if min(labels[c].best_lex, labels[c].lex[after]) >= SAID}
    return [r for r in readings if not named or r.shape != "extreme" or r.measure in named]


def _met_once(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading meets once what a question speaks of twice: "states that border states"."""
    grade = asked.cues.extreme
    counted = candidate.graded if grade is not None and grade.counts else ()
    met = [*find.end_classes(candidate), *candidate.between, *counted]
    return any(met.count(kind) == 1 for kind in asked.said_twice)


def _of_another_order(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether another class is put in order than the one that a superlative stands before: "the
    state with the longest river"."""
    grade = asked.cues.extreme
    named = {mention.kind for mention in asked.ordered(grade)} if grade is not None else set[int]()
    graded = candidate.graded if candidate.shape == "extreme" else ()
    classes = named.difference(find.vocabulary.sorts)
    return bool(classes and graded) and named.isdisjoint(graded)


def _graded_once(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading does without one of two superlatives."""
    grades = (asked.cues.extreme, asked.cues.inner)
    return any(grade and not grade.words <= candidate.explained for grade in grades)


def _valued(asked: Asked, readings: list[Candidate], find: Candidates) -> list[Candidate]:
    """Not what is first in an order, where its value is asked for and is there: "what is the
    height of the highest tower"."""
    values = {
        (reading.measure, reading.topics)
        for reading in readings
        if reading.last == reading.measure >= 0
    }
    return [
        reading
        for reading in readings
        if reading.shape != "extreme"
        or isinstance(reading.query, Rows)
        or reading.last == reading.measure
        or (reading.measure, reading.topics) not in values
        or not _asks_for(asked, reading.measure, find)
    ]


def _asks_for(asked: Asked, code: int, find: Candidates) -> bool:
    """Whether the whole label of a relation is what a question begins with, beside its grade."""
    label = aligned(asked, code, find.vocabulary)
    content, cues = np.flatnonzero(asked.alignment.content)[:1].tolist(), asked.cues
    if cues.wants in ("person", "place") or cues.adds_up or label.best_lex < SAID:
        return False
    # Not the "most populous city", nor the "price" of "highest price product".
    classes = {place for kind in asked.classes for place in range(kind.first - 1, kind.last + 1)}
    grade = cues.extreme.words if cues.extreme else frozenset()
    if not (grade and content) or content[0] > max(grade) + 1:
        return False  # nor "the cheapest to hire"
    head = {*content, *cues.noun}
    return head.isdisjoint(classes) and all(label.lex[place] >= SAID for place in head)


def _owned(asked: Asked, found: list[Candidate], find: Candidates) -> list[Candidate]:
    """Not those whose child Ann is, where there are children of Ann: "who are Ann's children?"."""
    walked = {(candidate.shape, candidate.legs) for candidate in found if not candidate.wanting}
    return [
        candidate
        for candidate in found
        if not is_dispossessed(asked, candidate, find)
        or (candidate.shape, inverse_legs(candidate, find)) not in walked
    ]


def _but(unfit: _Unfit, asked: Asked, found: list[Candidate], find: Candidates) -> list[Candidate]:
    return [one for one in found if not unfit(asked, one, find)] or found


def _taken_in(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading starts from what is to be left out: "but not the Top Shed crew", "not in
    English or Latin"."""
    cues = asked.cues
    at = cues.negated if cues.except_at is None else cues.except_at
    if at is None or (cues.except_at is None and candidate.shape != "union"):
        return False
    first = next((n for n, one in enumerate(asked.mentions) if one.first > at), None)
    return candidate.shape != "except" and any(place == first for place, _ in candidate.topics)


def _of_another_class(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to another class than the first one that what is asked for names:
    "which incidents hit more than one service"."""
    noun, words = asked.cues.noun, asked.cues.words.folded
    if noun[0] == 0 or words[noun[0] - 1] not in WHICH:
        return False
    mentions = [kind for kind in asked.classes if noun[0] in (kind.first, kind.last)]
    if not mentions or candidate.result or asked.cues.yesno or candidate.wanting:
        return False
    if 0 <= candidate.last < find.kg.num_relations:
        label = aligned(asked, candidate.last, find.vocabulary)
        if min(label.best_lex, label.lex[noun[-1]]) >= SAID:
            return False  # the rating of a row of ratings
    named = [mention for mention in mentions if mention.kind not in find.vocabulary.sorts]
    meant = {mention.kind for mention in named}
    kinds = set(find.end_classes(candidate)) if named else set[int]()
    last = any(mention.last == noun[-1] for mention in mentions)  # not "which order date"
    if not kinds and last and not asked.cues.count and candidate.last >= 0:
        return find.vocabulary.ends_kind(candidate.last) in ("number", "date")
    return bool(kinds) and kinds.isdisjoint(meant)


def _tells_in_sentences(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to a text of many words that no word of the question asks for: "what
    cell does it develop from", and the definition of that cell."""
    code = candidate.last
    if candidate.result or not 0 <= code < find.kg.num_relations or not len(candidate.ends):
        return False
    texts = (find.kg.name(end).split() for end in candidate.ends[:_FEW].tolist())
    long = all(len(text) > _WORDS for text in texts)
    return long and aligned(asked, code, find.vocabulary).best_lex < SAID


def _is_what_is_named(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to no more than what is named by its class and what it has: "who has
    asset A7", and the asset."""
    if candidate.shape != "path" or len(candidate.topics) != 1 or len(candidate.relations) != 1:
        return False
    first, kinds = asked.mentions[candidate.topics[0][0]].first, find.end_classes(candidate)
    beside = [kind.kind for kind in asked.classes if kind.last + 1 == first]
    return candidate.last >= find.kg.num_relations and not set(kinds).isdisjoint(beside)


def _counts_the_given(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading counts what one of its topics says of rows: the medals of rows with a gold
    medal of Bolt's."""
    counts = candidate.shape == "count" and len(candidate.topics) > 1
    ahead = counts and 0 <= candidate.last < find.kg.num_relations
    back = find.vocabulary.inverse(candidate.last) if ahead else -1
    return ahead and any(back in codes for _, codes in candidate.legs)


def _rated(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to several numbers of which each row has one, where it is asked how
    many there are: "how many ratings"."""
    code, noun = candidate.last, asked.cues.noun[-1]
    several = not candidate.result and len(candidate.ends) > 1
    if not several or not 0 <= code < find.kg.num_relations:
        return False
    label = aligned(asked, code, find.vocabulary)
    words = " ".join(find.wordings(code)).lower().split()
    said = min(label.best_lex, label.lex[noun]) >= SAID
    number = find.vocabulary.ends_kind(code) == "number"
    return said and number and asked.cues.words.folded[noun] not in words


def _is_other_row(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to rows that have but a number, where what is asked for is a class
    or a sort, and not theirs: "which banks sent money", and no transfers."""
    meant = {kind.kind for kind in asked.classes if kind.first in asked.cues.noun}
    if candidate.result or not len(candidate.ends) or not meant:
        return False
    kinds = find.end_classes(candidate)
    return (
        bool(kinds) and meant.isdisjoint(kinds) and find.kg.name(int(candidate.ends[0])).isdecimal()
    )
