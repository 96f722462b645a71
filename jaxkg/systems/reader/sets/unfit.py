"""Readings that no question means, and what no reading may leave out of a question.

The first, such as those that lead to another kind than is asked for, are left out where there are
others. A best reading that does without what the question says beyond doubt is offered, but does
not answer, however likely it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxkg.kg.queries.columns import looks
from jaxkg.query import Count, Difference, Rows, Total, Where, children
from jaxkg.systems.reader.language.grades import Grade
from jaxkg.systems.reader.language.lexicon.units import UNITS, is_unit
from jaxkg.systems.reader.sets.adjusted import says_adding
from jaxkg.systems.reader.sets.alignment import SPEAKS
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import inverse_legs, is_crossed, is_dispossessed
from jaxkg.systems.reader.sets.holding import denied
from jaxkg.systems.reader.sets.labels import SAID, folded_words
from jaxkg.systems.reader.sets.quick import aligned, elements
from jaxkg.systems.reader.words import words
from jaxkg.words import is_blank

_WHICH_ONES, _TIMES = words("cues.which"), words("cues.times")
"""Words that ask which of several; that say when something is."""
_WHICH = _WHICH_ONES | {"what", "many", "viele"}
_WORDS, _FEW = 8, 3
"""Words of a name beyond which it is a text; ends of a reading that are looked at."""
_AS_WELL = 0.3
"""How much less another measure may fit a comparison."""
_NAMED, _EQUALLY = 0.8, 0.05
"""Share of a label's words that names a measure; how much less fits a grade as well."""
_SAID_OF = 0.5
"""Cover from which on a word speaks of a relation."""
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
    if asked.cues.extreme is not None and not asked.cues.adds:
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
    if noun[0] == 0 or words[noun[0] - 1] not in _WHICH:
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


