"""The one interface to a language model: a batch of requests in, a batch of counted replies out.

A backend never raises for what an endpoint does wrong: a refused key, a timeout or a body that is
not a completion comes back as a `Reply` whose `error` names it, in the request's place, so a batch
of 50 always yields 50 replies. It raises `JaxkgError` for what the caller did wrong.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol, Self

from jaxkg.adjudicate.endpoint.prices import Rates
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request


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

    def complete(
        self,
        requests: Sequence[Request],
        *,
        admit: Admit | None = None,
        on_reply: OnReply | None = None,
    ) -> list[Reply]:
        """One reply per request, in order. Works inside a running event loop."""
        ...

    async def acomplete(
        self,
        requests: Sequence[Request],
        *,
        admit: Admit | None = None,
        on_reply: OnReply | None = None,
    ) -> list[Reply]:
        """As `complete`, without blocking the event loop that awaits it."""
        ...

    def close(self) -> None:
        """Let go of files, sockets and threads. May be called twice."""
        ...


class Closing:
    """A `with` block that closes at its end."""

    def close(self) -> None:
        """Nothing to let go of."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclasses.dataclass(frozen=True)
class Pass:
    """What a wrapper hands to the backend it wraps, and how it reads the replies."""

    requests: Sequence[Request]
    admit: Admit | None
    on_reply: OnReply | None
    finish: Callable[[list[Reply]], list[Reply]] = lambda replies: replies


class Wrapper(Closing, abc.ABC):
    """A backend around another: states once what both `complete` and `acomplete` do."""

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

    @abc.abstractmethod
    def _begin(
        self, requests: Sequence[Request], admit: Admit | None, on_reply: OnReply | None
    ) -> Pass: ...

    def complete(
        self,
        requests: Sequence[Request],
        *,
        admit: Admit | None = None,
        on_reply: OnReply | None = None,
    ) -> list[Reply]:
        """One reply per request, in order."""
        step = self._begin(requests, admit, on_reply)
        replies = self.inner.complete(step.requests, admit=step.admit, on_reply=step.on_reply)
        return step.finish(replies)

    async def acomplete(
        self,
        requests: Sequence[Request],
        *,
        admit: Admit | None = None,
        on_reply: OnReply | None = None,
    ) -> list[Reply]:
        """As `complete`, awaited."""
        step = self._begin(requests, admit, on_reply)
        replies = await self.inner.acomplete(
            step.requests, admit=step.admit, on_reply=step.on_reply
        )
        return step.finish(replies)

    def close(self) -> None:
        """Close the wrapped backend."""
        self.inner.close()
