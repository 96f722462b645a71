"""Caps on calls, tokens and price, per question and per run."""

from __future__ import annotations

import dataclasses
import threading
from collections import defaultdict
from collections.abc import Sequence

from jaxkg.adjudicate.backend import Backend, Pass, Wrapper
from jaxkg.adjudicate.endpoint.completion import estimated_tokens
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request
from jaxkg.errors import JaxkgError


@dataclasses.dataclass(frozen=True)
class Caps:
    """Upper limits; None is no limit.

    Attributes:
        calls: replies asked for.
        tokens: of prompts and replies together.
        price: in the price table's currency.
    """

    calls: int | None = None
    tokens: int | None = None
    price: float | None = None


@dataclasses.dataclass
class _Account:
    """What was spent, and what is in flight and may come to."""

    calls: int = 0
    tokens: float = 0.0
    price: float = 0.0

    def add(self, calls: int, tokens: float, price: float) -> None:
        self.calls += calls
        self.tokens += tokens
        self.price += price


class Budget(Wrapper):
    """Holds requests back once a cap is reached; they come back with the error "budget".

    Calls are counted exactly. What a reply will cost is known only when it is there, so a request
    in flight is counted with an estimate (its prompt's length, and its `max_tokens` or the mean
    reply so far) until then; a cap on tokens or price is passed by no more than that estimate errs.

    Around a cache a budget counts replies read from the disk too, at what they once cost, so a
    replayed run stops where the first one did; inside a cache it counts what is paid now.
    """

    def __init__(
        self, inner: Backend, *, run: Caps | None = None, question: Caps | None = None
    ) -> None:
        """Wrap a backend; `run` caps everything asked through this object.

        Raises:
            JaxkgError: a price is capped and the model's is not known, or a cap is negative.
        """
        super().__init__(inner)
        self._caps = {"run": run or Caps(), "question": question or Caps()}
        for scope, caps in self._caps.items():
            numbers = [n for n in dataclasses.astuple(caps) if n is not None]
            if any(not n >= 0 for n in numbers):
                raise JaxkgError(f"a cap per {scope} must be >= 0, not {min(numbers)}")
            if caps.price is not None and inner.rates is None:
                raise JaxkgError(
                    f"cannot cap the price per {scope}: the price table has no entry for "
                    f"{inner.model!r}; add one (jaxkg/adjudicate/prices.toml, or your own file "
                    "named by JAXKG_PRICES), or cap calls or tokens"
                )
        self._lock = threading.Lock()
        self._run = _Account()
        self._questions: dict[str, _Account] = defaultdict(_Account)
        self._replies = 0
        self._reply_tokens = 0

    def _begin(
        self, requests: Sequence[Request], admit: Admit | None, on_reply: OnReply | None
    ) -> Pass:
        pledges: dict[int, tuple[float, float]] = {}

        def may_send(index: int) -> str | None:
            request = requests[index]
            if reason := admit(index) if admit else None:
                return reason
            with self._lock:
                tokens, price = self._pledge(request)
                accounts = self._accounts(request)
                for scope, account in accounts:
                    if reason := self._over(scope, account, tokens, price):
                        return reason
                for _, account in accounts:
                    account.add(1, tokens, price)
                pledges[index] = (tokens, price)
            return None

        def arrived(index: int, reply: Reply) -> None:
            # Without a pledge it was held back, or is the copy of a reply that was counted.
            if index in pledges:
                tokens, price = pledges.pop(index)
                spent = reply.prompt_tokens + reply.completion_tokens
                with self._lock:
                    for _, account in self._accounts(requests[index]):
                        # A budget further in may have held it back after all.
                        account.add(reply.calls - 1, spent - tokens, (reply.price or 0.0) - price)
                    self._replies += 1
                    self._reply_tokens += reply.completion_tokens
            if on_reply:
                on_reply(index, reply)

        return Pass(requests, may_send, arrived)

    def _accounts(self, request: Request) -> list[tuple[str, _Account]]:
        accounts = [("run", self._run)]
        if self._caps["question"] != Caps():
            accounts.append(("question", self._questions[request.question]))
        return accounts

    def _pledge(self, request: Request) -> tuple[float, float]:
        """Tokens and price a request may come to."""
        prompt = estimated_tokens(sum(len(message.content) for message in request.messages))
        mean = self._reply_tokens / self._replies if self._replies else 0.0
        reply = request.max_tokens if request.max_tokens is not None else mean
        rates = self.rates
        return prompt + reply, rates.price(prompt, reply) if rates else 0.0

    def _over(self, scope: str, account: _Account, tokens: float, price: float) -> str | None:
        """Why an account cannot bear one more call of that size; None where it can."""
        caps = self._caps[scope]
        if caps.calls is not None and account.calls + 1 > caps.calls:
            return f"the budget of {caps.calls} calls per {scope} is used up"
        if caps.tokens is not None and account.tokens + tokens > caps.tokens:
            return f"the budget of {caps.tokens} tokens per {scope} leaves no room for this call"
        if caps.price is not None and account.price + price > caps.price:
            return f"the budget of {caps.price:g} per {scope} leaves no room for this call"
        return None
