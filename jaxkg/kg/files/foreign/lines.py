"""Lines of a text file, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

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
