"""The OpenAPI description of the service."""

from __future__ import annotations

from typing import Any

from jaxkg import __version__

_QUESTION = {
    "type": "object",
    "required": ["question"],
    "properties": {
        "question": {"type": "string", "maxLength": 4000, "description": "[ ] may mark the topic."},
        "topics": {"type": "array", "items": {"type": "string"}, "description": "Entity ids."},
        "id": {"type": "string", "maxLength": 200},
    },
}
_CLAIM = {
    "type": "object",
    "required": ["head", "relation", "tail"],
    "properties": {name: {"type": "string"} for name in ("head", "relation", "tail")},
}
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}}
_ANY = {"type": "object"}


def _asks(name: str, about: str, kind: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": about, "schema": {"type": kind}}


def _route(
    about: str,
    *,
    asks: list[dict[str, Any]] | None = None,
    body: dict[str, Any] | None = None,
    gives: str = "application/json",
    takes: str = "application/json",
    missing: bool = False,
) -> dict[str, Any]:
    failures = {"400": "Not understood", "401": "No token", "429": "Too many; see Retry-After"}
    if missing:
        failures["404"] = "Not in the graph"
    if body is not None:
        failures |= {"408": "Did not arrive in time", "413": "Too long", "504": "No answer in time"}
    route: dict[str, Any] = {
        "summary": about,
        "responses": {"200": {"description": "Found", "content": {gives: {"schema": _ANY}}}}
        | {
            status: {"description": why, "content": {"application/json": {"schema": _ERROR}}}
            for status, why in failures.items()
        },
    }
    if asks:
        route["parameters"] = asks
    if body is not None:
        route["requestBody"] = {"required": True, "content": {takes: {"schema": body}}}
    return route


def openapi() -> dict[str, Any]:
    """OpenAPI 3.1, ready for JSON."""
    limit = _asks("limit", "Most items of a list.", "integer")
    entity = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    lines = "application/x-ndjson"
    return {
        "openapi": "3.1.0",
        "info": {"title": "jaxkg", "version": __version__},
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/ask": {"post": _route("Answer a question, with its citations.", body=_QUESTION)},
            "/ask/batch": {
                "post": _route(
                    "Answer questions, one a line, in order.",
                    body=_QUESTION,
                    takes=lines,
                    gives=lines,
                )
            },
            "/entities": {
                "get": _route(
                    "Entities by id, name or alias.", asks=[_asks("q", "Name.", "string"), limit]
                )
            },
            "/entities/{id}": {
                "get": _route(
                    "One entity and its facts by relation.", asks=[entity, limit], missing=True
                )
            },
            "/paths": {
                "get": _route(
                    "Shortest walks between two entities.",
                    asks=[
                        _asks("from", "Id or name.", "string"),
                        _asks("to", "Id or name.", "string"),
                        _asks("hops", "1 to 4.", "integer"),
                        limit,
                    ],
                    missing=True,
                )
            },
            "/check": {"post": _route("Is this claim in the graph?", body=_CLAIM, missing=True)},
            "/schema": {"get": _route("Relations, most frequent first.", asks=[limit])},
            "/examples": {
                "get": _route("Questions to try; not `complete` while the service warms up.")
            },
            "/healthz": {"get": _route("Alive.", gives="text/plain")},
            "/readyz": {"get": _route("Warm.", gives="text/plain")},
            "/metrics": {"get": _route("Counts for Prometheus.", gives="text/plain")},
        },
    }
