"""What no reading may leave out of a question, however likely it is.

A rule looks at a question and its best reading and tells whether the one says, beyond doubt, what
the other does without; that reading is offered, but does not answer. `RULES` has them all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import numpy as np

from jaxkg.kg.link.folding import split_words
from jaxkg.query import Total
from jaxkg.systems.reader.language.lexicon.cue_words import (
    AGES,
    ASKS,
    EVERY,
    IDLE,
    LIGHT,
    REASONS,
    STOP,
)
from jaxkg.systems.reader.language.lexicon.forms import written_otherwise
from jaxkg.systems.reader.language.lexicon.units import SPOKEN_UNITS
from jaxkg.systems.reader.rules import contradiction
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.paths.quick import aligned
from jaxkg.systems.reader.sets.totals import says_adding

_ASKS, _IS = ("what", "which", "wie", "was", "welche"), ("is", "are", "was", "ist", "lautet")
_WHAT_IS = frozenset(itertools.product(_ASKS, _IS))
_WHO = frozenset(["who", "whom", "wer", "wen", "wem"])
_HOW_OLD = (["how", "old"], ["wie", "alt"])
_COST_WORDS = "cost costs earn earns charge charges pay pays spend spends kostet verdient"
_COSTS = frozenset(_COST_WORDS.split())
_FREE = frozenset(["free", "gratis", "nothing", "kostenlos"])
_WHY = ("why", "warum", "weshalb", "wieso")
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
def _without_a_not(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "not" that is taken no account of."""
    denies = asked.cues.denies and asked.cues.negated not in asked.alignment.masked
    return denies and best.shape in ("path", "class", "join") and not best.wanting


@contradiction
def _addends_for_a_sum(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A sum or an average, answered by what was not added up and whose label says neither: by
    several values or things, the first of them, a count or a yes or no that compares them."""
    if not asked.cues.adds_up or isinstance(best.query, Total):
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
def _values_for_a_count(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "how many", answered by several values."""
    return asked.cues.count and len(best.ends) > 1 and _valued(best, find)


@contradiction
def _count_for_a_measure(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "how many hours", answered by a count, unless hours are a class of things."""
    last = max(asked.cues.noun, default=-1)
    if best.shape != "count" or best.classes or last < 0:
        return False
    named = any(mention.last == last for mention in asked.classes)
    return asked.cues.words.folded[last] in SPOKEN_UNITS and not named


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
def _value_for_a_person(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "who", answered by a number, a date, true or false."""
    return not _WHO.isdisjoint(asked.cues.words.folded[:3]) and _valued(best, find)


@contradiction
def _no_amount(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "how much" or "what does it cost", answered by what has no number in it, nor is free."""
    words = asked.cues.words.folded
    plain = [word for at, word in enumerate(words) if at not in asked.alignment.masked]
    going = ("going", "for") in itertools.pairwise(plain[-3:])
    priced = plain[:1] == ["what"] and not asked.cues.noun
    priced &= going or not _COSTS.isdisjoint(plain)
    if best.result or best.wanting or not (priced or words[:2] == ["how", "much"]):
        return False
    names = [find.kg.name(end).lower() for end in best.ends[:_SOME].tolist()]
    told = (any(map(str.isdigit, name)) or not _FREE.isdisjoint(name.split()) for name in names)
    return bool(names) and not any(told)


@contradiction
def _no_reason(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "why", answered by what is no reason."""
    asks = asked.cues.words.folded[:1]
    return bool(asks) and asks[0] in _WHY and not _labelled([best.last], REASONS, find)


@contradiction
def _no_age(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "how old", answered by another date or number than those that tell it."""
    asks = asked.cues.words.folded[:2] in _HOW_OLD
    return asks and _valued(best, find) and not _labelled([best.last], AGES, find)


@contradiction
def _name_left_out(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """All that something is true of, where the first word is a part of somebody's name."""
    first = any(mention.first == 0 for mention in asked.mentions)
    bare = ASKS.keys().isdisjoint(asked.cues.words.folded)
    return first and bare and not best.topics and not best.result


@contradiction
def _all_for_some(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """All of a class, where words of content are left beside its name.

    Not where all are asked for: "list all the cottages we let".
    """
    codes = best.relations
    alone = best.shape == "path" and len(codes) == 1 and codes[0] >= find.kg.num_relations
    whole = best.whole_class or (alone and bool(find.vocabulary.role(codes[0])))
    if not whole or not EVERY.isdisjoint(asked.cues.words.folded):
        return False
    own = {place for mention, _ in best.topics for place in asked.mentions[mention].words}
    for some in asked.classes:
        if some.kind in best.classes:
            own.update(range(some.first, some.last + 1))
    left = set(np.flatnonzero(asked.alignment.content > 0).tolist()) - own - best.explained
    words = {asked.cues.words.folded[place] for place in left}
    return bool(words - IDLE - (LIGHT - {"called", "named"}))


@contradiction
def _bound_left_out(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """A "before 1990" or "in 2024" that a reading has nothing to do with, nor the names in it."""
    used = {place for mention, _ in best.topics for place in asked.mentions[mention].words}
    options = (asked.mentions[mention].options[at] for mention, at in best.topics)
    names = [find.kg.name(option.entity) for option in options]
    # An exact number is often but a part of a description: "the two-week trip".
    left = [bound for bound in asked.cues.bounds if bound.comparison != "="]
    return any(
        best.explained.isdisjoint(bound.words)
        and used.isdisjoint(bound.words)
        and not any(bound.low in name for name in names)
        for bound in left
    )


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
    _without_a_not,
    _addends_for_a_sum,
    _all_for_each,
    _values_for_a_count,
    _count_for_a_measure,
    _largest_for_the_most,
    _value_for_a_person,
    _no_amount,
    _no_reason,
    _no_age,
    _all_for_some,
    _name_left_out,
    _bound_left_out,
    _written_otherwise,
    _excluded_relation,
)
"""All of them, what is quickly told first."""


def _valued(best: Candidate, find: Candidates) -> bool:
    """Whether a reading ends in numbers, dates, or in true or false."""
    if best.result or best.wanting or best.last < 0:
        return False
    valued = find.vocabulary.ends_kind(best.last) in ("number", "date")
    return valued or find.vocabulary.truths(best.last) is not None


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
