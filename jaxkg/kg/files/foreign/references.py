"""References as programs for literature write them: BibTeX, and tags (RIS, EndNote, PubMed).

An entry is called by its key and named by its title; "Dahl, Ingrid" is Ingrid Dahl. Sources:
https://www.bibtex.org/Format/, https://en.wikipedia.org/wiki/RIS_(file_format),
https://www.nlm.nih.gov/bsd/mms/medlineelements.html.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.foreign.lines import joined_lines
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import Format, Intake, begins, surest
from jaxkg.kg.files.tables.record_names import Malformed
from jaxkg.kg.files.textfile import text_chunks, toml_beside

_ENTRY = re.compile(r"^[ \t]*@[ \t]*(\w+)\s*([{(])", re.MULTILINE)
_TAG = re.compile(r"(%\S|[A-Z][A-Z0-9]{1,3}(?= {0,2}-))(?: *-)?(?: (.*))?")
_WORD = re.compile(r"[^\s\"#%'(),={}\\]+")
_DAY = re.compile(r"(\d{4})/(\d{0,2})/?(\d{0,2})(?:/.*)?")
_ACCENT = re.compile(r"\\([\"'`^~=.]|[uvHcrk](?![A-Za-z]))\s*(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))")
_COMMAND = re.compile(r"\\([A-Za-z]+)\s*(\{(?!\}))?")

_KNOWN = toml_beside(__file__)
_Record = dict[str, list[str]]


def read_bibtex(path: Path, intake: Intake) -> None:
    """Take the entries of a BibTeX file; what stands between them is a comment.

    Raises:
        JaxkgError: an entry that is none, more often than is tolerated; there is no other.
    """
    text = "".join(text_chunks(path, encoding=intake.options.encoding))
    macros = {name[:3].lower(): name for name in calendar.month_name[1:]}
    records, place = list[_Record](), 0
    while match := _ENTRY.search(text, place):
        sort, place = match[1].lower(), match.end()
        end = next(_outside(text, r"\}" if match[2] == "{" else r"\)", place), None)
        key, *fields = _split(text[place : end.start()], ",") if end else [""]
        place = end.end() if end else place
        try:
            if sort in ("comment", "preamble"):
                intake.leave_out(f"@{sort}")
            elif not key or end is None:
                raise Malformed("no key" if end else "nothing closes it")
            elif sort == "string":
                macros |= [_said(key, macros, intake)]
            else:
                said = dict(_said(field, macros, intake) for field in fields if field)
                records.append({"id": [key], "type": [sort]} | _in_parts(said, intake))
        except Malformed as error:
            number = text.count("\n", 0, match.start(1)) + 1
            expected = "@article{key, field = {value}, ...}"
            intake.bad.note(path, number, f"@{sort}{{{key}", str(error), expected)
    _take(path, records, intake)


def _outside(text: str, mark: str, place: int = 0) -> Iterator[re.Match[str]]:
    """Where a mark stands outside braces and quotes."""
    depth, quoted = 0, False
    for match in re.compile(rf'\\"|({mark})|[{{}}"]').finditer(text, place):
        if match[1] and not depth and not quoted:
            yield match
        elif match[0] == '"':
            quoted ^= not depth
        else:
            depth += (match[0] == "{") - (match[0] == "}")


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks.

    >>> _split("a, {b, c}", ","), _split('"x = y" # z', "#")
    (['a', '{b, c}'], ['"x = y"', 'z'])
    """
    places = [match.span() for match in _outside(text, mark)]
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends)]


def _said(field: str, macros: dict[str, str], intake: Intake) -> tuple[str, str]:
    """The name of a field, and its value as it is written, macros filled in."""
    name, *value = _split(field, "=")
    if len(value) != 1 or not _WORD.fullmatch(name):
        raise Malformed(f"{field[:60]!r} is no field")
    parts = list[str]()
    for part in _split(value[0], "#"):
        if len(part) > 1 and part[0] + part[-1] in ("{}", '""'):
            parts.append(part[1:-1])
        elif not _WORD.fullmatch(part):
            raise Malformed(f"{part[:60]!r} is no value")
        else:
            parts.append(macros.get(part.lower(), part))
            if not part.isdecimal() and part.lower() not in macros:
                intake.leave_out(f"what the macro {part[:40]!r} means, which is not defined")
    return name.lower(), "".join(parts)


