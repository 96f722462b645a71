"""A folder of Markdown notes that link to one another, as Obsidian, Logseq and Foam keep them.

A note is called by its path and named by its file, or by the title in its front matter. Keys of the
front matter, and `key:: value` in the text, are relations; `[[links]]`, and links to other notes'
files, lead from note to note; `#tags` are tags. A link to a note that is not there is a thing of
that name. Lists below headings that many notes have are what the heading says of the note, with the
amounts that items begin with: the ingredients of recipes. The notes' other texts are no facts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff
from jaxkg.kg.files.yaml_text import read_yaml

_ENDS = (".md", ".markdown")
_LINK = re.compile(r"!?\[\[([^\[\]|#^]*)(?:[#^][^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_FILE_LINK = re.compile(
    r"(?<!!)\[[^\[\]]*\]\(<?([^()<>\s]+\.(?:md|markdown))(?:#[^()\s]*)?>?\)", re.I
)
_TAG = re.compile(r"(?<![\w/&#(])#(\w[\w/-]*)")
_FIELD = re.compile(r"[-*\s\[(]{0,40}([^\W\d_][\w -]{0,60})::(.+)")
_BARE_LINKS = re.compile(r"(?m)^(\s*(?:- |[^\s:#-][^:\n]*: )\s*)(!?\[\[(?!\[).*\]\])\s*$")
"""Links without quotes, which are lists in lists to YAML."""
_ATTACHED = re.compile(r"\.(png|jpe?g|gif|svg|webp|pdf|mp[34]|wav|mov|canvas|base|zip)$", re.I)
_CODE = re.compile(r"`[^`]*`")
_HEADING = re.compile(r"#{2,6} +(.*?)[ #]*")
_ITEM = re.compile(r"\s{0,3}[-*+] +(?!\[)(.*)")
_UNIT = "kg|g|mg|ml|cl|dl|l|tbsp|tsp|oz|lb|cups?|pints?|EL|TL|km|m|cm|mm|h|min"
_AMOUNT = re.compile(rf"(\d+(?:[.,/]\d+)?|[½¼¾])(?: ?({_UNIT})\b\.?)? +(\S.*)")
_WORDS, _SHARE, _FEWEST = 12, 3, 3
"""Words of an item that is no sentence; of so many notes one and so many have a heading that says
something of each."""
_SORTS = ("type", "class", "kind", "is a")
_LEFT_OUT = {"cssclass", "cssclasses", "publish", "position"}


def _sniff(head: Head) -> Sniff:
    files = [PurePosixPath(name) for name in head.entries or () if not name.startswith(".")]
    files = [file for file in files if file.suffix and not file.stem.isupper()]  # no README
    notes = sum(file.suffix.lower() in _ENDS for file in files)
    return Sniff(0.8, "most of it are Markdown notes") if 2 * notes > len(files) else NO


def read_vault(path: Path, intake: Intake) -> None:
    """Take the notes of a folder and of the folders in it.

    Raises:
        JaxkgError: there is no note in it.
    """
    if not path.is_dir():
        raise JaxkgError(f"{path}: a vault of notes is a folder, and this is a file")
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in _ENDS
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise JaxkgError(f"{path}: no note in it; their names end in .md")
    notes = {file.relative_to(path).with_suffix("").as_posix(): file for file in files}
    known: dict[str, str] = {}
    for note in sorted(notes, key=lambda one: (one.count("/"), one)):
        known.setdefault(note.casefold(), note)
        known.setdefault(PurePosixPath(note).name.casefold(), note)
    read = [_Note(note, file, known, intake) for note, file in notes.items()]
    for note in read:
        note.read()
    having = Counter(heading for note in read for heading in note.lists)
    often = {h for h, n in having.items() if n >= _FEWEST and _SHARE * n >= len(read)}
    for note in read:
        note.take_lists(often)


class _Note:
    """Reads one note.

    Attributes:
        lists: items below each heading, each with its source.
    """

    def __init__(self, id: str, path: Path, known: dict[str, str], intake: Intake) -> None:
        self._id, self._path, self._known, self._intake = id, path, known, intake
        self._has_sort, self._heading = False, ""
        self.lists: dict[str, list[tuple[str, str]]] = {}

    def read(self) -> None:
        intake, folder = self._intake, str(PurePosixPath(self._id).parent)
        lines = list(numbered_lines(self._path, intake))
        start = self._front_matter(lines)
        intake.name(self._id, PurePosixPath(self._id).name)
        if not self._has_sort:
            intake.sort(self._id, "note")
        if folder != ".":
            intake.fact(self._id, "folder", folder)
        fenced = False
        for number, line in lines[start:]:
            if line.lstrip().startswith(("```", "~~~")):
                fenced = not fenced
            elif not fenced:
                self._line(_CODE.sub(" ", line), source_of(self._path, number, intake))

    def take_lists(self, headings: Set[str]) -> None:
        """Take the items below some headings, and how much of each."""
        for heading, items in self.lists.items():
            for text, source in items if heading in headings else ():
                amount = _AMOUNT.fullmatch(text)
                if not amount:
                    self._fact(heading, text, source)
                    continue
                number, unit, rest = amount.groups()
                thing, _, how = rest.partition(", ")
                said = {"amount": [f"{number} {unit}" if unit else number]}
                said |= {"preparation": [how]} if how else {}
                self._intake.qualified(self._id, heading, thing, said, source)

    def _line(self, line: str, source: str) -> None:
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        self._heading = heading[1].strip().casefold() if heading else self._heading
        if self._heading and item and "[[" not in line and "::" not in line:
            text = item[1].strip()
            if len(text.split()) <= _WORDS:
                self.lists.setdefault(self._heading, []).append((text, source))
        field = _FIELD.fullmatch(line)
        if field:
            value = field[2].strip()
            closed = value if "[[" in value else value.rstrip("])")
            self._say(field[1].strip(), [closed], source)
            return
        for link in _LINK.findall(line):
            self._fact("links to", self._note(link), source)
        for link in _FILE_LINK.findall(line):
            if "://" not in link:
                self._fact("links to", self._note(unquote(link)), source)
        for tag in _TAG.findall(_FILE_LINK.sub("", _LINK.sub("", line))):
            if any(map(str.isalpha, tag)):
                self._fact("tag", tag, source)

    def _fact(self, relation: str, end: str, source: str) -> None:
        if end:
            self._intake.fact(self._id, relation, end, source)

    def _note(self, link: str) -> str:
        """The id of the note that a link leads to, or its words; "" of a picture and the like."""
        plain = link.strip().removeprefix("./").strip("/")
        if _ATTACHED.search(plain):
            self._intake.leave_out("links to pictures and other files")
            return ""
        plain = re.sub(r"\.(md|markdown)$", "", plain, flags=re.IGNORECASE)
        own = PurePosixPath(self._id).parent / plain
        for path in (own.as_posix(), plain, PurePosixPath(plain).name):
            if found := self._known.get(path.casefold()):
                return found
        return " ".join(plain.split())

    def _say(self, key: str, values: list[str], source: str) -> None:
        """Take what a key says."""
        word = " ".join(key.casefold().split())
        for value in values:
            links = [note for link in _LINK.findall(value) if (note := self._note(link))]
            text = "" if value in ("null", "~") else value
            if word in ("title", "name") and text:
                self._intake.name(self._id, text)
            elif word in ("alias", "aliases") and text:
                self._intake.names.alias(self._id, text)
            elif word in ("tag", "tags"):
                for tag in re.split(r"[,\s]+", text):
                    self._fact("tag", tag.lstrip("#"), source)
            elif word in _SORTS:
                for sort in links or filter(None, [text]):
                    self._has_sort = True
                    self._intake.sort(self._id, sort)
            elif word in _LEFT_OUT:
                self._intake.leave_out(f"{word} of notes")
            else:
                for end in links or [text]:
                    self._fact(key.strip(), end, source)

    def _front_matter(self, lines: list[tuple[int, str]]) -> int:
        """Take what stands between two lines of dashes at the start; where the text begins."""
        if not lines or lines[0][1].rstrip() != "---":
            return 0
        ends = (at for at, (_, line) in enumerate(lines[1:], 1) if line.rstrip() in ("---", "..."))
        end = next(ends, 0)
        if not end:
            return 0  # a rule, and no front matter
        places = {line.partition(":")[0].strip("\"' "): n for n, line in reversed(lines[1:end])}
        text = "\n".join(line for _, line in lines[:end])
        text = _BARE_LINKS.sub(lambda link: link[1] + json.dumps(link[2], ensure_ascii=False), text)
        try:
            documents = read_yaml(text, self._path.name)
        except JaxkgError as error:
            if isinstance(error.__cause__, ModuleNotFoundError):
                raise
            self._intake.leave_out(f"front matter ({error})")
            documents = []
        for key, value in _said(documents[0] if documents else None):
            number = places.get(key.partition(" ")[0], 1)
            self._say(key, value, source_of(self._path, number, self._intake))
        return end + 1


def _said(value: Any, key: str = "") -> Iterator[tuple[str, list[str]]]:
    """Keys, those of objects within behind theirs, each with its texts."""
    several = value if isinstance(value, list) else [value]
    plain = [item for item in several if not isinstance(item, dict | list) and item is not None]
    if key and plain:
        texts = (item if isinstance(item, str) else json.dumps(item) for item in plain)
        yield key, [" ".join(text.split()) for text in texts]
    for item in several:
        if isinstance(item, list):
            yield from _said(item, key)
        for name, inner in item.items() if isinstance(item, dict) else ():
            yield from _said(inner, f"{key} {name}".strip())


FORMATS = (Format("vault", "a folder of Markdown notes", _sniff, read_vault, takes_folders=True),)
