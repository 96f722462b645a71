"""A backend that answers from a script: for tests, demos and models that run in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from jaxkg.adjudicate.backend import Closing
from jaxkg.adjudicate.endpoint.completion import estimated_tokens
from jaxkg.adjudicate.endpoint.prices import Rates
from jaxkg.adjudicate.requests import Admit, OnReply, Reply, Request
from jaxkg.errors import JaxkgError


class Scripted(Closing):
    """Answers with given replies in order, or with what a function says.

    Attributes:
        requests: every request it was given and answered, in order.

    Example:
        >>> from jaxkg.adjudicate.requests import Message
        >>> echo = Scripted(lambda request: request.messages[-1].content.upper())
        >>> [reply.text for reply in echo.complete([Request((Message("user", "hi"),))])]
        ['HI']
    """

    def __init__(
        self,
        script: Callable[[Request], str | Reply] | Iterable[str | Reply],
        *,
        model: str = "scripted",
        rates: Rates | None = None,
    ) -> None:
        """Take a script; a plain string is a reply whose tokens are estimated from its length."""
        self.model = model
        self.rates = rates
        self.requests: list[Request] = []
        self._answer = script if callable(script) else _in_order(script)

    def complete(
        self, requests: Sequence[Request], *, admit: Admit = None, on_reply: OnReply = None
    ) -> list[Reply]:
        """One reply per request, in order.

        Raises:
            JaxkgError: the script has ended.
        """
        replies: list[Reply] = []
        for index, request in enumerate(requests):
            if reason := admit(index) if admit else None:
                reply = Reply.held_back(reason)
            else:
                self.requests.append(request)
                answer = self._answer(request)
                reply = answer if isinstance(answer, Reply) else self._told(request, answer)
            replies.append(reply)
            if on_reply:
                on_reply(index, reply)
        return replies

    def _told(self, request: Request, text: str) -> Reply:
        prompt = estimated_tokens(sum(len(message.content) for message in request.messages))
        completion = estimated_tokens(len(text))
        return Reply(
            text=text,
            prompt_tokens=prompt,
            completion_tokens=completion,
            price=self.rates.price(prompt, completion) if self.rates else 0.0,
            estimated=True,
        )


def _in_order(script: Iterable[str | Reply]) -> Callable[[Request], str | Reply]:
    lines = iter(script)

    def answer(request: Request) -> str | Reply:
        try:
            return next(lines)
        except StopIteration:
            raise JaxkgError(
                f"the script has ended; stage {request.stage!r}, question {request.question!r} "
                "asks for one more reply"
            ) from None

    return answer
