"""What values give, exactly: sums and means, and differences, ratios and durations of two."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Literal

import numpy as np

from jaxkg.kg.queries.literals import CLOCK
from jaxkg.kg.queries.rules import calculation_kind
from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE
from jaxkg.query import Calculation, Count

_DIGITS = 4000
"""Digits of a sum: numbers are written with exponents up to 999, so that none is lost."""
_FURTHER = 2
"""Digits that a mean has beyond those of its numbers."""
_SIGNIFICANT, _AFTER = 6, 2
"""Digits of a ratio, and at least as many after the point."""


def calculated(
    values: Values, query: Calculation, sides: Sequence[np.ndarray]
) -> tuple[Decimal | None, str, str]:
    """What a calculation gives.

    Args:
        query: sound.
        sides: [K] int32 each: what its sides denote, or count.

    Returns:
        The number, None where there is none; text of its unit; why there is none, or what was
        taken for it; else "".
    """
    kind, sizes, unit, note = calculation_kind(values, query), [], "", ""
    for side, rows, name in zip((query.left, query.right), sides, ("first", "second")):
        if isinstance(side, Count):
            sizes.append(Decimal(len(rows)))
            continue
        keys = values.keys_of(kind)[:, rows[values.keys_of(kind)[0][rows] != NONE]]
        if (many := len(np.unique(keys[0]))) != 1:
            return None, "", f"the {name} has {many} values, and one is required"
        if kind == "number":
            [(unit, size)] = {values.number(row) for row in rows.tolist()} - {None}  # pyright: ignore
            sizes.append(size)
        elif (first := int(keys[0, 0])) >= CLOCK:
            return None, "", "times of day have no days"
        else:
            sizes.append(Decimal(first))
            if (keys[1] != first).any():
                note = "counted between first days: not every date is known to the day"
    first, other = sizes
    if query.by == "days":
        return Decimal(_day(int(first)) - _day(int(other))), "days", note
    if query.by == "years":
        years = abs(int(first - other)) // 10_000
        return Decimal(years if first > other else -years), "years", note
    with localcontext(prec=_DIGITS):
        if query.by in ("sum", "difference"):
            return first + (other if query.by == "sum" else -other), unit, ""
    if not other:
        return None, "", "nothing is divided by 0"
    with localcontext(prec=_SIGNIFICANT) as context:
        context.prec = max(_SIGNIFICANT, (first / other).adjusted() + 1 + _AFTER)
        return first / other, "", ""


def _day(date: int) -> int:
    """The number of a day that is written as digits, of the Gregorian calendar, also before 1."""
    year, rest = divmod(date, 10_000)
    cycles, year = divmod(year - 1, 400)
    return cycles * 146_097 + datetime.date(year + 1, *divmod(rest, 100)).toordinal()


def added(
    values: Values, ends: np.ndarray, by: Literal["sum", "mean"]
) -> tuple[Decimal | None, str, np.ndarray]:
    """The sum or the mean of numbers of one unit.

    Args:
        ends: [P] entities; those that are no numbers add nothing.
        by: which of the two. A mean is rounded, half to even, to two digits more after the point
            than any of its numbers has.

    Returns:
        The number, None where there is nothing to add; text of its unit; [P] bool, which are
        numbers.
    """
    numbers = values.keys_of("number")[0][ends] != NONE
    found = [values.number(row) for row in ends[numbers].tolist()]
    told = [number for number in found if number is not None]
    if not told:
        return None, "", numbers
    digits = max(_decimals(size) for _, size in told)
    with localcontext(prec=_DIGITS):
        number = sum((size for _, size in told), Decimal())
        if by == "mean":
            number = (number / len(told)).quantize(Decimal(1).scaleb(-digits - _FURTHER))
    return number, told[0][0], numbers


def _decimals(number: Decimal) -> int:
    """Digits after the point."""
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def told_total(number: int | Decimal | None, unit: str = "") -> str:
    """A count, a sum or a mean in digits, with its unit; "" of nothing added up.

    >>> told_total(3), told_total(Decimal("12.50"), "km"), told_total(Decimal("1E+3"))
    ('3', '12.5 km', '1000')
    """
    if number is None:
        return ""
    digits = f"{number:f}" if isinstance(number, Decimal) else str(number)
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits} {unit}".strip()
