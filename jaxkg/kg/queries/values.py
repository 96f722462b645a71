"""Typed values of a graph's literals: what can be compared, ordered and counted, exactly.

RDF literals of a datatype say what they are. Elsewhere, and of plain strings, a relation whose
tails are nearly all dates, numbers or truth values is a column of these (a number of four digits
from 1000 to 2999 alone is a year, unless its relation is called as what is measured), however these
are written, see `jaxkg.kg.queries.columns`; what was recognised is told by `jaxkg kg stats` and can
be overruled.

How values compare: numbers by size, and only within one unit (its text), or in others that convert
into it (`converted`): where a column has several, all are read in one, and what they
are compared with must say its own; truth values: false before true; texts (a display name, or an
RDF literal's text) only as equal or not. A date is the interval of its days, whatever its
precision: v is before w (`<`) where v ends before w begins, `<=` where v ends no later than w ends,
`>` and `>=` the other way round (begins after w ends, begins no earlier than w begins), `=` where
both are the same interval, `in` where v lies within w, and `!=` where the two have no day in
common; so 1990 and May 1990 are neither `=` nor `!=`.
Dates are ordered by their first day, then by their last. Times of day are dates of their own: they
compare with each other, and of a day only that it is another one (`!=`).
"""

from __future__ import annotations

import bisect
import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from jaxkg.cached import cached_method
from jaxkg.errors import JaxkgError
from jaxkg.kg.graph import KnowledgeGraph
from jaxkg.kg.neighbourhood import distinct
from jaxkg.kg.qualifiers import Statements
from jaxkg.kg.queries.amounts import Amount, amount_of, starts_of
from jaxkg.kg.queries.columns import (
    NEARLY_ALL,
    are_counts,
    is_bound,
    is_nothing,
    looks_like,
    names_in_disguise,
    of_quantity,
    read_column,
)
from jaxkg.kg.queries.literals import (
    CLOCK,
    DATES,
    NUMBERS,
    XSD,
    as_date,
    as_number,
    as_truth,
    literal,
)
from jaxkg.kg.queries.times import Times
from jaxkg.kg.queries.windows import LAST, NONE, Window, interval
from jaxkg.query import Comparison, Value

KINDS = ("number", "date", "boolean", "text", "entity")
"""What is compared; the last is an entity as itself."""

_TYPED = KINDS[:3]
_STRING = f"{XSD}string"


