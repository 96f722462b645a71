"""`jaxkg serve` and `jaxkg mcp`."""

from __future__ import annotations

import dataclasses
import logging
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jaxkg.cli import options
from jaxkg.cli.asking import Session, session
from jaxkg.cli.blocks import CallerOptions, ModelOptions, StoreGraphOptions, SystemOptions, spread
from jaxkg.errors import JaxkgError
from jaxkg.experiments.programs import programs_counted
from jaxkg.experiments.progress import errors, progress_bars

if TYPE_CHECKING:
    from jaxkg.kg.stores.around import TopicGraph
    from jaxkg.records import Question
    from jaxkg.serve.facts import Lookups

_EXTRA = "pip install 'jaxkg[serve]', or from a check-out: pip install '.[serve]'"


@dataclasses.dataclass(frozen=True)
class _LoadOptions:
    """How much may be asked at a time."""

    rate: Annotated[
        float,
        typer.Option(min=0, help="Requests per second that one caller may send; 0 means no limit."),
    ] = 0
    queue: Annotated[int, typer.Option(min=1, help="Number of questions that may wait.")] = 2048
    batch: Annotated[
        int, typer.Option(min=1, help="Largest number of questions that are answered together.")
    ] = 64


@spread
def serve(
    graph: StoreGraphOptions,
    parts: SystemOptions,
    wanted: ModelOptions,
    callers: CallerOptions,
    load: _LoadOptions,
    host: Annotated[
        str,
        typer.Option(help="Address to bind. An address other than loopback requires JAXKG_TOKEN."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to bind.")] = 8137,
    log_questions: Annotated[
        bool, typer.Option(help="Write questions to the log on standard error.")
    ] = False,
) -> None:
    """Answer over HTTP, with a web page at /. Ctrl-C finishes running questions and stops.

    Questions that take more than half a minute to finish are abandoned.

    Example: jaxkg serve --kg mygraph, then open http://127.0.0.1:8137
    """
    try:
        from jaxkg.serve.app import Limits, service
        from jaxkg.serve.protocol import run
    except ImportError as error:
        raise JaxkgError(f"serve requires {error.name}: {_EXTRA}") from error
    from jaxkg.kg import demo_questions
    from jaxkg.serve.guard import checked_token
    from jaxkg.serve.memory import giving_back

    token = checked_token(host, os.environ.get("JAXKG_TOKEN"))
    names = callers.names(host)
    _check_free(host, port)
    with ExitStack() as stack:
        with progress_bars() as show:
            asked = stack.enter_context(session(parts, wanted, show, graph))
        programs = stack.enter_context(programs_counted())
        app = service(
            _lookups(asked),
            giving_back(asked.system.answer, lambda: programs.total),
            token=token,
            limits=Limits(per_second=load.rate, queue=load.queue, batch=load.batch),
            examples=demo_questions()[2::5] if graph.kg is None else _examples(asked),
            # A model is paid by the question: nothing is asked of it that nobody wants to know.
            warm=wanted.llm is None,
            log_questions=log_questions,
            names=names,
        )
        errors.print(f"jaxkg: http://{host}:{port}")
        _log()
        run(app, host=host, port=port)


@spread
def mcp(
    graph: StoreGraphOptions,
    parts: SystemOptions,
    wanted: ModelOptions,
    callers: CallerOptions,
    transport: Annotated[
        Literal["stdio", "http"],
        typer.Option(help="Transport: standard input and output, or streamable HTTP on loopback."),
    ] = "stdio",
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port; requires --transport http.")
    ] = 8138,
    seconds: options.Seconds = 60.0,
) -> None:
    """Offer the graph to an assistant as tools (Model Context Protocol).

    With --llm, the tool `ask` uses that model as `jaxkg ask` does (default: no model). Over HTTP,
    callers must send the token in JAXKG_TOKEN if it is set.

    Example for an assistant's settings: command "jaxkg", arguments ["mcp", "--kg", "mygraph"]
    """
    try:
        from jaxkg.serve.mcp import over_http, server
        from jaxkg.serve.protocol import end_within, run
    except ImportError as error:
        raise JaxkgError(f"mcp requires {error.name}: {_EXTRA}") from error
    from jaxkg.serve.guard import checked_token

    host, token = "127.0.0.1", None
    names = callers.names()
    if transport == "http":
        token = checked_token(host, os.environ.get("JAXKG_TOKEN"))
        _check_free(host, port)

    with ExitStack() as stack:
        with progress_bars() as show:
            asked = stack.enter_context(session(parts, wanted, show, graph, seconds=seconds))
        tools = server(_lookups(asked), asked.answers, seconds=seconds)
        _log()
        if transport == "stdio":
            tools.run("stdio")
            end_within(5.0)
        else:
            run(over_http(tools, names, token), host=host, port=port)


def _log() -> None:
    """Write the service's log to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("jaxkg.serve")
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def _check_free(host: str, port: int) -> None:
    """Refuse an address that cannot be served at, before the graph is read.

    Raises:
        JaxkgError: the port is taken, or the address is none of this machine's.
    """
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with socket.socket(family, kind, protocol) as port_socket:
            # As the server binds: what just closed there is no hindrance.
            port_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            port_socket.bind(address)
    except (OSError, UnicodeError) as error:  # the latter of what is no name of a host
        why = getattr(error, "strerror", None) or error
        raise JaxkgError(f"nothing can be served at {host}:{port}: {why}") from error


def _lookups(asked: Session) -> Lookups:
    """What is looked up beside questions: in the graph, or in the store that is asked."""
    from jaxkg.serve.facts import Facts
    from jaxkg.serve.stored import lookups
    from jaxkg.text import HashingEncoder

    parts = asked.parts

    def facts() -> Facts:
        like = HashingEncoder().fitted(parts.kg.relation_labels)
        return Facts.of(parts.kg, parts.linker, like)

    return lookups(parts.store, _whole(asked), facts)


def _whole(asked: Session) -> TopicGraph | None:
    """The graph of a store that is fetched whole."""
    from jaxkg.systems.stored import StoredQA

    part = asked.system.parts.whole if isinstance(asked.system, StoredQA) else None
    return None if part is None else part.graph


def _examples(asked: Session) -> Sequence[Question]:
    """Questions to try; none about a graph that is seen in parts."""
    from jaxkg.serve.examples import examples

    kg = asked.parts.kg if asked.parts.store is None else _whole(asked)
    return () if kg is None else examples(kg)
