"""What is asked of a language model, and what comes back."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, TypeAlias

from jaxkg.wire.retry import FailureKind

Role: TypeAlias = Literal["system", "user", "assistant"]

OUTAGES: frozenset[FailureKind] = frozenset(
    {"authentication", "permission", "not_found", "connection"}
)
"""Failures whose reason is a wrong key, name or address: every further call would fail so."""


@dataclasses.dataclass(frozen=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclasses.dataclass(frozen=True)
class Request:
    """One call to a language model.

    Attributes:
        messages: the chat so far, the last turn being the user's.
        schema: JSON schema of the reply, sent as structured output where the endpoint supports it;
            None asks for free text.
        schema_name: its name, letters, digits and underscores.
        form: the required form in words, added to the last turn where the schema cannot be sent;
            empty states the schema itself.
        temperature: None leaves it to the endpoint.
        max_tokens: longest reply, in tokens; None leaves it to the endpoint.
        seed: sampling seed; requests that differ in it are different requests, so several samples
            of one prompt are several entries of the cache.
        question: id of the question the call is charged to.
        stage: name of the stage that asks, for the meter.
        alternatives: tokens that the reply might begin with to be told of, each with its
            log-probability; None asks for none.
        extra: further fields of the body, as the endpoint knows them.
        reads: says whether a reply to it can be read, so that a cache asked to do so can ask again
            what cannot; None where nobody knows. No part of what is asked.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    form: str = ""
    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: int | None = None
    question: str = ""
    stage: str = ""
    alternatives: int | None = None
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    reads: Callable[[Reply], bool] | None = dataclasses.field(
        default=None, compare=False, repr=False
    )

    def asked(self, model: str) -> str:
        """What determines the reply, as canonical JSON: all but the account it is charged to.

        Neither the endpoint's address nor its key is part of it: a run replays on another machine,
        and no secret can enter.
        """
        content = {
            "model": model,
            "messages": [[message.role, message.content] for message in self.messages],
            "schema": self.schema,
            "schema_name": self.schema_name,
            "form": self.form,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
        }
        # Left out where they are not used: replies that were kept before they came are found.
        if self.alternatives:
            content["alternatives"] = self.alternatives
        if self.extra:
            content["extra"] = dict(self.extra)
        return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    def key(self, model: str) -> str:
        """The request's name in a cache: the SHA-256 of `asked`, in hexadecimal."""
        return digest(self.asked(model))


@dataclasses.dataclass(frozen=True)
class Reply:
    """What came back for one request.

    Attributes:
        text: the model's words; after a "protocol" failure the body as it came.
        error: kind of failure; None where `text` is a reply.
        detail: the failure in words, secrets removed.
        finish: "stop", or "length" where the reply was cut off at its longest.
        prompt_tokens, completion_tokens: as the endpoint counts them; see `estimated`.
        seconds: wall-clock from the first attempt to the reply, waits between attempts included.
        price: in the price table's currency; None where the table does not know the model.
        attempts: HTTP requests it took.
        structured: True where the schema was sent as structured output.
        estimated: True where the endpoint reported no usage and tokens were estimated from length.
        cached: True where the reply was read from a cache. Tokens, seconds and price then say what
            it cost when it was paid.
        alternatives: tokens that the reply might have begun with, likeliest first, with their
            natural log-probabilities; empty where the endpoint tells none or was not asked.
        likelihood: natural log-probability of the whole text; None where it is not told.
    """

    text: str = ""
    error: FailureKind | None = None
    detail: str = ""
    finish: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    price: float | None = 0.0
    attempts: int = 1
    structured: bool = False
    estimated: bool = False
    cached: bool = False
    alternatives: tuple[tuple[str, float], ...] = ()
    likelihood: float | None = None

    @property
    def calls(self) -> int:
        """1, or 0 for a request a budget held back."""
        return 0 if self.error == "budget" else 1

    @classmethod
    def held_back(cls, reason: str) -> Self:
        """The reply to a request that was not sent."""
        return cls(error="budget", detail=reason, attempts=0)


Admit: TypeAlias = Callable[[int], str | None] | None
"""Asked just before the request at this place of the batch is sent; a string is the reason not to
send it. None sends all."""

OnReply: TypeAlias = Callable[[int, Reply], None] | None
"""Told each reply as it arrives, with its place in the batch; may run on another thread. What it
raises ends the batch. None for nobody."""


def digest(asked: str) -> str:
    """SHA-256 of `Request.asked`, in hexadecimal."""
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