class Values:
    """The values of a graph's entities.

    Example:
        >>> graph = KnowledgeGraph.from_triples([
        ...     ("Alien", "year", "1979"), ("Heat", "year", "1995"), ("Alien", "made_by", "Scott")])
        >>> values = Values(graph)
        >>> values.relation_kinds
        {'year': 'date'}
        >>> values.window("date", "<", Value("date", "1990")).holds(*values.keys[1]).tolist()
        [True, False, False, False, False]

    Attributes:
        kg: the graph.
        relation_kinds: "number", "date" or "boolean" for every relation that is a column of these.
        keys: [3, 2, N] int32 for numbers, dates and truth values: two keys that order the entities
            (of a date its first and last day, else twice the rank), NONE where there is no value.
            Numbers are ranked exactly, unit by unit.
        units: texts of the units of every relation's numbers, converted where they were several.
        amounts: relations to things that are but numbers with a unit, which are numbers, too.
        clocks: relations whose dates are times of day.
        sound: relations to step along, and dates to step at, that were found sound: looked at once.
        typed, told: whether values are RDF literals, and whether some are read off names.
        timed: whether some dates are times of day.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        kinds: Mapping[str, str | None] | None = None,
        units: Mapping[str, tuple[str, ...]] | None = None,
    ):
        """Read the values.

        Args:
            kinds: overrules what a relation's tails are: "number", "date", "boolean", or None (or
                "text") for none of these. Not for RDF literals.
            units: of the numbers of relations in the whole of which the graph is a part.

        Raises:
            JaxkgError: `kinds` names a relation the graph has not, or another kind.
        """
        self.kg = kg
        self._overruled = dict(kinds or {})
        for name, kind in self._overruled.items():
            kg.relation_code(name)
            if kind not in (*_TYPED, "text", None):
                raise JaxkgError(f"relation {name!r}: no kind {kind!r}; there are {_TYPED}, 'text'")
        numbers: dict[int, tuple[str, Decimal]] = {}
        dates: dict[int, tuple[int, int]] = {}
        truths: dict[int, int] = {}
        self.relation_kinds: dict[str, str] = {}
        self.units: dict[str, tuple[str, ...]] = {}
        self.clocks: set[str] = set()
        stores: dict[str, dict[int, Any]] = {"number": numbers, "date": dates, "boolean": truths}
        columns: dict[str, list[int]] = {}
        typed = self._read_literals(stores)
        starts = starts_of(kg)
        headed = np.diff(starts) > 0
        for code, name in enumerate(kg.relations):
            tails = distinct(kg.triples[kg.rows_of(code), 2])
            # What has facts of its own is a thing, though its name is a number: the form "7A".
            things = name not in self._overruled and headed[tails].sum() > len(tails) / 2
            kind = None if things else self._column(name, tails, typed, stores)
            if kind:
                self.relation_kinds[name] = kind
            if kind == "date" and all(
                dates.get(tail, (CLOCK,))[0] >= CLOCK for tail in tails.tolist()
            ):
                self.clocks.add(name)
            if kind == "number":
                columns[name] = [tail for tail in tails.tolist() if tail in numbers]
        self.amounts = dict(self._amounts(numbers, starts))
        for name, amount in self.amounts.items():
            self.relation_kinds[name] = "number"
            columns[name] = amount.size[:, 0].tolist()
        self._written = {
            name: tuple(sorted({numbers[row][0] for row in rows})) for name, rows in columns.items()
        }
        _in_one_unit(columns, numbers, units or {})
        for name, rows in columns.items():
            self.units[name] = tuple(sorted({numbers[row][0] for row in rows}))
        self._ranked = sorted(set(numbers.values()))
        rank = {number: place for place, number in enumerate(self._ranked)}
        self.keys = np.full((3, 2, kg.num_entities), NONE, np.int32)
        for row, number in numbers.items():
            self.keys[0, :, row] = rank[number]
        for row, days in dates.items():
            self.keys[1, :, row] = days
        for row, truth in truths.items():
            self.keys[2, :, row] = truth
        self.keys.setflags(write=False)
        literals = np.isin(np.arange(kg.num_entities), list(typed))
        valued = (self.keys[:, 0] != NONE).any(axis=0)
        self.typed, self.told = bool((valued & literals).any()), bool((valued & ~literals).any())
        self.timed = any(days[0] >= CLOCK for days in dates.values())
        self.sound: set[tuple[str, ...] | Value] = set()

    def _read_literals(self, stores: Mapping[str, dict]) -> dict[int, str | None]:
        """Values of the literals that say their datatype; the kind of every literal by its row."""
        kg = self.kg
        ids = kg.entity_ids
        first = bisect.bisect_left(ids, '"')
        typed: dict[int, str | None] = {}
        heads = set(kg.triples[:, 0].tolist()) if first < len(ids) and ids[first][:1] == '"' else ()
        for row in range(first, len(ids)):
            term = ids[row]
            if not term.startswith('"'):
                break
            parsed = literal(term)
            if parsed is None or row in heads:
                continue
            if not parsed.language and parsed.datatype in ("", _STRING):
                continue  # a plain text may be a value of a column
            short = parsed.datatype.removeprefix(XSD) if parsed.datatype.startswith(XSD) else ""
            kind = "number" if short in NUMBERS else "date" if short in DATES else None
            kind = "boolean" if short == "boolean" else kind
            typed[row] = kind
            if kind:
                value = _parsed(kind, parsed.text)
                if kind == "boolean" and parsed.text in ("0", "1"):
                    value = int(parsed.text)
                if value is not None:
                    stores[kind][row] = value
        return typed

    def _amounts(
        self, numbers: dict[int, tuple[str, Decimal]], starts: np.ndarray
    ) -> Iterator[tuple[str, Amount]]:
        """Relations to amounts, and what makes them so; their numbers are added to all."""
        kinds = {self.kg.relation_code(name): kind for name, kind in self.relation_kinds.items()}
        measures = {code for code, kind in kinds.items() if kind == "number"}
        for code, name in enumerate(self.kg.relations if measures else ()):
            if code in kinds or name in self._overruled:
                continue
            amount = amount_of(self.kg, code, measures, starts)
            if amount is not None and all(end in numbers for end in amount.size[:, 1].tolist()):
                for node, end in amount.size.tolist():
                    numbers[node] = amount.unit, numbers[end][1]
                yield name, amount

    def _column(
        self,
        name: str,
        tails: np.ndarray,
        typed: Mapping[int, str | None],
        stores: Mapping[str, dict],
    ) -> str | None:
        plain = [row for row in tails.tolist() if row not in typed]
        others, overruled = len(tails) - len(plain), name in self._overruled
        for kind in (self._overruled[name],) if overruled else ("date", "number", "boolean"):
            if kind not in _TYPED:
                break
            if not overruled and not looks_like(kind, self.kg.name, plain, others):
                continue
            texts = {row: self.kg.name(row) for row in plain}
            texts = {row: text for row, text in texts.items() if not is_nothing(text)}
            if kind == "number":  # neither a number nor none
                texts = {row: text for row, text in texts.items() if not is_bound(text)}
            by_row = dict(zip(texts, read_column(kind, list(texts.values())).values))
            if kind == "date" and not overruled:
                label = self.kg.relation_labels[self.kg.relation_code(name)]
                years = not of_quantity(name) and not of_quantity(label)
                years = years and not are_counts(label, [*texts.values()])
                by_row = {
                    row: days for row, days in by_row.items() if _clear_date(texts[row], years)
                }
            by_row = {row: value for row, value in by_row.items() if value is not None}
            if kind == "number" and not overruled and names_in_disguise(by_row.values()):
                continue
            said = sum(typed.get(row) == kind for row in tails.tolist()) if others else 0
            if said + len(by_row) >= max(0 if overruled else NEARLY_ALL * (len(texts) + others), 1):
                stores[kind].update(by_row)
                return kind
        return None

    @functools.cached_property
    def times(self) -> Times:
        """When facts hold."""
        dated = {name for name, kind in self.relation_kinds.items() if kind == "date"}
        return Times(self.kg, self.statements, self.keys[1], dated)

    @functools.cached_property
    def statements(self) -> Statements:
        """What is said of facts."""
        return Statements.of(self.kg)

    @functools.cached_property
    def texts(self) -> np.ndarray:
        """[2, N] int32: key of every entity's text and language, in the order of the texts."""
        pairs = [self.text(row) for row in range(self.kg.num_entities)]
        self._texts = sorted(set(pairs))
        place = {pair: number for number, pair in enumerate(self._texts)}
        key = np.fromiter((place[pair] for pair in pairs), np.int32, len(pairs))
        return np.stack([key, key])

    def text(self, row: int) -> tuple[str, str]:
        """Text and language of an entity: a literal's, or its display name."""
        entity, name = self.kg.entity_ids[row], self.kg.name(row)
        if (parsed := literal(entity)) is None:
            return name, ""
        return parsed.text if name == entity else name, parsed.language.lower()

    def keys_of(self, kind: str) -> np.ndarray:
        """[2, N] int32 keys of a kind."""
        if kind == "text":
            return self.texts
        if kind == "entity":
            rows = np.arange(self.kg.num_entities, dtype=np.int32)
            return np.stack([rows, rows])
        return self.keys[_TYPED.index(kind)]

    def window(
        self, kind: str, comparison: Comparison, value: Value | str, *, along: str | None = None
    ) -> Window:
        """Which keys compare with a value as wanted.

        Args:
            kind: of the keys; "count" of numbers of entities, which are their own keys.
            comparison: as wanted.
            value: to compare with; an entity id for kind "entity".
            along: the relation whose tails are compared, where that is known.

        Raises:
            JaxkgError: the value does not read as its kind, the kind does not compare so, or the
                units differ.
        """
        if comparison not in _OPERATORS:
            raise JaxkgError(f"no comparison {comparison!r}; there are {', '.join(_OPERATORS)}")
        if comparison not in ("=", "!=") and kind in ("text", "entity"):
            raise JaxkgError(f"{kind} {value!r} compares by = and != alone, not by {comparison}")
        if comparison == "in" and kind != "date":
            raise JaxkgError(f"{kind} values are not `in` each other, as dates are: {value!r}")
        if kind == "count":
            number = count_meant(value)
            return interval(comparison, number, number)
        if isinstance(value, str):
            row = self.row(value)
            return interval(comparison, row, row)
        if kind == "date":
            if (days := as_date(value.text)) is None:
                raise JaxkgError(f"no date {value.text!r}; write 1990, 1990-05, 1990-05-02, 16:30")
            return interval(comparison, *days)
        if kind == "boolean":
            if (truth := as_truth(value.text)) is None:
                raise JaxkgError(f"no truth value {value.text!r}; write true or false")
            return interval(comparison, truth, truth)
        if kind == "text":
            _ = self.texts
            low = bisect.bisect_left(self._texts, (value.text, value.language.lower()))
            known = value.language.lower() if value.language else "\U0010ffff"
            high = bisect.bisect_right(self._texts, (value.text, known)) - 1
            return Window((low, high), (low, high), comparison == "!=")
        return self._number_window(comparison, value, along)

    def number_meant(self, value: Value, along: str | None) -> tuple[str | None, Decimal]:
        """The unit in which a number compares with what a relation leads to, and its size in it.

        Without one it is that of all the numbers there, if they share one; None without numbers.

        Raises:
            JaxkgError: the value is no number, or the units differ.
        """
        if (number := as_number(value.text)) is None:
            raise JaxkgError(f"no number {value.text!r}; write 12.5")
        there = self.units.get(along or "", tuple(dict.fromkeys(u for u, _ in self._ranked)))
        named = {unit.casefold(): unit for unit in there}
        wanted = value.unit or number[1]
        unit = named.get(wanted.casefold())
        written = self._written.get(along or "", there)
        if not wanted and len(there) == len(written) == 1:
            unit = there[0]
        sizes = ((other, converted(number[0], wanted, other)) for other in there)
        if unit is None and (fit := next((one for one in sizes if one[1] is not None), None)):
            return fit[0], fit[1] or Decimal()
        if unit is None and there:
            what = f"the numbers of {along!r}" if along else "the graph's numbers"
            told = ", ".join(map(repr, written))
            raise JaxkgError(
                f"{value.text!r} in unit {wanted!r} does not compare with {what}, in units {told}"
            )
        return unit, number[0]

    def _number_window(self, comparison: Comparison, value: Value, along: str | None) -> Window:
        unit, size = self.number_meant(value, along)
        low = bisect.bisect_left(self._ranked, (unit or "", size))
        high = bisect.bisect_right(self._ranked, (unit or "", size)) - 1
        endless = Decimal("Infinity")
        first = bisect.bisect_left(self._ranked, (unit or "", -endless))
        block = first, bisect.bisect_right(self._ranked, (unit or "", endless)) - 1
        if comparison == "!=":
            if len(self.units.get(along or "", {some for some, _ in self._ranked})) > 1:
                # Ranks of other units differ too.
                raise JaxkgError(f"{value.text!r}: numbers in several units do not compare by !=")
            return Window((low, high), (low, high), True)
        lowest, highest = {
            "=": (low, high),
            "<": (block[0], low - 1),
            "<=": (block[0], high),
            ">": (high + 1, block[1]),
            ">=": (low, block[1]),
        }[comparison]
        return Window((lowest, highest), (lowest, highest))

    def number(self, row: int) -> tuple[str, Decimal] | None:
        """Unit and size of an entity's number; None where it is none."""
        rank = int(self.keys[0, 0, row])
        return None if rank == NONE else self._ranked[rank]

    def unit(self, row: int) -> str:
        """Text of the unit of an entity's number; "" where it has none."""
        return (self.number(row) or ("",))[0]

    @cached_method
    def row(self, entity: str) -> int:
        """Index of an entity by its id, as `KnowledgeGraph.entity`; looked up once."""
        return self.kg.entity(entity)

    @cached_method
    def ends_of(self, relation: str) -> np.ndarray:
        """[K] int32, what a relation leads to, ascending; of an inverse relation, its heads."""
        inverse, code = divmod(self.kg.relation_code(relation), self.kg.num_relations)
        rows = self.kg.triples[:, 1] == code
        return distinct(self.kg.triples[rows, 0 if inverse else 2])

    def kind_along(self, relations: Sequence[str]) -> str | None:
        """What all these relations lead to: a kind, or None for entities or where they differ."""
        kinds = {self.relation_kinds.get(name) for name in relations}
        return kinds.pop() if len(kinds) == 1 else None


