"""One way in for every graph a user may have."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.delimited import SEPARATORS, Columns, read_delimited, read_names
from jaxkg.kg.files.formats import files_of, graph_format, suffix_of
from jaxkg.kg.files.graphml import NETWORK_FORMATS, read_network
from jaxkg.kg.files.jsonl import read_jsonl
from jaxkg.kg.files.parquet import holds_rows, parquet_rows, read_parquet
from jaxkg.kg.files.rdf import read_rdf
from jaxkg.kg.files.store import open_graph
from jaxkg.kg.files.tables.cells import drop_nothing, join_by_name, split_cells
from jaxkg.kg.files.tables.excel import EXCEL_ENDS, read_excel
from jaxkg.kg.files.tables.keys import TakenTable, join_by_number, join_ends
from jaxkg.kg.files.tables.shape import (
    MAYBE_TABLE,
    first_rows,
    heads_rows,
    is_header,
    kept_columns,
    rows_are_entities,
)
from jaxkg.kg.files.tables.sqlite import read_sqlite
from jaxkg.kg.files.tables.table import PLAIN_TABLE, read_table, take_table
from jaxkg.kg.files.textfile import BadLines, Progress, existing
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.names import NameCollector
from jaxkg.kg.queries.columns import likely_column

_LISTS = ("jsonl", *NETWORK_FORMATS)
"""Formats that have lists of their own."""


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Columns | None = None,
    names: str | os.PathLike[str] | Mapping[str, str] | None = None,
    provenance: bool | int | str | None = None,
    encoding: str = "utf-8",
    skip_bad: int = 0,
    lines: bool = False,
    on_progress: Progress | None = None,
    on_reading: Callable[[str], None] | None = None,
) -> KnowledgeGraph:
    """Read a knowledge graph from a file, a folder of files, or one that `save_graph` wrote.

    | format | what it is |
    |---|---|
    | `metaqa` | `head|relation|tail` lines |
    | `tsv` | tab-separated lines; quotes are plain characters |
    | `csv` | comma-separated (or by semicolons), with quotes |
    | `table` | CSV or TSV with a row an entity, see `jaxkg.kg.files.tables.table.read_table`; |
    | | of a workbook every sheet is one |
    | `excel` | the sheets of a workbook, each a table or triples (needs the extra `excel`); see |
    | | `jaxkg.kg.files.tables.excel.read_excel` |
    | `sqlite` | the tables of a database, joined by foreign keys, declared ones or not; see |
    | | `jaxkg.kg.files.tables.sqlite.read_sqlite` |
    | `jsonl` | `{"head": ..., "relation": ..., "tail": ...}` lines; an end is a string or |
    | | `{"id": ..., "name": ..., "aliases": [...]}`; `source` may be added. Other records are |
    | | entities: keys are relations, a list several values |
    | `parquet` | triples, or a folder of their partitions (needs the extra `parquet`); a file of |
    | | other columns is a table |
    | `graphml`, `gexf` | nodes and edges as NetworkX, igraph, Gephi, yEd and Neo4j's APOC write |
    | | them, see `jaxkg.kg.files.graphml` |
    | `ntriples`, `turtle`, `rdfxml`, | RDF (needs the extra `rdf`); for ids, names and |
    | `nquads`, `trig`, `jsonld` | statements about statements, see `jaxkg.kg.files.rdf.read_rdf` |
    | `saved` | a folder that `save_graph` or `kg build` wrote |
    | `folder` | all CSV, TSV, Excel, SQLite, JSON, GraphML and GEXF files of a folder as one |
    | | graph, whose tables refer to one another by names or numbers, see |
    | | `jaxkg.kg.files.tables.keys`; a file of nodes and one of edges are among them, see |
    | | `jaxkg.kg.files.exports` |

    Text may be gzip-packed. Blank lines are passed over, blanks around names are cut off. The
    first line of a TSV or CSV file is a header where it names head (or subject, source, from,
    entity), relation (or predicate, property, type) and tail (or object, target, to, value), or is
    `h r t` or `s p o`; the columns are then taken by these names. It is a table's header where the
    first of its columns is called id, key, name or the like, or where no format is named and the
    rows look like a table, see `jaxkg.kg.files.tables.shape.rows_are_entities`. A `.json` file is
    JSON-LD where it starts with keys such as `@context`, else JSON lines.

    Args:
        path: the file or folder.
        format: one of the above; by default told from the file's name, and for `.txt` (or no
            ending) from its first line: TSV where that has two tabs, MetaQA where it has two `|`.
        columns: head, relation and tail columns, by position from 0 or by name (a header's, a
            Parquet column's, a JSON key). Default: by name as above, else the first three.
        names: display names: a mapping, or a file of `id<TAB>name` lines, whose further names for
            an id become aliases. An id is an entity's, or the name of a relation. They win over
            names inside `path`; ids the graph does not have are left out.
        provenance: where a triple's source comes from. None: what the file itself says (a
            JSON-lines field, Parquet column or named header column `source`); True: "file:line"
            (for RDF the file alone, for Excel "file:sheet:row"), after a JSON line's own `source`;
            False: nothing is kept; a position or name: that column.
        encoding: of text files, `names` included; RDF, GraphML, Excel and Parquet know their own.
        skip_bad: how many malformed lines to tolerate. What was skipped is told in the graph's
            `skipped`.
        lines: keep "file:line" where the file itself says nothing (text formats and Excel only).
        on_reading: told in words how a header was taken, and what was left out.
        on_progress: called now and then with what is done and what there is in all (bytes on
            disk; rows of a Parquet table).

    Raises:
        JaxkgError: no such file, an unknown format, an option the format has no use for, a
            malformed line beyond `skip_bad`, wrong encoding, or no triples at all.
    """
    path, guess = existing(path), format is None
    format = graph_format(path, format, encoding)
    if format == "saved":
        _refuse(path, format, columns=columns, names=names, provenance=provenance)
        return open_graph(path)
    if path.is_dir() and format not in ("parquet", "folder"):
        raise JaxkgError(f"{path}: a folder, but format={format!r} is a file")
    if columns is not None and (len(columns) != 3 or len(set(columns)) != 3):
        raise JaxkgError(f"columns must name three different columns, got {columns!r}")
    if any(isinstance(at, int) and at < 0 for at in (*(columns or ()), provenance)):
        raise JaxkgError("columns are counted from 0; a negative position is none")
    bad, given = BadLines(skip_bad), NameCollector()
    if isinstance(names, Mapping):
        given.display.update(names)
    elif names is not None:
        read_names(existing(names), given, bad, encoding=encoding)
    options = _Options(guess, columns, provenance, encoding, lines, on_progress)
    into = _Into(TripleEncoder(), NameCollector(), bad, [], [])
    if format == "folder":
        _refuse(path, format, columns=columns)
        if not (isinstance(provenance, bool) or provenance is None):
            _refuse(path, format, provenance=provenance)
        reading, rows_taken = _take_folder(path, options, into)
    else:
        reading, rows_taken = _take(path, format, _start(path, format, options), options, into)
    readings = [reading]
    encoder, found = into.encoder, into.names
    if rows_taken:
        readings.append(join_ends(encoder, into.edges, into.tables))
        readings += [join_by_number(encoder, found, into.tables), drop_nothing(encoder)]
        readings += [split_cells(encoder, found, into.tables)] if format not in _LISTS else []
        readings.append(join_by_name(encoder, found))
    if on_reading and (rows_taken or format in (*SEPARATORS, *_LISTS, "folder")):
        readings.append(_values_taken(encoder))
    reading = "; ".join(filter(None, readings))
    if not len(encoder):
        why = f"; {reading}" if reading else ""
        raise JaxkgError(f"{path}: no triples in it (read as {format}{why})")
    _name(found, given, encoder.relations)
    graph = KnowledgeGraph.from_encoded(
        encoder.finish(),
        names=found.display,
        aliases=found.aliases,
        skipped=bad.messages,
        relation_names=found.relations,
    )
    if on_reading and reading:
        on_reading(f"{path}: {reading}; {graph.num_triples:,} facts")
    if on_reading and 2 * graph.num_relations > graph.num_triples > 20:
        on_reading(
            f"{path}: {graph.num_relations:,} relations for {graph.num_triples:,} facts; where a "
            "row is an entity and a column a relation, the format is 'table'"
        )
    return graph


class _Options(NamedTuple):
    """How every file is to be read; see `read_graph`.

    Attributes:
        guess: no format was named.
    """

    guess: bool
    columns: Columns | None
    provenance: bool | int | str | None
    encoding: str
    lines: bool
    on_progress: Progress | None


class _Into(NamedTuple):
    """What takes what is read."""

    encoder: TripleEncoder
    names: NameCollector
    bad: BadLines
    tables: list[TakenTable]
    edges: list[tuple[int, int]]
    """First and last fact of each file, or part of one, that holds triples."""


def _take_folder(path: Path, options: _Options, into: _Into) -> tuple[str, bool]:
    """Read all files of a folder that are read together; see `_take`."""
    files, unread = files_of(path)
    formats = [graph_format(file, None, options.encoding) for file in files]
    starts = [_start(*one, options) for one in zip(files, formats)]
    firsts = [{cell.casefold() for row in rows[:1] for cell in row} for rows in starts]
    tables: list[str] = []
    told: list[str] = []
    any_rows = False
    for at, (file, format) in enumerate(zip(files, formats)):
        others = set[str]().union(*firsts[:at], *firsts[at + 1 :])
        reading, rows_taken = _take(file, format, starts[at], options, into, others)
        any_rows |= rows_taken
        if reading.startswith(PLAIN_TABLE):
            tables.append(file.name)
        elif reading:
            told.append(f"{file.name} {reading}")
    if tables:
        told.insert(0, f"{', '.join(tables)} {PLAIN_TABLE}")
    return "; ".join([*told, *([f"left out: {', '.join(unread)}"] if unread else [])]), any_rows


def _take(
    path: Path,
    format: str,
    rows: list[list[str]],
    options: _Options,
    into: _Into,
    others: Collection[str] | None = None,
) -> tuple[str, bool]:
    """Read one file.

    Args:
        rows: see `_start`.
        others: first words of columns in files that are read with it, without case.

    Returns:
        How, in words, and whether its rows are entities.
    """
    guess, columns, provenance, encoding, lines, on_progress = options
    encoder, found, bad, tables, edges = into
    start = len(encoder)
    kept = kept_columns(rows) if rows else []
    some_left_out = bool(rows) and len(kept) < len(rows[0])
    rows = [[row[at] for at in kept if at < len(row)] for row in rows]
    looks = guess and rows_are_entities(rows)
    headed = bool(rows) and is_header(rows[0])
    # Two columns beside other files are no triples, and rather a table than names.
    beside = others is not None and (all(len(row) == 2 for row in rows) or heads_rows(rows, others))
    if format == "excel" or (format == "table" and suffix_of(path) in EXCEL_ENDS):
        reading = read_excel(
            path,
            encoder,
            found,
            bad,
            tables,
            every=format == "table",
            guess=guess,
            columns=columns,
            provenance=provenance,
            lines=lines,
            on_progress=on_progress,
        )
        return reading, True
    if format == "sqlite":
        _refuse(path, format, columns=columns)
        told = lines or provenance is True
        return read_sqlite(path, encoder, found, bad, tables, lines=told), True
    if format == "table" or headed or looks or (rows and beside):
        _refuse(path, "table", columns=columns)
        reading = read_table(
            path,
            encoder,
            found,
            bad,
            tables,
            format=format,
            kept=kept if some_left_out else None,
            lines=lines or provenance is True,
            encoding=encoding,
            on_progress=on_progress,
        )
        if looks and not headed and others is None:
            reading += f"; if rows are triples, the format is {format!r}"
        return reading, True
    if format in SEPARATORS:
        reading = read_delimited(
            path,
            format,
            encoder,
            bad,
            columns=columns,
            provenance=provenance,
            lines=lines,
            encoding=encoding,
            on_progress=on_progress,
        )
        edges.append((start, len(encoder)))
        return (f"taken as triples{MAYBE_TABLE}" if looks is None else reading), False
    if format == "parquet" and _plain(options) and holds_rows(path):
        told = lines or provenance is True
        rows_of = parquet_rows(path, on_progress)
        title = path.name.split(".")[0]
        return take_table(path, title, rows_of, encoder, found, bad, tables, lines=told), True
    if format == "parquet":
        read_parquet(
            path, encoder, bad, columns=columns, provenance=provenance, on_progress=on_progress
        )
        return "", False
    if format in _LISTS:
        document, left_out = None, ""
        if format in NETWORK_FORMATS:
            _refuse(path, format, columns=columns)
            _refuse(path, format, provenance=None if isinstance(provenance, bool) else provenance)
            document, left_out = read_network(path, bad, on_progress)
        reading = read_jsonl(
            path,
            encoder,
            found,
            bad,
            tables,
            edges,
            document=document,
            keys=_keys(path, columns),
            provenance=_no_position(path, provenance),
            lines=lines,
            encoding=encoding,
            on_progress=on_progress,
        )
        return "; ".join(filter(None, (reading, left_out))), bool(reading)
    if not isinstance(provenance, bool):
        _refuse(path, format, provenance=provenance)
    _refuse(path, format, columns=columns)
    reading = read_rdf(
        path, format, encoder, found, bad, provenance=bool(provenance), on_progress=on_progress
    )
    return reading, False


def _plain(options: _Options) -> bool:
    """Whether no option says where columns are, so that rows may be entities."""
    told = options.provenance is not None and not isinstance(options.provenance, bool)
    return options.columns is None and not told


def _start(path: Path, format: str, options: _Options) -> list[list[str]]:
    """The first rows of a CSV or TSV file that may be a table; none of others."""
    delimited = format in ("csv", "tsv") and _plain(options)
    return first_rows(path, format, options.encoding) if delimited else []


def _name(found: NameCollector, given: NameCollector, relations: Iterable[str]) -> None:
    """Let names that were given win over those of the file, which stay as others."""
    for entity, label in given.display.items():
        if found.display.get(entity, label) != label:
            found.alias(entity, found.display[entity])
        found.display[entity] = label
    for entity, others in given.aliases.items():
        for other in others:
            found.alias(entity, other)
    for relation in relations:
        if relation in given.display:
            told = [given.display[relation], *given.aliases.get(relation, ())]
            told += found.relations.get(relation, [])
            found.relations[relation] = list(dict.fromkeys(told))


def _values_taken(encoder: TripleEncoder) -> str:
    """Numbers and dates that could be others, in words."""
    columns = ((relation, likely_column(cells)) for relation, cells in encoder.tails())
    return "; ".join(
        f"{relation}: {column.told}" for relation, column in columns if column and column.told
    )


def _refuse(path: Path, format: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise JaxkgError(f"{path}: {name} has no meaning for format {format!r}; leave it out")


def _keys(path: Path, columns: Columns | None) -> tuple[str, str, str] | None:
    if columns is None:
        return None
    head, relation, tail = (_no_position(path, column) for column in columns)
    return str(head), str(relation), str(tail)


def _no_position(path: Path, column: bool | int | str | None) -> bool | str | None:
    if isinstance(column, int) and not isinstance(column, bool):
        raise JaxkgError(f"{path}: JSON lines have no column {column}; give the key's name")
    return column
