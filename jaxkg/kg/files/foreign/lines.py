"""Lines of a text file, one by one, and tokens and statements of languages in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.textfile import line_blocks


def numbered_lines(path: Path, intake: Intake) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, counted from 1, without what ends them."""
    told = intake.options
    for first, lines in line_blocks(path, encoding=told.encoding, on_progress=told.on_progress):
        for number, line in enumerate(lines, start=first):
            yield number, line.rstrip("\r")


def joined_lines(
    path: Path, intake: Intake, rest_of: Callable[[str], str | None]
) -> Iterator[tuple[int, str]]:
    """The lines of a file, each with those that go on where it ends and the number of the first.

    Args:
        rest_of: what a line adds to the one above, unless that is blank; None where it begins anew.
    """
    first, parts = 0, [""]
    for number, line in numbered_lines(path, intake):
        rest = rest_of(line)
        if rest is None or (rest and not parts[0]):
            if first:
                yield first, "".join(parts)
            first, parts = number, [line.rstrip()]
        else:
            parts.append(rest)
    if first:
        yield first, "".join(parts)


def source_of(path: Path, number: int, intake: Intake) -> str:
    """Where a fact stands, if that is to be kept; else ""."""
    return f"{path.name}:{number}" if intake.options.by_line else ""


class Token(NamedTuple):
    """A name that is quoted or not, a text, a number or a mark.

    Attributes:
        at: where it begins.
        depth: within how many brackets it stands; a bracket counts as outside its own.
    """

    kind: str
    text: str
    at: int = 0
    depth: int = 0

    def says(self, *words: str) -> bool:
        """Whether it is one of some words, in any case, or marks."""
        return self.kind in ("name", "mark") and self.text.upper() in words


END = Token("end", "")


def scan(
    text: str, pattern: re.Pattern[str], meaning: Callable[[re.Match[str]], tuple[str, str]]
) -> list[Token]:
    """The tokens of a text; the last is of the kind "open" where a quote or comment is not closed.

    Args:
        pattern: of a token, with a group for each kind; "blank" is passed over.
        meaning: the kind of a match, and its text.
    """
    found, end, depth = list[Token](), 0, 0
    for match in pattern.finditer(text):
        if match.start() != end:
            break
        is_mark = match.lastgroup == "mark"
        if is_mark and (match[0] in "'\"`" or text.startswith("/*", end)):
            break
        depth -= is_mark and match[0] == ")"
        if match.lastgroup != "blank":
            found.append(Token(*meaning(match), end, depth))
        depth += is_mark and match[0] == "("
        end = match.end()
    return found if end == len(text) else [*found, Token("open", text[end : end + 1], end)]


class Tokens:
    """Tokens, and the place that is read; behind the last one is `END`."""

    def __init__(self, tokens: Sequence[Token] = ()) -> None:
        self._tokens, self._at = tokens, 0

    def _peek(self, ahead: int = 0) -> Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else END

    def _next(self) -> Token:
        self._at += 1
        return self._peek(-1)

    def _accept(self, *words: str) -> bool:
        """Pass the next token if it is one of some words or marks."""
        found = self._peek().says(*words)
        self._at += found
        return found

    def _expect(self, *words: str) -> None:
        for word in words:
            if not self._accept(word):
                self._fail(repr(word.lower()))

    def _is_word(self) -> bool:
        return self._peek().kind in ("name", "quoted")

    def _word(self) -> str:
        if not self._is_word():
            self._fail("a name")
        return self._next().text

    def _fail(self, expected: str) -> NoReturn:
        """Raise an error that tells what should be here."""
        raise NotImplementedError


def statements(
    path: Path,
    lines: Iterable[tuple[int, str]],
    remarks: tuple[str, ...],
    tokens_of: Callable[[str], list[Token]],
    intake: Intake,
) -> Iterator[tuple[int, list[Token]]]:
    """Statements that semicolons part, as tokens, each with the number of its first line.

    Args:
        remarks: what lines begin with that say nothing between statements.
        tokens_of: those of a text, see `scan`.

    Raises:
        JaxkgError: a quote or comment is open at the end, if that is not tolerated.
    """
    first, held, fewest = 1, list[str](), 0
    for number, line in itertools.chain(lines, [(0, "")]):
        if not held and number and (not line.strip() or line.startswith(remarks)):
            continue
        first = first if held else number
        held.append(line)
        if number and (not line.rstrip().endswith(";") or len(held) < fewest):
            continue
        tokens = tokens_of("\n".join(held))
        is_open = bool(tokens) and tokens[-1].kind == "open"
        if is_open and number:
            fewest = 2 * len(held)  # a text holds this semicolon; all is looked at again, seldom
            continue
        if is_open:
            why, expected = "a text or comment that is not closed", "a quote after it"
            return intake.bad.note(path, first, held[0], why, expected)
        held, fewest = [], 0
        parts = itertools.groupby(tokens, lambda token: token.says(";"))
        yield from ((first, list(part)) for is_end, part in parts if not is_end)
