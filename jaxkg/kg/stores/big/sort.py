"""Spilled facts and names sorted by DuckDB into a graph of mapped arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np

from jaxkg.kg.encode import refuse_inverses
from jaxkg.kg.files.rdf.read import bare_name, tail_of
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import AliasTable, NameTable
from jaxkg.kg.stores.big.work_folder import Reading
from jaxkg.kg.triples import PackedTriples, offset_width, relation_width
from jaxkg.words import relation_words

_ROWS = 1 << 20
SORTED = {"entities": "numbering entities", "triples": "sorting facts", "others": "sorting names"}
"""What has ended once DuckDB has a table, in order."""

_BYTES_A_FACT = 64
"""Memory that finding the distinct ids is thought to take: 126 million facts in 2 GB, of 42 million
ids, are looked through in five passes; in one they did not do."""


def quoted(path: Path) -> str:
    """A path as a string of SQL."""
    return "'" + str(path).replace("'", "''") + "'"


def sorted_graph(
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
        _number_entities(run, reading.facts)
    relations, called = _relations(run, rdf)
    run("CREATE TEMP TABLE relations (relation VARCHAR, code INTEGER)")
    code = {name: row for row, name in enumerate(relations)}
    database.executemany(
        "INSERT INTO relations VALUES (?, ?)", [[iri, code[name]] for iri, name in called.items()]
    )
    if "triples" not in done:
        say("sorting facts")
    run(
        "CREATE TABLE IF NOT EXISTS triples AS SELECT h.rowid::INTEGER AS h, r.code AS r, "
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
    last = np.full((3, 1), -1, np.int32)
    for batch in _batches(run, work, "SELECT h, r, t FROM triples ORDER BY rowid"):
        rows = np.stack([column.to_numpy() for column in batch.columns])
        # Facts told twice stand side by side: to find them by hashes takes more memory.
        new = np.any(np.diff(rows, axis=1, prepend=last), axis=0)
        last, rows = rows[:, -1:], rows[:, new]
        if rows.size:
            head, *columns = rows
            for column, read in zip((relation, tail), columns):
                column[place : place + len(head)] = read
            first[head[0] + 1 : head[-1] + 2] += np.bincount(head - head[0]).astype(first.dtype)
            place += len(head)
    relation, tail = relation[:place], tail[:place]
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
        duplicates=reading.facts - place,
        skipped=tuple(reading.skipped),
        relation_labels=tuple(labels.get(r, [relation_words(r)])[0] for r in relations),
        relation_aliases=AliasTable.from_mapping(
            {row: labels[name][1:] for row, name in enumerate(relations) if name in labels}
        ),
    )


def _number_entities(run: Callable[..., Any], facts: int) -> None:
    """The table of all ids, ascending: a row's number is the entity's.

    DuckDB finds what is distinct by a table of hashes that, once it is large, has to be held whole:
    so only a part of all ids at a time, by their hash.
    """
    limit = run("SELECT current_setting('memory_limit')").fetchone()[0]
    passes = 1 + facts * _BYTES_A_FACT // _bytes(limit)
    run("CREATE TEMP TABLE ids (id VARCHAR)")
    for turn in range(passes):
        of_this = " UNION ALL ".join(
            f"SELECT {end} AS id FROM facts WHERE hash({end}) % {passes} = {turn}"
            for end in ("head", "tail")
        )
        run(f"INSERT INTO ids SELECT DISTINCT id FROM ({of_this})")
    run("CREATE TABLE entities AS SELECT id FROM ids ORDER BY id")
    run("DROP TABLE ids")


def _bytes(size: str) -> int:
    """What DuckDB says of memory, in bytes.

    >>> _bytes("1.5 KiB"), _bytes("100 bytes")
    (1536, 100)
    """
    number, unit = size.split()
    return int(float(number) * 1024 ** ("BKMGTP".index(unit[0].upper())))


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
    names: dict[str, dict[str, None]] = {}
    for iri, name in rows:
        names.setdefault(called[iri], {})[name] = None
    return {name: list(known) for name, known in names.items()}


def _batches(run: Callable[..., Any], work: Path, query: str) -> Iterator[Any]:
    """The rows of a query in order, some at a time."""
    from pyarrow import parquet

    path = work / "rows.parquet"
    run(f"COPY ({query}) TO {quoted(path)} (FORMAT parquet, COMPRESSION lz4)")
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
