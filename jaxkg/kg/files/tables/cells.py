"""What cells of tables hold: nothing, several things, codes, the name of a row."""

from __future__ import annotations

import datetime
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from jaxkg.kg.encode import TripleEncoder
from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.tables.headers import SORT
from jaxkg.kg.files.tables.keys import TakenTable, join_by_number, join_same
from jaxkg.kg.names import NameCollector
from jaxkg.kg.queries.columns import NEARLY_ALL, is_nothing, likely_column
from jaxkg.words import relation_words, singular

_WORDS = 6
"""Words up to which a part of a cell is taken for one of several things."""
_CLOCK = re.compile(r"\d:\d\d")
"""What parts of a note have that says when and by whom it was made."""
_NA = "NA"
_AMOUNT = re.compile(r"[\d.,:/ -]+")
_LOGIN_WORDS = "login username email mail sku slug handle isbn barcode nicename upn"
_LOGINS = frozenset(_LOGIN_WORDS.split())
"""Last words of columns whose cells stand for the row that has them."""
_SEVERAL = 2
_REFERRING = 0.25
"""Share of a column's cells from which on those that are names of rows mean these rows."""


def as_json(value: Any) -> Any:
    """A value of another kind of document as JSON has it: days and the like are texts."""
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value if isinstance(value, str | bool | int | None) else cell_text(value)


def cell_text(value: object) -> str:
    """What a cell of a program holds as text; "" of nothing, and of what is no text.

    >>> cell_text(4.50), cell_text(0.1 + 0.2), cell_text(True), cell_text(None), cell_text(["a", 2])
    ('4.5', '0.3', 'true', '', 'a; 2')
    """
    if value is None or isinstance(value, bytes):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # As many digits as spreadsheets keep: 0.1 + 0.2 is 0.3.
        whole = value.is_integer() and abs(value) < 1e15
        return str(int(value)) if whole else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        day = value.time() == datetime.time()
        return value.date().isoformat() if day else value.isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list):
        return "; ".join(filter(None, map(cell_text, value)))
    return "" if isinstance(value, dict) else str(value).strip()


def join_tables(intake: Intake) -> list[str]:
    """Join what all tables that were read say of one another's rows; how, in words."""
    encoder, names, tables = intake.encoder, intake.names, intake.tables
    readings = [call_apart(encoder, tables), decode(encoder, names, tables)]
    readings += [join_by_number(encoder, names, tables), join_same(encoder, tables)]
    readings += [drop_nothing(encoder)]
    readings += [split_cells(encoder, names, tables)] if intake.has_cells else []
    return [*readings, join_by_login(encoder, names), join_by_name(encoder, names, intake.within)]


def drop_nothing(encoder: TripleEncoder) -> str:
    """Drop cells that say that nothing is known: `n/a`, `-`; among values `null`, too, and `NA`
    everywhere where it is among values: R writes it so, and nobody else writes Namibia there.

    Returns:
        How many, in words; "" where there were none.
    """
    empty: dict[tuple[str, str], list[str]] = {}
    for relation, cells in list(encoder.tails()):
        values = likely_column(cells) is not None
        empty |= {(relation, cell): [] for cell in cells if is_nothing(cell, among_values=values)}
    if any(cell == _NA for _, cell in empty):
        empty |= {(relation, _NA): [] for relation, cells in encoder.tails() if _NA in cells}
    if not empty:
        return ""
    before = len(encoder)
    encoder.split(empty)
    some = ", ".join(sorted({repr(cell) for _, cell in empty})[:3])
    return f"{before - len(encoder):,} cells that say nothing ({some}) left out"


