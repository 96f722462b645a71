"""Values a model wrote, fitted to the pydantic schema it was asked for.

Only the shape is mended (a near-miss key, one item for a list of one, a number in words around it);
nothing is invented, and pydantic has the last word.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pydantic
from pydantic import AliasChoices, BaseModel
from rapidfuzz import fuzz

T = TypeVar("T", bound=BaseModel)

_NEAR = 80.0  # similarity (0 to 100) from which a key counts as a field's name misspelt
_WIDEST_RANGE = 100
_LISTS = (list, tuple, set, frozenset, Sequence)
# A number of more digits is none of a list's.
_RANGE_OR_NUMBER = re.compile(r"(?<!\d)(\d{1,18})(?!\d)(?:\s*[-–]\s*(\d{1,18})(?!\d))?")
_ITEM_BREAK = re.compile(r"[;\n]")
_BULLET = re.compile(r"^[-*•]\s+")


class Misfit(ValueError):
    """The value does not fit the schema; says which field and why, without repeating the value."""


def model(value: Any, schema: type[T]) -> T:
    """An object's fields, near-miss keys included, as the schema.

    Raises:
        Misfit: no key is a field's, or a field's value does not validate.
    """
    if not isinstance(value, Mapping):
        raise Misfit("it is no object")
    fields = _fields_of(value, schema)
    if not fields:
        inner = [v for v in value.values() if isinstance(v, Mapping) and _fields_of(v, schema)]
        if len(inner) != 1:
            raise Misfit(f"it has none of the fields {', '.join(schema.model_fields)}")
        fields = _fields_of(inner[0], schema)
    return _validated(
        {name: fitted(v, schema.model_fields[name].annotation) for name, v in fields.items()},
        schema,
    )


def listed(items: list[Any], schema: type[T]) -> T:
    """A bare array as the schema: its one object, or the one list field it can be the value of.

    Raises:
        Misfit: no field takes it, or several do.
    """
    if len(items) == 1 and isinstance(items[0], Mapping):
        return model(items[0], schema)
    numbers = bool(items) and all(_is_index(item) for item in items)
    readings: list[T] = []
    for name, field in schema.model_fields.items():
        if (item_type := _item_type(field.annotation)) is None:
            continue
        if items and numbers != (item_type is int):
            continue
        try:
            readings.append(_validated({name: fitted(items, field.annotation)}, schema))
        except Misfit:
            continue
    if len(readings) != 1:
        raise Misfit("a bare list cannot stand for the object with its fields")
    return readings[0]


def fitted(value: Any, wanted: Any) -> Any:
    """A value in the shape a type annotation wants, where the difference is only one of shape.

    Example:
        >>> fitted("1, 3", list[int]), fitted("Path 2", int), fitted("A; B", list[str])
        ([1, 3], 2, ['A', 'B'])
        >>> fitted(["written_by", "has_genre"], list[list[str]])
        [['written_by'], ['has_genre']]
    """
    origin = typing.get_origin(wanted)
    if origin in (typing.Union, types.UnionType):
        options = [option for option in typing.get_args(wanted) if option is not type(None)]
        return value if value is None or len(options) != 1 else fitted(value, options[0])
    if (item_type := _item_type(wanted)) is not None:
        return _fitted_list(value, item_type)
    if isinstance(wanted, type) and issubclass(wanted, BaseModel) and isinstance(value, Mapping):
        return {
            name: fitted(inner, wanted.model_fields[name].annotation)
            for name, inner in _fields_of(value, wanted).items()
        }
    if wanted is int and isinstance(value, str) and len(numbers := integers(value)) == 1:
        return numbers[0]
    if wanted is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if wanted is str and isinstance(value, list) and all(isinstance(v, str) for v in value):
        return " ".join(value)
    return value


def integers(text: str) -> list[int]:
    """The numbers of an index list, ranges written out.

    Example:
        >>> integers("paths 1, 3 and 5-7")
        [1, 3, 5, 6, 7]
    """
    found: list[int] = []
    for match in _RANGE_OR_NUMBER.finditer(text):
        first, last = int(match[1]), int(match[2] or match[1])
        within = first <= last < first + _WIDEST_RANGE
        found += range(first, last + 1) if within else [first, last]
    return found


def _fitted_list(value: Any, item_type: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, str):
        if item_type is int:
            return integers(value)
        parts = _ITEM_BREAK.split(value.strip().lstrip("-*• "))
        value = [item for part in parts if (item := _BULLET.sub("", part.strip(), count=1))]
    if not isinstance(value, list):
        value = [value]
    if item_type is int:
        spread = ([v] if not isinstance(v, str) else integers(v) for v in value)
        return [number for numbers in spread for number in numbers]
    return [fitted(v, item_type) for v in value]


def _item_type(annotation: Any) -> Any:
    """Type of a list's items; None for anything but a list."""
    arguments = typing.get_args(annotation)
    return arguments[0] if typing.get_origin(annotation) in _LISTS and arguments else None


def _is_index(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().isdigit()
    return isinstance(value, int) and not isinstance(value, bool)


def _fields_of(value: Mapping[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    """Values by field; a key is taken as the field it equals, else the one it nearly spells."""
    names = {name: _spellings(name, schema) for name in schema.model_fields}
    fields: dict[str, Any] = {}
    near: list[tuple[float, str, str]] = []
    for key in value:
        folded = _folded(key)
        for name, spellings in names.items():
            if folded in spellings:
                fields.setdefault(name, value[key])
                break
        else:
            near += [
                (score, key, name)
                for name, spellings in names.items()
                if (score := max(fuzz.ratio(folded, s) for s in spellings)) >= _NEAR
            ]
    used: set[str] = set()
    for _, key, name in sorted(near, reverse=True):
        if name not in fields and key not in used:
            fields[name] = value[key]
            used.add(key)
    return fields


def _spellings(name: str, schema: type[BaseModel]) -> set[str]:
    alias = schema.model_fields[name].validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return {_folded(name), *(_folded(choice) for choice in choices if isinstance(choice, str))}


def _folded(key: object) -> str:
    """A key without case, punctuation and plural."""
    return re.sub(r"[\W_]+", "", str(key).casefold()).removesuffix("s")


def _validated(fields: Mapping[str, Any], schema: type[T]) -> T:
    try:
        return schema.model_validate(fields)
    except pydantic.ValidationError as error:
        reasons = (
            f"{'.'.join(str(part) for part in problem['loc']) or 'the reply'}: {problem['msg']}"
            for problem in error.errors(include_input=False, include_url=False)
        )
        raise Misfit("; ".join(reasons)) from error
