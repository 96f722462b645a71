"""Pronounceable names by the million, as bytes in numpy: no loop over names."""

from __future__ import annotations

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.evaluate.synthetic.schema import Kind
from jaxkg.kg.names import NameTable

_SYLLABLES = np.array([c + v for c in "bdfgklmnprstvz" for v in "aeiou"], "S2").view(np.uint8)
_SYLLABLES = _SYLLABLES.reshape(-1, 2)
_MOST = 6
"""Syllables of a name: 70^6 names are more than fit in memory."""
LONGEST = 32
"""Bytes that any name fits in."""


def make_names(kind: Kind, numbers: np.ndarray, count: int, *, seed: int) -> np.ndarray:
    """Different names for different numbers.

    Args:
        kind: pattern of the names.
        numbers: [n] integers in [0, count).
        count: how many names of the kind there are in all; decides how long they are.
        seed: other seeds give other names.

    Returns:
        [n] ASCII byte strings, all of one length.

    >>> from jaxkg.evaluate.synthetic.schema import KINDS
    >>> make_names(KINDS["company"], np.arange(2), 100, seed=0).tolist()
    [b'Lanebi Works', b'Lesura Works']
    """
    base = len(_SYLLABLES)
    size = next((k for k in range(2 + kind.words, _MOST + 1) if base**k >= 4 * count), None)
    if size is None:
        raise JaxkgError(f"{count:,} names of one kind are more than there are, {base**6:,}")
    total = base**size
    # An affine map with a multiplier prime to the base shuffles the numbers and repeats none.
    factor = int(total * 0.6180339887) // base * base + 1 + 2 * base * (seed % 97)
    mixed = (numbers.astype(np.int64) * (factor % total) + (seed * 7919 + 12345)) % total
    digits = np.stack([mixed // base**place % base for place in range(size)], axis=1)
    letters = _SYLLABLES[digits].reshape(len(numbers), 2 * size)
    first = 2 * (size // kind.words)
    words = [letters[:, :first]] if kind.words == 1 else [letters[:, :first], letters[:, first:]]
    parts: list[np.ndarray] = [_same(kind.prefix, len(numbers))]
    for place, word in enumerate(words):
        word = word.copy()
        word[:, 0] -= 32  # a capital
        parts += [_same(" ", len(numbers))] * bool(place) + [word]
    table = np.ascontiguousarray(np.concatenate([*parts, _same(kind.suffix, len(numbers))], axis=1))
    return table.view(f"S{table.shape[1]}").reshape(-1)


def name_order(names: np.ndarray) -> np.ndarray:
    """[n] positions of byte strings of `LONGEST` in their order; numbers sort faster than strings.

    >>> name_order(np.array([b"Lane Biba", b"Lanebi", b"Boma"], f"S{LONGEST}")).tolist()
    [2, 0, 1]
    """
    words = np.ascontiguousarray(names).view(">u8").reshape(len(names), LONGEST // 8)
    return np.lexsort(words.astype(np.uint64).T[::-1])


def name_table(names: np.ndarray, *, ascending: bool = False) -> NameTable:
    """[n] ASCII byte strings as a table."""
    width = names.dtype.itemsize
    letters = np.ascontiguousarray(names).view(np.uint8).reshape(len(names), width)
    offsets = np.zeros(len(names) + 1, np.int64)
    np.cumsum(np.count_nonzero(letters, axis=1), out=offsets[1:])
    return NameTable(letters[letters != 0], offsets, ascending=ascending)


def _same(text: str, count: int) -> np.ndarray:
    letters = np.frombuffer(text.encode("ascii"), np.uint8)
    return np.broadcast_to(letters, (count, len(letters)))
