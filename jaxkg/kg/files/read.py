"""One way in for every graph a user may have."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.countries import name_countries
from jaxkg.kg.files.delimited import names_of, read_names
from jaxkg.kg.files.delimited_format import first_words
from jaxkg.kg.files.formats import Choice, files_of, format_of
from jaxkg.kg.files.parquet import columns_of
from jaxkg.kg.files.protocol import Columns, Format, Intake, Options
from jaxkg.kg.files.store import open_graph
from jaxkg.kg.files.tables.cells import join_tables
from jaxkg.kg.files.tables.keys import KEY, join_ends
from jaxkg.kg.files.tables.table import PLAIN_TABLE
from jaxkg.kg.files.textfile import BadLines, Progress, existing, guessed_encodings
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.mapping import apply_mapping, mapping_beside, read_mapping
from jaxkg.kg.names import NameCollector
from jaxkg.kg.queries.amounts import amount_names
from jaxkg.kg.queries.columns import likely_column
from jaxkg.words import singular


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
    language: str = "en",
    strict: bool = False,
    on_progress: Progress | None = None,
    on_reading: Callable[[str], None] | None = None,
    mapping: str | os.PathLike[str] | None = None,
    left_out: Counter[str] | None = None,
) -> KnowledgeGraph:
    """Read a knowledge graph from a file, a folder of files, or one that `save_graph` wrote.

    `jaxkg formats` lists the formats (`jaxkg.kg.files.formats.registry`). Each format looks at the
    name and the first lines of a file and says how likely the file is its own. The likeliest
    format reads the file; a format that is nearly as likely is reported. A folder is one graph:
    its tables refer to one another by names or numbers (`jaxkg.kg.files.tables.keys`), and it may
    hold a file of nodes and a file of edges (`jaxkg.kg.files.exports`).

    Files may be packed by gzip or zstd. Blank lines and blanks around names are ignored. The header
    of a TSV or CSV file of triples names head (or subject, source, from, entity), relation (or
    predicate, property, type) and tail (or object, target, to, value), or is `h r t` or `s p o`;
    for that of a table see `jaxkg.kg.files.tables.shape.rows_are_entities`.

    Args:
        path: the file or folder.
        format: the name of a format; default: recognised as above.
        columns: head, relation and tail columns, by position from 0 or by name (in a header, of a
            Parquet column, or a JSON key); default: by name as above, otherwise the first three.
        names: display names of entities and relations, by id: a mapping, or a file of
            `id<TAB>name` lines, whose further names for an id become aliases. They replace the
            names in `path`; ids that the graph does not have are left out.
        provenance: the source of each triple. None: what the file says (a JSON-lines field, Parquet
            column or header column `source`). True: "file:line" (for RDF the file alone, for Excel
            "file:sheet:row"), or a JSON line's own `source`. False: no source. A position or name:
            that column.
        encoding: encoding of text files, also of `names`; RDF, GraphML, Excel and Parquet state
            their own. Text that is no UTF-8 is read as cp1252; `on_reading` says so.
        skip_bad: number of malformed lines to tolerate; `skipped` of the graph lists them.
        lines: use "file:line" if the file states no source (text formats and Excel only).
        language: language of the labels to show (RDF, Wikidata); other labels become aliases.
        strict: refuse a table whose rows have more or fewer cells than its header; default: such
            rows are left out.
        on_reading: called with a text on how a file was read and what was left out.
        on_progress: called with (done, total): bytes on disk, or rows of a Parquet table.
        mapping: what relations mean, see `jaxkg.kg.mapping`; default: a file beside the data.
        left_out: counts what was left out, by reason.

    Raises:
        JaxkgError: no such file, an unknown format, an option the format has no use for, a
            malformed line beyond `skip_bad`, wrong encoding, or no triples at all.
    """
    path = existing(path)
    with guessed_encodings() as recoded:
        choice = format_of(path, format, encoding)
        chosen = choice.format
        if chosen.name == "saved":
            own = {"columns": columns, "names": names, "provenance": provenance}
            _refuse(path, "saved", format=format, **own, mapping=mapping)
            return open_graph(path)
        if path.is_dir() and not chosen.takes_folders:
            raise JaxkgError(f"{path}: a folder, but format={format!r} is a file")
        if columns is not None and (len(columns) != 3 or len(set(columns)) != 3):
            raise JaxkgError(f"columns must name three different columns, got {columns!r}")
        if any(isinstance(at, int) and at < 0 for at in (*(columns or ()), provenance)):
            raise JaxkgError("columns are counted from 0; a position cannot be negative")
        bad, given = BadLines(skip_bad), NameCollector()
        if isinstance(names, Mapping):
            given.display.update(names)
        elif names is not None:
            read_names(existing(names), given, bad, encoding=encoding)
        options = Options(
            format is None, columns, provenance, encoding, lines, on_progress, language, strict
        )
        intake = Intake(options, bad)
        if on_reading and choice.others:
            rivals = ", ".join(f"{name!r} ({why})" for name, why in choice.others)
            on_reading(
                f"{path}: read as {chosen.name!r} ({choice.reason}); it may be {rivals}, too"
            )
        if chosen.name == "folder":
            _refuse_columns(path, chosen, options)
            files, unread = files_of(path, encoding)
            if not files:
                return open_graph(path)  # which says what is missing
            _read_folder(path, files, intake)
            _read_names_beside(path, unread, intake, given)
        else:
            _read_file(path, chosen, intake)
        joined = join_ends(intake.encoder, intake.edges, intake.tables, intake.say_of)
        intake.finish()
    encoder, found = intake.encoder, intake.names
    readings = intake.readings
    others = f" and {len(recoded) - 3} more" if len(recoded) > 3 else ""
    files = ", ".join([*recoded][:3]) + others
    readings += [f"{files} read as cp1252: no UTF-8"] if recoded else []
    if intake.tables or intake.has_cells:
        readings += [joined, *join_tables(intake)]
    if intake.aside and (count := encoder.leave_out(intake.aside)):
        intake.leave_out("facts about properties and vocabularies", count)
    readings += [name_countries(encoder, found)]
    readings += [f"{count:,} {why}" for why, count in intake.mended.items()]
    readings += [f"{count:,} {why} left out" for why, count in intake.left_out.items()]
    if on_reading and not chosen.is_typed:
        # Numbers and dates that could be others.
        values = ((word, likely_column(cells)) for word, cells in encoder.tails())
        readings += [f"{word}: {column.told}" for word, column in values if column and column.told]
    reading = "; ".join(filter(None, readings))
    if not len(encoder):
        why = f"; {reading}" if reading else ""
        raise JaxkgError(f"{path}: no triples in it (read as {chosen.name}{why})")
    _name(found, given, encoder.relations)
    encoded = encoder.finish()

    def named() -> KnowledgeGraph:
        return KnowledgeGraph.from_encoded(
            encoded,
            names=found.display,
            aliases=found.aliases,
            skipped=bad.messages,
            relation_names=found.relations,
            meanings=intake.meanings,
        )

    graph = named()
    if amounts := amount_names(graph):
        found.display |= amounts
        graph = named()
    if on_reading and reading:
        on_reading(f"{path}: {reading}; {graph.num_triples:,} facts")
    if left_out is not None:
        left_out.update(intake.left_out)
    if found_mapping := existing(mapping) if mapping else mapping_beside(path):
        graph = apply_mapping(graph, read_mapping(found_mapping))
        if on_reading:
            on_reading(f"{path}: as {found_mapping} has it; {graph.num_triples:,} facts")
    many = chosen.takes_columns and 2 * graph.num_relations > graph.num_triples > 20
    if on_reading and many:
        on_reading(
            f"{path}: {graph.num_relations:,} relations for {graph.num_triples:,} facts; if each "
            "row is a thing and each column a relation, add --format table"
        )
    return graph


def _read_file(path: Path, format: Format, intake: Intake) -> None:
    _refuse_columns(path, format, intake.options)
    intake.format = format.name
    format.read(path, intake)


def _read_folder(path: Path, files: list[tuple[Path, Choice]], intake: Intake) -> None:
    """Read all files of a folder that are read together; see `files_of`. Where they lie in several
    folders within, these say something of their rows."""
    firsts = [first_words(file, choice.format.name, intake.options) for file, choice in files]
    words = {"".join(filter(str.isalnum, word)) for some in firsts for word in some}
    titles = ("".join(filter(str.isalnum, file.name.split(".")[0].casefold())) for file, _ in files)
    intake.titled = any(f"{title}{key}" in words for title in titles if title[3:] for key in KEY)
    rows = [singular(file.name.split(".")[0].casefold()) for file, _ in files]
    tables: list[str] = []
    told, intake.readings = intake.readings, []
    several = len({file.parent for file, _ in files} - {path}) > 1
    encoding = intake.options.encoding
    tsv = (choice.format.name == "tsv" for _, choice in files)
    pairs = [by_tabs and len(words) == 2 for by_tabs, words in zip(tsv, firsts)]
    for at in sorted(range(len(files)), key=pairs.__getitem__):
        file, choice = files[at]
        known = {*intake.encoder.entities} if pairs[at] else set[str]()
        if pairs[at] and names_of(file, known, encoding, headless=True):
            read_names(file, intake.names, intake.bad, encoding=encoding)
            told.append(f"{file.name} read as names")
            continue
        parts = file.relative_to(path).parts[:-1]
        intake.folders = columns_of(parts)
        if several and not intake.folders and parts:
            intake.folders = {"folder": parts[-1]}
        intake.beside = set[str]().union(*firsts[:at], *firsts[at + 1 :], rows[:at], rows[at + 1 :])
        _read_file(file, choice.format, intake)
        reading, intake.readings = "; ".join(intake.readings), []
        if reading.startswith(PLAIN_TABLE):
            tables.append(file.name)
        elif reading:
            told.append(f"{file.name} {reading}")
    if tables:
        told.insert(0, f"{', '.join(tables)} {PLAIN_TABLE}")
    intake.readings = told


def _read_names_beside(
    folder: Path, unread: list[str], intake: Intake, given: NameCollector
) -> None:
    """Take files that name what the others hold, as benchmarks have them (`entity2text.txt`)."""
    known = {*intake.encoder.entities, *intake.encoder.relations}
    named = [name for name in unread if names_of(folder / name, known, intake.options.encoding)]
    for name in named:
        names = NameCollector()
        read_names(folder / name, names, intake.bad, encoding=intake.options.encoding)
        given.display = names.display | given.display
        given.aliases = names.aliases | given.aliases
    intake.tell(f"{', '.join(named)} read as names" if named else "")
    others = [name for name in unread if name not in named]
    intake.tell(f"left out: {', '.join(others)}" if others else "")


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


def _refuse_columns(path: Path, format: Format, options: Options) -> None:
    """Refuse options that name columns where a format has none."""
    if not format.takes_columns:
        by_column = None if isinstance(options.provenance, bool) else options.provenance
        _refuse(path, format.name, columns=options.columns, provenance=by_column)


def _refuse(path: Path, called: str, /, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise JaxkgError(f"{path}: {name} has no meaning for format {called!r}; leave it out")
