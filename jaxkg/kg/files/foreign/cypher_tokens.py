"""The tokens of a Cypher script."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<name>`(?:[^`]|``)*`|[^\W\d]\w*)|(?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+(?:[eE]\d+)?)"
    r"|(?P<mark>\+=|[^\s'\"`])",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Token(NamedTuple):
    """A text, a name that is quoted or not, a number or a mark."""

    kind: str
    text: str


def tokens_of(text: str) -> list[Token] | None:
    """The tokens of a text; None where a quote or a comment is open."""
    found, at = list[Token](), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or (text.startswith("/*", at) and match.lastgroup == "mark"):
            return None
        at, kind = match.end(), str(match.lastgroup)
        if kind == "blank":
            continue
        token = match[0]
        if kind == "text":
            token = _ESCAPED.sub(_unescaped, token[1:-1])
        elif token.startswith("`"):
            kind, token = "quoted", token[1:-1].replace("``", "`")
        found.append(Token(kind, token))
    return found


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 5:
        return chr(int(code[1:], 16)) if not 0xD800 <= int(code[1:], 16) < 0xE000 else "\ufffd"
    return {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}.get(code, code)
