"""Which relations a question asks for, told from the whole of it.

A phrase is close to a label by what both mean alone: "who do we buy it off" has none that is close
to "supplied by". So question and labels go through an encoder that was tuned on what people ask and
which relations answer it (in `scripts/reader/training`), each relation once as it is walked from
head to tail and once backwards, and all of a graph's relations share out one chance.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from jaxkg.kg.neighbourhood import distinct
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.vectors import TextVectors

NAMES = (
    "linked in all", "linked either way", "linked least", "linked log", "linked sem",
    "linked least sem", "linked ahead", "linked missed", "linked best", "linked spread",
)  # fmt: skip
"""Views of this module, in order."""

BACKWARDS = "what has "
"""Stands before the label of a relation that is walked from tail to head."""

SHARP = 20.0
"""What a cosine counts, in logits."""

_WHOLE = 500
"""Relations of a graph up to which all share out the chance; else those of the readings alone."""
_LEAST = 1e-4


class RelationLinking:
    """Chances of a graph's relations to be what a question asks for.

    Args:
        vectors: of texts, by the tuned encoder.
        wordings: of each of R relations.
        ordinary: [R] bool, relations that are asked for; the others tell names and sorts.
    """

    def __init__(
        self, vectors: TextVectors, wordings: Sequence[tuple[str, ...]], ordinary: np.ndarray
    ) -> None:
        self.vectors = vectors
        self._wordings = wordings
        self._every = np.flatnonzero(ordinary)

    def texts(self, relations: np.ndarray) -> list[str]:
        """What is encoded of relations: all wordings of each, ahead and backwards."""
        return [
            start + wording
            for relation in relations.tolist()
            for start in ("", BACKWARDS)
            for wording in self._wordings[relation]
        ]

    def cosines(self, question: str, relations: np.ndarray) -> np.ndarray:
        """[N, 2] float32 of relations ahead and backwards, the best of their wordings.

        Args:
            question: names masked.
            relations: [N] int.
        """
        if not len(relations):
            return np.zeros((0, 2), np.float32)
        told = self._table if relations is self._every else self.vectors(self.texts(relations))
        counts = np.repeat([len(self._wordings[r]) for r in relations.tolist()], 2)
        best = np.maximum.reduceat(told @ self.vectors([question])[0], np.cumsum(counts) - counts)
        return best.reshape(-1, 2)

    @functools.cached_property
    def _table(self) -> np.ndarray:
        return self.vectors(self.texts(self._every))

    def among(self, found: Sequence[Candidate]) -> np.ndarray:
        """[N] relations that share out the chance of a question with these readings."""
        if len(self._every) <= _WHOLE:
            return self._every
        count = len(self._wordings)
        used = {code % count for one in found for code in _codes(one)}
        return np.intersect1d(np.fromiter(used, np.intp, len(used)), self._every)


def _codes(candidate: Candidate) -> list[int]:
    """What a reading walks, what it compares by included."""
    return [code for code in (*candidate.relations, candidate.measure) if code >= 0]


def linking_views(
    asked: Asked, found: list[Candidate], find: Candidates, linking: RelationLinking | None
) -> np.ndarray:
    """Views of how surely a question asks for the relations of its readings.

    Args:
        asked: the question.
        found: C readings.
        find: what found them.
        linking: None, or without an encoder, leaves all 0.

    Returns:
        [C, L] float32 as `NAMES`.
    """
    rows = np.zeros((len(found), len(NAMES)), np.float32)
    if linking is None or linking.vectors.encoder is None:
        return rows
    total = find.kg.num_relations
    among = linking.among(found)
    cosines = linking.cosines(asked.alignment.masked_text(), among).astype(np.float64)
    chances = chances_of(cosines)
    either = chances.sum(axis=1)
    likeliest = np.argsort(-either, kind="stable")
    rows[:, 8] = either.max(initial=0.0)
    rows[:, 9] = -(either * np.log(either + _LEAST)).sum()
    place = np.full(total, -1)
    place[among] = np.arange(len(among))
    codes = [_codes(candidate) for candidate in found]
    flat = np.array([code for some in codes for code in some], np.int64)
    owner = np.repeat(np.arange(len(found)), [len(some) for some in codes])
    told = place[flat % total] >= 0
    owner, at, way = owner[told], place[flat[told] % total], flat[told] // total
    # Of each reading each relation once, the likeliest first.
    rank = np.empty_like(likeliest)
    rank[likeliest] = np.arange(len(likeliest))
    once, first = np.divmod(distinct(owner * (len(among) + 1) + rank[at]), len(among) + 1)
    starts, count = _starts(once, len(found))
    # That n of them are the n likeliest ends where one is left out.
    unbroken = first == np.arange(len(first)) - starts[once]
    missed = np.bincount(once[unbroken], minlength=len(found))
    rows[:, 7] = np.append(either[likeliest], 0.0)[missed]
    walked = count > 0
    if not walked.any():
        return rows
    cosine, chance = cosines[at, way], chances[at, way]
    share = either[likeliest[first]]
    begins, steps = _starts(owner, len(found))
    begins, starts, steps = begins[walked], starts[walked], steps[walked]
    least = np.minimum.reduceat(share, starts)
    ahead = chance / np.maximum(either[at], _LEAST)
    rows[walked, :7] = np.stack(
        [
            np.minimum(1.0, np.add.reduceat(chance, begins)),
            np.add.reduceat(share, starts),
            least,
            np.log(least + _LEAST),
            np.add.reduceat(cosine, begins) / steps,
            np.minimum(1.0, np.minimum.reduceat(cosine, begins)),
            np.add.reduceat(ahead, begins) / steps,
        ],
        axis=1,
    )
    return rows


def _starts(owners: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray]:
    """Where those of each owner start among ascending owners, and how many they are."""
    counts = np.bincount(owners, minlength=total)
    return np.cumsum(counts) - counts, counts


def chances_of(cosines: np.ndarray) -> np.ndarray:
    """[N, 2] chances of relations ahead and backwards, 1 in all.

    >>> chances_of(np.array([[0.5, 0.5], [-0.5, -0.5]], np.float32)).round(2).tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    if not cosines.size:
        return cosines
    raised = np.exp(SHARP * (cosines - cosines.max()))
    return raised / raised.sum()
