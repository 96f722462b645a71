"""Adapts shipped weights to one graph, by questions that its users ask.

Little is learned of twenty questions, and little is left to learn: a change of the line of the
ranker and a recalibration of the
confidence (Platt 1999), both held to what they were. What was learned is judged on questions that
it was not learned from, each part of them held out once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from jaxkg.kg import KnowledgeGraph
from jaxkg.storage import digest_of
from jaxkg.systems.reader.confidence import CUES, recalibrated
from jaxkg.systems.reader.rank import rank_on_host
from jaxkg.systems.reader.sets.candidate import Candidate
from jaxkg.systems.reader.system import Reader
from jaxkg.systems.reader.training.examples import right_readings
from jaxkg.systems.reader.training.maker import Asked
from jaxkg.systems.reader.views import Seen
from jaxkg.systems.reader.weights import ReaderWeights

LEAST = 12
"""Own questions, fewer of which tell nothing."""
PARTS = 4
"""Parts of the own questions, each held out once."""
_HELD = 3.0
"""How strongly the line of the ranker is held to where it starts."""
_SURE = 0.3
"""How strongly slope and bias of the confidence are held to 1 and 0."""


@dataclasses.dataclass(frozen=True)
class Marked:
    """A question that was looked at, and which of its C readings are right.

    Attributes:
        seen: the readings.
        right: [C] bool; none where the graph has no answer, or no reading finds it.
    """

    seen: Seen
    right: np.ndarray


def marked(reader: Reader, asked: Sequence[Asked]) -> list[Marked]:
    """Look at questions with answers."""
    found = []
    for one in asked:
        seen = reader.look(one.text)
        found.append(Marked(seen, _right(reader.kg, one, seen.found)))
    return found


def _right(kg: KnowledgeGraph, asked: Asked, found: Sequence[Candidate]) -> np.ndarray:
    """[C] bool, by ids; by names where that finds none."""
    right = right_readings(kg, asked, found)
    if not right.any() and asked.answers:
        names = [{kg.name(end) for end in c.ends.tolist()} for c in found]
        right = np.array([not c.result and n == asked.answers for c, n in zip(found, names)], bool)
    return right


def adapt_reader(
    reader: Reader, own: Sequence[Marked], made: Sequence[Marked] = ()
) -> tuple[ReaderWeights, tuple[int, int], tuple[int, int]]:
    """Weights adapted as `adapted` does, and how they are judged.

    Returns:
        the weights, and how many own questions are answered right and wrong by those to start from,
        and by what was learned without the part that a question is in.
    """
    weights = adapted(reader, own, made).weights
    before, after = counted(told_of(reader, own)), counted(held_out(reader, own, made))
    digest = digest_of([weights.params["line"], weights.confidence["line"]])
    told = {"right, wrong before": before, "right, wrong after, held out": after}
    about = {**weights.about, **told, "version": f"{weights.version}+{digest[:8]}"}
    return dataclasses.replace(weights, about=about), before, after


def better(after: tuple[int, int], before: tuple[int, int]) -> bool:
    """Whether more is right, less what is wrong."""
    return after[0] - after[1] > before[0] - before[1]


def told_of(reader: Reader, questions: Sequence[Marked]) -> np.ndarray:
    """[Q, 2] bool: whether the best reading is right, and whether it is given as the answer."""
    told = []
    for one in questions:
        understood = reader.understood(_ranked(reader, one.seen))
        best = understood.readings[0].candidate if understood.readings else None
        place = next((n for n, c in enumerate(one.seen.found) if c is best), -1)
        told.append((place >= 0 and bool(one.right[place]), understood.sure))
    return np.array(told, bool).reshape(-1, 2)


def counted(told: np.ndarray) -> tuple[int, int]:
    """How many are answered right and how many wrong, of `told_of`."""
    return int((told[:, 0] & told[:, 1]).sum()), int((~told[:, 0] & told[:, 1]).sum())


def adapted(reader: Reader, own: Sequence[Marked], made: Sequence[Marked] = ()) -> Reader:
    """A reader with weights adapted to questions; the confidence by the own ones alone.

    Args:
        reader: with the weights to start from.
        own: questions of users.
        made: questions made of the graph.
    """
    ranked = _reader(reader, _line(reader, [*own, *made]))
    if not own:
        return ranked
    # How sure to be is learned where the line was not: else it would be too sure.
    cues, right = [], []
    for part in range(PARTS):
        rest = [one for n, one in enumerate(own) if n % PARTS != part]
        held = own[part::PARTS]
        other = _reader(reader, _line(reader, [*rest, *made]))
        for one, (fine, _) in zip(held, told_of(other, held)):
            if (told := other.understood(_ranked(other, one.seen)).cues) is not None:
                cues.append(told)
                right.append(fine)
    sure = reader.weights.confidence
    logits = rank_on_host(sure, np.array(cues, np.float32).reshape(-1, len(CUES)))
    surer = recalibrated(sure, *_platt(logits, np.array(right, bool)))
    return _reader(reader, dataclasses.replace(ranked.weights, confidence=surer))


def held_out(reader: Reader, own: Sequence[Marked], made: Sequence[Marked] = ()) -> np.ndarray:
    """[Q, 2] as `told_of`: every own question asked of what was learned without its part."""
    told = np.zeros((len(own), 2), bool)
    for part in range(PARTS):
        rest = [one for n, one in enumerate(own) if n % PARTS != part]
        told[part::PARTS] = told_of(adapted(reader, rest, made), own[part::PARTS])
    return told


def _reader(reader: Reader, weights: ReaderWeights) -> Reader:
    return Reader(reader.readings, weights, reader.settings, reader.advice)


def _ranked(reader: Reader, seen: Seen) -> Seen:
    """What was looked at, ranked by a reader's own weights: others may have looked."""
    return dataclasses.replace(
        seen, scores=rank_on_host(reader.weights.params, reader.standard(seen.views))
    )


