"""A numeric scorer at work: its beam of relation paths beside the super-relation search."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxkg.candidates import start
from jaxkg.kg import Topics
from jaxkg.records import Question
from jaxkg.search import relation_beam as relation_search
from jaxkg.search.plans import Plans
from jaxkg.search.relation_beam import Beam
from jaxkg.search.super_relations import SuperSearch
from jaxkg.systems.reknos.loop import Outgrown, Room, run_search
from jaxkg.systems.reknos.scorers import (
    Logits,
    NumericScorer,
    group_scores,
    probabilities,
    stop_share,
    within,
)
from jaxkg.systems.reknos.trace import Trace, read_traces
from jaxkg.tensors import bucket, pad, starts_table
from jaxkg.types import NULL

if TYPE_CHECKING:
    from jaxkg.systems.answering import Progress
    from jaxkg.systems.reknos.system import ReKnoS


@functools.partial(jax.jit, static_argnames=("rows", "width", "hops"))
def _first_beam(row: jax.Array, node: jax.Array, *, rows: int, width: int, hops: int) -> Beam:
    return relation_search.init(start(row, node), num_questions=rows, width=width, hops=hops)


@functools.partial(jax.jit, static_argnames=("logits", "capacity"))
def _look(graph, named, weights: Any, reading: Any, beam: Beam, *, logits: Logits, capacity: int):
    """What each relation path of the beam may take next, and how probable each is.

    A path that has reached nothing with a name of its own (events, roles) is not whole.
    """
    options, beam = relation_search.ask(graph, beam, capacity=capacity)
    here = beam.frontier
    row = jnp.where(here.valid & named[here.node], here.row, beam.score.size)
    ends = jnp.zeros(beam.score.size, bool).at[row].set(True, mode="drop")
    may_stop = beam.open & (beam.hop > 0) & ends.reshape(beam.score.shape)
    return options, beam, probabilities(logits(weights, reading, beam), options, may_stop)


@functools.partial(jax.jit, static_argnames=("capacities", "revisit"))
def _take(graph, group, chosen, beam, options, scores, *, capacities, revisit):
    """Grow the beam within the super-relations of the step."""
    allowed = jnp.any(chosen[:, :, None] == group[None, None, :], axis=1)
    return relation_search.tell(
        graph, beam, options & allowed[:, None, :], scores, capacities=capacities, revisit=revisit
    )


@functools.partial(jax.jit, static_argnames=("num_groups", "capacities", "revisit"))
def _take_within(
    graph, group, paths, beam, options, scores, *, num_groups, capacities, revisit
) -> Beam:
    """Grow the beam within super-relation paths."""
    along, whole = within(beam, paths, group, num_groups)
    scores = scores.at[:, :, -1].set(jnp.where(whole, scores[:, :, -1], -jnp.inf))
    return relation_search.tell(
        graph, beam, options & along, scores, capacities=capacities, revisit=revisit
    )


@functools.partial(jax.jit, static_argnames="num_groups")
def _whole(group, paths, beam: Beam, *, num_groups: int) -> jax.Array:
    """Scores of the beam's paths that are whole; the last hop ends all."""
    _, whole = within(beam, paths, group, num_groups)
    return jnp.where(whole, beam.score, -jnp.inf)


_group_scores = functools.partial(jax.jit, static_argnames="num_groups")(group_scores)
_stop_share = jax.jit(stop_share)


