"""German words in English ones, for sentence vectors that know no German."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from jaxkg.limits import LIMITS
from jaxkg.systems.reader.words import heads, words

_FUNCTION = heads("german.function")
_ENGLISH = words("german.english")
"""Those that are words of English, too."""

_LINKS = ("", "s", "n", "en", "es", "er", "e")
"""Between the parts of a compound."""
_ENDINGS = ("", "e", "en", "n", "s", "es", "er", "em", "ern", "in", "innen")
"""Of nouns and adjectives, behind a word as it stands."""
_VERBAL = ("e", "en", "er", "est", "st", "t", "et", "te", "ten", "end", "ende")
"""Behind a word without its last "e", "en" or "n"."""
_SURE = 5
"""Letters of a last part from which on it tells a compound whose first part is not known."""
_WRITTEN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@functools.cache
def _glossary() -> dict[str, str]:
    """German words, also without their umlauts, and what they are in English."""
    listed = heads("german.glossary")
    return {word.translate(_WRITTEN): english for word, english in listed.items()} | listed


@functools.cache
def _known() -> dict[str, str]:
    """Forms of German words and what they are in English."""
    english_of = dict(_glossary())
    for word, english in _glossary().items():
        cut = re.sub(r"(?<=\w{3})(?:en|e|n)$", "", word)
        forms = [word + ending for ending in _ENDINGS]
        forms += [cut + ending for ending in _VERBAL] if cut != word else []
        forms += [f"ge{cut}{ending}" for ending in ("t", "et", "en")] if word.endswith("en") else []
        for form in forms:
            english_of.setdefault(form, english)
    return {form: word for form, word in english_of.items() if form not in _ENGLISH}


@functools.lru_cache(65_536)
def _word(word: str) -> str:
    """A German word in English, "" for one that is not known; compounds by their parts."""
    if len(word) > LIMITS.word:
        return ""
    known = _known()
    if len(word) > 3 and word in known:
        return known[word]
    for cut in range(3, len(word) - 3):  # the longest last part that is known
        if last := known.get(word[cut:]):
            first = word[:cut]
            parts = (first.removesuffix(link) for link in _LINKS if first.endswith(link))
            told = next((known[part] for part in parts if part in known), "")
            if told or (len(word) - cut >= _SURE and word[cut:] in _glossary()):
                return f"{told or first} {last}"
    return ""


def in_english(text: str) -> str:
    """A text with the German words of it in English, where there are any.

    >>> in_english("geleitet von"), in_english("prüfungstermin"), in_english("led by")
    ('lead of', 'exam date', 'led by')
    >>> in_english("Kontonummer/IBAN")
    'account number iban'
    """
    german = text.lower().replace("/", " ").split()
    told = [_word(word) for word in german]
    if not any(told):
        return text
    return " ".join(new or _FUNCTION.get(old, old) for old, new in zip(german, told))


def is_german(question: Iterable[str]) -> bool:
    """Whether some words of a question, in small letters, are German.

    >>> is_german(["wer", "leitet", "ada"]), is_german(["who", "was", "ada"])
    (True, False)
    """
    return any(word in _FUNCTION and word not in _ENGLISH for word in question)
