"""How people lay tables out: headers of two rows, merged cells, totals, notes, years."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from jaxkg.kg.files.delimited import Row
from jaxkg.kg.files.protocol import Intake
from jaxkg.kg.files.tables.keys import KEY
from jaxkg.kg.queries.columns import all_values, is_value, read_column
from jaxkg.kg.queries.literals import as_date
from jaxkg.words import relation_words

_TOTAL = re.compile(r"\b(?:totals?|sum)\b", re.IGNORECASE)
_NEARLY = Decimal("1e-6")
_TOTALLED = 2000
"""Rows of a table up to which some may be sums of others."""
_DECIMAL, _EXACT = re.compile(r"-?\d*\.?\d+"), re.compile(r"-\d.*|\d*\.\d{3,}")
"""Numbers, and those that call nothing: below zero, or of three decimal places or more."""

_PLACE = re.compile(r"[#=T]?(\d{1,6})(?:[.=)]|st|nd|rd|th)?")
"""A place in a row, as rankings write it."""


def joined_headers(rows: Sequence[Sequence[str]]) -> list[str] | None:
    """The header that the first two rows of a table are together: what stands over several columns,
    and each column; or each column, and its unit.

    >>> joined_headers([["", "Sales", "", "Costs"], ["Region", "2022", "2023", "2022"]])
    ['Region', 'Sales 2022', 'Sales 2023', 'Costs 2022']
    >>> joined_headers([["", "a", "b"], ["Ann", "1", "2"]])
    >>> joined_headers([["Plant", "Power", "In"], ["", "MW", ""], ["Hub", "7", "Ely"]])
    ['Plant', 'Power (MW)', 'In']
    >>> joined_headers([["Sum", "Columns", ""], ["Fruit", "East", "West"], ["Plum", "3", "4"]])
    ['Fruit', 'East', 'West']
    >>> joined_headers([["What", "", "Size", ""], ["No", "Of", "H", "W"], ["a1", "oak", "3", "4"]])
    ['No', 'Of', 'H', 'W']
    """
    if len(rows) < 2 or len(rows[1]) < 3 or len(rows[0]) > len(rows[1]):
        return None
    over, under = ([cell.strip() for cell in row] for row in rows[:2])
    over += [""] * (len(under) - len(over))
    if all(over) and not under[0] and any(under):
        columns = [cells for cells in itertools.zip_longest(*rows[1:], fillvalue="") if cells[0]]
        if any(is_value(unit) or not _are_mostly_values(cells) for unit, *cells in columns):
            return None
        return [f"{name} ({unit})" if unit else name for name, unit in zip(over, under)]
    told = list(filter(None, over[1:]))
    below = list(itertools.zip_longest(*rows[2:], fillvalue=""))
    plain = all(under) and not any(map(is_value, under))
    if over[0] and len(told) == 1 and plain and below[1:] and all(map(all_values, below[1:])):
        return under  # a pivot of a spreadsheet
    if over[0] and 0 < len(told) < len(over) - 1 and all(under) and len(set(under)) == len(under):
        plain = plain and len(below) == len(under)
        return under if plain and any(map(all_values, below)) else None  # over several columns
    several = len(told) < len(over) - 1 or len(set(told)) < len(told)
    if over[0] or not several or not told or not all(under) or len(set(under)) < 2:
        return None
    found, last = [under[0]], ""
    for above, below in zip(over[1:], under[1:]):
        last = above or last
        found.append(f"{last} {below}".strip())
    return found if len(set(found)) == len(found) else None


def header_place(rows: Sequence[Sequence[str]]) -> int:
    """The place of a table's header, below titles, notes of few cells and names over some columns.

    Returns:
        The number of rows where none has several cells.

    >>> header_place([["Report 7"], ["Day", "2 May"], [*"ABCDE"], [*"12345"], [*"23456"]])
    2
    """
    filled = [sum(map(bool, row)) for row in rows]
    several = sorted(count for count in filled if count > 1)
    if not several:
        return len(rows)
    usual = several[len(several) // 2]
    place = next(place for place, count in enumerate(filled) if count > 1 and 2 * count >= usual)
    first = next(place for place, count in enumerate(filled) if count > 1)
    cells = [cell for cell in rows[place] if cell]
    same = len({*cells}) < len(cells)  # what stands over them tells them apart
    return place - 1 if same and place > first else place


def are_names(cells: Sequence[str]) -> bool:
    """Whether cells are names: each another, no values."""
    said = (cell and "@" not in cell and not is_value(cell) for cell in cells)
    return len(set(cells)) == len(cells) and all(said)


def _are_mostly_values(cells: Sequence[str]) -> bool:
    """Whether cells are values, but for some: "<0.5" below what can be told, "n/a"."""
    said = [cell for cell in cells if cell]
    return 2 * sum(map(is_value, said)) > len(said)


def are_measures(cells: Sequence[str]) -> bool:
    """Whether cells are numbers, some of which call nothing.

    >>> are_measures(["-86.305", "12"]), are_measures(["3.11", "3.12"]), are_measures(["7"])
    (True, False, False)
    """
    return any(map(_EXACT.fullmatch, cells)) and all(map(_DECIMAL.fullmatch, cells))


def are_places(cells: Sequence[str]) -> bool:
    """Whether cells count the rows, from 0 or 1 on, alike where rows share a place; some may be
    blank.

    >>> are_places(["1.", "2.", "", "3="]), are_places(["1", "2", "2", "4"]), are_places(["7", "8"])
    (True, True, False)
    """
    counted = [(row, _PLACE.fullmatch(cell)) for row, cell in enumerate(cells, start=1) if cell]
    places = [(int(match[1]), row) for row, match in counted if match]
    ahead = [place for place, row in places if place <= row]
    return len(ahead) == len(counted) > 1 and ahead[0] < 2 and ahead == sorted(ahead)


def without_notes(rows: Sequence[Row]) -> list[Row]:
    """Rows that are not blank, and no notes: what stands in one cell each, below a blank row; below
    rows of two cells, of several words each.

    >>> without_notes([(1, ["a", "b", "c"]), (2, []), (3, ["* as of May", "", ""])])
    [(1, ['a', 'b', 'c'])]
    >>> without_notes([(1, ["W7", "Ward 7"]), (3, ["As of May 2024", ""])])
    [(1, ['W7', 'Ward 7'])]
    >>> without_notes([(1, ["W7", "Ward 7"]), (3, ["ICU", ""])])
    [(1, ['W7', 'Ward 7']), (3, ['ICU', ''])]
    """
    rows = [(number, row) for number, row in rows if any(map(str.strip, row))]
    sizes = [sum(map(bool, map(str.strip, row))) for _, row in rows]
    ahead = itertools.pairwise(number for number, _ in rows)
    after = [count for count, (number, other) in enumerate(ahead, start=1) if other > number + 1]
    last = after[-1] if after else len(rows)
    notes = [" ".join(row).split() for _, row in rows[last:]]
    widest = max(sizes[:last], default=0)
    wordy = widest == 2 and all(len(words) >= _NOTE for words in notes)
    below = (widest > 2 or wordy) and all(size < 2 for size in sizes[last:])
    return rows[: last if below else None]


_NOTE = 3
"""Words of a note below rows of two cells, at least."""
_PART = re.compile(r"(?<=\S),(?=\S)")
_NOTED = re.compile(r"(:|-?\d[\d .]*) ([a-z]{1,3})")


def parted(batches: Iterable[list[Row]], intake: Intake) -> Iterator[list[Row]]:
    r"""Rows whose first cells hold as many parts as their header does, each part a cell of its own;
    notes beside numbers ("17.9 p") are left out, then.

    >>> rows = [(1, ["unit,geo\\time", "2020"]), (2, ["PC,NO", "4.8 p"]), (3, ["PC,SE", "5"])]
    >>> next(parted([rows], Intake()))
    [(1, ['unit', 'geo', '2020']), (2, ['PC', 'NO', '4.8']), (3, ['PC', 'SE', '5'])]
    """
    batches, count = iter(batches), None
    for batch in batches:
        rows = [(number, row) for number, row in batch if any(row)]
        if count is None and rows:
            counts = {len(_PART.findall(row[0])) for _, row in rows}
            count = counts.pop() if len(counts) == 1 and len(rows) > 2 else 0
            if count:
                rows[0][1][0] = rows[0][1][0].partition("\\")[0]
        if not count:
            yield batch
            if count == 0:
                yield from batches  # as they are
            continue
        for _, row in rows:
            noted = [_NOTED.fullmatch(cell.strip()) for cell in row]
            intake.leave_out("notes beside numbers", sum(map(bool, noted)))
            row[:] = [match[1] if match else cell for cell, match in zip(row, noted)]
            row[:1] = _PART.split(row[0], count)
        yield rows


def are_merged(header: str, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a blank first cell says what the one above does, as merged cells are saved: there are
    several of each, and rows are called by the second cell.

    >>> rows = [["Sea", "Ely", "7"], ["", "Ayr", "9"], ["Land", "Ulm", "3"], ["", "Pau", "4"]]
    >>> are_merged("Sort", rows), are_merged("Sort id", rows), are_merged("Sort", rows[::2])
    (True, False, False)
    >>> are_merged("", [["Sea", ""], ["", "Ely"], ["Land", ""], ["", "Ulm"], ["", "Pau"]])
    True
    """
    heads = [row[0].strip() for row in rows if row[0].strip() and not any(row[1:])]
    blank = sum(not row[0].strip() and any(row[1:]) for row in rows)
    if len(set(heads)) == len(heads) > 1 and 2 * blank > len(rows) - len(heads):
        return True  # a heading above each group
    pairs = [(row[0].strip(), row[1].strip()) for row in rows if len(row) > 2 and row[1].strip()]
    firsts = [first for first, _ in pairs if first]
    if not firsts or not pairs[0][0] or not 0 < len(firsts) <= len(pairs) - len(firsts):
        return False
    keyed = not KEY.isdisjoint(relation_words(header).lower().split()) or any(map(is_value, firsts))
    return not keyed and are_names([name for _, name in pairs])


