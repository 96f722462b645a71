"""Units that convert into each other: those of SI with their prefixes, and common others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

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
