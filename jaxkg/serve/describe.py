"""The OpenAPI description of the service."""

from __future__ import annotations

import functools
import typing
from typing import Any

import pydantic

from jaxkg import __version__
from jaxkg.answer import Answer

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
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _of(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(each: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": each}


def _record(*optional: str, **members: dict[str, Any]) -> dict[str, Any]:
    needed = [name for name in members if name not in optional]
    return {"type": "object", "required": needed, "properties": members}


_TEXT, _NUMBER, _SCORE = {"type": "string"}, {"type": "integer"}, {"type": "number"}
_YES_OR_NO = {"type": "boolean"}
_TROUBLES = _list({"type": "string", "description": "Why something may be missing."})
_NAMED = {"id": _TEXT, "name": _TEXT, "degree": {**_NUMBER, "description": "Facts it stands in."}}
_COUNTED = {"relation": _TEXT, "label": _TEXT, "count": _NUMBER}
_REPLIES = {
    "Error": _ERROR,
    "Failed": _record(question_id=_TEXT, error=_TEXT),
    "Entities": _record(
        entities=_list(_record(**_NAMED, score=_SCORE)),
        left_out=_NUMBER,
    ),
    "Entity": _record(
        "incomplete",
        **_NAMED,
        aliases=_list(_TEXT),
        relations=_list(_record(**_COUNTED, facts=_list(_of("Citation")), left_out=_NUMBER)),
        incomplete=_TROUBLES,
    ),
    "Paths": _record(
        "incomplete",
        paths=_list(_of("SupportingPath")),
        more=_YES_OR_NO,
        complete={**_YES_OR_NO, "description": "False where the search saw too many facts."},
        incomplete=_TROUBLES,
    ),
    "Checked": _record(
        "incomplete",
        supported=_YES_OR_NO,
        triples=_list(_of("Citation")),
        instead={**_list(_of("Citation")), "description": "What it says of head and relation."},
        assumption=_TEXT,
        incomplete=_TROUBLES,
    ),
    "Relations": _record(
        entities={"type": ["integer", "null"]},
        triples=_NUMBER,
        relations=_list(
            _record(**_COUNTED, example={"anyOf": [_of("Citation"), {"type": "null"}]})
        ),
        left_out=_NUMBER,
    ),
    "Examples": _record(questions=_list(_TEXT), complete=_YES_OR_NO),
}
"""What is replied beside answers, by name."""


@functools.cache
def _schemas() -> dict[str, Any]:
    """Every record of a reply; those of an answer are read off the records themselves."""
    hints = typing.get_type_hints(Answer)
    members: dict[str, Any] = {name: (hints[name], ...) for name in Answer("").members()}
    schema = pydantic.create_model("Answer", **members).model_json_schema(
        mode="serialization", ref_template="#/components/schemas/{model}"
    )
    nested = schema.pop("$defs")
    return {"Answer": schema, **nested, **_REPLIES}


def _asks(name: str, about: str, kind: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": about, "schema": {"type": kind}}


def _route(
    about: str,
    reply: dict[str, Any],
    *,
    asks: list[dict[str, Any]] | None = None,
    body: dict[str, Any] | None = None,
    gives: str = "application/json",
    takes: str = "application/json",
    missing: bool = False,
) -> dict[str, Any]:
    failures = {
        "400": "Not understood",
        "401": "No token",
        "403": "A page of another origin",
        "421": "Asked under a name that is not the service's",
        "429": "Too many; see Retry-After",
    }
    if missing:
        failures["404"] = "Not in the graph"
    if body is not None:
        failures |= {"408": "Did not arrive in time", "413": "Too long", "504": "No answer in time"}
        failures["415"] = "Not sent as JSON"
    route: dict[str, Any] = {
        "summary": about,
        "responses": {"200": {"description": "Found", "content": {gives: {"schema": reply}}}}
        | {
            status: {"description": why, "content": {"application/json": {"schema": _of("Error")}}}
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
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
        "paths": {
            "/ask": {
                "post": _route(
                    "Answer a question, with its citations.", _of("Answer"), body=_QUESTION
                )
            },
            "/ask/batch": {
                "post": _route(
                    "Answer questions, one a line, in order; an error in the place of one.",
                    {"anyOf": [_of("Answer"), _of("Failed")]},
                    body=_QUESTION,
                    takes=lines,
                    gives=lines,
                )
            },
            "/entities": {
                "get": _route(
                    "Entities by id, name or alias.",
                    _of("Entities"),
                    asks=[_asks("q", "Name.", "string"), limit],
                )
            },
            "/entities/{id}": {
                "get": _route(
                    "One entity and its facts by relation.",
                    _of("Entity"),
                    asks=[entity, limit],
                    missing=True,
                )
            },
            "/paths": {
                "get": _route(
                    "Shortest walks between two entities.",
                    _of("Paths"),
                    asks=[
                        _asks("from", "Id or name.", "string"),
                        _asks("to", "Id or name.", "string"),
                        _asks("hops", "1 to 4.", "integer"),
                        limit,
                    ],
                    missing=True,
                )
            },
            "/check": {
                "post": _route(
                    "Is this claim in the graph?", _of("Checked"), body=_CLAIM, missing=True
                )
            },
            "/schema": {
                "get": _route("Relations, most frequent first.", _of("Relations"), asks=[limit])
            },
            "/examples": {
                "get": _route(
                    "Questions to try; not `complete` while the service warms up.", _of("Examples")
                )
            },
            "/healthz": {"get": _route("Alive.", _TEXT, gives="text/plain")},
            "/readyz": {"get": _route("Warm.", _TEXT, gives="text/plain")},
            "/metrics": {"get": _route("Counts for Prometheus.", _TEXT, gives="text/plain")},
        },
    }
