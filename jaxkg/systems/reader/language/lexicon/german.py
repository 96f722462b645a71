"""German words in English ones, for sentence vectors that know no German."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from jaxkg.limits import LIMITS
from jaxkg.systems.reader.language.lexicon.stems import stem
from jaxkg.systems.reader.words import heads

_FUNCTION = heads("german.function")
_ENGLISH = {"am", "an", "die", "hat", "in", "was", "war"}
"""Those that are words of English, too."""

_LINKS = ("", "s", "n", "en", "es", "er", "e")


@functools.cache
def _known() -> dict[str, str]:
    glossary = reversed(heads("german.glossary").items())  # of two with one stem the first counts
    return {stem(word): english for word, english in glossary}


def _plain(word: str) -> str:
    for ending in ("innen", "in"):
        if word.endswith(ending) and len(word) - len(ending) >= 5:
            return word.removesuffix(ending)
    return word


@functools.lru_cache(65_536)
def _word(word: str) -> str:
    """A German word in English, "" for one that is not known; compounds by their parts."""
    if len(word) > LIMITS.word:
        return ""
    known = _known()
    for form in (word, _plain(word)):
        if stem(form) in known and len(form) > 3:
            return known[stem(form)]
    for cut in range(len(word) - 4, 3, -1):
        if last := known.get(stem(word[cut:])):
            first = word[:cut]
            told = [known[stem(first.removesuffix(s))] for s in _LINKS
                    if first.endswith(s) and stem(first.removesuffix(s)) in known]  # fmt: skip
            return f"{told[0]} {last}" if told else f"{first} {last}" if len(word) > 8 else ""
    return ""


def in_english(text: str) -> str:
    """A text with the German words of it in English, where there are any.

    >>> in_english("geleitet von"), in_english("prüfungstermin"), in_english("led by")
    ('lead of', 'exam date', 'led by')
    """
    words = text.lower().split()
    told = [_word(word) for word in words]
    if not any(told):
        return text
    return " ".join(new or _FUNCTION.get(old, old) for old, new in zip(words, told))


def is_german(words: Iterable[str]) -> bool:
    """Whether some words of a question, in small letters, are German.

    >>> is_german(["wer", "leitet", "ada"]), is_german(["who", "was", "ada"])
    (True, False)
    """
    return any(word in _FUNCTION and word not in _ENGLISH for word in words)