def split_cells(encoder: TripleEncoder, names: NameCollector, tables: Sequence[TakenTable]) -> str:
    """Take cells that hold several things for each of them: "PC; Switch".

    A semicolon or a bar parts whatever is short; a comma only what mostly stands by itself in
    other cells, too, is in several lists, or is a row of `tables`; or where one of the parts does
    nearly everywhere, wherever it is listed.

    Returns:
        Which columns were taken so, in words; "" where none was.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    told = []
    known = set(names.display.values()).union(*(table.rows for table in tables))
    for relation, cells in list(encoder.tails()):
        for separator in (";", "|", ","):
            lists = {cell: _parts(cell, separator) for cell in cells if separator in cell}
            short = all(
                part and len(part.split()) <= _WORDS for some in lists.values() for part in some
            ) and not any(
                0 < sum(map(bool, map(_CLOCK.search, some))) < len(some) for some in lists.values()
            )
            if not lists or not short:
                continue
            if separator == "," and not (
                _alone(lists, cells, known) or _turned(lists, cells) or _packed(relation, lists)
            ):
                continue
            parts |= {(relation, cell): some for cell, some in lists.items()}
            told.append(f"{relation}: several in a cell, told apart at {separator!r}")
            break
    if parts:
        encoder.split(parts)
    return "; ".join(told)


def _parts(cell: str, separator: str) -> list[str]:
    """What a cell lists; one separator at its end parts nothing."""
    found = [part.strip() for part in cell.removesuffix(separator).split(separator)]
    return list(dict.fromkeys(found))


def _alone(lists: Mapping[str, Sequence[str]], cells: Iterable[str], known: Set[str]) -> bool:
    """Whether most of what is listed stands alone elsewhere or is listed again, and no amount."""
    counts = Counter(part for some in lists.values() for part in some)
    listed = counts.keys()
    alone = {*cells, *known, *(part for part, count in counts.items() if count > 1)}
    return not any(map(_AMOUNT.fullmatch, listed)) and 2 * len(listed & alone) > len(listed)


def _turned(lists: Mapping[str, Sequence[str]], cells: Iterable[str]) -> bool:
    """Whether nearly all lists have a part that is first in some of them, last in others and stands
    alone as well: "English, Welsh" and "Welsh, English", but no "Leeds, England"."""
    ends = ({some[at] for some in lists.values()} for at in (0, -1))
    turned = set.intersection(*ends, set(cells))
    having = sum(not turned.isdisjoint(some) for some in lists.values())
    return len(lists) > 2 and having >= NEARLY_ALL * len(lists)


def _packed(relation: str, lists: Mapping[str, Sequence[str]]) -> bool:
    """Whether a column in the plural has but lists without blanks between: genres "Drama,War"."""
    *_, last = relation_words(relation).lower().split() or [""]
    parts = [part for some in lists.values() for part in some]
    packed = len(lists) > 1 and not any(", " in cell for cell in lists)
    return packed and singular(last) != last and not any(any(map(str.isdigit, p)) for p in parts)


def join_by_login(encoder: TripleEncoder, names: NameCollector) -> str:
    """Take cells for the rows that have what they hold as their login, address or the like, where
    each of a column is one row's: a post is by a person, and says her login.

    Returns:
        Which columns were taken so, in words; "" where none was.
    """
    last = {word: relation_words(word).lower().rpartition(" ")[2] for word in encoder.relations}
    keys = [relation for relation, word in last.items() if word in _LOGINS]
    columns = {relation: [*tails] for relation, tails in encoder.tails()} if keys else {}
    means: dict[str, str] = {}
    for key in (key for key in keys if key in columns):
        if key in means:
            continue  # it leads to rows now
        pairs = [(head, tail) for head, tail in encoder.pairs(key) if head in names.display]
        rows = {tail: head for head, tail in pairs}
        if len(rows) < max(len(columns[key]), len({head for head, _ in pairs}), _SEVERAL):
            continue
        for other, cells in columns.items():
            if other in (key, *means) or len(cells) < _SEVERAL or not rows.keys() >= {*cells}:
                continue
            facts = encoder.pairs(other)
            own = any(rows[cell] == head for head, cell in facts)  # a login that is an address
            either = other in keys and len(facts) == len(cells)  # each may be the other's
            if not (own or either):
                encoder.split({(other, cell): [rows[cell]] for cell in cells})
                means[other] = key
    return "; ".join(f"{other} means rows by their {key}" for other, key in means.items())


def join_by_name(encoder: TripleEncoder, names: NameCollector, within: Set[str]) -> str:
    """Take cells that hold a row's name for that row, where one row alone is called so; not of a
    column of which few cells do: some airports are called as their city is.

    Args:
        within: things of lists within rows, which cells do not mean.

    Returns:
        What was taken so, in words; "" where nothing was.
    """
    rows: dict[str, list[str]] = {}
    for row, name in names.display.items():
        if row not in within and name not in names.display and not _AMOUNT.fullmatch(name):
            rows.setdefault(name, []).append(row)
    others, referring = set[str](), set[str]()
    for _, tails in encoder.tails() if rows else ():
        named = rows.keys() & tails
        (referring if len(named) >= _REFERRING * len(tails) else others).update(named)
    others -= referring | encoder.heads if others else set()
    cells = {name: rows[name] for name in encoder.entities if name in rows and name not in others}
    same = {name: found[0] for name, found in cells.items() if len(found) == 1}
    if same:
        encoder.merge(same)
    told = [f"{len(same)} names in cells taken for the rows called so"] if same else []
    if shared := sorted(name for name, found in cells.items() if len(found) > 1):
        told.append(
            f"{', '.join(map(repr, shared[:3]))} left as they are: several rows are called so"
        )
    return "; ".join(told)


_ROWS = 3
"""Rows of two tables from which on their cells tell whether columns are the same."""


def call_apart(encoder: TripleEncoder, tables: Sequence[TakenTable]) -> str:
    """Call columns by their table, too, where another table says something else of most of the
    same rows under the same header, and titles tell the tables apart.

    Returns:
        Which columns were called so, in words; "" where none was.
    """
    readings: list[str] = []
    words = [relation_words(table.title).lower().split() for table in tables]
    names: list[dict[str, str]] = [{} for _ in tables]
    for a, b in itertools.permutations(range(len(tables)), 2):
        own = " ".join(word for word in words[a] if word not in words[b])
        rows = tables[a].rows & tables[b].rows
        if not own or len(rows) < _ROWS or 2 * len(rows) < len(tables[b].rows):
            continue
        ours, theirs = (encoder.said(table.first, table.last) for table in (tables[a], tables[b]))
        for relation in ours.keys() & theirs.keys() - {*SORT}:
            both = ours[relation].keys() & theirs[relation].keys()
            differ = sum(ours[relation][row].isdisjoint(theirs[relation][row]) for row in both)
            if len(both) >= _ROWS and 2 * differ > len(both):
                names[a][relation] = f"{own} {relation}"
    for table, apart in zip(tables, names):
        if apart:
            encoder.rename_within(apart, table.first, table.last)
            readings.append(f"{', '.join(sorted(apart))} called as in {table.title!r}")
    return "; ".join(readings)


_CHOICE = re.compile(r"\s*([\w.-]{1,12})\s*[,=:]\s*([^|;\n]*[^|;\s])\s*")
_PARTS = re.compile(r"[|;\n]")
_NARROW, _LONG = 6, 20_000
"""Columns, and facts, of a codebook with a line for each code, at most."""
_FEWEST = 3
"""Columns that a codebook tells of, at least."""
_LABELS = {"label", "question", "text"}
"""Words of the column that asks in words what a column answers."""


def choices(cell: str) -> dict[str, str]:
    """What each code means, of several in a cell; nothing of another text.

    >>> choices("1, Woman | 2, Man"), choices("0=no; 1=yes"), choices("Drama, War")
    ({'1': 'Woman', '2': 'Man'}, {'0': 'no', '1': 'yes'}, {})
    """
    matches = [_CHOICE.fullmatch(part) for part in _PARTS.split(cell.strip("|; "))]
    meanings = {match[1]: match[2] for match in matches if match}
    return meanings if len(meanings) == len(matches) > 1 else {}


def decode(encoder: TripleEncoder, names: NameCollector, tables: Sequence[TakenTable]) -> str:
    """Put what codes mean in their places, in tables whose columns the rows of a codebook are, or
    name, and know the columns by its questions or descriptions, too.

    Returns:
        Which columns were decoded or described, in words; "" where none was.
    """
    readings, relations = [], {*encoder.relations}
    for book in tables if len(tables) > 1 else ():
        shown = {row: {names.display[row]} for row in book.rows if row in names.display}
        said = {"name": shown, **encoder.said(book.first, book.last)}
        is_short = len(said) <= _NARROW and book.last - book.first <= _LONG
        texts = itertools.chain(*(cells.values() for cells in said.values() if is_short))
        names_columns = not relations.isdisjoint(itertools.chain(*texts))
        for table in tables if names_columns else ():
            if table is book:
                continue
            if parts := _line_by_line(said, dict(encoder.tails(table.first, table.last))):
                encoder.split(parts, table.first, table.last)
                columns = ", ".join(dict.fromkeys(column for column, _ in parts))
                readings.append(f"codes of {columns} read by {book.title!r}")
        entries = _entries(said, book, relations)
        told_of = {column for cells in entries.values() for column in cells}
        for table in tables if len(told_of) >= _FEWEST else ():
            tails = dict(encoder.tails(table.first, table.last)) if table is not book else {}
            columns = told_of & tails.keys()
            if len(columns) < _FEWEST or 2 * len(columns) < len(tails):
                continue
            meanings = _meanings(entries, columns)
            parts = {
                (column, code): [meaning[code]]
                for column, meaning in meanings.items()
                for code in tails[column]
                if code in meaning
            }
            if parts:
                encoder.split(parts, table.first, table.last)
                readings.append(f"codes of {', '.join(meanings)} read by {book.title!r}")
            described = dict(_described(entries, columns))
            for column, text in described.items():
                names.relations.setdefault(column, [column, text])
            if described:
                readings.append(f"{len(described)} columns described by {book.title!r}")
    return "; ".join(dict.fromkeys(readings))


def _line_by_line(
    said: Mapping[str, Mapping[str, Set[str]]], tails: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], list[str]]:
    """What codes mean by a codebook with a line for each: a column's name, a code, a meaning."""
    best: dict[tuple[str, str], list[str]] = {}
    for labels in itertools.permutations(said, 3):
        column_of, code_of, meaning_of = (said[label] for label in labels)
        if not {column for texts in column_of.values() for column in texts} & tails.keys():
            continue
        lines: dict[tuple[str, str], list[str]] = {}
        for row in sorted(column_of.keys() & code_of.keys() & meaning_of.keys()):
            for column, code in itertools.product(sorted(column_of[row]), sorted(code_of[row])):
                if code in tails.get(column, ()):
                    lines.setdefault((column, code), []).extend(sorted(meaning_of[row]))
        each = {(column, *meanings) for (column, _), meanings in lines.items()}
        tells = all(len(said) == 2 for said in each) and len(each) == len(lines)
        same = any(code in meanings for (_, code), meanings in lines.items())
        if tells and not same and len(lines) > len(best):
            best = lines
    return best if len(best) >= _FEWEST else {}


