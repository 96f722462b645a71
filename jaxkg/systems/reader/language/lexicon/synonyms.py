"""Everyday words that mean nearly the same, in English and German."""

from __future__ import annotations

import functools

from jaxkg.systems.reader.language.lexicon.stems import alike, stem
from jaxkg.systems.reader.words import lines


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


_SLIP = 5
"""Letters of a word from which on two of them may stand in the wrong order."""
SYNONYM = 0.75
"""How alike two synonyms are."""


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
