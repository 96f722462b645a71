"""XML of any kind, TOML, YAML and INI as the documents that JSON is, read by `jaxkg.kg.files.json`.

An element is an object: its attributes and the elements in it are its keys, several of one name a
list, and what is but text a text. A pair of a name and a value, as `<tag k="..." v="..."/>` and
`<Data name="..."><value>`, is a key and what it says. Entities that a file defines are refused:
with them a small file becomes a huge one.
"""

from __future__ import annotations

import configparser
import itertools
import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import DEEPEST, LARGEST
from jaxkg.kg.files.json.containers import without_containers
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.json.wrapping import PAIRS
from jaxkg.kg.files.others import how_to_bring
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, begins, named, surest
from jaxkg.kg.files.tables.cells import as_json
from jaxkg.kg.files.tables.record_names import is_list
from jaxkg.kg.files.textfile import text_chunks
from jaxkg.kg.files.xml_elements import walk
from jaxkg.kg.files.yaml_text import read_yaml
from jaxkg.words import relation_words, singular

_OF_THE_FILE = ("xmlns", "xsi:", "xml:", "schemaLocation")
"""What attributes begin with that say something of the file alone."""
_TEXT = "#text"
_CALLS = frozenset(("id", "ui", "key", "uid"))
_CALLED = _CALLS | {"name", "title", "label"}
_NAMED = ("simpledata", "data", "field", "property", "param", "str", "int", "float", "bool", "date")
"""Elements that say what their attribute `name` names: KML, MySQL's and Solr's exports."""
_LONE_WORDS = "term href value val when label uri url resource string"
_LONE = frozenset(_LONE_WORDS.split())
"""Attributes, and elements, that are, alone, what their element says."""


def xml_document(path: Path, intake: Intake) -> tuple[str, Any]:
    """The name of the first element of an XML file, and the file as a document.

    Raises:
        JaxkgError: see `jaxkg.kg.files.xml_elements.walk`; it is too deep, or too large to be read
            whole.
    """
    if path.stat().st_size > LARGEST:
        raise JaxkgError(f"{path}: XML of more than {LARGEST:,} bytes; part it into several files")
    sorts = defaultdict[str, set[str]](set)
    around = [whole := _Element("", {})]

    def start(name: str, said: dict[str, str], line: int) -> None:
        if len(around) > DEEPEST:
            raise JaxkgError(f"{path}:{line}: elements are nested deeper than {DEEPEST}")
        element = _Element(name, {
            key.rpartition(":")[2]: value.strip()
            for key, value in said.items()
            if (not key.startswith(_OF_THE_FILE) or key == "xml:id") and value.strip()
        })  # fmt: skip
        if "xsi:type" in said and not "xs:" <= said["xsi:type"] < "xsd;":
            element.attributes.setdefault("type", said["xsi:type"].rpartition(":")[2])
        sorts[name].add(said.get(_sort_in(said), ""))
        around[-1].parts.append(element)
        around.append(element)

    def take(inner: _Element, outer: _Element) -> None:
        for part in inner.parts:
            if isinstance(part, str):
                inner.flow.append(part)
                inner.has_text |= bool(part.strip())
            else:
                take(part, inner)
        name = inner.name.rpartition(":")[2]
        flow, said = " ".join("".join(inner.flow).split()), {**inner.attributes, **inner.said}
        if inner.has_text:  # <i>in vitro</i> is a part of its sentence
            said = {**(inner.attributes if inner.is_inline else said), _TEXT: flow}
        elif not inner.said and (word := _own_text(name, said)):
            said[_TEXT] = said.pop(word)
        if said.keys() <= {_TEXT}:
            outer.flow.append(flow)
        else:
            outer.is_inline = False
        key, value = (name, said.get(_TEXT) or said) if outer is whole else _said(name, said)
        parts = {key: value}
        if isinstance(value, dict) and outer is not whole:
            word, sort = "" if _TEXT in said else _lone_text(name, inner), _sort_in(value)
            if word:
                value[_TEXT] = value.pop(word)
            if _TEXT in value:
                key = name if not word or sort else f"{name} {word}"
                if sort and len(sorts[inner.name]) > 1 and name.lower() not in _CALLED:
                    key = f"{name} {value.pop(sort)}"
                parts = {key: value.pop(_TEXT)} | {f"{name} {w}": value[w] for w in value}
        for key, value in parts.items():
            if value in ("", {}, []):
                intake.leave_out("elements that say nothing")
            else:
                again = key in outer.said
                if again and isinstance(value, str) and value in _several(outer.said[key]):
                    continue  # a title, and the same for another reader
                outer.said[key] = [*_several(outer.said[key]), *_several(value)] if again else value

    def text(piece: str) -> None:
        around[-1].parts.append(piece)

    walk(path, start, lambda _: around.pop(), text, intake.options.on_progress)
    for element in whole.parts:
        if isinstance(element, _Element):
            take(element, whole)
    root = next(iter(whole.said), "")
    several, ids = set[str](), set[str]()
    _look(whole.said.get(root), several, ids)
    return root, without_containers(_even(whole.said.get(root), several, ids))


