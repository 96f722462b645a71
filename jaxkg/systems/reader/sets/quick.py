"""Who to look at more closely: readings by the words that they explain, all of them at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.deadline import check
from jaxkg.systems.reader.language.vocabulary import Vocabulary
from jaxkg.systems.reader.sets.alignment import Aligned
from jaxkg.systems.reader.sets.candidate import Asked, Candidate

_NUMBERS = 2_000_000
"""Numbers of words and elements that are held at once."""
_ELEMENTS = 8
"""Elements of a reading, about."""
_LOOSE = 0.9
"""What a class explains that a reading comes to, or walks through, without naming it."""
_CLASS, _NAMELESS = 0.15, 0.35
"""The price of a class, and what a node without a name takes off that of the steps around it."""


@dataclasses.dataclass(frozen=True)
class Further:
    """What S paths come to that are one relation longer than P others.

    Attributes:
        path: [S] int64, places of the paths that they go on from; ascending.
        code: [S] int64, relation codes; ascending where they go on from the same path.
        start, size: [S] int64, where in `ends` theirs begin and how many they are, 1 at least.
        ends: [E] int64, those of each ascending.
        home: [S] bool, whether they end where they started.
    """

    path: np.ndarray
    code: np.ndarray
    start: np.ndarray
    size: np.ndarray
    ends: np.ndarray
    home: np.ndarray

    def __len__(self) -> int:
        return len(self.code)

    @property
    def first(self) -> np.ndarray:
        """[S] the first of each one's ends."""
        return self.ends[self.start]

    def ends_of(self, place: int) -> np.ndarray:
        """The ends of one of them."""
        return self.ends[self.start[place] : self.start[place] + self.size[place]]

    def some(self, kept: np.ndarray) -> Further:
        """Those of a mask [S] bool, with the ends of all."""
        path, code, start, size, home = (
            each[kept] for each in (self.path, self.code, self.start, self.size, self.home)
        )
        return Further(path, code, start, size, self.ends, home)

    def but(self, ends: np.ndarray) -> Further:
        """Without these ends; those that come to nothing else come home, with all of theirs.

        Of all that their ends are of, see `some`.
        """
        left = self.ends != ends[0] if len(ends) == 1 else ~np.isin(self.ends, ends)
        if left.all():
            return self
        home = ~np.logical_or.reduceat(left, self.start)
        left |= np.repeat(home, self.size)
        size = np.add.reduceat(left, self.start, dtype=np.int64)
        return Further(self.path, self.code, np.cumsum(size) - size, size, self.ends[left], home)


def joined(parts: Sequence[Further]) -> Further:
    """Several, end to end; one at least."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.ends) for part in parts)])
    return Further(
        np.concatenate([part.path for part in parts]),
        np.concatenate([part.code for part in parts]),
        np.concatenate([part.start + offset for part, offset in zip(parts, before)]),
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.home for part in parts]),
    )


def aligned(asked: Asked, code: int, vocabulary: Vocabulary) -> Aligned:
    """A relation code against the words of a question."""
    return asked.alignment.of(vocabulary.wordings(code))


def class_aligned(asked: Asked, kind: int, vocabulary: Vocabulary) -> Aligned:
    """A class against the words of a question."""
    return asked.alignment.of(vocabulary.class_words(kind))


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
    held = max(1, _NUMBERS // (_ELEMENTS * max(1, len(asked.alignment.content))))
    parts = [slice(first, first + held) for first in range(0, len(found), held)]
    return np.concatenate([_scores(asked, found[p], kinds[p], vocabulary) for p in parts])


def _scores(
    asked: Asked,
    found: Sequence[Candidate],
    kinds: Sequence[tuple[int, ...]],
    vocabulary: Vocabulary,
) -> np.ndarray:
    """`quick_scores` of as many as are held at once."""
    check()
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
        prices[place] = _price(steps) + _CLASS * len(named) - _NAMELESS * candidate.through
    weighed = np.stack(covers) * np.array(weights, np.float32)[:, None]
    cover = np.maximum.reduceat(weighed, starts, axis=0)
    for place, candidate in enumerate(found):
        if candidate.explained:
            cover[place, list(candidate.explained)] = 1.0
    topics = {some: _said(asked, some) for some in {candidate.topics for candidate in found}}
    said = np.array([topics[candidate.topics] for candidate in found])
    fit = np.array([candidate.fit for candidate in found])
    explained = (cover * content).sum(axis=1).astype(np.float64)
    return explained - prices + said + 0.5 * fit


def _price(steps: Sequence[Aligned]) -> float:
    """Of steps, less where they are told."""
    return sum(0.45 - 0.15 * step.likeness for step in steps)


def _said(asked: Asked, topics: Sequence[tuple[int, int]]) -> float:
    """How surely topics are named, and by how many words."""
    return sum(
        asked.mentions[m].options[o].score * (0.6 + 0.4 * len(asked.mentions[m].words))
        for m, o in topics
    )


def _cover(told: Sequence[Aligned], loose: Sequence[Aligned], content: np.ndarray) -> np.ndarray:
    """[words] explained by any of them."""
    cover = np.zeros(len(content), np.float32)
    for one in told:
        np.maximum(cover, one.cover, out=cover)
    for one in loose:
        np.maximum(cover, np.float32(_LOOSE) * one.cover, out=cover)
    return cover


def further_scores(
    asked: Asked,
    paths: Sequence[Candidate],
    further: Further,
    kinds: Sequence[tuple[int, ...]],
    kinds_at: np.ndarray,
    vocabulary: Vocabulary,
) -> np.ndarray:
    """`quick_scores` of paths that are one relation longer than others.

    Args:
        asked: the question.
        paths: P paths from one start, classes of what they come to among those that they walk
            through, and the nodes without a name.
        further: S that go on from them.
        kinds: classes of what some lead to.
        kinds_at: [S] which of these each leads to.
        vocabulary: of the graph.

    Returns:
        [S] float64.
    """
    content = asked.alignment.content
    before, others = np.zeros((2, len(paths)))
    base = np.zeros((len(paths), len(content)), np.float32)
    for place, path in enumerate(paths):
        steps, named, loose = elements(asked, path, (), vocabulary)
        base[place] = _cover([*steps, *named], loose, content)
        count = len(path.relations)
        before[place] = _price(steps[:count])
        others[place] = _price(steps[count:]) + _CLASS * len(named) - _NAMELESS * path.through
    codes, code_at = np.unique(further.code, return_inverse=True)
    told = [aligned(asked, code, vocabulary) for code in codes.tolist()]
    prices = before[further.path] + np.array([_price([one]) for one in told])[code_at]
    covers = np.stack([one.cover for one in told])
    ends = [[class_aligned(asked, kind, vocabulary) for kind in some] for some in kinds]
    covered = np.stack([_cover([], some, content) for some in ends])
    start = paths[0]
    explained = np.zeros(len(further))
    held = max(1, _NUMBERS // max(1, len(content)))
    for first in range(0, len(further), held):
        check()
        some = slice(first, first + held)
        cover = np.maximum(base[further.path[some]], covers[code_at[some]])
        np.maximum(cover, covered[kinds_at[some]], out=cover)
        cover[:, list(start.explained)] = 1.0
        explained[some] = (cover * content).sum(axis=1)
    prices += others[further.path]
    return explained - prices + (_said(asked, start.topics) + 0.5 * start.fit)
