"""Who to look at more closely: readings by the words that they explain, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.sets.alignment import Aligned
from jaxkg.systems.reader.sets.candidate import Asked, Candidate

_LOOSE = 0.9
"""What a class explains that a reading comes to, or walks through, without naming it."""


def aligned(asked: Asked, code: int, vocabulary: Vocabulary) -> Aligned:
    """A relation code against the words of a question."""
    known = asked.alignment.relations
    if code not in known:
        known[code] = asked.alignment.of(vocabulary.wordings(code))
    return known[code]


def class_aligned(asked: Asked, kind: int, vocabulary: Vocabulary) -> Aligned:
    """A class against the words of a question."""
    known = asked.alignment.classes
    if kind not in known:
        known[kind] = asked.alignment.of(vocabulary.class_words(kind))
    return known[kind]


def elements(
    asked: Asked, candidate: Candidate, kinds: Sequence[int], vocabulary: Vocabulary
) -> tuple[list[Aligned], list[Aligned], list[Aligned]]:
    """What a reading is made of, against the words of a question.

    Args:
        asked: the question.
        candidate: the reading.
        kinds: classes of what it leads to.
        vocabulary: of the graph.

    Returns:
        relations it walks or measures by, classes it names, classes it comes to or walks through.
    """
    measure = (candidate.measure,) if candidate.measure >= 0 else ()
    steps = [aligned(asked, code, vocabulary) for code in (*candidate.relations, *measure)]
    named = [class_aligned(asked, kind, vocabulary) for kind in candidate.classes]
    loose = [class_aligned(asked, kind, vocabulary) for kind in (*kinds, *candidate.between)]
    return steps, named, loose


def quick_scores(
    asked: Asked,
    found: Sequence[Candidate],
    kinds: Sequence[tuple[int, ...]],
    vocabulary: Vocabulary,
) -> np.ndarray:
    """Words explained, less a price for every step.

    Args:
        asked: the question.
        found: C readings, one at least.
        kinds: of each the classes of what it leads to.
        vocabulary: of the graph.

    Returns:
        [C] float64.
    """
    content = asked.alignment.content
    nothing = np.zeros(len(content), np.float32)
    covers: list[np.ndarray] = []
    weights: list[float] = []
    starts, prices = [], np.zeros(len(found))
    for place, (candidate, ends) in enumerate(zip(found, kinds, strict=True)):
        steps, named, loose = elements(asked, candidate, ends, vocabulary)
        # A row of zeros before its own, so that no reading is without one.
        starts.append(len(covers))
        covers += [nothing, *(one.cover for one in (*steps, *named, *loose))]
        weights += [1.0] * (1 + len(steps) + len(named)) + [_LOOSE] * len(loose)
        price = 0.0
        for step in steps:
            price += 0.45 - 0.15 * step.likeness
        for _ in named:
            price += 0.15
        prices[place] = price - 0.35 * candidate.through
    weighed = np.stack(covers) * np.array(weights, np.float32)[:, None]
    cover = np.maximum.reduceat(weighed, starts, axis=0)
    for place, candidate in enumerate(found):
        if candidate.explained:
            cover[place, list(candidate.explained)] = 1.0
    topics = {candidate.topics: 0.0 for candidate in found}
    for some in topics:
        topics[some] = sum(
            asked.mentions[m].options[o].score * (0.6 + 0.4 * len(asked.mentions[m].words))
            for m, o in some
        )
    said = np.array([topics[candidate.topics] for candidate in found])
    fit = np.array([candidate.fit for candidate in found])
    explained = (cover * content).sum(axis=1).astype(np.float64)
    return explained - prices + said + 0.5 * fit
