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
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np

from jaxkg.errors import JaxkgError
from jaxkg.kg.encode import refuse_inverses
from jaxkg.kg.files.delimited import SEPARATORS, Columns, read_delimited, read_names
from jaxkg.kg.files.parquet import parquet_parts, read_parquet
from jaxkg.kg.files.rdf import RDF_FORMATS, bare_name, tail_of
from jaxkg.kg.files.read import graph_format
from jaxkg.kg.files.shape import first_rows, is_header, rows_are_entities
from jaxkg.kg.files.store import save_graph
from jaxkg.kg.files.textfile import BadLines, Progress, existing
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.stores.arrays import save_index
from jaxkg.kg.stores.big.spill import SpilledNames, SpilledTriples, libraries, spill_rdf
from jaxkg.kg.stores.big.work_folder import Reading, WorkFolder, code_digest, signature
from jaxkg.kg.triples import PackedTriples, offset_width, relation_width
from jaxkg.words import relation_words

_ROWS = 1 << 20
_SORTED = {
    "entities": "numbering entities",
    "triples": "sorting facts",
    "others": "sorting names",
}
"""What has ended once DuckDB has a table, in order."""


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
    stays there where the process is killed, or interrupted after reading: the next build of the
    same files to the same folder, with the same arguments (`memory` aside), DuckDB and code of
    jaxkg, goes on from there; any other removes it.

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
    format = graph_format(path, format, encoding)
    if guess and format in ("csv", "tsv"):
        _refuse_table(path, format, encoding)
    named = None if names is None else existing(names)
    say = on_stage or (lambda stage: None)

    def read(work: WorkFolder) -> Reading:
        say("reading")
        facts, told, bad = SpilledTriples(work.path), SpilledNames(work.path), BadLines(skip_bad)
        if named is not None:
            told.rank = 0
            read_names(named, told, bad, encoding=encoding)
            told.rank = 1
        _read(path, format, facts, told, bad, columns, encoding, on_progress, say)
        if not len(facts):
            raise JaxkgError(f"{path}: no triples in it (read as {format})")
        facts.facts.flush()
        told.names.flush()
        return work.keep(Reading(len(facts), told.names.rows, bad.messages))

    try:
        with duckdb.connect() as trial:
            trial.execute(f"SET memory_limit = '{memory}'")
        folder.parent.mkdir(parents=True, exist_ok=True)
        about = format, columns and tuple(columns), encoding, skip_bad
        files = [*parquet_parts(path), *([] if named is None else [named])]
        told = signature(files, *about, duckdb.__version__, code_digest())
        with WorkFolder(folder, told) as work, _interruptions(work, say):
            going_on = work.reading is not None
            try:
                kg = _graph(work, read, memory, format in RDF_FORMATS, say)
            except duckdb.OutOfMemoryException:
                raise
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
        raise JaxkgError(f"{path}: cannot be sorted: {str(error).splitlines()[0]}") from error
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
    kept = work.reading
    reading = read(work) if kept is None else kept
    duckdb, _ = libraries()
    with duckdb.connect(str(work.path / "sorting.duckdb")) as database:
        run = database.execute
        temporary = work.path / "sorting"
        shutil.rmtree(temporary, ignore_errors=True)
        run(f"SET memory_limit = '{memory}'")
        run(f"SET temp_directory = {_quoted(temporary)}")
        rows = {name: getattr(reading, name) for name in ("facts", "names")}
        for name in filter(rows.get, rows):
            # File by file: a folder may be called like a pattern.
            files = ", ".join(map(_quoted, sorted(work.path.glob(f"{name}-*.parquet"))))
            run(f"CREATE TEMP VIEW {name} AS SELECT * FROM read_parquet([{files}])")
            if kept and run(f"SELECT count(*) FROM {name}").fetchone() != (rows[name],):
                raise duckdb.DataError(f"{name} that were read are not there")
        done = {name for (name,) in run("SELECT table_name FROM duckdb_tables()").fetchall()}
        if kept:
            ended = [stage for name, stage in _SORTED.items() if name in done]
            say(f"going on after {ended[-1] if ended else 'reading'}")
        return _sorted(database, work.path, reading, rdf, done, say)


@contextlib.contextmanager
def _interruptions(work: WorkFolder, say: Callable[[str], None]) -> Iterator[None]:
    """Ctrl-C as what it is, of which DuckDB makes a plain error."""
    try:
        yield
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and str(error) != "Query interrupted":
            raise
        if work.reading is not None:
            say("interrupted; building it again goes on from here")
        raise KeyboardInterrupt from error


