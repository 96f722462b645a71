"""Which of millions of names have a word that begins so: by their bytes, without reading them."""

from __future__ import annotations

import functools
import unicodedata

import numpy as np

from jaxkg.kg.names import NameTable
from jaxkg.kg.neighbourhood import distinct

_LATIN = range(0xC0, 0x180)
_ALPHANUMERIC = np.array([code < 128 and chr(code).isalnum() for code in range(256)])


class NameSearch:
    """Looks names up by the beginnings of their words, without case and Latin accents.

    Example:
        >>> names = NameSearch(NameTable.from_names(["Amélie", "Lord of the Rings", "Ringu"]))
        >>> names.rows("amel").tolist(), names.rows("ring").tolist(), names.rows("ings").tolist()
        ([0], [1, 2], [])
    """

    def __init__(self, names: NameTable) -> None:
        text, kept = _folded(np.asarray(names.blob))
        places = np.concatenate([[0], np.cumsum(kept)])
        self._offsets = places[names.offsets]
        self._text = np.concatenate([text[kept], np.zeros(65, np.uint8)])
        letter = _in_word(self._text)
        begins = letter.copy()
        begins[1:] &= ~letter[:-1]
        first = self._offsets[:-1][np.diff(self._offsets) > 0]
        begins[first] = letter[first]
        self._begins = np.flatnonzero(begins)

    def rows(self, beginning: str, *, whole: bool = False) -> np.ndarray:
        """[K] names that have a word with this beginning, ascending.

        Args:
            beginning: folded, without accents; 64 bytes at most are looked at.
            whole: it is all of the word.
        """
        at = self._begins
        wanted = beginning.encode()[:64]
        for place, byte in enumerate(wanted):
            at = at[self._text[at + place] == byte]
        row = np.searchsorted(self._offsets, at, "right") - 1
        past, end = at + len(wanted), self._offsets[row + 1]
        held = past <= end
        if whole:
            held &= (past == end) | ~_in_word(self._text[past])
        return distinct(row[held])

    def words(self, rows: np.ndarray) -> np.ndarray:
        """How many words some names have."""
        return np.searchsorted(self._begins, self._offsets[rows + 1]) - np.searchsorted(
            self._begins, self._offsets[rows]
        )


def _in_word(text: np.ndarray) -> np.ndarray:
    """Which bytes are of letters and digits."""
    return (text >= 128) | _ALPHANUMERIC[text]


def _folded(blob: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bytes in small letters without Latin accents, and which of them remain."""
    text = np.where((blob >= 65) & (blob <= 90), blob | 32, blob).astype(np.uint8)
    kept = np.ones(len(blob), bool)
    if len(blob) > 1 and int(blob.max(initial=0)) >= 128:
        lead = np.flatnonzero((blob[:-1] >= 0xC3) & (blob[:-1] <= 0xC5))
        code = (blob[lead].astype(np.int64) & 31) * 64 + (blob[lead + 1] & 63)
        plain = _latin()[code - _LATIN.start]
        some = lead[plain > 0]
        text[some] = plain[plain > 0]
        kept[some + 1] = False
    return text, kept


@functools.cache
def _latin() -> np.ndarray:
    """Byte of the plain small letter of each Latin one with an accent, 0 for none."""
    plain = (unicodedata.normalize("NFKD", chr(code))[0].lower() for code in _LATIN)
    return np.array([ord(c) if c.isascii() and c.isalpha() else 0 for c in plain], np.uint8)
