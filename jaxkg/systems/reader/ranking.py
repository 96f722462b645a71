"""The ranker of readings, and how sure its best one is: each a line and a small perceptron.

The ranker is over the views of a reading; the confidence over what the ranking and the best
reading tell. A logistic line over fewer cues (Platt, "Probabilistic Outputs for Support Vector
Machines", 1999) is the confidence that weights before 2026.11-16 have. Fitted by
`scripts/reader/training`, the confidence on graphs and questions that the ranker was not trained
on, unanswerable ones among them; one question's readings are too few to compile a program for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from jaxkg.readings.pair import PARTS
from jaxkg.systems.reader.views import NAMES

_RANKING = ("bias", "chance", "margin", "readings", "spread of chance", "crowd", "lead")
_SENTENCE = (*(f"sentence {part}" for part in PARTS), "no sentence")
CUES = (*_RANKING, *NAMES, *_SENTENCE)
"""What the confidence reads, in order."""


def rank_on_host(params: Mapping[str, np.ndarray], views: np.ndarray) -> np.ndarray:
    """Scores of readings, as `training.fit.rank` of `scripts/reader`, in numpy.

    Args:
        params: arrays of `init_ranker`, as numpy.
        views: [..., F] float32, standardised.

    Returns:
        [...] float32.
    """
    hidden = np.tanh(views @ params["inner"] + params["bias"])
    return views @ params["line"] + hidden @ params["outer"]


def confidence_cues(
    scores: np.ndarray,
    answers: Sequence[object],
    views: np.ndarray,
    sentence: np.ndarray | None = None,
) -> np.ndarray:
    """What the confidence reads of a question.

    Args:
        scores: [C] of its readings.
        answers: C, alike where two readings answer the same.
        views: [C, F], as they are, not standardised.
        sentence: [P] of the best reading, see `pair_parts`; None where no sentence was compared.

    Returns:
        [K] float32, as `CUES`; the lead is how far the best score is above that of the best
        reading with another answer, 0 where there is none.
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
    behind = [score for score, answer in zip(scores, answers) if answer != answers[best]]
    lead = float(scores[best] - max(behind)) if behind else 0.0
    ranking = [1.0, mine, mine - other, np.log1p(len(scores)) / 5, entropy, crowd, lead]
    said = [*np.zeros(len(PARTS)), 1.0] if sentence is None else [*sentence, 0.0]
    return np.concatenate([ranking, views[best], said]).astype(np.float32)


def confidence(params: Mapping[str, np.ndarray], cues: np.ndarray) -> np.ndarray:
    """Chances in [0, 1] that the best readings are right.

    Args:
        params: of `rank_on_host`.
        cues: [..., K] float32.

    Returns:
        [...] float32.

    >>> sizes = dict(line=3, inner=(3, 2), bias=2, outer=2)
    >>> params = {name: np.zeros(size) for name, size in sizes.items()}
    >>> confidence(params, np.ones((2, 3))).tolist()
    [0.5, 0.5]
    """
    return 1 / (1 + np.exp(-np.clip(rank_on_host(params, cues), -80, 80)))
