"""Any system on several devices, each answering some of the questions."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxkg.adjudicate.endpoint.workers import run_all
from jaxkg.answer import Answer
from jaxkg.records import Question, TraceNode
from jaxkg.systems.answering import Progress, QuestionAnswering

_EVERYWHERE = {"correct"}
"""Methods that change what a system answers: every copy is told."""


class ReplicatedQA(QuestionAnswering):
    """Copies of a system, one a device, that answer contiguous parts of the questions at once.

    Each device holds the whole graph, all weights, and programs compiled for it, and answers in
    batches of the system's own size; what the host alone holds (the graph's names, the linker) is
    there once. A system that works on the host, as the reader does but for sentence vectors, has
    nothing to gain: the copies take turns there.

    Few questions go to the first devices, a single one to the first. Everything else that a system
    has (`traced`, `check`, ...) is that of the first copy.

    Attributes:
        copies: of the system, one a device.
    """

    def __init__(
        self,
        build: Callable[[int], QuestionAnswering],
        devices: Sequence[Any],
        *,
        at_once: bool = True,
    ) -> None:
        """Build the first copy, then all others at once: they may take over what it has made.

        Args:
            build: makes the copy of that place. What it puts on a device without naming one lies on
                that of the place.
            devices: a `jax.Device` for each copy, at least one.
            at_once: False has them answer in turn.

        Raises:
            JaxkgError: whatever `build` raises.
        """
        self._devices = tuple(devices)
        self._at_once = at_once
        first = self._on(0, build, 0)
        others = range(1, len(self._devices))
        self.copies: list[QuestionAnswering] = [first, *self._each(build, others)]

    def answer(
        self,
        questions: Sequence[Question],
        *,
        use_given: bool = True,
        on_progress: Progress | None = None,
    ) -> list[Answer]:
        """See `QuestionAnswering.answer`; progress is told of all devices together."""
        parts = even_parts(len(questions), len(self.copies))
        told = None if on_progress is None else _Together(on_progress)

        def work(place: int) -> list[Answer]:
            return self.copies[place].answer(
                questions[parts[place]],
                use_given=use_given,
                on_progress=None if told is None else functools.partial(told.tell, place),
            )

        # One without questions is not asked, but where there are none at all.
        asked = [place for place, part in enumerate(parts) if part.stop > part.start] or [0]
        return [answer for some in self._each(work, asked) for answer in some]

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """See `QuestionAnswering.traced`."""
        return self._on(0, self.copies[0].traced, question)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "copies":  # none is made yet
            raise AttributeError(name)
        found = getattr(self.copies[0], name)
        return functools.partial(self._tell_all, name) if name in _EVERYWHERE else found

    def _tell_all(self, name: str, *args: Any, **kwargs: Any) -> None:
        for place, copy in enumerate(self.copies):
            self._on(place, getattr(copy, name), *args, **kwargs)

    def _on(self, place: int, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with jax.default_device(self._devices[place]):
            return work(*args, **kwargs)

    def _each(self, work: Callable[[int], Any], places: Sequence[int]) -> list[Any]:
        """What `work` gives for each place, on its device."""
        found: dict[int, Any] = {}

        def one(at: int) -> None:
            found[places[at]] = self._on(places[at], work, places[at])

        threads = len(places) if self._at_once else 1
        run_all(len(places), one, threads=threads, stop=threading.Event())
        return [found[place] for place in places]


def even_parts(count: int, parts: int) -> list[slice]:
    """Contiguous parts of so many questions, in order; the first are longer by one where needed.

    >>> even_parts(5, 3)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size, longer = divmod(count, parts)
    starts = [place * size + min(place, longer) for place in range(parts + 1)]
    return [slice(*ends) for ends in itertools.pairwise(starts)]


class _Together:
    """Progress of several devices, told as that of one."""

    def __init__(self, on_progress: Progress) -> None:
        self._on_progress, self._lock = on_progress, threading.Lock()
        self._counts: dict[str, dict[int, tuple[int, int]]] = {}

    def tell(self, place: int, stage: str, done: int, total: int) -> None:
        """A device has done so many of so many steps of a stage."""
        with self._lock:
            counts = self._counts.setdefault(stage, {})
            counts[place] = done, total
            self._on_progress(stage, *map(sum, zip(*counts.values())))
