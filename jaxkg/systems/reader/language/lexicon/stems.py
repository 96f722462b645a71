"""How alike two words are, in English and German: by light stems, by letters, or as synonyms."""

from __future__ import annotations

import functools
import unicodedata

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
BEGINS, BEGINS_FROM = 0.85, 4
"""How alike two stems are of which one begins with the other, and letters of that from which on."""
WITHIN, WITHIN_FROM = 0.7, 5
"""The same where one is anywhere within the other."""
NEAR, NEAR_FROM, NEAR_LESS = 0.8, 6, 0.1
"""Share of letters from which on words of so many are alike, a little less than that share."""
_SLIP = 5
"""Letters of a word from which on two of them may stand in the wrong order."""
SYNONYM = 0.75
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
    if len(short) >= BEGINS_FROM and long.startswith(short):
        return BEGINS
    if len(short) >= WITHIN_FROM and short in long:
        return WITHIN
    if min(len(one), len(other)) >= NEAR_FROM:
        from rapidfuzz import fuzz

        close = fuzz.ratio(one, other) / 100
        if close >= NEAR:
            return close - NEAR_LESS
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
    if close >= SYNONYM:
        return close
    return SYNONYM if groups_of(one) & groups_of(other) else close


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
