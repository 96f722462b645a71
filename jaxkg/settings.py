"""Settings whose ranges stand beside them, checked when they are made."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from jaxkg.errors import JaxkgError


@dataclasses.dataclass(frozen=True)
class Range:
    """Numbers that a setting may be, as the metadata of an `Annotated` type.

    Attributes:
        least, most: bounds that belong to it; None for none.
        above: bound that does not.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None

    def holds(self, value: Any, whole: bool) -> bool:
        """Whether a value is one of these numbers."""
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        return (
            number
            and math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
        )

    def __str__(self) -> str:
        bounds = (
            ("of at least", self.least),
            ("above", self.above),
            ("of at most" if self.least is None and self.above is None else "and at most",
             self.most),
        )  # fmt: skip
        return " ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)


Count = Annotated[int, Range(least=1)]
"""1, 2, ..."""
CountOrZero = Annotated[int, Range(least=0)]
"""0, 1, ..."""
Share = Annotated[float, Range(least=0, most=1)]
"""In [0, 1]."""
Positive = Annotated[float, Range(above=0)]
"""Above 0."""
NotNegative = Annotated[float, Range(least=0)]
"""0 or more."""


class SettingError(JaxkgError):
    """A setting out of its range.

    Attributes:
        setting: its name.
        problem: what it should be, and what it is.
    """

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting} {problem}")
        self.setting, self.problem = setting, problem


class Checked:
    """Base of a dataclass of settings: numbers are finite and in the range of their annotation.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Beam(Checked):
    ...     width: Count = 4
    >>> Beam(width=0)
    Traceback (most recent call last):
    jaxkg.settings.SettingError: width is a whole number of at least 1, not 0

    Attributes:
        presets: values by name of a preset, for `--set preset=NAME`. "paper" is the method as
            printed, as far as the paper says; everything that is ours is switched off.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __post_init__(self) -> None:
        for name, (allowed, whole, optional) in _ranges(type(self)).items():
            value = getattr(self, name)
            if not (optional and value is None) and not allowed.holds(value, whole):
                what = "a whole number" if whole else "a finite number"
                raise SettingError(name, f"is {what} {allowed}".rstrip() + f", not {value!r}")


@functools.cache
def _ranges(kind: type) -> dict[str, tuple[Range, bool, bool]]:
    """(range, whole, None is allowed) by name of the settings that are numbers."""
    found = {}
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        union = typing.get_origin(hint) in (typing.Union, types.UnionType)
        choices = typing.get_args(hint) if union else (hint,)
        for choice in choices:
            of = typing.get_args(choice)[0] if hasattr(choice, "__metadata__") else choice
            if of in (int, float):
                told: list[Any] = [*getattr(choice, "__metadata__", ()), Range()]
                found[name] = told[0], of is int, type(None) in choices
    return found
