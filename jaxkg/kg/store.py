"""Graphs on disk, opened without reading them.

A saved graph is a folder: `meta.json` (format, version, counts, relation names, size and SHA-256 of
every other file) and one `.npy` file per array, which `open_graph` maps into memory.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.textfile import existing
from jaxkg.records import JaxkgError

FORMAT = "jaxkg-graph"
VERSION = 1
_META = "meta.json"


def save_graph(graph: KnowledgeGraph, folder: str | os.PathLike[str]) -> Path:
    """Write a graph to a folder, whole or not at all.

    The folder appears by renaming once everything is on disk. A graph saved there before is
    replaced; anything else in the way is left alone.

    Returns:
        The folder.

    Raises:
        JaxkgError: the folder is a file, or holds something other than a saved graph, or cannot be
            written.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise JaxkgError(f"{folder}: is a file; a graph is saved to a folder")
    if folder.is_dir() and any(folder.iterdir()):
        _read_meta(folder, "to save a graph, choose a new or empty folder")
    unique = uuid.uuid4().hex
    fresh = folder.with_name(f".{folder.name}.{unique}.new")
    retired = folder.with_name(f".{folder.name}.{unique}.old")
    try:
        fresh.mkdir(parents=True)
        _write(graph, fresh)
        if folder.exists():
            os.replace(folder, retired)
        os.replace(fresh, folder)
    except OSError as error:
        if retired.exists() and not folder.exists():
            os.replace(retired, folder)
        raise JaxkgError(f"{folder}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(retired, ignore_errors=True)
    return folder


def open_graph(folder: str | os.PathLike[str], *, verify: bool = False) -> KnowledgeGraph:
    """Open a saved graph; its arrays stay on disk until they are read.

    Args:
        folder: as given to `save_graph`.
        verify: read every byte and compare it with the recorded SHA-256. Without it only the
            files' sizes and the arrays' shapes are checked.

    Raises:
        JaxkgError: no such folder, not a saved graph, written by a newer version, or damaged.
    """
    folder = existing(folder)
    meta = _read_meta(folder, "open the folder given to save_graph, or one graph file")
    try:
        named, sourced = meta["has_names"], meta["has_provenance"]
        if set(meta["files"]) != _files(named, sourced):
            raise JaxkgError(f"{folder / _META}: damaged: its list of files is not that of a graph")
        for name, recorded in meta["files"].items():
            _check(folder / name, recorded["bytes"], recorded["sha256"] if verify else None)
        load = functools.partial(_load, folder)
        ids = _load_table(folder, "entity_ids", ascending=True)
        graph = KnowledgeGraph(
            entity_ids=ids,
            entity_names=_load_table(folder, "entity_names") if named else ids,
            relations=tuple(meta["relations"]),
            triples=load("triples"),
            aliases=AliasTable(load("alias_owners"), _load_table(folder, "aliases")),
            provenance=_load_table(folder, "provenance") if sourced else None,
            duplicates=meta["duplicates"],
            skipped=tuple(meta["skipped"]),
        )
        differ = (
            (graph.num_entities, graph.num_triples) != (meta["entities"], meta["triples"])
            or graph.relation_fingerprint != meta["relation_fingerprint"]
            or (verify and graph.fingerprint != meta["fingerprint"])
        )
        if differ:
            raise JaxkgError(f"{folder}: damaged: {_META} and the arrays are of different graphs")
        # What was computed over every byte when the graph was saved need not be computed again.
        graph.__dict__["fingerprint"] = meta["fingerprint"]
    except (KeyError, TypeError, AttributeError) as error:
        raise JaxkgError(f"{folder / _META}: damaged: {error!r}") from error
    return graph


def _files(named: bool, sourced: bool) -> set[str]:
    tables = ["entity_ids", "aliases"] + ["entity_names"] * named + ["provenance"] * sourced
    parts = [f"{table}.{part}" for table in tables for part in ("blob", "offsets")]
    return {f"{array}.npy" for array in ("triples", "alias_owners", *parts)}


def _write(graph: KnowledgeGraph, folder: Path) -> None:
    arrays = {"triples": graph.triples, "alias_owners": graph.aliases.owners}
    tables = {"entity_ids": graph.entity_ids, "aliases": graph.aliases.names}
    named = graph.entity_names is not graph.entity_ids
    if named:
        tables["entity_names"] = graph.entity_names
    if graph.provenance is not None:
        tables["provenance"] = graph.provenance
    for name, table in tables.items():
        arrays |= {f"{name}.blob": table.blob, f"{name}.offsets": table.offsets}
    files: dict[str, Any] = {}
    for name, array in arrays.items():
        path = folder / f"{name}.npy"
        with open(path, "wb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        files[path.name] = {"bytes": path.stat().st_size, "sha256": _sha256(path)}
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "entities": graph.num_entities,
        "triples": graph.num_triples,
        "relations": graph.relations,
        "duplicates": graph.duplicates,
        "skipped": graph.skipped,
        "has_names": named,
        "has_provenance": graph.provenance is not None,
        "fingerprint": graph.fingerprint,
        "relation_fingerprint": graph.relation_fingerprint,
        "files": files,
    }
    with open(folder / _META, "w", encoding="utf-8") as file:
        json.dump(meta, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())


def _read_meta(folder: Path, works: str) -> dict[str, Any]:
    path = folder / _META
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        held = sorted(entry.name for entry in folder.iterdir())[:3] if folder.is_dir() else []
        shown = f"it holds {', '.join(held)}, ..." if held else "it is empty"
        raise JaxkgError(f"{folder}: not a saved graph ({shown}); {works}") from error
    except (OSError, ValueError) as error:
        raise JaxkgError(f"{path}: damaged or not a saved graph's ({error}); {works}") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise JaxkgError(f"{folder}: not a saved graph ({_META} is another program's); {works}")
    version = meta.get("version")
    if not isinstance(version, int):
        raise JaxkgError(f"{path}: damaged: its version is {version!r}; save the graph again")
    if version > VERSION:
        raise JaxkgError(
            f"{folder}: a saved graph of version {version}; this jaxkg reads up to {VERSION}: "
            "upgrade jaxkg, or save the graph again with this one"
        )
    return meta


def _check(path: Path, size: int, sha256: str | None) -> None:
    if not path.exists():
        raise JaxkgError(f"{path}: missing from the saved graph; save it again")
    actual = path.stat().st_size
    if actual != size:
        raise JaxkgError(f"{path}: damaged: {actual} bytes, {size} when saved; save it again")
    if sha256 is not None and _sha256(path) != sha256:
        raise JaxkgError(f"{path}: damaged: its SHA-256 is not the recorded one; save it again")


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _load(folder: Path, name: str) -> np.ndarray:
    path = folder / f"{name}.npy"
    try:
        # A plain view of the map: indexing a memmap object itself costs microseconds.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError) as error:
        raise JaxkgError(f"{path}: damaged ({error}); save the graph again") from error


def _load_table(folder: Path, name: str, *, ascending: bool = False) -> NameTable:
    blob, offsets = _load(folder, f"{name}.blob"), _load(folder, f"{name}.offsets")
    try:
        return NameTable(blob, offsets, ascending=ascending)
    except JaxkgError as error:
        raise JaxkgError(f"{folder / name}: damaged: {error}; save the graph again") from error
