"""Reads the body of a chat completion into a `Reply`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jaxkg.adjudicate.endpoint.prices import Rates
from jaxkg.adjudicate.requests import Reply
from jaxkg.foreign_json import read_json
from jaxkg.words import one_line

CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for text in Latin script, used where an endpoint reports no usage."""

_MOST_TOKENS = 10**9  # of one call; who reports more is counting something else
_FILTERED = "its content filter cut the reply"
_STREAMED = re.compile(r"\ufeff?\s*(?::|data:|event:|id:|retry:)")
_KEPT = 10_000  # characters of a body that is no completion


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

    A stream of parts is put together first. A body that is not a chat completion makes a "protocol"
    failure that keeps the body (its first 10,000 characters): it may have been paid for. Whatever
    the model wrote, even nothing, is a reply; to read it is not this function's work. A usage that
    makes no sense counts as none.
    """
    try:
        body = _joined(text) if _STREAMED.match(text) else read_json(text, strict=False)
        choice = body["choices"][0]
        message = choice["message"]
        content, refusal = _content(message.get("content")), message.get("refusal")
        usage = body.get("usage")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Reply(
            text=text[:_KEPT],
            error="protocol",
            detail=f"the endpoint answered with something else than a completion: {text[:200]!r}",
            seconds=seconds,
            attempts=attempts,
            price=0.0 if rates else None,
        )
    prompt, completion = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    estimated = prompt is None or completion is None
    if prompt is None or completion is None:
        prompt = estimated_tokens(sum(len(turn["content"]) for turn in sent["messages"]))
        completion = estimated_tokens(len(content))
    finish = "length" if choice.get("finish_reason") == "length" else "stop"
    refused = bool(refusal) or choice.get("finish_reason") == "content_filter"
    return Reply(
        text=content,
        error="refused" if refused else None,
        detail=f"the model declined: {one_line(str(refusal or _FILTERED))[:500]}"
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
        alternatives=_alternatives(choice.get("logprobs")),
        likelihood=_likelihood(choice.get("logprobs")),
    )


def _joined(text: str) -> dict[str, Any]:
    """One completion of the parts of a stream.

    Raises:
        ValueError: it ends before the reply does, or tells of an error.
    """
    content: list[str] = []
    message: dict[str, Any] = {}
    choice: dict[str, Any] = {"message": message}
    usage: object = None
    for line in text.splitlines():
        name, _, data = line.partition(":")
        if name != "data" or data.strip() == "[DONE]":
            continue
        part = read_json(data, strict=False)
        usage = part.get("usage") or usage
        if part.get("error"):
            raise ValueError(f"the stream ends in an error: {part['error']}")
        for piece in part.get("choices") or ():
            delta = piece.get("delta") or {}
            content.append(_content(delta.get("content")))
            if delta.get("refusal"):
                message["refusal"] = (message.get("refusal") or "") + str(delta["refusal"])
            if isinstance(logs := piece.get("logprobs"), Mapping):
                choice.setdefault("logprobs", {"content": []})["content"] += logs["content"] or ()
            choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
    if not choice.get("finish_reason"):
        raise ValueError("the stream ends before the reply does")
    message["content"] = "".join(content)
    return {"choices": [choice], "usage": usage}


def _alternatives(logprobs: object) -> tuple[tuple[str, float], ...]:
    """Tokens that the reply might have begun with, with their log-probabilities."""
    try:
        first = logprobs["content"][0]["top_logprobs"]  # type: ignore[index]
        return tuple((str(each["token"]), float(each["logprob"])) for each in first)
    except (KeyError, IndexError, TypeError, ValueError):
        return ()


def _likelihood(logprobs: object) -> float | None:
    """Sum of the log-probabilities of all tokens."""
    try:
        logs = [float(each["logprob"]) for each in logprobs["content"]]  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None
    return sum(logs) if logs else None


def _tokens(usage: object, name: str) -> int | None:
    """A count of the endpoint's; None where there is none that can be one."""
    count = usage.get(name) if isinstance(usage, Mapping) else None
    if isinstance(count, float) and count.is_integer():
        count = int(count)
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    return count if 0 <= count <= _MOST_TOKENS else None


def _content(content: object) -> str:
    """The text of a message; some servers send a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    raise TypeError("content is neither text nor a list of parts")