class _Element:
    """An element; `parts` is what is in it, `flow` the texts in it and within, in order."""

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self.name, self.attributes, self.said = name, attributes, dict[str, Any]()
        self.parts = list[str | _Element]()
        self.flow, self.has_text, self.is_inline = list[str](), False, True


def _sort_in(said: dict[str, Any]) -> str:
    return next((key for key in said if key.lower().endswith("type")), "")


def _own_text(name: str, said: dict[str, Any]) -> str:
    """The attribute that is called as its element begins, and is what that says; or "".

    >>> _own_text("address", {"addr": "::1", "addrtype": "v6"}), _own_text("port", {"portid": "1"})
    ('addr', '')
    """
    known = {*_CALLED, _sort_in(said)}
    words = (word for word in said if len(word) > 2 and name.lower().startswith(word.lower()))
    return next((word for word in words if word.lower() not in known), "")


def _lone_text(name: str, element: _Element) -> str:
    """The one element in another, where that says nothing else and it is but a text; or ""."""
    word, *others = sorted(element.said, key=len) or [""]
    names = _CALLED.intersection(map(str.lower, (name, *element.attributes, word)))
    lone = element.attributes and not names and isinstance(element.said.get(word), str)
    return word if lone and all(other.startswith(f"{word} ") for other in others) else ""


def _look(value: Any, several: set[str], ids: set[str]) -> None:
    """Gather the names of elements that come several times in one, and ids of elements."""
    for item in value if isinstance(value, list) else ():
        _look(item, several, ids)
    for key, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, list):
            several.add(key)
        if key.lower() == "id" and isinstance(item, str):
            ids.add(item)
        _look(item, several, ids)


def _even(value: Any, several: set[str], ids: set[str]) -> Any:
    """A value in which an element that comes several times elsewhere is a list of one, and what
    refers to elements is their ids.

    >>> _even({"a": {"x": "#i"}, "b": "#i #j"}, {"a"}, {"i", "j"})
    {'a': [{'x': 'i'}], 'b': ['i', 'j']}
    """
    if isinstance(value, dict):
        evened = ((key, _even(item, several, ids)) for key, item in value.items())
        return {key: [v] if key in several and isinstance(v, dict) else v for key, v in evened}
    if isinstance(value, list):
        return [_even(item, several, ids) for item in value]
    marks = value.split() if isinstance(value, str) and value.startswith("#") else []
    if marks and all(item[0] == "#" and item[1:] in ids for item in marks):
        return marks[0][1:] if len(marks) == 1 else [item[1:] for item in marks]
    return value


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _said(name: str, said: dict[str, Any]) -> tuple[str, Any]:
    """The key that an element is, and what is under it.

    >>> _said("tag", {"k": "amenity", "v": "cafe"}), _said("groups", {"group": ["a", "b"]})
    (('amenity', 'cafe'), ('groups', ['a', 'b']))
    >>> _said("SimpleData", {"name": "HEIGHT", "#text": "910"})
    ('HEIGHT', '910')
    >>> _said("author", {"name": "Ann"}), _said("name", {"#text": "Ann"})
    (('author', {'name': 'Ann'}), ('name', 'Ann'))
    """
    said = dict(said)
    text = said.pop(_TEXT, "")
    if text and said.keys() == {"name"} and name.lower() in _NAMED:
        return said["name"], text
    if text and all(isinstance(item, str) for item in said.values()):
        calls = [
            key for key in said if key.lower() in _CALLS or (key == "ref" and said[key][0] == "#")
        ]
        known = said.pop(calls[0]) if calls else ""
        said = {"id": known, "name": text, **said} if known else {_TEXT: text, **said}
    elif text:
        said["text"] = text
    if said.keys() == {_TEXT}:
        return name, text
    for key, value in PAIRS if name.lower() in _CALLED else (*PAIRS, ("type", "value")):
        if said.keys() == {key, value} and all(isinstance(said[item], str) for item in said):
            return said[key], said[value]
    if len(said) == 1:
        ((own, held),) = said.items()
        if isinstance(held, str) and own in _LONE:
            return name, held
        # A list is called as what is in it: <authors><author>.
        last = (relation_words(own).lower().split() or [""])[-1]
        listed = singular((relation_words(name).lower().split() or [""])[-1]) == singular(last)
        if own != name and (listed or (isinstance(held, list) and not is_list(held))):
            return name, _several(held)
    return name, said


