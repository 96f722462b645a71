"""SD files of chemistry: molecules, each with what is said of it; their atoms are left out.

Source: BIOVIA, CTfile Formats, SDfiles. A record ends with `$$$$`. Its first line names it, and
after the atoms a line `> <KEY>` stands above the lines of a value and a blank one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import Format, Intake, begins
from jaxkg.kg.files.textfile import text_chunks

_KEY = re.compile(r">.*<([^<>]+)>.*")
_END = "$$$$"


def read_molecules(path: Path, intake: Intake) -> None:
    """Take the molecules of a file as things.

    Raises:
        JaxkgError: nothing is said of any of them.
    """
    text = "".join(text_chunks(path, encoding=intake.options.encoding))
    records = list(molecules(text.splitlines()))
    if not any(len(record) > 1 for record in records):
        raise JaxkgError(f"{path}: molecules of which nothing is said: no line `> <KEY>`")
    intake.leave_out("atoms and bonds of molecules", len(records))
    read_jsonl(path, intake, {"molecules": records})


def molecules(lines: Iterable[str]) -> Iterator[dict[str, str | list[str]]]:
    """Each record of some lines, with its values by their keys.

    >>> text = "Water\\n  made\\n\\nM  END\\n>  <CAS>  (1)\\n7732-18-5\\n\\n$$$$\\n"
    >>> list(molecules(text.splitlines()))
    [{'name': 'Water', 'CAS': '7732-18-5'}]
    """
    above: list[str] = []
    said: dict[str, list[str]] = {}
    values: list[str] | None = None
    for line in [*lines, _END]:
        if line.strip() == _END:
            if any(map(str.strip, above)):
                name = {"name": above[0].strip()} if above[0].strip() else {}
                texts = {key: text if text[1:] else text[0] for key, text in said.items() if text}
                yield {**texts, **name} if "name" in texts else {**name, **texts}
            above, said, values = [], {}, None
        elif key := _KEY.fullmatch(line.strip()):
            values = said.setdefault(key[1].strip(), [])
        elif values is None:
            above.append(line)
        elif line.strip():
            values.append(line.strip())


FORMATS = (
    Format("sdf", "SD files: molecules and what is said of them",
           begins(r"M  END\s*$", 0.8, "its molecules end with 'M  END'", ends=".sdf .sd .mol",
                  both=0.9), read_molecules),
)  # fmt: skip
