"""Caps on calls, tokens and price, per question and per run."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from jaxkg.adjudicate.backend import Backend, Wrapper
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request
from jaxkg.errors import JaxkgError

_BYTES_PER_TOKEN = 3  # few enough for most languages and tokenizers: a pledge is to be too high
_TOKENS_PER_TURN = 4
_FIRST_REPLY = 256  # tokens pledged for a reply of unknown length while none has come


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
    """What was spent, and what is in flight.

    `open` is [3]: tokens of prompts, of replies with a longest; number of other replies.
    """

    calls: int = 0
    tokens: float = 0.0
    price: float = 0.0
    open: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))


class Budget(Wrapper):
    """Holds requests back once a cap is reached; they come back with the error "budget".

    Calls are counted exactly. What a reply will cost is known only when it is there, so a request
    in flight is counted with an estimate until then: its prompt at 3 bytes a token, or more where
    the endpoint has counted more, and its `max_tokens`, the mean reply so far, or 256 tokens before
    the first. A cap on tokens or price is passed by no more than that estimate errs; a first call
    whose prompt fits is always made.

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
                    f"{inner.model!r}; add one in a file of your own that JAXKG_PRICES names, or "
                    "cap calls or tokens"
                )
        self._lock = threading.Lock()
        self._run = _Account()
        self._questions: dict[str, _Account] = defaultdict(_Account)
        self._replies = 0
        self._reply_tokens = 0
        self._ratio = 1.0  # the most that an endpoint counted of a prompt, to what was estimated

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order, or the error "budget"."""
        pledges: dict[int, np.ndarray] = {}

        def may_send(index: int) -> str | None:
            request = requests[index]
            if reason := admit(index) if admit else None:
                return reason
            prompt, limit = _prompt_tokens(request), request.max_tokens
            load = np.array([prompt, limit or 0, limit is None], float)
            with self._lock:
                accounts = self._accounts(request)
                for scope, account in accounts:
                    if reason := self._over(scope, account, load):
                        return reason
                for _, account in accounts:
                    account.calls += 1
                    account.open += load
                pledges[index] = load
            return None

        def arrived(index: int, reply: Reply) -> None:
            # Without a pledge it was held back, or is the copy of a reply that was counted.
            if index in pledges:
                load = pledges.pop(index)
                with self._lock:
                    for _, account in self._accounts(requests[index]):
                        # A budget further in may have held it back after all.
                        account.calls += reply.calls - 1
                        account.open -= load
                        account.tokens += max(0, reply.prompt_tokens + reply.completion_tokens)
                        account.price += max(0.0, reply.price or 0.0)
                    if not reply.estimated:
                        self._ratio = max(self._ratio, reply.prompt_tokens / float(load[0]))
                    self._replies += reply.error is None
                    self._reply_tokens += reply.completion_tokens
            if on_reply:
                on_reply(index, reply)

        return self.inner.complete(requests, admit=may_send, on_reply=arrived)

    def _accounts(self, request: Request) -> list[tuple[str, _Account]]:
        accounts = [("run", self._run)]
        if self._caps["question"] != Caps():
            accounts.append(("question", self._questions[request.question]))
        return accounts

    def _likely(self, load: np.ndarray) -> tuple[float, float]:
        """Tokens and price that requests in flight may come to."""
        if self._replies:
            guess = self._reply_tokens / self._replies
        else:
            guess = _FIRST_REPLY if self._run.calls else 0
        prompt, known, unknown = load.tolist()
        prompt, reply = self._ratio * prompt, known + unknown * guess
        return prompt + reply, self.rates.price(prompt, reply) if self.rates else 0.0

    def _over(self, scope: str, account: _Account, load: np.ndarray) -> str | None:
        """Why an account cannot bear one more call of that size; None where it can."""
        caps = self._caps[scope]
        if caps.calls is not None and account.calls + 1 > caps.calls:
            return f"the budget of {caps.calls} calls per {scope} is used up"
        tokens, price = self._likely(account.open + load)
        if caps.tokens is not None and account.tokens + tokens > caps.tokens:
            return f"the budget of {caps.tokens} tokens per {scope} leaves no room for this call"
        if caps.price is not None and account.price + price > caps.price:
            return f"the budget of {caps.price:g} per {scope} leaves no room for this call"
        return None


def _prompt_tokens(request: Request) -> float:
    """Tokens of a prompt with its schema, rather too many than too few."""
    texts = [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(request.form or json.dumps(request.schema))
    length = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return length / _BYTES_PER_TOKEN + _TOKENS_PER_TURN * len(request.messages)
