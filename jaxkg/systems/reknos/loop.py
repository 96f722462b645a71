"""The loop of a super-relation search whose scorer is asked from Python, a step at a time."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Protocol

import jax
import numpy as np

from jaxkg.candidates import start
from jaxkg.deadline import check
from jaxkg.search.super_relations import (
    BestPaths,
    SuperSearch,
    ask,
    begin,
    close,
    conclude,
    tell,
)
from jaxkg.systems.reknos.problem import SuperProblem
from jaxkg.tensors import bucket, rerun, starts_table
from jaxkg.types import Fit

_SLOTS = 1 << 14
"""Where capacities start: a step of this size costs next to nothing."""

_begin = functools.partial(jax.jit, static_argnames="num_questions")(begin)
_close = jax.jit(close)
concluded = functools.partial(jax.jit, static_argnames=("keep", "shorter"))(conclude)
_start = jax.jit(start)


@functools.partial(jax.jit, static_argnames=("num_groups", "capacities", "revisit"))
def _ask(graph, group, before, connections, *, num_groups, capacities, revisit):
    options, runs, after = ask(
        graph, group, before, connections,
        num_groups=num_groups, capacities=capacities, revisit=revisit,
    )  # fmt: skip
    return Fit((options, runs, after), runs.needed, runs.overflow)


@functools.partial(jax.jit, static_argnames=("width", "capacities", "walk_best", "revisit"))
def _tell(
    graph, search, runs, options, scores, floor, *, width, capacities, walk_best, revisit
) -> Fit[SuperSearch]:
    after = tell(
        graph, search, runs, options, scores,
        width=width, capacity=capacities[0], walk_best=walk_best, floor=floor, revisit=revisit,
    )  # fmt: skip
    return Fit(after, after.trail[-1].needed[None], after.trail[-1].overflow)


class Session(Protocol):
    """A scorer at work on one batch of questions."""

    def score(
        self, search: SuperSearch, options: jax.Array
    ) -> tuple[jax.Array | np.ndarray, jax.Array | np.ndarray]:
        """[B, S] float32 scores of the candidates, and the candidates that may be kept."""
        ...

    def sufficient(self, search: SuperSearch) -> jax.Array | np.ndarray:
        """[B] bool: which questions need no further step, asked after every step but the last."""
        ...


def run_search(
    problem: SuperProblem, session: Session, topics: Sequence[Sequence[int]]
) -> tuple[SuperSearch, BestPaths]:
    """Search for one batch.

    A step is a pure function of what came before it, so one that overflows is run again in larger
    buckets; what was asked of a scorer in between is not asked again. A batch cannot be halved once
    it was asked, so where even the largest bucket is too small an incomplete step is taken.

    Args:
        problem: what is searched.
        session: who scores.
        topics: topic nodes of each question.

    Returns:
        The search after its last step and what it concludes, on the device.
    """
    settings, graph, room = problem.settings, problem.tensors.graph, problem.room
    rows = bucket(len(topics))
    search = _begin(_start(*starts_table(topics, num_rows=rows)), num_questions=rows)
    for step in range(settings.hops):
        check()

        def asked(slots: tuple[int, ...], before: SuperSearch = search):
            return _ask(
                graph, problem.group, before, problem.connections,
                num_groups=len(problem.groups), capacities=slots, revisit=problem.revisit,
            )  # fmt: skip

        options, runs, search = rerun(
            asked, room.of(f"ask {step}", _SLOTS, _SLOTS), lenient=True
        ).value
        if step and not options.any():
            break
        scores, options = session.score(search, options)
        last, onward = step == settings.hops - 1, None if settings.backward else 1
        walk_best = settings.keep if last else onward

        def told(slots: tuple[int, ...], known=(search, runs, options, scores), best=walk_best):
            return _tell(
                graph, *known, settings.floor,
                width=settings.width, capacities=slots, walk_best=best, revisit=problem.revisit,
            )  # fmt: skip

        search = rerun(told, room.of(f"tell {step}", _SLOTS), lenient=True).value
        if step < settings.hops - 1:  # after the last step there is none to save
            search = _close(search, session.sufficient(search))
    return search, concluded(search, keep=settings.keep, shorter=settings.shorter)
