"""Wide tables: a row is an entity, its first column the id, every further one a relation."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.kg.files.delimited import Row, csv_rows, separator_of
from jaxkg.kg.files.exports import plain_header
from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.tables.cells import cell_text
from jaxkg.kg.files.tables.headers import (
    ANY,
    SORT,
    firm_column,
    full_name,
    full_names,
    joins,
    key_column,
    kind_of_names,
    labels_of,
    name_column,
    ranked_column,
    row_sort,
)
from jaxkg.kg.files.tables.keys import (
    NAMES,
    TakenTable,
    calls_codes,
    numbered,
    other_names_in,
    row_id,
    row_names,
)
from jaxkg.kg.files.tables.layout import (
    YEAR,
    are_measures,
    are_merged,
    filled_down,
    in_sections,
    joined_headers,
    of_periods,
    parted,
    period_columns,
    totals,
    without_notes,
)
from jaxkg.kg.queries.columns import all_days, all_values
from jaxkg.words import relation_words

PLAIN_TABLE = "read as a table: each row is a thing"
"""How what is told of a table begins whose rows the first column calls."""
RAGGED = "rows with more or fewer cells than columns"
MENDED = "rows with cells that a blank after the separator joins, or without the last ones"
DIFFERENT = 0.8
"""Of rows, up to how many differ in a first column that is no name of theirs."""
_AGAIN = 5
"""Of so many rows one that is called as another of another day is enough for that."""
_NULL = frozenset(("", "NULL", "\\N", ":"))
"""Cells that say nothing, as databases write them."""
_LINK = re.compile(r"([^(),\[\]]+) \(https?://[^\s()]+\)|\[([^\]]+)\]\(https?://[^\s()]+\)")
_LINKS = re.compile(rf"(?:{_LINK.pattern})(?:, ?(?:{_LINK.pattern}))*")
"""Names with addresses, as pages refer to others."""
_TAGS = re.compile(r"(?:<[^<>\s]+>)+")
_OF_NODES = re.compile(r"(?:nodes?|vertices)[-_ ](?=[^\W\d])", re.I)
_ARE_NODES = re.compile(r"(?:.*[-_ ])?(?:nodes?|vertices|entities)", re.I)
"""Titles of tables of things of all classes, whose `label` beside a name is the class."""
_SHORT = 3
"""Letters from which on the beginning of a title may stand for it."""
_ALSO = ["synonym"], ["synonyms"], ["alias"], ["aliases"]
_CLASS = re.compile(r"\w+:[A-Z]\w+(?:\|\w+:[A-Z]\w+)*")


def read_table(path: Path, intake: Intake, *, kept: Sequence[int] | None = None) -> str:
    """Read a CSV or TSV table.

    The header names the relations; for what every row is see `row_sort`. Beside ids, a column that
    is called name, label or title, or as the rows are (`pool_name`), gives display names. Where
    much of the first column comes again, or it tells the day of what others of the columns name, a
    row is a node without a name, the first column one of its relations. See
    `jaxkg.kg.files.tables.keys` for numbers, `jaxkg.kg.files.tables.cells` for names in cells.

    Args:
        intake: takes what was read; its format is "tsv" or "csv" as the file's name tells, "table"
            where the first line has to.
        kept: its columns, where some are left out.

    Returns:
        How it was read, in words.

    Raises:
        JaxkgError: it has no header, or a malformed line beyond what is tolerated.
    """
    format = "tsv" if ".tsv" in path.suffixes else intake.format
    separator = separator_of(path, format, intake.options.encoding)
    rows = csv_rows(path, separator, intake)
    if kept is not None:
        rows = (
            [(n, [row[at] for at in kept if at < len(row)]) for n, row in some] for some in rows
        )
    title = _OF_NODES.sub("", name := path.name.split(".")[0])
    declared = Declared(True, {}) if title != name else None
    rows = parted(rows, intake)
    return take_table(path, title, rows, intake, separator=separator, declared=declared)


class Declared(NamedTuple):
    """What a database says of a table.

    Attributes:
        keyed: whether its first column calls the rows; else none does.
        refers: names of tables that columns refer to.
    """

    keyed: bool
    refers: Mapping[str, str]


def take_table(
    path: Path,
    title: str,
    batches: Iterable[list[Row]],
    intake: Intake,
    *,
    separator: str = ",",
    declared: Declared | None = None,
) -> str:
    """Take a table's rows, its header the first that is not blank; see `read_table`.

    Args:
        path: what the rows are of, in messages and sources.
        separator: between cells that a message shows.
        declared: what a database says of it; its title says what rows are, then.
    """
    encoder, names, tables = intake.encoder, intake.names, intake.tables
    lines, intake.has_cells = intake.options.by_line, True
    start, keyless = len(encoder), declared is not None and not declared.keyed
    ragged, alone = intake.left_out[RAGGED], declared is None and intake.beside is None
    header: _Header | None = None
    above: Row = (0, [])
    key, told_once, periods = 0, set[int](), tuple[int, ...]()
    merged: str | None = None  # what the last first cell says that blank ones below mean again
    one: str | None = None  # "" where no number calls rows; not told before the first row
    ids, repeated, unnamed = set[str](), 0, 0
    other_names: list[tuple[str, ...]] = []
    why, again, measured, calls = "it has no key", False, False, False
    people: tuple[int, ...] = ()  # columns of first and last names of others than the rows
    for batch in batches:
        rows = without_notes(batch)
        filled = sum(any(map(str.strip, row)) for _, row in batch)
        intake.leave_out("notes below a table", filled - len(rows))
        if header is None:
            if not rows:
                continue
            if joined := joined_headers([cells for _, cells in rows]):
                rows[:2] = [(rows[1][0], joined)]
            if declared is None and "section" not in map(str.casefold, rows[0][1]):
                rows, without = in_sections(rows)
                intake.leave_out("rows without an id, below sections", without)
            above = rows.pop(0)
            rows = _but_header(rows, above[1], intake)
            cells = [cells for _, cells in rows]
            merged = "" if declared is None and are_merged(above[1][0], cells) else None
            coded = declared is None and bool(row_sort("", title)) and calls_codes(above[1], cells)
            titled = intake.titled and not row_sort(above[1][0], title)
            titled |= declared is not None or coded
            fresh = _header_of(path, *above, title, separator, titled=titled)
            header = _nameless(fresh, title) if keyless else fresh
        else:
            rows = _but_header(rows, above[1], intake)
        rows = rows if merged is None else list(filled_down(rows, merged))
        if one is None and declared is None and rows:
            cells = [row for _, row in rows if len(row) == len(header.columns)]
            again = len(header.columns) > 2 and come_again(map(header.called, cells))
            measured = len(header.columns) > 2 and are_measures([row[0] for row in cells])
            again |= measured or (not header.shown and joins(header.columns, cells, title))
            told = {"again": again, "measured": measured}
            key = 1 if merged is not None else key_column(header.columns, cells, title, **told)
            calls = merged is None and not measured and not again  # the first column, what has keys
            if alone and calls and not key and len(header.columns) > 2:
                key = ranked_column(header.columns, cells)
                calls = not key
            again |= merged is None and _at_times(cells)
            keyless = again = not key and again
        called = key if merged is None else 0
        whole = _whole_rows(path, rows, header.columns, intake, separator, called, keyless=keyless)
        rows = list(whole)
        if one is None and key:
            cells = _moved(header.columns, key)
            header = _header_of(path, 1, cells, title, separator, titled=False)
            if calls and cells[0].casefold().split()[-1] not in NAMES:
                header = header._replace(name=max(header.name, 1))
        if one is None and (sums := totals([cells for _, cells in rows])):
            intake.leave_out("rows of totals", len(sums))
            rows = [row for at, row in enumerate(rows) if at not in sums]
        merged = merged if merged is None or not rows else rows[-1][1][0]
        rows = [(number, _moved(cells, key)) for number, cells in rows] if key else rows
        if one is None and rows:
            if 0 not in header.parts and come_again(header.full_name(row) for _, row in rows):
                people, header = header.parts, header._replace(parts=())  # a loan is no reader
            firsts = [header.called(cells) for _, cells in rows]
            again = again or (len(header.columns) > 2 and come_again(firsts))
            again |= merged is not None and all_days(firsts)
            if again or happenings([cells for _, cells in rows]):
                header = _nameless(header, title)
                told_once = _told_once(rows)
                why = "comes again and again" if again else "tells when"
                why = f"{header.columns[0]} {'is a measure' if measured else why}"
            keyed = not header.nameless and numbered(header.columns[0], firsts)
            if keyed and re.fullmatch(r"[^\W\d_]{3,}id", word := relation_words(header.columns[0])):
                one, others = row_names(word[:-2], title)  # a `customerid`
                header = header._replace(sort=one, one=one, others=header.others | others)
            one = header.one if keyed else ""
            if not header.shown and not header.nameless:
                calls_so = {*header.others, *relation_words(title).lower().split()[:1]}
                cells = [cells for _, cells in rows]
                name = name_column(header.columns, cells, calls_so, numbers=keyed)
                header = header._replace(name=name)
                kind = kind_of_names(header.columns[name]) if name > 0 else ""
                if kind and not header.sort:
                    header = header._replace(sort=kind if header.sorted_by else "")
                elif kind and kind != header.sort:
                    names.alias(header.sort, kind)
        if header.labels:
            for _, cells in rows:
                for of, at in header.labels:
                    if cells[of] and cells[at]:
                        names.label(cells[of], cells[at])
        facts: list[tuple[str, str, str]] = []
        sources: list[str] = []
        labels = {at for _, at in header.labels}
        firm = firm_column([cells for _, cells in rows], header.parts)
        periods, others = period_columns(header.columns), full_names(header.columns)
        if header.nameless and (places := other_names_in(header.columns)):
            other_names += [tuple(cells[place] for place in places) for _, cells in rows]
        for number, cells in rows:
            called = header.called(cells)
            row = row_id(one or "", called)
            if not (called or header.nameless):
                row = intake.blank(header.one)
                unnamed += 1
            elif header.nameless:
                row = intake.blank(header.nameless)
                facts += [(row, header.columns[0], cells[0])] if cells[0] and not periods else []
            else:
                repeated += called in ids
                ids.add(called)
                label = (header.full_name(cells) or cells[firm]) if header.parts else ""
                if label:
                    names.label(row, label)
            heads = [row]
            if periods:
                node, texts = row if header.nameless else intake.blank(title), [*map(_told, cells)]
                parts = [*of_periods(header.columns, periods, title, node, row, texts)]
                facts += parts
                if header.nameless:  # such a row is there in those of its cells alone
                    heads = [*dict.fromkeys(head for head, *_ in parts)]
            if person := " ".join(filter(None, (cells[place] for place in people))):
                facts += [(head, "full name", person) for head in heads]
            for of, *parts in others:
                if person := " ".join(filter(None, (cells[place] for place in parts))):
                    facts += [(head, of, person) for head in heads]
            if header.sort:
                things = [cells[0]] if told_once else heads
                facts += [(thing, header.sorted_by, header.sort) for thing in things]
            facts += [(head, *said) for head in heads for said in intake.folders.items()]
            for at, cell in enumerate(cells[1:], start=1):
                if at in labels or at in periods or (periods and header.nameless):
                    continue
                if at == header.name:
                    if cell and cell not in _NULL:
                        names.label(row, cell)
                else:
                    word, of = header.columns[at], cells[0] if at in told_once else row
                    texts = _told(cell)
                    if word == "category" and texts and _CLASS.fullmatch(cell):
                        word = header.sorted_by or word
                        texts = [relation_words(part) for part in cell.split("|")]
                    if relation_words(word).split()[-1:] in _ALSO:
                        for alias in filter(None, re.split(r"\s*[|;]\s*", cell)) if texts else ():
                            names.alias(row, alias)
                    facts += [(of, word, text) for text in texts]
            sources += [f"{path.name}:{number}"] * (len(facts) - len(sources))
        encoder.add_triples(facts, sources if lines else None)
    if header is None:
        return ""  # nothing was read, which the caller tells
    if header.sort and (kind := row_sort("", title)) not in ("", header.sort):
        names.alias(header.sort, kind)
    if intake.left_out[RAGGED] - ragged > len(encoder) - start:
        raise JaxkgError(
            f"{path}: most rows have more or fewer cells than its header has columns: is it parted "
            f"by {separator!r}?"
        )
    refers = {} if declared is None else declared.refers
    own = one or "", header.shown, header.others, start, len(encoder), ids, title, refers
    tables.append(TakenTable(*own, other_names=other_names))
    id = header.columns[0]
    parts = [header.name] if header.name > 0 else header.parts
    name = f", {' '.join(header.columns[at] for at in parts)} is its name" if parts else ""
    how = f"{PLAIN_TABLE}, {id} is its id{name}, the other columns are relations"
    if header.nameless:
        how = f"read as a table: {why}, so a row has no name; its columns are relations"
        how += f", {len(told_once)} of them of its {header.columns[0]}" if told_once else ""
    how += f", its class is {header.sort!r}" if header.sort else ""
    how += f", called {header.one} and its number" if one else ""
    if periods:
        ends = header.columns[periods[0]], header.columns[periods[-1]]
        how += f", {' to '.join(ends)} are periods: a row for each cell of theirs"
    for column, count in Counter(header.columns).items():
        how += f", {count} columns {column!r} one relation" if count > 1 else ""
    told = f"; {repeated:,} rows are of an id that is above them, too" if repeated else ""
    told += f"; {unnamed:,} rows have no id" if unnamed else ""
    return how + told


def come_again(ids: Iterable[str]) -> bool:
    """Whether much of what rows may be called comes again; blank cells call none."""
    called = [*filter(None, map(str.strip, ids))]
    return bool(called) and len(set(called)) <= DIFFERENT * len(called)


def _at_times(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a fifth of the rows are called as others of another day or year: who won when."""
    counts = Counter(row[0] for row in rows)
    several = [row for row in rows if counts[row[0]] > 1]
    if not several or len(several) * _AGAIN < len(rows):
        return False
    firsts, *columns = zip(*several)
    whens = (c for c in columns if all_days(c) or all(map(YEAR.fullmatch, c)))
    return any(len({*zip(firsts, when)}) == len(several) for when in whens)


