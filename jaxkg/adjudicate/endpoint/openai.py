"""The OpenAI protocol: hosted services, vLLM, Ollama, llama.cpp and whatever else speaks it."""

from __future__ import annotations

import dataclasses
import functools
import os
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jaxkg.adjudicate.backend import Closing, Manner
from jaxkg.adjudicate.endpoint.capacity import Capacity, Width, is_local, read_capacity
from jaxkg.adjudicate.endpoint.completion import read_completion
from jaxkg.adjudicate.endpoint.dialect import Dialect
from jaxkg.adjudicate.endpoint.prices import PriceTable, Rates
from jaxkg.adjudicate.endpoint.workers import run_all
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request
from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import read_json
from jaxkg.wire.deadline import LARGEST_REPLY, Deadline, Overdue, TooLarge
from jaxkg.wire.redact import Secrets, checked_base_url, checked_key, secret_segments
from jaxkg.wire.retry import Backoff, Fault, from_status
from jaxkg.words import one_line

if TYPE_CHECKING:
    import openai

HOSTED = "https://api.openai.com/v1"
_STAND_IN_KEY = "unused"
_REDIRECTS = 3
_LONGEST_COMPLAINT = 500  # characters of what an endpoint says is wrong
_SMALLEST_CONTEXT = 512
_WIDEST = 16
_ASIDE = 5.0  # seconds for what an endpoint says of itself
_LOADING = 60.0  # seconds that a server may take to load its model
_LOOK_AGAIN = 2.0
_HOPELESS = ("LocalProtocolError", "TooManyRedirects", "UnsupportedProtocol", "InvalidURL")