def count_meant(value: Value | str) -> int:
    """The number of entities that a value says.

    Raises:
        JaxkgError: it is no whole number, or beyond all counts.
    """
    if isinstance(value, Value) and value.kind == "number" and not value.unit:
        number, unit = as_number(value.text) or (Decimal("NaN"), "")
        if not unit and number.is_finite() and abs(number) < LAST and number % 1 == 0:
            return int(number)
    raise JaxkgError(f"a count compares with a whole number such as 3, not with {value!r}")


_OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in")


def _in_one_unit(
    columns: Mapping[str, list[int]],
    numbers: dict[int, tuple[str, Decimal]],
    known: Mapping[str, tuple[str, ...]],
) -> None:
    """Convert the numbers of what some column tells in several units that convert, or in another
    one than is known of it."""
    measures = {name: UNITS[name][0] for name, _ in numbers.values() if name in UNITS}
    for measure in {*measures.values()}:
        units = Counter(name for name, _ in numbers.values() if measures.get(name) == measure)
        of = [
            ({numbers[row][0] for row in rows} & units.keys(), known.get(name, ()))
            for name, rows in columns.items()
        ]
        wanted = {told[0] for own, told in of if own and len(told) == 1}
        several = any(len(own) > 1 for own, _ in of)
        unit = shared_unit(units) if several else None
        if len(wanted) == 1 and UNITS.get(one := wanted.pop(), ("",))[0] == measure:
            unit = one
        for row, (other, size) in numbers.items() if unit else ():
            if other in units and (there := converted(size, other, unit or "")) is not None:
                numbers[row] = unit or "", there


