"""The statements of a Cypher script, as tokens."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from jaxkg.kg.files.foreign.lines import numbered_lines
from jaxkg.kg.files.protocol import Intake

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


def statements(path: Path, intake: Intake) -> Iterator[tuple[int, list[Token]]]:
    """Statements as tokens, each with the number of its first line."""
    first, lines, waits = 1, list[str](), 0
    for number, line in itertools.chain(numbered_lines(path, intake), [(0, "")]):
        if not lines and (not line.strip() or line.startswith((":", "//"))) and number:
            continue  # a command of the shell, or a remark
        first = first if lines else number
        lines.append(line)
        if number and (not line.rstrip().endswith(";") or len(lines) < waits):
            continue
        tokens = _tokens("\n".join(lines))
        if tokens is None and number:
            waits = 2 * len(lines)  # a text holds this semicolon; all is looked at again, seldom
            continue
        if tokens is None:
            why, expected = "a text or comment that is not closed", "a quote after it"
            intake.bad.note(path, first, lines[0], why, expected)
            return
        statement: list[Token] = []
        for token in [*tokens, Token("mark", ";")]:
            if token == ("mark", ";"):
                yield first, statement
                statement = []
            else:
                statement.append(token)
        lines, waits = [], 0


def _tokens(text: str) -> list[Token] | None:
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
