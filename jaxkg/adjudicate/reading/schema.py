"""JSON schemas of replies, in the strict form that structured output asks for."""

from __future__ import annotations

import copy
import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from jaxkg.errors import JaxkgError


@functools.cache
def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a pydantic model: every field required, no others allowed, no defaults.

    Raises:
        JaxkgError: the model has a field with free keys, which strict mode cannot express.

    Example:
        >>> class Plan(BaseModel):
        ...     hops: list[list[str]] = []
        >>> strict_schema(Plan)["required"], strict_schema(Plan)["additionalProperties"]
        (['hops'], False)
    """
    schema = model.model_json_schema()
    return _strict(schema, schema.get("$defs", {}), model.__name__)


def _strict(node: Any, definitions: dict[str, Any], where: str) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions, where) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node and len(node) > 1:
        # A reference with words of its own beside it must be written out.
        named = definitions[node["$ref"].rsplit("/", 1)[-1]]
        node = {**named, **{key: value for key, value in node.items() if key != "$ref"}}
    strict: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            strict[key] = {
                name: _strict(field, definitions, f"{where}.{name}")
                for name, field in value.items()
            }
        elif key not in ("default", "title"):
            strict[key] = _strict(value, definitions, where)
    if strict.get("type") == "object":
        if "properties" not in strict:
            raise JaxkgError(
                f"{where}: a field with free keys cannot be sent as structured output; "
                "use a list of objects with a key and a value"
            )
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    return strict


_BOUNDS = ("minItems", "maxItems", "maxLength", "pattern")
_FEW = 12
"""Values of a field that are its form; more are what was offered."""


def bounded(
    schema: Mapping[str, Any],
    *,
    offered: Mapping[str, Sequence[str | int]] = {},
    most: Mapping[str, int] = {},
    without: Collection[str] = (),
    patterns: Mapping[str, str] = {},
) -> dict[str, Any]:
    """A schema that allows what was offered and no more: the one way from offers to a schema.

    Args:
        schema: in strict form.
        offered: values by field, `list.field` for one of a list's objects; lists of lists of values
            too. A field of nothing offered stays free.
        most: items by field of a list. A list of offered values has as many as are offered at most.
        without: fields that are not asked for.
        patterns: what the values of a field may be, as a regular expression, by path.

    Raises:
        JaxkgError: it has no such field.

    >>> class Plan(BaseModel):
    ...     reason: str
    ...     hops: list[str]
    >>> bounded(strict_schema(Plan), offered={"hops": ["a"]}, without=["reason"])["properties"]
    {'hops': {'items': {'type': 'string', 'enum': ['a']}, 'type': 'array', 'maxItems': 1}}
    """
    made = copy.deepcopy(dict(schema))
    for name in without:
        made["properties"].pop(name)
        made["required"].remove(name)
    for path, values in offered.items():
        if values:
            node = _at(made, path)
            lists = _lists(made, node)
            leaf = lists[-1]["items"] if lists else node
            kind = "string" if isinstance(values[0], str) else "integer"
            leaf.update(type=kind, enum=list(dict.fromkeys(values)))
            if len(lists) == 1:
                node["maxItems"] = len(leaf["enum"])
    for path, pattern in patterns.items():
        _at(made, path)["pattern"] = pattern
    for path, count in most.items():
        node = _at(made, path)
        node["maxItems"] = min(count, node.get("maxItems", count))
    return made


def unbounded(schema: Any) -> Any:
    """A schema of the form alone, for an endpoint that takes no lists of values in it."""
    if isinstance(schema, list):
        return [unbounded(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: unbounded(field) for name, field in value.items()}
        if key in ("properties", "$defs")
        else unbounded(value)
        for key, value in schema.items()
        if key not in _BOUNDS and not (key == "enum" and len(value) > _FEW)
    }


def _at(schema: Any, path: str) -> Any:
    """The node of a field, through lists and references on the way to it."""
    node = schema
    for name in path.split("."):
        node = _referred(schema, node)
        while "items" in node:
            node = _referred(schema, node["items"])
        if name not in node.get("properties", {}):
            raise JaxkgError(f"the schema of a reply has no field {path!r}")
        node = node["properties"][name]
    return node


def _lists(schema: Any, node: Any) -> list[Any]:
    """The nested lists that a node is, outermost first."""
    found = []
    while "items" in (node := _referred(schema, node)):
        found.append(node)
        node = node["items"]
    return found


def _referred(schema: Any, node: Any) -> Any:
    return schema["$defs"][node["$ref"].rsplit("/", 1)[-1]] if "$ref" in node else node
