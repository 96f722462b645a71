"""What no reading may leave out of a question, however likely it is.

A rule looks at a question and its best reading and tells whether the one says, beyond doubt, what
the other does without; that reading is offered, but does not answer. `RULES` has them all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from jaxkg.kg.link.folding import split_words
from jaxkg.query import Rows, Total
from jaxkg.systems.reader.language.lexicon.cue_words import (
    STOP,
)
from jaxkg.systems.reader.language.lexicon.forms import written_otherwise
from jaxkg.systems.reader.rules import contradiction
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.paths.quick import aligned
from jaxkg.systems.reader.sets.totals import says_adding

_ASKS, _IS = ("what", "which", "wie", "was", "welche"), ("is", "are", "was", "ist", "lautet")
_WHAT_IS = frozenset(itertools.product(_ASKS, _IS))
_OF = frozenset(["of", "for", "at", "from", "in", "von", "für", "bei", "aus"])
_EACH = frozenset(["per", "each", "every", "pro", "jede", "jeder", "jedes", "jedem", "jeden"])
_SAID_OF = 0.5
"""Cover from which on a word speaks of a relation."""
_NAMED = 0.5
"""Share of a relation's words from which on a question names it."""
_SOME = 20
"""Ends that are looked at to tell how they are written."""

Rule = Callable[[Asked, Candidate, Candidates], bool]


def contradicted(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a reading leaves out what the question says beyond doubt, by one of `RULES`."""
    return any(find.rules.holds(rule, asked, best, find) for rule in RULES)


@contradiction
def _names_for_a_truth(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A plain question of yes or no, answered by names."""
    return asked.cues.plainly and best.result not in ("yes", "no")


@contradiction
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


@contradiction
def _all_for_each(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """One sum or average, where one "per day" is asked for; not per what it is of."""
    words = asked.cues.words.folded
    each = {at for at, word in enumerate(words) if word in _EACH}
    if not each or not isinstance(best.query, Total):
        return False
    own = set(find.ends_classes(best.ends))
    each -= {one.first - 1 for one in asked.classes if one.kind in own}
    said = frozenset(words[at] for at in each)
    return bool(said) and not _labelled([find.kg.relation_code(best.query.path[-1])], said, find)


@contradiction
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
    return any(cover[kind.first : kind.last + 1].max() < _SAID_OF for kind in counted)


@contradiction
def _written_otherwise(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A phone number, a date, an address of mail, answered by what is not written as one.

    Unless the relation bears the name of what is asked for.
    """
    if best.result or best.wanting or best.last < 0:
        return False
    if aligned(asked, best.last, find.vocabulary).best_lex >= _NAMED:
        return False
    names = [find.kg.name(end) for end in best.ends[:_SOME].tolist()]
    return written_otherwise(_asked_for(asked), names)


@contradiction
def _excluded_relation(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A relation that the words exclude, see `Alignment.rules_out`."""
    return any(asked.alignment.rules_out(find.wordings(code)) for code in best.relations)


RULES: tuple[Rule, ...] = (
    _names_for_a_truth,
    _addends_for_a_sum,
    _all_for_each,
    _largest_for_the_most,
    _written_otherwise,
    _excluded_relation,
)
"""All of them, what is quickly told first."""


def _labelled(codes: Iterable[int], words: frozenset[str], find: Candidates) -> bool:
    """Whether the label of one of some relations, -1 for none, has one of some words."""
    labels = (label for code in codes if code >= 0 for label in find.wordings(code))
    return any(not words.isdisjoint(split_words(label).folded) for label in labels)


def _asked_for(asked: Asked) -> list[str]:
    """Words of what is asked for: "what phone number has", "what is the phone number of", "tell me
    Anna's phone number"."""
    words, masked = asked.alignment.words, asked.alignment.masked
    if asked.alignment.noun:
        return asked.alignment.noun
    owned = (at + 1 for at, word in enumerate(words) if word == "s" and at - 1 in masked)
    if (first := next(owned, None)) is not None:
        return list(itertools.takewhile(lambda word: word not in STOP, words[first:]))
    if tuple(words[:2]) not in _WHAT_IS:
        return []
    told = [word for place, word in enumerate(words) if place not in masked]
    return list(itertools.takewhile(lambda word: word not in _OF, told[2:]))
