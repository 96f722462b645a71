"""Numbers added up, exactly."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Literal

import numpy as np

from jaxkg.kg.queries.values import Values
from jaxkg.kg.queries.windows import NONE

_FURTHER = 2
"""Digits that a mean has beyond those of its numbers."""
_DIGITS = 4000
"""Digits of a sum: numbers are written with exponents up to 999, so that none is lost."""


def added(
    values: Values, ends: np.ndarray, by: Literal["sum", "mean"]
) -> tuple[Decimal | None, str, np.ndarray]:
    """The sum or the mean of numbers of one unit.

    Args:
        values: of the graph.
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
    digits = max(_digits(size) for _, size in told)
    with localcontext(prec=_DIGITS):
        number = sum((size for _, size in told), Decimal())
        if by == "mean":
            number = (number / len(told)).quantize(Decimal(1).scaleb(-digits - _FURTHER))
    return number, told[0][0], numbers


def _digits(number: Decimal) -> int:
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
