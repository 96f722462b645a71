"""How sure a reading is: a logistic line over what is told by the ranking and by the best reading.

Platt, "Probabilistic Outputs for Support Vector Machines", 1999; fitted on graphs and questions
that the ranker was not trained on, unanswerable ones among them.
"""

from __future__ import annotations

import numpy as np

from jaxkg.systems.reader.views import NAMES

_TOLD = (
    "unexplained", "share", "worst word", "share by letters", "least fit", "least lex", "least sem",
    "topic score", "unused names", "loose name", "measure fit", "direction",
)  # fmt: skip
_PLACES = [NAMES.index(name) for name in _TOLD]
CUES = ("bias", "chance", "margin", "readings", *_TOLD)
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
    mine = sum(c for c, answer in zip(chance, answers) if answer == answers[best])
    other = max((c for c, answer in zip(chance, answers) if answer != answers[best]), default=0.0)
    told = views[best, _PLACES]
    head = [1.0, float(mine), float(mine - other), np.log1p(len(scores)) / 5]
    return np.concatenate([np.array(head, np.float32), told.astype(np.float32)])


def confidence(line: np.ndarray, cues: np.ndarray) -> float:
    """Chance in [0, 1] that the best reading is right.

    >>> confidence(np.zeros(len(CUES)), np.ones(len(CUES)))
    0.5
    """
    return float(1 / (1 + np.exp(-float(line @ cues))))
