"""Schema to request to reply to value: the one way the package asks a language model something.

A prompt with its pydantic schema becomes a request; the reply is read by the tolerant parser;
one that cannot be read gets one repair call; what still fails is an outcome with its kind of
failure, in its place, to be counted. No method parses a reply itself.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel

from jaxkg.adjudicate import prompts
from jaxkg.adjudicate.around.meter import usage
from jaxkg.adjudicate.backend import Backend
from jaxkg.adjudicate.reading.parse import Unparsed, parse
from jaxkg.adjudicate.reading.schema import strict_schema
from jaxkg.adjudicate.requests import Message, Reply, Request
from jaxkg.records import Usage
from jaxkg.wire.retry import FailureKind

T = TypeVar("T", bound=BaseModel)


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
        question, stage, temperature, max_tokens, seed: see `Request`.
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

    def request(self) -> Request:
        """The request that is sent."""
        return Request(
            messages=self.messages,
            schema=strict_schema(self.schema),
            schema_name=self.schema.__name__,
            form=self.form,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
            question=self.question,
            stage=self.stage,
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
    """

    value: T | None
    error: FailureKind | None
    detail: str
    replies: tuple[Reply, ...]
    stage: str = ""

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
    requests = [each.request() for each in prompted]
    outcomes = _read_all(prompted, backend.complete(requests))
    again = _to_repair(outcomes, prompted, requests) if repair else {}
    return _repaired(prompted, outcomes, again, backend.complete(list(again.values())))


def tally(outcomes: Iterable[Outcome[T]]) -> dict[str, int]:
    """How many were asked, read, repaired, and failed of what; for a report.

    Example:
        >>> tally([Outcome(None, "timeout", "", ()), Outcome(None, "timeout", "", ())])
        {'asked': 2, 'read': 0, 'repaired': 0, 'timeout': 2}
    """
    outcomes = list(outcomes)
    return {
        "asked": len(outcomes),
        "read": sum(outcome.value is not None for outcome in outcomes),
        "repaired": sum(outcome.repaired for outcome in outcomes),
        **Counter(outcome.error for outcome in outcomes if outcome.error),
    }


def _read_all(prompted: Sequence[Prompted[T]], replies: Sequence[Reply]) -> list[Outcome[T]]:
    return [_read(each, (reply,)) for each, reply in zip(prompted, replies)]


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


def _to_repair(
    outcomes: Sequence[Outcome[T]], prompted: Sequence[Prompted[T]], requests: Sequence[Request]
) -> dict[int, Request]:
    """The repair calls, by place in the batch: the chat so far, what came, and what is wrong."""
    again: dict[int, Request] = {}
    for index, outcome in enumerate(outcomes):
        if outcome.error != "unparsed":
            continue
        request, reply = requests[index], outcome.replies[0]
        limit = request.max_tokens
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


def _repaired(
    prompted: Sequence[Prompted[T]],
    outcomes: list[Outcome[T]],
    again: dict[int, Request],
    replies: Sequence[Reply],
) -> list[Outcome[T]]:
    for index, reply in zip(again, replies):
        first = outcomes[index]
        told = (*first.replies, reply)
        if reply.error == "budget":  # what was paid for is still a reply that cannot be read
            detail = f"{first.detail}; not asked again: {reply.detail}"
            outcomes[index] = dataclasses.replace(first, detail=detail, replies=told)
        else:
            outcomes[index] = _read(prompted[index], told)
    return outcomes
