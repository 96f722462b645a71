"""Tables of columns as wide as the dashes below their headers, as clients of databases print them.

id  name           day
--- -------------- ----------
7   List on Sylt   2024-01-02
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from jaxkg.kg.files.delimited import Row, batched
from jaxkg.kg.files.protocol import Format, Intake, begins
from jaxkg.kg.files.tables.table import take_table
from jaxkg.kg.files.textfile import text_chunks

_RULE = re.compile(r"[ +|]*-{2,}(?:[ +|]+-+)+[ +|-]*")
_DASHES = re.compile(r"-+")
_COUNT = re.compile(r"\(\d+ rows?\)")


def read_fixed_width(path: Path, intake: Intake) -> None:
    """Take a table whose header stands above a line of dashes; rows end at a blank line.

    Raises:
        JaxkgError: see `jaxkg.kg.files.tables.table.take_table`.
    """
    intake.tell(take_table(path, path.name.split(".")[0], batched(_rows(path, intake)), intake))


def _rows(path: Path, intake: Intake) -> Iterator[Row]:
    text = "".join(text_chunks(path, encoding=intake.options.encoding))
    above, starts = "", list[int]()
    for number, line in enumerate(text.splitlines(), start=1):
        if not starts and _RULE.fullmatch(line):
            starts = [match.start() for match in _DASHES.finditer(line)]
            yield number - 1, cells(above, starts)
        elif starts and (not line.strip() or _COUNT.fullmatch(line)):
            return
        elif starts and not _RULE.fullmatch(line):
            yield number, cells(line, starts)
        above = line


def cells(line: str, starts: list[int]) -> list[str]:
    """The cells of a line, by where its columns begin.

    >>> cells(" 7 | Ely  | 12", [0, 5, 12]), cells("7", [0, 3])
    (['7', 'Ely', '12'], ['7', ''])
    """
    return [line[a:b].strip(" |\t") for a, b in zip(starts, [*starts[1:], len(line) or None])]


FORMATS = (
    Format("fixed", "columns as wide as the dashes below their headers",
           begins(rf"\A[^\n]*\w[^\n]*\n{_RULE.pattern}\s*$", 0.7, "dashes stand below its header"),
           read_fixed_width),
)  # fmt: skip
