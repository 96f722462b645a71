"""Lines of a text file, one by one, and the statements of scripts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.textfile import line_blocks

_Token = TypeVar("_Token", bound=Any)


def numbered_lines(path: Path, intake: Intake) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, counted from 1, without what ends them."""
    told = intake.options
    for first, lines in line_blocks(path, encoding=told.encoding, on_progress=told.on_progress):
        for number, line in enumerate(lines, start=first):
            yield number, line.rstrip("\r")


def source_of(path: Path, number: int, intake: Intake) -> str:
    """Where a fact stands, if that is to be kept; else ""."""
    return f"{path.name}:{number}" if intake.options.by_line else ""


def statements(
    path: Path,
    lines: Iterable[tuple[int, str]],
    remarks: tuple[str, ...],
    tokens_of: Callable[[str], list[_Token] | None],
    intake: Intake,
) -> Iterator[tuple[int, list[_Token]]]:
    """Statements that semicolons part, as tokens, each with the number of its first line.

    Args:
        remarks: what lines begin with that say nothing between statements.
        tokens_of: tokens, which have a kind and a text, of a text; None where a quote is open.

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
        if tokens is None and number:
            fewest = 2 * len(held)  # a text holds this semicolon; all is looked at again, seldom
            continue
        if tokens is None:
            why, expected = "a text or comment that is not closed", "a quote after it"
            return intake.bad.note(path, first, held[0], why, expected)
        held, fewest = [], 0
        parts = itertools.groupby(tokens, lambda token: (token.kind, token.text) == ("mark", ";"))
        yield from ((first, list(part)) for is_end, part in parts if not is_end)
