"""Readings that no question means, where there are others: what is asked for is of another kind."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.systems.reader.language.kin import kin_told
from jaxkg.systems.reader.language.lexicon.stems import is_past, stem
from jaxkg.systems.reader.rules import named, veto
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import (
    WHOSE,
    chained_otherwise,
    is_not_whose,
    is_verb,
    turned_about,
)
from jaxkg.systems.reader.sets.labels import folded_words
from jaxkg.systems.reader.sets.paths.quick import aligned, class_aligned
from jaxkg.words import singular

_NUMBERED = re.compile(
    r"^(?:order|job|visit|match|game|booking|delivery|trip|invoice|ticket|claim|case|session|lesson|"
    r"flight|contract|payment|shipment|event|meeting|appointment|loan|deal|sale|purchase|request|"
    r"incident|report|performance|sailing|inspection|repair|parcel|auftrag|termin|buchung)"
    r"[ #_-]*\w?-?\d+$",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Z]{1,4}[ #_-]?\d+")
_SOME = 20
"""Ends that are looked at to tell what they are."""
_TURNS = frozenset((*WHOSE, "as", "als"))
_OPENING = 6
"""Words within which a "whose" stands that asks."""
_SAID = 0.8
"""Share of a label's words from which on a question says it."""

_WHICH = frozenset(["which", "what", "many", "welche", "welcher", "welches", "viele"])
_TIME_WORDS = "when date day year month week hour time ago since until due wann datum tag jahr"
_TIMES = frozenset(_TIME_WORDS.split())
_TOLD = 0.5
"""Fit from which on words speak of a relation."""

_Unfit = Callable[[Asked, Candidate, Candidates], bool]


def fitting(asked: Asked, found: Sequence[Candidate], find: Candidates) -> list[Candidate]:
    """The readings that may be meant; of each sort that is not, all where there are no others.

    Args:
        asked: the question.
        found: its readings.
        find: what found them.
    """
    kept = found
    for turned in (turned_about, chained_otherwise, is_not_whose, _of_other_generation):
        kept = _but(turned, asked, kept, find)
    if not asked.cues.yesno:
        kept = _but(_taken_in, asked, kept, find)
    if asked.cues.noun:
        kept = _but(_of_another_class, asked, kept, find)
    elif _TIMES.isdisjoint(asked.cues.words.folded):
        kept = _but(_when_it_was, asked, kept, find)
    kept = _but(_class_for_no_reason, asked, kept, find)
    if asked.told_first:
        kept = _but(_stops_short, asked, kept, find)
    if any(one.wanting and _named_so(asked, one, find) for one in kept):
        kept = _but(_says_nothing, asked, kept, find, all_gone=True)
    if asked.cues.wants == "person":
        kept = _but(_owned, asked, _but(_numbered, asked, kept, find), find)
    if asked.cues.wants and not asked.cues.yesno:
        kept = _but(_but_true, asked, kept, find)
    return kept


def _but(
    unfit: _Unfit,
    asked: Asked,
    found: Sequence[Candidate],
    find: Candidates,
    *,
    all_gone: bool = False,
) -> list[Candidate]:
    def fit(some: Sequence[Candidate]) -> Sequence[Candidate]:
        left = [one for one in some if not unfit(asked, one, find)]
        return left if (left or all_gone) and len(left) < len(some) else some

    return list(find.rules.rewritten(named(unfit), found, fit))