def _but_header(rows: list[Row], header: Sequence[str], intake: Intake) -> list[Row]:
    """Rows without those that say the header again."""
    others = [row for row in rows if row[1] != header]
    intake.leave_out("headers that come again", len(rows) - len(others))
    return others


def _moved(cells: Sequence[str], key: int) -> list[str]:
    return [cells[key], *cells[:key], *cells[key + 1 :]]


def happenings(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows tell what happened when, and to whom: a day is no name of theirs."""
    first, *others = zip(*rows)
    named = (c for c in others if len(set(c)) > 1 and not all_values(c) and any(c))
    return len(others) > 2 and all_days(first) and len(list(named)) > 1


def _told_once(rows: Sequence[Row]) -> set[int]:
    """Columns that are blank where the first one says again what it does in the row above: an
    order's total stands beside the first of its items.

    >>> _told_once([(2, ["#1", "9", "EUR", "a"]), (3, ["#1", "", "", "b"])])
    {1, 2}
    """
    again = [row for (_, above), (_, row) in itertools.pairwise(rows) if above[0] == row[0]]
    first = [row for (_, above), (_, row) in zip([(0, [""]), *rows], rows) if above[0] != row[0]]
    cells = zip(zip(*again), zip(*first))
    once = {at for at, (below, above) in enumerate(cells) if any(above) and not any(below)}
    return once if len(once) > 1 else set()


class _Header(NamedTuple):
    """What a table's header tells.

    Attributes:
        columns: what each is called.
        name: the column of display names; -1 where there is none.
        parts: those of first and last names instead; () where there are none.
        sort, sorted_by: what every row is, and the relation that says it; sort may be "".
        one, others: see `TakenTable`, where numbers call rows.
        labels: columns of IRIs, each with the one of their names.
        nameless: what its rows' ids begin with, where no column says what they are called.
    """

    columns: list[str]
    name: int
    parts: tuple[int, ...]
    sort: str
    sorted_by: str
    one: str
    others: frozenset[str]
    nameless: str = ""
    labels: tuple[tuple[int, int], ...] = ()

    @property
    def shown(self) -> bool:
        """Whether rows have a name beside what the first column calls them."""
        return self.name > 0 or bool(self.parts)

    def full_name(self, cells: Sequence[str]) -> str:
        """First and last name of a row."""
        return " ".join(cells[at] for at in self.parts if cells[at])

    def called(self, cells: Sequence[str]) -> str:
        """What a row is called: its first cell, or by its full name where that is a part of it."""
        return self.full_name(cells) if 0 in self.parts else cells[0]


def _nameless(header: _Header, title: str) -> _Header:
    """The same of rows that the first column does not call: who played what in a play."""
    sort = row_sort("", title) if header.sorted_by else ""
    one, others = row_names(sort, title)
    return header._replace(
        name=-1, parts=(), sort=sort, one=one, others=others, nameless=one.replace(" ", "_")
    )


def _header_of(
    path: Path, number: int, cells: list[str], title: str, separator: str, *, titled: bool
) -> _Header:
    cells = plain_header([cell.strip() for cell in cells])
    if len(cells) < 2:
        raise JaxkgError(
            f"{path}:{number}: {cells[0]!r} is no header of a table: it has but one column, "
            f"parted by {separator!r}"
        )
    if not cells[0] and "name" not in map(str.casefold, cells):
        cells = ["name", *cells[1:]]
    cells = [cell or f"column {place}" for place, cell in enumerate(cells, start=1)]
    cells[1:] = [
        f"{cell} {n}" if cell == cells[0] else cell for n, cell in enumerate(cells[1:], start=2)
    ]
    if labels_of(cells):  # what a query has of "builder" alone is called by its label
        cells = [c if c.removesuffix("Label") in cells else c.removesuffix("Label") for c in cells]
    words = [word.casefold() for word in cells]
    sort = relation_words(title) if titled else row_sort(cells[0], title)
    whole, _ = row_names("", title)
    if not sort and f"{whole} id" in (relation_words(word).lower() for word in cells[1:]):
        sort = whole  # an `occurrenceID` beside the id of occurrences
    one, others = row_names(sort, title)
    if titled and (own := row_sort(cells[0], "")):  # others refer to elements by `atomic_number`
        others |= {own}
    first = sort.partition(" ")[0]  # `cust_no` of customers
    if len(first) >= _SHORT and whole.isalpha() and whole.startswith(first):
        sort, one, others = whole, whole, others | {whole}
    calls = NAMES[:-1] if full_name(cells) else NAMES  # somebody's title is a job
    if words[0] in NAMES:
        calls = ()  # beside names, "label" and "title" are something else: who sells a record
    name = next((words.index(name) for name in calls if name in words[1:]), -1)
    if name < 0 and not ANY.isdisjoint(relation_words(words[0]).split()):
        # Of two columns the second one may be but another name.
        own = {f"{some} name" for some in (("full", "display", *others) if words[2:] else (one,))}
        name = next((at for at, word in enumerate(words) if relation_words(word) in own and at), -1)
    by = next((some for some in SORT if some not in map(relation_words, words)), "")
    if name >= 0 and words[name] == "name" and "label" in words and _ARE_NODES.fullmatch(title):
        cells[words.index("label")] = by
    places = tuple(map(cells.index, (full_name(cells) if name < 0 else None) or ()))
    return _Header(cells, name, places, sort if by else "", by, one, others, "", labels_of(cells))


def _whole_rows(
    path: Path,
    rows: list[Row],
    columns: list[str],
    intake: Intake,
    separator: str,
    key: int,
    *,
    keyless: bool,
) -> Iterator[Row]:
    """The rows that have an id and a cell a column; others are mended or told."""
    # Where rows are tolerated one by one none is mended.
    mends = not intake.options.strict and not intake.bad.allowed
    for number, written in rows:
        cells = [cell.strip() for cell in written]
        if len(cells) != len(columns) and mends:
            cells = _mended(written, len(columns), separator)
            if not cells:
                intake.leave_out(RAGGED)
                continue
            intake.mended[MENDED] += 1
        even = len(cells) == len(columns)
        if even and (cells[key] or keyless or mends):
            yield number, cells
        else:
            why = "no id" if even else f"{len(cells)} cells for {len(columns)} columns"
            intake.bad.note(path, number, separator.join(cells), why, separator.join(columns))


def _mended(cells: Sequence[str], width: int, separator: str) -> list[str]:
    """A row with a cell a column; empty where nothing tells which is which.

    Cells that begin with a blank go on where the one before was parted: "Pavlova, Ltd.". Of
    columns that tabs part, the last may be missing.

    >>> _mended(["7", "Pavlova", " Ltd.", "Ely"], 3, ","), _mended(["7", "a", "b", "c"], 3, ",")
    (['7', 'Pavlova, Ltd.', 'Ely'], [])
    """
    if len(cells) < width:
        return [*map(str.strip, cells), *[""] * (width - len(cells))] if separator == "\t" else []
    joined: list[str] = []
    for cell in cells:
        if joined and cell.startswith(" ") and cell.strip():
            joined[-1] += separator + cell
        else:
            joined.append(cell)
    return [cell.strip() for cell in joined] if len(joined) == width else []


def _told(cell: str) -> list[str]:
    """What a cell says: nothing, a text, or the texts of an array.

    >>> _told("NULL"), _told('["a", 2]'), _told("{a,b}"), _told("[sic]"), _told("a")
    ([], ['a', '2'], ['a', 'b'], ['[sic]'], ['a'])
    >>> _told("Ship it (https://x.org/1), Rest (https://x.org/2)"), _told("<sea><net>")
    (['Ship it', 'Rest'], ['sea', 'net'])
    """
    if cell in _NULL:
        return []
    if _LINKS.fullmatch(cell):
        return [(name or text).strip() for name, text in _LINK.findall(cell)]
    if cell[0] == "<" and _TAGS.fullmatch(cell):
        return cell[1:-1].split("><")
    if cell[0] == "[" and cell[-1] == "]":
        try:
            listed = read_json(cell)
        except JaxkgError:
            return [cell]
        if isinstance(listed, list) and not any(isinstance(one, list | dict) for one in listed):
            return list(dict.fromkeys(filter(None, map(cell_text, listed))))
    if cell[0] == "{" and cell[-1] == "}" and ":" not in cell and "," in cell:
        parts = next(csv.reader([cell[1:-1]], skipinitialspace=True), [])
        return list(dict.fromkeys(filter(None, map(str.strip, parts))))
    return [cell]
