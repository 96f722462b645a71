"""A difference, a ratio or a duration of two values, exactly."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np

from jaxkg.kg.queries.literals import CLOCK
from jaxkg.kg.queries.rules import calculation_kind
from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE
from jaxkg.query import Calculation, Count

_DIGITS = 4000
_SIGNIFICANT, _AFTER = 6, 2
"""Digits of a ratio, and at least as many after the point."""


def calculated(
    values: Values, query: Calculation, sides: Sequence[np.ndarray]
) -> tuple[Decimal | None, str, str]:
    """What a calculation gives.

    Args:
        values: of the graph.
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
        if query.by == "difference":
            return first - other, unit, ""
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
