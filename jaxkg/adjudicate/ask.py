"""Schema to request to reply to value: the one way the package asks a language model something.

A prompt with its pydantic schema becomes a request; the reply is read by the tolerant parser;
one that cannot be read gets one repair call; what still fails is an outcome with its kind of
failure, in its place, to be counted. No method parses a reply itself. A prompt is cut to what a
server's context holds: data goes from its end, and the prompt says so.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from jaxkg.adjudicate import prompts
from jaxkg.adjudicate.around.meter import usage
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.reading.parse import Unparsed, parse
from jaxkg.adjudicate.reading.schema import bounded, strict_schema
from jaxkg.adjudicate.requests import Message, Reply, Request
from jaxkg.records import Usage
from jaxkg.wire.retry import FailureKind

BYTES_PER_TOKEN = 3
"""Few enough for most languages and tokenizers: an estimate is to be too high."""
TURN_TOKENS = 8
"""Tokens that a chat's template adds to a turn."""

_BLOCK = re.compile(r"(?<=<data>\n).+?(?=\n</data>)", re.DOTALL)
_SHORTEST = 60  # characters that are left of a line at least


def most_tokens(messages: Sequence[Message], form: str = "") -> int:
    """Tokens of a chat, rather too many than too few.

    >>> most_tokens([Message("user", "abcdef")])
    10
    """
    size = len(form.encode("utf-8", "replace"))
    size += sum(len(message.content.encode("utf-8", "replace")) for message in messages)
    return size // BYTES_PER_TOKEN + TURN_TOKENS * len(messages)


def cut_to(
    messages: tuple[Message, ...], tokens: int, form: str = ""
) -> tuple[tuple[Message, ...], int]:
    """A chat whose data fits, and how many lines of data are not shown or not whole.

    The longest block of data of the last turn loses its last lines, and last the end of its one
    line; in place of what is gone it says how much that is. Instructions and question stay, so a
    chat of them alone may still be too long.

    Args:
        messages: data stands between tags, see `jaxkg.adjudicate.prompts`.
        tokens: that there is room for.
        form: what the endpoint adds to the last turn.

    >>> said = "<data>\\n" + "\\n".join(map(str, range(100))) + "\\n</data>"
    >>> cut_to((Message("user", said),), 40)[0][0].content.splitlines()[-3:]
    ['16', '… and 83 more not shown', '</data>']
    """
    gone = 0
    while (excess := BYTES_PER_TOKEN * (most_tokens(messages, form) - tokens)) > 0:
        *before, last = messages
        block = max(_BLOCK.finditer(last.content), key=lambda match: len(match[0]), default=None)
        if block is None:
            break
        lines = block.group().split("\n")
        hidden = 0
        if lines[-1].startswith("… and ") and (told := re.search(r"[\d,]+", lines[-1])):
            hidden = int(told.group().replace(",", ""))
            lines.pop()
        if len(lines) > 1:
            target, size, keep = len(block.group().encode()) - excess - 40, 0, 0
            while keep < len(lines) and (size := size + len(lines[keep].encode()) + 1) <= target:
                keep += 1
            keep = min(max(1, keep), len(lines) - 1)
            gone += len(lines) - keep
            hidden += len(lines) - keep
            lines = [*lines[:keep], f"… and {hidden:,} more not shown"]
        else:
            most = max(_SHORTEST, len(lines[0]) - excess - 8)
            if len(lines[0]) <= most:
                break
            gone += 1
            more = [f"… and {hidden:,} more not shown"] if hidden else []
            lines = [f"{lines[0][:most]} […]", *more]
        text = last.content[: block.start()] + "\n".join(lines) + last.content[block.end() :]
        messages = (*before, dataclasses.replace(last, content=text))
    return messages, gone


T = TypeVar("T", bound=BaseModel)

