"""JSON schemas of replies, in the strict form that structured output asks for."""

from __future__ import annotations

import functools
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
