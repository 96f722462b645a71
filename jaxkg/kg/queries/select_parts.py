"""A SELECT cut into words, numbers, texts and signs, and what it selects and orders by."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence
from typing import Any

from jaxkg import query as q
from jaxkg.errors import JaxkgError
from jaxkg.kg.relational import Column

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[^\W\d]\w*)"""
    r"""|"(?P<quoted>[^"]*)"|(?P<sign><>|!=|<=|>=|[-+=<>(),*./;]))"""
)
SIGNS = frozenset(("=", "!=", "<", "<=", ">", ">="))
"""Comparisons."""


class NothingLike(JaxkgError):
    """A SELECT that can be read and finds nothing: nothing is LIKE, or in, what it says."""


class NothingCalled(JaxkgError):
    """A SELECT with a name that its column has not, which finds nothing beside others."""


@dataclasses.dataclass(frozen=True)
class Item:
    """What is selected or ordered by: a column, none of `*`, and how much of it."""

    column: Column | None
    by: str = "value"
    distinct: bool = False


@dataclasses.dataclass(frozen=True)
class Order:
    """ORDER BY, with whether the largest comes first, LIMIT (0 for none) and OFFSET."""

    orders: Sequence[tuple[Item, bool]]
    n: int = 0
    offset: int = 0


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


class Cursor:
    """A place among the tokens of a SELECT, and what is taken there.

    Raises:
        JaxkgError: by all that step over a token, where it is another.
    """

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self.tokens, self.place = list(tokens), 0

    @property
    def rest(self) -> list[tuple[str, str]]:
        """The tokens from here on."""
        return self.tokens[self.place :]

    def skip(self, count: int = 1) -> None:
        """Step over some tokens."""
        self.place += count

    def kind(self) -> str:
        """Say of what kind the next token is."""
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def word(self, ahead: int = 0) -> str:
        """Return a token in small letters, "" of a text."""
        ahead_of = self.place + ahead
        if ahead_of >= len(self.tokens) or self.tokens[ahead_of][0] == "text":
            return ""
        return self.tokens[ahead_of][1].lower()

    def take(self, word: str) -> bool:
        """Step over a word where it is the next."""
        there = self.word() == word
        self.place += there
        return there

    def need(self, word: str) -> None:
        """Step over a word that has to be the next."""
        if not self.take(word):
            raise JaxkgError(f"{word.upper()} is missing before {self.word() or 'the end'!r}")

    def next(self) -> tuple[str, str]:
        """Step over the next token, whatever it is."""
        if self.place >= len(self.tokens):
            raise JaxkgError("it ends too early")
        self.place += 1
        return self.tokens[self.place - 1]

    def value(self, *kinds: str) -> str:
        """Step over a value of one of these kinds."""
        kind, said = self.next()
        if kind not in kinds:
            raise JaxkgError(f"{said!r} is no {' or '.join(kinds)}")
        return said

    def whole(self, word: str, least: int) -> int:
        """Step over a whole number."""
        number = self.value("number")
        if not number.isdecimal() or int(number) < least:
            raise JaxkgError(f"{word} {number}: a whole number is meant, from {least} on")
        return int(number)

    def sign(self) -> q.Comparison:
        """Step over a comparison."""
        _, said = self.next()
        sign: Any = {"<>": "!=", "==": "="}.get(said, said)
        if sign not in SIGNS:
            raise JaxkgError(f"no comparison {said!r}")
        return sign