def contradicted(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a reading leaves out what the question says beyond doubt."""
    return (
        (asked.cues.plainly and best.result not in ("yes", "no"))
        or _affirmed(asked, best)
        or _has_the_denied(asked, best, find)
        or _is_of_another_sort(asked, best, find)
        or _is_no_person(asked, best, find)
        or _leaves_out_a_name(asked, best, find)
        or _leaves_out_a_number(asked, best, find)
        or _lists_for_a_count(asked, best, find)
        or _counts_for_a_unit(asked, best)
        or _counts_the_unknown(asked, best, find)
        or _is_no_day(asked, best, find)
        or _values_for_things(asked, best, find)
        or _addends_for_a_sum(asked, best, find)
        or _largest_for_the_most(asked, best, find)
    )


def _affirmed(asked: Asked, best: Candidate) -> bool:
    """Whether what a "not" denies is read as if it were said: "which does she not take?"."""
    denial = asked.cues.negated
    denies = denial is not None and asked.cues.goes_on(denial)
    return denies and best.shape in ("path", "join", "extreme")


def _has_the_denied(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a set does without the "no trainer" of those that are asked for."""
    if best.shape not in ("class", "filter", "count") or isinstance(best.query, Difference):
        return False
    names = {find.kg.relation_name(code) for code in denied(asked, find)}
    nodes: list[Any] = [best.query] if names else []
    for node in nodes:  # which grows
        if isinstance(node, Where) and node.by == "count" and node.path[-1] in names:
            return False
        if isinstance(node, Where) and _is_false(node, find):
            return False  # the "not" of "not started": whose autostart is "false"
        nodes += children(node)
    return bool(names)


def _is_false(node: Where, find: Candidates) -> bool:
    """Whether a condition is that something is a "no"."""
    *_, last = node.path[-1].split("|")
    truths = find.vocabulary.truths(find.kg.relation_code(last))
    false = "" if truths is None or truths[1] < 0 else find.kg.entity_ids[truths[1]]
    return bool(false) and node.comparison == "=" and node.value == false


def _is_no_person(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a "who" leads to a number, a day or a yes, or to rows that are called by numbers or
    codes and are of a class that is none of persons: "who repaired LM-778", and no repair R4."""
    if asked.cues.wants != "person" or best.result or not len(best.ends):
        return False
    kinds, vocabulary = find.end_classes(best), find.vocabulary
    valued = best.last >= 0 and vocabulary.ends_kind(best.last) in ("number", "date")
    if valued or (0 <= best.last < find.kg.num_relations and vocabulary.truths(best.last)):
        return True
    names = [find.kg.name(end) for end in best.ends[:_FEW].tolist()]
    coded = all(any(map(str.isdigit, name.rpartition(" ")[2])) for name in names)
    return coded and bool(kinds) and not any(map(vocabulary.is_of_persons, kinds))


def _is_of_another_sort(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a "which department" leads to what no relation of that name leads to."""
    noun, words = asked.cues.noun, asked.cues.words.folded
    if not noun or words[max(noun[0] - 1, 0)] not in _WHICH or best.result or asked.cues.count:
        return False
    named = [kind for kind in asked.classes if kind.last == noun[-1] and noun[0] >= kind.first]
    sorts, total = find.vocabulary.sorts, find.kg.num_relations
    if not named or not all(kind.kind in sorts for kind in named):
        return False
    codes = [code for kind in named for code in sorts[kind.kind].codes]
    led_to = min(codes) >= total  # not rows that have a department
    return led_to and not any(np.isin(best.ends, find.vocabulary.domain(c)).any() for c in codes)


def _leaves_out_a_name(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether nothing of a reading speaks of a name that the graph does not know: "which Pixar film
    is longest"."""
    if not asked.unknown:
        return False
    covers = _covers(asked, best, find)
    for kind in (*best.classes, *find.end_classes(best)):
        covers.append(asked.alignment.of(find.vocabulary.class_words(kind)).cover)
    return any(all(cover[n] < _SAID_OF for cover in covers) for n in asked.unknown)


def _leaves_out_a_number(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether nothing of a reading speaks of a number: "which stores sold 3 chairs"."""
    words = asked.cues.words.folded
    numbers = {place for place, word in enumerate(words) if word.isdecimal()} - best.explained
    for place, _ in best.topics:
        numbers -= {*asked.mentions[place].words}
    for kind in asked.classes:  # "of all 50 states"
        members = find.vocabulary.classes.get(kind.kind, ())
        if kind.first - 1 in numbers and words[kind.first - 1] == str(len(members)):
            numbers.remove(kind.first - 1)
    covers = _covers(asked, best, find) if numbers else []
    return any(all(cover[place] < _SAID_OF for cover in covers) for place in numbers)


def _covers(asked: Asked, best: Candidate, find: Candidates) -> list[np.ndarray]:
    """How well each relation of a reading speaks of each word."""
    codes = {*best.relations, best.measure, best.last} - {-1}
    return [aligned(asked, code, find.vocabulary).cover for code in codes]


def _lists_for_a_count(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether several numbers that the question does not name are to say how many there are."""
    values = asked.cues.count and not best.result and 0 <= best.last < find.kg.num_relations
    words = [asked.cues.words.folded[place] for place in asked.cues.noun]
    if not values or (len(best.ends) == 1 and (_are_whole(best, find) or any(map(is_unit, words)))):
        return False
    number = find.vocabulary.ends_kind(best.last) == "number" and not isinstance(best.query, Rows)
    return number and aligned(asked, best.last, find.vocabulary).best_lex < _NAMED


def _counts_for_a_unit(asked: Asked, best: Candidate) -> bool:
    """Whether things are counted where an amount is asked for: "how many tonnes do they ship"."""
    first = asked.cues.noun[0] if asked.cues.noun else -1
    things = any(first in kind.words for kind in asked.classes)
    units = first >= 0 and asked.cues.words.folded[first] in UNITS
    return asked.cues.count and units and not things and isinstance(best.query, Count)


def _counts_the_unknown(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether rows without names are counted of which no word speaks, nor of what leads to them:
    "how many seats does it have" of the inspections of a café."""
    noun = [place for place in asked.cues.noun if asked.cues.content[place] >= 1.0]
    if not (asked.cues.count and noun and isinstance(best.query, Count)):
        return False
    if not all(is_blank(find.kg.entity_ids[row]) for row in best.ends[:_FEW].tolist()):
        return False
    steps, named, loose = elements(asked, best, find.end_classes(best), find.vocabulary)
    covers = [asked.named[noun], *(each.cover for each in (*steps, *named, *loose))]
    names = {place for each in (*asked.classes, *asked.mentions) for place in each.words}
    return names.isdisjoint(noun) and all(cover.max(initial=0.0) < SPEAKS for cover in covers)


def _are_whole(best: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to whole numbers."""
    return all(find.kg.name(end).strip().isdecimal() for end in best.ends[:_FEW].tolist())


def _is_no_day(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a "when" leads to things of which none is a day, a year or a time, over a relation
    that says nothing of time."""
    code = best.last
    if asked.cues.wants != "date" or best.result or not 0 <= code < find.kg.num_relations:
        return False
    if find.vocabulary.ends_kind(code) != "thing" or not len(best.ends):
        return False
    labels = {word for label in find.wordings(code) for word in folded_words(label)}
    names = [find.kg.name(end) for end in best.ends[:_FEW].tolist()]
    return labels.isdisjoint(_TIMES) and not any(looks("date", name) for name in names)


def _values_for_things(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a "which" of things leads to numbers or days of which its noun says nothing."""
    noun, words, code = asked.cues.noun, asked.cues.words.folded, best.last
    if not noun or words[noun[0] - 1] not in _WHICH_ONES or asked.cues.count or best.result:
        return False
    if not 0 <= code < find.kg.num_relations or words[noun[-1]] in _TIMES:
        return False
    kind = find.vocabulary.ends_kind(code)
    cover = aligned(asked, code, find.vocabulary).cover[list(noun)]
    return kind in ("number", "date") and float(cover.max()) < _SAID_OF


def _addends_for_a_sum(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A sum or an average, answered by what was not added up and whose label says neither: by
    several values or things, the first of them, a count or a yes or no that compares them."""
    if not asked.cues.adds_up or isinstance(best.query, Total | Rows):
        return False
    if best.shape == "count":
        return asked.cues.adds != "sum"  # "the total of patients" is their number
    code = best.measure if best.shape == "extreme" or best.result else best.last
    if best.shape == "extreme" and code < 0:
        return True
    several = len(best.ends) > 1 or best.shape == "extreme" or bool(best.result)
    return code >= 0 and several and not says_adding(asked, find, code)


def _largest_for_the_most(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """ "The most parks", told by the largest of a number that says nothing of parks."""
    grade = asked.cues.extreme
    if best.shape != "extreme" or best.measure < 0 or grade is None or not grade.counts:
        return False
    if find.vocabulary.ends_kind(best.measure) == "thing":
        return False
    cover = aligned(asked, best.measure, find.vocabulary).cover
    after = max(grade.words) + 1
    counted = [kind for kind in asked.classes if kind.first == after]
    return any(cover[kind.words].max() < _SAID_OF for kind in counted)


def has_rival(
    asked: Asked, best: Candidate, readings: Sequence[Candidate], find: Candidates
) -> bool:
    """Whether a reading puts in order by one of several measures that its grade fits as well, and
    none is named: the "largest" state by its area, or by its population."""
    grade = asked.cues.extreme
    if best.shape != "extreme" or best.measure < 0 or grade is None or not grade.measure:
        return False
    if aligned(asked, best.measure, find.vocabulary).best_lex >= _NAMED:
        return False
    return any(
        other.shape == "extreme"
        and other.measure not in (best.measure, -1)
        and other.fit >= best.fit - _EQUALLY
        and (other.relations, other.topics) == (best.relations, best.topics)
        and (other.last < 0 or other.last != other.measure)
        and not np.array_equal(other.ends, best.ends)
        for other in readings
    )


def leaves_out_a_sum(
    asked: Asked, best: Candidate, readings: Sequence[Candidate], find: Candidates
) -> bool:
    """Whether a reading tells one number of a thing where a sum is asked for, and another adds up
    those of its rows: the price of what was taken "in total"."""
    sums = asked.cues.adds == "sum" and asked.cues.adds_up and best.shape == "path"
    if not sums or best.last < 0 or says_adding(asked, find, best.last):
        return False
    totals = (other for other in readings if isinstance(other.query, Total))
    return any(other.topics == best.topics and len(other.ends) > 1 for other in totals)