def _parsed(kind: str, text: str):
    if kind == "number":
        found = as_number(text)
        return found and found[::-1]
    return as_date(text) if kind == "date" else as_truth(text)


def _clear_date(text: str, years: bool) -> bool:
    """Not a bare number that is hardly a year; `years` where the column may be one of years."""
    bare = text.strip().lstrip("-").isdigit()
    return not bare or (years and "1000" <= text.strip() <= "2999")


_PREFIXES = {"n": -9, "µ": -6, "μ": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12}
_LARGER = ("W", "Wh", "V", "A", "Hz", "J", "N", "Pa", "B")
_OTHERS = """
m: cm .01, dm .1, in .0254, inch .0254, ft .3048, yd .9144, mi 1609.344, nmi 1852
m: metre 1, metres 1, meter 1, meters 1, feet .3048, miles 1609.344, inches .0254
g: t 1000000, lb 453.59237, lbs 453.59237, oz 28.349523125
l: cl .01, dl .1, hl 100, m³ 1000, m3 1000
m²: m² 1, m2 1, cm² .0001, ha 10000, km² 1000000, km2 1000000, acres 4046.8564224
s: min 60, h 3600, d 86400, days 86400, hours 3600, minutes 60, seconds 1, weeks 604800
km/h: km/h 1, kmh 1, m/s 3.6, mph 1.609344, kn 1.852
"""


