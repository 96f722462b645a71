"""How sure a reading is: a logistic line over what is told by the ranking and by the best reading,
and what no reading may leave out.

Platt, "Probabilistic Outputs for Support Vector Machines", 1999; fitted on graphs and questions
that the ranker was not trained on, unanswerable ones among them.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from jaxkg.kg.link.folding import split_words
from jaxkg.systems.reader.language.lexicon.cue_words import (
    ADDING,
    AGES,
    BIRTHS,
    EVERY,
    IDLE,
    LIGHT,
    REASONS,
    STOP,
)
from jaxkg.systems.reader.language.lexicon.forms import written_otherwise
from jaxkg.systems.reader.language.lexicon.units import SPOKEN_UNITS
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.quick import aligned, class_aligned
from jaxkg.systems.reader.views import NAMES

_TOLD = (
    "unexplained", "share", "worst word", "share by letters", "least fit", "least lex", "least sem",
    "topic score", "unused names", "loose name", "measure fit", "direction", "turn least",
    "turn mean", "turn unexplained", "turn backwards", "groups less steps", "groups apart",
    "groups", "names", "graph has classes", "graph has many relations", "one step", "two steps",
    "three steps", "mean whole", "noun fit", "log size", "answers itself", "there and back",
    "named aside", "named aside by letters", "both missed", "asked class missed",
    "graded missed", "class named", "wanting", "linked in all", "linked least", "linked ahead",
    "linked missed", "linked best", "linked spread", "all asked",
)  # fmt: skip
_ASKS, _IS = ("what", "which", "wie", "was", "welche"), ("is", "are", "was", "ist", "lautet")
_WHAT_IS = frozenset(itertools.product(_ASKS, _IS))
_WHO = frozenset(["who", "whom", "wer", "wen", "wem"])
_BORN = frozenset(["born", "geboren"])
_HOW_OLD = (("how", "old"), ("wie", "alt"))
_WHY = ("why", "warum", "weshalb", "wieso")
_OF = frozenset(["of", "for", "at", "from", "in", "von", "für", "bei", "aus"])
_WHAT_IS_THE = {("what", verb, "the") for verb in ("is", "are", "was", "were", "s")}
_NOUN = 3
"""Words of a noun at most: "the phone number of"."""
_HINTED = 0.3
"""Cover up to which a word says nothing of a relation or a class."""
_SAID_OF = 0.5
"""Cover from which on a word speaks of a relation."""
_NAMED = 0.5
"""Share of a relation's words from which on a question names it."""
_SOME = 20
"""Ends that are looked at to tell how they are written."""
_PLACES = [NAMES.index(name) for name in _TOLD]
_RANKING = ("bias", "chance", "margin", "readings", "spread of chance", "crowd")
CUES = (*_RANKING, *_TOLD)
"""What the line reads, in order."""


def confidence_cues(scores: np.ndarray, answers: list[object], views: np.ndarray) -> np.ndarray:
    """What the line reads of a question.

    Args:
        scores: [C] of its readings.
        answers: C, alike where two readings answer the same.
        views: [C, F], as they are, not standardised.

    Returns:
        [K] float32, as `CUES`.
    """
    chance = np.exp(scores - scores.max())
    chance /= chance.sum()
    best = int(np.argmax(scores))
    by_answer: dict[object, float] = defaultdict(float)
    for share, answer in zip(chance.tolist(), answers):
        by_answer[answer] += share
    mine = by_answer.pop(answers[best])
    shares = np.array([mine, *by_answer.values()])
    other = max(by_answer.values(), default=0.0)
    entropy = -float((shares * np.log(shares + 1e-9)).sum())
    crowd = float(np.log1p((shares > 0.02).sum()))
    ranking = [1.0, mine, mine - other, np.log1p(len(scores)) / 5, entropy, crowd]
    return np.concatenate([ranking, views[best, _PLACES]]).astype(np.float32)


def confidence(line: np.ndarray, cues: np.ndarray) -> float:
    """Chance in [0, 1] that the best reading is right.

    >>> confidence(np.zeros(len(CUES)), np.ones(len(CUES)))
    0.5
    """
    return float(1 / (1 + np.exp(-float(line @ cues))))


