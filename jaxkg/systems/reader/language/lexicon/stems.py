"""How alike two words are, in English and German: by light stems, by letters, or as synonyms."""

from __future__ import annotations

import bisect
import functools
import itertools
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from jaxkg.limits import LIMITS
from jaxkg.systems.reader.words import lines, pairs, words

_SUFFIXES = (
    "ations", "ation", "ements", "ement", "ings", "ing", "ions", "ion", "ers", "ors", "er", "or",
    "ies", "ied", "ed", "es", "ungen", "ung", "en", "est", "st", "et", "te", "em", "e", "s", "n",
    "t", "y",
)  # fmt: skip
_IRREGULAR = pairs("stems.irregular")
_IRREGULAR |= {
    form: word for word, forms in pairs("stems.short").items() for form in forms.split(",")
}
_PAST = words("stems.past")
_NO_PLURAL = ("ss", "us", "is", "as", "os", "news", "lens")
_BEGINS, _BEGINS_FROM = 0.85, 4
"""How alike two stems are of which one begins with the other, and letters of that from which on."""
_WITHIN, _WITHIN_FROM = 0.7, 5
"""The same where one is anywhere within the other."""
_NEAR, _NEAR_FROM, _NEAR_LESS = 0.8, 6, 0.1
"""Share of letters from which on words of so many are alike, a little less than that share."""
_SLIP = 5
"""Letters of a word from which on two of them may stand in the wrong order."""
_SYNONYM = 0.75
"""How alike two synonyms are."""


def is_past(word: str) -> bool:
    """Whether a folded word looks like what was done: "bought", "directed".

    >>> is_past("bought"), is_past("directed"), is_past("seed")
    (True, True, False)
    """
    return word in _PAST or (len(word) > 4 and word.endswith("ed") and not word.endswith("eed"))


@functools.lru_cache(65_536)
def stem(word: str) -> str:
    """What the forms of a folded word share.

    >>> stem("translated"), stem("translator"), stem("wrote") == stem("writer")
    ('transla', 'transla', True)
    """
    word = _IRREGULAR.get(word, word)
    if not word.isascii():
        word = word.replace("ß", "ss")
        word = "".join(c for c in unicodedata.normalize("NFKD", word) if c.isascii()) or word
    if len(word) == 4 and word.endswith("s") and not word.endswith(_NO_PLURAL):
        word = word[:-1]  # "buys", "cars"
    elif len(word) == 5 and word.endswith("ed") and not word.endswith("eed"):
        word = word[:-1]  # "hired", "based"
    shorter = ""
    while word != shorter:  # to the end, so that "represented" meets "represent"
        shorter = word
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 4:
                word = word[: -len(suffix)]
                break
    if word.endswith(("at", "it")) and len(word) > 5:
        word = word[:-2]
    if len(word) > 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word


@functools.lru_cache(262_144)
def alike(one: str, other: str) -> float:
    """How alike two folded words are, in [0, 1]: the same stem, one within the other, letters.

    >>> alike("writes", "written"), alike("headquartered", "headquarters") > 0.8
    (1.0, True)
    """
    if one == other or stem(one) == stem(other):
        return 1.0
    short, long = sorted((stem(one), stem(other)), key=len)
    if len(short) >= _BEGINS_FROM and long.startswith(short):
        return _BEGINS
    if len(short) >= _WITHIN_FROM and short in long:
        return _WITHIN
    if min(len(one), len(other)) >= _NEAR_FROM:
        from rapidfuzz import fuzz

        close = fuzz.ratio(one, other) / 100
        if close >= _NEAR:
            return close - _NEAR_LESS
    return 0.0


@functools.cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines("synonyms.groups")):
        for word in line.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@functools.lru_cache(65_536)
def meanings(word: str) -> frozenset[str | int]:
    """The stem of a folded word and the groups of synonyms that it is of.

    >>> len(meanings("price") & meanings("cost")) > 0, meanings("written") >= {stem("wrote")}
    (True, True)
    """
    own = stem(word)
    return frozenset({own, *_groups().get(own, ())})


