"""What `jaxkg llm check` finds out about a model, in plain words."""

from __future__ import annotations

import dataclasses
import random
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from jaxkg.adjudicate import prompts
from jaxkg.adjudicate.ask import Prompted
from jaxkg.adjudicate.backend import Backend
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


class _Code(BaseModel):
    code: Literal["K7", "Q3"]


class Cost(NamedTuple):
    """About what a question of a system asks of a model."""

    system: str
    calls: float
    prompt: int
    """Tokens to be read anew, what a server keeps of the prompt before aside."""
    written: int


COSTS = (
    Cost("a reading chosen of six (any system with --llm, where unsure)", 1.6, 380, 11),
    Cost("a SELECT (reader with --llm, where it withholds; llm-planned --set ask=sql)", 1, 130, 24),
    Cost("paths judged (--set judge=paths)", 1, 180, 32),
    Cost("llm-planned", 4.4, 70, 57),
    Cost("llm-planned --set ask=steps", 2.5, 560, 18),
    Cost("reknos", 5, 1500, 150),
    Cost("proh (proh-l)", 15, 7900, 580),
)
"""Means of a model of 1.5 billion weights whose server keeps one prompt: GeoQuery, MetaQA, WebQSP,
MuSiQue (`table_llm`); single questions vary by twice as much.
"""


@dataclasses.dataclass(frozen=True)
class Check:
    """What was found.

    Attributes:
        ok: the package can work with it: it answers, and what it says of a schema can be read.
        lines: all of it in plain words.
    """

    ok: bool
    lines: tuple[str, ...]

    def text(self) -> str:
        """The lines, one under the other."""
        return "\n".join(self.lines)


def check(backend: Backend) -> Check:
    """Ask a model a few short questions and tell how it does: some 600 tokens read, 80 written."""
    remote = backend if isinstance(backend, OpenAIBackend) else None
    head = f"{remote.base_url}, model {backend.model}" if remote else backend.model
    plain = _asked(backend, prompts.PROBE_PLAIN, max_tokens=16)
    if plain.error is not None:
        lines = [f"{head}: does not answer ({plain.error}).", _ADVICE.get(plain.error, "")]
        lines.append(f"The error: {plain.detail}")
        if plain.error == "not_found" and remote and (listed := remote.models()):
            lines.append(f"Models there: {', '.join(listed[:20])}")
        return Check(False, tuple(filter(None, lines)))
    shaped = _shaped(backend, prompts.PROBE_STRUCTURED, _City)
    readable, trouble = _readable(shaped, _City)
    chooses = _readable(_shaped(backend, prompts.PROBE_CHOICE, _Code), _Code)[0]
    # Numbers that no earlier prompt began with: a server keeps what it has read before.
    numbers = " ".join(str(number) for number in random.sample(range(100, 1000), 150))
    long = _asked(backend, f"{numbers}\n{prompts.PROBE_PLAIN}", max_tokens=1, alternatives=2)
    counted = _asked(backend, prompts.PROBE_LONG, max_tokens=48)
    read, written = _speeds(long, counted)
    seconds = min(reply.seconds for reply in (plain, shaped) if reply.error is None)
    lines = [f"{head}: answers, {seconds:.2f} s for a short reply."]
    if remote:
        lines += _capacity(remote)
    if read is None or written is None:
        lines.append("The server reports no token counts: jaxkg estimates them, and prices.")
    else:
        lines.append(f"Speed: {read:.0f} tokens a second read, {written:.1f} written.")
    if shaped.structured:
        lines.append(
            "Structured output: supported; the model "
            f"{'keeps' if chooses else 'does NOT keep'} to a list of allowed values."
        )
    elif remote:
        lines.append("Structured output: not supported; schemas are sent as instructions.")
    verdict = "readable" if readable else f"NOT readable, {trouble}"
    lines.append(f"A reply in a given form: {verdict}.")
    lines.append(f"Log-probabilities: {'yes' if long.alternatives else 'no'}.")
    if remote:
        lines += [f"Learnt: it {words}" for words in remote.dialect.learnt]
    lines.append(
        "Price: unknown, the price table has no entry for this model."
        if backend.rates is None
        else f"Price: {backend.rates.prompt:g} + {backend.rates.completion:g} "
        f"{backend.rates.currency} per million tokens."
    )
    if read is not None and written is not None:
        lines.append("A question takes about:")
        lines += [
            f"  {cost.prompt / read + cost.written / written:5.0f} s  {cost.system}, "
            f"{cost.calls:g} {'call' if cost.calls == 1 else 'calls'}"
            for cost in COSTS
        ]
    return Check(readable, tuple(lines))


def _asked(backend: Backend, text: str, **options: Any) -> Reply:
    request = Request(
        (Message("user", text),), stage="check", extra=backend.manner.extra, **options
    )
    return backend.complete([request])[0]


def _shaped(backend: Backend, text: str, schema: type[BaseModel]) -> Reply:
    prompted = Prompted((Message("user", text),), schema, stage="check", max_tokens=32)
    request = dataclasses.replace(prompted.request(), extra=backend.manner.extra)
    return backend.complete([request])[0]


def _capacity(backend: OpenAIBackend) -> list[str]:
    held, width = backend.capacity, backend.width.most
    context = "unknown" if backend.context is None else f"{backend.context:,} tokens"
    source = f" ({held.source})" if backend.context == held.context else ""
    slots = f", slots: {held.slots}" if held.slots else ""
    return [f"Context: {context}{source}{slots}; requests at a time: {width}."]


def _readable(reply: Reply, schema: type[BaseModel]) -> tuple[bool, str]:
    if reply.error is not None:
        return False, f"{reply.error}: {reply.detail}"
    try:
        parse(reply.text, schema, cut_off=reply.finish == "length")
    except Unparsed as error:
        return False, str(error)
    return True, ""


def _speeds(long: Reply, counted: Reply) -> tuple[float | None, float | None]:
    """Tokens a second read and written, of a long prompt and of a long reply."""
    if any(reply.estimated or reply.error or not reply.seconds for reply in (long, counted)):
        return None, None
    # Two sums of reading and writing, of which each is mostly one of both.
    read = long.prompt_tokens / long.seconds
    writing = counted.seconds - counted.prompt_tokens / read
    written = counted.completion_tokens / max(writing, counted.seconds / 10)
    read = long.prompt_tokens / max(long.seconds - 1 / max(written, 1e-9), long.seconds / 10)
    return read, written
