"""The loop of a super-relation search, the same for every scorer, and the room its steps need."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import jax
import numpy as np

from jaxkg.candidates import start
from jaxkg.search.super_relations import (
    BestPaths,
    SuperSearch,
    ask,
    begin,
    close,
    conclude,
    tell,
)
from jaxkg.tensors import bucket, starts_table

if TYPE_CHECKING:
    from jaxkg.systems.reknos.system import ReKnoS

Result = TypeVar("Result")

_begin = functools.partial(jax.jit, static_argnames="num_questions")(begin)
_ask = functools.partial(jax.jit, static_argnames=("num_groups", "capacities", "revisit"))(ask)
_tell = functools.partial(
    jax.jit, static_argnames=("width", "capacity", "walk_best", "floor", "revisit")
)(tell)
_close = jax.jit(close)
concluded = functools.partial(jax.jit, static_argnames=("keep", "backward"))(conclude)
_start = jax.jit(start)


class Outgrown(Exception):
    """A step of a batch needs more slots than there may be: ask fewer questions at a time."""


_RUNGS = tuple(1 << power for power in range(14, 23, 2))
"""Slots of a step: few sizes, far apart, because every size of every step is a program to compile,
and a step of the smallest size costs next to nothing."""


class Room:
    """Capacities of every step of a search, learnt from batch to batch.

    A step is a pure function of what came before it, so one that overflows is run again in larger
    buckets; what was asked of a scorer in between is not asked again.
    """

    def __init__(self, rungs: Sequence[int] = _RUNGS) -> None:
        """`rungs` are the sizes there are, ascending."""
        self._rungs = tuple(rungs)
        self._known: dict[str, tuple[int, ...]] = {}

    def run(
        self,
        step: str,
        program: Callable[[tuple[int, ...]], tuple[Result, Sequence[jax.Array] | jax.Array]],
        *,
        count: int,
        lenient: bool,
    ) -> Result:
        """Run one step in room enough.

        Args:
            step: what it is called; steps of one name share their capacities.
            program: from capacities to a result and the slots it needed, one for each; those are
                exact up to and including the first that did not fit.
            count: number of capacities.
            lenient: take an incomplete result where even the largest size is too small; the
                result says so itself.

        Raises:
            Outgrown: the largest size is too small.
        """
        slots = self._known.get(step, self._rungs[:1] * count)
        while True:
            result, needed = program(slots)
            wanted = [int(n) for n in jax.device_get(needed)]
            if all(want <= there for want, there in zip(wanted, slots, strict=True)):
                return result
            if max(wanted) > self._rungs[-1] and not lenient:
                raise Outgrown(step)
            larger = tuple(max(now, self._rung(want)) for now, want in zip(slots, wanted))
            if larger == slots:
                return result
            # One batch with a hub must not make all batches after it pay for the hub.
            self._known[step] = tuple(
                min(new, self._rung(now + 1)) for now, new in zip(slots, larger)
            )
            slots = larger

    def _rung(self, want: int) -> int:
        return next((rung for rung in self._rungs if rung >= want), self._rungs[-1])


class Session(Protocol):
    """A scorer at work on one batch of questions."""

    def score(
        self, search: SuperSearch, options: jax.Array
    ) -> tuple[jax.Array | np.ndarray, jax.Array | np.ndarray]:
        """[B, S] float32 scores of the candidates, and the candidates that may be kept."""
        ...

    def sufficient(self, search: SuperSearch) -> jax.Array | np.ndarray:
        """[B] bool: which questions need no further step, asked after every step."""
        ...


def run_search(
    system: ReKnoS,
    session: Session,
    topics: Sequence[Sequence[int]],
    room: Room,
    *,
    lenient: bool,
) -> tuple[SuperSearch, BestPaths]:
    """Search for one batch.

    Args:
        system: graph, super-relations and settings.
        session: who scores.
        topics: topic nodes of each question.
        room: capacities.
        lenient: see `Room.run`.

    Returns:
        The search after its last step and what it concludes, on the device.
    """
    settings, graph = system.settings, system.tensors.graph
    rows = bucket(len(topics))
    search = _begin(_start(*starts_table(topics, num_rows=rows)), num_questions=rows)
    group, connections = system.on_device
    for step in range(settings.hops):

        def asked(slots: tuple[int, ...], before: SuperSearch = search):
            options, runs, after = _ask(
                graph, group, before, connections,
                num_groups=len(system.groups), capacities=slots, revisit=system.revisit,
            )  # fmt: skip
            return (options, runs, after), runs.needed

        options, runs, search = room.run(f"ask {step}", asked, count=2, lenient=lenient)
        if step and not options.any():
            break
        scores, options = session.score(search, options)
        walk_best = settings.keep if step == settings.hops - 1 else None

        def told(slots: tuple[int, ...], known=(search, runs, options, scores), best=walk_best):
            after = _tell(
                graph, *known,
                width=settings.width, capacity=slots[0], walk_best=best, floor=settings.floor,
                revisit=system.revisit,
            )  # fmt: skip
            return after, (after.trail[-1].needed,)

        search = room.run(f"tell {step}", told, count=1, lenient=lenient)
        search = _close(search, session.sufficient(search))
    return search, concluded(search, keep=settings.keep, backward=settings.backward)