_REPLY = 256
"""Tokens kept free for a reply of unknown length."""
_TOO_LONG = re.compile(r"context|too long|maximum.*tokens", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Prompted(Generic[T]):
    """A prompt and the schema of its reply.

    Attributes:
        messages: the chat, the last turn being the user's.
        schema: pydantic model of the reply.
        form: the required form in words, for endpoints that take no schema; empty states the
            schema.
        check: looks beyond the schema, e.g. for relations that were never offered; a string says
            what is wrong, which counts as a reply that cannot be read.
        question, stage, temperature, max_tokens, seed, alternatives: see `Request`.
        offered, patterns, most: what the reply may be made of and how much of it, see `bounded`.
        reason: the field that says why, asked for only where the backend's manner wants it.
        extra: see `Request`.
    """

    messages: tuple[Message, ...]
    schema: type[T]
    form: str = ""
    check: Callable[[T], str | None] | None = None
    question: str = ""
    stage: str = ""
    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: int | None = None
    alternatives: int | None = None
    offered: Mapping[str, Sequence[str | int]] = dataclasses.field(default_factory=dict)
    patterns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    most: Mapping[str, int] = dataclasses.field(default_factory=dict)
    reason: str = ""
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def request(self) -> Request:
        """The request that is sent."""
        schema = bounded(
            strict_schema(self.schema),
            offered=self.offered,
            most=self.most,
            without=[self.reason] if self.reason else [],
            patterns=self.patterns,
        )
        return Request(
            messages=self.messages,
            schema=schema,
            schema_name=self.schema.__name__,
            form=self.form,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
            question=self.question,
            stage=self.stage,
            alternatives=self.alternatives,
            extra=self.extra,
            reads=self.reads,
        )

    def reads(self, reply: Reply) -> bool:
        """True for a reply that fits."""
        return _read(self, (reply,)).value is not None


@dataclasses.dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of a prompt: a value, or the failure it is counted as.

    Attributes:
        value: the reply as the schema; None where it failed.
        error: kind of failure; None where there is a value.
        detail: the failure in words.
        replies: the reply, and the repair's where there was one.
        stage: the prompt's.
        note: what of the prompt's data was not shown because it was too long; else empty.
    """

    value: T | None
    error: FailureKind | None
    detail: str
    replies: tuple[Reply, ...]
    stage: str = ""
    note: str = ""

    @property
    def usage(self) -> Usage:
        """What it cost, the repair call included."""
        return usage(self.replies, stage=self.stage)

    @property
    def repaired(self) -> bool:
        """True where the repair call made it readable."""
        return self.value is not None and len(self.replies) > 1


def ask(
    backend: Backend, prompted: Sequence[Prompted[T]], *, repair: bool = True
) -> list[Outcome[T]]:
    """Ask a batch and read the replies; a failure is an outcome, never an exception.

    Args:
        backend: who answers.
        prompted: the prompts; schemas may differ.
        repair: allow one repair call for a reply that cannot be read. Without it a prompt costs
            exactly one call.

    Returns:
        One outcome per prompt, in order.
    """
    fitted = [_fitted(backend, each, backend.context) for each in prompted]
    prompted, notes = [each for each, _ in fitted], [note for _, note in fitted]
    requests = [each.request() for each in prompted]
    replies = backend.complete(requests)
    if shorter := _shorter(backend, prompted, replies):
        prompted, replies = list(prompted), list(replies)
        for place, (each, note) in shorter.items():
            prompted[place], requests[place], notes[place] = each, each.request(), note
        for place, reply in zip(shorter, backend.complete([requests[i] for i in shorter])):
            replies[place] = reply
    outcomes = [_read(each, (reply,)) for each, reply in zip(prompted, replies)]
    again = _repairs(outcomes, requests) if repair else {}
    for place, reply in zip(again, backend.complete(list(again.values()))):
        outcomes[place] = _repaired(prompted[place], outcomes[place], reply)
    return [
        dataclasses.replace(outcome, note=note) if note else outcome
        for outcome, note in zip(outcomes, notes)
    ]


def _fitted(
    backend: Backend, prompted: Prompted[T], context: int | None
) -> tuple[Prompted[T], str]:
    """A prompt in the backend's manner, with no more data than its context has room for."""
    manner = backend.manner
    limit = manner.max_tokens or prompted.max_tokens
    prompted = dataclasses.replace(
        prompted,
        max_tokens=limit,
        seed=prompted.seed if prompted.seed is not None else manner.seed,
        reason="" if manner.why else prompted.reason,
        extra={**manner.extra, **prompted.extra},
    )
    if context is None:
        return prompted, ""
    room = context - (_REPLY if limit is None else limit)
    messages, gone = cut_to(prompted.messages, room, prompted.form)
    if not gone:
        return prompted, ""
    note = (
        f"{prompted.stage}: {gone:,} lines of what was found were left out or cut, the model's "
        f"context holds {context:,} tokens"
    )
    return dataclasses.replace(prompted, messages=messages), note


def _shorter(
    backend: Backend, prompted: Sequence[Prompted[T]], replies: Sequence[Reply]
) -> dict[int, tuple[Prompted[T], str]]:
    """Prompts that were refused as too long all the same, cut to two thirds, by place."""
    shorter: dict[int, tuple[Prompted[T], str]] = {}
    for place, (each, reply) in enumerate(zip(prompted, replies)):
        if reply.error == "bad_request" and _TOO_LONG.search(reply.detail):
            tokens = most_tokens(each.messages, each.form) + (each.max_tokens or _REPLY)
            room = min(tokens, backend.context or tokens) * 2 // 3
            fitted, note = _fitted(backend, each, room)
            if note:
                shorter[place] = fitted, note
    return shorter


def tally(outcomes: Iterable[Outcome[T]]) -> dict[str, int]:
    """How many were asked, read, repaired, failed of what, and cut to fit; for a report.

    Example:
        >>> tally([Outcome(None, "timeout", "", ()), Outcome(None, "timeout", "", ())])
        {'asked': 2, 'read': 0, 'repaired': 0, 'timeout': 2}
    """
    outcomes = list(outcomes)
    cut = sum(bool(outcome.note) for outcome in outcomes)
    return {
        "asked": len(outcomes),
        "read": sum(outcome.value is not None for outcome in outcomes),
        "repaired": sum(outcome.repaired for outcome in outcomes),
        **Counter(outcome.error for outcome in outcomes if outcome.error),
        **({"prompts cut": cut} if cut else {}),
    }


def _read(prompted: Prompted[T], replies: tuple[Reply, ...]) -> Outcome[T]:
    reply = replies[-1]
    if reply.error is not None:
        return Outcome(None, reply.error, reply.detail, replies, prompted.stage)
    try:
        value = parse(reply.text, prompted.schema, cut_off=reply.finish == "length")
        if prompted.check and (wrong := prompted.check(value)):
            raise Unparsed(wrong)
    except Unparsed as error:
        return Outcome(None, "unparsed", str(error), replies, prompted.stage)
    return Outcome(value, None, "", replies, prompted.stage)


def _repairs(outcomes: Sequence[Outcome[T]], requests: Sequence[Request]) -> dict[int, Request]:
    """The repair calls, by place in the batch: the chat so far, what came, and what is wrong."""
    again: dict[int, Request] = {}
    for index, (outcome, request) in enumerate(zip(outcomes, requests)):
        if outcome.error != "unparsed":
            continue
        reply, limit = outcome.replies[0], request.max_tokens
        if limit is not None and reply.finish == "length":
            limit *= 2  # the same limit would cut the same reply at the same place
        again[index] = dataclasses.replace(
            request,
            messages=(
                *request.messages,
                Message("assistant", reply.text),
                Message("user", prompts.REPAIR.format(reason=outcome.detail)),
            ),
            max_tokens=limit,
        )
    return again


def _repaired(prompted: Prompted[T], first: Outcome[T], reply: Reply) -> Outcome[T]:
    replies = (*first.replies, reply)
    if reply.error == "budget":  # what was paid for is still a reply that cannot be read
        detail = f"{first.detail}; not asked again: {reply.detail}"
        return dataclasses.replace(first, detail=detail, replies=replies)
    return _read(prompted, replies)
