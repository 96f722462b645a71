"""Triples in a Parquet table (extra `parquet`)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.kg.files.delimited import Row, header_columns
from jaxkg.kg.files.exports import Columns
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, named
from jaxkg.kg.files.tables.cells import as_json, cell_text
from jaxkg.kg.files.tables.table import take_table
from jaxkg.kg.files.textfile import Progress, open_bytes

if TYPE_CHECKING:
    import pyarrow.parquet

PARQUET_ENDS = (".parquet", ".pq")


def parquet_parts(path: Path) -> list[Path]:
    """The Parquet files of a table: of a folder all in it, ascending, but those engines hide."""
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.suffix.lower() in PARQUET_ENDS)
    inside = ((file, file.relative_to(path).parts) for file in found if file.is_file())
    return sorted(file for file, parts in inside if not any(part[0] in "._" for part in parts))


def read_parquet(path: Path, intake: Intake) -> None:
    """Read triples of a Parquet table, or of a folder of its partitions; see `read_graph`.

    Columns hold strings or whole numbers (ids); a row is called by its file and its number there,
    counted from 1. In a folder, what names such as `relation=director` tell is a column, too.
    """
    _needs_pyarrow(path)
    import pyarrow

    options, encoder = intake.options, intake.encoder
    columns, provenance, on_progress = options.columns, options.provenance, options.on_progress
    files = parquet_parts(path)
    if not files:
        raise JaxkgError(
            f"{path}: no Parquet file in it; expected names that end in .parquet or .pq"
        )
    done, total = 0, 0
    for file in files:
        with _opened(file) as table:
            total += table.metadata.num_rows
    for file in files:
        row, told = 0, columns_of(file.relative_to(path).parts[:-1])
        with _opened(file) as table:
            schema = pyarrow.schema(
                [*table.schema_arrow, *((key, pyarrow.string()) for key in told)]
            )
            wanted, source = _columns(file, schema, columns, provenance)
            chosen = [*wanted, *([] if source is None else [source])]
            for batch in table.iter_batches(columns=[name for name in chosen if name not in told]):
                cells = [
                    pyarrow.repeat(told[name], len(batch)) if name in told else batch.column(name)
                    for name in chosen
                ]
                if not encoder.add_arrow(cells[:3]):
                    rows = list(zip(*(column.to_pylist() for column in cells)))
                    _take(file, rows, row, intake, source is not None)
                row += len(batch)
                done += len(batch)
                if on_progress:
                    on_progress(done, total)


def parquet_rows(path: Path, on_progress: Progress | None = None) -> Iterator[list[Row]]:
    """The names of the columns of a Parquet file, or of a folder of its parts, then the rows in
    batches, as text; what names of folders tell is in the last columns.

    Raises:
        JaxkgError: two parts have different columns.
    """
    header, done = list[str](), 0
    for file in parquet_parts(path):
        beside = columns_of(file.relative_to(path).parts[:-1])
        with _opened(file) as table:
            names = [*table.schema_arrow.names, *beside]
            if header and sorted(names) != sorted(header):
                raise JaxkgError(f"{file}: has the columns {names}, and parts beside it {header}")
            if not header:
                yield [(0, header := names)]
            for batch in table.iter_batches():
                cells = {
                    name: batch.column(name).to_pylist() for name in names if name not in beside
                }
                cells |= {name: [text] * len(batch) for name, text in beside.items()}
                rows = zip(*(map(cell_text, cells[name]) for name in header))
                yield [(at, list(row)) for at, row in enumerate(rows, start=done + 1)]
                done += len(batch)
                if on_progress:
                    on_progress(done, max(done, table.metadata.num_rows))


def _needs_pyarrow(path: Path) -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ModuleNotFoundError as error:
        raise JaxkgError(
            f"{path}: reading Parquet needs pyarrow; {how_to_install('parquet')}"
        ) from error


def parquet_records(path: Path, without: str = "\0") -> Iterator[dict[str, Any]]:
    """The rows of a Parquet table, or of a folder of its parts, by the names of its columns, lists
    as lists.

    Args:
        without: leave columns out whose names hold it.
    """
    _needs_pyarrow(path)
    for file in parquet_parts(path):
        beside = columns_of(file.relative_to(path).parts[:-1])
        with _opened(file) as table:
            names = [name for name in table.schema_arrow.names if without not in name]
            for batch in table.iter_batches(batch_size=1 << 12, columns=names):
                yield from (record | beside for record in batch.to_pylist())


def read(path: Path, intake: Intake) -> None:
    """Read triples, or a table, whose columns name no triple; see `jaxkg.kg.read_graph`."""
    options, names, nested = intake.options, list[str](), False
    parts = parquet_parts(path)
    if options.is_plain and parts:
        _needs_pyarrow(path)
        with _opened(parts[0]) as table:
            names = [*table.schema_arrow.names, *columns_of(parts[0].relative_to(path).parts[:-1])]
            nested = any("struct<" in str(kind) for kind in table.schema_arrow.types)
    if header_columns(names) is not None or len(names) in (0, 1, 3):
        read_parquet(path, intake)
    elif nested:
        read_jsonl(path, intake, list(map(as_json, parquet_records(path))))
    else:
        rows = parquet_rows(path, options.on_progress)
        intake.tell(take_table(path, path.name.split(".")[0], rows, intake))


def _sniff(head: Head) -> Sniff:
    if head.entries is not None:
        names = [PurePosixPath(entry) for entry in head.entries]
        shown = [name for name in names if not any(part[0] in "._" for part in name.parts)]
        if any(name.suffix.lower() in PARQUET_ENDS for name in shown):
            return Sniff(0.8, "it is a folder of Parquet files")
        return NO
    if head.data.startswith(b"PAR1"):
        return Sniff(1.0, "it starts as a Parquet file does")
    return named(*PARQUET_ENDS)(head)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[pyarrow.parquet.ParquetFile]:
    import pyarrow
    import pyarrow.parquet

    with open_bytes(file) as raw:
        try:
            yield pyarrow.parquet.ParquetFile(raw)
        except pyarrow.ArrowException as error:
            raise JaxkgError(f"{file}: not a Parquet file, or a damaged one ({error})") from error


def columns_of(folders: Sequence[str]) -> dict[str, str]:
    """Columns that the names of folders tell, as engines write them.

    >>> columns_of(["relation=directed%20by", "2024"])
    {'relation': 'directed by'}
    """
    told = (name.partition("=") for name in folders if "=" in name)
    return {key: unquote(value) for key, _, value in told}


def _columns(
    path: Path, schema: pyarrow.Schema, columns: Columns | None, provenance: bool | int | str | None
) -> tuple[tuple[str, str, str], str | None]:
    import pyarrow.types as kinds

    words = {name.casefold(): name for name in schema.names}
    if columns is None:
        columns = header_columns(schema.names) or (0, 1, 2)
        if isinstance(columns, tuple) and len(schema.names) != 3:
            raise JaxkgError(
                f"{path}: which columns are head, relation, tail? It has {schema.names}; pass "
                "columns=('...', '...', '...')"
            )
    source = provenance if provenance is not True and provenance is not False else None
    if provenance is None:
        source = words.get("source")

    def resolve(column: int | str) -> str:
        known = schema.names if isinstance(column, str) else range(len(schema.names))
        if column not in known:
            raise JaxkgError(f"{path}: no column {column!r}; it has {schema.names}")
        name = column if isinstance(column, str) else schema.names[column]
        kind = schema.field(name).type
        held = kind.value_type if kinds.is_dictionary(kind) else kind
        if not (kinds.is_string(held) or kinds.is_large_string(held) or kinds.is_integer(held)):
            raise JaxkgError(f"{path}: column {name!r} holds {kind}; expected strings or integers")
        return name

    head, relation, tail = map(resolve, columns)
    return (head, relation, tail), None if source is None else resolve(source)


def _take(
    path: Path, rows: list[tuple[Any, ...]], done: int, intake: Intake, sourced: bool
) -> None:
    columns: tuple[list[str], ...] = ([], [], [])
    sources: list[str] = []
    for number, row in enumerate(rows, start=done + 1):
        triple = ["" if value is None else str(value).strip() for value in row[:3]]
        if not all(triple):
            why = "a blank name" if None not in row[:3] else "a null"
            expected = "a head, a relation and a tail in every row"
            intake.bad.note(path, number, str(row[:3]), why, expected)
            continue
        for column, name in zip(columns, triple):
            column.append(name)
        if intake.options.provenance is True:
            sources.append(f"{path.name}:{number}")
        elif sourced:
            sources.append(str(row[3] or "").strip())
    intake.encoder.add(*columns, sources=sources or None)


FORMATS = (
    Format("parquet",
           "triples, or a folder of their partitions; a file of other columns is a table", _sniff,
           read, "parquet", takes_columns=True, takes_folders=True, is_typed=True),
)  # fmt: skip
