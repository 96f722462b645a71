"""Requests of many callers, gathered into one batch on the device.

One thread answers, one batch at a time: while it works, what arrives waits and becomes the next
batch. So a lone caller waits for nobody, and under load the batches grow by themselves. A batch is
filled from all requests in turn, and one request of many questions fills but a part of it where
that takes long: others wait for what is at work, however short their own question.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import queue as queues
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from jaxkg.answer import Answer
from jaxkg.deadline import TimeLimit
from jaxkg.records import Question

_SOON = 0.25
"""Seconds that a batch may take: one request has fewer places in the next if it takes longer."""
_FIRST = 8
"""Of a batch, one place in so many is for one request at first."""


class Busy(Exception):
    """The queue is full; try again after `seconds`."""

    def __init__(self, seconds: float):
        super().__init__(f"busy; try again in {seconds:.0f} s")
        self.seconds = seconds


class Closing(Exception):
    """The service is stopping and takes no more questions."""


@dataclasses.dataclass
class _Waiting:
    question: Question
    answer: asyncio.Future[Answer]


@dataclasses.dataclass
class _Job:
    """What the thread is to answer, within a limit that ends the work early."""

    questions: Sequence[Question]
    limit: TimeLimit
    answers: asyncio.Future[list[Answer]]


@dataclasses.dataclass
class Load:
    """What the gatherer has done.

    Attributes:
        questions, batches, failures: so far.
        largest: questions of the largest batch.
        seconds: of work in all batches.
    """

    questions: int = 0
    batches: int = 0
    failures: int = 0
    largest: int = 0
    seconds: float = 0.0


class Gatherer:
    """Answers questions in batches; made and used inside one event loop.

    Args:
        answer: answers many questions; called in one thread, never twice at once.
        most: questions of a batch, at most.
        queue: questions that may wait; one more is refused with `Busy`.
        patience: seconds that a batch waits for company once the thread is idle.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Question]], list[Answer]],
        *,
        most: int = 64,
        queue: int = 2048,
        patience: float = 0.001,
    ):
        self._answer = answer
        self._most = most
        self._queue = queue
        self._patience = patience
        # Requests with what they wait for, the next one first.
        self._waiting: dict[Hashable, deque[_Waiting]] = {}
        self._count = 0
        self._batch: list[_Waiting] = []
        self._places = max(1, most // _FIRST)  # of one request in a batch
        self._wake = asyncio.Event()
        self._closing = False
        self._jobs: queues.SimpleQueue[_Job | None] = queues.SimpleQueue()
        self._limits: set[TimeLimit] = set()
        self.load = Load()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run())
        # A daemon: the process does not wait for work that cannot be stopped.
        threading.Thread(target=self._work_off, name="answers", daemon=True).start()

    def __len__(self) -> int:
        """Questions that wait."""
        return self._count

    def ask(self, question: Question, request: Hashable = None) -> asyncio.Future[Answer]:
        """Answer one question, in company where there is any.

        An answer that is cancelled leaves the queue; a batch under way is finished without it, and
        stopped where nobody waits for it any more.

        Args:
            question: to answer.
            request: what it is a part of; None for a request of its own.

        Raises:
            Busy: the queue is full.
            Closing: the service is stopping.
        """
        if self._closing:
            raise Closing("the service is stopping")
        if self._count >= self._queue:
            each = self.load.seconds / max(self.load.questions, 1)
            raise Busy(max(1.0, each * self._count))  # there should be room again by then
        mine = _Waiting(question, self._loop.create_future())
        key = mine.answer if request is None else request
        self._waiting.setdefault(key, deque()).append(mine)
        self._count += 1
        self._wake.set()
        return mine.answer

    async def together(
        self, questions: Sequence[Question], limit: TimeLimit | None = None
    ) -> list[Answer]:
        """Answer these as one batch, the next one, until the limit is stopped."""
        job = _Job(questions, limit or TimeLimit(), self._loop.create_future())
        self._limits.add(job.limit)
        self._jobs.put(job)
        try:
            return await job.answers
        finally:
            self._limits.discard(job.limit)

    async def close(self, seconds: float = 5.0) -> None:
        """Take nothing more; finish what was taken, or stop it after so many seconds."""
        self._closing = True
        self._wake.set()
        _, working = await asyncio.wait((self._task,), timeout=seconds)
        if working:
            for limit in self._limits:
                limit.stop("the service is stopping")
            for each in itertools.chain(self._batch, *self._waiting.values()):
                each.answer.cancel()
            _, working = await asyncio.wait((self._task,), timeout=1.0)
        for task in working:
            task.cancel()
        self._jobs.put(None)

    def _work_off(self) -> None:
        """The thread: one job after another."""
        for job in iter(self._jobs.get, None):
            answers, error = [], None
            try:
                with job.limit:
                    answers = self._answer(job.questions)
            except Exception as failure:  # noqa: BLE001 - told to whoever waits
                error = failure
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(_settle, job.answers, answers, error)

    async def _run(self) -> None:
        while self._count or not self._closing:
            if not self._count:
                self._wake.clear()
                await self._wake.wait()
                await asyncio.sleep(self._patience)
            batch = self._batch = self._taken()
            if not batch:
                continue
            begun = self._loop.time()
            await self._work(batch)
            took = self._loop.time() - begun
            if took > _SOON:
                self._places = max(1, self._places // 2)
            elif took < _SOON / 2 and len(batch) >= self._places:
                self._places = min(self._most, self._places * 2)
            self.load.seconds += took
            self.load.questions += len(batch)
            self.load.batches += 1
            self.load.largest = max(self.load.largest, len(batch))

    async def _work(self, batch: list[_Waiting]) -> None:
        """Answer a batch; where it fails, one by one, so that a question fails for itself alone."""
        limit, waiting = TimeLimit(), len(batch)

        def leave(_: object) -> None:
            nonlocal waiting
            waiting -= 1
            if not waiting:
                limit.stop("nobody waits for it")

        for each in batch:
            each.answer.add_done_callback(leave)
        try:
            answers = await self.together([each.question for each in batch], limit)
        except Exception as error:  # noqa: BLE001 - told to the caller, the service goes on
            if len(batch) > 1:
                for each in batch:
                    if not each.answer.done():
                        await self._work([each])
                return
            self.load.failures += not batch[0].answer.done()
            if not batch[0].answer.done():
                batch[0].answer.set_exception(error)
        else:
            for each, answer in zip(batch, answers, strict=True):
                if not each.answer.done():
                    each.answer.set_result(answer)

    def _taken(self) -> list[_Waiting]:
        """The next batch, a question of each request in turn; who has left is passed over."""
        batch: list[_Waiting] = []
        requests = deque((key, self._places) for key in self._waiting)
        while requests and len(batch) < self._most:
            key, left = requests.popleft()
            waiting = self._waiting.pop(key)
            each = waiting.popleft()
            self._count -= 1
            if waiting:
                self._waiting[key] = waiting  # behind those that wait longer
            if not each.answer.done():
                batch.append(each)
                left -= 1
            if waiting and left:
                requests.append((key, left))
        return batch


def _settle(
    future: asyncio.Future[list[Answer]], answers: list[Answer], error: Exception | None
) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(answers)
    else:
        future.set_exception(error)
