"""Bills of materials in SPDX's tag-value format.

A document, package, file, snippet or license is called by its SPDX id and named by its name;
relationships are relations, and so are other tags, without the word for what they are of. A file
below a package is in it. Source: https://spdx.github.io/spdx-spec/v2.3/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxkg.kg.files.foreign.lines import joined_lines
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import Format, Intake, begins
from jaxkg.words import relation_words

_TAG = re.compile(r"([A-Za-z][A-Za-z0-9]*):\s*(.*)")
_BEGINS = {"PackageName": "package", "FileName": "file", "SnippetSPDXID": "snippet",
           "LicenseID": "license", "SPDXVersion": "document"}  # fmt: skip
_NAMES = ("DocumentName", "PackageName", "FileName", "SnippetName", "LicenseName")
_OWN = re.compile(r"^(package|file|snippet|document)(?=[A-Z])", re.IGNORECASE)
_WHO = re.compile(r"(?:Person|Organization|Tool): (.*?)\s*(?:\([^()]*\))?")
_NOTHING = ("NOASSERTION", "NONE")
_OPENS, _CLOSES = "<text>", "</text>"
_BEGUN = re.compile(rf"\s*[A-Za-z][A-Za-z0-9]*:\s*{_OPENS}")


def read_spdx(path: Path, intake: Intake) -> None:
    """Take the elements of a document and their relationships.

    Raises:
        JaxkgError: a line without a tag, more than are tolerated; a text that is not closed.
    """
    record: dict[str, Any] = {"is a": "document"}
    lists, joined, package = {"documents": [record]}, list[dict[str, str]](), ""
    for number, tag, value in _tags(path, intake):
        if tag in _BEGINS and tag != "SPDXVersion":
            record = {"is a": _BEGINS[tag]}
            lists.setdefault(f"{_BEGINS[tag]}s", []).append(record)
        who = _WHO.fullmatch(value)
        if tag == "Relationship":
            ends = value.split()
            if len(ends) != 3:
                intake.bad.note(path, number, value, "no relationship", "id RELATION id")
            elif not {ends[0], ends[2]} & {*_NOTHING}:
                joined.append(dict(zip(("source", "label", "target"), ends)))
        elif tag in ("SPDXID", "SnippetSPDXID", "LicenseID"):
            record["id"] = value
            package = value if record["is a"] == "package" else package
            if record["is a"] == "file" and package:
                joined.append({"source": package, "label": "CONTAINS", "target": value})
        elif tag in _NAMES:
            record["name"] = value
        elif value in _NOTHING or not value:
            intake.leave_out("tags that assert nothing")
        elif tag != "SPDXVersion":
            word = relation_words(_OWN.sub("", tag)) or tag
            record.setdefault(word, []).append(who[1] if who and who[1] else value)
    read_jsonl(path, intake, {**lists, "relationships": joined})


def _tags(path: Path, intake: Intake) -> Iterator[tuple[int, str, str]]:
    """Tags with their values; a text over several lines is one."""
    is_open = False

    def rest_of(line: str) -> str | None:
        nonlocal is_open
        rest = f" {line}" if is_open else None
        is_open = (is_open or _BEGUN.match(line) is not None) and _CLOSES not in line
        return rest

    for number, line in joined_lines(path, intake, rest_of):
        found = _TAG.fullmatch(line.strip())
        value, closed = found[2] if found else "", True
        if value.startswith(_OPENS):
            value, closed, _ = value.removeprefix(_OPENS).partition(_CLOSES)
        if found and closed:
            yield number, found[1], " ".join(value.split())
        elif found:
            why = "a <text> that is not closed"
            intake.bad.note(path, number, found[1], why, "</text> after it")
        elif line.strip() and not line.lstrip().startswith("#"):
            intake.bad.note(path, number, line, "no tag", "Tag: value")


FORMATS = (
    Format("spdx", "a bill of materials in SPDX's tag-value format",
           begins(r"^SPDXVersion:\s*SPDX-", 1.0, "it says SPDXVersion"), read_spdx),
)  # fmt: skip