def _in_parts(said: dict[str, str], intake: Intake) -> _Record:
    """Fields with the texts in them."""
    record = _Record()
    for name, value in said.items():
        if name in _KNOWN["people"]:
            texts = []
            for person in _split(" ".join(value.split()), " and "):
                last, *first = _split(person, ",")
                texts.append(_person([_plain(part) for part in (last, *reversed(first))]))
            if texts[-1] == "others":
                intake.leave_out(f"'and others' of an {name}")
                texts.pop()
        elif name in _KNOWN["listed"]:
            texts = [part.strip() for part in re.split("[;,]", _plain(value))]
        else:
            texts = [_plain(value)]
        record[f"own {name}" if name in ("id", "type") else name] = [*filter(None, texts)]
    return record


def _person(parts: Sequence[str]) -> str:
    """A name whose last part is first: Chidi Okoye, of "Okoye, Chidi"."""
    return " ".join(filter(None, (*parts[1:2], *parts[:1], *parts[2:])))


def _plain(text: str) -> str:
    r"""A text without LaTeX's commands.

    >>> _plain(r'{\"O}l \& {\ss} \emph{Salt}~{T}ide 201--219 {\LaTeX}')
    'Öl & ß Salt Tide 201-219 LaTeX'
    """
    letters, accents = _KNOWN["letters"], _KNOWN["accents"]
    text = _ACCENT.sub(lambda match: (match[2] or match[3]) + accents[match[1]], text)
    text = _COMMAND.sub(
        lambda match: letters.get(match[1], "" if match[2] else match[1]) + (match[2] or ""), text
    )
    text = re.sub(r"(?<!\\)[{}]", "", text).replace("~", " ").replace("--", "-")
    return unicodedata.normalize("NFC", " ".join(re.sub(r"\\(?=\W)", "", text).split()))


def read_tags(path: Path, intake: Intake) -> None:
    """Take the records of a file of tags, each of which begins as the first one does.

    Raises:
        JaxkgError: a line without a tag before any, more often than is tolerated.
    """
    records, words, begun = list[_Record](), dict[str, str](), False

    def rest_of(line: str) -> str | None:
        nonlocal begun
        match = _TAG.fullmatch(line)
        if match:
            begun = match[1] != "ER" and (begun or match[1] in _KNOWN["tags"])
        return None if match or not begun else f" {line.strip()}".rstrip()

    for number, line in joined_lines(path, intake, rest_of):
        match = _TAG.fullmatch(line)
        tag, text = (match[1], (match[2] or "").strip()) if match else ("", line.strip())
        words = words or _KNOWN["tags"].get(tag, {})
        if tag and tag == next(iter(words), ""):
            records.append({})
        elif not records:
            if text:
                intake.bad.note(path, number, line, "no record begins so", "TY  - JOUR")
            continue
        elif text and not tag:
            intake.leave_out("lines between records")
        word = words.get(tag, tag)
        if tag and text:
            day = _DAY.fullmatch(text)
            text = "-".join(filter(None, day.groups())) if day else text
            if word == "year" and len(text) > 4:
                records[-1]["date"], text = [text], text[:4]
            text = _KNOWN["sorts"].get(text, text) if word == "type" else text
            people = word in _KNOWN["people"]
            text = _person([part.strip() for part in text.split(",")]) if people else text
            records[-1].setdefault(word, []).append(text)
    _take(path, records, intake)


def _take(path: Path, records: Sequence[_Record], intake: Intake) -> None:
    if not records:
        raise JaxkgError(f"{path}: no references in it")
    plain = [{k: v[0] if len(v) == 1 else v for k, v in record.items() if v} for record in records]
    read_jsonl(path, intake, {"references": plain})


FORMATS = (
    Format("bibtex", "references in BibTeX",
           surest(begins(rf"\A{_ENTRY.pattern}", 0.9, "it begins with an entry, @"),
                  begins(_ENTRY.pattern, 0, "it has entries that begin with @",
                         ends=".bib .bibtex", both=0.9)), read_bibtex),
    Format("tags", "references in lines of tags: RIS, EndNote, PubMed",
           begins(r"\A\s*(?:TY  - \w|PMID- ?\d|%0 \w)", 0.95,
                  "its records begin with the same tag"), read_tags),
)  # fmt: skip