def _table() -> dict[str, tuple[str, Decimal]]:
    table = {
        prefix + base: (base, Decimal(1).scaleb(power))
        for base in ("m", "g", "l", "s", *_LARGER)
        for prefix, power in _PREFIXES.items()
        if power <= 3 or base in _LARGER
    }
    for line in _OTHERS.strip().splitlines():
        base, _, units = line.partition(": ")
        for unit, size in (each.split() for each in units.split(", ")):
            table[unit] = base, Decimal(size)
    return table


UNITS = _table()
"""What a unit is a multiple of, and how many of it, by its text."""


def converted(size: Decimal, unit: str, other: str) -> Decimal | None:
    """A number of one unit in another; None where they do not measure the same.

    A number that has no end is rounded to 28 digits.

    >>> converted(Decimal("1.8"), "m", "cm"), converted(Decimal(3), "kg", "m")
    (Decimal('1.8E+2'), None)
    """
    if unit == other:
        return size
    of, to = UNITS.get(unit), UNITS.get(other)
    return size * of[1] / to[1] if of and to and of[0] == to[0] else None


def shared_unit(units: Mapping[str, int]) -> str | None:
    """The commonest of some units in which all others are told exactly; None where there is none.

    >>> shared_unit({"m": 1, "cm": 2}), shared_unit({"m": 1, "ft": 2}), shared_unit({"m": 1})
    ('cm', 'm', 'm')
    """
    for other, _ in Counter(units).most_common():
        sizes = {unit: converted(Decimal(1), unit, other) for unit in units}
        back = {unit: s and converted(s, other, unit) for unit, s in sizes.items()}
        if all(size == 1 for size in back.values()):
            return other
    return None
