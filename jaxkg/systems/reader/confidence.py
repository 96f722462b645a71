"""How sure a reading is: a logistic line over what is told by the ranking and by the best reading,
and what no reading may leave out.

Platt, "Probabilistic Outputs for Support Vector Machines", 1999; fitted on graphs and questions
that the ranker was not trained on, unanswerable ones among them.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from jaxkg.kg.link.folding import split_words
from jaxkg.systems.reader.language.lexicon.cue_words import ADDING
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.views import NAMES

_TOLD = (
    "unexplained", "share", "worst word", "share by letters", "least fit", "least lex", "least sem",
    "topic score", "unused names", "loose name", "measure fit", "direction", "turn least",
    "turn mean", "turn unexplained", "turn backwards", "groups less steps", "groups apart",
    "groups", "names", "graph has classes", "graph has many relations", "one step", "two steps",
    "three steps", "mean whole", "noun fit", "log size", "answers itself", "there and back",
    "named aside", "named aside by letters", "both missed", "asked class missed",
    "graded missed", "class named", "wanting", "linked in all", "linked least", "linked ahead",
    "linked missed", "linked best", "linked spread",
)  # fmt: skip
_PLACES = [NAMES.index(name) for name in _TOLD]
_RANKING = ("bias", "chance", "margin", "readings", "looks agree", "spread of chance", "crowd")
_WHOLE = ("phrase sem", "sequence sem", "phrase adapted", "sequence adapted", "adapted margin")
CUES = (*_RANKING, *_WHOLE, *_TOLD)
"""What the line reads, in order."""


def confidence_cues(
    scores: np.ndarray,
    answers: list[object],
    views: np.ndarray,
    first: np.ndarray | None = None,
    whole: np.ndarray | None = None,
) -> np.ndarray:
    """What the line reads of a question.

    Args:
        scores: [C] of its readings.
        answers: C, alike where two readings answer the same.
        views: [C, F], as they are, not standardised.
        first: [C] scores of the first look, where there was a second.
        whole: [C, 6] of `whole_views`; None without a second look.

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
    agrees = first is None or answers[int(np.argmax(first))] == answers[best]
    crowd = float(np.log1p((shares > 0.02).sum()))
    ranking = [1.0, mine, mine - other, np.log1p(len(scores)) / 5, float(agrees), entropy, crowd]
    alike = [0.0] * len(_WHOLE)
    if whole is not None:
        others = [whole[c, 2:4].sum() for c in range(len(scores)) if answers[c] != answers[best]]
        ahead = float(whole[best, 2:4].sum() - max(others, default=0.0))
        alike = [*whole[best, :4].tolist(), ahead]
    told = views[best, _PLACES]
    return np.concatenate([np.array([*ranking, *alike], np.float32), told.astype(np.float32)])


def confidence(line: np.ndarray, cues: np.ndarray) -> float:
    """Chance in [0, 1] that the best reading is right.

    >>> confidence(np.zeros(len(CUES)), np.ones(len(CUES)))
    0.5
    """
    return float(1 / (1 + np.exp(-float(line @ cues))))


def contradicted(asked: Asked, best: Candidate, find: Candidates) -> bool:
    """Whether a reading, however likely, leaves out what the question says beyond doubt.

    A plain question of yes or no that it answers by names; a "not" that it takes no account of; a
    sum or an average that it has the values of alone; a relation that the words exclude, see
    `Alignment.rules_out`.
    """
    cues = asked.cues
    if cues.plainly and best.result not in ("yes", "no"):
        return True
    if cues.denies and best.shape in ("path", "class", "join") and not best.wanting:
        return True
    if cues.adds_up and _only_values(best, find):
        return True
    return any(asked.alignment.rules_out(find.wordings(code)) for code in best.relations)


def _only_values(best: Candidate, find: Candidates) -> bool:
    """Whether a reading ends in several numbers whose label says neither sum nor average."""
    several = len(best.ends) > 1 and not best.result
    if not several or best.last < 0 or find.vocabulary.ends_kind(best.last) != "number":
        return False
    labels = (split_words(label).folded for label in find.wordings(best.last))
    return all(map(ADDING.isdisjoint, labels))
