"""Which format a file is of, and which files of a folder are a graph's."""

from __future__ import annotations

from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.array_folder import CARD
from jaxkg.kg.files.delimited import SEPARATORS
from jaxkg.kg.files.graphml import NETWORK_FORMATS
from jaxkg.kg.files.jsonld import is_jsonld
from jaxkg.kg.files.parquet import PARQUET_ENDS, parquet_parts
from jaxkg.kg.files.rdf import RDF_FORMATS
from jaxkg.kg.files.tables.excel import EXCEL_ENDS
from jaxkg.kg.files.tables.sqlite import SQLITE_ENDS
from jaxkg.kg.files.textfile import line_blocks

SUFFIXES = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    **dict.fromkeys(EXCEL_ENDS, "excel"),
    **dict.fromkeys(SQLITE_ENDS, "sqlite"),
    **dict.fromkeys(PARQUET_ENDS, "parquet"),
    **{f".{format}": format for format in NETWORK_FORMATS},
    ".nt": "ntriples",
    ".ttl": "turtle",
    ".rdf": "rdfxml",
    ".owl": "rdfxml",
    ".xml": "rdfxml",
    ".nq": "nquads",
    ".trig": "trig",
    ".jsonld": "jsonld",
}
"""Format by the end of a file's name, a final `.gz` aside."""

FORMATS = (
    *SEPARATORS,
    "table",
    "excel",
    "sqlite",
    "jsonl",
    "parquet",
    *NETWORK_FORMATS,
    *RDF_FORMATS,
    "saved",
    "folder",
)


def graph_format(path: Path, format: str | None, encoding: str) -> str:
    """The format of a file: as named, else by its name, else by its first line."""
    if format is not None:
        if format not in FORMATS:
            raise JaxkgError(f"no format {format!r}; there are {', '.join(FORMATS)}")
        return format
    if path.is_dir():
        if (path / CARD).exists():
            return "saved"
        if parquet_parts(path):
            return "parquet"
        return "folder" if files_of(path)[0] else "saved"
    suffix = suffix_of(path)
    if suffix == ".json" and is_jsonld(path):
        return "jsonld"
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    for first, lines in line_blocks(path, encoding=encoding):
        for number, line in enumerate(lines, start=first):
            if not line.strip():
                continue
            for guess in ("tsv", "metaqa"):
                if line.count(SEPARATORS[guess]) >= 2:
                    return guess
            raise JaxkgError(
                f"{path}:{number}: neither its name nor its first line {line[:120]!r} tells the "
                f"format; name the format, one of {', '.join(FORMATS)}"
            )
    raise JaxkgError(f"{path}: no triples in it; the file is blank")


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zst")]
    return suffixes[-1] if suffixes else ""


def files_of(folder: Path) -> tuple[list[Path], list[str]]:
    """The files of a folder that are read together, and the names of those that are not.

    RDF is not among them: its relations are named by all of a file.
    """
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith((".", "~"))]
    formats = [SUFFIXES.get(suffix_of(entry)) if entry.is_file() else None for entry in entries]
    together = ("csv", "tsv", "jsonl", "excel", "sqlite", *NETWORK_FORMATS)
    read = [format in together for format in formats]
    return (
        [entry for entry, taken in zip(entries, read) if taken],
        [entry.name for entry, taken in zip(entries, read) if not taken],
    )
