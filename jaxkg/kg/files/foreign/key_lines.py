"""Lines of a key and what it says, in blocks: calendars, vCards, directories (LDIF), packages.

A block lies between `BEGIN:VEVENT` and `END:VEVENT`, or before a blank line. A line that begins
with a blank goes on where the one above ends. Blocks become the document that JSON is. Sources: RFC
5545 and 6350, whose semicolons and commas part values; RFC 2849.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.foreign.lines import joined_lines
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, begins, surest

_LINE = re.compile(r'(?:\w+\.)?([A-Za-z][\w-]*)((?:;(?:"[^"]*"|[^;:"])*)*)(::?)[ \t]*(.*)')
_CALLED = {"dn": "id", "fn": "name", "cn": "name", "summary": "name", "objectclass": "type"}
_IN_BLOCKS = {**_CALLED, "uid": "id", "dtstart": "start", "dtend": "end"}
"""What standards call ids, names and sorts, in small letters; between BEGIN and END, times, too."""
_PARTED = re.compile(r"(?<!\\);|(?<!\\),(?! )")
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z?)?")
_ESCAPED = re.compile(r"\\(.)")
_DEEPEST = 16

_Block = dict[str, list[Any]]


def read_key_lines(path: Path, intake: Intake) -> None:
    """Take the blocks of a file as things.

    Raises:
        JaxkgError: a line without a key more often than is tolerated; an end without a beginning.
    """
    around: list[_Block] = [{}]
    blocks: list[_Block] = [{}]
    for number, line in _unfolded(path, intake):
        found = _LINE.fullmatch(line)
        if found is None:
            if line:
                intake.bad.note(path, number, line, "no key", "key: value")
            blocks += [{}] if blocks[-1] else []
        elif found[1].upper() == "BEGIN" and len(around) < _DEEPEST:
            sort = found[4].strip().lower().removeprefix("v")
            around[-1].setdefault(f"{sort}s", []).append(block := _Block())
            around.append(block)
        elif found[1].upper() == "END" and len(around) > 1:
            around.pop()
        elif found[1].upper() in ("BEGIN", "END"):
            raise JaxkgError(f"{path}:{number}: {line[:80]!r} is out of place")
        elif len(around) > 1:
            word, values = _said(*found.group(1, 2, 4))
            around[-1].setdefault(word, []).extend(values)
        else:
            text = _unpacked(found[4]) if found[3] == "::" else found[4]
            word = _CALLED.get(found[1].lower(), found[1])
            blocks[-1].setdefault(word, []).extend([text] if text else [])
            if found[4] and not text:
                intake.leave_out("values that are no text")
    if len(around) > 1:
        raise JaxkgError(f"{path}: a block has no END; is the file whole?")
    blocks = [block for block in blocks if block]
    firsts = Counter(next(iter(block)) for block in reversed(blocks))
    first = next((key for key, _ in firsts.most_common(1)), "")  # of as many the last one's
    records = [_alone(block) for block in blocks if next(iter(block)) == first]
    intake.leave_out(f"blocks that do not begin with {first!r}", len(blocks) - len(records))
    read_jsonl(path, intake, _alone(around[0]) or {path.name.split(".")[0]: records})


def _unfolded(path: Path, intake: Intake) -> Iterator[tuple[int, str]]:
    """Lines with those that go on with them, without comments; calendars, vCards and directories
    break within a word, and packages between two."""
    between: str | None = None

    def rest_of(line: str) -> str | None:
        nonlocal between
        if line.startswith("#"):
            return ""
        if between is None and (key := line.partition(":")[0].lower().strip()):
            between = "" if key in ("begin", "version", "dn") else " "
        if line[:1] in (" ", "\t"):
            return f"{between or ''}{line[1:]}"
        return None

    return joined_lines(path, intake, rest_of)


def _said(key: str, parameters: str, text: str) -> tuple[str, list[Any]]:
    """What a line between BEGIN and END says under which key.

    >>> _said("TEL", ";TYPE=work", "+47 1"), _said("CATEGORIES", "", "Work,Sea")
    (('tel work', ['+47 1']), ('categories', ['Work', 'Sea']))
    >>> _said("ORGANIZER", ";CN=Ann Lie", "mailto:ann@x.org")
    ('organizer', [{'id': 'ann@x.org', 'name': 'Ann Lie'}])
    """
    told = (part.partition("=") for part in parameters.split(";"))
    said = {name.strip().lower(): value.strip('"') for name, _, value in told if value}
    word = key.lower().removeprefix("x-")
    if "cn" in said:
        return word, [{"id": text.removeprefix("mailto:"), "name": said.pop("cn"), **said}]
    word = _IN_BLOCKS.get(word, f"{word} {said.get('type', '')}".strip().lower())
    parts = [text] if word == "name" else _PARTED.split(text)
    return word, [_plain(part) for part in parts if part]


def _plain(text: str) -> str:
    """A value without escapes; of a time, as ISO 8601 has it.

    >>> _plain("20240304T090000Z"), _plain(r"Pier 4\\, Ely")
    ('2024-03-04T09:00:00', 'Pier 4, Ely')
    """
    if time := _TIME.fullmatch(text):
        day, clock = "-".join(time.group(1, 2, 3)), ":".join(filter(None, time.group(4, 5, 6)))
        return f"{day}T{clock}" if clock else day
    return _ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], text).strip()


def _unpacked(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _alone(block: _Block) -> dict[str, Any]:
    """A block with the values alone that come once."""
    found: dict[str, Any] = {}
    for key, several in block.items():
        texts = all(isinstance(item, str) for item in several)
        values = list(dict.fromkeys(several)) if texts else several
        inner = [
            _alone(item) if isinstance(item, dict) and "id" not in item else item for item in values
        ]
        lone = len(inner) == 1 and not isinstance(inner[0], dict)
        found[key] = inner[0] if lone else inner
    return found


def _sniff(head: Head) -> Sniff:
    lines = head.text.splitlines()[: None if head.is_whole else -1]
    lines = [line.rstrip() for line in lines if not line.startswith("#")]
    keys = [found and found[1] for found in map(_LINE.fullmatch, lines)]
    above = [not line for line in ["", *lines]]
    firsts = [key for key, blank in zip(keys, above) if key and blank]
    even = all(key or not line or line[0] in " \t" for key, line in zip(keys, lines))
    if even and len(firsts) > 1 and len(set(firsts[-2:])) == 1:
        return Sniff(0.65, f"its blocks of keys begin with {firsts[-1]!r}")
    return NO


FORMATS = (
    Format("keys", "lines of keys in blocks: calendars, vCards, directories (LDIF), packages",
           surest(begins(r"(?i)\A\s*BEGIN:V[A-Z]+", 0.95, "it begins with BEGIN:V..."),
                  begins(r"\A(?:version: 1(?=\s)|#.*\n|\s)*dn:", 0.95,
                         "its blocks of keys begin with 'dn'"), _sniff), read_key_lines),
)  # fmt: skip
