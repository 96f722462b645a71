"""The one interface to a language model: a batch of requests in, a batch of counted replies out.

A backend never raises for what an endpoint does wrong: a refused key, a timeout or a body that is
not a completion comes back as a `Reply` whose `error` names it, in the request's place, so a batch
of 50 always yields 50 replies. It raises `JaxkgError` for what the caller did wrong.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from jaxkg.adjudicate.endpoint.prices import Rates
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request
from jaxkg.errors import JaxkgError

PROMPT_TOKENS = 1200
"""Tokens, as estimated, of what a prompt shows of a graph's paths."""


@dataclasses.dataclass(frozen=True)
class Manner:
    """What holds for every request of a run.

    Attributes:
        why: ask for reasons too; without, a model writes answers alone, which is faster.
        prompt_tokens: tokens of the paths that a prompt shows, as estimated; what is left out is
            told.
        max_tokens: longest reply in tokens, in place of each stage's own.
        seed: sampling seed of requests that have none of their own.
        extra: further fields of every request's body, e.g. `{"enable_thinking": False}`.

    Raises:
        JaxkgError: a number is below 1.
    """

    why: bool = False
    prompt_tokens: int = PROMPT_TOKENS
    max_tokens: int | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("prompt_tokens", "max_tokens"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise JaxkgError(f"{name} is at least 1, not {number}")


class Backend(Protocol):
    """Anything that answers requests."""

    @property
    def model(self) -> str:
        """Name of the model, part of every cache key."""
        ...

    @property
    def rates(self) -> Rates | None:
        """The model's price; None where it is not known."""
        ...

    @property
    def manner(self) -> Manner:
        """How it is to be asked."""
        ...

    @property
    def context(self) -> int | None:
        """Tokens of prompt and reply together; None where nobody knows."""
        ...

    @property
    def at_once(self) -> int:
        """Requests that it works on side by side; more of them only wait."""
        ...

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order.

        Works inside a running event loop; `asyncio.to_thread(backend.complete, requests)` leaves
        the loop free meanwhile.
        """
        ...

    def close(self) -> None:
        """Let go of files, sockets and threads. May be called twice."""
        ...


class _Block:
    """A `with` block that closes at its end."""

    def close(self) -> None:
        """Nothing to let go of."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Closing(_Block):
    """A backend that is closed at the end of a block; asked in the usual manner unless told."""

    manner: Manner = Manner()
    _context: int | None = None

    @property
    def context(self) -> int | None:
        """Tokens of prompt and reply together; None where nobody knows."""
        return self._context

    @property
    def at_once(self) -> int:
        """Requests that it works on side by side."""
        return 1


def innermost(backend: Backend) -> Backend:
    """The backend that answers, without what counts, keeps or limits its calls."""
    while isinstance(backend, Wrapper):
        backend = backend.inner
    return backend


class Wrapper(_Block):
    """A backend around another: `note` sees replies, `complete` may change what is asked."""

    def __init__(self, inner: Backend) -> None:
        self.inner = inner

    @property
    def model(self) -> str:
        """The wrapped backend's model."""
        return self.inner.model

    @property
    def rates(self) -> Rates | None:
        """The wrapped backend's price."""
        return self.inner.rates

    @property
    def manner(self) -> Manner:
        """How the wrapped backend is to be asked."""
        return self.inner.manner

    @property
    def context(self) -> int | None:
        """The wrapped backend's context."""
        return self.inner.context

    @property
    def at_once(self) -> int:
        """Requests that the wrapped backend works on side by side."""
        return self.inner.at_once

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order, each noted as it comes."""

        def arrived(index: int, reply: Reply) -> None:
            self.note(requests[index], reply)
            if on_reply:
                on_reply(index, reply)

        return self.inner.complete(requests, admit=admit, on_reply=arrived)

    def note(self, request: Request, reply: Reply) -> None:
        """Take note of a reply; may be called on any thread."""

    def close(self) -> None:
        """Close the wrapped backend."""
        self.inner.close()
