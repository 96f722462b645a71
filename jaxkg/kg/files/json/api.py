"""Descriptions of web services (OpenAPI, Swagger): what can be asked of them are operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


def with_operations(document: Any) -> Any:
    """A description of a web service with a list of its operations in place of its paths; any other
    document as it is.

    >>> pets = {"/pets": {"get": {"operationId": "list", "tags": ["pets"]}, "summary": "Pets"}}
    >>> with_operations({"openapi": "3.1.0", "paths": pets})["operations"]
    [{'id': 'list', 'method': 'GET', 'path': '/pets', 'tags': ['pets']}]
    """
    if not isinstance(document, dict) or {"openapi", "swagger"}.isdisjoint(document):
        return document
    paths = document.get("paths")
    if not isinstance(paths, dict):
        return document
    rest = {key: said for key, said in document.items() if key not in ("paths", "security")}
    return rest | {"operations": [*_operations(document, paths)]}


def _operations(document: Mapping[str, Any], paths: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path, methods in paths.items():
        methods = methods if isinstance(methods, dict) else {}
        shared = _several(methods.get("parameters"))
        for method in _METHODS:
            operation = methods.get(method)
            if not isinstance(operation, dict):
                continue
            said = {"security": document.get("security"), **operation}
            own = said.pop("operationId", None)
            name = own if isinstance(own, str) and own else f"{method.upper()} {path}"
            head = {"id": name, "method": method.upper(), "path": path}
            parameters = [*shared, *_several(said.pop("parameters", None))]
            responses = said.pop("responses", None)
            schemes = [item for item in _several(said.pop("security")) if isinstance(item, dict)]
            more = {
                "parameters": [_referred(document, item) for item in parameters],
                "responses": [
                    {"status": str(status), **answer}
                    for status, item in (responses.items() if isinstance(responses, dict) else ())
                    if isinstance(answer := _referred(document, item), dict)
                ],
                "security": [title for scheme in schemes for title in scheme],
                "scopes": [
                    scope
                    for scheme in schemes
                    for scopes in scheme.values()
                    for scope in _several(scopes)
                ],
            }
            yield head | said | {key: item for key, item in more.items() if item}


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _referred(document: Mapping[str, Any], value: Any) -> Any:
    """What a reference within a document leads to; anything else as it is."""
    place = value.get("$ref") if isinstance(value, dict) else None
    if not isinstance(place, str) or not place.startswith("#/"):
        return value
    part: Any = document
    for key in place[2:].split("/"):
        part = part.get(key) if isinstance(part, dict) else None
    return value if part is None else part
