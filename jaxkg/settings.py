"""Settings whose ranges stand beside them, checked when they are made; and read from text."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from jaxkg.errors import JaxkgError

T = TypeVar("T")


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


def wishes_from(
    settings: Sequence[str],
    *,
    mode: str | None = None,
    threshold: float | None = None,
    today: str | None = None,
) -> dict[str, str]:
    """`NAME=VALUE` settings, and those that have an option of their own, by name.

    Raises:
        JaxkgError: one is not of that form.

    >>> wishes_from(["width=3"], threshold=0.2)
    {'width': '3', 'threshold': '0.2'}
    """
    wishes: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise JaxkgError(f"--set {setting}: write it NAME=VALUE, for example --set width=3")
        wishes[name.strip().replace("-", "_")] = value.strip()
    if mode is not None:
        wishes["mode"] = mode
    if today is not None:
        wishes["today"] = today
    if threshold is not None:
        wishes["threshold"] = str(threshold)
    return wishes


def settings_made(kind: type[T], wishes: Mapping[str, str], **defaults: Any) -> T:
    """Settings: their own defaults, these, those of a preset, and what was written.

    `preset=NAME` takes a set of values that `kind` keeps under that name in `presets`: "paper" is
    the method as it is printed. `beam.width=4` sets the `width` of the nested settings `beam`.

    Raises:
        JaxkgError: as `settings_from`, no such preset, or a value is out of its range; says it as
            it was written.
    """
    wishes = dict(wishes)
    named, presets = wishes.pop("preset", None), getattr(kind, "presets", {})
    if named is not None and named not in presets:
        known = f"there is {', '.join(presets)}" if presets else "there is none"
        raise JaxkgError(f"--set preset={named}: no such preset of {kind.__name__}; {known}")
    whole = {name: text for name, text in wishes.items() if "." not in name}
    given = settings_from(kind, whole)
    values = {**defaults, **(presets[named] if named else {}), **given}
    for name in wishes.keys() - whole.keys():
        outer, _, inner = name.partition(".")
        fields = getattr(kind, "__dataclass_fields__", {})
        nested = values.get(outer, getattr(kind(**values), outer, None)) if outer in fields else 0
        if not dataclasses.is_dataclass(nested) or isinstance(nested, type):
            raise JaxkgError(f"{_typed(name, wishes[name])}: no such setting here")
        try:
            changed = settings_from(type(nested), {inner: wishes[name]})
            values[outer] = dataclasses.replace(nested, **changed)
        except SettingError as error:
            raise JaxkgError(
                f"{_typed(name, wishes[name])}: {error.setting} {error.problem}"
            ) from None
    try:
        return kind(**values)
    except SettingError as error:
        if error.setting not in given:
            raise
        typed = _typed(error.setting, wishes[error.setting])
        raise JaxkgError(f"{typed}: {error.setting} {error.problem}") from None


def settings_from(kind: type[Any], wishes: Mapping[str, str]) -> dict[str, Any]:
    """What was written, as the fields of a settings dataclass.

    Raises:
        JaxkgError: there is no such field, or the value is none for it.

    >>> from jaxkg.systems.planned import PlannedSettings
    >>> settings_from(PlannedSettings, {"width": "3", "mode": "union", "revisit": "none"})
    {'width': 3, 'mode': 'union', 'revisit': 'none'}
    """
    hints = typing.get_type_hints(kind)
    annotations = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for name, text in wishes.items():
        if name not in annotations:
            raise JaxkgError(
                f"{_typed(name, text)}: no such setting here; there are "
                f"{', '.join(annotations) or 'none'}"
            )
        try:
            values[name] = _value(text, annotations[name])
        except ValueError as error:
            raise JaxkgError(f"{_typed(name, text)}: {error}") from None
    return values


def _typed(name: str, text: str) -> str:
    """A setting as it was written on the command line."""
    return f"--{name} {text}" if name in ("mode", "threshold") else f"--set {name}={text}"


def _value(text: str, annotation: Any) -> Any:
    """Text as a value of a simple type; a `ValueError` says what would be one."""
    if typing.get_origin(annotation) is Literal:
        allowed = typing.get_args(annotation)
        if text not in allowed:
            raise ValueError(f"it is one of {', '.join(map(str, allowed))}")
        return text
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        choices = typing.get_args(annotation)
        if type(None) in choices and text.lower() in ("default", "null"):
            return None
        for choice in choices:
            if choice is not type(None):
                return _value(text, choice)
    if annotation is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError("it is true or false")
        return text.lower() == "true"
    if annotation in (int, float, str):
        try:
            return annotation(text)
        except ValueError:
            raise ValueError(
                f"it is {'a whole number' if annotation is int else 'a number'}"
            ) from None
    raise ValueError("it can be set from Python only")
