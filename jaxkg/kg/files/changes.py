"""What was added to a saved graph and removed from it since: a file in its folder that only grows.

Every line is a change with its own checksum, on the disk before the change counts as made. A line
that a killed process left unfinished was never made: it is passed over, and cut off by the next.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.lock import FolderLock

CHANGES = "changes.jsonl"
_FORMAT, _VERSION = "jaxkg-changes", 1
Triple = tuple[str, str, str]


@dataclasses.dataclass(frozen=True)
class Changes:
    """What differs from a saved graph.

    Attributes:
        added: facts it has not, with where each was read ("" where that is not known).
        removed: facts of its own.
        names: display names by id.
        aliases: further names by id.
        digest: of all that.
    """

    added: dict[Triple, str] = dataclasses.field(default_factory=dict)
    removed: set[Triple] = dataclasses.field(default_factory=set)
    names: dict[str, str] = dataclasses.field(default_factory=dict)
    aliases: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    digest: str = ""

    def applied(self, kg: KnowledgeGraph) -> KnowledgeGraph:
        """The graph as it is now, from `kg` as it was saved."""
        ends = {end for head, _, tail in self.added for end in (head, tail)}
        known = {id for id in {*self.names, *self.aliases} if id in ends or id in kg.entity_ids}
        # First what is added: an entity that loses its old facts and has new ones keeps its name.
        if self.added or known:
            told = any(self.added.values()) or kg.provenance is not None
            kg = kg.add(
                self.added,
                names={id: name for id, name in self.names.items() if id in known},
                aliases={id: also for id, also in self.aliases.items() if id in known},
                provenance=self.added.values() if told else None,
            )
        return kg.remove(self.removed) if self.removed else kg


def read_changes(folder: str | os.PathLike[str], fingerprint: str) -> Changes | None:
    """The changes of a saved graph of that fingerprint; None where there are none.

    Raises:
        JaxkgError: the file is of another graph or version, or damaged.
    """
    entries, _ = _entries(Path(folder) / CHANGES, fingerprint)
    if not entries:
        return None
    changes = Changes()
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(json.dumps(entry, sort_keys=True).encode())
        _take(changes, entry)
    return dataclasses.replace(changes, digest=digest.hexdigest())


def change_graph(
    folder: str | os.PathLike[str],
    fingerprint: Callable[[], str],
    change: Callable[[Changes], Mapping[str, Any]],
) -> bool:
    """Make one change of a saved graph: whole or not at all.

    Args:
        fingerprint: tells that of the graph as saved, read while nobody else writes.
        change: from the changes so far to the new one: "add" and "remove", lists of facts,
            "sources" of the added, "names" and "aliases" by id. An empty one changes nothing.

    Returns:
        Whether anything changed.

    Raises:
        JaxkgError: another process is writing there, or the file cannot be written.
    """
    path = Path(folder) / CHANGES
    lock = FolderLock(Path(folder))
    try:
        saved = fingerprint()
        entries, size = _entries(path, saved)
        entry = change(read_changes(folder, saved) or Changes())
        if not any(entry.values()):
            return False
        lines = [] if size else [{"format": _FORMAT, "version": _VERSION, "graph": saved}]
        text = "".join(map(_line, [*lines, {**entry, "number": len(entries) + 1}]))
        with open(path, "r+b" if path.exists() else "xb") as file:
            file.truncate(size)
            file.seek(size)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(path.parent)
    except OSError as error:
        raise JaxkgError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        lock.close()
    return True


def _take(changes: Changes, entry: Mapping[str, Any]) -> None:
    sources = entry.get("sources") or [""] * len(entry.get("add", ()))
    for fact, source in zip(entry.get("add", ()), sources, strict=True):
        triple: Triple = tuple(fact)
        if triple in changes.removed:
            changes.removed.remove(triple)
        else:
            changes.added[triple] = source
    for fact in entry.get("remove", ()):
        triple = tuple(fact)
        if changes.added.pop(triple, None) is None:
            changes.removed.add(triple)
    changes.names.update(entry.get("names", {}))
    for id, also in entry.get("aliases", {}).items():
        changes.aliases[id] = list(dict.fromkeys([*changes.aliases.get(id, ()), *also]))


def _entries(path: Path, fingerprint: str) -> tuple[list[dict[str, Any]], int]:
    """The changes in a file, and the bytes that are whole."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise JaxkgError(f"{path}: cannot be read ({error.strerror or error})") from error
    entries: list[dict[str, Any]] = []
    size = 0
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        entry = _read_line(line)
        if entry is None:
            if any(_read_line(later) is not None for later in lines[number:]):
                raise JaxkgError(
                    f"{path}:{number}: damaged; delete this line and all lines after it to keep "
                    "the changes before it"
                )
            break
        entries.append(entry)
        size += len(line) + 1
    if size > len(data):  # the last line end is missing: the change was not made
        size -= len(lines[-1]) + 1
        entries.pop()
    if not entries:
        return [], 0
    head = entries[0]
    if head.get("format") != _FORMAT or head.get("version") != _VERSION:
        raise JaxkgError(
            f"{path}: changes of version {head.get('version')!r}, which this jaxkg does not read"
        )
    if head.get("graph") != fingerprint:
        raise JaxkgError(
            f"{path}: these changes belong to another graph than the saved one; remove this file"
        )
    return entries[1:], size


def _line(entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, ensure_ascii=True)
    return f"{_sum(text.encode())} {text}\n"


def _read_line(line: bytes) -> dict[str, Any] | None:
    told, _, text = line.partition(b" ")
    if told.decode("ascii", "replace") != _sum(text):
        return None
    return json.loads(text)


def _sum(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Have the file's name on the disk, too."""
    try:
        place = os.open(folder, os.O_RDONLY)
    except OSError:  # systems that open no folders sync them on their own
        return
    try:
        os.fsync(place)
    finally:
        os.close(place)
