"""What `jaxkg llm check` finds out about an endpoint, in plain words."""

from __future__ import annotations

import dataclasses

from pydantic import BaseModel

from jaxkg.adjudicate import prompts
from jaxkg.adjudicate.ask import Prompted
from jaxkg.adjudicate.endpoint.openai import OpenAIBackend
from jaxkg.adjudicate.reading.parse import Unparsed, parse
from jaxkg.adjudicate.requests import Message, Reply, Request

_ADVICE = {
    "authentication": "The endpoint refuses the key. Set OPENAI_API_KEY to one that it accepts.",
    "permission": "The key may not use this model. Choose another model or another key.",
    "not_found": "The endpoint does not know this model, or the address is not the one that ends "
    "in /v1.",
    "rate_limit": "The endpoint allows no more calls now. Wait, or lower the concurrency.",
    "timeout": "The endpoint takes connections, but no reply came in time. Is the model loading?",
    "connection": "Nothing answers at this address. Is the server running?",
    "server": "The endpoint fails on its own side. Its log says why.",
    "protocol": "Something answers, but not with the OpenAI protocol. Does the address end in /v1?",
    "bad_request": "The endpoint rejects even the shortest request.",
    "refused": "The model declines even the shortest request.",
}


class _City(BaseModel):
    is_city: bool


@dataclasses.dataclass(frozen=True)
class Check:
    """What was found.

    Attributes:
        answers: the endpoint answered a plain request.
        structured: it took a schema as structured output.
        readable: the reply to the schema, however it was sent, could be read.
        seconds: of the shorter of the two calls.
        tokens_per_second: of the replies, prompt reading included; None where it reports no usage.
        lines: all of it in plain words.
    """

    answers: bool
    structured: bool
    readable: bool
    seconds: float
    tokens_per_second: float | None
    lines: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True where the package can work with it."""
        return self.answers and self.readable

    def text(self) -> str:
        """The lines, one under the other."""
        return "\n".join(self.lines)


def check(backend: OpenAIBackend) -> Check:
    """Ask an endpoint two short questions and tell how it does: at most a few dozen tokens."""
    head = f"{backend.base_url}, model {backend.model}"
    plain = backend.complete([Request((Message("user", prompts.PROBE_PLAIN),), stage="check")])[0]
    if plain.error is not None:
        lines = [f"{head}: does not answer ({plain.error}).", _ADVICE.get(plain.error, "")]
        lines.append(f"It said: {plain.detail}")
        if plain.error == "not_found" and (listed := backend.models()):
            lines.append(f"It offers: {', '.join(listed[:20])}")
        return Check(False, False, False, plain.seconds, None, tuple(filter(None, lines)))
    question = Prompted((Message("user", prompts.PROBE_STRUCTURED),), _City, stage="check")
    shaped = backend.complete([question.request()])[0]
    readable, trouble = _readable(shaped)
    replies = [reply for reply in (plain, shaped) if reply.error is None]
    seconds = min(reply.seconds for reply in replies)
    speed = _speed(replies)
    lines = [f"{head}: answers, {seconds:.2f} s for a short reply."]
    if speed is None:
        lines.append("It reports no token counts: they, and prices, will be estimates.")
    else:
        lines.append(f"Speed: {speed:.0f} tokens per second, reading the prompt included.")
    lines.append(
        "Structured output: supported."
        if shaped.structured
        else "Structured output: not supported; schemas are sent as instructions."
    )
    verdict = "readable" if readable else f"NOT readable, {trouble}"
    lines.append(f"A reply with a schema: {verdict}.")
    lines += [f"Learnt: it {words}" for words in backend.dialect.learnt]
    lines.append(
        "Price: unknown, the price table has no entry for this model."
        if backend.rates is None
        else f"Price: {backend.rates.prompt:g} + {backend.rates.completion:g} "
        f"{backend.rates.currency} per million tokens."
    )
    return Check(True, shaped.structured, readable, seconds, speed, tuple(lines))


def _readable(reply: Reply) -> tuple[bool, str]:
    if reply.error is not None:
        return False, f"{reply.error}: {reply.detail}"
    try:
        parse(reply.text, _City, cut_off=reply.finish == "length")
    except Unparsed as error:
        return False, str(error)
    return True, ""


def _speed(replies: list[Reply]) -> float | None:
    """Tokens written per second."""
    if any(reply.estimated for reply in replies):
        return None
    seconds = sum(reply.seconds for reply in replies)
    return sum(reply.completion_tokens for reply in replies) / seconds if seconds else None
