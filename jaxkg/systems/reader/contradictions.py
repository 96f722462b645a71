"""What no reading may leave out of a question, however likely it is.

A rule looks at a question and its best reading and tells whether the one says, beyond doubt, what
the other does without; that reading is offered, but does not answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxkg.query import Rows, Total, Where, children
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.holding import denied
from jaxkg.systems.reader.sets.quick import aligned
from jaxkg.systems.reader.sets.totals import says_adding
from jaxkg.systems.reader.sets.unfit import WHICH

_NAMED, _AS_WELL = 0.8, 0.05
"""Share of a label's words that names a measure; how much less fits a grade as well."""
_FIRST = 3
"""Things of a set whose names are looked at."""
_SAID_OF = 0.5
"""Cover from which on a word speaks of a relation."""


def contradicted(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a reading leaves out what the question says beyond doubt."""
    if asked.cues.plainly and best.result not in ("yes", "no"):
        return True
    if _affirmed(asked, best) or _has_the_denied(asked, best, find):
        return True
    if _is_of_another_sort(asked, best, find):
        return True
    if _is_no_person(asked, best, find) or _leaves_out_a_name(asked, best, find):
        return True
    if _leaves_out_a_number(asked, best, find) or _lists_for_a_count(asked, best, find):
        return True
    return _addends_for_a_sum(asked, best, find) or _largest_for_the_most(asked, best, find)


def _affirmed(asked: Asked, best: Candidate) -> bool:
    """Whether what a "not" denies is read as if it were said: "which does she not take?"."""
    denial = asked.cues.negated
    denies = denial is not None and asked.cues.goes_on(denial)
    return denies and best.shape in ("path", "join", "extreme")


def _has_the_denied(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a set does without the "no trainer" of those that are asked for."""
    if best.shape not in ("class", "filter", "count"):
        return False
    names = {find.kg.relation_name(code) for code in denied(asked, find)}
    nodes: list[Any] = [best.query] if names else []
    for node in nodes:  # which grows
        if isinstance(node, Where) and node.by == "count" and node.path[-1] in names:
            return False
        nodes += children(node)
    return bool(names)


def _is_no_person(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a "who" leads to a number, a day or a yes, or to rows that are called by numbers or
    codes and are of a class that is none of persons: "who repaired LM-778", and no repair R4."""
    if asked.cues.wants != "person" or best.result or not len(best.ends):
        return False
    kinds, vocabulary = find.end_classes(best), find.vocabulary
    valued = best.last >= 0 and vocabulary.ends_kind(best.last) in ("number", "date")
    if valued or (0 <= best.last < find.kg.num_relations and vocabulary.truths(best.last)):
        return True
    names = [find.kg.name(end) for end in best.ends[:_FIRST].tolist()]
    coded = all(any(map(str.isdigit, name.rpartition(" ")[2])) for name in names)
    return coded and bool(kinds) and not any(map(vocabulary.is_of_persons, kinds))


def _is_of_another_sort(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a "which department" leads to what no relation of that name leads to."""
    noun, words = asked.cues.noun, asked.cues.words.folded
    if not noun or words[max(noun[0] - 1, 0)] not in WHICH or best.result or asked.cues.count:
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
    several = asked.cues.count and not best.result and len(best.ends) > 1
    if not several or not 0 <= best.last < find.kg.num_relations:
        return False
    number = find.vocabulary.ends_kind(best.last) == "number" and not isinstance(best.query, Rows)
    return number and aligned(asked, best.last, find.vocabulary).best_lex < _NAMED


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
        and other.fit >= best.fit - _AS_WELL
        and (other.relations, other.topics) == (best.relations, best.topics)
        and (other.last < 0 or other.last != other.measure)
        and not np.array_equal(other.ends, best.ends)
        for other in readings
    )


def _addends_for_a_sum(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A sum or an average, answered by what was not added up and whose label says neither: by
    several values or things, the first of them, a count or a yes or no that compares them."""
    if not asked.cues.adds_up or isinstance(best.query, Total | Rows):
        return False
    if best.shape == "count":
        return asked.cues.adds != "sum"  # "the total of patients" is their number
    code = best.measure if best.shape == "extreme" or best.result else best.last
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
