"""The formats that there are, and which of them a file is of."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.kg.files import delimited_format, documents, graphml, parquet
from jaxkg.kg.files.array_folder import CARD
from jaxkg.kg.files.foreign import (
    annotations,
    cypher,
    dot,
    fixed_width,
    gedcom,
    graphrag,
    key_lines,
    known_tables,
    molecules,
    networks,
    obo,
    references,
    spdx,
    sql_dump,
    vault,
)
from jaxkg.kg.files.json import read as json_read
from jaxkg.kg.files.json import wikidata
from jaxkg.kg.files.others import how_to_bring
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, holds
from jaxkg.kg.files.rdf import read as rdf
from jaxkg.kg.files.tables import excel, pages, sqlite
from jaxkg.kg.files.textfile import members, open_bytes, plain_name
from jaxkg.kg.mapping import MAPPING

_MODULES = (
    *(delimited_format, excel, sqlite, json_read, wikidata, parquet, graphml, rdf, obo, gedcom),
    *(spdx, cypher, dot, networks, vault, known_tables, key_lines, references, graphrag, sql_dump),
    *(annotations, molecules, fixed_width, documents, pages),
)
"""A module a format, or some that are read alike."""

GROUP = "jaxkg.formats"
"""Entry points of this group add formats."""

_HEAD = 1 << 16
_ENTRIES = 10_000
"""Names in a folder that are looked at."""
_LEAST = 0.2
"""Score from which on a format is thought of."""
_AMONG_OTHERS = 0.6
"""The same of a file in a folder, where texts may lie about."""
_BY_LOOKS = 0.5
"""Score up to which the beginning of a file that is not read counts for more."""
_NEAR = 0.1
"""A format whose score is so near the best one's is told."""


def _elsewhere(path: Path, intake: Intake) -> None:
    raise JaxkgError(f"{path}: is read by `read_graph`")


_OF_FOLDERS = (
    Format("saved", "a folder that `kg build` or `save_graph` wrote", holds(CARD), _elsewhere,
           takes_folders=True),
    Format("folder", "the files of a folder as one graph",
           lambda head: NO if head.entries is None else Sniff(0.3, "it is a folder of files"),
           _elsewhere, takes_folders=True),
)  # fmt: skip
BUILT_IN: tuple[Format, ...] = (
    *(format for module in _MODULES for format in module.FORMATS),
    *_OF_FOLDERS,
)
FORMATS = tuple(format.name for format in BUILT_IN)


class Choice(NamedTuple):
    """The format of a file.

    Attributes:
        score, reason: see `Sniff`.
        others: formats that are nearly as likely, with what tells them.
    """

    format: Format
    score: float
    reason: str
    others: tuple[tuple[str, str], ...] = ()


@functools.cache
def registry() -> dict[str, Format]:
    """Every format by its name, those that other packages add included.

    Raises:
        JaxkgError: an entry point is no `Format`, or takes the name of another.
    """
    found = {format.name: format for format in BUILT_IN}
    for point in metadata.entry_points(group=GROUP):
        format = point.load()
        if not isinstance(format, Format):
            raise JaxkgError(f"entry point {point.name!r} of {GROUP}: not a Format ({point.value})")
        if format.name in found:
            raise JaxkgError(
                f"entry point {point.name!r} of {GROUP}: there is a format {format.name!r} already"
            )
        found[format.name] = format
    return found


def format_of(path: Path, format: str | None, encoding: str) -> Choice:
    """The format of a file or folder: as named, else the one whose sniffer is surest.

    Raises:
        JaxkgError: there is no such format; none thinks that it is its own.
    """
    known = registry()
    if format is not None:
        if format not in known:
            raise JaxkgError(f"no format {format!r}; there are {', '.join(known)}")
        return Choice(known[format], 1.0, "it was named")
    head = head_of(path, encoding)
    scored = [(one.sniff(head), one) for one in known.values()]
    scored = [(sniff, one) for sniff, one in scored if sniff.score >= _LEAST]
    by_looks = all(sniff.score <= _BY_LOOKS for sniff, _ in scored) and head.end not in ("", ".txt")
    if not scored or (by_looks and how_to_bring(head, by_name=False)):
        raise JaxkgError(_unknown(path, head, known))
    best, chosen = max(scored, key=lambda pair: pair[0].score)  # of equals the first
    others = (
        (one.name, sniff.reason)
        for sniff, one in scored
        if one is not chosen and best.score - sniff.score < _NEAR
    )
    return Choice(chosen, *best, tuple(others))