def contradicted(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a reading, however likely, leaves out what the question says beyond doubt.

    A plain question of yes or no that it answers by names; a "not" that it takes no account of; an
    "either" of which it knows one thing alone; "the most" of some things by a number that is not
    said of them; a sum, an average or a "how many" that it has the values of alone; a "how many
    hours" by a count; "the area of" a thing by what lies in it; a "who" that it answers by a
    number, a date, true or false; a "why" that it answers by what is no reason; a "how old" that it
    answers by another date than those that tell it; a "born" that no relation of it speaks of; all
    of a class where more is said of them; a phone number, a date or an address of mail that it
    answers by what is not written so; a relation that the words exclude, see `Alignment.rules_out`.
    """
    cues = asked.cues
    if cues.plainly and best.result not in ("yes", "no"):
        return True
    denies = cues.denies and cues.negated not in asked.alignment.masked
    if denies and best.shape in ("path", "class", "join") and not best.wanting:
        return True
    if "either" in cues.words.folded and len(best.topics) < 2 and not (cues.yesno or cues.bounds):
        return True
    if cues.adds_up and _only_values(best, find):
        return True
    if cues.count and len(best.ends) > 1 and _valued(best, find):
        return True
    if best.shape == "count" and _measures(asked) and not best.classes:
        return True
    if _counts_by_a_value(asked, best, find) or _asks_for_another(asked, best, find):
        return True
    if not _WHO.isdisjoint(cues.words.folded[:3]) and _valued(best, find):
        return True
    asks, ends = tuple(cues.words.folded[:2]), (best.last,)
    if asks[:1] and asks[0] in _WHY and not _labelled(ends, REASONS, find):
        return True
    if asks in _HOW_OLD and _valued(best, find) and not _labelled(ends, AGES, find):
        return True
    plain = (w for at, w in enumerate(cues.words.folded) if at not in asked.alignment.masked)
    walked = (*best.relations, best.measure)
    if not _BORN.isdisjoint(plain) and not _labelled(walked, BIRTHS, find):
        return True
    if _all_of_a_class(best, find) and _says_more(asked, best):
        return True
    if _written_otherwise(asked, best, find):
        return True
    return any(asked.alignment.rules_out(find.wordings(code)) for code in best.relations)


def _measures(asked: Asked) -> bool:
    """Whether "how many hours" asks for a measure, unless hours are a class of things."""
    last = max(asked.cues.noun, default=-1)
    unit = last >= 0 and asked.cues.words.folded[last] in SPOKEN_UNITS
    return unit and not any(mention.last == last for mention in asked.classes)


def _counts_by_a_value(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether "the most parks" is told by the largest of a number that says nothing of parks."""
    grade = asked.cues.extreme
    if best.shape != "extreme" or best.measure < 0 or grade is None or not grade.counts:
        return False
    if find.vocabulary.ends_kind(best.measure) == "thing":
        return False
    cover = aligned(asked, best.measure, find.vocabulary).cover
    after = max(grade.words) + 1
    counted = [kind for kind in asked.classes if kind.first == after]
    return any(cover[kind.first : kind.last + 1].max() < _SAID_OF for kind in counted)


def _asks_for_another(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether "what is the area of the bed" is answered by what lies in it: by a step back to the
    bed, of which, and of whose ends, "area" says nothing."""
    words = asked.cues.words.folded
    if best.shape != "path" or len(best.relations) != 1 or best.last < find.kg.num_relations:
        return False
    asks, start = tuple(words[:3]), 3
    end = next((at for at, word in enumerate(words) if at > start and word == "of"), -1)
    noun = [at for at in range(start, end) if at not in asked.alignment.masked]
    if asks not in _WHAT_IS_THE or not noun or len(noun) != end - start or len(noun) > _NOUN:
        return False
    told = [aligned(asked, best.last, find.vocabulary)]
    told += [class_aligned(asked, kind, find.vocabulary) for kind in find.ends_classes(best.ends)]
    return max(float(one.cover[noun].max()) for one in told) < _HINTED


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


def _all_of_a_class(best: Candidate, find: Candidates) -> bool:
    """Whether a reading is all members of a class and nothing else."""
    if best.whole_class:
        return True
    codes = best.relations
    alone = best.shape == "path" and len(codes) == 1 and codes[0] >= find.kg.num_relations
    return alone and bool(find.vocabulary.role(codes[0]))


def _says_more(asked: Asked, best: Candidate) -> bool:
    """Whether words of content are left beside the name of the class that a reading lists.

    Not where all are asked for: "list all the cottages we let".
    """
    if not EVERY.isdisjoint(asked.cues.words.folded):
        return False
    own = {place for mention, _ in best.topics for place in asked.mentions[mention].words}
    for some in asked.classes:
        if some.kind in best.classes:
            own.update(range(some.first, some.last + 1))
    left = set(np.flatnonzero(asked.alignment.content > 0).tolist()) - own - best.explained
    words = {asked.cues.words.folded[place] for place in left}
    return bool(words - IDLE - (LIGHT - {"called", "named"}))


def _written_otherwise(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a phone number is asked for, say, and the answer is not written as one.

    Unless the relation bears the name of what is asked for.
    """
    if best.result or best.wanting or best.last < 0:
        return False
    if aligned(asked, best.last, find.vocabulary).best_lex >= _NAMED:
        return False
    names = [find.kg.name(end) for end in best.ends[:_SOME].tolist()]
    return written_otherwise(_asked_for(asked), names)


def _asked_for(asked: Asked) -> list[str]:
    """Words of what is asked for: "what phone number has", "what is the phone number of", "tell me
    Anna's phone number"."""
    alignment = asked.alignment
    owner = next(
        (
            at
            for at, word in enumerate(alignment.words)
            if word == "s" and at - 1 in alignment.masked
        ),
        None,
    )
    if owner is not None and not alignment.noun:
        return list(
            itertools.takewhile(lambda word: word not in STOP, alignment.words[owner + 1 :])
        )
    if alignment.noun or tuple(alignment.words[:2]) not in _WHAT_IS:
        return alignment.noun
    told = [w for place, w in enumerate(alignment.words) if place not in alignment.masked]
    return list(itertools.takewhile(lambda word: word not in _OF, told[2:]))


def _only_values(best: Candidate, find: Candidates) -> bool:
    """Whether a reading ends in several numbers, or things, and its label says neither sum nor
    average."""
    if len(best.ends) < 2 or best.result or best.last < 0:
        return False
    labels = (split_words(label).folded for label in find.wordings(best.last))
    return all(map(ADDING.isdisjoint, labels))
