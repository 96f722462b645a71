"""Texts and names as sequences of folded words, with the way back to the characters.

Two spellings of a name are the same here when they differ in case, in Unicode form (NFKC), in
spaces and underscores, or in punctuation: "Martin Luther King, Jr." is "martin luther king jr".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

MARK = "\0"
"""Stands around every word of a key, so that one key is found in another only whole words long."""

# Symbols such as $ and + are words; what merely punctuates is not.
_PUNCTUATION = r".,;:!?¡¿…'\"«»()\[\]{}\-/\\&*·_"
_SYMBOL = rf"[^\w\s{_PUNCTUATION}]"
_ASCII_WORD = re.compile(rf"[a-zA-Z0-9]+|{_SYMBOL}", re.ASCII)
# Chinese, Japanese and Korean write no spaces around a name: each character is a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+|{_SYMBOL}")
_PLAIN = str.maketrans("‘’ʼ´`“”„‐‑‒–—−", "'''''\"\"\"------")


class Words(NamedTuple):
    """A text cut into words."""

    text: str
    written: list[str]
    """Each word as it stands in the text."""
    folded: list[str]
    spans: list[tuple[int, int]]
    """Where each word stands in the text."""
    key: str
    """The folded words, marks between and around them."""


def plain(text: str) -> str:
    """NFKC, with typographic quotes and dashes made plain; case is kept.

    >>> plain("Ｓｐｉｄｅｒ–Man")
    'Spider-Man'
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_PLAIN))


def fold(text: str) -> str:
    """`plain` and case folding.

    >>> fold("STRASSE") == fold("Straße")
    True
    """
    return unicodedata.normalize("NFKC", plain(text).casefold())


def word_key(name: str) -> str:
    """The folded words of a name between marks; a name of punctuation alone keeps it.

    >>> word_key("Kill Bill: Vol. 2") == word_key("kill_bill vol 2")
    True
    """
    return MARK + MARK.join(key_words(name)) + MARK


def key_words(name: str) -> list[str]:
    """The words of a `word_key`."""
    found = _ASCII_WORD.findall(name.lower()) if name.isascii() else _WORD.findall(fold(name))
    return found or fold(name).split()


def split_words(text: str) -> Words:
    """Cut a text into words.

    >>> words = split_words("Is Straße a film?")
    >>> words.folded, words.spans[1]
    (['is', 'strasse', 'a', 'film'], (3, 9))
    """
    text = text.replace(MARK, " ")
    if text.isascii():
        spans = [match.span() for match in _ASCII_WORD.finditer(text)]
        written = [text[start:end] for start, end in spans]
        words = [word.lower() for word in written]
        return Words(text, written, words, spans, MARK + MARK.join(words) + MARK)
    folded, origins = _fold_with_origins(text)
    matches = list(_WORD.finditer(folded))
    spans = [(origins[m.start()][0], origins[m.end() - 1][1]) for m in matches]
    words = [m[0] for m in matches]
    written = [text[start:end] for start, end in spans]
    return Words(text, written, words, spans, MARK + MARK.join(words) + MARK)


def _fold_with_origins(text: str) -> tuple[str, list[tuple[int, int]]]:
    """`fold`, and for every character of its result the span of `text` it came from."""
    folded: list[str] = []
    origins: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        # What composes with the character before it (accents, vowel signs, Korean letters) is
        # folded together with it.
        if end < len(text) and (
            unicodedata.category(text[end])[0] == "M" or "\u1160" <= text[end] <= "\u11ff"
        ):
            continue
        piece = fold(text[start:end])
        folded.append(piece)
        origins += [(start, end)] * len(piece)
        start = end
    return "".join(folded), origins


def loose_form(words: Sequence[str]) -> str:
    """Words without a leading article and without accents, for comparing misspelt names.

    >>> loose_form(["the", "café"])
    'cafe'
    """
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        words = words[1:]
    text = " ".join(words)
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c for c in apart if not unicodedata.combining(c))
