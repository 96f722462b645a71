"""Reads the body of a chat completion into a `Reply`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jaxkg.adjudicate.endpoint.prices import Rates
from jaxkg.adjudicate.requests import Reply

CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for text in Latin script, used where an endpoint reports no usage."""


def estimated_tokens(characters: int) -> int:
    """Tokens of a text of that length, roughly.

    Example:
        >>> estimated_tokens(10)
        3
    """
    return -(-characters // CHARACTERS_PER_TOKEN)


def read_completion(
    text: str,
    sent: Mapping[str, Any],
    *,
    seconds: float,
    attempts: int,
    rates: Rates | None,
) -> Reply:
    """A reply from the body of a 200.

    A body that is not a chat completion makes a "protocol" failure that keeps the body: it may
    have been paid for. Whatever the model wrote, even nothing, is a reply; to read it is not this
    function's work.
    """
    try:
        body = json.loads(text)
        choice = body["choices"][0]
        message = choice["message"]
        content, refusal = _content(message.get("content")), message.get("refusal")
        usage = body.get("usage") or {}
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Reply(
            text=text,
            error="protocol",
            detail=f"the endpoint answered with something else than a completion: {text[:200]!r}",
            seconds=seconds,
            attempts=attempts,
            price=0.0 if rates else None,
        )
    if isinstance(prompt, int) and isinstance(completion, int):
        estimated = False
    else:
        estimated = True
        prompt = estimated_tokens(sum(len(turn["content"]) for turn in sent["messages"]))
        completion = estimated_tokens(len(content))
    finish = "length" if choice.get("finish_reason") == "length" else "stop"
    refused = bool(refusal) or choice.get("finish_reason") == "content_filter"
    return Reply(
        text=content,
        error="refused" if refused else None,
        detail=f"the model declined: {refusal or 'its content filter cut the reply'}"
        if refused
        else "",
        finish=finish,
        prompt_tokens=prompt,
        completion_tokens=completion,
        seconds=seconds,
        price=rates.price(prompt, completion) if rates else None,
        attempts=attempts,
        structured="response_format" in sent,
        estimated=estimated,
    )


def _content(content: object) -> str:
    """The text of a message; some servers send a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    raise TypeError("content is neither text nor a list of parts")
