"""What stands in the columns of a graph's tables, looked up by names, words and dates."""

from __future__ import annotations

import itertools
import re
from collections import Counter

from jaxkg.errors import JaxkgError
from jaxkg.kg.link.folding import MARK, split_words, word_key
from jaxkg.kg.link.mentions import QUESTION_WORDS
from jaxkg.kg.queries.literals import CLOCK, as_date, clock_text
from jaxkg.kg.queries.sets import QuerySets
from jaxkg.kg.queries.windows import NONE
from jaxkg.kg.relational.table import Column, Table
from jaxkg.words import singular

FEW, LONGEST = 8, 30
"""Values of a column that are listed whole, and letters of the longest."""
LOOKED_THROUGH = 50_000
"""Rows of a table whose values are looked through."""
_WILD = 8
_PHRASE, _RARE = 8, 3
"""Words of a name that is looked for in a text, and things that one name or word is for."""


class Cells:
    """What stands in columns."""

    def __init__(self, sets: QuerySets) -> None:
        self.sets, self.kg = sets, sets.kg
        self._keys: dict[tuple[str, str], dict[str, list[int]]] = {}
        self._words: dict[tuple[str, str], Counter[str]] = {}
        self._column_ends: dict[tuple[str, str], frozenset[int]] = {}

    def ends(self, column: Column, table: Table) -> frozenset[int]:
        """What stands in a column."""
        key = table.name, column.name
        if key not in self._column_ends:
            found = self.sets.execute(column.ends(table.source)).rows
            self._column_ends[key] = frozenset(found.tolist())
        return self._column_ends[key]

    def few(self, column: Column, table: Table) -> tuple[str, ...]:
        """The names of all that a column has, where these are few and short, else none."""
        ends = self.ends(column, table)
        if len(ends) > FEW:
            return ()
        names = tuple(dict.fromkeys(map(self.kg.name, sorted(ends))))
        return names if all(len(name) <= LONGEST for name in names) else ()

    def matches(
        self, column: Column, table: Table, text: str, *, whole: bool = False
    ) -> tuple[int, ...]:
        """What of a column is called so: as written, else, unless `whole`, by all of the words."""
        known = self._known(column, table)
        if (key := word_key(text)) in known or whole:
            return tuple(known.get(key, ()))
        if not (words := set(key.strip(MARK).split(MARK)) - {""}):
            return ()
        return tuple(
            row for other, rows in known.items() if words <= set(other.split(MARK)) for row in rows
        )

    def named(self, column: Column, table: Table, text: str) -> tuple[str, ...]:
        """What of a column a text names: names of several words, the singular of a plural, and
        words that are in few names of it alone."""
        known, parts = self._known(column, table), self._parts(column, table)
        words = split_words(text)
        names: dict[str, None] = {}
        for first, last in itertools.combinations(range(len(words.folded) + 1), 2):
            if last - first > _PHRASE:
                continue
            *before, end = words.folded[first:last]
            for said in dict.fromkeys((end, singular(end))):
                rows = known.get(MARK + MARK.join([*before, said]) + MARK, ())
                names |= dict.fromkeys(map(self.kg.name, rows[:_RARE]))
            whole = f"{MARK}{end}{MARK}" in known or end in QUESTION_WORDS
            if not (before or whole) and len(end) > 2 and 0 < parts[end] <= _RARE:
                names[words.written[first]] = None
        return tuple(names)

    def holder(self, table: Table, text: str) -> Column | None:
        """The one column of names or texts that something called so stands in; None of several."""
        columns = [
            column
            for column in table.columns.values()
            if column.kind == "text"
            and len(column.path) < 2
            and self.matches(column, table, text, whole=True)
        ]
        return columns[0] if len(columns) == 1 else None

    def like(self, column: Column, table: Table, text: str) -> tuple[int, ...]:
        """What of a column is LIKE a text, in which % stands for any letters and _ for one.

        Raises:
            JaxkgError: it has more than eight %, which would take long.
        """
        text = re.sub("%+", "%", text)
        if text.count("%") > _WILD:
            raise JaxkgError(f"LIKE takes {_WILD} % at most")
        signs = {"%": ".*", "_": "."}
        written = "".join(signs.get(letter) or re.escape(letter) for letter in text)
        pattern = re.compile(written, re.IGNORECASE | re.DOTALL)
        ends = sorted(self.ends(column, table))
        return tuple(row for row in ends if pattern.fullmatch(self.kg.name(row)))

    def date(self, column: Column, table: Table, text: str) -> str:
        """A date as ISO 8601 writes it: as it is, or as a column that writes it so means it.

        Raises:
            JaxkgError: it is none.
        """
        if as_date(text) is not None:
            return text
        for row in self.matches(column, table, text, whole=True):
            return self.date_of(row)
        raise JaxkgError(f"no date {text!r}; write 1990, 1990-05, 1990-05-02, 16:30")

    def in_years(self, column: Column, table: Table) -> bool:
        """Whether a column has dates, and all of them are years."""
        low, high = self.sets.values.keys_of("date")[:, sorted(self.ends(column, table))]
        return len(low) > 0 and bool(((low != NONE) & (low // 100 != high // 100)).all())

    def date_of(self, row: int) -> str:
        """What is meant by a date, as ISO 8601 writes it; the name of what is none."""
        low, high = self.sets.values.keys_of("date")[:, row].tolist()
        if low == NONE:
            return self.kg.name(row)
        if low >= CLOCK:
            return clock_text(low)[:5]
        year, month, day = low // 10_000, low // 100 % 100, low % 100
        if low == high:
            return f"{year:04}-{month:02}-{day:02}"
        return f"{year:04}-{month:02}" if low // 100 == high // 100 else f"{year:04}"

    def _known(self, column: Column, table: Table) -> dict[str, list[int]]:
        key = table.name, column.name
        if key not in self._keys:
            known: dict[str, list[int]] = {}
            for row in sorted(self.ends(column, table)):
                for name in {self.kg.name(row), *self.kg.aliases.get(row, ())}:
                    known.setdefault(word_key(name), []).append(row)
            self._keys[key] = known
        return self._keys[key]

    def _parts(self, column: Column, table: Table) -> Counter[str]:
        """In how many names of a column each word is."""
        key = table.name, column.name
        if key not in self._words:
            names = (name.split(MARK) for name in self._known(column, table))
            self._words[key] = Counter(word for words in names for word in {*words})
        return self._words[key]
