"""What every text encoder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


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
