"""A SELECT cut into words, numbers, texts and signs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from jaxkg.errors import JaxkgError

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[^\W\d]\w*)"""
    r"""|"(?P<quoted>[^"]*)"|(?P<sign><>|!=|<=|>=|[-=<>(),*./;]))"""
)


def words_of(tokens: Sequence[tuple[str, str]]) -> list[str]:
    """Tokens in small letters, texts blank: none of them is a word of SQL."""
    return ["" if kind == "text" else said.lower() for kind, said in tokens]


def depths_of(words: Sequence[str]) -> list[int]:
    """Brackets that are open behind each word."""
    return [*itertools.accumulate({"(": 1, ")": -1}.get(word, 0) for word in words)]


def tokens_of(text: str) -> list[tuple[str, str]]:
    """Cut a SELECT into kinds and texts: "text", "number", "word" and "sign".

    Raises:
        JaxkgError: some of it is no SQL.

    >>> tokens_of("a = 'b'")
    [('word', 'a'), ('sign', '='), ('text', 'b')]
    """
    tokens, start = [], 0
    text = text.strip().rstrip(";").strip()
    while start < len(text):
        match = _TOKEN.match(text, start)
        if match is None:
            raise JaxkgError(f"no SELECT: {text[start : start + 40]!r} cannot be read")
        kind = match.lastgroup or ""
        said = match[kind]
        if kind == "text":
            said = said[1:-1].replace("''", "'")
        tokens.append(("word" if kind == "quoted" else kind, said))
        start = match.end()
    return tokens
