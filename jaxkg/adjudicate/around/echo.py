"""Shows what is sent to a model and what comes back, as it happens."""

from __future__ import annotations

from collections.abc import Callable

from jaxkg.adjudicate.backend import Backend, Wrapper
from jaxkg.adjudicate.endpoint.dialect import wire_messages
from jaxkg.adjudicate.requests import Reply, Request


class Echo(Wrapper):
    """Writes every request and its reply as text; keys are never part of either."""

    def __init__(self, inner: Backend, write: Callable[[str], object] = print) -> None:
        """Wrap a backend; `write` takes one exchange at a time and may be called on any thread."""
        super().__init__(inner)
        self._write = write

    def note(self, request: Request, reply: Reply) -> None:
        """Write the exchange."""
        self._write(transcript(request, reply))


def transcript(request: Request, reply: Reply) -> str:
    """One exchange for people: the turns as they were sent, then the reply or the failure.

    Example:
        >>> from jaxkg.adjudicate.requests import Message
        >>> request = Request((Message("user", "Who?"),), question="q1", stage="adjudicate")
        >>> print(transcript(request, Reply("Ann", prompt_tokens=2, completion_tokens=1)))
        --- adjudicate, question q1 ---
        [user]
        Who?
        [reply: 2 + 1 tokens, 0.00 s]
        Ann
    """
    where = request.stage or "request"
    if request.question:
        where += f", question {request.question}"
    lines = [f"--- {where} ---"]
    for message in wire_messages(request, structured=reply.structured):
        lines += [f"[{message.role}]", message.content]
    if reply.structured:
        lines.append(f"[with the schema {request.schema_name} as structured output]")
    if reply.error:
        lines.append(f"[failed: {reply.error}] {reply.detail}")
        return "\n".join(lines)
    source = "from the cache, " if reply.cached else ""
    tokens = f"{reply.prompt_tokens} + {reply.completion_tokens} tokens"
    lines += [f"[reply: {source}{tokens}, {reply.seconds:.2f} s]", reply.text]
    return "\n".join(lines)
