"""Vectors of the short texts that a reader compares: phrases, labels, whole questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from jaxkg.limits import LIMITS
from jaxkg.systems.reader.language.lexicon.german import in_english
from jaxkg.text import TextEncoder
from jaxkg.text.encoder import Change, encoder_changed

_KEPT = 20_000
"""Texts whose vectors are kept at least, 30 MB of MiniLM's; those asked for last."""

_Make = Callable[[list[str]], np.ndarray]


class TextVectors:
    """Vectors of short texts, German words of them in English; who is asked for days forgets those
    that nobody asked for since.

    Args:
        encoder: of texts; None for letters alone.
        maps: [D, E] of phrases of a question and [D, E] of labels of a graph; their cosines then
            tell whether a phrase speaks of a label. Without them the vectors are as they are.
        kept: texts that are remembered at least.
    """

    def __init__(
        self,
        encoder: TextEncoder | None,
        maps: tuple[np.ndarray, np.ndarray] | None = None,
        *,
        kept: int = _KEPT,
    ) -> None:
        self.encoder = encoder
        self._maps = maps
        self._encoded = RecentVectors(self._encode, kept)
        self._told = RecentVectors(self._map_labels, kept)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """[T, D] float32; [T, 0] without an encoder."""
        if self.encoder is None:
            return np.zeros((len(texts), 0), np.float32)
        if not len(texts):
            return np.zeros((0, self.encoder.dimension), np.float32)
        return np.stack(self._encoded.of(texts))

    def asked(self, phrases: np.ndarray) -> np.ndarray:
        """[P, E] vectors of phrases of a question, to compare with those of `told`."""
        return phrases if self._maps is None else _unit(phrases @ self._maps[0])

    def told(self, labels: Sequence[str]) -> np.ndarray:
        """[L, E] vectors of labels, to compare with those of `asked`."""
        if self._maps is None or self.encoder is None:
            return self(labels)
        return np.stack(self._told.of(labels)) if len(labels) else self._map_labels([])

    def _encode(self, texts: list[str]) -> np.ndarray:
        assert self.encoder is not None
        return self.encoder([in_english(text[: LIMITS.question]) for text in texts])

    def _map_labels(self, labels: list[str]) -> np.ndarray:
        assert self._maps is not None
        return _unit(self(labels) @ self._maps[1])


@dataclasses.dataclass(frozen=True)
class ReaderTexts:
    """All vectors that a reader compares, which readers of several graphs may share.

    Attributes:
        vectors: of phrases, labels and questions.
        linked: by the encoder that was tuned to link relations; None links none.
    """

    vectors: TextVectors
    linked: TextVectors | None = None

    @classmethod
    def of(
        cls,
        encoder: TextEncoder | None,
        maps: tuple[np.ndarray, np.ndarray] | None = None,
        change: Change | None = None,
    ) -> ReaderTexts:
        """None of them made yet.

        Args:
            encoder: of texts; None for letters alone.
            maps: of phrases and labels, see `TextVectors`.
            change: of the encoder, that links relations; None links none.
        """
        tuned = encoder_changed(encoder, change) if encoder is not None and change else None
        return cls(TextVectors(encoder, maps), None if tuned is None else TextVectors(tuned))


class RecentVectors:
    """Vectors of the texts asked for last.

    Two generations: what is asked for moves to the younger one, and once that is full it becomes
    the older one, whose texts are forgotten. So a text is kept while fewer than `kept` others were
    asked for since, and never more than twice as many are held, or than one call wants.

    Args:
        make: vectors of texts that are not kept.
        kept: texts of a generation.
    """

    def __init__(self, make: _Make, kept: int) -> None:
        self._make, self._kept = make, kept
        self._young: dict[str, np.ndarray] = {}
        self._old: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        """Texts that are held."""
        return len(self._young.keys() | self._old.keys())

    def of(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The vector of each text, in order."""
        young, old = self._young, self._old
        if unknown := [text for text in dict.fromkeys(texts) if text not in young]:
            missing = [text for text in unknown if text not in old]
            made = dict(zip(missing, self._make(missing))) if missing else {}
            young.update(
                (text, made[text] if text in made else self._old[text]) for text in unknown
            )
            if len(young) >= self._kept:
                self._young, self._old = {}, young
        return [young[text] for text in texts]


def _unit(vectors: np.ndarray) -> np.ndarray:
    """[T, E] of length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