def _line(reader: Reader, questions: Sequence[Marked]) -> ReaderWeights:
    """Weights whose ranker is moved to the questions' right readings."""
    some = [one for one in questions if one.right.any()]
    if not some:
        return reader.weights
    views = np.concatenate([reader.standard(one.seen.views) for one in some]).astype(np.float64)
    start = np.concatenate([one.seen.scores for one in some]).astype(np.float64)
    right = np.concatenate([one.right for one in some])
    first = np.cumsum([0, *(len(one.right) for one in some)])[:-1]
    of = np.repeat(np.arange(len(some)), np.diff([*first, len(right)]))

    def loss(change: np.ndarray) -> tuple[float, np.ndarray]:
        scores = start + views @ change
        scores = scores - np.maximum.reduceat(scores, first)[of]
        share = np.exp(scores)
        good = np.where(right, share, 0.0)
        whole, best = np.add.reduceat(share, first), np.add.reduceat(good, first) + 1e-300
        slope = views.T @ (share / whole[of] - good / best[of])
        value = float(np.log(whole / best).sum()) / len(some) + _HELD * float(change @ change)
        return value, slope / len(some) + 2 * _HELD * change

    change = minimize(loss, np.zeros(views.shape[1]), jac=True, method="L-BFGS-B").x
    before = reader.weights.params
    params = {**before, "line": before["line"] + change.astype(np.float32)}
    return dataclasses.replace(reader.weights, params=params)


def _platt(logits: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Slope and bias that make logits tell how often they are right."""

    def loss(by: np.ndarray) -> float:
        moved = by[0] * logits + by[1]
        cross = np.logaddexp(0, np.where(right, -moved, moved))
        return float(cross.mean()) + _SURE * float((by[0] - 1) ** 2 + by[1] ** 2)

    if not len(logits):
        return 1.0, 0.0
    slope, bias = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B").x
    return float(slope), float(bias)
