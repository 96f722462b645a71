"""Readings that no question means, where there are others: what is asked for is of another kind."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from jaxkg.systems.reader.sets.alignment import folded_words
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import turned_about
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
_WHOSE = ("whose", "wessen")
_OPENING = 6
"""Words within which a "whose" stands that asks."""
_SAID = 0.8
"""Share of a label's words from which on a question says it."""

_Unfit = Callable[[Asked, Candidate, Candidates], bool]


def fitting(asked: Asked, found: Sequence[Candidate], find: Candidates) -> list[Candidate]:
    """The readings that may be meant; of each sort that is not, all where there are no others.

    Args:
        asked: the question.
        found: its readings.
        find: what found them.
    """
    kept = _but(turned_about, asked, found, find)
    if any(one.wanting and _named_so(asked, one, find) for one in kept):
        kept = [one for one in kept if _says(asked, one, find)]
    if asked.cues.wants == "person":
        kept = _but(_owned, asked, _but(_numbered, asked, kept, find), find)
    if asked.cues.wants and not asked.cues.yesno:
        kept = _but(_but_true, asked, kept, find)
    return kept


def _but(
    unfit: _Unfit, asked: Asked, found: Sequence[Candidate], find: Candidates
) -> list[Candidate]:
    return [one for one in found if not unfit(asked, one, find)] or list(found)


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


def _says(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading walks along anything that the question says."""
    labels = map(find.wordings, candidate.relations)
    return any(asked.alignment.letters(label)[1] >= _SAID for label in labels)


def _owned(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to what somebody has where it is asked whose it is: "whose boat was
    out"."""
    words = asked.cues.words.folded[:_OPENING]
    owned = {singular(b) for a, b in itertools.pairwise(words) if a in _WHOSE}
    if not owned or candidate.result:
        return False
    kinds = find.end_classes(candidate)
    return any(owned & set(find.vocabulary.class_words(kind)) for kind in kinds)


def _but_true(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading says but true or false of what is not asked for by its label."""
    if candidate.result or candidate.last < 0 or not find.vocabulary.truths(candidate.last):
        return False
    return asked.alignment.letters(find.wordings(candidate.last))[1] < _SAID


def _numbered(asked: Asked, candidate: Candidate, find: Candidates) -> bool:
    """Whether a reading leads to what happened, told by a number, "Order 501": to nobody."""
    ends = candidate.ends[:_SOME].tolist()
    names = [] if candidate.result else [find.kg.name(end) for end in ends]
    if names and all(map(_CODE.fullmatch, names)):  # but a patient may be called "P-17"
        return "person" not in map(find.vocabulary.general, find.end_classes(candidate))
    return bool(names) and all(map(_NUMBERED.search, names))
