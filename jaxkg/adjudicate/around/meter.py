"""Counts what is asked of a model: calls, tokens, seconds, price and failures, by stage."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence

from jaxkg.adjudicate.backend import Backend, Manner, Wrapper
from jaxkg.adjudicate.requests import Reply, Request
from jaxkg.records import Usage


@dataclasses.dataclass
class Spent:
    """What one stage asked.

    Attributes:
        asked: requests, those a budget held back included.
        calls: requests that were answered or failed, read from a cache or not.
        paid: replies that came from the endpoint now.
        cached: replies read from a cache.
        attempts: HTTP requests now, retries included.
        prompt_tokens, completion_tokens, seconds, price: of `paid` and `cached` replies together,
            as they were when paid; seconds are summed over calls that may have run side by side.
        paid_price: of `paid` alone.
        estimated: replies whose tokens are estimated.
        failures: by kind.
    """

    asked: int = 0
    calls: int = 0
    paid: int = 0
    cached: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    price: float = 0.0
    paid_price: float = 0.0
    estimated: int = 0
    failures: Counter[str] = dataclasses.field(default_factory=Counter)

    def add(self, reply: Reply) -> None:
        """Count one reply."""
        self.asked += 1
        self.calls += reply.calls
        self.cached += reply.cached
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.seconds += reply.seconds
        self.price += reply.price or 0.0
        self.estimated += reply.estimated
        if not reply.cached:
            self.paid += reply.error is None
            self.attempts += reply.attempts
            self.paid_price += reply.price or 0.0
        if reply.error:
            self.failures[reply.error] += 1

    def __add__(self, other: Spent) -> Spent:
        mine, its = vars(self), vars(other)
        return Spent(**{name: mine[name] + its[name] for name in mine})


class Meter(Wrapper):
    """Counts every reply that passes; grows with the number of stages, not of questions."""

    def __init__(self, inner: Backend, manner: Manner | None = None) -> None:
        """Wrap a backend; put it outermost, so that it sees cached and held-back replies too.

        `manner` counts in place of the wrapped backend's.
        """
        super().__init__(inner)
        self._manner = manner
        self._lock = threading.Lock()
        self._stages: dict[str, Spent] = defaultdict(Spent)

    @property
    def manner(self) -> Manner:
        """How the model is asked."""
        return self._manner or self.inner.manner

    @property
    def stages(self) -> dict[str, Spent]:
        """What each stage spent so far."""
        with self._lock:
            return {name: spent + Spent() for name, spent in self._stages.items()}

    @property
    def total(self) -> Spent:
        """All stages together."""
        return sum(self.stages.values(), Spent())

    def text(self) -> str:
        """What was spent, in a few lines for people."""
        total = self.total
        lines = [
            f"{self.model}: {total.calls} calls ({total.paid} paid now, {total.cached} from the "
            f"cache), {total.prompt_tokens:,} + {total.completion_tokens:,} tokens"
            + (f" ({total.estimated} replies estimated)" if total.estimated else "")
        ]
        if self.rates is None:
            lines.append("price unknown: the price table has no entry for this model")
        else:
            lines.append(
                f"{total.price:.4f} {self.rates.currency}, {total.paid_price:.4f} of it paid now"
            )
        if total.failures:
            kinds = ", ".join(f"{count} {kind}" for kind, count in total.failures.most_common())
            lines.append(f"failed: {kinds}")
        return "\n".join(lines)

    def note(self, request: Request, reply: Reply) -> None:
        """Count a reply."""
        with self._lock:
            self._stages[request.stage].add(reply)


def usage(replies: Sequence[Reply], *, stage: str) -> Usage:
    """What some replies cost, as an answer carries it.

    A cached reply counts as it did when it was paid, so a run that is resumed reports what a run
    in one piece does. The price is None where that of any reply is not known.

    Example:
        >>> usage([Reply("a", prompt_tokens=9, seconds=0.5)], stage="plan").stages
        {'plan': 0.5}
    """
    seconds = sum(reply.seconds for reply in replies)
    return Usage(
        calls=sum(reply.calls for reply in replies),
        prompt_tokens=sum(reply.prompt_tokens for reply in replies),
        completion_tokens=sum(reply.completion_tokens for reply in replies),
        price=None
        if any(reply.price is None for reply in replies)
        else sum(reply.price or 0.0 for reply in replies),
        seconds=seconds,
        stages={stage: seconds},
    )
