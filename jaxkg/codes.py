"""Codes of relations and the absent index: what host and device call alike, without JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import jax
    import numpy as np

NULL = -1
"""Marks an absent index in every int32 array."""

Codes = TypeVar("Codes", int, "np.ndarray", "jax.Array")


def inverse_code(code: Codes, num_relations: int) -> Codes:
    """The code in [0, 2R) of a relation walked the other way; `NULL` has none.

    >>> inverse_code(1, 3), inverse_code(4, 3)
    (4, 1)
    """
    return (code + num_relations) % (2 * num_relations)
