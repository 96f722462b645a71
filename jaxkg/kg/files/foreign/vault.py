"""A folder of Markdown notes that link to one another, as Obsidian, Logseq and Foam keep them.

A note is called by its path and named by its file, or by the title in its front matter. Keys of the
front matter, and `key:: value` in the text, are relations; `[[links]]`, and links to other notes'
files, lead from note to note; `#tags` are tags. A link to a note that is not there is a thing of
that name. The notes' texts are no facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.foreign.lines import numbered_lines, source_of
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff

_ENDS = (".md", ".markdown")
_LINK = re.compile(r"!?\[\[([^\[\]|#^]*)(?:[#^][^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_FILE_LINK = re.compile(
    r"(?<!!)\[[^\[\]]*\]\(<?([^()<>\s]+\.(?:md|markdown))(?:#[^()\s]*)?>?\)", re.I
)
_TAG = re.compile(r"(?<![\w/&#(])#(\w[\w/-]*)")
_FIELD = re.compile(r"[-*\s\[(]{0,40}([^\W\d_][\w -]{0,60})::(.+)")
_KEY = re.compile(r"([^\s#:'\"\[{-][^:]{0,200}?|\"[^\"]+\"):(?:\s+(.*)|\s*)")
_ATTACHED = re.compile(r"\.(png|jpe?g|gif|svg|webp|pdf|mp[34]|wav|mov|canvas|base|zip)$", re.I)
_CODE = re.compile(r"`[^`]*`")
_SORTS = ("type", "class", "kind", "is a")
_LEFT_OUT = {"cssclass", "cssclasses", "publish", "position"}


def _sniff(head: Head) -> Sniff:
    entries = head.entries or ()
    if ".obsidian" in entries or "logseq" in entries:
        return Sniff(1.0, "it has the settings of a vault of notes")
    files = [PurePosixPath(name) for name in entries if not name.startswith(".")]
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
    for note, file in notes.items():
        _Note(note, file, known, intake).read()


class _Note:
    """Reads one note."""

    def __init__(self, id: str, path: Path, known: dict[str, str], intake: Intake) -> None:
        self._id, self._path, self._known, self._intake = id, path, known, intake
        self._has_sort = False

    def read(self) -> None:
        intake, folder = self._intake, str(PurePosixPath(self._id).parent)
        lines = list(numbered_lines(self._path, intake))
        start = self._front_matter(lines)
        name = PurePosixPath(self._id).name
        intake.name(self._id, name)
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

    def _line(self, line: str, source: str) -> None:
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
            text = _bare(value)
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
        for number, key, values in self._keys(lines[1:end]):
            self._say(key, values, source_of(self._path, number, self._intake))
        return end + 1

    def _keys(self, lines: list[tuple[int, str]]) -> Iterator[tuple[int, str, list[str]]]:
        """The keys of YAML that are not nested, each with its value or several."""
        key, began, values = "", 0, list[str]()
        for number, line in lines:
            plain = line.strip()
            if not plain or plain.startswith("#"):
                continue
            item = re.fullmatch(r"\s*-\s+(.*)", line)
            if key and item:
                values.append(item[1])
                continue
            if key and line[:1] in " \t":
                if (values and values[0] in ("|", ">", "|-", ">-")) or (
                    values and not _KEY.fullmatch(plain)
                ):
                    values[0] = f"{values[0]} {plain}".lstrip("|>- ")
                else:
                    self._intake.leave_out("keys within keys of front matter")
                continue
            if key:
                yield began, key, values
            found = _KEY.fullmatch(line)
            if found is None:
                self._intake.leave_out("lines of front matter without a key")
                key = ""
                continue
            key, began, value = found[1].strip('"'), number, (found[2] or "").strip()
            listed = value.startswith("[") and value.endswith("]") and not value.startswith("[[")
            values = (
                re.findall(r'"[^"]*"|\'[^\']*\'|\[\[[^\]]*\]\]|[^,]+', value[1:-1])
                if listed
                else [value] * bool(value)
            )
        if key:
            yield began, key, values


def _bare(value: str) -> str:
    """A value without quotes and comment."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return " ".join(value[1:-1].split())
    value = re.sub(r"\s+#.*$", "", value)
    return "" if value in ("null", "~", "") else " ".join(value.split())


FORMATS = (Format("vault", "a folder of Markdown notes", _sniff, read_vault, takes_folders=True),)
