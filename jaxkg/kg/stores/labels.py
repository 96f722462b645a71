"""Where names are looked up without loading them: sorted hashes of names and of their words.

Two wordings share a key where they differ in case, punctuation, a leading article, a bracketed end
or the plural of words. A key leads to rows that may be meant; who looks them up reads their names.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxkg.kg.link.folding import key_words
from jaxkg.kg.link.mentions import QUESTION_WORDS

LONGEST = 9
"""Words of a name that is looked for within a question."""
_ARTICLES = frozenset(
    ["the", "a", "an", "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen"]
)
_BRACKETS = re.compile(r"\s*[(\[][^)\]]*[)\]]\s*$")
_NEAR = 8
_NEAR_LEAST = 78.0
_COMMON = 2_000
"""Rows that share a word beyond which the word finds nobody."""
_PART_BITS = 4
"""First bits of a hash; those alike in them are sorted together."""
_PRUNED_AT = 1 << 24
"""Words that are gathered before those of too many names are taken out."""


def search_words(name: str) -> list[str]:
    """The words of a name as they are looked up.

    >>> search_words("The Night Herons (lamp)") == search_words("night heron")
    True
    """
    bracketed = ")" in name or "]" in name
    words = key_words(_BRACKETS.sub("", name) or name if bracketed else name) or [""]
    while len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return [word[:-1] if len(word) > 3 and word[-1] == "s" else word for word in words]


def hash_of(text: str) -> int:
    """A 64-bit hash that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


