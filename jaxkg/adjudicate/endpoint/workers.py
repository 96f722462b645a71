"""A bounded number of threads over a batch of blocking calls."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable

_GRACE = 5.0  # seconds an interrupted batch waits for replies that are already paid for


def run_all(
    count: int, work: Callable[[int], None], *, threads: int, stop: threading.Event
) -> None:
    """Call `work(0)` ... `work(count - 1)`, so many at a time, in order of start.

    Once `stop` is set no further call starts. What a call raises, or an interrupt of this thread,
    sets it; calls under way get a few seconds to finish, so that their replies are kept.

    Raises:
        Whatever the first call that failed raised.
    """
    places = iter(range(count))
    lock = threading.Lock()
    failures: list[BaseException] = []
    crew = min(threads, count)
    idle = threading.Semaphore(0)

    def loop() -> None:
        while not stop.is_set():
            with lock:
                place = next(places, None)
            if place is None:
                break
            try:
                work(place)
            except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
                failures.append(error)
                stop.set()
        idle.release()

    if crew == 1:
        loop()
    else:
        waiting = 0
        # Not `Thread.join`: interrupted, it takes a running thread for an ended one.
        try:
            for number in range(crew):
                name = f"jaxkg-{number}"
                run = contextvars.copy_context().run  # the question's time limit holds there, too
                threading.Thread(target=run, args=(loop,), name=name, daemon=True).start()
                waiting += 1
            while waiting:
                idle.acquire()
                waiting -= 1
        except BaseException:
            stop.set()
            end = time.monotonic() + _GRACE
            while waiting and idle.acquire(timeout=max(0.0, end - time.monotonic())):
                waiting -= 1
            raise
    if failures:
        raise failures[0]
