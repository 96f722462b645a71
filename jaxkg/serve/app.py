"""The HTTP service: its routes, who may take them, and how long."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import itertools
import json
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.records import Question
from jaxkg.serve import page
from jaxkg.serve.describe import openapi
from jaxkg.serve.facts import Lookups
from jaxkg.serve.gather import Busy, Closing, Gatherer
from jaxkg.serve.guard import Guard, Names, Rate
from jaxkg.serve.meters import Meters
from jaxkg.serve.replies import Refused, answer_json, error_reply, json_line, json_reply, words_of
from jaxkg.serve.requests import (
    LONGEST_BATCH,
    LONGEST_BODY,
    claim_in,
    json_only,
    known_only,
    name_in,
    number_in,
    question_in,
    questions_in,
    read_body,
)

log = logging.getLogger("jaxkg.serve")

_OPEN = {"/healthz", "/readyz", *page.FILES}
"""Routes that need no token: they tell nothing of the graph."""
QUERY: dict[str, tuple[str, ...]] = {
    "/ask": (),
    "/ask/batch": (),
    "/check": (),
    "/entities": ("q", "limit"),
    "/entities/{id:path}": ("limit",),
    "/examples": (),
    "/paths": ("from", "to", "hops", "limit"),
    "/schema": ("limit",),
}
"""Parameters of the routes that tell of the graph; others are refused."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one caller, and all together, may ask for.

    Attributes:
        seconds: for one answer.
        queue: questions that may wait.
        batch: questions answered together, at most.
        per_second, burst: requests of one caller; 0 a second does not limit.
    """

    seconds: float = 60.0
    queue: int = 2048
    batch: int = 64
    per_second: float = 0.0
    burst: int = 100


def service(
    facts: Lookups,
    answer: Callable[[Sequence[Question]], list[Answer]],
    *,
    token: str | None = None,
    limits: Limits = Limits(),
    examples: Sequence[Question] = (),
    warm: bool = True,
    log_questions: bool = False,
    names: Names | None = None,
) -> ASGIApp:
    """The application, behind its guard.

    Args:
        facts: the graph.
        answer: answers many questions; called in one thread.
        token: that callers must show; None lets everyone in, see `guard.checked_token`.
        limits: of requests.
        examples: questions to try, with an answer each.
        warm: ask the examples before the service calls itself ready, so that programs are compiled
            and only those are shown that are answered rightly; without it all are shown.
        log_questions: write question texts to the log.
        names: it is asked under, and pages that may ask it; those of loopback without.
    """
    shown = () if warm else tuple(examples)
    inside = _Service(facts, answer, limits, log_questions, tuple(examples), shown, not warm)
    return Guard(
        inside.app(),
        names=names,
        token=token,
        rate=Rate(limits.per_second, limits.burst),
        public=_OPEN,
        count=inside.count,
    )


@dataclasses.dataclass
class _Service:
    facts: Lookups
    answer: Callable[[Sequence[Question]], list[Answer]]
    limits: Limits
    log_questions: bool
    tried: tuple[Question, ...]
    examples: tuple[Question, ...]  # of them, those that are shown
    chosen: bool  # whether they all are

    def __post_init__(self) -> None:
        self.meters = Meters()
        self.ready = False
        self.looked_through = gc.get_threshold()[0]
        self.gatherer: Gatherer  # from the start on
        # Of all batches together: half of the queue is for whoever asks one question.
        self.places = asyncio.Semaphore(max(1, self.limits.queue // 2))

    def app(self) -> Starlette:
        """Routes, and what happens at the start and at the end."""
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("/ask", "POST", self.ask),
            ("/ask/batch", "POST", self.ask_batch),
            ("/entities", "GET", self.entities),
            ("/entities/{id:path}", "GET", self.entity),
            ("/paths", "GET", self.paths),
            ("/check", "POST", self.check),
            ("/schema", "GET", self.schema),
            ("/examples", "GET", self.shown),
            ("/healthz", "GET", self.healthz),
            ("/readyz", "GET", self.readyz),
            ("/metrics", "GET", self.metrics),
            ("/openapi.json", "GET", self.openapi),
            *((path, "GET", page.served) for path in page.FILES),
        ]
        routes = [Route(path, _Kept(path, run), methods=[how]) for path, how, run in table]
        self.routes = {path for path, _, _ in table}
        strange = {404: self.no_route, 405: self.no_route}
        app = Starlette(routes=routes, lifespan=self.lifespan, exception_handlers=strange)
        app.router.redirect_slashes = False
        return app

    def count(self, scope: Scope, status: int) -> None:
        """Count a reply, by its route."""
        route = scope.get("route")
        self.meters.request(route.path if isinstance(route, Route) else "none", status)

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Warm up, serve, and finish what was taken."""
        self.gatherer = Gatherer(self.answer, most=self.limits.batch, queue=self.limits.queue)
        warming = asyncio.create_task(self._warm())
        try:
            yield
        finally:
            warming.cancel()
            gc.unfreeze()
            gc.set_threshold(self.looked_through)
            await self.gatherer.close()

    async def _warm(self) -> None:
        """Ask what compiles the programs: alone, and together in batches of every size."""
        asked = [Question(id=q.id, text=q.text) for q in self.tried if not self.examples]
        replies = [await self._tried_out([question]) for question in asked]
        right = [
            any(entity.entity in (q.answers or ()) for answer in some for entity in answer.entities)
            for q, some in zip(self.tried, replies)
        ]
        self.examples += tuple(itertools.compress(self.tried, right))
        self.chosen = True
        again = [q for q, f in zip(asked, replies) if f]
        size = 1
        while again and size <= self.limits.batch:
            await self._tried_out((again * size)[:size])
            size *= 2
        # The graph and the programs stay; looking through them for garbage would stop all answers
        # for a tenth of a second every now and then. Answers refer to nothing that refers to them:
        # to look for garbage among a batch of them finds none.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_LOOKED_THROUGH)
        self.ready = True

    async def _tried_out(self, questions: Sequence[Question]) -> list[Answer]:
        """Answers that take no place in the queue; none where they fail, which the log tells."""
        try:
            return await self.gatherer.together(questions)
        except Exception as error:  # noqa: BLE001 - the service gets ready, whatever fails
            log.warning("warming up: %s", error)
            return []

    async def ask(self, request: Request) -> Response:
        """One question."""
        question = question_in(await self._body(request, LONGEST_BODY))
        reply = await self._answered(question, request)
        return Response(answer_json(reply), media_type="application/json")

    async def ask_batch(self, request: Request) -> Response:
        """Many questions, answered as JSON lines in their order."""
        body = await self._body(request, LONGEST_BATCH, "application/x-ndjson")
        questions = deque(questions_in(body))

        async def lines() -> AsyncIterator[bytes]:
            waiting: deque[tuple[Question, asyncio.Task[Answer]]] = deque()
            try:
                while questions or waiting:
                    # What is answered makes room: one batch at work, and the next one.
                    while questions and len(waiting) < 2 * self.limits.batch:
                        question = questions.popleft()
                        task = asyncio.create_task(self._patiently(question, waiting))
                        waiting.append((question, task))
                    question, task = waiting.popleft()
                    try:
                        yield answer_json(await task) + b"\n"
                    except Exception as error:  # noqa: BLE001 - one line of many
                        yield json_line({"question_id": question.id, "error": words_of(error)[1]})
            finally:
                for _, task in waiting:
                    task.cancel()

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def entities(self, request: Request) -> Response:
        """Entities by name."""
        wanted = name_in(request.query_params.get("q", ""))
        limit = number_in(request, "limit", 20, 1, 200)
        return json_reply(await asyncio.to_thread(self.facts.entities, wanted, limit=limit))

    async def entity(self, request: Request) -> Response:
        """One entity and its facts."""
        limit = number_in(request, "limit", 20, 1, 1000)
        wanted = name_in(request.path_params["id"])
        return json_reply(await asyncio.to_thread(self.facts.entity, wanted, limit=limit))

    async def paths(self, request: Request) -> Response:
        """Walks between two entities."""
        given = request.query_params
        if "from" not in given or "to" not in given:
            raise JaxkgError("name both ends: /paths?from=Alien&to=Gladiator")
        start, end = name_in(given["from"]), name_in(given["to"])
        hops, limit = number_in(request, "hops", 3, 1, 4), number_in(request, "limit", 10, 1, 100)
        return json_reply(
            await asyncio.to_thread(self.facts.paths, start, end, hops=hops, limit=limit)
        )

    async def check(self, request: Request) -> Response:
        """Whether a claim stands in the graph."""
        claim = claim_in(await self._body(request, LONGEST_BODY))
        return json_reply(await asyncio.to_thread(self.facts.check, *claim))

    async def schema(self, request: Request) -> Response:
        """Relations."""
        limit = number_in(request, "limit", 200, 1, 5000)
        return json_reply(await asyncio.to_thread(self.facts.schema, limit=limit))

    async def shown(self, request: Request) -> Response:
        """Questions to try; while they are tried themselves, `complete` is false."""
        questions = [question.text for question in self.examples]
        return json_reply({"questions": questions, "complete": self.chosen})

    async def healthz(self, request: Request) -> Response:
        """The process is alive."""
        return PlainTextResponse("ok\n")

    async def readyz(self, request: Request) -> Response:
        """Programs are compiled; answers come at once."""
        return (
            PlainTextResponse("ready\n") if self.ready else PlainTextResponse("warming up\n", 503)
        )

    async def metrics(self, request: Request) -> Response:
        """Counts for Prometheus."""
        return PlainTextResponse(self.meters.text(self.gatherer.load, len(self.gatherer)))

    async def openapi(self, request: Request) -> Response:
        """The description of all this."""
        return json_reply(openapi())

    async def no_route(self, request: Request, error: Exception) -> Response:
        """A path that is none, or one that is asked otherwise."""
        assert isinstance(error, HTTPException)
        path = request.url.path
        if error.status_code == 404 and (wanted := path.rstrip("/")) in self.routes:
            query = f"?{request.url.query}" if request.url.query else ""
            return Response(status_code=307, headers={"Location": f"{wanted}{query}"})
        hows = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        about = f"it takes {hows}" if hows else "/openapi.json lists all addresses"
        response = error_reply(Refused(error.status_code, f"{request.method} {path}: {about}"))
        if hows:
            response.headers["Allow"] = hows
        return response

    async def _body(self, request: Request, most: int, *kinds: str) -> bytes:
        """The body, of JSON or of another kind that no page can send unasked."""
        json_only(request, "application/json", *kinds)
        return await read_body(request, most)

    async def _answered(
        self, question: Question, request: Request | None = None, batch: int | None = None
    ) -> Answer:
        """The answer, unless it takes too long, or its caller is known and leaves before."""
        begun = time.perf_counter()
        if self.log_questions:
            log.info("question %s", json.dumps(question.text))
        answer = self.gatherer.ask(question, batch)
        soon = min(_SOON, self.limits.seconds)
        try:
            there, _ = await asyncio.wait((answer,), timeout=soon)
            if not there:
                await self._late(answer, request, self.limits.seconds - soon)
            reply = answer.result()
        finally:
            answer.cancel()
        self.meters.answer(time.perf_counter() - begun, withheld=reply.abstained is not None)
        return reply

    async def _late(
        self, answer: asyncio.Future[Answer], request: Request | None, seconds: float
    ) -> None:
        """Wait on for an answer, with an eye on its caller."""
        gone = None if request is None else asyncio.create_task(_disconnected(request))
        first, awaited = asyncio.FIRST_COMPLETED, [answer, gone] if gone else [answer]
        try:
            there, _ = await asyncio.wait(awaited, timeout=seconds, return_when=first)
        finally:
            if gone:
                gone.cancel()
        if not there:
            raise TimeoutError
        if answer not in there:
            raise ClientDisconnect

    async def _patiently(self, question: Question, batch: object) -> Answer:
        """A question of a batch: waits for room in the queue instead of giving up."""
        async with self.places:
            ends = time.monotonic() + self.limits.seconds
            while True:
                try:
                    return await self._answered(question, batch=id(batch))
                except Busy as busy:
                    if time.monotonic() + 0.05 > ends:
                        raise busy from None
                    await asyncio.sleep(0.05)


_LOOKED_THROUGH = 50_000
"""Records made between two looks for garbage."""
_SOON = 0.25
"""Seconds in which most answers are there; only then it is looked whether the caller still is."""


class _Kept:
    """A route whose errors are told in one line.

    An ASGI application: what else stands around a route catches errors that do not get so far.
    """

    def __init__(self, path: str, run: Callable[[Request], Awaitable[Response]]):
        self.path, self.run = path, run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            if self.path in QUERY and scope["query_string"]:
                known_only(request.query_params, QUERY[self.path], "parameter here")
            response = await self.run(request)
        except asyncio.CancelledError:  # the server gives up what takes too long to finish
            response = error_reply(Closing("the service is stopping"))
        except Exception as error:
            response = error_reply(error)
            if response.status_code == 500:
                log.exception("%s failed", self.path)
        await response(scope, receive, send)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
