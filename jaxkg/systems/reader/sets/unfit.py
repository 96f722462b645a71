"""Readings that no question means, where there are others: what is asked for is of another kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.systems.reader.rules import named, veto
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.direction import (
    turned_about,
)
from jaxkg.systems.reader.sets.paths.quick import class_aligned

_WHICH = frozenset(["which", "what", "many", "welche", "welcher", "welches", "viele"])
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
    kept = _but(turned_about, asked, found, find)
    if not asked.cues.yesno:
        kept = _but(_taken_in, asked, kept, find)
    if asked.cues.noun:
        kept = _but(_of_another_class, asked, kept, find)
    kept = _but(_class_for_no_reason, asked, kept, find)
    return kept


def _but(
    unfit: _Unfit,
    asked: Asked,
    found: Sequence[Candidate],
    find: Candidates,
) -> list[Candidate]:
    def fit(some: Sequence[Candidate]) -> Sequence[Candidate]:
        left = [one for one in some if not unfit(asked, one, find)]
        return left if left and len(left) < len(some) else some

    return list(find.rules.rewritten(named(unfit), found, fit))


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