class Hashes:
    """Hashes of names and words, gathered name by name."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._common = np.empty(0, np.uint64)
        self._kept: list[np.ndarray] = []
        self._kept_owners: list[np.ndarray] = []
        self._recent = 0
        self._keys: list[np.ndarray] = []
        self._owners: list[np.ndarray] = []
        self._words: list[np.ndarray] = []
        self._word_owners: list[np.ndarray] = []

    def add(self, names: Sequence[str], owners: np.ndarray) -> None:
        """Take names and the row each belongs to."""
        if len(self._known) > 1_000_000:
            self._known.clear()
        known = self._known
        keys = np.empty(len(names), np.uint64)
        words: list[int] = []
        counts = np.empty(len(names), np.int64)
        for place, name in enumerate(names):
            spelt = search_words(name)
            for word in spelt:
                hashed = known.get(word)
                if hashed is None:
                    hashed = known[word] = hash_of(word)
                words.append(hashed)
            counts[place] = len(spelt)
            keys[place] = known[spelt[0]] if len(spelt) == 1 else hash_of(" ".join(spelt))
        self._keys.append(keys)
        self._owners.append(np.asarray(owners, np.int32))
        self._words.append(np.array(words, np.uint64))
        self._word_owners.append(np.repeat(np.asarray(owners, np.int32), counts))
        self._recent += len(words)
        if self._recent > _PRUNED_AT:
            self._prune()

    def _prune(self) -> None:
        """Forget words that too many names have, of which there may be more than of all others."""
        words, owners = _joined(self._words, np.uint64), _joined(self._word_owners, np.int32)
        distinct, counts = np.unique(words, return_counts=True)
        self._common = np.union1d(self._common, distinct[counts > _COMMON])
        is_rare = ~np.isin(words, self._common)
        self._kept.append(words[is_rare])
        self._kept_owners.append(owners[is_rare])
        self._words, self._word_owners, self._recent = [], [], 0

    def index(self) -> LabelIndex:
        """All of them, sorted; words that too many names have are left out. They are let go of."""
        self._prune()
        names = map(np.concatenate, zip(*_sorted(self._keys, self._owners)))
        parts = _sorted(self._kept, self._kept_owners)
        words = map(np.concatenate, zip(*(self._rare(*part) for part in parts)))
        return LabelIndex(*names, *words)

    def _rare(self, words: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        starts = np.flatnonzero(np.diff(words, prepend=~words[:1]))
        sizes = np.diff(starts, append=len(words))
        rare = np.repeat((sizes <= _COMMON) & ~np.isin(words[starts], self._common), sizes)
        return words[rare], owners[rare]


@dataclasses.dataclass(frozen=True, eq=False)
class LabelIndex:
    """Rows by hashes of their names.

    Example:
        >>> index = label_index(["Alien", "The Night Heron", "Ridley Scott"])
        >>> index.rows("night herons").tolist(), index.sharing("scot ridley").tolist()
        ([1], [2])

    Attributes:
        keys, owners: [A] uint64 hashes of whole names, ascending, and int32 rows.
        words, word_owners: [W] the same of their words.
    """

    keys: np.ndarray
    owners: np.ndarray
    words: np.ndarray
    word_owners: np.ndarray

    def rows(self, text: str) -> np.ndarray:
        """Rows that may be so named."""
        return _found(self.keys, self.owners, hash_of(" ".join(search_words(text))))

    def near(self, text: str, name_of: Callable[[int], str]) -> list[int]:
        """Rows whose names share a rarer word and most letters with a text, the nearest first.

        Args:
            text: misspelt, perhaps.
            name_of: the name of a row.
        """
        from rapidfuzz import fuzz, process

        rows = self.sharing(text).tolist()
        names = [name_of(row).lower() for row in rows]
        matches = process.extract(
            text.lower(), names, scorer=fuzz.ratio, score_cutoff=_NEAR_LEAST, limit=_NEAR
        )
        return [rows[place] for _, _, place in matches]

    def worded(self, text: str) -> np.ndarray:
        """Rows whose names have every word of a text, and further ones; rarer words alone."""
        owners = [_found(self.words, self.word_owners, hash_of(w)) for w in search_words(text)]
        return functools.reduce(np.intersect1d, owners)

    def sharing(self, text: str) -> np.ndarray:
        """Rows whose names have one of the rarer words of a text."""
        owners = [_found(self.words, self.word_owners, hash_of(w)) for w in search_words(text)]
        return np.unique(np.concatenate([np.empty(0, np.int32), *owners]))


def label_index(names: Iterable[str]) -> LabelIndex:
    """The index of some names, each a row."""
    listed = list(names)
    hashes = Hashes()
    hashes.add(listed, np.arange(len(listed)))
    return hashes.index()


def spans(words: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Stretches of a question that may be names: not question words alone.

    Args:
        words: folded.
        texts: as written.
    """
    texts_of = []
    for first in range(len(words)):
        for last in range(first, min(first + LONGEST, len(words))):
            inside = words[first : last + 1]
            said = any(word not in QUESTION_WORDS and len(word) > 1 for word in inside)
            if said or any(text != text.lower() for text in texts[max(first, 1) : last + 1]):
                texts_of.append(" ".join(texts[first : last + 1]))
    return list(dict.fromkeys(texts_of))


def _joined(parts: list[np.ndarray], kind: type[np.integer[Any]]) -> np.ndarray:
    return np.concatenate([np.empty(0, kind), *parts])


def _sorted(
    hashes: list[np.ndarray], owners: list[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Hashes in order with their owners, in parts by their first bits; the lists are emptied."""
    for first in range(1 << _PART_BITS):
        held = [part >> np.uint64(64 - _PART_BITS) == first for part in hashes]
        hashes_of = _joined([part[here] for part, here in zip(hashes, held)], np.uint64)
        owned = _joined([part[here] for part, here in zip(owners, held)], np.int32)
        order = np.argsort(hashes_of, kind="stable")
        yield hashes_of[order], owned[order]
    hashes.clear()
    owners.clear()


def _found(hashes: np.ndarray, owners: np.ndarray, wanted: int) -> np.ndarray:
    key = np.uint64(wanted)
    low, high = np.searchsorted(hashes, key), np.searchsorted(hashes, key, "right")
    return np.unique(owners[low:high])
