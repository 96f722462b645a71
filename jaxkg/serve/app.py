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
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.records import Question
from jaxkg.serve import page
from jaxkg.serve.describe import openapi
from jaxkg.serve.facts import Lookups
from jaxkg.serve.gather import Busy, Gatherer
from jaxkg.serve.guard import Rate, allowed
from jaxkg.serve.meters import Meters
from jaxkg.serve.replies import Refused, answer_json, error_reply, json_line, json_reply, words_of
from jaxkg.serve.requests import (
    LONGEST_BATCH,
    LONGEST_BODY,
    claim_in,
    known_only,
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
        body_seconds: for a caller to send its request.
        queue: questions that may wait.
        batch: questions answered together, at most.
        per_second, burst: requests of one caller; 0 a second does not limit.
    """

    seconds: float = 60.0
    body_seconds: float = 10.0
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
) -> Starlette:
    """The application.

    Args:
        facts: the graph.
        answer: answers many questions; called in one thread.
        token: that callers must show; None lets everyone in, see `guard.checked_token`.
        limits: of requests.
        examples: questions to try, with an answer each.
        warm: ask the examples before the service calls itself ready, so that programs are compiled
            and only those are shown that are answered rightly; without it all are shown.
        log_questions: write question texts to the log.
    """
    return _Service(facts, answer, token, limits, tuple(examples), warm, log_questions).app()


class _Service:
    def __init__(
        self,
        facts: Lookups,
        answer: Callable[[Sequence[Question]], list[Answer]],
        token: str | None,
        limits: Limits,
        examples: tuple[Question, ...],
        warm: bool,
        log_questions: bool,
    ):
        self.facts = facts
        self.answer = answer
        self.token = token
        self.limits = limits
        self.tried = examples
        self.examples = () if warm else examples
        self.chosen = not warm
        self.log_questions = log_questions
        self.meters = Meters()
        self.rate = Rate(limits.per_second, limits.burst)
        self.ready = False
        self.looked_through = gc.get_threshold()[0]
        self.gatherer: Gatherer | None = None

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
        routes = [Route(path, _Kept(self, path, run), methods=[how]) for path, how, run in table]
        strange = {404: _no_route, 405: _no_route}
        return Starlette(routes=routes, lifespan=self.lifespan, exception_handlers=strange)

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
        found = [await self._tried_out([question]) for question in asked]
        right = [bool(f) and _right(q, f[0]) for q, f in zip(self.tried, found)]
        self.examples += tuple(itertools.compress(self.tried, right))
        self.chosen = True
        again = [q for q, f in zip(asked, found) if f]
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
        assert self.gatherer is not None
        try:
            return await self.gatherer.together(questions)
        except Exception as error:  # noqa: BLE001 - the service gets ready, whatever fails
            log.warning("warming up: %s", error)
            return []

    def guard(self, path: str, request: Request) -> None:
        """Refuse who shows no token, and who asks too often."""
        if path in _OPEN:
            return
        if not allowed(self.token, request.headers.get("authorization")):
            raise Refused(401, "show the token: Authorization: Bearer …")
        if wait := self.rate.wait(request.client.host if request.client else ""):
            raise Busy(wait)

    async def ask(self, request: Request) -> Response:
        """One question."""
        question = question_in(await self._body(request, LONGEST_BODY))
        found = await self._answered(question, request)
        return Response(answer_json(found), media_type="application/json")

    async def ask_batch(self, request: Request) -> Response:
        """Many questions, answered as JSON lines in their order."""
        questions = questions_in(await self._body(request, LONGEST_BATCH))

        async def lines() -> AsyncIterator[bytes]:
            tasks = [asyncio.create_task(self._patiently(q)) for q in questions]
            try:
                for question, task in zip(questions, tasks):
                    try:
                        yield answer_json(await task) + b"\n"
                    except Exception as error:  # noqa: BLE001 - one line of many
                        yield json_line({"question_id": question.id, "error": words_of(error)[1]})
            finally:
                for task in tasks:
                    task.cancel()

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def entities(self, request: Request) -> Response:
        """Entities by name."""
        wanted = request.query_params.get("q", "")
        limit = number_in(request, "limit", 20, 1, 200)
        return json_reply(await asyncio.to_thread(self.facts.entities, wanted, limit=limit))

    async def entity(self, request: Request) -> Response:
        """One entity and its facts."""
        limit = number_in(request, "limit", 20, 1, 1000)
        wanted = request.path_params["id"]
        return json_reply(await asyncio.to_thread(self.facts.entity, wanted, limit=limit))

    async def paths(self, request: Request) -> Response:
        """Walks between two entities."""
        given = request.query_params
        if "from" not in given or "to" not in given:
            raise JaxkgError("name both ends: /paths?from=Alien&to=Gladiator")
        hops, limit = number_in(request, "hops", 3, 1, 4), number_in(request, "limit", 10, 1, 100)
        return json_reply(
            await asyncio.to_thread(
                self.facts.paths, given["from"], given["to"], hops=hops, limit=limit
            )
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
        assert self.gatherer is not None
        return PlainTextResponse(self.meters.text(self.gatherer.load, len(self.gatherer)))

    async def openapi(self, request: Request) -> Response:
        """The description of all this."""
        return json_reply(openapi())

    async def _body(self, request: Request, most: int) -> bytes:
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                return await read_body(request, most)
        except TimeoutError:
            raise Refused(408, "the request did not arrive in time") from None

    async def _answered(self, question: Question, request: Request | None = None) -> Answer:
        """The answer, unless it takes too long, or its caller is known and leaves before."""
        assert self.gatherer is not None
        begun = time.perf_counter()
        if self.log_questions:
            log.info("question %s", json.dumps(question.text))
        answer = self.gatherer.ask(question)
        soon = min(_SOON, self.limits.seconds)
        try:
            there, _ = await asyncio.wait((answer,), timeout=soon)
            if not there:
                await self._late(answer, request, self.limits.seconds - soon)
            found = answer.result()
        finally:
            answer.cancel()
        self.meters.answer(time.perf_counter() - begun, withheld=found.abstained is not None)
        return found

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

    async def _patiently(self, question: Question) -> Answer:
        """A question of a batch: waits for room in the queue instead of giving up."""
        ends = time.monotonic() + self.limits.seconds
        while True:
            try:
                return await self._answered(question)
            except Busy as busy:
                if time.monotonic() + 0.05 > ends:
                    raise busy from None
                await asyncio.sleep(0.05)


_LOOKED_THROUGH = 50_000
"""Records made between two looks for garbage."""
_SOON = 0.25
"""Seconds in which most answers are there; only then it is looked whether the caller still is."""


class _Kept:
    """A route behind the guard, its errors told in one line, its requests counted.

    An ASGI application: what else stands around a route catches errors that do not get so far.
    """

    def __init__(self, service: _Service, path: str, run: Callable[[Request], Awaitable[Response]]):
        self.service, self.path, self.run = service, path, run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            self.service.guard(self.path, request)
            if self.path in QUERY:
                known_only(request.query_params, QUERY[self.path], "parameter here")
            response = await self.run(request)
        except Exception as error:
            response = error_reply(error)
            if response.status_code == 500:
                log.exception("%s failed", self.path)
        self.service.meters.request(self.path, response.status_code)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Cache-Control", "no-store")
        await response(scope, receive, send)


def _right(question: Question, answer: Answer) -> bool:
    """Whether a known answer is among those found."""
    return any(found.entity in (question.answers or ()) for found in answer.entities)


async def _no_route(request: Request, error: Exception) -> Response:
    """A path that is none, or one that is asked otherwise."""
    assert isinstance(error, HTTPException)
    hows = (error.headers or {}).get("Allow")
    about = f"it takes {hows}" if hows else "/openapi.json tells what there is"
    refused = Refused(error.status_code, f"{request.method} {request.url.path}: {about}")
    response = error_reply(refused)
    response.headers.update(error.headers or {})
    return response


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