def filled_down(rows: Sequence[Row], above: str) -> Iterator[Row]:
    """Rows whose blank first cells say what the one above does, which may stand alone."""
    for number, (first, *others) in rows:
        above = first.strip() or above
        if not first.strip() or any(others):
            yield number, [above, *others]


def in_sections(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Rows below headings that stand alone in the first cell, each with the heading that it is
    below as one more cell, and how many rows of totals without an id were left out; all rows as
    they are without such headings.

    >>> rows = [["IN", "", ""], ["I1", "Fee", "2"], ["I2", "Tip", "1"], ["", "Total", "3"]]
    >>> rows += [["OUT", "", ""], ["O1", "Hire", "5"], ["O2", "Food", "4"]]
    >>> [row for _, row in in_sections([*enumerate([["Code", "Of", "Sum"], *rows])])[0]][::2]
    [['Code', 'Of', 'Sum', 'section'], ['I2', 'Tip', '1', 'IN'], ['O2', 'Food', '4', 'OUT']]
    """
    header, *below = rows
    filled = [[place for place, cell in enumerate(row) if cell.strip()] for _, row in below]
    heads = sum(places == [0] for places in filled)
    rest = [places for places in filled if places != [0]]
    plain = [places for places in rest if places[:1] == [0]]
    if heads < 2 or len(header[1]) < 3 or filled[0] != [0] or len(plain) < 2 * heads:
        return list(rows), 0
    within, above, left = [(header[0], [*header[1], "section"])], "", 0
    for (number, row), places in zip(below, filled):
        if places == [0]:
            above = row[0].strip()
        elif places[0]:
            left += 1
        else:
            within.append((number, [*row, *[""] * (len(header[1]) - len(row)), above]))
    return within, left


def totals(rows: Sequence[Sequence[str]]) -> list[int]:
    """Places of rows that are sums, of all that are none, or of those since the last one.

    Where other rows have texts, these have none beside the first cell. A row alone is the sum of
    all but in the last place.

    >>> rows = [["North", "1", "2"], ["South", "3", "5"], ["East", "4", "9"], ["Total", "8", "16"]]
    >>> totals(rows), totals(rows[:3])
    ([3], [])
    >>> totals([["A", "1,5 €", ""], ["B", "2,25 €", ""], ["C", "1,00 €", ""], ["", "4,75 €", ""]])
    [3]
    >>> some = [["Sea", "Ely", "1", "2"], ["Sea", "Ayr", "3", "4"], ["All sea", "", "4", "6"]]
    >>> more = [["Land", "Ulm", "5", "6"], ["All land", "", "5", "6"], ["All", "", "9", "12"]]
    >>> totals([*some, *more])
    [2, 4, 5]
    >>> totals([["A", "1", "2", "50%"], ["B", "3", "5", "60%"], ["C", "4", "9", "44%"],
    ...         ["Total", "8", "16", "50%"]])
    [3]
    """
    if not 4 <= len(rows) <= _TOTALLED:
        return []
    numbers: list[list[Decimal | None]] = []
    texts = [False] * len(rows)
    for cells in list(zip(*rows))[1:]:
        values = [value and value[1] for value in read_column("number", cells).values]
        if all(value is not None or not cell for value, cell in zip(values, cells)):
            numbers.append(values)
        else:
            said = (bool(cell) and not _TOTAL.search(cell) for cell in cells)
            texts = [before or text for before, text in zip(texts, said)]
    sums, plain, group = list[int](), list[int](), list[int]()
    last = len(rows) - 1
    for place, text in enumerate(texts):
        whole = len(sums) > 1 or (place == last and len(plain) > 2)
        parts = [group] * any(texts) + [plain] * whole
        named = any(map(_TOTAL.search, rows[place]))
        if not text and any(_is_sum(numbers, place, one, len(rows[0]), named) for one in parts):
            sums.append(place)
            group = []
        else:
            plain.append(place)
            group.append(place)
    several = len(sums) > 1 and all(texts[place] for place in plain)
    return sums if several else sums[-1:] if sums[-1:] == [last] else []


def _is_sum(
    numbers: Sequence[Sequence[Decimal | None]],
    place: int,
    of: Sequence[int],
    width: int,
    named: bool,
) -> bool:
    """Whether what columns say in a place is the sum of what they say in others; half of them do
    where it is named a total."""
    fits = list[bool]()
    for column in numbers:
        if (value := column[place]) is not None:
            total = sum(column[other] or 0 for other in of)
            fits.append(abs(value - total) <= _NEARLY * max(1, abs(value)))
    if named and sum(fits) > 1 and 2 * sum(fits) >= len(fits):
        return True  # what is none is a share
    return bool(of) and all(fits) and (len(fits) > 1 or (len(fits) == 1 < len(of) and width > 2))


_FEWEST = 2
"""Columns of periods from which on they are read as such."""
YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_MONTH = re.compile(r"(?:1[5-9]|20)\d\d-\d\d")


def period_columns(columns: Sequence[str]) -> tuple[int, ...]:
    """The columns that are called by years, or by months; () where fewer than two are.

    >>> period_columns(["City", "2000", "2010"]), period_columns(["City", "2000", "Mayor"])
    ((1, 2), ())
    """
    for form in (YEAR, _MONTH):
        places = [
            place for place, word in enumerate(columns) if place and form.fullmatch(word.strip())
        ]
        if len(places) >= _FEWEST and all(as_date(columns[place].strip()) for place in places):
            return tuple(places)
    return ()


def of_periods(
    columns: Sequence[str],
    periods: Sequence[int],
    title: str,
    node: str,
    row: str,
    cells: Sequence[Sequence[str]],
) -> Iterator[tuple[str, str, str]]:
    """What the cells of periods say: of whom, when and how much.

    Args:
        title: of the table, which says what is measured.
        node: what the heads begin with, an id of its own for each row.
        row: the thing that the cells are of; the same as `node` of a row without a name.

    Yields:
        (head, relation, tail), three and more for each cell that is not empty.

    >>> [*of_periods(["City", "2000"], [1], "population", "_:2", "Oslo", [["Oslo"], ["9"]])][1:]
    [('_:2_2000', 'year', '2000'), ('_:2_2000', 'population', '9')]
    """
    measure = relation_words(title).lower() or "value"
    of = [(columns[0], row)]
    if row == node:
        rest = (place for place in range(len(columns)) if place not in periods)
        of = [(columns[place], text) for place in rest for text in cells[place]]
    for place in periods:
        period = columns[place].strip()
        head = f"{node}_{period}"
        if cells[place]:
            yield from ((head, relation, tail) for relation, tail in of)
            yield head, "month" if "-" in period else "year", period
        yield from ((head, measure, text) for text in cells[place])
