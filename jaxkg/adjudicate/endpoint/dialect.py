"""What one endpoint has been found to accept of the protocol, and requests written that way.

Servers differ in a few places: structured output and what a schema may say, the name of the length
limit, whether temperature and seed may be set, streams and log-probabilities be asked for. Each is
tried the standard way, learnt from the endpoint's own 400 the first time, and remembered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jaxkg.adjudicate.prompts import JSON_FORM
from jaxkg.adjudicate.reading.schema import unbounded
from jaxkg.adjudicate.requests import Message, Request

_STRUCTURED_WORDS = ("response_format", "json_schema", "structured", "schema", "grammar", "guided")


class Dialect:
    """Learnt traits of an endpoint.

    Attributes:
        structured: True or False once known; None before the first reply.
        length_field: name of the length limit.
        temperature, seed, stream, logprobs: False once the endpoint refused the field; it is then
            left out.
        bounds: False once it refused a schema that lists what may be written and how much of it;
            schemas then say the form alone.
        learnt: what was learnt, in words.
    """

    def __init__(self) -> None:
        self.structured: bool | None = None
        self.length_field = "max_tokens"
        self.temperature = True
        self.seed = True
        self.stream = True
        self.bounds = True
        self.logprobs = True
        self.learnt: list[str] = []

    def body(self, request: Request, model: str) -> dict[str, Any]:
        """The request as this endpoint takes it."""
        structured = request.schema is not None and self.structured is not False
        body: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in wire_messages(request, structured=structured)
            ],
        }
        if structured:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": request.schema_name,
                    "strict": True,
                    "schema": request.schema if self.bounds else unbounded(request.schema),
                },
            }
        if request.temperature is not None and self.temperature:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body[self.length_field] = request.max_tokens
        if request.seed is not None and self.seed:
            body["seed"] = request.seed
        if request.alternatives and self.logprobs:
            body |= {"logprobs": True, "top_logprobs": request.alternatives}
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body | dict(request.extra)

    def learn(self, body: Mapping[str, Any], complaint: str) -> bool:
        """Take a 400's words to heart; True where the request is now written otherwise.

        A body that was written before another request taught the same lesson counts as changed.
        """
        said = complaint.casefold()
        if "max_tokens" in body and "max_completion_tokens" in said:
            self._note(self.length_field == "max_tokens", "takes max_completion_tokens")
            self.length_field = "max_completion_tokens"
        elif "temperature" in body and "temperature" in said:
            self._note(self.temperature, "takes no temperature: its own default is used")
            self.temperature = False
        elif "seed" in body and "seed" in said:
            self._note(self.seed, "takes no seed")
            self.seed = False
        elif "stream" in body and "stream" in said:
            self._note(self.stream, "does not stream its replies")
            self.stream = False
        elif "logprobs" in body and "logprob" in said:
            self._note(self.logprobs, "tells no log-probabilities")
            self.logprobs = False
        elif "response_format" in body and any(word in said for word in _STRUCTURED_WORDS):
            schema = body["response_format"]["json_schema"]["schema"]
            if schema != unbounded(schema):
                self._note(self.bounds, "takes no schema that lists what may be written")
                self.bounds = False
                return True
            self._note(
                self.structured is not False,
                f"no structured output, schemas are sent as instructions (it said: {complaint})",
            )
            self.structured = False
        else:
            return False
        return True

    def accepted(self, body: Mapping[str, Any]) -> None:
        """Remember that a request written so was taken."""
        if "response_format" in body and self.structured is None:
            self.structured = True

    def _note(self, new: bool, words: str) -> None:
        if new:
            self.learnt.append(words)


def wire_messages(request: Request, *, structured: bool) -> tuple[Message, ...]:
    """The turns as they are sent: with the required form in the last one, unless a schema binds."""
    if request.schema is None or structured:
        return request.messages
    form = request.form or JSON_FORM.format(
        schema=json.dumps(unbounded(request.schema), ensure_ascii=False, separators=(",", ":"))
    )
    *before, last = request.messages
    return (*before, Message(last.role, f"{last.content}\n\n{form}"))