def _unknown(path: Path, head: Head, known: Sequence[str] | dict[str, Format]) -> str:
    if inside := members(path):
        return f"{path}: a zip archive of {len(inside):,} files; unpack it into a folder"
    if not head.data.strip():
        return f"{path}: no triples in it; the file is blank"
    if told := how_to_bring(head):
        return f"{path}: {told}"
    line = head.lines[0][:120] if head.lines else ""
    number = 1 + head.text[: head.text.find(line)].count("\n")
    return (
        f"{path}:{number}: neither its name nor its first line {line!r} tells the format; save it "
        f"as CSV with a header, JSON or RDF, or name the format, one of {', '.join(known)}"
    )


def head_of(path: Path, encoding: str) -> Head:
    """What sniffers see of a file or folder."""
    name = plain_name(path)
    if path.is_dir():
        found = itertools.islice(path.rglob("*"), _ENTRIES)
        entries = sorted(entry.relative_to(path).as_posix() for entry in found if entry.is_file())
        return Head(name, entries=tuple(entries), encoding=encoding)
    with open_bytes(path) as file:
        data = file.read(_HEAD)
    name = path.name if len(members(path)) > 1 else name  # its end is that of no file in it
    return Head(name, data, encoding=encoding, is_whole=len(data) < _HEAD, folder=path.parent)


def files_of(folder: Path, encoding: str) -> tuple[list[tuple[Path, Choice]], list[str]]:
    """The files of a folder, and of those within, that are read together, and the names of those
    that are not; of two of one name the one that lies higher is read."""
    together: list[tuple[Path, Choice]] = []
    perhaps: list[tuple[Path, Choice]] = []
    others: list[str] = []
    folders: list[Path] = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "~")) or entry.name.endswith(MAPPING):
            continue
        try:
            choice = format_of(entry, None, encoding)
        except JaxkgError:
            choice = None  # it is told by its name
        if choice is not None and choice.format.name == "folder" and not entry.is_symlink():
            folders.append(entry)
        elif choice is None or choice.format in _OF_FOLDERS:
            others.append(entry.name)
        elif choice.score < _AMONG_OTHERS:
            perhaps.append((entry, choice))
        else:
            together.append((entry, choice))
    texts = {
        entry.name: head_of(entry, encoding).text
        for entry, choice in together
        if choice.format.name in ("xml", "jsonl", "yaml")
    }
    tables = {entry.name for entry, _ in together} - texts.keys()
    for name, text in texts.items() if tables else ():
        # `meta.xml` and `datapackage.json` say what the columns of the tables beside them are.
        named = set(re.findall(r"""(?<=[>"'/])[^<>"'/]+(?=[<"'])""", text))
        others += texts.keys() & {name, *named} if not tables.isdisjoint(named) else ()
    together = [pair for pair in together if pair[0].name not in others]
    others += [entry.name for entry, _ in perhaps]
    kinds = {choice.format.name for _, choice in perhaps}
    if perhaps and not together and kinds <= {"tsv", "csv"}:
        # The splits of a benchmark: train.txt, valid.txt; tables whose names say nothing.
        return perhaps, sorted({*others} - {entry.name for entry, _ in perhaps})
    known = {entry.name for entry, _ in together}
    for inner in folders:
        below, rest = files_of(inner, encoding)
        rest += [entry.name for entry, _ in below if entry.name in known]
        below = [pair for pair in below if pair[0].name not in known]
        together += below
        others += [f"{inner.name}/{name}" for name in rest] if below else [inner.name]
    return together, sorted(others)