class NumericSession:
    """See `Session`."""

    def __init__(
        self,
        system: ReKnoS,
        scorer: NumericScorer,
        weights: Any,
        reading: Any,
        topics: Sequence[Sequence[int]],
        room: Room,
        *,
        lenient: bool,
    ) -> None:
        self._system, self._logits, self._weights = system, scorer.logits, weights
        self._room, self._lenient = room, lenient
        self._rows = bucket(len(topics))
        self._reading = jax.device_put(jax.tree.map(lambda x: pad(x, self._rows), reading))
        self._starts = jax.device_put(starts_table(topics, num_rows=self._rows))
        self._step, self.complete = 0, True
        self._options, self._beam, self._scores = self._look(self._fresh(), "look 0")

    def score(self, search: SuperSearch, options: jax.Array) -> tuple[jax.Array, jax.Array]:
        """How probable each super-relation is."""
        group, _ = self._system.on_device
        return _group_scores(
            self._beam, self._scores, group, num_groups=len(self._system.groups)
        ), options

    def sufficient(self, search: SuperSearch) -> jax.Array | np.ndarray:
        """Where the relation paths found so far are probably whole."""
        settings = self._system.settings
        self._step += 1
        if self._step == settings.hops:
            return np.zeros(self._rows, bool)
        group, _ = self._system.on_device
        graph, beam, chosen = self._system.tensors.graph, self._beam, search.sets[-1]

        def grown(slots: tuple[int, ...]):
            after = _take(
                graph, group, chosen, beam, self._options, self._scores,
                capacities=slots, revisit=self._system.revisit,
            )  # fmt: skip
            return after, self._wanted(after)

        beam = self._room.run(f"take {self._step}", grown, count=2, lenient=self._lenient)
        self._options, self._beam, self._scores = self._look(beam, f"look {self._step}")
        return _stop_share(self._beam, self._scores) >= settings.sufficient

    def relation_paths(self, paths: jax.Array) -> tuple[np.ndarray, np.ndarray]:
        """The most probable relation paths within super-relation paths.

        Args:
            paths: [B, Q, l] int32 super-relations, l at most L.

        Returns:
            [B, W, L] int32 codes and [B, W] float32 log-probabilities, best first.
        """
        system, settings = self._system, self._system.settings
        group, _ = system.on_device
        shorter = settings.hops - paths.shape[2]  # where every question was done early
        paths = jnp.pad(paths, ((0, 0), (0, 0), (0, shorter)), constant_values=NULL)
        beam = self._fresh()
        for step in range(settings.hops):
            options, beam, scores = self._look(beam, f"look {step} within")

            def grown(slots: tuple[int, ...], known=(beam, options, scores)):
                after = _take_within(
                    system.tensors.graph, group, paths, *known,
                    num_groups=len(system.groups), capacities=slots, revisit=system.revisit,
                )  # fmt: skip
                return after, self._wanted(after)

            beam = self._room.run(f"take {step} within", grown, count=2, lenient=self._lenient)
        self.complete &= not bool(beam.overflow) and not bool(self._beam.overflow)
        score = _whole(group, paths, beam, num_groups=len(system.groups))
        return jax.device_get((beam.relations, score))

    def _fresh(self) -> Beam:
        settings = self._system.settings
        return _first_beam(
            *self._starts, rows=self._rows, width=settings.beam_width, hops=settings.hops
        )

    def _look(self, beam: Beam, name: str) -> tuple[jax.Array, Beam, jax.Array]:
        def looked(slots: tuple[int, ...]):
            found = _look(
                self._system.tensors.graph, self._system.named, self._weights, self._reading, beam,
                logits=self._logits, capacity=slots[0],
            )  # fmt: skip
            return found, (found[1].needed[3 * int(beam.hop)],)

        return self._room.run(name, looked, count=1, lenient=self._lenient)

    @staticmethod
    def _wanted(after: Beam) -> jax.Array:
        at = 3 * (int(after.hop) - 1)
        return after.needed[at + 1 : at + 3]


def search_numerically(
    system: ReKnoS,
    scorer: NumericScorer,
    questions: Sequence[Question],
    topics: Sequence[Topics],
    on_progress: Progress | None,
) -> tuple[Plans, list[Trace]]:
    """Search for any number of questions; a batch that is too large is halved.

    Args:
        system: graph, super-relations and settings.
        scorer: without a language model.
        questions: any number.
        topics: of each question.
        on_progress: called with (stage, done, total).

    Returns:
        Relation paths within the best super-relation paths, and a trace of each question.
    """
    settings = system.settings
    count, width = len(questions), settings.beam_width
    relations = np.full((count, width, settings.hops), NULL, np.int32)
    score = np.full((count, width), -np.inf, np.float32)
    completes = np.ones(count, bool)
    traces: list[Trace] = []
    reading = scorer.read(questions, topics)
    weights = jax.device_put(scorer.weights())
    size = min(settings.batch_size, bucket(count))
    room = system.room
    waiting = [np.arange(i, min(i + size, count)) for i in range(0, count, size)][::-1]
    while waiting:
        indices = waiting.pop()
        lenient = len(indices) == 1
        view = jax.tree.map(lambda column, rows=indices: column[rows], reading)
        starts = [topics[i].entities for i in indices.tolist()]
        try:
            session = NumericSession(system, scorer, weights, view, starts, room, lenient=lenient)
            search, best = run_search(system, session, starts, room, lenient=lenient)
            paths, found = session.relation_paths(best.groups)
        except Outgrown:
            waiting += np.array_split(indices, 2)[::-1]
            continue
        search, best = jax.device_get((search, best))
        relations[indices], score[indices] = paths[: len(indices)], found[: len(indices)]
        complete = session.complete and not bool(search.overflow)
        completes[indices] = complete
        traces += read_traces(search, best, system.groups, len(indices), complete=complete)
        if on_progress:
            on_progress("search", len(traces), count)
    return Plans(relations, np.exp(score), completes), traces
