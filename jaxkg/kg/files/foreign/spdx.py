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

from jaxkg.kg.files.foreign.lines import numbered_lines
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
    tag, began, parts = "", 0, list[str]()
    for number, line in numbered_lines(path, intake):
        if tag:
            text, closed, _ = line.partition(_CLOSES)
            parts.append(text)
            if closed:
                yield began, tag, " ".join(" ".join(parts).split())
                tag = ""
            continue
        found = _TAG.fullmatch(line.strip())
        if found is None:
            if line.strip() and not line.lstrip().startswith("#"):
                intake.bad.note(path, number, line, "no tag", "Tag: value")
        elif found[2].startswith(_OPENS):
            text, closed, _ = found[2].removeprefix(_OPENS).partition(_CLOSES)
            if closed:
                yield number, found[1], " ".join(text.split())
            else:
                tag, began, parts = found[1], number, [text]
        else:
            yield number, found[1], " ".join(found[2].split())
    if tag:
        intake.bad.note(path, began, tag, "a <text> that is not closed", "</text> after it")


FORMATS = (
    Format("spdx", "a bill of materials in SPDX's tag-value format",
           begins(r"^SPDXVersion:\s*SPDX-", 1.0, "it says SPDXVersion"), read_spdx),
)  # fmt: skip