def read_xml(path: Path, intake: Intake) -> None:
    """Take what an XML file says of the things in it.

    Raises:
        JaxkgError: see `xml_document`; nothing in it is a thing.
    """
    root, document = xml_document(path, intake)
    if isinstance(document, str) or not document:
        raise JaxkgError(f"{path}: no things in it: <{root}> holds no elements")
    named = isinstance(document, dict) and not _CALLED.isdisjoint(map(str.lower, document))
    read_jsonl(path, intake, document if named else {root: document})


def read_toml(path: Path, intake: Intake) -> None:
    """Take what a TOML file says of the things in it.

    Raises:
        JaxkgError: it is no TOML.
    """
    text = "".join(text_chunks(path))
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise JaxkgError(f"{path}: not TOML ({str(error)[:80]})") from error
    read_jsonl(path, intake, as_json(document))


def read_yaml_file(path: Path, intake: Intake) -> None:
    """Take what a YAML file, of one document or several, says of the things in it.

    Raises:
        JaxkgError: it is no YAML, see `read_yaml`; it holds no objects.
    """
    text = "".join(text_chunks(path, encoding=intake.options.encoding))
    documents = [item for item in read_yaml(text, str(path)) if item is not None]
    if not all(isinstance(item, dict | list) for item in documents):
        raise JaxkgError(f"{path}: no things in it: YAML without keys")
    read_jsonl(path, intake, documents[0] if len(documents) == 1 else documents)


class _Options(dict[str, Any]):
    """Options of a section; what one that comes again says is added to it."""

    def __setitem__(self, key: str, value: Any) -> None:
        before = self.get(key)
        if isinstance(value, list) and isinstance(before, list):
            value = [*before, *value]
        super().__setitem__(key, value)


class _Parser(configparser.RawConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def read_ini(path: Path, intake: Intake) -> None:
    """Take what an INI file says of the things in it: `[program:web]` and `[remote "origin"]` are a
    program and a remote, other sections are called by their titles.

    Raises:
        JaxkgError: it is no INI, or has no section.
    """
    text = "".join(text_chunks(path, encoding=intake.options.encoding))
    parser = _Parser(
        dict_type=_Options, strict=False, allow_no_value=True, inline_comment_prefixes=(";",),
        default_section="",
    )  # fmt: skip
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise JaxkgError(f"{path}: not INI ({str(error).splitlines()[0][:80]})") from error
    things = defaultdict[str, list[dict[str, Any]]](list)
    sections: dict[str, Any] = {}
    for title in parser.sections():
        said: dict[str, Any] = {}
        for key, value in parser.items(title):
            lines = ("true" if value is None else value).split("\n")
            several = [line.strip() for line in lines if line.strip()]
            said[key] = several[0] if len(several) == 1 else several
        if found := _SORTED.fullmatch(title):
            things[found[1]].append({"name": found[2], **said})
        else:
            sections[title] = said
    every = [*sections.values(), *itertools.chain(*things.values())]
    named = {*sections, *(said["name"] for said in every if "name" in said)}
    for said in every:
        for key, value in said.items():  # programs=web,worker
            parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else []
            if len(parts) > 1 and named.issuperset(parts):
                said[key] = parts
    for title in sorted(things.keys() & sections.keys()):  # [remote], what all remotes have
        things[title].append({"name": title, **sections.pop(title)})
    read_jsonl(path, intake, sections | things)


def _is_xml(head: Head) -> Sniff:
    start = head.text.lstrip()[:2000]
    if not start.startswith("<") or re.search(r"<!doctype html|<html", start, re.I):
        return NO
    if (start.startswith("<?xml") or head.end == ".xml") and not how_to_bring(head):
        return Sniff(0.6, "it begins as XML")
    return NO


_YAML = r"\A(?:%YAML[^\n]*\n|\s*#[^\n]*\n)*---(?:\s*#[^\n]*|\s*)\n\s*(?:- )?[\w$.-]+:(?:\s|\Z)"
_SORTED = re.compile(r"""([\w-]+)(?::| +(?="))"?([^"]+)"?""")
"""The title of a section that says what kind of thing it is about, and its name."""
FORMATS = (
    Format("xml", "XML of any kind: elements are things, or what is said of them", _is_xml,
           read_xml),
    Format("toml", "TOML: lock files and settings",
           begins(r"^\[\[?[\w.-]+\]\]?\s*$", 0, "it has sections",
                  ends=".toml .lock", both=0.7), read_toml),
    Format("ini", "settings in sections (INI): units, supervisors, git",
           begins(r"\A(?:[ \t\r]*(?:[#;][^\n]*)?\n)*\[[^\]\n]+\][ \t\r]*$", 0, "it has sections",
                  ends=".ini .cfg .conf .service .timer .desktop .gitmodules", both=0.7), read_ini),
    Format("yaml", "YAML, one document or several",
           surest(named(".yaml", ".yml", ".cff"),
                  begins(_YAML, 0.5, "it begins as YAML", ends=".md .markdown .qmd .rmd")),
           read_yaml_file, "yaml"),
)  # fmt: skip
