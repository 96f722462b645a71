"""Graphs larger than memory: read once, sorted on disk by DuckDB, saved with their index.

Needs the extra `big`. What is in memory at a time: a batch of lines, the relations, and as much as
DuckDB is allowed; the arrays are mapped files. A build that was killed is gone on with by the next
one: what was read stays read, and what DuckDB has sorted, table by table, stays sorted. Reading
that had not ended starts anew.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.delimited import SEPARATORS, read_delimited, read_names
from jaxkg.kg.files.exports import Columns
from jaxkg.kg.files.formats import format_of
from jaxkg.kg.files.parquet import parquet_parts, read_parquet
from jaxkg.kg.files.protocol import Intake, Options
from jaxkg.kg.files.rdf.read import RDF_FORMATS
from jaxkg.kg.files.store import save_graph
from jaxkg.kg.files.tables.shape import first_rows, is_header, rows_are_entities
from jaxkg.kg.files.textfile import BadLines, Progress, existing
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.stores.arrays import save_index
from jaxkg.kg.stores.big.sort import SORTED, quoted, sorted_graph
from jaxkg.kg.stores.big.spill import SpilledNames, SpilledTriples, libraries, spill_rdf
from jaxkg.kg.stores.big.work_folder import Reading, WorkFolder, code_digest, signature


def build_big(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Columns | None = None,
    names: str | os.PathLike[str] | None = None,
    encoding: str = "utf-8",
    skip_bad: int = 0,
    memory: str = "2GB",
    on_progress: Progress | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> KnowledgeGraph:
    """Read a graph and save it with its index, whatever its size.

    The same graph as `read_graph` and `save_graph` make, but that it is not told where its facts
    were read. What is on the way lies beside `folder` and needs several times the graph's room. It
    stays there where the process is killed, or interrupted or out of `memory` after reading: the
    next build of the same files to the same folder, with the same arguments (`memory` aside),
    DuckDB and code of jaxkg, goes on from there; any other removes it.

    Args:
        path: TSV, CSV, `a|b|c`, Parquet, or RDF but JSON-LD, without statements about statements;
            gzip or zstd may pack all but Parquet.
        folder: to save it to.
        format, columns, names, encoding, skip_bad: see `read_graph`.
        memory: that sorting may take, as "2GB".
        on_progress: told of the bytes that are read.
        on_stage: told what is done now, and what need not be done again.

    Returns:
        The graph, on disk, its triples packed.

    Raises:
        JaxkgError: as `read_graph` and `save_graph`; or the extra is missing, or the file looks
            like a table with a row an entity and no format says otherwise.
    """
    duckdb, pyarrow = libraries()
    path, folder = existing(path), Path(folder)
    guess = format is None and columns is None
    format = format_of(path, format, encoding).format.name
    if guess and format in ("csv", "tsv"):
        _refuse_table(path, format, encoding)
    named = None if names is None else existing(names)
    say = on_stage or (lambda stage: None)

    def read(work: WorkFolder) -> Reading:
        say("reading")
        facts, spilled, bad = (
            SpilledTriples(work.path),
            SpilledNames(work.path),
            BadLines(skip_bad),
        )
        if named is not None:
            spilled.rank = 0
            read_names(named, spilled, bad, encoding=encoding)
            spilled.rank = 1
        _read(path, format, facts, spilled, bad, columns, encoding, on_progress, say)
        if not len(facts):
            raise JaxkgError(f"{path}: no triples in it (read as {format})")
        facts.facts.flush()
        spilled.names.flush()
        return work.keep(Reading(len(facts), spilled.names.rows, bad.messages))

    try:
        with duckdb.connect() as trial:
            trial.execute(f"SET memory_limit = '{memory}'")
        folder.parent.mkdir(parents=True, exist_ok=True)
        about = format, columns and tuple(columns), encoding, skip_bad
        files = [*parquet_parts(path), *([] if named is None else [named])]
        digest = signature(files, *about, duckdb.__version__, code_digest())
        with WorkFolder(folder, digest) as work, _interruptions(work, say):
            going_on = work.reading is not None
            try:
                kg = _graph(work, read, memory, format in RDF_FORMATS, say)
            except duckdb.OutOfMemoryException as error:
                work.stays = True
                raise JaxkgError(
                    f"{path}: {memory} is too little to sort in ({_first_line(error)}); the "
                    "same build resumes with more (--memory)"
                ) from error
            except duckdb.Error:
                if not going_on:
                    raise
                say("what the last build left is damaged; starting anew")
                work.empty()
                kg = _graph(work, read, memory, format in RDF_FORMATS, say)
            pyarrow.default_memory_pool().release_unused()
            say("saving")
            save_graph(kg, folder, beside=lambda fresh: save_index(fresh, kg))
    except duckdb.Error as error:
        raise JaxkgError(f"{path}: cannot be sorted: {_first_line(error)}") from error
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise JaxkgError(f"{folder}: cannot be built ({why})") from error
    return kg


def _graph(
    work: WorkFolder,
    read: Callable[[WorkFolder], Reading],
    memory: str,
    rdf: bool,
    say: Callable[[str], None],
) -> KnowledgeGraph:
    """Read what was not read, sort what was not sorted."""
    saved = work.reading
    reading = read(work) if saved is None else saved
    duckdb, _ = libraries()
    with duckdb.connect(str(work.path / "sorting.duckdb")) as database:
        run = database.execute
        temporary = work.path / "sorting"
        shutil.rmtree(temporary, ignore_errors=True)
        run(f"SET memory_limit = '{memory}'")
        run(f"SET temp_directory = {quoted(temporary)}")
        rows = {name: getattr(reading, name) for name in ("facts", "names")}
        for name in filter(rows.get, rows):
            # File by file: a folder may be called like a pattern.
            files = ", ".join(map(quoted, sorted(work.path.glob(f"{name}-*.parquet"))))
            run(f"CREATE TEMP VIEW {name} AS SELECT * FROM read_parquet([{files}])")
            if saved and run(f"SELECT count(*) FROM {name}").fetchone() != (rows[name],):
                raise duckdb.DataError(f"{name} that were read are not there")
        done = {name for (name,) in run("SELECT table_name FROM duckdb_tables()").fetchall()}
        if saved:
            ended = [stage for name, stage in SORTED.items() if name in done]
            say(f"going on after {ended[-1] if ended else 'reading'}")
        return sorted_graph(database, work.path, reading, rdf, done, say)


@contextlib.contextmanager
def _interruptions(work: WorkFolder, say: Callable[[str], None]) -> Iterator[None]:
    """Ctrl-C as what it is, of which DuckDB makes a plain error."""
    try:
        yield
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and str(error) != "Query interrupted":
            raise
        if work.reading is not None:
            say("interrupted; building it again resumes from here")
        raise KeyboardInterrupt from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _refuse_table(path: Path, format: str, encoding: str) -> None:
    """Refuse what `read_graph` would take as a table: its columns are no head, relation, tail."""
    rows = first_rows(path, format, encoding)
    if rows and (is_header(rows[0]) or rows_are_entities(rows)):
        raise JaxkgError(
            f"{path} looks like a table, a row an entity, and graphs built on disk are read as "
            f"triples: build it in memory (without --big), or, if its rows are triples, name the "
            f"format ({format!r}) or the columns"
        )


def _read(
    path: Path,
    format: str,
    facts: SpilledTriples,
    names: SpilledNames,
    bad: BadLines,
    columns: Columns | None,
    encoding: str,
    on_progress: Progress | None,
    say: Callable[[str], None],
) -> None:
    options = Options(columns=columns, provenance=False, encoding=encoding, on_progress=on_progress)
    intake = Intake(options, bad, format, facts)
    if format in RDF_FORMATS and format != "jsonld":
        spill_rdf(path, format, facts, names, bad, on_progress, say)
    elif format in SEPARATORS:
        read_delimited(path, intake, said=False)
    elif format == "parquet":
        read_parquet(path, intake)
    else:
        raise JaxkgError(
            f"{path}: {format} is read whole, not on disk; write it as TSV, Parquet or N-Triples"
        )