@functools.lru_cache(262_144)
def meant(one: str, other: str) -> float:
    """How alike two folded words are, in [0, 1]: by their letters, or as synonyms.

    >>> meant("writes", "written"), meant("cost", "price"), meant("cost", "height")
    (1.0, 0.75, 0.0)
    """
    close = alike(one, other)
    if close >= _SYNONYM:
        return close
    return _SYNONYM if groups_of(one) & groups_of(other) else close


@functools.lru_cache(65_536)
def groups_of(word: str) -> frozenset[int]:
    """Groups of a word, else of the one that two of its letters changed about make: "wroet"."""
    groups = _groups()
    if (own := stem(word)) in groups or len(word) < _SLIP:
        return groups.get(own, frozenset())
    turned = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(1, len(word) - 1)
    )
    return frozenset().union(*(groups.get(stem(other), ()) for other in turned))


class Spelt:
    """Very many words, held to be compared with a few at a time.

    Args:
        words: N folded words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._stems = _Stems([stem(word) for word in words])
        self._long = [place for place, word in enumerate(words) if len(word) >= _NEAR_FROM]
        self._texts = [words[place] for place in self._long]
        self._by_group: dict[int, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            for group in groups_of(word):
                self._by_group[group].append(place)

    def __len__(self) -> int:
        return len(self.words)

    def likenesses(self, words: Sequence[str]) -> np.ndarray:
        """What `meant` says of each pair, looked up instead of compared pair by pair.

        Args:
            words: W folded words.

        Returns:
            [W, N] float32 in [0, 1].

        >>> Spelt(["written", "price", "height"]).likenesses(["writes", "cost"]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.75, 0.0]]
        """
        found = np.zeros((len(words), len(self.words)), np.float32)
        for row, word in zip(found, words):
            # What `alike` looks at first is written last.
            if len(word) >= _NEAR_FROM and self._long:
                for place, close in _close(word, self._texts):
                    row[self._long[place]] = close - _NEAR_LESS
            own = stem(word)
            row[list(self._stems.within(own))] = _WITHIN
            row[list(self._stems.beginning(own))] = _BEGINS
            row[self._stems.same(own)] = 1.0
            meaning = [p for group in groups_of(word) for p in self._by_group.get(group, ())]
            row[meaning] = np.maximum(row[meaning], _SYNONYM)
        return found


class _Stems:
    """Stems to look up by what they share with another one."""

    def __init__(self, stems: list[str]) -> None:
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(stems):
            self._places[one].append(place)
        self._longest = min(LIMITS.word, max(map(len, stems), default=0))
        self._all = "\n" + "\n".join(stems) + "\n"
        self._starts = list(itertools.accumulate((len(one) + 1 for one in stems), initial=1))

    def same(self, own: str) -> list[int]:
        return self._places.get(own, [])

    def beginning(self, own: str) -> Iterator[int]:
        """Those that begin with it, and those that it begins with."""
        if len(own) >= _BEGINS_FROM:
            yield from (self._place(at + 1) for at in self._found("\n" + own))
        for end in range(_BEGINS_FROM, min(len(own), self._longest + 1)):
            yield from self.same(own[:end])

    def within(self, own: str) -> Iterator[int]:
        """Those that it is within, and those within it."""
        if len(own) >= _WITHIN_FROM:
            yield from map(self._place, self._found(own))
        for first in range(len(own)):
            for end in range(first + _WITHIN_FROM, min(len(own), first + self._longest) + 1):
                yield from self.same(own[first:end])

    def _found(self, text: str) -> Iterator[int]:
        at = self._all.find(text)
        while at >= 0:
            yield at
            at = self._all.find(text, at + 1)

    def _place(self, at: int) -> int:
        return bisect.bisect_right(self._starts, at) - 1


def _close(word: str, texts: list[str]) -> list[tuple[int, float]]:
    """Places of the texts whose letters are near those of a word, and how near."""
    from rapidfuzz import fuzz, process

    near = process.extract(word, texts, scorer=fuzz.ratio, score_cutoff=100 * _NEAR, limit=None)
    return [(place, close / 100) for _, close, place in near]
