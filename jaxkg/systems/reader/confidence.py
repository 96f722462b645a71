"""How sure a reading is: a logistic line over what is told by the ranking and by the best reading.

Platt, "Probabilistic Outputs for Support Vector Machines", 1999; fitted on graphs and questions
that the ranker was not trained on, unanswerable ones among them.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

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