class OpenAIBackend(Closing):
    """Sends requests to an endpoint, several at a time, and never lets one failure end the batch.

    Attributes:
        model: name of the model at the endpoint.
        base_url: address of the endpoint; what looks like a key in its path is hidden.
        rates: price of the model; None where the price table does not know it.
        dialect: what the endpoint has been found to accept.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        concurrency: int | None = None,
        timeout: float = 120.0,
        context: int | None = None,
        backoff: Backoff | None = None,
        prices: PriceTable | None = None,
        manner: Manner | None = None,
    ) -> None:
        """Nothing is sent before the first request.

        Args:
            model: else the environment variable JAXKG_LLM_MODEL.
            base_url: else OPENAI_BASE_URL, else the hosted service.
            api_key: else OPENAI_API_KEY; may be absent where a base URL is given.
            headers: further HTTP headers, e.g. of a gateway; their values are treated as secrets.
            concurrency: requests in flight at most; None takes the slots that a server on this
                machine says it has, one where it does not say, and 16 elsewhere. A refusal for too
                many requests and a silence halve it for a while.
            timeout: seconds of silence, a tenth of those of a whole reply. An endpoint that does
                not stream is silent until its reply is whole.
            context: tokens of prompt and reply together; None takes what the endpoint says.
            backoff: number of retries and waits between them; a silence is tried once more at
                most.
            prices: price table; the default is `PriceTable.load()`.
            manner: how every request is asked; None takes the defaults.

        Raises:
            JaxkgError: no model, no key for the hosted service, a key or header with characters
                that HTTP does not take, or a number out of range. No message repeats a key.
        """
        self.model = model or os.environ.get("JAXKG_LLM_MODEL", "")
        given_url = base_url or os.environ.get("OPENAI_BASE_URL", "")
        key = checked_key(
            api_key or os.environ.get("OPENAI_API_KEY", ""), "the key (OPENAI_API_KEY or api_key)"
        )
        headers = {
            checked_key(name, "a header's name"): checked_key(value, f"the header {name.strip()!r}")
            for name, value in (headers or {}).items()
        }
        if not self.model:
            raise JaxkgError(
                "no language model is named: pass model=... (--llm MODEL) or set JAXKG_LLM_MODEL"
            )
        if not key and not given_url:
            raise JaxkgError(
                "no key for the hosted service: set OPENAI_API_KEY, or name your own server with "
                "base_url=... (OPENAI_BASE_URL), e.g. http://localhost:11434/v1"
            )
        if (concurrency is not None and concurrency < 1) or not timeout > 0:
            raise JaxkgError(
                f"concurrency must be >= 1 and timeout > 0 seconds, not {concurrency} and {timeout}"
            )
        if context is not None and context < _SMALLEST_CONTEXT:
            raise JaxkgError(f"context is at least {_SMALLEST_CONTEXT} tokens, not {context}")
        address = checked_base_url(given_url or HOSTED)
        self._secrets = Secrets([key, *headers.values(), *secret_segments(address)])
        self.base_url = self._secrets.hide(address)
        self.rates: Rates | None = (prices or PriceTable.load()).of(self.model)
        self.dialect = Dialect()
        self.manner = manner or Manner()
        self._address = address
        self._timeout = timeout
        self._given_context = context
        self._given_concurrency = concurrency
        self._backoff = backoff or Backoff()
        self._deadline = Deadline(timeout)
        import openai  # half a second: only for those who talk to a model

        http = openai.DefaultHttpxClient(max_redirects=_REDIRECTS)
        self._deadline.watch(http)
        self._client = openai.OpenAI(
            base_url=address,
            api_key=key or _STAND_IN_KEY,
            # A packed reply cannot be bounded before it is unpacked.
            default_headers={"Accept-Encoding": "identity", **headers},
            timeout=timeout,
            max_retries=0,
            http_client=http,
        )
        self._finalizer = weakref.finalize(self, self._client.close)
        self._first = threading.Lock()
        self._scouted = threading.Event()

    @functools.cached_property
    def capacity(self) -> Capacity:
        """What the endpoint bears, as it says itself; asked once, when first wanted."""
        self._check_open()
        if self._address.startswith(HOSTED):
            return Capacity(None, None, "the server does not say")
        return read_capacity(self._address, self.model, self._json_at)

    @property
    def context(self) -> int | None:
        """Tokens of prompt and reply together; None where nobody knows.

        What the user says counts most, then a `num_ctx` in the body, then the endpoint's word.
        """
        extra = self.manner.extra
        options = extra.get("options")
        for fields in (extra, options if isinstance(options, Mapping) else {}):
            if self._given_context is None and isinstance(fields.get("num_ctx"), int):
                return fields["num_ctx"]
        return self._given_context or self.capacity.context

    @property
    def at_once(self) -> int:
        """Requests that are under way together, at most."""
        return self.width.most

    @functools.cached_property
    def width(self) -> Width:
        """How many requests are under way."""
        if self._given_concurrency is not None:
            return Width(self._given_concurrency)
        here = is_local(self._address)
        return Width(min(_WIDEST, self.capacity.slots or 1) if here else _WIDEST)

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order; failures are replies too.

        Raises:
            JaxkgError: the backend is closed.
        """
        self._check_open()
        stop = threading.Event()
        replies = [Reply()] * len(requests)
        telling = threading.Lock()

        def work(place: int) -> None:
            with self.width:
                reason = admit(place) if admit else None
                reply = Reply.held_back(reason) if reason else self._ask(requests[place], stop)
            replies[place] = reply
            if on_reply:
                with telling:
                    on_reply(place, reply)

        run_all(len(requests), work, threads=self.width.most, stop=stop)
        return replies

    def models(self) -> tuple[str, ...] | None:
        """Names of the models the endpoint lists; None where it does not say."""
        self._check_open()
        try:
            listed = self._json_at("/models")["data"]
            return tuple(one_line(self._secrets.hide(str(entry["id"]))) for entry in listed)
        except (KeyError, TypeError):
            return None

    def _json_at(self, address: str) -> Any:
        """JSON at an address of the endpoint; None where there is none."""
        import openai

        self._deadline.start(min(self._timeout, _ASIDE))
        try:
            return read_json(self._client.get(address, cast_to=str), strict=False)
        except (openai.OpenAIError, Overdue, TooLarge, ValueError):
            return None

    def close(self) -> None:
        """Close the connections."""
        self._finalizer()

    def __repr__(self) -> str:
        return f"OpenAIBackend(model={self.model!r}, base_url={self.base_url!r})"

    def _check_open(self) -> None:
        if not self._finalizer.alive:
            raise JaxkgError(f"{self!r} is closed; make a new one")

    def _ask(self, request: Request, stop: threading.Event) -> Reply:
        """One request; the first with a schema goes alone, to learn whether schemas are taken."""
        if request.schema is not None and not self._scouted.is_set():
            if self._first.acquire(blocking=False):
                try:
                    return self._attempts(request, stop)
                finally:
                    self._scouted.set()
            self._scouted.wait()
        return self._attempts(request, stop)

    def _attempts(self, request: Request, stop: threading.Event) -> Reply:
        started = time.perf_counter()
        attempt = failed = silent = 0
        while True:
            attempt += 1
            body = self.dialect.body(request, self.model)
            result = self._attempt(body)
            if isinstance(result, str):
                self.width.replied()
                reply = read_completion(
                    self._secrets.hide(result),  # before a part of it is shown
                    body,
                    seconds=time.perf_counter() - started,
                    attempts=attempt,
                    rates=self.rates,
                )
                return dataclasses.replace(
                    reply,
                    text=self._secrets.hide(reply.text),
                    detail=self._secrets.hide(reply.detail),
                )
            if result.kind == "bad_request" and self.dialect.learn(body, result.detail):
                continue
            waited = time.perf_counter() - started
            loads = result.detail.startswith("503") and "loading" in result.detail.casefold()
            # A server that loads its model is ready soon; it has not failed.
            if loads and waited < _LOADING and not stop.wait(_LOOK_AGAIN):
                continue
            failed += 1
            if result.kind in ("rate_limit", "timeout"):
                self.width.narrow()
            silent += result.kind == "timeout"
            wait = None if silent > 1 else self._backoff.wait(failed, result)
            if wait is None or stop.wait(wait):
                return Reply(
                    error=result.kind,
                    detail=result.detail,
                    seconds=time.perf_counter() - started,
                    attempts=attempt,
                )

    def _attempt(self, body: dict[str, Any]) -> str | Fault:
        """The body of the endpoint's answer, or what went wrong."""
        import openai

        self._deadline.start()
        try:
            # The generic call: the typed one spends a third of its time re-checking the request
            # against every variant of every field.
            text = self._client.post("/chat/completions", body=body, cast_to=str)
        except openai.APIStatusError as error:
            return from_status(
                error.status_code,
                self._told(_complaint(error)),
                code=error.code,
                headers=error.response.headers,
            )
        except (Overdue, TooLarge, openai.APIConnectionError) as error:
            late = isinstance(error, openai.APITimeoutError)
            return self._unconnected(Overdue() if late else error.__cause__ or error)
        except openai.OpenAIError as error:
            return Fault("protocol", self._told(str(error)))
        except UnicodeEncodeError:
            return Fault("bad_request", "a message holds a lone surrogate, which is no text")
        self.dialect.accepted(body)
        return text

    def _unconnected(self, cause: BaseException) -> Fault:
        """What kept a request from its reply."""
        if isinstance(cause, Overdue):
            return Fault("timeout", f"silent for {self._timeout:g} s", again=True)
        if isinstance(cause, TooLarge):
            larger = f"the reply is larger than the {LARGEST_REPLY:,} bytes that are read"
            return Fault("protocol", str(cause) or larger)
        kind = type(cause).__name__
        detail = f"{self.base_url}: {self._told(str(cause) or kind)}"
        if kind in _HOPELESS:
            return Fault("protocol", detail)
        return Fault("connection", detail, again=True)

    def _told(self, words: str) -> str:
        """What somebody else wrote, fit to be shown: on one line, no key in it, not too long."""
        return one_line(self._secrets.hide(words))[:_LONGEST_COMPLAINT]


def _complaint(error: openai.APIStatusError) -> str:
    """What the endpoint says is wrong: the message in the body, wherever the server puts it."""
    body = error.body
    if isinstance(body, Mapping):
        for key in ("message", "detail", "error"):
            if body.get(key):
                return str(body[key])
    return str(body or error.message)