def _entries(
    said: Mapping[str, Mapping[str, Set[str]]], book: TakenTable, relations: Set[str]
) -> dict[str, dict[str, Set[str]]]:
    """What each column of a codebook says of columns of other tables, which its rows are, or which
    one of its columns names."""
    rows = {row: row for row in book.rows & relations}
    for cells in said.values() if len(rows) < _FEWEST else ():
        named = {text: row for row, texts in cells.items() for text in texts & relations}
        rows = max(rows, named, key=len)
    return {
        label: {column: cells[row] for column, row in rows.items() if row in cells}
        for label, cells in said.items()
    }


def _described(
    entries: Mapping[str, Mapping[str, Set[str]]], columns: Set[str]
) -> Iterator[tuple[str, str]]:
    """Each column with the one text that asks for, or describes, it: in a column of questions, else
    in the one of texts of several words, each another."""
    texts_by_use: dict[str, list[tuple[str, str]]] = {}
    for label, cells in entries.items():
        pairs = [(column, next(iter(cells[column]))) for column in sorted(columns & cells.keys())
                 if len(cells[column]) == 1]  # fmt: skip
        pairs = [(column, text) for column, text in pairs if not choices(text)]
        asks = not _LABELS.isdisjoint(relation_words(label).lower().split())
        texts = [text for _, text in pairs]
        wordy = 2 * sum(" " in text.strip() for text in texts) > len(columns)
        if asks or (wordy and len({*texts}) == len(texts)):
            texts_by_use.setdefault("asks" if asks else "describes", pairs)
    yield from texts_by_use.get("asks", texts_by_use.get("describes", []))


def _meanings(
    entries: Mapping[str, Mapping[str, Set[str]]], columns: Set[str]
) -> dict[str, dict[str, str]]:
    """What codes of each column mean, by the entries of a codebook."""
    by_column: dict[str, dict[str, str]] = {}
    for cells in entries.values():
        for column in sorted(columns & cells.keys()):
            texts = cells[column]
            if len(texts) == 1 and (meaning := choices(next(iter(texts)))):
                by_column.setdefault(column, meaning)
    return by_column
