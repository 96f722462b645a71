"""What every text encoder is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

Change: TypeAlias = Mapping[str, tuple[Any, Any]]
"""Of an encoder's last layers, by the kernel's name: [L, inputs, r] and [L, r, outputs] float32
arrays, see `jaxkg.ops.LowRank`."""


class TextEncoder(Protocol):
    """Texts to vectors. Equal texts get equal vectors, whatever stands beside them.

    Attributes:
        name: of the model.
        revision: changes whenever its vectors do.
        dimension: D.
    """

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    @property
    def revision(self) -> str:
        """Changes whenever the model's vectors do."""
        ...

    @property
    def dimension(self) -> int:
        """D, numbers of a vector."""
        ...

    def __call__(self, texts: Sequence[str], /) -> np.ndarray:
        """Encode texts.

        Returns:
            [Q, D] float32 of length 1; 0 for a text that says nothing to the model.
        """
        ...


def encoder_changed(encoder: TextEncoder, change: Change) -> TextEncoder | None:
    """An encoder with low-rank changes of its layers; None where it takes none.

    Args:
        encoder: as it is.
        change: see `jaxkg.text.bert_weights.changed`.
    """
    how = getattr(encoder, "changed", None)
    return None if how is None else how(change)


def token_encoder(
    encoder: TextEncoder | None,
) -> Callable[[Sequence[str]], list[np.ndarray]] | None:
    """What gives [T, D] float32 states of the tokens of texts; None where an encoder has none.

    Args:
        encoder: of texts, or one that keeps the vectors of another; None for none.
    """
    inner: Any = encoder
    while inner is not None and not hasattr(inner, "states"):
        inner = getattr(inner, "encoder", None)
    return None if inner is None else inner.states
