"""A second look at the best readings: each as a whole in words, against the whole question.

Two linear maps, of questions and of wordings, bring out of frozen sentence vectors what tells the
meaning of a relation path; they start as one projection onto the main directions of the texts, so
that nothing is lost before anything is learned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from jaxkg.systems.reader.rank import rank_on_host
from jaxkg.systems.reader.sets.candidate import Asked, Candidate
from jaxkg.systems.reader.sets.candidates import Candidates
from jaxkg.systems.reader.views import NAMES as FIRST
from jaxkg.systems.reader.wording import told

LOOKED = 10
"""Readings that are looked at again."""
NAMES = (
    "first score", "phrase sem", "sequence sem", "phrase adapted", "sequence adapted",
    "phrase words", "sequence words", *FIRST,
)  # fmt: skip
"""Views of the second look, in order."""


@dataclasses.dataclass(frozen=True)
class SecondLook:
    """A trained second look.

    Attributes:
        params: of `jaxkg.systems.reader.rank`, over `NAMES`.
        mean, scale: [F] the views are standardised by.
        ask, tell: [D, E] maps of questions and of wordings; [D, 0] where none was trained.
    """

    params: Mapping[str, np.ndarray]
    mean: np.ndarray
    scale: np.ndarray
    ask: np.ndarray
    tell: np.ndarray

    def look(
        self,
        asked: Asked,
        found: list[Candidate],
        find: Candidates,
        views: np.ndarray,
        first: np.ndarray,
        kept: np.ndarray,
    ) -> Looked:
        """Look at the best readings again.

        Args:
            asked: the question.
            found: C readings.
            find: what found them.
            views: [C, F] of the first look.
            first: [C] scores of the first look.
            kept: [F] bool, views that an ablation leaves.
        """
        best = np.argsort(-first, kind="stable")[:LOOKED]
        vectors = asked.alignment.vectors
        question = asked.alignment.masked_text()
        texts = [text for place in best for text in told(found[place], find)]
        vector = vectors([question])[0]
        wordings = vectors(texts).reshape(len(best), -1, vector.shape[0])
        own = whole_views(vector, wordings, question, texts, self.ask, self.tell)
        seen = second_views(own, views[best] * kept, first[best])
        whole = np.zeros((len(found), own.shape[1]), np.float32)
        whole[best] = own
        return Looked(best, (seen - self.mean) * self.scale, whole)

    def scores(self, looked: Looked, first: np.ndarray) -> np.ndarray:
        """[C] float32 scores of readings: those looked at again stand before the others."""
        again = rank_on_host(self.params, looked.seen)
        least = looked.best[-1]
        scores = again.min() + first - first[least]
        scores[looked.best] = again
        return scores.astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Looked:
    """What a second look has seen of one question's C readings.

    Attributes:
        best: [K] readings that were looked at again, the best of the first look first.
        seen: [K, F] float32, their views as `NAMES`, standardised.
        whole: [C, 6] float32 how alike the question and each is as a whole, 0 for the others.
    """

    best: np.ndarray
    seen: np.ndarray
    whole: np.ndarray


def second_views(whole: np.ndarray, views: np.ndarray, first: np.ndarray) -> np.ndarray:
    """[C, F] as `NAMES`: scores of the first look less the best, views of the whole, all others."""
    return np.concatenate([(first - first.max())[:, None], whole, views], axis=1)


def whole_views(
    question: np.ndarray,
    wordings: np.ndarray,
    asked: str,
    texts: list[str],
    ask: np.ndarray,
    tell: np.ndarray,
) -> np.ndarray:
    """How alike a question and readings told in words are.

    Args:
        question: [D] float32.
        wordings: [C, 2, D] float32.
        asked: the question.
        texts: C times 2 wordings.
        ask, tell: see `SecondLook`.

    Returns:
        [C, 6] float32: cosines, cosines of what is mapped, shares of words told and asked.
    """
    count = len(wordings)
    views = np.zeros((count, 6), np.float32)
    if question.shape[0]:
        views[:, :2] = wordings @ question
        if ask.shape[1]:
            views[:, 2:4] = unit(wordings @ tell) @ unit(question @ ask)
    words = set(asked.split())
    for place, text in enumerate(texts):
        own = set(text.replace(",", "").replace(";", "").split())
        views[place // 2, 4 + place % 2] = len(words & own) / max(1, len(words | own))
    return views


def unit(vectors: np.ndarray) -> np.ndarray:
    """[..., D] of length 1; zeros stay."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