def _refuse_table(path: Path, format: str, encoding: str) -> None:
    """Refuse what `read_graph` would take as a table: its columns are no head, relation, tail."""
    rows = first_rows(path, format, encoding)
    if rows and (is_header(rows[0]) or rows_are_entities(rows)):
        raise JaxkgError(
            f"{path} looks like a table, a row an entity, and graphs built on disk are read as "
            f"triples: build it in memory (without --big), or, if its rows are triples, name the "
            f"format ({format!r}) or the columns"
        )


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


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
    if format in RDF_FORMATS and format != "jsonld":
        spill_rdf(path, format, facts, names, bad, on_progress, say)
    elif format in SEPARATORS:
        read_delimited(
            path,
            format,
            facts,
            bad,
            columns=columns,
            provenance=False,
            encoding=encoding,
            on_progress=on_progress,
        )
    elif format == "parquet":
        read_parquet(path, facts, bad, columns=columns, provenance=False, on_progress=on_progress)
    else:
        raise JaxkgError(
            f"{path}: {format} is read whole, not on disk; write it as TSV, Parquet or N-Triples"
        )


def _sorted(
    database: Any,
    work: Path,
    reading: Reading,
    rdf: bool,
    done: Collection[str],
    say: Callable[[str], None],
) -> KnowledgeGraph:
    """Spilled facts and names as a graph of mapped arrays; tables that are done are taken."""
    run = database.execute
    if "entities" not in done:
        say("numbering entities")
    run(
        "CREATE TABLE IF NOT EXISTS entities AS SELECT id FROM "
        "(SELECT DISTINCT head AS id FROM facts UNION SELECT DISTINCT tail FROM facts) ORDER BY id"
    )
    relations, called = _relations(run, rdf)
    run("CREATE TEMP TABLE relations (relation VARCHAR, code INTEGER)")
    code = {name: row for row, name in enumerate(relations)}
    database.executemany(
        "INSERT INTO relations VALUES (?, ?)", [[iri, code[name]] for iri, name in called.items()]
    )
    if "triples" not in done:
        say("sorting facts")
    run(
        "CREATE TABLE IF NOT EXISTS triples AS SELECT DISTINCT h.rowid::INTEGER AS h, r.code AS r, "
        "t.rowid::INTEGER AS t FROM facts f JOIN entities h ON f.head = h.id "
        "JOIN entities t ON f.tail = t.id JOIN relations r ON f.relation = r.relation "
        "ORDER BY 1, 2, 3"
    )
    count, entities = (
        run(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("triples", "entities")
    )
    relation = _mapped(work / "relation.npy", relation_width(len(relations)), (count,))
    tail = _mapped(work / "tail.npy", np.int32, (count,))
    first, place = np.zeros(entities + 1, offset_width(count)), 0
    for batch in _batches(run, work, "SELECT h, r, t FROM triples ORDER BY rowid"):
        head, *columns = (column.to_numpy() for column in batch.columns)
        for column, read in zip((relation, tail), columns):
            column[place : place + len(batch)] = read
        first[head[0] + 1 : head[-1] + 2] += np.bincount(head - head[0]).astype(first.dtype)
        place += len(batch)
    triples = PackedTriples(np.cumsum(first, out=first), relation, tail)
    say("naming")
    rows = _batches(run, work, "SELECT id FROM entities ORDER BY rowid")
    ids = _packed(work / "ids", (batch.column(0) for batch in rows), ascending=True)
    names, aliases = ids, AliasTable.from_mapping({})
    labels: dict[str, list[str]] = {}
    if reading.names:
        names, aliases = _names(run, work, rdf)
        labels = _relation_names(run, called)
    elif rdf:
        parts = (ids[start : start + _ROWS] for start in range(0, len(ids), _ROWS))
        names = _packed(work / "names", (map(bare_name, part) for part in parts))
    return KnowledgeGraph(
        entity_ids=ids,
        entity_names=names,
        relations=relations,
        triples=cast(np.ndarray, triples),
        aliases=aliases,
        duplicates=reading.facts - count,
        skipped=tuple(reading.skipped),
        relation_labels=tuple(labels.get(r, [relation_words(r)])[0] for r in relations),
        relation_aliases=AliasTable.from_mapping(
            {row: labels[name][1:] for row, name in enumerate(relations) if name in labels}
        ),
    )


def _relations(run: Callable[..., Any], rdf: bool) -> tuple[tuple[str, ...], dict[str, str]]:
    """The names of relations, ascending, and that of each as it was read."""
    read = [row[0] for row in run("SELECT DISTINCT relation FROM facts").fetchall()]
    refuse_inverses(read)
    called = {name: name for name in read}
    if rdf:
        tails = Counter(map(tail_of, read))
        called = {iri: tail_of(iri) if tails[tail_of(iri)] == 1 else iri for iri in read}
    return tuple(sorted(called.values())), called


def _names(run: Callable[..., Any], work: Path, rdf: bool) -> tuple[NameTable, AliasTable]:
    """Display names and other names of the entities."""
    run(
        "CREATE TABLE IF NOT EXISTS named AS SELECT e.rowid::INTEGER AS entity, n.name AS name, "
        "min(n.rank::BIGINT * 1000000000000 + n.number) AS place, "
        "min((n.rank % 9)::BIGINT * 1000000000000 + n.number) AS turn "
        "FROM names n JOIN entities e ON n.id = e.id "
        "GROUP BY 1, 2"
    )
    run(
        "CREATE TABLE IF NOT EXISTS shown AS "
        "SELECT entity, arg_min(name, place) AS name, min(place) AS place "
        "FROM named WHERE place < 9000000000000 GROUP BY entity"
    )
    shown = "s.name" if rdf else "coalesce(s.name, e.id)"
    rows = (
        f"SELECT e.id, {shown} FROM entities e LEFT JOIN shown s ON s.entity = e.rowid "
        "ORDER BY e.rowid"
    )
    names = (
        batch.column(1)
        if not batch.column(1).null_count
        else [
            bare_name(id) if name is None else name
            for id, name in zip(*(column.to_pylist() for column in batch.columns))
        ]
        for batch in _batches(run, work, rows)
    )
    table = _packed(work / "names", names)
    run(
        "CREATE TABLE IF NOT EXISTS others AS "
        "SELECT n.entity, n.name FROM named n LEFT JOIN shown s USING (entity) "
        "WHERE s.name IS NULL OR s.name <> n.name ORDER BY n.entity, n.turn"
    )
    count = run("SELECT count(*) FROM others").fetchone()[0]
    owners = _mapped(work / "owners.npy", np.int32, (count,))
    place = 0
    for batch in _batches(run, work, "SELECT entity FROM others ORDER BY rowid"):
        owners[place : place + len(batch)] = batch.column(0).to_numpy()
        place += len(batch)
    rows = _batches(run, work, "SELECT name FROM others ORDER BY rowid")
    others = _packed(work / "aliases", (batch.column(0) for batch in rows))
    return table, AliasTable(owners, others)


def _relation_names(run: Callable[..., Any], called: dict[str, str]) -> dict[str, list[str]]:
    rows = run(
        "SELECT r.relation, n.name FROM names n JOIN relations r ON n.id = r.relation "
        "ORDER BY n.rank, n.number"
    ).fetchall()
    found: dict[str, dict[str, None]] = {}
    for iri, name in rows:
        found.setdefault(called[iri], {})[name] = None
    return {name: list(told) for name, told in found.items()}


def _batches(run: Callable[..., Any], work: Path, query: str) -> Iterator[Any]:
    """The rows of a query in order, some at a time."""
    from pyarrow import parquet

    path = work / "rows.parquet"
    run(f"COPY ({query}) TO {_quoted(path)} (FORMAT parquet, COMPRESSION lz4)")
    with parquet.ParquetFile(path) as file:
        yield from file.iter_batches(_ROWS)
    path.unlink()


def _packed(path: Path, parts: Iterable[Any], *, ascending: bool = False) -> NameTable:
    """Strings, in parts of any kind that Arrow takes, as a table of names on disk."""
    import pyarrow

    lengths: list[np.ndarray] = [np.zeros(1, np.int64)]
    with open(path.with_suffix(".blob"), "wb") as file:
        for part in parts:
            if not isinstance(part, pyarrow.Array):
                part = pyarrow.array(part, pyarrow.string())
            _, places, letters = part.buffers()
            bounds = np.frombuffer(places, np.int32)[part.offset : part.offset + len(part) + 1]
            if letters is not None:
                file.write(letters.slice(int(bounds[0]), int(bounds[-1] - bounds[0])))
            lengths.append(np.diff(bounds))
    offsets = np.cumsum(np.concatenate(lengths))
    empty = np.zeros(0, np.uint8)
    blob = np.memmap(path.with_suffix(".blob"), np.uint8, "r") if offsets[-1] else empty
    return NameTable(np.asarray(blob), offsets, ascending=ascending)


def _mapped(path: Path, kind: Any, shape: tuple[int, ...]) -> np.ndarray:
    if not shape[0]:
        return np.zeros(shape, kind)
    return np.asarray(np.lib.format.open_memmap(path, "w+", kind, shape))
