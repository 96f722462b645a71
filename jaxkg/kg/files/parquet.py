"""Triples in a Parquet table (extra `parquet`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxkg.errors import JaxkgError, how_to_install
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.delimited import HEADER, Columns
from jaxkg.kg.files.textfile import BadLines, Progress, open_bytes

if TYPE_CHECKING:
    import pyarrow.parquet


def read_parquet(
    path: Path,
    encoder: TripleEncoder,
    bad: BadLines,
    *,
    columns: Columns | None = None,
    provenance: bool | int | str | None = None,
    on_progress: Progress | None = None,
) -> None:
    """Read a Parquet table into `encoder`; see `jaxkg.kg.read_graph`.

    Columns hold strings or whole numbers (ids); a row is called by its number, counted from 1.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise JaxkgError(
            f"{path}: reading Parquet needs pyarrow; {how_to_install('parquet')}"
        ) from error
    with open_bytes(path) as file:
        try:
            table = pyarrow.parquet.ParquetFile(file)
            wanted, source = _columns(path, table, columns, provenance)
            chosen = [*wanted, *([] if source is None else [source])]
            done, total = 0, table.metadata.num_rows
            for batch in table.iter_batches(columns=chosen):
                if not encoder.add_arrow([batch.column(name) for name in wanted]):
                    rows = list(zip(*(batch.column(name).to_pylist() for name in chosen)))
                    _take(path, rows, done, encoder, bad, provenance, source is not None)
                done += len(batch)
                if on_progress:
                    on_progress(done, total)
        except pyarrow.ArrowException as error:
            raise JaxkgError(f"{path}: not a Parquet file, or a damaged one ({error})") from error


def _columns(
    path: Path,
    table: pyarrow.parquet.ParquetFile,
    columns: Columns | None,
    provenance: bool | int | str | None,
) -> tuple[tuple[str, str, str], str | None]:
    import pyarrow.types as kinds

    schema = table.schema_arrow
    words = {name.casefold(): name for name in schema.names}
    if columns is None:
        columns = [
            next((words[word] for word in known if word in words), position)
            for position, known in enumerate(HEADER)
        ]
        if any(isinstance(column, int) for column in columns):
            columns = (0, 1, 2)
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
    path: Path,
    rows: list[tuple[Any, ...]],
    done: int,
    encoder: TripleEncoder,
    bad: BadLines,
    provenance: bool | int | str | None,
    sourced: bool,
) -> None:
    columns: tuple[list[str], ...] = ([], [], [])
    sources: list[str] = []
    for number, row in enumerate(rows, start=done + 1):
        triple = ["" if value is None else str(value).strip() for value in row[:3]]
        if not all(triple):
            why = "a blank name" if None not in row[:3] else "a null"
            bad.note(path, number, str(row[:3]), why, "a head, a relation and a tail in every row")
            continue
        for column, name in zip(columns, triple):
            column.append(name)
        if provenance is True:
            sources.append(f"{path.name}:{number}")
        elif sourced:
            sources.append(str(row[3] or "").strip())
    encoder.add(*columns, sources=sources or None)