@veto
def _of_other_generation(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether one step leads to children where parents are asked for, or to parents where children
    are; not where it is asked whose they are."""
    kin, words = find.vocabulary.kin, asked.cues.words.folded
    if not kin or len(candidate.relations) != 1 or not _TURNS.isdisjoint(words):
        return False
    steps = {"p", "c"} & set(kin_told(words, asked.alignment.masked))
    if len(steps) != 1:
        return False
    other = "c" if steps == {"p"} else "p"
    return candidate.last in kin[other] and candidate.last not in kin[min(steps)]


@veto
def _taken_in(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading starts from what is to be left out: "but not the Top Shed crew", "not in
    English or Latin"."""
    cues = asked.cues
    at = cues.negated if cues.except_at is None else cues.except_at
    if at is None or (cues.except_at is None and candidate.shape != "union"):
        return False
    first = next((n for n, one in enumerate(asked.mentions) if one.first > at), None)
    return candidate.shape != "except" and any(place == first for place, _ in candidate.topics)


@veto
def _of_another_class(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to another class than the first one that what is asked for names:
    "which incidents hit more than one service"."""
    noun, words = asked.cues.noun, asked.cues.words.folded
    if noun[0] == 0 or words[noun[0] - 1] not in _WHICH:
        return False
    at = (some for some in asked.classes if noun[0] in (some.first, some.last))
    named = [some for some in at if some.kind not in find.vocabulary.sorts]
    if not named or candidate.result or asked.cues.yesno or candidate.wanting:
        return False
    meant = {some.kind for some in named}
    kinds = set(find.end_classes(candidate))
    last = any(some.last == noun[-1] for some in named)  # not "which order date"
    if not kinds and last and not asked.cues.count and candidate.last >= 0:
        return find.vocabulary.ends_kind(candidate.last) in ("number", "date")
    return bool(kinds) and kinds.isdisjoint(meant)


@veto
def _when_it_was(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading tells when something was done where it is asked what, who or where: "what
    was fired in the old kiln" by the days that things were "fired on"."""
    if asked.cues.wants not in ("thing", "person", "place") or candidate.result:
        return False
    if candidate.last < 0 or find.vocabulary.ends_kind(candidate.last) != "date":
        return False
    done = {stem(word) for word in asked.cues.words.folded if is_past(word)}
    told = (folded_words(label) for label in find.wordings(candidate.last) if is_verb(label))
    return any(stem(words[0]) in done for words in told)


@veto
def _class_for_no_reason(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a set that a value picks from is kept to a class of which the question says nothing,
    though others have such a value, too: of estate cars, where vehicles are asked for."""
    if candidate.shape not in ("extreme", "filter") or candidate.measure < 0:
        return False
    named = {some.kind for some in asked.classes}
    kinds = candidate.classes
    if not kinds or candidate.topics or not named.isdisjoint(kinds):
        return False
    told = (class_aligned(asked, kind, find.vocabulary) for kind in kinds)
    if any(max(one.fit, one.likeness) >= _TOLD for one in told):
        return False
    domain = find.vocabulary.domain(candidate.measure)
    return any(len(np.setdiff1d(domain, find.vocabulary.classes[kind])) for kind in kinds)


@veto
def _stops_short(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading says but what stands first, of which something else is asked: "the patient
    with hives, who do they see?"."""
    others = np.array([n for n in range(len(asked.cues.content)) if n not in asked.told_first], int)
    said = [aligned(asked, code, find.vocabulary) for code in candidate.relations]
    asks = {some.kind for some in asked.classes if some.first not in asked.told_first}
    if asks & set(find.end_classes(candidate)):
        return False  # "which castle is it"
    if not len(others) or not asked.alignment.content[others].any() or not said:
        return False
    return all(one.fit >= _TOLD > one.cover[others].max() for one in said)


def _named_so(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether what a topic lacks is called as what is asked for, and no class is: then it is not
    told by a detour."""
    noun = tuple(map(singular, asked.alignment.noun))
    ahead = candidate.last < find.kg.num_relations
    if not ahead or not _called(noun, find.wordings(candidate.last)):
        return False
    vocabulary = find.vocabulary
    classes = (kind for kind in vocabulary.classes if kind not in vocabulary.sorts)
    return not any(_called(noun, vocabulary.class_names(kind)) for kind in classes)


def _called(noun: tuple[str, ...], names: Sequence[str]) -> bool:
    """Whether one of some names is a noun, in whatever number its words are."""
    return any(tuple(map(singular, folded_words(name))) == noun for name in names)


@veto
def _says_nothing(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading walks along nothing that the question says."""
    labels = map(find.wordings, candidate.relations)
    return not any(asked.alignment.letters(label)[1] >= _SAID for label in labels)


@veto
def _owned(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to what somebody has where it is asked whose it is: "whose boat was
    out"."""
    words = asked.cues.words.folded[:_OPENING]
    owned = {singular(b) for a, b in itertools.pairwise(words) if a in WHOSE}
    if not owned or candidate.result:
        return False
    kinds = find.end_classes(candidate)
    return any(owned & set(find.vocabulary.class_words(kind)) for kind in kinds)


@veto
def _but_true(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading says but true or false of what is not asked for by its label."""
    if candidate.result or candidate.last < 0 or not find.vocabulary.truths(candidate.last):
        return False
    return asked.alignment.letters(find.wordings(candidate.last))[1] < _SAID


@veto
def _numbered(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to what happened, told by a number, "Order 501": to nobody."""
    ends = candidate.ends[:_SOME].tolist()
    names = [] if candidate.result else [find.kg.name(end) for end in ends]
    if names and all(map(_CODE.fullmatch, names)):  # but a patient may be called "P-17"
        return "person" not in map(find.vocabulary.general, find.end_classes(candidate))
    return bool(names) and all(map(_NUMBERED.search, names))
