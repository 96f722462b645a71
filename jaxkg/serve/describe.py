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


def _of(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(each: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": each}


def _record(*optional: str, **members: dict[str, Any]) -> dict[str, Any]:
    needed = [name for name in members if name not in optional]
    return {"type": "object", "required": needed, "properties": members}


_TEXT, _NUMBER, _SCORE = {"type": "string"}, {"type": "integer"}, {"type": "number"}
_YES_OR_NO = {"type": "boolean"}
_CLAIM = _record(head=_TEXT, relation=_TEXT, tail=_TEXT)
_TROUBLES = _list({"type": "string", "description": "Why something may be missing."})
_NAMED = {
    "id": _TEXT,
    "name": _TEXT,
    "degree": {**_NUMBER, "description": "How many facts have it as head or tail."},
}
_COUNTED = {"relation": _TEXT, "label": _TEXT, "count": _NUMBER}
_REPLIES = {
    "Error": _record(error=_TEXT),
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
        complete={
            **_YES_OR_NO,
            "description": "False if the search stopped at its limit of facts.",
        },
        incomplete=_TROUBLES,
    ),
    "Checked": _record(
        "incomplete",
        supported=_YES_OR_NO,
        triples=_list(_of("Citation")),
        instead={
            **_list(_of("Citation")),
            "description": "What the graph states with this head and relation.",
        },
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
    how: str,
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
        "400": "The request is not valid; `error` says why",
        "401": "The service requires a token",
        "403": "The request comes from a page of another origin",
        "421": "The service does not have the name in the address",
        "429": "Too many requests; wait as long as Retry-After says",
    }
    if missing:
        failures["404"] = "The graph has no such entity"
    if body is not None:
        failures |= {
            "408": "The body did not arrive in time",
            "413": "The body is too long",
            "415": "The body is not declared as JSON",
            "504": "The time limit of a question has passed",
        }
    route: dict[str, Any] = {
        "summary": about,
        "responses": {"200": {"description": "The reply", "content": {gives: {"schema": reply}}}}
        | {
            status: {"description": why, "content": {"application/json": {"schema": _of("Error")}}}
            for status, why in failures.items()
        },
    }
    if asks:
        route["parameters"] = asks
    if body is not None:
        route["requestBody"] = {"required": True, "content": {takes: {"schema": body}}}
    return {how: route}


def openapi() -> dict[str, Any]:
    """OpenAPI 3.1, ready for JSON."""
    limit = _asks("limit", "How many items to list at most.", "integer")
    entity = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    lines, plain = "application/x-ndjson", "text/plain"
    return {
        "openapi": "3.1.0",
        "info": {"title": "jaxkg", "version": __version__},
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
        "paths": {
            "/ask": _route(
                "post", "Answer a question, with its citations.", _of("Answer"), body=_QUESTION
            ),
            "/ask/batch": _route(
                "post",
                "Answer questions, one a line, in order. A question that fails has an `error`.",
                {"anyOf": [_of("Answer"), _of("Failed")]},
                body=_QUESTION,
                takes=lines,
                gives=lines,
            ),
            "/entities": _route(
                "get",
                "Find entities by id, name or alias.",
                _of("Entities"),
                asks=[_asks("q", "The name to look up.", "string"), limit],
            ),
            "/entities/{id}": _route(
                "get",
                "Show one entity and its facts, by relation.",
                _of("Entity"),
                asks=[entity, limit],
                missing=True,
            ),
            "/paths": _route(
                "get",
                "Find the shortest walks between two entities.",
                _of("Paths"),
                asks=[
                    _asks("from", "Id or name of the first entity.", "string"),
                    _asks("to", "Id or name of the last entity.", "string"),
                    _asks("hops", "Most steps of a walk, 1 to 4.", "integer"),
                    limit,
                ],
                missing=True,
            ),
            "/check": _route(
                "post",
                "Say whether the graph states a claim.",
                _of("Checked"),
                body=_CLAIM,
                missing=True,
            ),
            "/schema": _route(
                "get",
                "List the relations, the most frequent first.",
                _of("Relations"),
                asks=[limit],
            ),
            "/examples": _route(
                "get",
                "List questions to try. `complete` is false while the service starts.",
                _of("Examples"),
            ),
            "/healthz": _route("get", "Say whether the process runs.", _TEXT, gives=plain),
            "/readyz": _route(
                "get", "Say whether the service is ready to answer.", _TEXT, gives=plain
            ),
            "/metrics": _route("get", "List counts for Prometheus.", _TEXT, gives=plain),
        },
    }
