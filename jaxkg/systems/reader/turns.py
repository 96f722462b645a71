"""How the steps of a reading are told one after the other, each by words of its own.

A step is close to some words; but a question that names three things in a row asks for three steps,
and one relation that is a little like all three words must not stand for all of them.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from jaxkg.systems.reader.sets.alignment import SPEAKS
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.sets.quick import aligned

NAMES = (
    "turn mean", "turn least", "turn backwards", "turn unexplained", "turn share",
    "there and back", "groups less steps", "groups apart", "steps above groups",
    "groups", "names", "words", "graph has classes", "graph has many relations",
)  # fmt: skip
"""Views of this module, in order."""


def back(asked: Asked, code: int, after: int, find: Candidates) -> bool:
    """Whether a step goes back over the one before, and no words of its own say so.

    "Films that share a director with it" names the relation once, "films directed by its director"
    twice, with words between.
    """
    if abs(code - after) != find.kg.num_relations:
        return False
    said = aligned(asked, code, find.vocabulary).cover >= SPEAKS
    said |= aligned(asked, after, find.vocabulary).cover >= SPEAKS
    return int(np.diff(said, prepend=False).sum() + said[-1:].sum()) < 4


def _merged(asked: Asked, codes: tuple[int, ...], find: Candidates) -> tuple[list[int], int]:
    """Codes with there and back as one step, and how often nothing says that it is back."""
    kept: list[int] = []
    pairs, place, total = 0, 0, find.kg.num_relations
    while place < len(codes):
        kept.append(codes[place])
        if place + 1 < len(codes) and abs(codes[place] - codes[place + 1]) == total:
            pairs += back(asked, codes[place], codes[place + 1], find)
            place += 1
        place += 1
    return kept, pairs


def outwards(first: int, last: int, words: int) -> np.ndarray:
    """[words] places by their distance from a topic; at equal distance what follows it is nearer.

    >>> outwards(1, 1, 4).tolist()
    [1, 2, 0, 3]
    """
    away = [
        (first - place if place < first else place - last if place > last else 0, place < first)
        for place in range(words)
    ]
    return np.array(sorted(range(words), key=lambda place: away[place]), np.intp)


def best_turns(cover: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each step of a row of steps at a word of its own, in the order of the words.

    Args:
        cover: [C, K, W] in [0, 1], how well a word tells a step; the words in order.

    Returns:
        [C] the largest sum and [C] the largest least of the steps; 0 with fewer words than steps.

    >>> total, least = best_turns(np.array([[[0.9, 0.1, 0.0], [0.8, 0.2, 0.5]]]))
    >>> total.round(2).tolist(), least.round(2).tolist()
    ([1.4], [0.5])
    """
    count, steps, words = cover.shape
    if words < steps:
        return np.zeros(count), np.zeros(count)
    total, least = cover[:, 0].copy(), cover[:, 0].copy()
    for step in range(1, steps):
        before = np.full((count, words), -np.inf)
        before[:, 1:] = np.maximum.accumulate(total, axis=1)[:, :-1]
        worst = np.full((count, words), -np.inf)
        worst[:, 1:] = np.maximum.accumulate(least, axis=1)[:, :-1]
        total = before + cover[:, step]
        least = np.minimum(worst, cover[:, step])
    return total.max(axis=1), least.max(axis=1)


def best_parts(gain: np.ndarray) -> np.ndarray:
    """[C] the most that is explained where words, in order, are shared out to steps in turn.

    Args:
        gain: [C, K, W] what a word is explained by a step.

    >>> best_parts(np.array([[[1.0, 0.25], [0.5, 0.75]]])).tolist()
    [1.75]
    """
    told = np.concatenate([np.zeros((*gain.shape[:2], 1)), np.cumsum(gain, axis=2)], axis=2)
    best = told[:, 0]
    for step in range(1, gain.shape[1]):
        best = np.maximum.accumulate(best - told[:, step], axis=1) + told[:, step]
    return best[:, -1]


def turn_views(asked: Asked, found: list[Candidate], find: Candidates) -> np.ndarray:
    """[C, T] float32 views of readings, as `NAMES`."""
    rows = np.zeros((len(found), len(NAMES)), np.float32)
    content = asked.alignment.content
    groups, words, total = asked.alignment.groups, len(content), find.kg.num_relations
    weight = float(content.sum()) or 1.0
    alike: dict[tuple[int, int], list[tuple[int, list[int]]]] = defaultdict(list)
    for place, candidate in enumerate(found):
        legs = candidate.legs or ((-1, candidate.relations),)
        steps = 0
        for mention, codes in legs:
            merged, pairs = _merged(asked, codes, find)
            rows[place, 5] += pairs
            steps += len(merged)
            if merged:
                alike[mention, len(merged)].append((place, merged))
        steps += candidate.measure >= 0
        rows[place, 6:9] = groups - steps, abs(groups - steps), max(0, steps - groups)
    # The same for all readings of a question: the ranker weighs the others by them.
    rows[:, 9] = groups
    rows[:, 10] = len(asked.mentions)
    rows[:, 11] = words / 10
    rows[:, 12] = bool(find.vocabulary.classes)
    rows[:, 13] = np.log10(total)
    seen = np.zeros(len(found), np.int32)
    for (mention, _), some in alike.items():
        first, last = words, words
        if mention >= 0:
            first, last = asked.mentions[mention].first, asked.mentions[mention].last
        order = outwards(first, last, words)
        covers: dict[int, np.ndarray] = {}
        for code in {code for _, codes in some for code in codes}:
            covers[code] = aligned(asked, code, find.vocabulary).cover[order]
        cover = np.stack([np.stack([covers[code] for code in codes]) for _, codes in some])
        summed, least = best_turns(cover)
        against, _ = best_turns(cover[:, :, ::-1])
        told = best_parts(cover * content[order])
        at = np.array([place for place, _ in some])
        fresh = seen[at] == 0
        steps = cover.shape[1]
        rows[at, 0] += summed / steps
        rows[at, 1] = np.where(fresh, least, np.minimum(rows[at, 1], least))
        rows[at, 2] += (summed - against) / steps
        rows[at, 4] += told
        np.add.at(seen, at, 1)
    rows[:, 0] /= np.maximum(seen, 1)
    rows[:, 2] /= np.maximum(seen, 1)
    rows[:, 3] = np.maximum(weight - rows[:, 4], 0)
    rows[:, 4] /= weight
    return np.where(np.isfinite(rows), rows, 0.0)
