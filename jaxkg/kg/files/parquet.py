"""Triples in a Parquet table (extra `parquet`)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import Row, header_columns
from jaxkg.kg.files.exports import Columns
from jaxkg.kg.files.json.read import read_jsonl
from jaxkg.kg.files.protocol import NO, Format, Head, Intake, Sniff, named
from jaxkg.kg.files.tables.cells import as_json, cell_text
from jaxkg.kg.files.tables.table import take_table
from jaxkg.kg.files.textfile import Progress, extra, open_bytes

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


def _batches(
    path: Path,
    choice: Callable[[Path, pyarrow.Schema], Sequence[str]],
    on_progress: Progress | None = None,
    size: int = 1 << 16,
) -> Iterator[tuple[Path, int, Sequence[str], list[Any]]]:
    """The rows of a Parquet table, or of a folder of its parts, in batches: the part, how many of
    its rows are above, names of columns, columns.

    Args:
        choice: the columns to read of a part, of those that it has and those that names of folders
            such as `relation=director` tell.
        size: rows at a time.

    Raises:
        JaxkgError: there is no part, or one is damaged.
    """
    done, total, parts = 0, 0, parquet_parts(path)
    if not parts:
        raise JaxkgError(
            f"{path}: no Parquet file in it; expected names that end in .parquet or .pq"
        )
    for part in parts:
        with _opened(part) as table:
            total += table.metadata.num_rows
    for part in parts:
        above, beside = 0, columns_of(part.relative_to(path).parts[:-1])
        with _opened(part) as table:
            import pyarrow

            further = ((name, pyarrow.string()) for name in beside)
            names = choice(part, pyarrow.schema([*table.schema_arrow, *further]))
            stored = [name for name in names if name not in beside]
            for batch in table.iter_batches(size, columns=stored):
                columns = [
                    pyarrow.repeat(beside[name], len(batch)) if name in beside else batch[name]
                    for name in names
                ]
                yield part, above, names, columns
                above += len(batch)
                done += len(batch)
                if on_progress:
                    on_progress(done, total)


def read_parquet(path: Path, intake: Intake) -> None:
    """Read triples of a Parquet table, or of a folder of its partitions; see `read_graph`.

    Columns hold strings or whole numbers (ids); a row is called by its file and its number there,
    counted from 1.
    """
    options, encoder = intake.options, intake.encoder

    def choice(part: Path, schema: pyarrow.Schema) -> Sequence[str]:
        return _columns(part, schema, options.columns, options.provenance)

    for part, above, _, columns in _batches(path, choice, options.on_progress):
        if encoder.add_arrow(columns[:3]):
            continue
        triples, sources = list[list[str]](), list[str]()
        rows = zip(*(column.to_pylist() for column in columns))
        for number, row in enumerate(rows, start=above + 1):
            triple = ["" if value is None else str(value).strip() for value in row[:3]]
            if not all(triple):
                why = "a blank name" if None not in row[:3] else "a null"
                expected = "a head, a relation and a tail in every row"
                intake.bad.note(part, number, str(row[:3]), why, expected)
                continue
            triples.append(triple)
            if options.provenance is True:
                sources.append(f"{part.name}:{number}")
            elif row[3:]:
                sources.append(str(row[3] or "").strip())
        if triples:
            heads, relations, tails = zip(*triples)
            encoder.add(heads, relations, tails, sources=sources or None)


def parquet_records(path: Path, without: str = "\0") -> Iterator[dict[str, Any]]:
    """The rows of a Parquet table, or of a folder of its parts, by the names of its columns, lists
    as lists.

    Args:
        without: leave columns out whose names hold it.
    """

    def choice(_: Path, schema: pyarrow.Schema) -> Sequence[str]:
        return [name for name in schema.names if without not in name]

    for *_, names, columns in _batches(path, choice, size=1 << 12):
        for row in zip(*(column.to_pylist() for column in columns)):
            yield dict(zip(names, row))


def _rows(path: Path, header: list[str], intake: Intake) -> Iterator[list[Row]]:
    """The names of columns, then the rows in batches, as text."""

    def choice(part: Path, schema: pyarrow.Schema) -> Sequence[str]:
        names = schema.names
        if sorted(names) != sorted(header):
            raise JaxkgError(f"{part}: has the columns {names}, and parts beside it {header}")
        return header

    yield [(0, header)]
    done = 1
    for *_, columns in _batches(path, choice, intake.options.on_progress):
        rows = zip(*(map(cell_text, column.to_pylist()) for column in columns))
        yield [(number, list(row)) for number, row in enumerate(rows, start=done)]
        done += len(columns[0])


def read(path: Path, intake: Intake) -> None:
    """Read triples, or a table, whose columns name no triple; see `jaxkg.kg.read_graph`."""
    names, nested = list[str](), False
    for part in parquet_parts(path)[:1] if intake.options.is_plain else ():
        with _opened(part) as table:
            names = [*table.schema_arrow.names, *columns_of(part.relative_to(path).parts[:-1])]
            nested = any("struct<" in str(kind) for kind in table.schema_arrow.types)
    if header_columns(names) is not None or len(names) in (0, 1, 3):
        read_parquet(path, intake)
    elif nested:
        read_jsonl(path, intake, list(map(as_json, parquet_records(path))))
    else:
        rows = _rows(path, names, intake)
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
    with extra(file, "reading Parquet needs pyarrow", "parquet"):
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
) -> list[str]:
    """The columns of head, relation and tail, and that of sources where there is one."""
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

    return [resolve(column) for column in (*columns, source) if column is not None]


FORMATS = (
    Format("parquet",
           "triples, or a folder of their partitions; a file of other columns is a table", _sniff,
           read, "parquet", takes_columns=True, takes_folders=True, is_typed=True),
)  # fmt: skip
