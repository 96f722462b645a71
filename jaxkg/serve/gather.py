"""Requests of many callers, gathered into one batch on the device.

One thread answers, one batch at a time: while it works, what arrives waits and becomes the next
batch. So a lone caller waits for nobody, and under load the batches grow by themselves.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from jaxkg.answer import Answer
from jaxkg.records import Question


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
        self._waiting: deque[_Waiting] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers")
        self.load = Load()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run())

    def __len__(self) -> int:
        """Questions that wait."""
        return len(self._waiting)

    def ask(self, question: Question) -> asyncio.Future[Answer]:
        """Answer one question, in company where there is any.

        An answer that is cancelled leaves the queue; a batch under way is finished without it.

        Raises:
            Busy: the queue is full.
            Closing: the service is stopping.
        """
        if self._closing:
            raise Closing("the service is stopping")
        if len(self._waiting) >= self._queue:
            raise Busy(self._wait())
        mine = _Waiting(question, self._loop.create_future())
        self._waiting.append(mine)
        self._wake.set()
        return mine.answer

    async def together(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer these as one batch, the next one."""
        return await self._loop.run_in_executor(self._thread, self._answer, questions)

    async def close(self) -> None:
        """Finish what was taken, take nothing more."""
        self._closing = True
        self._wake.set()
        await self._task
        self._thread.shutdown()

    def _wait(self) -> float:
        """Seconds until there should be room again, by what a question took so far."""
        each = self.load.seconds / max(self.load.questions, 1)
        return max(1.0, each * len(self._waiting))

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._wake.clear()
                await self._wake.wait()
                await asyncio.sleep(self._patience)
            batch = self._taken()
            if not batch:
                continue
            begun = self._loop.time()
            await self._work(batch)
            self.load.seconds += self._loop.time() - begun
            self.load.questions += len(batch)
            self.load.batches += 1
            self.load.largest = max(self.load.largest, len(batch))

    async def _work(self, batch: list[_Waiting]) -> None:
        """Answer a batch; where it fails, one by one, so that a question fails for itself alone."""
        questions = [each.question for each in batch]
        try:
            answers = await self.together(questions)
        except Exception as error:  # noqa: BLE001 - told to the caller, the service goes on
            if len(batch) > 1:
                for each in batch:
                    await self._work([each])
                return
            self.load.failures += 1
            if not batch[0].answer.done():
                batch[0].answer.set_exception(error)
        else:
            for each, answer in zip(batch, answers, strict=True):
                if not each.answer.done():
                    each.answer.set_result(answer)

    def _taken(self) -> list[_Waiting]:
        """The next batch; those whose caller has left are passed over."""
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < self._most:
            each = self._waiting.popleft()
            if not each.answer.done():
                batch.append(each)
        return batch
